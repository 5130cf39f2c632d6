"""What people changed in a model's draft: by character in Chinese, by word elsewhere.

The longest common subsequence, by rows of bits (Crochemore et al., 2001): the time is bounded by the two lengths alone,
however the texts differ. What two rewritten passages have in common by chance is not kept as common.
"""

import re
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

SAME, ADDED, REMOVED, MOVED, CHANGED = "same", "ins", "del", "moved", "edit"
# Latin words and runs of white space stay whole; every other character, Han included, stands alone.
_PIECE = re.compile(r"[A-Za-z0-9_\u00c0-\u024f]+|\s+|.", re.DOTALL)
_SENTENCE = re.compile(r"[^.!?。！？\n]*[.!?。！？\n]*\s*", re.DOTALL)
# Rows times columns of bits that are kept: 25 MB. Longer texts are compared by sentences.
_MOST_BITS = 200_000_000
# Two elements of which at least this share is common are one element, changed.
_ALIKE = 0.5


@dataclass(frozen=True)
class Piece:
    """A stretch of the text: `kind` is same, ins (only in the new text) or del (only in the draft).

    Of a list's elements also moved (it stood elsewhere), and edit: `pieces` say what was changed within it.
    """

    kind: str
    text: str
    pieces: tuple["Piece", ...] = field(default=())


def text_difference(before: str, after: str) -> list[Piece]:
    """The pieces in reading order; those that are not `del` joined are the new text."""
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    if len(old) * len(new) > _MOST_BITS:
        old, new = _sentences(before), _sentences(after)
    runs = [(kind, "".join(run)) for kind, run in _runs(old, new)]
    return [Piece(kind, text) for kind, text in _readable(runs)]


def close_difference(before: str, after: str) -> list[Piece]:
    """The same of two texts that were made alike: whatever they have in common is kept as common."""
    runs = _runs(_PIECE.findall(before), _PIECE.findall(after))
    return [Piece(kind, "".join(run)) for kind, run in runs]


def line_difference(before: Sequence[str], after: Sequence[str]) -> list[Piece]:
    """The same for a list's elements, each of them whole; those that are not `del` are the new list."""
    pieces = [Piece(kind, line) for kind, run in _runs(list(before), list(after)) for line in run]
    return _changed(_moved(pieces))


def is_change(pieces: Sequence[Piece]) -> bool:
    return any(piece.kind != SAME for piece in pieces)


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.findall(text) if sentence]


# Runs --------------------------------------------------------------------------------------------------------------

Run = tuple[str, list[str]]


def _runs(before: list[str], after: list[str]) -> list[Run]:
    """What both have in common at the ends needs no comparison."""
    head = _common(before, after)
    tail = min(_common(before[::-1], after[::-1]), len(before) - head, len(after) - head)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(old) * len(new) > _MOST_BITS:
        middle: list[Run] = [(REMOVED, old), (ADDED, new)]
    else:
        middle = _compared(old, new)
    runs = [(SAME, after[:head]), *middle, (SAME, after[len(after) - tail :])]
    return _joined([(kind, run) for kind, run in runs if run])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (mine, yours) in pairs if mine != yours), min(len(one), len(other)))


def _compared(old: list[str], new: list[str]) -> list[Run]:
    rows = _rows(old, new)
    kinds: list[str] = []
    pieces: list[str] = []
    row, column = len(new), len(old)
    while row and column:
        if _bit(rows[row - 1], column - 1):
            column -= 1
            kinds.append(REMOVED)
            pieces.append(old[column])
            continue
        row -= 1
        pieces.append(new[row])
        if row and not _bit(rows[row - 1], column - 1):
            kinds.append(ADDED)
        else:
            column -= 1
            kinds.append(SAME)
    steps = zip(reversed(kinds), reversed(pieces), strict=True)
    together = [(kind, [piece for _kind, piece in run]) for kind, run in groupby(steps, key=itemgetter(0))]
    return [run for run in [(REMOVED, old[:column]), (ADDED, new[:row]), *together] if run[1]]


def _bit(row: bytes, place: int) -> int:
    return row[place >> 3] >> (place & 7) & 1


