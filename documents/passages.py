"""Near-duplicates: marks of a text, so chosen that two texts with a long passage in common share some of them.

White space and case do not count. Every WINDOW characters in a row are hashed (a rolling polynomial modulo 2^64, then
mixed); of every REACH windows in a row the one with the smallest hash is kept (winnowing: Schleimer, Wilkerson and
Aiken, SIGMOD 2003). What follows holds for certain, not just probably: a common passage of at least
`SHARED * REACH + WINDOW - 1` characters without white space (3,799) gives at least SHARED common marks, wherever it
stands. A text has about one mark for 900 such characters, and none when it is shorter than WINDOW.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

WINDOW = 200
REACH = 1_800
# Fewer common marks than this are said only of texts so short that it is most of them.
SHARED = 2
SHARE = 0.5

Codes = NDArray[np.uint32]
Hashes = NDArray[np.uint64]
Places = NDArray[np.intp]
BASE = 0x9E37_79B9_7F4A_7C15  # odd, so that it has an inverse modulo 2^64
# Windows worked on at once: so many stay in the processor's cache.
BLOCK = 20 * REACH
# About eight hashes of a stretch are smaller than this.
SMALL = np.uint64((1 << 64) // REACH * 8)
CROWD = 1_000


class Mark(NamedTuple):
    """`value` as the database keeps it (signed), `position` in code points: where its window begins."""

    value: int
    position: int


def codes_of(text: str) -> Codes:
    """The code points of the text, one for each character."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def marks_of(text: str, codes: Codes | None = None) -> list[Mark]:
    """In the order of the text, each value once. `codes`: the text's, from somebody who has them already."""
    codes, places = _letters(codes_of(text) if codes is None else codes)
    windows = len(codes) - WINDOW + 1
    if windows < 1:
        return []
    found: dict[int, int] = {}
    for start in range(0, windows, BLOCK):
        # Each block reaches into the next one, so that no stretch of REACH windows is left out.
        hashes = _window_hashes(codes[start : start + BLOCK + REACH + WINDOW - 2])
        kept = _winnowed(hashes)
        for value, place in zip(hashes[kept].view(np.int64).tolist(), places[kept + start].tolist(), strict=True):
            found.setdefault(value, place)
    return [Mark(value, place) for value, place in found.items()]


def _letters(codes: Codes) -> tuple[Codes, Places]:
    """The code points that count, A to Z in lower case, and where each stands in the text."""
    places = np.flatnonzero((codes > 0x20) & (codes != 0xA0) & (codes != 0x3000))
    codes = codes[places]
    capital = (codes - np.uint32(65)) < 26
    return codes | (capital.astype(np.uint32) << np.uint32(5)), places


@cache
def _powers() -> tuple[Hashes, Hashes]:
    """BASE^0, BASE^1, ... and the same of its inverse: for one block."""
    count = BLOCK + REACH + WINDOW
    return _powers_of(BASE, count), _powers_of(pow(BASE, -1, 1 << 64), count)


def _powers_of(base: int, count: int) -> Hashes:
    factors = np.full(count, base, dtype=np.uint64)
    factors[0] = 1
    return np.multiply.accumulate(factors)


def _window_hashes(codes: Codes) -> Hashes:
    """The hash of every WINDOW characters in a row of one block."""
    count = len(codes) - WINDOW + 1
    powers, inverse = _powers()
    sums = np.zeros(len(codes) + 1, dtype=np.uint64)
    np.cumsum(powers[: len(codes)] * codes, out=sums[1:])
    hashes = sums[WINDOW:] - sums[:count]
    # Divided by the power of its beginning, a window has the same hash wherever it stands.
    hashes *= inverse[:count]
    # Every bit spread over all (the finish of splitmix64, shortened): the smallest must be anybody.
    hashes ^= hashes >> np.uint64(31)
    hashes *= np.uint64(0xBF58_476D_1CE4_E5B9)
    hashes ^= hashes >> np.uint64(29)
    return hashes


def _winnowed(hashes: Hashes) -> Places:
    """The places of the smallest hash of every REACH in a row; of all of them when there are fewer."""
    if len(hashes) <= REACH:
        return np.array([int(np.argmin(hashes))])
    small = np.flatnonzero(hashes < SMALL)
    gaps = np.diff(small, prepend=-1, append=len(hashes))
    # Where no stretch is without a small hash (nearly always), only the small ones need to be compared.
    candidates = small if gaps.max() <= REACH and len(small) < CROWD else None
    return _smallest_of_many(hashes) if candidates is None else _smallest_of_few(hashes, candidates)


def _smallest_of_few(hashes: Hashes, candidates: Places) -> Places:
    """A hash is the smallest of some stretch when its nearest smaller ones on both sides are further apart."""
    values = hashes[candidates]
    smaller = values[None, :] < values[:, None]
    behind, before = np.triu(smaller, 1), np.tril(smaller, -1)[:, ::-1]
    nearest_behind = np.where(behind.any(axis=1), candidates[behind.argmax(axis=1)], len(hashes))
    nearest_before = np.where(before.any(axis=1), candidates[len(candidates) - 1 - before.argmax(axis=1)], -1)
    return candidates[nearest_behind - nearest_before > REACH]


def _smallest_of_many(hashes: Hashes) -> Places:
    """The same for any hashes, by running minima from both ends of each cell of REACH."""
    cells = -(-len(hashes) // REACH)
    padded = np.full(cells * REACH, np.iinfo(np.uint64).max, dtype=np.uint64)
    padded[: len(hashes)] = hashes
    table = padded.reshape(cells, REACH)
    forward = np.minimum.accumulate(table, axis=1).ravel()
    backward = np.minimum.accumulate(table[:, ::-1], axis=1)[:, ::-1].ravel()
    stretches = len(hashes) - REACH + 1
    smallest = np.minimum(backward[:stretches], forward[REACH - 1 : REACH - 1 + stretches])
    return np.flatnonzero(np.isin(hashes, np.unique(smallest)))
