"""People, history, settings of the benchmark, tokens and idempotency keys: what every stage needs."""

import secrets
from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from benchmark.lengths import Lengths
from core.workflow import Lifecycle, Role, Scope, Theme


def new_pseudonym() -> str:
    return f"p-{secrets.token_hex(4)}"


class User(AbstractUser):
    """A person. The role says which pages and actions are theirs; the pseudonym stands for them in releases."""

    role = models.CharField(_("role"), max_length=16, choices=Role.choices, default=Role.ANNOTATOR)
    language = models.CharField(_("language"), max_length=8, choices=settings.LANGUAGES, blank=True)
    theme = models.CharField(_("theme"), max_length=8, choices=Theme.choices, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=40, default="UTC")
    shortcuts = models.BooleanField(_("single-key shortcuts"), default=True)
    # What "next" offers: samples of these languages and secondary tasks (codes); empty lists are no limit.
    work_languages = models.JSONField(_("languages of their work"), default=list, blank=True)
    work_tasks = models.JSONField(_("secondary tasks of their work"), default=list, blank=True)
    pseudonym = models.CharField(max_length=16, unique=True, default=new_pseudonym, editable=False)

    class Meta(AbstractUser.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["email"],
                condition=~Q(email=""),
                name="an_email_address_belongs_to_one_person",
            )
        ]

    @property
    def name(self) -> str:
        return self.get_full_name() or self.username

    @property
    def is_lead(self) -> bool:
        return self.role == Role.LEAD

    @property
    def is_expert(self) -> bool:
        return self.role == Role.EXPERT

    @property
    def is_annotator(self) -> bool:
        return self.role == Role.ANNOTATOR

    @property
    def does_stage_work(self) -> bool:
        """Annotators and experts verify, standardize and review; leads do no stage work."""
        return self.role in {Role.ANNOTATOR, Role.EXPERT}


class Stateful(models.Model):
    """A record with one state field, moved only by `core.history.advance` along its `lifecycle`."""

    lifecycle: ClassVar[Lifecycle]

    state: models.CharField
    state_since = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True


class Event(models.Model):
    """One line of the audit trail, written in the transaction of the change. Triggers forbid change and removal."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        related_name="events",
    )
    action = models.CharField(max_length=80)
    subject_type = models.CharField(max_length=40)
    subject_id = models.BigIntegerField()
    from_state = models.CharField(max_length=40, blank=True)
    to_state = models.CharField(max_length=40, blank=True)
    reason = models.TextField(blank=True)
    data = models.JSONField(default=dict)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["subject_type", "subject_id", "id"], name="event_by_subject")]

    def __str__(self) -> str:
        return f"{self.action} {self.subject_type} {self.subject_id}"


class TrailSeal(models.Model):
    """A batch of the audit trail, sealed by hash and chained to the seal before it (`core.sealing`). Triggers forbid
    change and removal, as of the trail itself.

    lines: {number of the line: its hash}
    """

    number = models.PositiveBigIntegerField(unique=True)
    first_id = models.BigIntegerField()
    last_id = models.BigIntegerField(unique=True)
    count = models.PositiveIntegerField()
    lines = models.JSONField()
    previous = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=64, unique=True)
    sealed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["number"]

    def __str__(self) -> str:
        return f"seal {self.number}"


class TrailHorizon(models.Model):
    """How far the trail reached when it was last looked at, and which transactions were writing lines then: one row."""

    last_id = models.BigIntegerField(default=0)
    writers = models.JSONField(default=list)
    noted_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="the_horizon_is_one_row")]

    def __str__(self) -> str:
        return f"horizon {self.last_id}"


class GuidelinesVersion(models.Model):
    """One state of what leads worded in the guidelines. Triggers forbid change and removal: verdicts name it.

    texts: {key of `core.guidelines`: {language: text}}; what is not there reads as the system began with it
    """

    number = models.PositiveIntegerField(unique=True)
    base = models.CharField(max_length=12, help_text="version of the criteria in the code that it words")
    texts = models.JSONField(default=dict)
    note = models.TextField(help_text="what was changed, and why")
    saved_at = models.DateTimeField(default=timezone.now)
    saved_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["number"]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        return f"{self.base}.{self.number}"


class GuidelinesMark(models.Model):
    """Up to which version a person has read the guidelines; 0: as the system began."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="guidelines_mark")
    number = models.PositiveIntegerField(default=0)
    read_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.person_id} to {self.number}"


class BenchmarkSettings(models.Model):
    """The figures of the benchmark that a lead can change: one row, always there."""

    targets = models.JSONField(default=list)
    unit = models.PositiveIntegerField(default=1024)
    tolerance_percent = models.PositiveIntegerField(default=20)
    samples_per_cell = models.PositiveIntegerField(default=5)
    difficulty_runs = models.PositiveIntegerField(default=1)
    claim_idle_minutes = models.PositiveIntegerField(default=240)
    claims_per_person = models.PositiveIntegerField(default=10)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="the_settings_are_one_row"),
            models.CheckConstraint(
                condition=Q(difficulty_runs__in=[1, 3, 5, 7, 9]),
                name="difficulty_runs_are_odd",
            ),
        ]

    def __str__(self) -> str:
        return "settings of the benchmark"

    @classmethod
    def load(cls) -> "BenchmarkSettings":
        return cls.objects.get_or_create(pk=1, defaults={"targets": [8, 16, 32, 64, 128, 256]})[0]

    @property
    def lengths(self) -> Lengths:
        return Lengths(
            targets=tuple(self.targets),
            unit=self.unit,
            tolerance_percent=self.tolerance_percent,
        )


class ApiToken(models.Model):
    """A program's key to the API. Only its SHA-256 is kept; the token itself is shown once."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(_("scope"), max_length=8, choices=Scope.choices, default=Scope.READ)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.scope})"

    def is_usable(self, *, at: datetime) -> bool:
        return self.revoked_at is None and at < self.expires_at


class IdempotencyKey(models.Model):
    """The stored answer to one POST, so that the same POST again has one effect and the same answer."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    key = models.CharField(max_length=100)
    fingerprint = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    finished_at = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=bytes)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "key"], name="a_person_uses_an_idempotency_key_once"),
        ]

    def __str__(self) -> str:
        return self.key
