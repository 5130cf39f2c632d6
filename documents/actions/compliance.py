"""Clearing a version for use, or refusing it; and the list of names that every text is looked through for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core import history
from core.jobs import hurry
from core.models import User
from core.refusals import Conflict, Invalid
from core.text import clean_text
from documents import queries
from documents.actions.permissions import (
    can_approve_version,
    can_reject_version,
    can_watch_names,
    refuse_unless,
)
from documents.actions.storing import checked_note
from documents.models import Document, DocumentVersion, WatchedNames
from documents.naming import LONGEST, MAX_NAMES, is_name, names_of
from documents.tasks import look_again
from documents.workflow import Flag, VersionState


@dataclass(frozen=True)
class Seen:
    """What stood before the person who decides: the version's state and text, and the newest version of the
    document. A decision on what is no longer so is refused."""

    state: str
    sha256: str
    latest: int


@transaction.atomic
def approve_version(*, version: DocumentVersion, by: User, note: str = "", seen: Seen | None = None) -> DocumentVersion:
    """Clear this text for use. Only this version: another text of the document needs a look of its own."""
    _refuse_if_moved_on(version, seen, note)
    refuse_unless(can_approve_version(by, version))
    return _decide(version, "approve", by, flags=[], note=checked_note(note))


@transaction.atomic
def reject_version(
    *, version: DocumentVersion, flags: Sequence[str], note: str, by: User, seen: Seen | None = None
) -> DocumentVersion:
    """Refuse this text with at least one flag and a note. On an approved version this withdraws the approval: nothing
    more of it reaches a model, calls that wait included (`generation` asks again before it sends)."""
    _refuse_if_moved_on(version, seen, note)
    refuse_unless(can_reject_version(by, version))
    errors: dict[str, Any] = {}
    chosen = [flag for flag in Flag.values if flag in set(flags)]
    if not chosen or set(flags) - set(Flag.values):
        errors["flags"] = _("Choose at least one: privacy, copyright or other.")
    note = checked_note(note)
    if not note:
        errors["note"] = _("Say why: the note is kept with the decision.")
    if errors:
        raise Invalid(errors)
    return _decide(version, "reject", by, flags=chosen, note=note)


def _decide(version: DocumentVersion, move: str, by: User, *, flags: list[str], note: str) -> DocumentVersion:
    history.advance(version, move, by=by, reason=note, flags=flags, sha256=version.sha256)
    version.flags, version.note = flags, note
    version.decided_by, version.decided_at = by, timezone.now()
    version.save(update_fields=["flags", "note", "decided_by", "decided_at"])
    return version


def _refuse_if_moved_on(version: DocumentVersion, seen: Seen | None, note: str) -> None:
    """Asked before who may decide: after another's decision an annotator no longer may, and is to hear why."""
    if seen is None:
        return
    kept = " " + _("Your note is kept.") if note.strip() else ""
    now = DocumentVersion.objects.select_for_update().get(pk=version.pk)
    latest = Document.objects.values_list("latest", flat=True).get(pk=version.document_id)
    if seen.latest != latest or seen.sha256 != now.sha256:
        words = _("The text of this document changed while you looked. Nothing was decided.")
        raise Conflict(words + kept, rule="stale_version", state=now.state)
    if seen.state != now.state:
        raise Conflict(_moved_on(seen, now) + kept, rule="state_moved", state=now.state)


def _moved_on(seen: Seen, now: DocumentVersion) -> str:
    state = VersionState(now.state).label
    if now.decided_by is not None:
        return _("%(name)s decided meanwhile: %(state)s. Nothing was changed.") % {
            "name": now.decided_by.name,
            "state": state,
        }
    known = seen.state in VersionState.values
    return _("The state is “%(state)s”, not “%(seen)s”. Nothing was changed.") % {
        "state": state,
        "seen": VersionState(seen.state).label if known else seen.state,
    }


def watch_names(*, names: str, by: User, based_on: int | None = None) -> WatchedNames:
    """A new list of names, one in a line; it replaces the one before, which is kept. Texts that wait for a decision are
    looked through for it in the background, others when they are opened, and new ones when they come in. `based_on`
    is the number of the list that was edited."""
    refuse_unless(can_watch_names(by))
    before = queries.watched_names()
    if based_on is not None and based_on != (before.pk if before else 0):
        raise Conflict(_("Somebody changed the list meanwhile. What you typed is kept below."), rule="stale_version")
    lines = names_of(clean_text(names))
    _refuse_bad_lines(clean_text(names))
    if len(lines) > MAX_NAMES:
        words = _("%(n)s names are too many: at most %(limit)s.") % {"n": len(lines), "limit": MAX_NAMES}
        raise Invalid({"names": words})
    old = names_of(before.names) if before else ()
    if set(lines) == set(old):
        raise Invalid({"names": _("The list is the same as before.")})
    with transaction.atomic():
        made = WatchedNames.objects.create(names="\n".join(lines), made_by=by)
        # Numbers, never the names: they may be those of people who asked not to be named.
        added, removed = len(set(lines) - set(old)), len(set(old) - set(lines))
        history.record("watch_names", made, by=by, names=len(lines), added=added, removed=removed)
        hurry(look_again)
    return made


def _refuse_bad_lines(names: str) -> None:
    lines = [" ".join(line.split()) for line in names.splitlines()]
    bad = [(number, line) for number, line in enumerate(lines, 1) if line and not is_name(line)]
    if not bad:
        return
    words: list[str | Promise] = [
        _("Line %(n)s, “%(line)s”, is no name: it needs two characters or more, one of them a letter.")
        % {"n": number, "line": line[:40]}
        if len(line) <= LONGEST
        else _("Line %(n)s is longer than %(limit)s characters.") % {"n": number, "limit": LONGEST}
        for number, line in bad[:5]
    ]
    if len(bad) > len(words):
        more = len(bad) - len(words)
        words.append(ngettext("%(n)s more line is no name.", "%(n)s more lines are no names.", more) % {"n": more})
    raise Invalid({"names": words})
