"""Two candidates side by side: what their questions and answers share and where they part."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.desk import OpenCandidate, open_candidate
from annotation.differences import ADDED, REMOVED, SAME, Piece, text_difference
from annotation.glancing import Row
from annotation.models import Candidate
from annotation.queries import ModelAnswer
from generation.models import LanguageModel


@dataclass(frozen=True)
class Side:
    """One of the two. `question` and `answer` mark what the other side lacks: its pieces are same or ins."""

    row: Row
    shown: OpenCandidate
    question: tuple[Piece, ...]
    answer: tuple[Piece, ...]

    @property
    def candidate(self) -> Candidate:
        return self.row.candidate


@dataclass(frozen=True)
class Answered:
    """One model's answers to both; None where it was not asked, or was asked about another wording."""

    model: LanguageModel
    left: ModelAnswer | None
    right: ModelAnswer | None


@dataclass(frozen=True)
class Comparison:
    left: Side
    right: Side
    answered: tuple[Answered, ...]
    others: tuple[Row, ...]

    @property
    def after(self) -> Row:
        return self._beside(1)

    @property
    def before(self) -> Row:
        return self._beside(-1)

    def _beside(self, by: int) -> Row:
        place = [row.candidate.pk for row in self.others].index(self.right.candidate.pk)
        return self.others[(place + by) % len(self.others)]


def compare(left: Row, opened: OpenCandidate, rows: Sequence[Row], *, other: int | None) -> Comparison | None:
    """The open candidate beside the one at position `other`, or beside the likeliest: one that asks the same, one that
    has passed, one that is open. None when there is no other."""
    others = tuple(sorted((row for row in rows if row is not left), key=lambda row: _rank(left, row)))
    if not others:
        return None
    right = next((row for row in others if row.candidate.position == other), others[0])
    beside = open_candidate(right.candidate)
    theirs, ours = _sides(opened.candidate.question, beside.candidate.question)
    mine, other_lines = _lines(opened.candidate.answer, beside.candidate.answer)
    return Comparison(
        Side(left, opened, theirs, mine),
        Side(right, beside, ours, other_lines),
        _answered(opened, beside),
        others,
    )


def _rank(left: Row, row: Row) -> tuple[bool, bool, bool, int]:
    twin = any(one is row for one in left.twins)
    return (not twin, row.candidate.state != "passed", not row.is_open, row.candidate.position)


def _sides(left: str, right: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    pieces = text_difference(left, right)
    mine = tuple(Piece(SAME if piece.kind == SAME else ADDED, piece.text) for piece in pieces if piece.kind != ADDED)
    return mine, tuple(piece for piece in pieces if piece.kind != REMOVED)


def _lines(left: Sequence[str], right: Sequence[str]) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """By what is in them, not by their order: both are lists of findings."""
    here, there = {_plain(line) for line in left}, {_plain(line) for line in right}
    return (
        tuple(Piece(SAME if _plain(line) in there else ADDED, line) for line in left),
        tuple(Piece(SAME if _plain(line) in here else ADDED, line) for line in right),
    )


def _plain(line: str) -> str:
    return " ".join(line.casefold().split())


def _answered(left: OpenCandidate, right: OpenCandidate) -> tuple[Answered, ...]:
    one = {answer.model: answer for answer in left.fresh.answers} if left.fresh else {}
    two = {answer.model: answer for answer in right.fresh.answers} if right.fresh else {}
    return tuple(Answered(model, one.get(model), two.get(model)) for model in {**one, **two})
