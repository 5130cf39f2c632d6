"""What of a quality audit may be read, and by whom."""

from typing import TYPE_CHECKING, TypedDict

from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.workflow import Job
from core.models import User
from review.models import AuditedSample, QualityAudit, QualityScore
from review.queries.people import holds

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class Taken(TypedDict):
        taken: int

    ScoredSoFar = WithAnnotations[AuditedSample, Taken]

QUALITY_SEATS = (1, 2, 3)


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
        .filter(taken__lt=len(QUALITY_SEATS), replaced_at=None)
        .exclude(holds(person, Job.VERIFIES, Job.JUDGES))
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


def standing_in(audit: QualityAudit) -> QuerySet[AuditedSample]:
    """The draw as it stands."""
    return audited_for_list().filter(audit=audit, replaced_at=None)


def still_to_score(audit: QualityAudit) -> "QuerySet[ScoredSoFar]":
    """Of the draw as it stands what lacks scores, with how many are in (`taken`)."""
    counted = standing_in(audit).annotate(taken=_scores_of_row())
    return counted.filter(taken__lt=len(QUALITY_SEATS)).order_by("position")


def fully_scored() -> QuerySet[AuditedSample]:
    """Those that count: all three scores are in, and nothing stands in their place."""
    return audited_for_list().alias(taken=_scores_of_row()).filter(taken=len(QUALITY_SEATS), replaced_at=None)


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
