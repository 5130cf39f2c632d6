"""Short ways to say what a reviewer does."""

from typing import Any

from core.models import User
from review import actions
from review.models import AnswerReview, ReviewCase
from review.queries import predicted_elements


def clean_marks(case: ReviewCase, **changes: Any) -> dict[str, Any]:
    """A whole review without any issue, but for what `changes` say."""
    return {
        "marks": [{"mark": "correct", "note": ""} for _element in case.standardization.answer],
        "recall": [
            {"element": predicted.element, "mark": "unreasonable", "note": ""} for predicted in predicted_elements(case)
        ],
        "additions": [],
        "issues": [],
        **changes,
    }


ISSUE = {"issues": [{"kind": "question", "note": "It may be read in two ways."}]}


def save(review: AnswerReview, **changes: Any) -> AnswerReview:
    content = clean_marks(review.case, **changes)
    return actions.save_review(review=review, version=review.version, by=review.reviewer, **content)


def submit(case: ReviewCase, reviewer: User, **changes: Any) -> AnswerReview:
    """Sit down, judge everything, submit."""
    review = save(actions.take_seat(case=case, by=reviewer), **changes)
    return actions.submit_review(review=review, version=review.version, by=reviewer)
