"""Who may sit down at a case, and how a seat goes back. A case has two seats and never a third reviewer."""

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotation.actions import join_sample
from annotation.workflow import Job
from core import history
from core.models import BenchmarkSettings, User
from core.refusals import Conflict, NotAllowed, RuleBroken
from core.text import clean_text
from review import seating
from review.actions.guards import locked, require_approved, require_lead, require_own, require_stage_work
from review.models import SEATS, AnswerReview, ReviewCase
from review.queries import cases_offered_to, job_on, lapsed, review_of, seated, somebody_new_is_left, works_on
from review.workflow import CaseState, ReviewState, SeatEnd

MOST_TRIED = 50


def can_take_seat(user: User, case: ReviewCase) -> bool:
    return cases_offered_to(user).filter(pk=case.pk).exists()


@transaction.atomic
def take_seat(*, case: ReviewCase, by: User) -> AnswerReview:
    """Sit down at a free seat of an open case; whoever sits there already gets their review again.

    Verifier, auditor and adjudicator are refused. An earlier reviewer of the sample is taken only when nobody new is
    left, and the review says so. A seat whose holder has been idle for as long as a claim may be, or is gone, is free.
    """
    require_stage_work(by)
    case = locked(case)
    own = review_of(case, by)
    if own is not None and own.state != ReviewState.RELEASED:
        return own
    if case.state != CaseState.OPEN:
        raise history.moved_on(case, case.state)
    require_approved(case)
    again = _may_review(case, by, own)
    _keep_to_the_limit(by)
    review = _sit(case, by, own, again)
    if review is None:
        raise seats_taken()
    return review


def seats_taken() -> Conflict:
    return Conflict(
        _("Two colleagues have taken this sample already. Thank you: nothing of yours is needed here, take the next."),
        rule="seats_taken",
    )


def _may_review(case: ReviewCase, by: User, own: AnswerReview | None) -> bool:
    """Whether the person serves again after an earlier round; refuses who may not serve at all."""
    held = job_on(case, by)
    if held in {Job.VERIFIES, Job.JUDGES}:
        raise NotAllowed(
            _("You verified, audited or adjudicated this sample; others must review it."),
            rule="two_jobs_on_one_sample",
        )
    if not works_on(by, case.sample):
        raise NotAllowed(_("This language or task is not among those you work on."), rule="not_your_work")
    if own is not None:
        return own.reviewed_before
    again = held == Job.REVIEWS
    if again and somebody_new_is_left(case):
        raise NotAllowed(
            _("You reviewed this sample in an earlier round, and people who have not are left."),
            rule="reviewed_before",
        )
    return again


def _keep_to_the_limit(by: User) -> None:
    """Locks the person, so that two seats taken by one person at the same moment count each other."""
    User.objects.select_for_update().get(pk=by.pk)
    limit = BenchmarkSettings.load().claims_per_person
    begun = AnswerReview.objects.filter(reviewer=by, state=ReviewState.DRAFT, case__state=CaseState.OPEN).count()
    if begun >= limit:
        raise RuleBroken(
            _("You have begun %(limit)s reviews already. Submit or give back one first.") % {"limit": limit},
            rule="too_many_reviews",
        )


def _sit(case: ReviewCase, person: User, own: AnswerReview | None, again: bool) -> AnswerReview | None:
    """The person's review at the first seat that is free; None when there is none. The caller holds the case's lock,
    and where there are no row locks the constraint decides."""
    join_sample(sample=case.sample, person=person, job=Job.REVIEWS)
    for seat in _free_seats(case):
        try:
            with transaction.atomic():
                review = _take(case, person, own, seat, again)
        except IntegrityError:
            continue
        history.record("take_seat", review, by=person, case=case.pk, seat=seat, reviewed_before=again)
        return review
    return None


