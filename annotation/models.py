"""Stages 2b and 3: samples, claims, candidates and their verdicts, expert audit, standardization."""

import secrets
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.workflow import (
    CANDIDATE_LIFECYCLE,
    SAMPLE_LIFECYCLE,
    AuditOutcome,
    CandidateState,
    ClaimEnd,
    DraftingOutcome,
    Job,
    Part,
    ReconstructionStep,
    SampleState,
    Step,
    Strategy,
    TimedStep,
    Verdict,
)
from benchmark.framing import Parts
from benchmark.taxonomy import Language, SecondaryTask, secondary_task
from core.models import Stateful
from documents.models import Document, DocumentVersion
from generation.models import Draft, Run, RunCall

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"


def new_public_id() -> str:
    """The id a sample keeps over all releases; it says nothing about order or content."""
    return "lbp-" + "".join(secrets.choice(_ALPHABET) for _i in range(10))


class Sample(Stateful):
    """One benchmark item in the making: a document version paired with a secondary task."""

    lifecycle = SAMPLE_LIFECYCLE

    public_id = models.CharField(max_length=20, unique=True, default=new_public_id, editable=False)
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="samples")
    document_version = models.ForeignKey(DocumentVersion, on_delete=models.PROTECT, related_name="samples")
    task_code = models.CharField(max_length=8)
    strategy = models.CharField(max_length=16, choices=Strategy.choices, default=Strategy.COLLABORATION)
    state = models.CharField(max_length=24, choices=SampleState.choices, default=SampleState.PLANNED)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    drafting_run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, blank=True, related_name="samples")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="verified_samples",
    )
    chosen = models.ForeignKey(
        "Candidate",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        editable=False,
    )
    round = models.PositiveIntegerField(default=1, help_text="counts reconstructions from 1")
    reconstruction_step = models.CharField(max_length=16, choices=ReconstructionStep.choices, blank=True)
    reconstruction_reason = models.TextField(blank=True)

    if TYPE_CHECKING:
        candidates: "RelatedManager[Candidate]"
        claims: "RelatedManager[Claim]"
        submissions: "RelatedManager[Submission]"
        standardizations: "RelatedManager[Standardization]"
        participations: "RelatedManager[Participation]"

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["document", "task_code"],
                condition=~Q(state=SampleState.EXHAUSTED),
                name="a_document_carries_a_task_once",
            )
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def label(self) -> str:
        return f"S-{self.pk:04d}"

    @property
    def task(self) -> SecondaryTask:
        return secondary_task(self.task_code)

    @property
    def language(self) -> Language:
        return Language(self.document.language)

    @property
    def bucket(self) -> str:
        return self.document_version.bucket

    @property
    def is_blocked(self) -> bool:
        """A withdrawn approval blocks the sample, whatever its state."""
        return not self.document_version.is_approved


class DraftingBatch(models.Model):
    """Samples that a lead sent to drafting together. The worker starts them one after the other and may be stopped at
    any moment: what its lines name as started is done, what waits is taken up again."""

    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    finished_at = models.DateTimeField(null=True, blank=True)
    # What was shown before the lead confirmed it.
    expected_calls = models.PositiveIntegerField(default=0)
    expected_usd = models.DecimalField(max_digits=14, decimal_places=4, null=True, blank=True)
    run_budget_usd = models.DecimalField(max_digits=14, decimal_places=4, null=True, blank=True)

    if TYPE_CHECKING:
        lines: "RelatedManager[DraftingLine]"

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"drafting batch {self.pk}"