def _rows(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[bytes]:
    """For each piece of `new` its row of the table: a bit is 0 where the common length grows with a piece of `old`."""
    size = len(old) // 8 + 1
    places: dict[Hashable, int] = {}
    for place, piece in enumerate(old):
        places[piece] = places.get(piece, 0) | 1 << place
    whole = (1 << len(old)) - 1
    row, rows = whole, list[bytes]()
    for piece in new:
        hits = row & places.get(piece, 0)
        row = ((row + hits) | (row - hits)) & whole
        rows.append(row.to_bytes(size, "little"))
    return rows


def _joined(runs: Sequence[Run]) -> list[Run]:
    """Neighbours of one kind as one run; between two common runs what was removed stands before what was added."""
    joined: list[Run] = []
    removed: list[str] = []
    added: list[str] = []
    for kind, run in [*runs, (SAME, [])]:
        if kind == REMOVED:
            removed += run
        elif kind == ADDED:
            added += run
        else:
            joined += [(name, lines) for name, lines in ((REMOVED, removed), (ADDED, added)) if lines]
            removed, added = [], []
            if joined and joined[-1][0] == SAME:
                joined[-1][1].extend(run)
            elif run:
                joined.append((SAME, list(run)))
    return joined


def _readable(runs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """A common stretch that is shorter than the changes on both its sides is common by chance."""
    kept = list(runs)
    while True:
        sizes = [len(text.strip()) for _kind, text in kept]
        chance = {place for place in range(1, len(kept) - 1) if _by_chance(kept, sizes, place)}
        if not chance:
            return kept
        kept = _parted(kept, chance)


def _by_chance(runs: Sequence[tuple[str, str]], sizes: Sequence[int], place: int) -> bool:
    if runs[place][0] != SAME:
        return False
    return sizes[place] < min(_beside(runs, sizes, place, -1), _beside(runs, sizes, place, 1))


def _beside(runs: Sequence[tuple[str, str]], sizes: Sequence[int], place: int, step: int) -> int:
    """The larger of what was removed and added next to a common run."""
    most, place = 0, place + step
    while 0 <= place < len(runs) and runs[place][0] != SAME:
        most, place = max(most, sizes[place]), place + step
    return most


def _parted(runs: Sequence[tuple[str, str]], chance: Collection[int]) -> list[tuple[str, str]]:
    """The runs at `chance` as removed and added, in one with what was changed beside them."""
    parted: list[tuple[str, str]] = []
    removed: list[str] = []
    added: list[str] = []
    for place, (kind, text) in enumerate(runs):
        if kind == SAME and place not in chance:
            parted += [(name, "".join(texts)) for name, texts in ((REMOVED, removed), (ADDED, added)) if texts]
            parted.append((SAME, text))
            removed, added = [], []
        else:
            removed += [text] * (kind != ADDED)
            added += [text] * (kind != REMOVED)
    return parted + [(name, "".join(texts)) for name, texts in ((REMOVED, removed), (ADDED, added)) if texts]


# Elements ----------------------------------------------------------------------------------------------------------


def _moved(pieces: list[Piece]) -> list[Piece]:
    """What was removed here and added there was moved: it is shown once, where it stands now."""
    gone = Counter(piece.text for piece in pieces if piece.kind == REMOVED)
    come = Counter(piece.text for piece in pieces if piece.kind == ADDED)
    moved = gone & come
    taken, put = Counter(moved), Counter(moved)
    shown: list[Piece] = []
    for piece in pieces:
        if piece.kind == REMOVED and taken[piece.text]:
            taken[piece.text] -= 1
        elif piece.kind == ADDED and put[piece.text]:
            put[piece.text] -= 1
            shown.append(Piece(MOVED, piece.text))
        else:
            shown.append(piece)
    return shown


def _changed(pieces: list[Piece]) -> list[Piece]:
    """As many removed as added side by side are compared in pairs: those much alike are one element, changed."""
    shown: list[Piece] = []
    place = 0
    while place < len(pieces):
        end = place
        while end < len(pieces) and pieces[end].kind in {REMOVED, ADDED}:
            end += 1
        old = [piece for piece in pieces[place:end] if piece.kind == REMOVED]
        new = [piece for piece in pieces[place:end] if piece.kind == ADDED]
        shown += _in_pairs(old, new)
        shown += pieces[end : end + 1]
        place = end + 1
    return shown


def _in_pairs(old: list[Piece], new: list[Piece]) -> list[Piece]:
    if len(old) != len(new):
        return [*old, *new]
    shown: list[Piece] = []
    for before, after in zip(old, new, strict=True):
        within = tuple(text_difference(before.text, after.text))
        common = sum(len(piece.text) for piece in within if piece.kind == SAME)
        if common >= _ALIKE * max(len(before.text), len(after.text)):
            shown.append(Piece(CHANGED, after.text, within))
        else:
            shown += [before, after]
    return shown
