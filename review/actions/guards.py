"""What every action on a case asks first."""

from typing import Any

from django.utils.translation import gettext as _

from core.models import User
from core.refusals import Conflict, NotAllowed, RuleBroken
from review.judging import content_of
from review.models import AnswerReview, ReviewCase
from review.workflow import ReviewState


def locked(case: ReviewCase) -> ReviewCase:
    """The case's row, locked: seats, submissions and decisions of one case happen one after the other."""
    return (
        ReviewCase.objects.select_for_update(of=("self",))
        .select_related("sample__document", "sample__document_version", "standardization")
        .get(pk=case.pk)
    )


def require_stage_work(by: User) -> None:
    if not by.does_stage_work or not by.is_active:
        raise NotAllowed(_("Reviewing is the work of annotators and experts."))


def require_lead(by: User) -> None:
    if not by.is_lead or not by.is_active:
        raise NotAllowed(_("Only a lead does this."))


def require_approved(case: ReviewCase) -> None:
    if case.sample.is_blocked:
        raise RuleBroken(
            _("The document's approval was withdrawn. The sample waits until it is approved again."),
            rule="document_not_approved",
        )


def require_own(review: AnswerReview, by: User) -> None:
    if review.reviewer_id != by.pk:
        raise NotAllowed(_("This review is another person's."))


def require_unsubmitted(review: AnswerReview) -> None:
    if review.state == ReviewState.SUBMITTED:
        raise Conflict(
            _("This review is submitted and frozen; it cannot be changed."), rule="review_frozen", state=review.state
        )


def stale(review: AnswerReview, *, sent: dict[str, list[Any]]) -> Conflict:
    return Conflict(
        _("This review was saved in another window meanwhile. Both texts are shown; nothing was overwritten."),
        rule="stale_version",
        version=review.version,
        current=content_of(review).as_fields(),
        sent=sent,
    )