class DraftingLine(models.Model):
    """What became of one sample of a batch. A sample waits in one batch at most, however often somebody presses."""

    batch = models.ForeignKey(DraftingBatch, on_delete=models.CASCADE, related_name="lines")
    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="drafting_lines")
    outcome = models.CharField(max_length=16, choices=DraftingOutcome.choices, default=DraftingOutcome.WAITING)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    rule = models.CharField(max_length=60, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["batch_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "sample"], name="a_batch_names_a_sample_once"),
            models.UniqueConstraint(
                fields=["sample"],
                condition=Q(outcome=DraftingOutcome.WAITING),
                name="a_sample_waits_in_one_drafting_batch",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.batch_id}: {self.sample_id} {self.outcome}"


class Participation(models.Model):
    """What a person is to a sample, for good: the database keeps anybody from holding two jobs on one sample."""

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="participations")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="participations",
    )
    job = models.CharField(max_length=16, choices=Job.choices)
    since = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sample", "person"], name="a_person_holds_one_job_on_a_sample"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} {self.job} {self.sample_id}"


class Claim(models.Model):
    """An exclusive lease on a sample: verification, standardization, audit and adjudication are one person's at a time.

    `pk` is the fencing number. An open claim may have lapsed already: `lapses_at` decides.
    """

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="claims")
    holder = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="claims")
    job = models.CharField(max_length=16, choices=Job.choices, default=Job.VERIFIES)
    claimed_at = models.DateTimeField(default=timezone.now)
    lapses_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_how = models.CharField(max_length=16, choices=ClaimEnd.choices, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["sample"],
                condition=Q(ended_at__isnull=True),
                name="a_sample_has_one_active_claim",
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True, ended_how="") | (Q(ended_at__isnull=False) & ~Q(ended_how="")),
                name="an_ended_claim_says_how",
            ),
        ]

    def __str__(self) -> str:
        return f"claim {self.pk} on {self.sample_id}"


class Candidate(Stateful):
    """One question drafted for a sample, as it now reads. `version` counts edits; the draft keeps the model's words."""

    lifecycle = CANDIDATE_LIFECYCLE

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="candidates")
    draft = models.ForeignKey(Draft, on_delete=models.PROTECT, related_name="candidates")
    position = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=16, choices=CandidateState.choices, default=CandidateState.READ)
    version = models.PositiveIntegerField(default=1)
    question = models.TextField(_("question"))
    elements = models.TextField(_("what to output"))
    options = models.JSONField(_("options"), default=list, blank=True)
    answer = models.JSONField(_("answer"), default=list)
    discarded_at_step = models.CharField(max_length=16, choices=Step.choices, blank=True)
    discard_reason = models.TextField(blank=True)

    if TYPE_CHECKING:
        verdicts: "RelatedManager[StepVerdict]"
        edits: "RelatedManager[CandidateEdit]"
        challenges: "RelatedManager[Challenge]"

    class Meta:
        ordering = ["sample_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["sample", "position"], name="a_sample_numbers_its_candidates"),
            models.UniqueConstraint(fields=["sample", "draft"], name="a_draft_is_one_candidate_of_a_sample"),
        ]

    def __str__(self) -> str:
        return f"{self.sample_id}.{self.position}"


class CandidateEdit(models.Model):
    """One edit, with both texts. `version` is the version it made."""

    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="edits")
    version = models.PositiveIntegerField()
    before = models.JSONField()
    after = models.JSONField()
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["candidate_id", "version"]
        constraints = [
            models.UniqueConstraint(fields=["candidate", "version"], name="an_edit_makes_one_version"),
        ]

    def __str__(self) -> str:
        return f"{self.candidate_id} v{self.version}"


class StepVerdict(models.Model):
    """The end of a step: checks ticked, verdict, for which version of the candidate. A later edit voids it."""

    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="verdicts")
    step = models.CharField(max_length=16, choices=Step.choices)
    verdict = models.CharField(max_length=16, choices=Verdict.choices)
    checks = models.JSONField(default=list)
    reason = models.TextField(blank=True)
    candidate_version = models.PositiveIntegerField()
    guidelines_version = models.CharField(max_length=20)
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    voided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["candidate", "step"],
                condition=Q(voided_at__isnull=True),
                name="a_step_has_one_valid_verdict",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.candidate_id} {self.step} {self.verdict}"


