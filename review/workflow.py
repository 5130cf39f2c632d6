"""Answer review, adjudication and quality audit, as data."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from core.workflow import Lifecycle


class CaseState(TextChoices):
    """`open` tells a reviewer nothing about the other review; it ends only when both are in."""

    AWAITING_PREDICTIONS = "awaiting_predictions", _("awaiting predictions")
    OPEN = "open", _("open")
    DISPUTED = "disputed", _("disputed")
    ACCEPTED = "accepted", _("accepted")
    ADJUDICATED = "adjudicated", _("adjudicated")


CASE_LIFECYCLE = Lifecycle(
    CaseState,
    [
        ("open", CaseState.AWAITING_PREDICTIONS, CaseState.OPEN),
        ("accept", CaseState.OPEN, CaseState.ACCEPTED),
        ("dispute", CaseState.OPEN, CaseState.DISPUTED),
        ("adjudicate", CaseState.DISPUTED, CaseState.ADJUDICATED),
    ],
)


class ReviewState(TextChoices):
    """`released`: the seat went back before the review was submitted; its words are kept, and it counts for nothing."""

    DRAFT = "draft", _("draft")
    SUBMITTED = "submitted", _("submitted")
    RELEASED = "released", _("given back")


REVIEW_LIFECYCLE = Lifecycle(
    ReviewState,
    [
        ("submit", ReviewState.DRAFT, ReviewState.SUBMITTED),
        ("release", ReviewState.DRAFT, ReviewState.RELEASED),
        ("take_again", ReviewState.RELEASED, ReviewState.DRAFT),
    ],
)


class SeatEnd(TextChoices):
    """Why a seat went back."""

    GIVEN_BACK = "given_back", _("given back")
    LAPSED = "lapsed", _("lapsed")
    FREED = "freed", _("freed by a lead")


class ElementMark(TextChoices):
    CORRECT = "correct", _("correct")
    INCORRECT = "incorrect", _("incorrect")
    UNSURE = "unsure", _("unsure")


class PredictedMark(TextChoices):
    MISSING = "missing", _("missing from the answer")
    UNREASONABLE = "unreasonable", _("unreasonable")


class Decided(TextChoices):
    """The expert on one element: of the answer the first two, of those that it lacks the other two."""

    CORRECT = "correct", _("correct")
    INCORRECT = "incorrect", _("incorrect")
    MISSING = "missing", _("missing from the answer")
    UNREASONABLE = "unreasonable", _("unreasonable")


OF_THE_ANSWER = (Decided.CORRECT, Decided.INCORRECT)
OF_THE_LACKING = (Decided.MISSING, Decided.UNREASONABLE)


class IssueKind(TextChoices):
    DOCUMENT = "document", _("document")
    QUESTION = "question", _("question")
    ANSWER = "answer", _("answer")


class AdjudicationOutcome(TextChoices):
    NO_ISSUE = "no_issue", _("no issue")
    RECONSTRUCT = "reconstruct", _("reconstruct")


class Dimension(TextChoices):
    """What the three experts score. The fifth dimension, difficulty, is computed."""

    TASK_ALIGNMENT = "task_alignment", _("task alignment")
    CONTEXT_REQUIREMENT = "context_requirement", _("context requirement")
    AUTHENTICITY = "authenticity", _("authenticity")
    ANSWER_CORRECTNESS = "answer_correctness", _("answer correctness")
