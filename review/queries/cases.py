"""Which cases a person sees, is offered, may decide; and what a case waits for.

Blindness (invariant 5) is decided in this package and nowhere else: until a case is decided, `reviews_visible_to`
gives nobody but a lead a review not their own, and nothing that `cases_visible_to` selects, orders or shows depends on
what one says. That a seat is taken is all that anybody else can tell.
"""

from collections.abc import Sequence
from datetime import timedelta

from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.workflow import Job
from core.models import BenchmarkSettings, User
from generation.workflow import CallState, RunState
from review.models import SEATS, AnswerReview, ReviewCase
from review.queries.people import (
    earlier_reviewers,
    holds,
    jobs_on,
    new_people,
    stage_workers,
    work_of,
)
from review.workflow import CaseState, ReviewState

DECIDED = (CaseState.ACCEPTED, CaseState.DISPUTED, CaseState.ADJUDICATED)
UNDECIDED = (CaseState.AWAITING_PREDICTIONS, CaseState.OPEN)


def cases_for_list() -> QuerySet[ReviewCase]:
    return ReviewCase.objects.select_related(
        "sample__document", "sample__document_version", "standardization", "prediction_run"
    ).defer("standardization__question_thinking", "prediction_run__prompt", "prediction_run__prompt_thinking")


# Seats -----------------------------------------------------------------------------------------------------------


def lapsed() -> Q:
    """Of reviews: drafts that nobody has touched for as long as a claim may idle, or whose reviewer is gone."""
    idle = timedelta(minutes=BenchmarkSettings.load().claim_idle_minutes)
    gone = Q(reviewer__is_active=False) | ~Q(reviewer__role__in=["annotator", "expert"])
    return Q(state=ReviewState.DRAFT) & (Q(saved_at__lt=timezone.now() - idle) | gone)


def seated() -> QuerySet[AnswerReview]:
    return AnswerReview.objects.exclude(state=ReviewState.RELEASED)


def _count(reviews: QuerySet[AnswerReview]) -> Coalesce:
    rows = reviews.filter(case=OuterRef("pk")).order_by().values("case").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(rows, output_field=IntegerField()), 0)


def cases_offered_to(person: User) -> QuerySet[ReviewCase]:
    """Open cases that this person may sit down at, the oldest first: a seat is free or has lapsed, the language and
    task are theirs, and they are nothing else to the sample.

    Whoever reviewed the sample in an earlier round is offered it only when nobody new is left.
    """
    if not person.does_stage_work or not person.is_active:
        return ReviewCase.objects.none()
    cases = (
        cases_for_list()
        .filter(state=CaseState.OPEN, sample__document_version__state="approved")
        .alias(held=_count(seated().exclude(lapsed())))
        .filter(held__lt=len(SEATS))
        .exclude(holds(person, Job.VERIFIES, Job.JUDGES))
        .exclude(Exists(seated().filter(case=OuterRef("pk"), reviewer=person)))
    )
    work = work_of(person)
    if work.languages:
        cases = cases.filter(sample__document__language__in=work.languages)
    if work.tasks:
        cases = cases.filter(sample__task_code__in=work.tasks)
    return cases.filter(~holds(person, Job.REVIEWS) | Q(pk__in=_again(cases, person))).order_by("pk")


def _again(cases: QuerySet[ReviewCase], person: User) -> list[int]:
    """Of the cases whose sample the person has reviewed: those of a seat given back, and those that nobody new may
    take. In a fixed number of queries."""
    again = list(cases.filter(holds(person, Job.REVIEWS)).select_related("sample__document"))
    if not again:
        return []
    back = set(AnswerReview.objects.filter(case__in=again, reviewer=person).values_list("case", flat=True))
    held, workers = jobs_on(case.sample_id for case in again), stage_workers()
    return [case.pk for case in again if case.pk in back or not new_people(case.sample, workers, held[case.sample_id])]


# Waiting ---------------------------------------------------------------------------------------------------------


def waiting_reasons(cases: Sequence[ReviewCase]) -> dict[int, str]:
    """What each undecided case waits for, in a lead's words. In a fixed number of queries, if the runs' calls are
    prefetched. Of reviews it tells who sits there, never what they say."""
    open_cases = [case for case in cases if case.state == CaseState.OPEN]
    workers = stage_workers() if open_cases else []
    held = jobs_on(case.sample_id for case in open_cases)
    idle = set(AnswerReview.objects.filter(lapsed(), case__in=open_cases).values_list("pk", flat=True))
    reasons = {case.pk: _waits_for_predictions(case) for case in cases if case.state == CaseState.AWAITING_PREDICTIONS}
    for case in open_cases:
        sitting = [review for review in case.reviews.all() if review.state != ReviewState.RELEASED]
        reasons[case.pk] = _waits_for_people(case, sitting, idle, workers, held[case.sample_id])
    return reasons


