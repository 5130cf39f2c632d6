"""Clearing a version for use, or refusing it."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core import history
from core.models import User
from core.refusals import Invalid
from documents.actions.permissions import can_approve_version, can_reject_version, refuse_unless
from documents.actions.storing import checked_note
from documents.models import DocumentVersion
from documents.workflow import Flag


def approve_version(*, version: DocumentVersion, by: User, note: str = "") -> DocumentVersion:
    """Clear this text for use. Only this version: another text of the document needs a look of its own."""
    refuse_unless(can_approve_version(by, version))
    return _decide(version, "approve", by, flags=[], note=checked_note(note))


def reject_version(*, version: DocumentVersion, flags: Sequence[str], note: str, by: User) -> DocumentVersion:
    """Refuse this text with at least one flag and a note. On an approved version this withdraws the approval: nothing
    more of it reaches a model, calls that wait included (`generation` asks again before it sends)."""
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


@transaction.atomic
def _decide(version: DocumentVersion, move: str, by: User, *, flags: list[str], note: str) -> DocumentVersion:
    history.advance(version, move, by=by, reason=note, flags=flags, sha256=version.sha256)
    version.flags, version.note = flags, note
    version.decided_by, version.decided_at = by, timezone.now()
    version.save(update_fields=["flags", "note", "decided_by", "decided_at"])
    return version