def _take(case: ReviewCase, person: User, own: AnswerReview | None, seat: int, again: bool) -> AnswerReview:
    if own is None:
        return AnswerReview.objects.create(case=case, seat=seat, reviewer=person, reviewed_before=again)
    history.advance(own, "take_again", by=person, also={"seat": seat})
    own.refresh_from_db()
    return own


def _free_seats(case: ReviewCase) -> list[int]:
    """Seats that nobody holds; else the one that has lapsed longest, which goes back now."""
    held = set(seated().filter(case=case).values_list("seat", flat=True))
    if free := [seat for seat in SEATS if seat not in held]:
        return free
    idle = AnswerReview.objects.filter(lapsed(), case=case).order_by("saved_at").first()
    if idle is None:
        return []
    _release(idle, SeatEnd.LAPSED, by=None)
    return [idle.seat]


def _release(review: AnswerReview, how: SeatEnd, *, by: User | None, reason: str = "") -> None:
    history.advance(review, "release", by=by, reason=reason, how=str(how), case=review.case_id, seat=review.seat)


def next_review(*, by: User) -> AnswerReview | None:
    """Sit down at the oldest case that is offered; None when there is none."""
    require_stage_work(by)
    _keep_to_the_limit_now(by)
    for case in cases_offered_to(by)[:MOST_TRIED]:
        try:
            return take_seat(case=case, by=by)
        except (Conflict, NotAllowed):
            # Somebody was faster; the next one.
            continue
    return None


@transaction.atomic
def _keep_to_the_limit_now(by: User) -> None:
    _keep_to_the_limit(by)


# Giving back -----------------------------------------------------------------------------------------------------


def can_give_back_seat(user: User, review: AnswerReview) -> bool:
    return review.reviewer_id == user.pk and review.state == ReviewState.DRAFT


@transaction.atomic
def give_back_seat(*, review: AnswerReview, by: User) -> AnswerReview:
    """Leave a begun review to somebody else. Its words stay, and it may be taken up again while a seat is free."""
    require_own(review, by)
    locked(review.case)
    _release(review, SeatEnd.GIVEN_BACK, by=by)
    return review


def can_free_seat(user: User, review: AnswerReview) -> bool:
    return user.is_lead and review.state == ReviewState.DRAFT and review.case.state == CaseState.OPEN


@transaction.atomic
def free_seat(*, review: AnswerReview, reason: str, by: User) -> AnswerReview:
    """A lead frees the seat of a begun review, whose reviewer is ill, say. What was submitted stays."""
    require_lead(by)
    locked(review.case)
    reason = clean_text(reason).strip()
    if not reason:
        raise RuleBroken(_("Say why the seat is freed."), rule="reason_missing")
    _release(review, SeatEnd.FREED, by=by, reason=reason)
    return review


# Assigning -------------------------------------------------------------------------------------------------------


def can_assign_reviewers(user: User, case: ReviewCase) -> bool:
    return user.is_lead and case.state == CaseState.OPEN and not case.sample.is_blocked


@transaction.atomic
def assign_reviewers(*, case: ReviewCase, by: User) -> list[AnswerReview]:
    """A lead has the free seats of a case filled: by people who work on its language and task, new ones first, and
    among them those with the least on their desk."""
    require_lead(by)
    case = locked(case)
    if case.state != CaseState.OPEN:
        raise history.moved_on(case, case.state)
    require_approved(case)
    made: list[AnswerReview] = []
    for suited in seating.suited(case):
        if not (free := _free_seats(case)):
            break
        review = _sit(case, suited.person, None, suited.again)
        if review is not None:
            history.record(
                "assign_reviewer", review, by=by, case=case.pk, seat=free[0], load=suited.load, again=suited.again
            )
            made.append(review)
    if not made and not _free_seats(case):
        raise seats_taken()
    if not made:
        raise RuleBroken(
            _("Nobody is left who may review this: add people, or widen what they work on."), rule="nobody_left"
        )
    return made
