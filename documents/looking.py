"""What was found in a version's text, kept beside it: looked for once, and again for names when the list changes."""

from collections.abc import Iterable, Sequence
from typing import Any

from documents import queries
from documents.findings import Finding, Kind, findings_in, in_order
from documents.models import DocumentVersion, VersionFindings
from documents.naming import listed, names_in

# A text may consist of nothing but findings. Nobody steps through more, and the page says that there are more.
MOST_KEPT = 100_000

# [kind, start, end], as JSON holds it.
Place = list[Any]


def keep_findings(version: DocumentVersion, found: Sequence[Finding], *, text: str | None = None) -> None:
    """Keep what `findings_in` found, and the watched names with it. `text` saves reading it again."""
    names, number = _watched(version, text)
    _write(version, [*found, *names], number)


def found_in(version: DocumentVersion) -> list[Finding]:
    return _read(places_in(version))


def places_in(version: DocumentVersion) -> list[Place]:
    """What is kept, [kind, start, end], in the order of the text. What was never looked for, or for an older list of
    names, is looked for now: so a list that changes costs nothing until somebody opens the text."""
    kept = VersionFindings.objects.filter(version=version).first()
    if kept is None:
        text = queries.text_of(version)
        keep_findings(version, findings_in(text), text=text)
    elif kept.names_list != queries.number_of_names_list():
        keep_findings(version, [one for one in _read(kept.places) if one.kind != Kind.NAME])
    else:
        return list(kept.places)
    return list(VersionFindings.objects.values_list("places", flat=True).get(version=version))


def _watched(version: DocumentVersion, text: str | None) -> tuple[list[Finding], int]:
    names = queries.watched_names()
    if names is None or not names.names:
        return [], names.pk if names else 0
    return names_in(queries.text_of(version) if text is None else text, listed(names.names)), names.pk


def _write(version: DocumentVersion, found: Iterable[Finding], number: int) -> None:
    places = [[one.kind.value, one.start, one.end] for one in in_order(found)[:MOST_KEPT]]
    VersionFindings.objects.update_or_create(version=version, defaults={"places": places, "names_list": number})


def _read(places: list[Place]) -> list[Finding]:
    kinds = {kind.value: kind for kind in Kind}
    return [Finding(kinds[kind], start, end) for kind, start, end in places]
