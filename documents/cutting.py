"""Making one text out of another: trimmed at a paragraph's end, cut into parts, or joined with visible headings."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmark.lengths import Lengths
from documents.stops import Stops, kept, refined, stops_in
from documents.tokenizing import count_tokens

MOST_PARTS = 200
# A part of a number of parts may differ by so much, in per cent, for the sake of a heading.
LEEWAY = 20


def target_of(lengths: Lengths, bucket: str) -> int:
    """The tokens a bucket aims at. KeyError for an unknown name."""
    if bucket not in lengths.names():
        raise KeyError(bucket)
    return lengths.unit * lengths.targets[lengths.names().index(bucket)]


# Trimming -----------------------------------------------------------------------------------------------------------


def fitting(text: str, tokens: int, *, start: int = 0) -> tuple[int, int] | None:
    """From `start`, the longest run of whole paragraphs with at most `tokens` tokens, as a span; None when not one
    paragraph fits. A paragraph ends at a blank line; in a text without blank lines, at the end of a line; in one
    without line ends, anywhere."""
    rest = text[start:]
    stops = stops_in(rest)
    stops = refined(rest, stops, stops.within(0, tokens))
    # The whole text is no trimmed one.
    ends = range(1, min(stops.within(0, tokens), stops.last if start else stops.last - 1) + 1)
    # Counted anew: the cut can change how its last characters are split.
    counts = _Exactly(rest, stops)
    fitting = ends[-1] if ends and counts[ends[-1]] <= tokens else bisect_right(ends, tokens, key=counts.__getitem__)
    if not fitting or not kept(rest, 0, stops.offsets[fitting]).strip():
        return None
    return start, start + stops.offsets[fitting]


class _Exactly:
    """How many tokens the beginning up to a stop has, counted when it is asked for."""

    def __init__(self, text: str, stops: Stops) -> None:
        self.text, self.stops = text, stops

    def __getitem__(self, number: int) -> int:
        return count_tokens(kept(self.text, 0, self.stops.offsets[number]))


def landing(text: str, lengths: Lengths, bucket: str, *, start: int = 0) -> tuple[int, int] | None:
    """The span for a bucket: up to its target; where that falls short of the bucket, the first end inside it."""
    low, high = lengths.range_of(bucket)
    span = fitting(text, target_of(lengths, bucket), start=start)
    if span and count_tokens(kept(text, *span)) >= low:
        return span
    stops = stops_in(text[start:])
    for end in stops.holding(0, low, high):
        if low <= count_tokens(kept(text, start, start + stops.offsets[end])) <= high:
            return start, start + stops.offsets[end]
    return span


# Cutting into parts -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """One part of a text: from `start` up to `end`, in code points. `tokens` are exact."""

    start: int
    end: int
    tokens: int
    bucket: str


def parts_by_bucket(text: str, lengths: Lengths, bucket: str, kind: str = "") -> list[Part]:
    """Parts that each belong to the bucket, as far as the text's own ends allow; the rest last."""
    low, high = lengths.range_of(bucket)
    stops = stops_in(text, kind)
    return _measured(text, lengths, stops, _ends_near(stops, target_of(lengths, bucket), low, high))


def parts_by_number(text: str, lengths: Lengths, number: int, kind: str = "") -> list[Part]:
    """So many parts, about equally long; fewer when the text has not so many ends."""
    stops = stops_in(text, kind)
    ends: list[int] = []
    at = 0
    for left in range(number, 1, -1):
        aim = stops.about(at, stops.last) // left
        slack = aim * LEEWAY // 100
        at = _best(stops, at, aim, aim - slack, aim + slack)
        if at >= stops.last:
            break
        ends.append(at)
    return _measured(text, lengths, stops, [*ends, stops.last])


def parts_at(text: str, lengths: Lengths, cuts: Sequence[int]) -> list[Part]:
    """Parts between the given places, which ascend inside the text."""
    edges = [0, *cuts, len(text)]
    return [_part(text, lengths, start, end) for start, end in pairwise(edges)]


def _ends_near(stops: Stops, target: int, low: int, high: int) -> list[int]:
    ends: list[int] = []
    at = 0
    while stops.about(at, stops.last) > high and len(ends) < MOST_PARTS - 1:
        rest = stops.about(at, stops.last)
        even = rest // max(1, round(rest / target))
        # An even share leaves no rest without a bucket; where it is none of this bucket, the target is kept.
        at = _best(stops, at, even if low <= even <= high else target, low, high)
        if at >= stops.last:
            break
        ends.append(at)
    return [*ends, stops.last]


def _best(stops: Stops, at: int, aim: int, low: int, high: int) -> int:
    """The end nearest to `aim` within the bounds, at a heading if there is one; else the last end before them.

    Ends that leave a rest which divides into parts within the bounds come first: a heading is not worth a scrap.
    """
    holding = stops.holding(at, low, high)
    if not holding:
        return max(stops.within(at, low), at + 1)
    ends = [end for end in holding if _divides(stops.about(end, stops.last), low, high)] or list(holding)
    headings = [end for end in ends if stops.offsets[end] in stops.headings]
    return min(headings or ends, key=lambda end: abs(stops.about(at, end) - aim))


def _divides(rest: int, low: int, high: int) -> bool:
    """Whether the rest can be shared out so that every share lies within the bounds."""
    shares = -(-rest // high) if high else 0
    return shares * low <= rest


def _measured(text: str, lengths: Lengths, stops: Stops, ends: Sequence[int]) -> list[Part]:
    return parts_at(text, lengths, [stops.offsets[end] for end in ends if end < stops.last])


def _part(text: str, lengths: Lengths, start: int, end: int) -> Part:
    tokens = count_tokens(kept(text, start, end))
    return Part(start, end, tokens, lengths.bucket_of(tokens) or "")


# Joining ------------------------------------------------------------------------------------------------------------


def joined(parts: Sequence[tuple[str, str]]) -> str:
    """Several texts in one, each under a heading with its number and title."""
    return "\n".join(
        f"{heading(number, title)}{text.rstrip(chr(10))}\n" for number, (title, text) in enumerate(parts, 1)
    )


def heading(number: int, title: str) -> str:
    return f"==== {number}. {' '.join(title.split())} ====\n\n"
