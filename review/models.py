"""Stage 4: the review case, two blind reviews, the adjudication; and the quality audit."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models import Sample, Standardization
from annotation.workflow import ReconstructionStep
from core.models import Stateful
from generation.models import Run
from review.workflow import (
    CASE_LIFECYCLE,
    REVIEW_LIFECYCLE,
    AdjudicationOutcome,
    CaseState,
    ReviewState,
)

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

SEATS = (1, 2)


class ReviewCase(Stateful):
    """One round of review of one standardized sample."""

    lifecycle = CASE_LIFECYCLE

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="cases")
    round = models.PositiveIntegerField()
    standardization = models.OneToOneField(Standardization, on_delete=models.PROTECT, related_name="case")
    prediction_run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, blank=True, related_name="cases")
    state = models.CharField(max_length=24, choices=CaseState.choices, default=CaseState.AWAITING_PREDICTIONS)
    created_at = models.DateTimeField(default=timezone.now)
    opened_at = models.DateTimeField(null=True, blank=True)
    first_shown = models.PositiveSmallIntegerField(
        choices=[(seat, str(seat)) for seat in SEATS],
        null=True,
        blank=True,
        help_text="the seat whose review the expert is shown first: drawn when the case became disputed",
    )

    if TYPE_CHECKING:
        reviews: "RelatedManager[AnswerReview]"

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["sample", "round"], name="a_round_has_one_case"),
        ]

    def __str__(self) -> str:
        return f"case {self.pk}"


class AnswerReview(Stateful):
    """One person's blind review. The seat (1 or 2) makes a third reviewer impossible.

    A released review has lost its seat and keeps its words; its reviewer may take a seat again while one is free.

    marks: [{"mark": correct|incorrect|unsure, "note": str}, ...] one per answer element, in its order
    recall: [{"element": str, "mark": missing|unreasonable, "note": str}, ...] one per element only models gave
    additions: [str, ...] missing elements in the reviewer's own words
    issues: [{"kind": document|question|answer, "note": str}, ...]
    """

    lifecycle = REVIEW_LIFECYCLE

    case = models.ForeignKey(ReviewCase, on_delete=models.PROTECT, related_name="reviews")
    seat = models.PositiveSmallIntegerField(choices=[(seat, str(seat)) for seat in SEATS])
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="answer_reviews",
    )
    state = models.CharField(max_length=16, choices=ReviewState.choices, default=ReviewState.DRAFT)
    version = models.PositiveIntegerField(default=1)
    marks = models.JSONField(default=list)
    recall = models.JSONField(default=list)
    additions = models.JSONField(default=list)
    issues = models.JSONField(default=list)
    found_issue = models.BooleanField(null=True, blank=True)
    guidelines_version = models.CharField(max_length=20, blank=True, help_text="of the criteria it was submitted under")
    reviewed_before = models.BooleanField(default=False, help_text="served again because nobody new was left")
    begun_at = models.DateTimeField(default=timezone.now)
    saved_at = models.DateTimeField(default=timezone.now)
    submitted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["case_id", "seat"]
        constraints = [
            models.UniqueConstraint(
                fields=["case", "seat"], condition=~Q(state=ReviewState.RELEASED), name="a_case_has_two_seats"
            ),
            models.UniqueConstraint(fields=["case", "reviewer"], name="reviewer_reviews_a_case_once"),
            models.CheckConstraint(condition=Q(seat__in=SEATS), name="a_seat_is_one_or_two"),
            models.CheckConstraint(
                condition=~Q(state=ReviewState.SUBMITTED) | Q(submitted_at__isnull=False, found_issue__isnull=False),
                name="a_submitted_review_says_whether_it_found_an_issue",
            ),
        ]

    def __str__(self) -> str:
        return f"review {self.pk}"


class Adjudication(models.Model):
    """The expert's decision on a disputed case.

    marks: [{"element": str, "mark": correct|incorrect|missing|unreasonable}, ...] of the elements that were decided
    proposal: [str, ...] the answer's elements as the expert would have them; a start for whoever revises it
    """

    case = models.OneToOneField(ReviewCase, on_delete=models.PROTECT, related_name="adjudication")
    outcome = models.CharField(max_length=16, choices=AdjudicationOutcome.choices)
    step = models.CharField(max_length=16, choices=ReconstructionStep.choices, blank=True)
    reason = models.TextField(blank=True)
    marks = models.JSONField(default=list)
    proposal = models.JSONField(default=list)
    guidelines_version = models.CharField(max_length=20, blank=True)
    decided_at = models.DateTimeField(default=timezone.now)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="adjudications")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome=AdjudicationOutcome.NO_ISSUE, step="")
                | (Q(outcome=AdjudicationOutcome.RECONSTRUCT) & ~Q(step="") & ~Q(reason="")),
                name="a_reconstruction_names_step_and_reason",
            )
        ]

    def __str__(self) -> str:
        return f"adjudication of {self.case_id}"


class DecisionDraft(models.Model):
    """What an expert has ticked and typed of a decision so far. Whoever takes the case after them has a draft of their
    own, and no word of this one is lost.

    choice: `no_issue` or the step of a reconstruction; empty while nothing is chosen
    marks: as in Adjudication
    proposal: one element a line, as typed
    """

    case = models.ForeignKey(ReviewCase, on_delete=models.PROTECT, related_name="decision_drafts")
    expert = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    version = models.PositiveIntegerField(default=0)
    choice = models.CharField(max_length=16, blank=True)
    reason = models.TextField(blank=True)
    marks = models.JSONField(default=list)
    proposal = models.TextField(blank=True)
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case", "expert"], name="an_expert_has_one_draft_of_a_decision"),
        ]

    def __str__(self) -> str:
        return f"draft of a decision on {self.case_id}"


class QualityAudit(models.Model):
    """A draw of accepted samples, uniform over task, language and bucket, to be scored by three experts each."""

    seed = models.BigIntegerField()
    size = models.PositiveIntegerField()
    drawn_at = models.DateTimeField(default=timezone.now)
    drawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"quality audit {self.pk}"


class AuditedSample(models.Model):
    """One drawn sample. One that was replaced stays, with what was said of it, and counts for nothing."""

    audit = models.ForeignKey(QualityAudit, on_delete=models.PROTECT, related_name="samples")
    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="+")
    standardization = models.ForeignKey(Standardization, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()
    replaced_at = models.DateTimeField(null=True, blank=True)
    replaced_by = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="replaces", help_text="drawn in its place"
    )
    replaced_because = models.TextField(blank=True)

    class Meta:
        ordering = ["audit_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["audit", "sample"], name="an_audit_draws_a_sample_once"),
        ]

    def __str__(self) -> str:
        return f"{self.audit_id}/{self.sample_id}"


class QualityScore(models.Model):
    """One expert's scores of one drawn sample: {dimension: {"score": 0|0.5|1, "why": str}}, and attribute checks."""

    audited = models.ForeignKey(AuditedSample, on_delete=models.PROTECT, related_name="scores")
    scorer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="quality_scores",
    )
    seat = models.PositiveSmallIntegerField()
    scores = models.JSONField(default=dict)
    attributes = models.JSONField(
        default=dict,
        help_text="{language|length|task|context_requirement|answer: right?}",
    )
    scored_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["audited", "scorer"], name="an_expert_scores_a_sample_once"),
            models.UniqueConstraint(fields=["audited", "seat"], name="a_drawn_sample_has_three_seats"),
            models.CheckConstraint(condition=Q(seat__in=[1, 2, 3]), name="a_quality_seat_is_one_to_three"),
        ]

    def __str__(self) -> str:
        return f"score {self.pk}"