class Challenge(models.Model):
    """The five models' answers to a candidate as it read at `candidate_version`; stale when the candidate moved on."""

    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="challenges")
    candidate_version = models.PositiveIntegerField()
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="challenges")
    asked_at = models.DateTimeField(default=timezone.now)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    if TYPE_CHECKING:
        overrules: "RelatedManager[Overrule]"

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["candidate", "candidate_version"],
                name="a_version_is_challenged_once",
            ),
        ]

    def __str__(self) -> str:
        return f"challenge of {self.candidate_id} v{self.candidate_version}"


class Overrule(models.Model):
    """An annotator's own decision on one scored answer, with the reason."""

    challenge = models.ForeignKey(Challenge, on_delete=models.PROTECT, related_name="overrules")
    run_call = models.ForeignKey(RunCall, on_delete=models.PROTECT, related_name="+")
    right = models.BooleanField()
    reason = models.TextField()
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["challenge", "run_call"], name="an_answer_is_overruled_once"),
        ]

    def __str__(self) -> str:
        return f"overrule {self.run_call_id}"


class Submission(models.Model):
    """A chosen candidate handed to expert audit, frozen as it read, and the expert's decision on it."""

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="submissions")
    number = models.PositiveIntegerField()
    round = models.PositiveIntegerField(default=1)
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="submissions")
    candidate_version = models.PositiveIntegerField()
    question = models.TextField()
    elements = models.TextField()
    options = models.JSONField(default=list)
    answer = models.JSONField(default=list)
    checklist = models.JSONField(default=list)
    note = models.TextField(blank=True)
    submitted_at = models.DateTimeField(default=timezone.now)
    submitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions")
    outcome = models.CharField(max_length=16, choices=AuditOutcome.choices, blank=True)
    feedback = models.TextField(blank=True)
    audited_at = models.DateTimeField(null=True, blank=True)
    audited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="audits",
    )

    withdrawn_at = models.DateTimeField(null=True, blank=True)

    if TYPE_CHECKING:
        remarks: "RelatedManager[AuditRemark]"

    class Meta:
        ordering = ["sample_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["sample", "number"], name="a_sample_numbers_its_submissions"),
            models.CheckConstraint(
                condition=Q(outcome__in=["", AuditOutcome.WITHDRAWN], audited_at__isnull=True, audited_by__isnull=True)
                | (
                    Q(outcome__in=[AuditOutcome.APPROVED, AuditOutcome.REJECTED])
                    & Q(audited_at__isnull=False, audited_by__isnull=False)
                ),
                name="an_audit_has_an_auditor",
            ),
            models.CheckConstraint(
                condition=Q(outcome=AuditOutcome.WITHDRAWN, withdrawn_at__isnull=False)
                | (~Q(outcome=AuditOutcome.WITHDRAWN) & Q(withdrawn_at__isnull=True)),
                name="a_submission_taken_back_says_when",
            ),
        ]

    def __str__(self) -> str:
        return f"submission {self.number} of {self.sample_id}"


class AuditRemark(models.Model):
    """What an expert wrote about one part of a submission, and what its annotator did about it.

    While the submission is undecided the remarks are their writer's draft: nobody else is shown them.
    """

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="remarks")
    position = models.PositiveSmallIntegerField()
    part = models.CharField(max_length=16, choices=Part.choices, default=Part.GENERAL)
    element = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="of the answer, counted from 1; empty: the whole answer"
    )
    text = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    reply = models.TextField(blank=True)
    dealt_at = models.DateTimeField(null=True, blank=True)
    dealt_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["submission_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "position"], name="an_audit_numbers_its_remarks"),
            models.CheckConstraint(condition=~Q(text=""), name="a_remark_says_something"),
            models.CheckConstraint(
                condition=Q(element__isnull=True) | Q(part=Part.ANSWER, element__gte=1),
                name="only_the_answer_has_elements",
            ),
            models.CheckConstraint(
                condition=Q(dealt_at__isnull=True, dealt_by__isnull=True)
                | Q(dealt_at__isnull=False, dealt_by__isnull=False),
                name="a_remark_dealt_with_says_by_whom",
            ),
        ]

    def __str__(self) -> str:
        return f"remark {self.position} on {self.submission_id}"


