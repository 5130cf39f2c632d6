"""Stage 2a: models, runs, calls, and what was read from the replies."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from benchmark.difficulty import Tier
from benchmark.taxonomy import SecondaryTask, secondary_task
from core.models import Stateful
from documents.models import DocumentVersion
from generation.workflow import (
    CALL_LIFECYCLE,
    CALL_TONES,
    RUN_LIFECYCLE,
    RUN_TONES,
    CallState,
    Kind,
    Purpose,
    RunState,
    trouble_words,
)

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

TIER_CHOICES = [
    (Tier.HIGH.value, _("high")),
    (Tier.MID.value, _("mid")),
    (Tier.LOW.value, _("low")),
]


class LanguageModel(models.Model):
    """One model of a panel: how it is reached, how it is asked, what it costs. Data that a lead edits."""

    name = models.CharField(_("name"), max_length=80, unique=True)
    panel = models.CharField(max_length=16, default="real", help_text="real or demo")
    tier = models.CharField(_("tier"), max_length=8, choices=TIER_CHOICES)
    drafting = models.BooleanField(_("drafts, takes the challenge and predicts"), default=False)
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    litellm_id = models.CharField(_("LiteLLM id"), max_length=200)
    api_base = models.CharField(_("address"), max_length=300, blank=True)
    key_variable = models.CharField(_("variable that holds the key"), max_length=80, blank=True)
    context_tokens = models.PositiveIntegerField(_("context, tokens"))
    truncate_input_to_tokens = models.PositiveIntegerField(_("input is cut in the middle above, tokens"))
    max_output_nonthinking = models.PositiveIntegerField(null=True, blank=True)
    max_output_thinking = models.PositiveIntegerField(null=True, blank=True)
    temperature = models.FloatField(null=True, blank=True)
    usd_per_million_input = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    usd_per_million_output = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    price_read_on = models.DateField(null=True, blank=True)
    note = models.CharField(max_length=300, blank=True)
    active = models.BooleanField(_("in use"), default=True)
    # A refused key or an empty account: nothing is sent until a lead resumes the model.
    paused_at = models.DateTimeField(null=True, blank=True, editable=False)
    paused_because = models.CharField(max_length=300, blank=True, editable=False)
    position = models.PositiveSmallIntegerField(default=0)
    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        ordering = ["position", "id"]

    def __str__(self) -> str:
        return self.name

    @property
    def pause_words(self) -> str:
        return trouble_words(self.paused_because)

    @property
    def is_simulated(self) -> bool:
        return self.litellm_id.startswith("demo/")


class Run(Stateful):
    """One job for a panel: the frozen text it was made for, so that it stays reproducible after later edits.

    `prompt` is what follows the document (challenge, prediction, difficulty: the question prompt; drafting: the
    instructions); `prompt_thinking` the thinking form where a purpose needs it. `reference` never leaves the house.
    """

    lifecycle = RUN_LIFECYCLE

    purpose = models.CharField(max_length=16, choices=Purpose.choices)
    state = models.CharField(max_length=16, choices=RunState.choices, default=RunState.QUEUED)
    document_version = models.ForeignKey(DocumentVersion, on_delete=models.PROTECT, related_name="runs")
    language = models.CharField(max_length=16)
    task_code = models.CharField(max_length=8)
    prompt = models.TextField()
    prompt_thinking = models.TextField(blank=True)
    prompt_version = models.CharField(max_length=40)
    prompt_sha256 = models.CharField(max_length=64)
    reference = models.JSONField(default=list)
    first_number = models.PositiveIntegerField(default=1, help_text="run number of the first call of each model")
    runs_per_model = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    finished_at = models.DateTimeField(null=True, blank=True)
    calls: "models.ManyToManyField[Call, RunCall]" = models.ManyToManyField(
        "Call", through="RunCall", related_name="runs"
    )

    if TYPE_CHECKING:
        run_calls: "RelatedManager[RunCall]"

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.purpose} {self.pk}"

    @property
    def task(self) -> SecondaryTask:
        return secondary_task(self.task_code)

    @property
    def is_finished(self) -> bool:
        return self.state == RunState.FINISHED

    @property
    def is_under_way(self) -> bool:
        return self.state in {RunState.QUEUED, RunState.RUNNING}

    @property
    def tone(self) -> str:
        return RUN_TONES[RunState(self.state)]


class Call(Stateful):
    """One logical request to one model, kept with its reply. `key` is unique: the same frozen input is asked once.

    key = SHA-256 of purpose, document text, prompt, model, prompt version, run number (and, for a repair, the call
    it repairs). Another run with the same frozen input points to the same call and reads the stored result.
    """

    lifecycle = CALL_LIFECYCLE

    key = models.CharField(max_length=64, unique=True)
    purpose = models.CharField(max_length=16, choices=Purpose.choices)
    model = models.ForeignKey(LanguageModel, on_delete=models.PROTECT, related_name="calls")
    document_version = models.ForeignKey(DocumentVersion, on_delete=models.PROTECT, related_name="calls")
    number = models.PositiveIntegerField(default=1)
    repairs = models.OneToOneField(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="repaired_by",
    )
    state = models.CharField(max_length=16, choices=CallState.choices, default=CallState.QUEUED)
    prompt = models.TextField(help_text="what followed, or enclosed, the document")
    thinking = models.BooleanField(default=False, help_text="asked with thinking on")
    prompt_version = models.CharField(max_length=40)
    prompt_sha256 = models.CharField(max_length=64)
    parameters = models.JSONField(default=dict)
    cut_tokens = models.PositiveIntegerField(default=0, help_text="tokens left out of the middle of the document")
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    raw = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    served_model = models.CharField(max_length=200, blank=True)
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    tokens_estimated = models.BooleanField(default=False)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)
    error_class = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    faults = models.JSONField(default=list)

    if TYPE_CHECKING:
        drafts: "RelatedManager[Draft]"

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["state", "next_attempt_at"], name="call_by_readiness")]

    def __str__(self) -> str:
        return f"{self.purpose} {self.pk}"

    @property
    def has_answer(self) -> bool:
        return self.state in {CallState.SUCCEEDED, CallState.PARTIAL}

    @property
    def tone(self) -> str:
        return CALL_TONES[CallState(self.state)]

    @property
    def trouble(self) -> str:
        return trouble_words(self.error_class)

    @property
    def seconds(self) -> float | None:
        return None if self.latency_ms is None else self.latency_ms / 1000

    @property
    def was_served_by_another(self) -> bool:
        """The reply names another model than the one that was asked."""
        asked, served = self.model.litellm_id.rpartition("/")[2], self.served_model.rpartition("/")[2]
        return bool(served) and asked.lower() not in served.lower()


class RunCall(models.Model):
    """A run's use of a call, and for a question the reading and score of its answer against the run's reference."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="run_calls")
    call = models.ForeignKey(Call, on_delete=models.PROTECT, related_name="run_calls")
    elements = models.JSONField(default=list, help_text="the predicted lines as given")
    score = models.FloatField(null=True, blank=True)
    right = models.BooleanField(null=True, blank=True)
    embedder = models.CharField(max_length=80, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "call"], name="a_run_uses_a_call_once"),
            models.CheckConstraint(
                condition=Q(score__isnull=True, right__isnull=True) | Q(score__isnull=False, right__isnull=False),
                name="a_scored_answer_is_right_or_wrong",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.call_id}"


class Draft(models.Model):
    """One valid candidate question as a model gave it. Never changed; people edit the candidate made from it."""

    call = models.ForeignKey(Call, on_delete=models.PROTECT, related_name="drafts")
    position = models.PositiveSmallIntegerField()
    question = models.TextField()
    elements = models.TextField(help_text="the phrase that says what to output")
    options = models.JSONField(default=list)
    answer = models.JSONField(default=list)
    rationale = models.TextField()
    solution = models.JSONField(
        default=list,
        help_text="[{step, quote, kind, start, end, score}], places in code points",
    )

    class Meta:
        ordering = ["call_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["call", "position"], name="a_reply_numbers_its_drafts"),
        ]

    def __str__(self) -> str:
        return f"{self.call_id}.{self.position}"
