"""Two releases beside each other: what was added, removed and changed, field by field. Never a document's text.

Both are read in the order of their samples, a few at a time, so that memory does not grow with them. A context is
compared by its SHA-256.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import TextChoices
from django.utils.translation import pgettext_lazy

from benchmark.record import FIELDS
from release.models import Release

HELD = 200
CONTEXT = "context"


class Kind(TextChoices):
    ADDED = "added", pgettext_lazy("sample of a release", "added")
    REMOVED = "removed", pgettext_lazy("sample of a release", "removed")
    CHANGED = "changed", pgettext_lazy("sample of a release", "changed")


@dataclass(frozen=True)
class Change:
    """One sample that is not the same in both. `before` and `after` hold every exported field (None where the sample
    is not in that release), with the context's SHA-256 in its place; `fields` are those that differ."""

    sample: int
    kind: Kind
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    fields: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return str(self.shown["id"])

    @property
    def shown(self) -> dict[str, Any]:
        """The sample as it is now, or as it was last."""
        shown = self.after or self.before
        assert shown is not None
        return shown


@dataclass
class Comparison:
    """Counts over all samples, and the asked part of those that differ."""

    counts: Counter[Kind] = field(default_factory=Counter)
    by_field: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0
    matching: int = 0
    changes: list[Change] = field(default_factory=list)


def compare(
    old: Release, new: Release, *, kind: str = "", field: str = "", start: int = 0, length: int = 50
) -> Comparison:
    """Count all changes; keep `length` from `start` on of those of this kind and in this field (empty: any)."""
    found = Comparison()
    for change in _pairs(old, new):
        if change is None:
            found.unchanged += 1
            continue
        found.counts[change.kind] += 1
        found.by_field.update(change.fields)
        if kind not in ("", change.kind) or (field and field not in change.fields):
            continue
        if start <= found.matching < start + length:
            found.changes.append(change)
        found.matching += 1
    return found


def changes(old: Release, new: Release) -> Iterator[Change]:
    """Every sample that differs, in the order of the samples' numbers."""
    return (change for change in _pairs(old, new) if change is not None)


def _pairs(old: Release, new: Release) -> Iterator[Change | None]:
    """A change, or None for a sample that is the same in both."""
    olds, news = _rows(old), _rows(new)
    before, after = next(olds, None), next(news, None)
    while before or after:
        if after is None or (before is not None and before[0] < after[0]):
            assert before is not None
            yield Change(before[0], Kind.REMOVED, before[1], None)
            before = next(olds, None)
        elif before is None or after[0] < before[0]:
            yield Change(after[0], Kind.ADDED, None, after[1])
            after = next(news, None)
        else:
            differing = tuple(name for name in FIELDS if before[1][name] != after[1][name])
            yield Change(after[0], Kind.CHANGED, before[1], after[1], differing) if differing else None
            before, after = next(olds, None), next(news, None)


def _rows(release: Release) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = release.items.order_by("sample_id").values_list("sample_id", "fields", "document_version__sha256")
    for sample, fields, sha256 in rows.iterator(chunk_size=HELD):
        yield sample, {**fields, CONTEXT: sha256}
