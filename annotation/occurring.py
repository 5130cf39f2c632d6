"""Whether the elements of an answer occur in the document, how often, and where first.

Looked for without regard to case, width, kind of quotation mark or dash and amount of white space, as whole words:
`L2` does not occur in `L25`. The folded document is kept, and what was found in it too: while one types, only what is
new is looked for.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from documents import queries as documents
from documents.models import DocumentVersion
from generation.evidence.squeezing import CODEC, GONE, SPACE, Points, folding

# More places than this are not counted.
MOST = 999
# So many places at most are looked at for one element: a digit stands within thousands of numbers.
_TRIES = 5_000
# From here on scripts that set no space between words.
_WIDE = 0x2E80
# One by one up to this many, together above.
_FEW = 6
_GRAM = 4
_KEPT = 4_000


@dataclass(frozen=True)
class Occurrence:
    """`start` and `end` of the first place, in code points of the document; an exact one is preferred.

    `exact`: it stands there letter by letter. `more`: it occurs at least `count` times.
    """

    count: int
    start: int | None = None
    end: int | None = None
    exact: bool = False
    more: bool = False


NOWHERE = Occurrence(0)


class Haystack:
    """A document in which elements are looked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        points, places = _folded(text)
        self._points: Points = points
        self._places: NDArray[np.int32] = places.astype(np.int32)
        self._letters = points.tobytes().decode(CODEC, "surrogatepass")
        self._found: dict[str, Occurrence] = {}

    def find(self, elements: Iterable[str]) -> dict[str, Occurrence]:
        """By element. An element of nothing but white space occurs nowhere."""
        wanted = dict.fromkeys(element.strip() for element in elements)
        fresh = {element: fold(element) for element in wanted if element not in self._found}
        if len(self._found) + len(fresh) > _KEPT:
            self._found.clear()
            fresh = {element: fold(element) for element in wanted}
        needles = sorted({needle for needle in fresh.values() if needle})
        few = len(needles) <= _FEW
        places = {needle: self._begins(needle) for needle in needles} if few else self._together(needles)
        for element, needle in fresh.items():
            self._found[element] = self._occurrence(element, needle, places[needle]) if needle else NOWHERE
        return {element: self._found[element] for element in wanted}

    def _begins(self, needle: str) -> Iterable[int]:
        at = self._letters.find(needle)
        while at >= 0:
            yield at
            at = self._letters.find(needle, at + 1)

    def _together(self, needles: Sequence[str]) -> dict[str, Iterable[int]]:
        """Every place where the last letters of a needle stand, for all of them in one pass."""
        found: dict[str, Iterable[int]] = {}
        for size in range(1, _GRAM + 1):
            alike = [needle for needle in needles if min(len(needle), _GRAM) == size]
            if not alike:
                continue
            ends = [int(_grams(_points_of(needle)[-size:], size)[0]) for needle in alike]
            grams = _grams(self._points, size)
            known = np.zeros(1 << 16, dtype=np.bool_)
            known[np.array(ends, dtype=np.uint32) >> np.uint32(16)] = True
            at = np.flatnonzero(known[grams >> np.uint32(16)])
            order = np.argsort(grams[at], kind="stable")
            at, hashes = at[order], grams[at][order]
            low = np.searchsorted(hashes, np.array(ends, dtype=np.uint32), "left")
            high = np.searchsorted(hashes, np.array(ends, dtype=np.uint32), "right")
            for needle, first, last in zip(alike, low, high, strict=True):
                found[needle] = self._standing(needle, (at[first:last] - (len(needle) - size)).tolist())
        return found

    def _standing(self, needle: str, begins: Iterable[int]) -> Iterable[int]:
        stands: Callable[[str, int], bool] = self._letters.startswith
        return (at for at in begins if at >= 0 and stands(needle, at))

    def _occurrence(self, element: str, needle: str, begins: Iterable[int]) -> Occurrence:
        count, first, exact, tries = 0, None, None, 0
        parted = not _is_word(needle[0]), not _is_word(needle[-1])
        for at in begins:
            tries += 1
            if tries > _TRIES or count > MOST:
                break
            if parted != (True, True) and not self._is_whole(at, at + len(needle), *parted):
                continue
            count += 1
            first = at if first is None else first
            if exact is None and self._is_exact(element, at, len(needle)):
                exact = at
        place = first if exact is None else exact
        if place is None:
            return NOWHERE
        start, end = self._span(place, len(needle))
        return Occurrence(min(count, MOST), start, end, exact is not None, count > MOST or tries > _TRIES)

    def _span(self, at: int, size: int) -> tuple[int, int]:
        return int(self._places[at]), int(self._places[at + size - 1]) + 1

    def _is_exact(self, element: str, at: int, size: int) -> bool:
        start, end = self._span(at, size)
        return end - start == len(element) and self.text.startswith(element, start)

    def _is_whole(self, start: int, end: int, before: bool, after: bool) -> bool:
        """`before`, `after`: what is looked for is parted there by itself."""
        letters = self._letters
        return (before or start == 0 or not _is_word(letters[start - 1])) and (
            after or end == len(letters) or not _is_word(letters[end])
        )


def _is_word(letter: str) -> bool:
    """Part of a word that spaces part; Han characters stand alone."""
    return letter.isalnum() and ord(letter) < _WIDE


def _points_of(text: str) -> Points:
    return np.frombuffer(text.encode(CODEC, "surrogatepass"), dtype=np.uint32)


def _grams(points: Points, size: int) -> Any:
    """A hash of every `size` neighbours, whose upper half tells most of them apart."""
    hashes = points * np.uint32(0x9E3779B1)
    for offset in range(1, size):
        hashes = (hashes[:-1] ^ points[offset:]) * np.uint32(0x9E3779B1)
    return hashes ^ (hashes << np.uint32(13))


def _folded(text: str) -> tuple[Points, Any]:
    """The letters, and where each stood. White space is one space; beside a Han character it is nothing."""
    points = folding()[_points_of(text)]
    there = points != GONE
    places: Any = np.flatnonzero(there)
    points = points[there]
    space, wide = points == SPACE, points >= _WIDE
    if len(points):
        before, after = np.append(True, (space | wide)[:-1]), np.append(wide[1:], True)
        kept = ~(space & (before | after))
        points, places = points[kept], places[kept]
    return points, places


@lru_cache(maxsize=4_096)
def fold(element: str) -> str:
    return _folded(element)[0].tobytes().decode(CODEC, "surrogatepass").strip()


_HAYSTACKS: OrderedDict[tuple[int, str], Haystack] = OrderedDict()
_MOST_HAYSTACKS = 2


def haystack_of(version: DocumentVersion) -> Haystack:
    """Of the last few documents that somebody edits on; a version's text never changes."""
    key = (version.pk, version.sha256)
    kept = _HAYSTACKS.get(key)
    if kept is None:
        kept = Haystack(documents.text_of(version))
        _HAYSTACKS[key] = kept
        while len(_HAYSTACKS) > _MOST_HAYSTACKS:
            _HAYSTACKS.popitem(last=False)
    return kept
