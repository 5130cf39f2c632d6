"""The most similar passage: short pieces of the quote vote for where it would begin, the best places are compared.

Compared by edit distance, in bit-parallel rows (G. Myers, A fast bit-vector algorithm for approximate string matching,
1999): one step for each letter of the passage, however long the quote.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generation.evidence.squeezing import FIRST_WIDE, Points, Squeezed

FUZZY_THRESHOLD = 0.85
SHORTEST = 4
# A longer quote is placed by its two ends.
LONGEST = 2_000
_CANDIDATES = 3
_HASHES = 1 << 16


@dataclass(frozen=True)
class Passage:
    """Letters [start, end) of the squeezed document."""

    start: int
    end: int
    similarity: float


def closest(document: Squeezed, needle: Squeezed) -> Passage | None:
    """The passage most similar to the quote, if it reaches the threshold."""
    if len(needle) < SHORTEST:
        return None
    if len(needle) <= LONGEST:
        return _closest(document, needle)
    half = LONGEST // 2
    head = _closest(document, needle.part(0, half))
    tail = _closest(document, needle.part(len(needle) - half, len(needle)))
    if head is None or tail is None or abs((tail.end - head.start) / len(needle) - 1) > 1 - FUZZY_THRESHOLD:
        return None
    return Passage(head.start, tail.end, min(head.similarity, tail.similarity))


def _closest(document: Squeezed, needle: Squeezed) -> Passage | None:
    best: Passage | None = None
    for beginning, slack in _beginnings(document, needle.points):
        margin = max(8, len(needle) // 6)
        left = max(0, beginning - margin)
        window = document.letters[left : beginning + slack + len(needle) + margin]
        found = _best_in(window, needle.letters, left)
        if found is not None and (best is None or found.similarity > best.similarity):
            best = found
    return best


# --- where it may begin ----------------------------------------------------------------------------------------------


def _piece(points: Points) -> int:
    """How long the pieces are: short enough that some stay whole, long enough that few stand elsewhere."""
    long = len(points) >= 64
    if int((points >= FIRST_WIDE).sum()) * 2 > len(points):
        return 4 if long else 2
    return 8 if long else 4 if len(points) >= 12 else 2


def _hashes(points: Points, size: int) -> NDArray[np.uint32]:
    """Of every piece of 2, 4 or 8 letters, by doubling."""
    hashes, done = points, 1
    while done < size:
        if len(hashes) <= done:
            return hashes[:0]
        factor = np.uint32(pow(0x01000193, done, 1 << 32) | 1)
        hashes = hashes[:-done] * factor + (hashes[done:] ^ (hashes[done:] >> np.uint32(15)))
        done *= 2
    return hashes


@lru_cache(maxsize=4)
def _kept_hashes(document: Squeezed, size: int) -> NDArray[np.uint32]:
    return _hashes(document.points, size)


def _beginnings(document: Squeezed, quote: Points) -> list[tuple[int, int]]:
    """Likely beginnings with their slack, the most likely first."""
    size = _piece(quote)
    own, first = np.unique(_hashes(quote, size), return_index=True)
    theirs = _kept_hashes(document, size)
    if not len(own) or not len(theirs):
        return []
    known = np.zeros(_HASHES, dtype=np.bool_)
    known[(own >> np.uint32(16))] = True
    at = np.flatnonzero(known[theirs >> np.uint32(16)])
    rank = np.searchsorted(own, theirs[at])
    same = own[np.minimum(rank, len(own) - 1)] == theirs[at]
    diagonals = at[same] - first[rank[same]]
    return _most_voted(diagonals, least=max(1, len(own) // 30), bucket=max(8, len(quote) // 8))


def _most_voted(diagonals: Any, *, least: int, bucket: int) -> list[tuple[int, int]]:
    if not len(diagonals):
        return []
    lowest = int(diagonals.min())
    votes = np.bincount((diagonals - lowest) // bucket)
    pairs = votes + np.append(votes[1:], 0)  # a passage may straddle two buckets
    enough = max(least, int(pairs.max()) // 3)
    found: list[tuple[int, int]] = []
    while len(found) < _CANDIDATES:
        key = int(pairs.argmax())
        if pairs[key] < enough:
            break
        found.append((max(0, key * bucket + lowest), 2 * bucket))
        pairs[max(0, key - 1) : key + 2] = 0
    return found


# --- how similar it is -----------------------------------------------------------------------------------------------


def _best_in(window: str, quote: str, left: int) -> Passage | None:
    distance, end = _distance(window, quote, anchored=False)
    if distance > len(quote) * (1 - FUZZY_THRESHOLD) / FUZZY_THRESHOLD:
        return None
    distance, length = _distance(window[:end][::-1], quote[::-1], anchored=True)
    similarity = 1 - distance / max(len(quote), length)
    return Passage(left + end - length, left + end, similarity) if similarity >= FUZZY_THRESHOLD else None


def _distance(text: str, pattern: str, *, anchored: bool) -> tuple[int, int]:
    """The least edit distance of the pattern to a passage of the text, and that passage's end (the first such one).

    `anchored`: the passage begins where the text begins; otherwise anywhere.
    """
    whole, top = (1 << len(pattern)) - 1, 1 << (len(pattern) - 1)
    masks: dict[str, int] = {}
    for place, letter in enumerate(pattern):
        masks[letter] = masks.get(letter, 0) | 1 << place
    up, down, distance = whole, 0, len(pattern)
    best, end, first = distance, 0, int(anchored)
    for place, letter in enumerate(text, start=1):
        equal = masks.get(letter, 0)
        across = equal | down
        along = (((equal & up) + up) ^ up) | equal
        more, less = down | (whole & ~(along | up)), up & along
        distance += bool(more & top) - bool(less & top)
        if distance < best:
            best, end = distance, place
        more, less = (more << 1 | first) & whole, (less << 1) & whole
        up, down = less | (whole & ~(across | more)), more & across
    return best, end