class ActiveTime(models.Model):
    """How long a person was at work on one step of a sample. Idle time is left out; the page counts, see timing.py."""

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="active_times")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="active_times")
    step = models.CharField(max_length=16, choices=TimedStep.choices)
    seconds = models.FloatField(default=0)
    first_at = models.DateTimeField(default=timezone.now)
    last_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sample", "person", "step"], name="a_person_has_one_time_per_step"),
            models.CheckConstraint(condition=Q(seconds__gte=0), name="active_time_never_runs_backwards"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} {self.step} {self.seconds:.0f} s on {self.sample_id}"


class WorkClock(models.Model):
    """When a person's page last told its time. Nobody works twice at once: all their windows share one clock."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="work_clock")
    told_at = models.DateTimeField(null=True, blank=True)
    beats = models.JSONField(default=list, help_text="numbers of the last beats, so that one sent again counts once")

    def __str__(self) -> str:
        return f"clock of {self.person_id}"


class Standardization(models.Model):
    """The four parts of the standardized question and the two prompts computed from them; frozen when completed.

    One draft per sample and round at a time; a completed one is what reviews, difficulty and release refer to.
    """

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="standardizations")
    number = models.PositiveIntegerField()
    round = models.PositiveIntegerField(default=1)
    version = models.PositiveIntegerField(default=1, help_text="counts saves of the draft")
    document_version = models.ForeignKey(DocumentVersion, on_delete=models.PROTECT, related_name="+")
    language = models.CharField(max_length=16)
    task_description = models.TextField(_("task description"), blank=True)
    elements = models.TextField(_("elements to output"), blank=True)
    supplementary = models.TextField(_("supplementary content"), blank=True)
    example = models.JSONField(_("example elements"), default=list, blank=True)
    answer = models.JSONField(default=list)
    question_nonthinking = models.TextField(blank=True)
    question_thinking = models.TextField(blank=True)
    saved_at = models.DateTimeField(default=timezone.now)
    saved_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    completed_at = models.DateTimeField(null=True, blank=True)
    completed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )

    class Meta:
        ordering = ["sample_id", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["sample", "number"],
                name="a_sample_numbers_its_standardizations",
            ),
            models.UniqueConstraint(
                fields=["sample"],
                condition=Q(completed_at__isnull=True),
                name="a_sample_has_one_draft_standardization",
            ),
            models.CheckConstraint(
                condition=Q(completed_at__isnull=True, completed_by__isnull=True)
                | Q(completed_at__isnull=False, completed_by__isnull=False),
                name="a_completed_standardization_has_a_person",
            ),
        ]

    def __str__(self) -> str:
        return f"standardization {self.number} of {self.sample_id}"

    @property
    def parts(self) -> Parts:
        return Parts(
            language=Language(self.language),
            task_description=self.task_description,
            elements=self.elements,
            supplementary=self.supplementary,
            example=tuple(self.example),
        )


class StandardizationEdit(models.Model):
    """One saved version of the parts: what was typed is kept, however often the draft is saved over."""

    standardization = models.ForeignKey(Standardization, on_delete=models.PROTECT, related_name="edits")
    version = models.PositiveIntegerField()
    task_description = models.TextField(blank=True)
    elements = models.TextField(blank=True)
    supplementary = models.TextField(blank=True)
    example = models.JSONField(default=list, blank=True)
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["standardization_id", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["standardization", "version"], name="a_standardization_keeps_each_version_once"
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.version} of standardization {self.standardization_id}"
