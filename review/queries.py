"""What may be read, and by whom.

Blindness (invariant 5) is decided here and nowhere else: until a case is decided, `reviews_visible_to` gives nobody
but a lead a review not their own, and nothing that `cases_visible_to` selects, orders or shows depends on one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from annotation.models import Participation
from annotation.workflow import Job
from benchmark.elements import comparable
from benchmark.taxonomy import Metric
from core.models import User
from core.workflow import Role
from generation.models import LanguageModel
from generation.queries import Result, results_of
from generation.workflow import RunState
from review.models import SEATS, AnswerReview, AuditedSample, QualityScore, ReviewCase
from review.workflow import CaseState

DECIDED = (CaseState.ACCEPTED, CaseState.DISPUTED, CaseState.ADJUDICATED)
STAGE_ROLES = (Role.ANNOTATOR, Role.EXPERT)
QUALITY_SEATS = (1, 2, 3)


# Predictions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PredictedElement:
    """An element that models gave and the answer lacks, in the words of the first who gave it."""

    element: str
    models: tuple[LanguageModel, ...]


def predictions_of(case: ReviewCase) -> list[Result]:
    """What the panel answered, failed calls included."""
    return list(results_of(case.prediction_run)) if case.prediction_run else []


def lines_of(case: ReviewCase, result: Result) -> list[str]:
    """The elements of one prediction. A summary is one element, however many lines it has."""
    if not result.call.has_answer:
        return []
    lines = [str(line) for line in result.elements if str(line).strip()]
    if is_summary(case):
        return ["\n".join(lines)] if lines else []
    return lines


def is_summary(case: ReviewCase) -> bool:
    return case.sample.task.metric is Metric.SUMMARY


def predicted_elements(case: ReviewCase, results: Sequence[Result] | None = None) -> list[PredictedElement]:
    """The distinct elements that only models gave: the most given first, then in the order in which they appear.

    Elements are the same without regard to case and spacing. A summary counts as one element.
    """
    results = predictions_of(case) if results is None else results
    answer = {comparable(element) for element in case.standardization.answer}
    words: dict[str, str] = {}
    models: dict[str, list[LanguageModel]] = {}
    for result in results:
        for line in lines_of(case, result):
            key = comparable(line)
            if key in answer:
                continue
            words.setdefault(key, line)
            givers = models.setdefault(key, [])
            if result.model not in givers:
                givers.append(result.model)
    found = [PredictedElement(words[key], tuple(models[key])) for key in words]
    return sorted(found, key=lambda predicted: -len(predicted.models))


# Cases -----------------------------------------------------------------------------------------------------------


def cases_for_list() -> QuerySet[ReviewCase]:
    return ReviewCase.objects.select_related(
        "sample__document", "sample__document_version", "standardization", "prediction_run"
    ).defer("standardization__question_thinking", "prediction_run__prompt", "prediction_run__prompt_thinking")


def _holds(person: User, *jobs: Job) -> Exists:
    return Exists(Participation.objects.filter(sample=OuterRef("sample"), person=person, job__in=jobs))


def cases_offered_to(person: User) -> QuerySet[ReviewCase]:
    """Open cases with a free seat that this person may take, the oldest first.

    Whoever reviewed the sample in an earlier round is offered it only when nobody new is left.
    """
    if not person.does_stage_work or not person.is_active:
        return ReviewCase.objects.none()
    taken = AnswerReview.objects.filter(case=OuterRef("pk")).values("case").annotate(n=Count("pk")).values("n")
    used = (
        Participation.objects.filter(sample=OuterRef("sample"), person__is_active=True, person__role__in=STAGE_ROLES)
        .values("sample")
        .annotate(n=Count("pk"))
        .values("n")
    )
    people = User.objects.filter(is_active=True, role__in=STAGE_ROLES).count()
    return (
        cases_for_list()
        .filter(state=CaseState.OPEN, sample__document_version__state="approved")
        .alias(
            taken=Coalesce(Subquery(taken, output_field=IntegerField()), 0),
            used=Coalesce(Subquery(used, output_field=IntegerField()), 0),
        )
        .filter(taken__lt=len(SEATS))
        .exclude(_holds(person, Job.VERIFIES, Job.JUDGES))
        .exclude(Exists(AnswerReview.objects.filter(case=OuterRef("pk"), reviewer=person)))
        .filter(~_holds(person, Job.REVIEWS) | Q(used__gte=people))
        .order_by("pk")
    )


def somebody_new_is_left(case: ReviewCase) -> bool:
    """Whether any active person has no part yet in this case's sample."""
    part = Participation.objects.filter(sample=case.sample_id, person=OuterRef("pk"))
    return User.objects.filter(is_active=True, role__in=STAGE_ROLES).exclude(Exists(part)).exists()


