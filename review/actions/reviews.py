"""One's own review: the draft, the submission that freezes it, and the one decision of two reviews."""

import secrets
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.actions import accept_sample, dispute_sample
from core import history
from core.guidelines import current_version
from core.models import User
from core.refusals import RuleBroken
from review.actions.guards import locked, require_own, require_unsubmitted, stale
from review.actions.seats import take_seat
from review.judging import Content, check_issues, cleaned, content_of, finds_issue, open_points
from review.models import SEATS, AnswerReview, ReviewCase
from review.queries import predicted_elements
from review.workflow import CaseState, ReviewState

AGREED = gettext_noop("both reviews found no issue")


def can_save_review(user: User, review: AnswerReview) -> bool:
    return review.reviewer_id == user.pk and review.state == ReviewState.DRAFT


can_submit_review = can_save_review


@transaction.atomic
def save_review(
    *,
    review: AnswerReview,
    version: int,
    marks: Sequence[Any],
    recall: Sequence[Any],
    additions: Sequence[Any],
    issues: Sequence[Any],
    by: User,
) -> AnswerReview:
    """Keep the draft; it may have gaps. A draft saved elsewhere since `version` is refused, with both texts.

    Whoever has lost the seat meanwhile loses no word: it is kept with the review, which counts for nothing.
    """
    require_own(review, by)
    case = ReviewCase.objects.select_related("sample__document", "standardization", "prediction_run").get(
        pk=review.case_id
    )
    content = cleaned(
        marks=marks,
        recall=recall,
        additions=additions,
        issues=issues,
        answer=case.standardization.answer,
        predicted=[predicted.element for predicted in predicted_elements(case)],
    )
    if not _keep(review, version, content):
        review.refresh_from_db()
        require_unsubmitted(review)
        if case.state != CaseState.OPEN:
            raise history.moved_on(case, case.state)
        if content_of(review) != content:
            raise stale(review, sent=content.as_fields())
        # The same text twice, as when a page saves while its form is being sent: nothing is in conflict.
    review.refresh_from_db()
    return review


def _keep(review: AnswerReview, version: int, content: Content) -> int:
    """Conditional, so that of two savers at once one wins and the other is told."""
    rows = AnswerReview.objects.filter(pk=review.pk, version=version, case__state=CaseState.OPEN)
    return rows.exclude(state=ReviewState.SUBMITTED).update(
        **content.as_fields(), version=F("version") + 1, saved_at=timezone.now()
    )


@transaction.atomic
def submit_review(*, review: AnswerReview, version: int, by: User) -> AnswerReview:
    """Freeze the review. With the second one comes exactly one decision, in the same transaction.

    Whoever has lost the seat sits down again if one is free, and is told kindly if not.
    """
    require_own(review, by)
    case = locked(review.case)
    review = AnswerReview.objects.select_for_update(of=("self",)).get(pk=review.pk)
    require_unsubmitted(review)
    if review.version != version:
        raise stale(review, sent={})
    if review.state == ReviewState.RELEASED:
        review = take_seat(case=case, by=by)
    content = content_of(review)
    check_issues(content)
    predicted = [item.element for item in predicted_elements(case)]
    if left := open_points(content, answer=case.standardization.answer, predicted=predicted):
        raise RuleBroken(
            _("Not judged yet: %(points)s.") % {"points": ", ".join(point.words for point in left[:8])},
            rule="review_incomplete",
            open=[f"{point.kind} {point.position}" for point in left],
        )
    AnswerReview.objects.filter(pk=review.pk).update(
        found_issue=finds_issue(content), submitted_at=timezone.now(), guidelines_version=current_version()
    )
    history.advance(review, "submit", by=by, case=case.pk)
    review.refresh_from_db()
    _decide(case)
    return review


def _decide(case: ReviewCase) -> None:
    """The caller holds the case's lock. The decision is the rule's, not of whoever came second: `by` is the system."""
    verdicts = list(case.reviews.filter(state=ReviewState.SUBMITTED).values_list("found_issue", flat=True))
    if len(verdicts) < len(SEATS):
        return
    if any(verdicts):
        first = secrets.choice(SEATS)
        history.advance(case, "dispute", by=None, also={"first_shown": first}, first_shown=first)
        dispute_sample(sample=case.sample)
        return
    history.advance(case, "accept", by=None, reason=AGREED)
    accept_sample(sample=case.sample, by=None, reason=AGREED)
