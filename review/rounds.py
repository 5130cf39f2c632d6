"""The rounds of a sample beside each other: what each decided, and what changed from one to the next."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.differences import SAME, Piece, line_difference, text_difference
from review.models import Adjudication, ReviewCase


@dataclass(frozen=True)
class Round:
    """One round; the differences are to the round before and empty where there is none."""

    case: ReviewCase
    adjudication: Adjudication | None
    question: tuple[Piece, ...]
    answer: tuple[Piece, ...]
    document_version: int
    other_document: bool

    @property
    def question_changed(self) -> bool:
        return any(piece.kind != SAME for piece in self.question)

    @property
    def answer_changed(self) -> bool:
        return any(piece.kind != SAME for piece in self.answer)


def rounds(cases: Sequence[ReviewCase]) -> list[Round]:
    """`cases` in the order of their rounds."""
    return [_round(before, case) for before, case in zip([None, *cases], cases, strict=False)]


def _round(before: ReviewCase | None, case: ReviewCase) -> Round:
    now = case.standardization
    then = before.standardization if before else None
    return Round(
        case=case,
        adjudication=getattr(case, "adjudication", None),
        question=tuple(text_difference(then.question_nonthinking, now.question_nonthinking)) if then else (),
        answer=tuple(line_difference(then.answer, now.answer)) if then else (),
        document_version=now.document_version.number,
        other_document=then is not None and then.document_version_id != now.document_version_id,
    )