def waiting_reason(case: ReviewCase) -> str:
    """Why a case still waits for predictions, in a lead's words; empty when it does not wait."""
    if case.state != CaseState.AWAITING_PREDICTIONS:
        return ""
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
    if any(call.has_answer for call in calls):
        return _("The predictions are in; the case opens in a moment.")
    failed = sorted({call.model.name for call in calls})
    return _("No model answered: %(models)s. Retry the run.") % {"models": ", ".join(failed)}


def cases_to_adjudicate(person: User) -> QuerySet[ReviewCase]:
    """Disputed cases that this expert may decide: not those whose sample they verified or reviewed."""
    if not person.is_expert:
        return ReviewCase.objects.none()
    return (
        cases_for_list()
        .filter(state=CaseState.DISPUTED)
        .exclude(_holds(person, Job.VERIFIES, Job.REVIEWS))
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
        seen |= Q(_holds(person, Job.JUDGES), state__in=DECIDED)
    return cases_for_list().filter(seen).order_by("pk")


cases_for = cases_visible_to


# Reviews ---------------------------------------------------------------------------------------------------------


def reviews_visible_to(person: User) -> QuerySet[AnswerReview]:
    """One's own. Leads: all (a look at an undecided case is recorded). The judging expert: those of decided cases."""
    reviews = AnswerReview.objects.select_related("case__sample", "reviewer").order_by("case", "seat")
    if person.is_lead:
        return reviews
    seen = Q(reviewer=person)
    if person.is_expert:
        judges = Exists(Participation.objects.filter(sample=OuterRef("case__sample"), person=person, job=Job.JUDGES))
        seen |= Q(judges, case__state__in=DECIDED)
    return reviews.filter(seen)


def review_of(case: ReviewCase, person: User) -> AnswerReview | None:
    return AnswerReview.objects.filter(case=case, reviewer=person).first()


def reviews_by(person: User) -> QuerySet[AnswerReview]:
    return (
        AnswerReview.objects.filter(reviewer=person)
        .select_related("case__sample__document", "case__sample__document_version")
        .order_by("-begun_at", "-pk")
    )


def job_on(case: ReviewCase, person: User) -> str:
    """What this person is to the case's sample, empty when nothing."""
    held = Participation.objects.filter(sample=case.sample_id, person=person).values_list("job", flat=True)
    return held.first() or ""


# Quality audit ---------------------------------------------------------------------------------------------------


def audited_for_list() -> QuerySet[AuditedSample]:
    return AuditedSample.objects.select_related(
        "audit", "sample__document", "sample__document_version", "standardization__case__prediction_run"
    )


def _scores_of_row() -> Coalesce:
    n = QualityScore.objects.filter(audited=OuterRef("pk")).values("audited").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(n, output_field=IntegerField()), 0)


def audited_offered_to(person: User) -> QuerySet[AuditedSample]:
    """Drawn samples with a free seat that this expert may score, and has not."""
    if not person.is_expert or not person.is_active:
        return AuditedSample.objects.none()
    return (
        audited_for_list()
        .alias(taken=_scores_of_row())
        .filter(taken__lt=len(QUALITY_SEATS))
        .exclude(_holds(person, Job.VERIFIES, Job.JUDGES))
        .exclude(Exists(QualityScore.objects.filter(audited=OuterRef("pk"), scorer=person)))
        .order_by("-audit", "position")
    )


def audited_visible_to(person: User) -> QuerySet[AuditedSample]:
    """Leads: every drawn sample. Experts: those they scored or may score, and the fully scored ones."""
    if person.is_lead:
        return audited_for_list().order_by("-audit", "position")
    if not person.is_expert:
        return AuditedSample.objects.none()
    own = Exists(QualityScore.objects.filter(audited=OuterRef("pk"), scorer=person))
    return (
        audited_for_list()
        .alias(taken=_scores_of_row())
        .filter(Q(own) | Q(taken=len(QUALITY_SEATS)) | Q(pk__in=audited_offered_to(person).values("pk")))
        .order_by("-audit", "position")
    )


def fully_scored() -> QuerySet[AuditedSample]:
    return audited_for_list().alias(taken=_scores_of_row()).filter(taken=len(QUALITY_SEATS))


def scores_visible_to(person: User) -> QuerySet[QualityScore]:
    """One's own; everybody's once all three are in; a lead's: all."""
    scores = QualityScore.objects.select_related("audited", "scorer").order_by("audited", "seat")
    if person.is_lead:
        return scores
    siblings = (
        QualityScore.objects.filter(audited=OuterRef("audited"))
        .order_by()
        .values("audited")
        .annotate(n=Count("pk"))
        .values("n")
    )
    seen = Q(scorer=person)
    if person.is_expert:
        seen |= Q(siblings=len(QUALITY_SEATS))
    return scores.alias(siblings=Subquery(siblings, output_field=IntegerField())).filter(seen)
