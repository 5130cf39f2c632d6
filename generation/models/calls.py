"""A call: one request to one model, kept with its reply and the drafts read from it."""

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from core.models import Stateful
from documents.models import DocumentVersion
from generation.models.money import Dollars
from generation.models.panels import PROVIDER_LENGTH, LanguageModel
from generation.workflow import (
    CALL_LIFECYCLE,
    CALL_TONES,
    ENDED_BY_THEMSELVES,
    CallState,
    Purpose,
    trouble_words,
)

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager


class Call(Stateful):
    """One logical request to one model, kept with its reply. `key` is unique: the same frozen input is asked once.

    key = SHA-256 of purpose, document text, prompt, model, prompt version, run number (and, for a repair, the call
    it repairs). Another run with the same frozen input points to the same call and reads the stored result.
    """

    lifecycle = CALL_LIFECYCLE

    key = models.CharField(max_length=64, unique=True)
    purpose = models.CharField(max_length=16, choices=Purpose.choices)
    model = models.ForeignKey(LanguageModel, on_delete=models.PROTECT, related_name="calls")
    provider = models.CharField(max_length=PROVIDER_LENGTH, blank=True, help_text="whose limits held when it was sent")
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
    # Set when the call is made, so that an estimate can be held against what it came to.
    expected_tokens_in = models.PositiveIntegerField(null=True, blank=True)
    expected_tokens_out = models.PositiveIntegerField(null=True, blank=True)
    expected_usd = Dollars(max_digits=14, decimal_places=8, null=True, blank=True)
    # The most it can cost, held back from the budgets while it is out, and as long as it may have been billed.
    reserved_usd = Dollars(max_digits=14, decimal_places=8, null=True, blank=True)
    raw = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    served_model = models.CharField(max_length=200, blank=True)
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_cached = models.PositiveIntegerField(default=0, help_text="of the tokens in, read from the provider's cache")
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    tokens_estimated = models.BooleanField(default=False)
    cost_usd = Dollars(max_digits=14, decimal_places=8, null=True, blank=True)
    # Of how many attempts the cost is the sum: answered, or said by a lead to have been billed.
    paid_attempts = models.PositiveSmallIntegerField(default=0)
    settled_at = models.DateTimeField(null=True, blank=True, help_text="a lead said what all attempts before cost")
    error_class = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    faults = models.JSONField(default=list)

    if TYPE_CHECKING:
        drafts: "RelatedManager[Draft]"

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["state", "next_attempt_at"], name="call_by_readiness"),
            models.Index(fields=["provider", "sent_at"], name="call_by_provider_and_time"),
            models.Index(fields=["error_class", "state"], name="call_by_error"),
            # All that the page of costs and the page of models sum up: their texts, which are long, are passed over.
            models.Index(
                fields=[
                    "model",
                    "purpose",
                    "state",
                    "sent_at",
                    "answered_at",
                    "tokens_in",
                    "tokens_out",
                    "cost_usd",
                    "expected_usd",
                    "paid_attempts",
                    "id",
                ],
                name="figures_of_calls",
            ),
            # For the page of runs, which asks every few seconds: how many ended lately, and whose cost is unknown.
            models.Index(fields=["state_since"], name="ended_call_by_time", condition=Q(state__in=ENDED_BY_THEMSELVES)),
            models.Index(
                fields=["model"], name="call_of_unknown_price", condition=Q(answered_at__isnull=False, cost_usd=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.pk}"

    @property
    def has_answer(self) -> bool:
        return self.state in {CallState.SUCCEEDED, CallState.PARTIAL}

    @property
    def tone(self) -> str:
        return CALL_TONES[CallState(self.state)]

    @property
    def may_have_been_billed(self) -> bool:
        """Something is held back, or the price is unknown, for an attempt of which nobody knows what it cost."""
        return self.state != CallState.CALLING and (self.state == CallState.UNKNOWN or bool(self.reserved_usd))

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
