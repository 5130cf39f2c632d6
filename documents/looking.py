"""What was found in a version's text, kept beside it: looked for once, and again when the list of names or the rules
change."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Q, QuerySet

from documents import queries
from documents.findings import RULES, Finding, Kind, findings_in, in_order
from documents.models import DocumentVersion, VersionFindings
from documents.naming import listed, names_in
from documents.workflow import VersionState

# A text may consist of nothing but findings. Nobody steps through more, and the page says that there are more.
MOST_KEPT = 100_000
# Of outdated texts so many are named by one query.
AT_ONCE = 100

# [kind, start, end], as JSON holds it.
Place = list[Any]


def keep_all(found: Iterable[tuple[DocumentVersion, Sequence[Finding], str]]) -> None:
    """Keep what `findings_in` found in new versions (version, findings, text), and the watched names with it."""
    list_of_names = _ListOfNames()
    VersionFindings.objects.bulk_create(
        VersionFindings(version=version, **_fields([*findings, *list_of_names.found_in(text)], list_of_names))
        for version, findings, text in found
    )


def found_in(version: DocumentVersion) -> list[Finding]:
    return _read(places_in(version))


def places_in(version: DocumentVersion) -> list[Place]:
    """What is kept, [kind, start, end], in the order of the text. What was never looked for, or by older rules or for
    an older list of names, is looked for now."""
    kept = VersionFindings.objects.filter(version=version).first()
    if kept is None or kept.rules != RULES or kept.names_list != queries.number_of_names_list():
        return look_again(version, kept)
    return list(kept.places)


def look_again(version: DocumentVersion, kept: VersionFindings | None) -> list[Place]:
    """Look for what the kept findings lack: for names alone where only their list has changed."""
    text, list_of_names = queries.text_of(version), _ListOfNames()
    if kept is not None and kept.rules == RULES:
        others = [one for one in _read(kept.places) if one.kind != Kind.NAME]
    else:
        others = findings_in(text)
    fields = _fields([*others, *list_of_names.found_in(text)], list_of_names)
    VersionFindings.objects.update_or_create(version=version, defaults=fields)
    return list(fields["places"])


class _ListOfNames:
    """The list of names that holds now, asked for once for several texts."""

    def __init__(self) -> None:
        holding = queries.watched_names()
        self.number = holding.pk if holding else 0
        self._names = listed(holding.names) if holding and holding.names else None

    def found_in(self, text: str) -> list[Finding]:
        return names_in(text, self._names) if self._names else []


def _fields(found: Iterable[Finding], names: _ListOfNames) -> dict[str, Any]:
    places = [[one.kind.value, one.start, one.end] for one in in_order(found)[:MOST_KEPT]]
    return {"places": places, "names_list": names.number, "rules": RULES}


def _read(places: list[Place]) -> list[Finding]:
    kinds = {kind.value: kind for kind in Kind}
    return [Finding(kinds[kind], start, end) for kind, start, end in places]


# In the background: texts that nobody has opened since the list or the rules changed ----------------------------


def outdated() -> QuerySet[DocumentVersion]:
    """Versions that wait for a decision and were not looked through for what holds now."""
    holds = Q(found__rules=RULES, found__names_list=queries.number_of_names_list())
    return DocumentVersion.objects.filter(state=VersionState.PENDING).exclude(holds).order_by("pk")


def catch_up(seconds: float) -> bool:
    """Look through outdated texts for about so long, each by itself: whoever is stopped has lost one. Returns whether
    some are left."""
    until = time.monotonic() + seconds
    # Read whole, a part at a time: with rows still to be fetched SQLite refuses to write as soon as anybody else has.
    while numbers := list(outdated().values_list("pk", flat=True)[:AT_ONCE]):
        for number in numbers:
            if time.monotonic() > until:
                return True
            look_again(DocumentVersion(pk=number), VersionFindings.objects.filter(version=number).first())
    return False
