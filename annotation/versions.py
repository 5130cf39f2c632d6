"""The saved versions of a sample's parts, and what changed from one to the next."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from annotation.differences import Piece, line_difference, text_difference
from annotation.models import Sample, StandardizationEdit
from annotation.rendering import PARTS
from benchmark.framing import Parts
from core.models import User

# Saves of one sitting follow each other at every pause of the typing; what they came to is one version to read.
SITTING = timedelta(minutes=10)


@dataclass(frozen=True)
class Change:
    """How one part differs from the version before."""

    name: str
    pieces: tuple[Piece, ...]
    by_line: bool = False


@dataclass(frozen=True)
class Version:
    """What one sitting came to. `saves`: how often it was saved; `number`: the standardization's."""

    number: int
    round: int
    version: int
    at: datetime
    by: User
    parts: dict[str, object]
    saves: int = 1
    completed: bool = False
    changes: tuple[Change, ...] = field(default=())

    @property
    def texts(self) -> list[tuple[str, str]]:
        """The parts as the form holds them."""
        return [(name, "\n".join(text) if isinstance(text, list) else str(text)) for name, text in self.parts.items()]


def versions_of(sample: Sample) -> list[Version]:
    """Newest first, each with its differences from the one before."""
    edits = StandardizationEdit.objects.filter(standardization__sample=sample)
    rows = list(edits.select_related("standardization", "by").order_by("standardization__number", "version"))
    sittings = list(_sittings(rows))
    shown = [_version(sitting, sittings[at - 1][-1] if at else None) for at, sitting in enumerate(sittings)]
    return shown[::-1]


def _sittings(rows: list[StandardizationEdit]) -> Iterator[list[StandardizationEdit]]:
    sitting: list[StandardizationEdit] = []
    for row in rows:
        if sitting and not _same_sitting(sitting[-1], row):
            yield sitting
            sitting = []
        sitting.append(row)
    if sitting:
        yield sitting


def _same_sitting(earlier: StandardizationEdit, later: StandardizationEdit) -> bool:
    return (
        earlier.standardization_id == later.standardization_id
        and earlier.by_id == later.by_id
        and later.at - earlier.at < SITTING
    )


def _version(sitting: list[StandardizationEdit], before: StandardizationEdit | None) -> Version:
    last = sitting[-1]
    done = last.standardization
    return Version(
        number=done.number,
        round=done.round,
        version=last.version,
        at=last.at,
        by=last.by,
        parts={name: getattr(last, name) for name in PARTS},
        saves=len(sitting),
        completed=done.completed_at is not None and done.version == last.version,
        changes=tuple(_changes(before, last)) if before else (),
    )


def _changes(before: StandardizationEdit, after: StandardizationEdit) -> Iterator[Change]:
    for name in PARTS:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield change(name, old, new)


def change(name: str, old: object, new: object) -> Change:
    """The difference of one part: by line for the example, by word or character for the texts."""
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        return Change(name, tuple(line_difference(list(old), list(new))), by_line=True)
    return Change(name, tuple(text_difference(str(old), str(new))))


def changes_between(stored: Parts, typed: Parts) -> list[Change]:
    """What a saved draft and what somebody types now have apart."""
    pairs = [(name, getattr(stored, name), getattr(typed, name)) for name in PARTS]
    return [change(name, old, new) for name, old, new in pairs if old != new]