def waiting_reason(case: ReviewCase) -> str:
    """Empty when the case does not wait."""
    return waiting_reasons([case]).get(case.pk, "")


def _waits_for_predictions(case: ReviewCase) -> str:
    if not case.sample.document_version.is_approved:
        return _("The document's approval was withdrawn.")
    run = case.prediction_run
    if run is None:
        return _("The predictions are not asked for yet.")
    if run.state == RunState.CANCELLED:
        return _("The prediction run was cancelled.")
    if run.state != RunState.FINISHED:
        return _("The models are still answering.")
    calls = [use.call for use in run.run_calls.all()]
    lost = [call for call in calls if not call.has_answer]
    if not lost:
        return _("The predictions are in; the case opens in a moment.")
    names = ", ".join(f"{call.model.name} ({call.get_state_display()})" for call in lost)
    if all(call.state == CallState.UNKNOWN for call in lost):
        return _("Perhaps billed, and no answer: %(models)s. Each is sent again from its own page.") % {"models": names}
    return _("No answer came from %(models)s. Send again, and the case opens when all have answered.") % {
        "models": names
    }


def _waits_for_people(
    case: ReviewCase, sitting: list[AnswerReview], idle: set[int], workers: list[User], held: dict[int, str]
) -> str:
    if not case.sample.document_version.is_approved:
        return _("The document's approval was withdrawn.")
    gone = [review.reviewer.name for review in sitting if review.pk in idle]
    words = []
    if gone:
        words.append(_("Idle or gone: %(people)s; whoever comes next may take the seat.") % {"people": ", ".join(gone)})
    if free := len(SEATS) - len(sitting) + len(gone):
        words.append(_free_seats(case, free, workers, held))
    return " ".join(words)


def _free_seats(case: ReviewCase, free: int, workers: list[User], held: dict[int, str]) -> str:
    fresh = len(new_people(case.sample, workers, held))
    if fresh >= free:
        return _("Reviewers wanted: %(n)s.") % {"n": free}
    # A person who sits here already is no earlier reviewer of it.
    sitting = {review.reviewer_id for review in case.reviews.all() if review.state != ReviewState.RELEASED}
    again = [person for person in earlier_reviewers(case.sample, workers, held) if person.pk not in sitting]
    if fresh + len(again) >= free:
        words = _("Reviewers wanted: %(n)s. New people left: %(fresh)s, so earlier reviewers may serve again.")
        return words % {"n": free, "fresh": fresh}
    return _("Reviewers wanted: %(n)s. Nobody is left who may: add people, or widen what they work on.") % {"n": free}


# Deciding --------------------------------------------------------------------------------------------------------


def cases_to_adjudicate(person: User) -> QuerySet[ReviewCase]:
    """Disputed cases that this expert may decide: not those whose sample they verified or reviewed."""
    if not person.is_expert:
        return ReviewCase.objects.none()
    return (
        cases_for_list()
        .filter(state=CaseState.DISPUTED)
        .exclude(holds(person, Job.VERIFIES, Job.REVIEWS))
        .order_by("pk")
    )


def cases_visible_to(person: User) -> QuerySet[ReviewCase]:
    """Leads: every case. Others: the ones they review, are offered, may adjudicate, or judged and are decided."""
    if person.is_lead:
        return cases_for_list().order_by("pk")
    own = Exists(AnswerReview.objects.filter(case=OuterRef("pk"), reviewer=person))
    seen = Q(own) | Q(pk__in=cases_offered_to(person).values("pk"))
    if person.is_expert:
        seen |= Q(pk__in=cases_to_adjudicate(person).values("pk"))
        seen |= Q(holds(person, Job.JUDGES), state__in=DECIDED)
    return cases_for_list().filter(seen).order_by("pk")


cases_for = cases_visible_to


def rounds_of(case: ReviewCase, person: User) -> QuerySet[ReviewCase]:
    """The sample's decided rounds that this person may read, this one among them, in their order."""
    decided = cases_visible_to(person).filter(sample=case.sample_id, state__in=DECIDED)
    return decided.select_related("adjudication__decided_by").order_by("round")
