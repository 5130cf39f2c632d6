"""Stops: the places where a text may be cut, with the tokens that stand before each.

Ends of paragraphs first, ends of lines where a text has no paragraphs, and at last any place that does not tear a
character from its accents. Counting is one pass: the tokenizer never merges across the last newline of a blank, so
what is counted between two ends of paragraphs or lines adds up; elsewhere the sum is near, and is called "about".
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from documents.tokenizing import count_tokens

MOST = 3000
HEADING_CHARS = 120
# How far a cut anywhere is moved so that it falls behind a sentence or a word, and so that it tears no character.
REACH = 80
LONGEST_CHARACTER = 320

# Greedy: behind the last newline of the blank, as the tokenizer splits.
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_LINE_END = re.compile(r"\n(?:\s*\n)?")
_WORD = re.compile(r"\S")
_SENTENCE_END = re.compile(r"[。！？!?.…][”’\"')」』]*\s*")
_GAP = re.compile(r"\s+")
_HEADING = re.compile(
    r"[ \t\u3000]*(?:"
    r"#{1,6}[ \t]\S"
    r"|={2,}[ \t]\S"
    r"|(?:chapter|part|book|section|volume|act|canto|letter)[ \t]+(?:\d+|[ivxlcdm]+|[a-z]+)\b[.:]?"
    r"|第[ 0-9０-９零〇一二三四五六七八九十百千两]{1,9}[章回卷节節部篇集编編]"
    r")",
    re.IGNORECASE,
)


class Kind(TextChoices):
    PARAGRAPH = "paragraph", _("ends of paragraphs")
    LINE = "line", _("ends of lines")
    CHARACTER = "character", _("any place")


@dataclass(frozen=True)
class Stops:
    """`offsets` ascend from 0 to the length of the text, in code points; `tokens` are those before each, about.

    `found` counts the places of this kind in the text: more than are offered when there are very many. `headings` are
    the offsets at which a heading begins.
    """

    kind: str
    offsets: tuple[int, ...]
    tokens: tuple[int, ...]
    found: int
    headings: frozenset[int]

    @property
    def last(self) -> int:
        return len(self.offsets) - 1

    @property
    def offered(self) -> int:
        return len(self.offsets) - 2

    def about(self, start: int, end: int) -> int:
        """Tokens between two stops, given by their numbers."""
        return self.tokens[end] - self.tokens[start]

    def number_at(self, offset: int) -> int:
        """The last stop that does not stand behind `offset`."""
        return max(0, bisect_right(self.offsets, offset) - 1)

    def within(self, start: int, tokens: int) -> int:
        """The last stop up to which, from stop `start`, there are at most `tokens`; `start` itself when none fits."""
        return max(start, bisect_right(self.tokens, self.tokens[start] + tokens) - 1)

    def holding(self, start: int, low: int, high: int) -> range:
        """The stops up to which, from stop `start`, there are from `low` to `high` tokens."""
        first = bisect_left(self.tokens, self.tokens[start] + low, lo=start + 1)
        return range(first, max(first, bisect_right(self.tokens, self.tokens[start] + high)))


def stops_in(text: str, kind: str = "", *, most: int = MOST) -> Stops:
    """The stops of one kind; without a kind, of the coarsest that the text has."""
    kind, ends = _ends_of(text, kind) if kind else _coarsest(text)
    headings = [end for end in ends if is_heading(text, end)]
    offered = _thinned(ends, most, len(text), keep=headings)
    offsets = (0, *offered, len(text))
    found = len(ends) if kind != Kind.CHARACTER else max(len(text) - 1, 0)
    return Stops(kind, offsets, _tokens_before(text, offsets), found, frozenset(headings))


def refined(text: str, stops: Stops, number: int) -> Stops:
    """The same stops, and between stop `number` and the next all the ends that were left out there."""
    if number >= stops.last:
        return stops
    left, right = stops.offsets[number], stops.offsets[number + 1]
    between = [end for end in _ends_of(text, stops.kind)[1] if left < end < right]
    steps = accumulate((count_tokens(text[start:end]) for start, end in pairwise([left, *between])), initial=0)
    tokens = [stops.tokens[number] + step for step in steps][1:]
    return replace(
        stops,
        offsets=(*stops.offsets[: number + 1], *between, *stops.offsets[number + 1 :]),
        tokens=(*stops.tokens[: number + 1], *tokens, *stops.tokens[number + 1 :]),
    )


def coarsest_kind(text: str) -> str:
    """The kind of stops that are taken when nobody names one."""
    return _coarsest(text)[0]


def _coarsest(text: str) -> tuple[str, list[int]]:
    for kind in (Kind.PARAGRAPH, Kind.LINE):
        ends = _ends_of(text, kind)[1]
        if ends:
            return kind, ends
    return _ends_of(text, Kind.CHARACTER)


def _ends_of(text: str, kind: str) -> tuple[str, list[int]]:
    if kind == Kind.CHARACTER:
        return Kind.CHARACTER, _anywhere(text)
    pattern = _PARAGRAPH_END if kind == Kind.PARAGRAPH else _LINE_END
    return Kind(kind), _with_words_on_both_sides(text, (match.end() for match in pattern.finditer(text)))


def _with_words_on_both_sides(text: str, ends: Iterable[int]) -> list[int]:
    first = _WORD.search(text)
    begins = first.start() if first else len(text)
    stops = len(text.rstrip())
    return [end for end in ends if begins < end < stops]


def _anywhere(text: str) -> list[int]:
    """So many places that the slider moves by small steps; each behind a sentence, else a word, else a character."""
    step = max(1, len(text) // (MOST // 3))
    places = {seam_near(text, wanted) for wanted in range(step, len(text), step)}
    return _with_words_on_both_sides(text, sorted(places))


def seam_near(text: str, wanted: int) -> int:
    """A place near `wanted` at which the text may be cut; the end of the text where what follows hangs together."""
    window = text[wanted : wanted + REACH]
    for pattern in (_SENTENCE_END, _GAP):
        match = pattern.search(window)
        if match and match.end() < len(window) and is_seam(text, wanted + match.end()):
            return wanted + match.end()
    reach = min(wanted + LONGEST_CHARACTER, len(text))
    return next((place for place in range(wanted, reach) if is_seam(text, place)), len(text))


def is_seam(text: str, place: int) -> bool:
    """Whether a cut there leaves every character whole: no accent, joiner, tone of skin, flag or Hangul torn off."""
    if place <= 0 or place >= len(text):
        return True
    before, after = text[place - 1], text[place]
    if unicodedata.category(after).startswith("M") or after in "\u200c\u200d" or before == "\u200d":
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return False
    if _is_flag_letter(before) and _is_flag_letter(after):
        return False
    return not ("\u1100" <= before <= "\u11ff" and "\u1160" <= after <= "\u11ff")


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def is_heading(text: str, start: int) -> bool:
    """Whether a chapter or section begins there: a short line of its own that says so."""
    end = text.find("\n", start, start + HEADING_CHARS)
    return end >= 0 and bool(_HEADING.match(text, start, end))


def first_line(text: str, start: int, chars: int = HEADING_CHARS) -> str:
    """The first line with words at `start`."""
    word = _WORD.search(text, start)
    return text[word.start() : word.start() + chars].split("\n", 1)[0].rstrip() if word else ""


def _thinned(ends: list[int], most: int, length: int, *, keep: Sequence[int]) -> list[int]:
    """At most about `most` of the ends, evenly over the text, those before a heading first."""
    if len(ends) <= most:
        return ends
    kept = set(keep if len(keep) <= most // 2 else keep[:: -(-2 * len(keep) // most)])
    room = most - len(kept)
    for number in range(1, room + 1):
        kept.add(ends[min(bisect_left(ends, number * length // (room + 1)), len(ends) - 1)])
    return sorted(kept)


def _tokens_before(text: str, offsets: Sequence[int]) -> tuple[int, ...]:
    return (0, *accumulate(count_tokens(text[start:end]) for start, end in pairwise(offsets)))


def kept(text: str, start: int, end: int) -> str:
    """What stays between two places. Of the blank at the end one newline is kept; nothing else is changed."""
    part = text[start:end]
    words_end = len(part.rstrip())
    if end == len(text) or words_end == len(part):
        return part
    newline = part.find("\n", words_end)
    return part[: newline + 1] if newline >= 0 else part
