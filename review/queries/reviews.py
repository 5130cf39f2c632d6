"""Which reviews a person may read."""

from django.db.models import Case, Exists, F, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Now

from annotation.models import Claim
from annotation.workflow import Job, SampleState
from core.models import User
from review.models import Adjudication, AnswerReview, DecisionDraft, ReviewCase
from review.queries.cases import DECIDED
from review.workflow import CaseState, ReviewState


def reviews_visible_to(person: User) -> QuerySet[AnswerReview]:
    """One's own. Leads: all (a look at an undecided case is recorded). Of decided cases, the two that count: for the
    expert who has claimed the sample to decide it, or has decided one of its cases. In the order drawn for the case."""
    reviews = AnswerReview.objects.select_related("case__sample", "reviewer").order_by("case", _shown_second(), "pk")
    if person.is_lead:
        return reviews
    seen = Q(reviewer=person)
    if person.is_expert:
        seen |= Q(_judges(person), case__state__in=DECIDED, state=ReviewState.SUBMITTED)
    return reviews.filter(seen)


def _shown_second() -> Case:
    first = When(case__first_shown__isnull=True, then=F("seat"))
    return Case(
        first,
        When(seat=F("case__first_shown"), then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )


def _judges(person: User) -> Q:
    sample = OuterRef("case__sample")
    claim = Claim.objects.filter(
        sample=sample,
        holder=person,
        job=Job.JUDGES,
        ended_at=None,
        lapses_at__gt=Now(),
        sample__state=SampleState.IN_ADJUDICATION,
    )
    return Q(Exists(claim)) | Q(Exists(Adjudication.objects.filter(case__sample=sample, decided_by=person)))


def names_are_hidden(case: ReviewCase, person: User) -> bool:
    """Whose review is whose the expert is told when the case is decided. Whoever reviewed it knows their own."""
    return not person.is_lead and case.state == CaseState.DISPUTED


def review_of(case: ReviewCase, person: User) -> AnswerReview | None:
    return AnswerReview.objects.filter(case=case, reviewer=person).first()


def reviews_by(person: User) -> QuerySet[AnswerReview]:
    return (
        AnswerReview.objects.filter(reviewer=person)
        .select_related("case__sample__document", "case__sample__document_version")
        .order_by("-begun_at", "-pk")
    )


def draft_of(case: ReviewCase, expert: User) -> DecisionDraft | None:
    """What this expert has typed of a decision; there is one from the moment in which they took the case."""
    return DecisionDraft.objects.filter(case=case, expert=expert).first()
