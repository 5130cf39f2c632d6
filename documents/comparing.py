"""What changed between two texts of a document, line by line, in a time that stays bounded.

`difflib` over a megabyte takes minutes when lines repeat. So lines that occur once in both texts are the fixed points
(patience diff): they are put in order in n log n, and only the small gaps between them are compared closely.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

# A gap is compared closely while the product of its two sides stays below this; else it is one change as a whole.
CLOSELY = 40_000
AROUND = 80
LONGEST = 1_500
MOST_CHANGES = 200


@dataclass(frozen=True)
class Change:
    """One place that changed. `line` is where it begins in the new text, from 1. `before` and `after` stand around
    what was `removed` and `added`; what is longer than LONGEST is cut, and `cut` says how many characters are not
    shown."""

    line: int
    before: str
    removed: str
    added: str
    after: str
    cut: int = 0


@dataclass(frozen=True)
class Comparison:
    """`changes` are the first of `total`."""

    changes: tuple[Change, ...]
    total: int
    lines_removed: int
    lines_added: int


def compare(old: str, new: str) -> Comparison:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    spans = [one for span in _changed(before, after) for one in _line_by_line(before, after, span)]
    changes = tuple(_change(before, after, span) for span in spans[:MOST_CHANGES])
    return Comparison(
        changes, len(spans), sum(end - start for start, end, _a, _b in spans), sum(b - a for _s, _e, a, b in spans)
    )


Span = tuple[int, int, int, int]


def _changed(before: Sequence[str], after: Sequence[str]) -> Iterator[Span]:
    """(start, end) in the old lines and (start, end) in the new ones of every change, in order."""
    first = _equal_at_begin(before, after)
    last = _equal_at_begin(before[first:][::-1], after[first:][::-1])
    end, new_end = len(before) - last, len(after) - last
    anchors = [(first - 1, first - 1), *_anchors(before, after, first, end, new_end), (end, new_end)]
    pending: Span | None = None
    for (old, new), (next_old, next_new) in pairwise(anchors):
        for span in _gap(before, after, (old + 1, next_old, new + 1, next_new)):
            if pending and pending[1] == span[0] and pending[3] == span[2]:
                pending = (pending[0], span[1], pending[2], span[3])
                continue
            if pending:
                yield pending
            pending = span
    if pending:
        yield pending


def _equal_at_begin(before: Sequence[str], after: Sequence[str]) -> int:
    count = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        count += 1
    return count


def _anchors(
    before: Sequence[str], after: Sequence[str], first: int, end: int, new_end: int
) -> Iterator[tuple[int, int]]:
    """Lines that occur once in both, of which those that stand in the same order: the longest rising row."""
    once = Counter(before[first:end])
    once_new = Counter(after[first:new_end])
    place = {line: at for at, line in enumerate(after[first:new_end], first) if once_new[line] == 1}
    pairs = [(at, place[line]) for at, line in enumerate(before[first:end], first) if once[line] == 1 and line in place]
    tails: list[int] = []
    row: list[int] = []
    back: list[int] = []
    for index, (_at, new) in enumerate(pairs):
        length = bisect_left(tails, new)
        tails[length : length + 1] = [new]
        row[length : length + 1] = [index]
        back.append(row[length - 1] if length else -1)
    chosen = []
    index = row[-1] if row else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = back[index]
    yield from reversed(chosen)


def _gap(before: Sequence[str], after: Sequence[str], gap: Span) -> Iterator[Span]:
    start, end, new_start, new_end = gap
    if start == end and new_start == new_end:
        return
    if not (end - start) * (new_end - new_start) or (end - start) * (new_end - new_start) > CLOSELY:
        yield gap
        return
    matcher = SequenceMatcher(None, before[start:end], after[new_start:new_end], autojunk=False)
    for move, a, b, c, d in matcher.get_opcodes():
        if move != "equal":
            yield start + a, start + b, new_start + c, new_start + d


def _line_by_line(before: Sequence[str], after: Sequence[str], span: Span) -> Iterator[Span]:
    """As many lines as before: each is compared with its own former self."""
    start, end, new_start, new_end = span
    if end - start != new_end - new_start:
        yield span
        return
    for old, new in zip(range(start, end), range(new_start, new_end), strict=True):
        if before[old] != after[new]:
            yield old, old + 1, new, new + 1


def _change(before: Sequence[str], after: Sequence[str], span: Span) -> Change:
    """The changed lines without what they share at both ends; some of that stands around for orientation."""
    start, end, new_start, new_end = span
    removed, added = "".join(before[start:end]), "".join(after[new_start:new_end])
    head = _equal_at_begin(removed, added)
    tail = _equal_at_begin(removed[head:][::-1], added[head:][::-1])
    left = removed[:head] or (before[start - 1] if start else "")
    right = (removed[len(removed) - tail :] if tail else "") or (before[end] if end < len(before) else "")
    removed, added = removed[head : len(removed) - tail], added[head : len(added) - tail]
    return Change(
        line=new_start + 1,
        before=left[-AROUND:],
        removed=removed[:LONGEST],
        added=added[:LONGEST],
        after=right[:AROUND],
        cut=max(0, len(removed) - LONGEST) + max(0, len(added) - LONGEST),
    )
