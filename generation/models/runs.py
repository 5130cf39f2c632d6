"""A run: one job for a panel, with the frozen text it was made for."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from benchmark.taxonomy import SecondaryTask, secondary_task
from core.models import Stateful
from documents.models import DocumentVersion
from generation.models.calls import Call
from generation.models.money import Dollars
from generation.workflow import RUN_LIFECYCLE, RUN_TONES, Purpose, RunState

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager


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
    budget_usd = Dollars(max_digits=14, decimal_places=4, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    finished_at = models.DateTimeField(null=True, blank=True)
    # Many at once are cancelled in the background; nothing of them is sent from this moment on.
    cancel_asked_at = models.DateTimeField(null=True, blank=True)
    cancel_asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    calls: "models.ManyToManyField[Call, RunCall]" = models.ManyToManyField(
        Call, through="RunCall", related_name="runs"
    )

    if TYPE_CHECKING:
        run_calls: "RelatedManager[RunCall]"

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["state", "created_at"], name="run_by_state_and_time"),
            models.Index(
                fields=["cancel_asked_at"], name="run_to_be_cancelled", condition=Q(cancel_asked_at__isnull=False)
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(cancel_asked_at__isnull=True, cancel_asked_by__isnull=True)
                | Q(cancel_asked_at__isnull=False, cancel_asked_by__isnull=False),
                name="who_asks_to_cancel_a_run_is_named",
            )
        ]

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
