"""What people changed in a model's draft: by character in Chinese, by word elsewhere."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

SAME, ADDED, REMOVED = "same", "ins", "del"
# Latin words and runs of white space stay whole; every other character, Han included, stands alone.
_PIECE = re.compile(r"[A-Za-z0-9_\u00c0-\u024f]+|\s+|.", re.DOTALL)


@dataclass(frozen=True)
class Piece:
    """A stretch of the text: `kind` is same, ins (only in the new text) or del (only in the draft)."""

    kind: str
    text: str


def text_difference(before: str, after: str) -> list[Piece]:
    """The pieces in reading order; those that are not `del` joined are the new text."""
    return [Piece(kind, "".join(run)) for kind, run in _runs(_PIECE.findall(before), _PIECE.findall(after))]


def line_difference(before: Sequence[str], after: Sequence[str]) -> list[Piece]:
    """The same for the elements of an answer, each of them whole."""
    return [Piece(kind, line) for kind, run in _runs(list(before), list(after)) for line in run]


def _runs(before: list[str], after: list[str]) -> list[tuple[str, list[str]]]:
    runs: list[tuple[str, list[str]]] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for move, start, end, new_start, new_end in matcher.get_opcodes():
        if move == "equal":
            runs.append((SAME, after[new_start:new_end]))
            continue
        if end > start:
            runs.append((REMOVED, before[start:end]))
        if new_end > new_start:
            runs.append((ADDED, after[new_start:new_end]))
    return runs
