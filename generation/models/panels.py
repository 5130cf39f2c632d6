"""The models of the panels, what their providers allow, and the trial of one."""

from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from benchmark.difficulty import Tier
from generation.models.money import Dollars
from generation.workflow import Kind, Structured, trouble_words

PROVIDER_LENGTH = 120
# Instead of a reason, so that it is said in the language of the page.
PAUSED_BY_A_LEAD = "by_a_lead"
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
    structured = models.CharField(max_length=8, choices=Structured.choices, default=Structured.AUTO)
    usd_per_million_input = Dollars(max_digits=12, decimal_places=6, null=True, blank=True)
    usd_per_million_output = Dollars(max_digits=12, decimal_places=6, null=True, blank=True)
    usd_per_million_cached = Dollars(max_digits=12, decimal_places=6, null=True, blank=True)
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
    def provider(self) -> str:
        """Whose limits hold for it: the provider, or the server it is reached at by an address of its own."""
        named = self.litellm_id.partition("/")[0] if "/" in self.litellm_id else "openai"
        return f"{named} {urlsplit(self.api_base).netloc}"[:PROVIDER_LENGTH] if self.api_base else named

    @property
    def pause_words(self) -> str:
        if self.paused_because == PAUSED_BY_A_LEAD:
            return _now("paused by a lead")
        return trouble_words(self.paused_because)

    @property
    def is_simulated(self) -> bool:
        return self.litellm_id.startswith("demo/")


class ProviderLimit(models.Model):
    """How much one provider is asked at once, and in any minute. Holds over all workers. No figure: no limit."""

    provider = models.CharField(_("provider"), max_length=PROVIDER_LENGTH, unique=True)
    calls_in_flight = models.PositiveIntegerField(_("calls at once"), null=True, blank=True)
    requests_per_minute = models.PositiveIntegerField(_("requests per minute"), null=True, blank=True)
    tokens_per_minute = models.PositiveIntegerField(_("input tokens per minute"), null=True, blank=True)
    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        ordering = ["provider"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(calls_in_flight=0) & ~Q(requests_per_minute=0) & ~Q(tokens_per_minute=0),
                name="a_limit_lets_something_through",
            )
        ]

    def __str__(self) -> str:
        return self.provider


class ModelTrial(models.Model):
    """One small request that a lead had sent to see whether a model answers. No document is in it."""

    model = models.ForeignKey(LanguageModel, on_delete=models.CASCADE, related_name="trials")
    asked_at = models.DateTimeField(default=timezone.now)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    # Committed before the request, as with every call: a trial is sent at most once.
    sent_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    error_class = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    served_model = models.CharField(max_length=200, blank=True)
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    cost_usd = Dollars(max_digits=14, decimal_places=8, null=True, blank=True)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"trial {self.pk}"

    @property
    def is_under_way(self) -> bool:
        return self.ended_at is None

    @property
    def trouble(self) -> str:
        return trouble_words(self.error_class)
