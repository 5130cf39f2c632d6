"""Runs, calls and models as programs see them. No document text, and no key."""

from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from benchmark.taxonomy import secondary_task
from generation.actions import EDITABLE
from generation.models import Call, LanguageModel, ModelTrial, ProviderLimit, Run, RunCall, Spending
from generation.workflow import CallState, Purpose


class RunSerializer(serializers.ModelSerializer[Run]):
    secondary_task = serializers.SerializerMethodField()
    document = serializers.IntegerField(source="document_version.document_id", read_only=True)
    bucket = serializers.CharField(source="document_version.bucket", read_only=True)
    calls = serializers.SerializerMethodField(help_text="number of calls by state")
    cost_usd = serializers.DecimalField(max_digits=20, decimal_places=8, read_only=True)
    tokens_in = serializers.IntegerField(read_only=True)
    tokens_out = serializers.IntegerField(read_only=True)

    class Meta:
        model = Run
        fields = [
            "id",
            "purpose",
            "state",
            "document",
            "document_version",
            "bucket",
            "language",
            "secondary_task",
            "prompt_version",
            "prompt_sha256",
            "first_number",
            "runs_per_model",
            "budget_usd",
            "created_at",
            "created_by",
            "finished_at",
            "calls",
            "cost_usd",
            "tokens_in",
            "tokens_out",
        ]
        read_only_fields = fields

    def get_secondary_task(self, run: Run) -> str:
        return secondary_task(run.task_code).name

    def get_calls(self, run: Run) -> dict[str, int]:
        counts: dict[str, Any] = vars(run)
        return {
            name.removesuffix("_calls"): value
            for name, value in counts.items()
            if name.endswith("_calls") and isinstance(value, int)
        }


class RunResultSerializer(serializers.ModelSerializer[RunCall]):
    call = serializers.IntegerField(source="call_id", read_only=True)
    model = serializers.CharField(source="call.model.name", read_only=True)
    simulated = serializers.BooleanField(source="call.model.is_simulated", read_only=True)
    state = serializers.CharField(source="call.state", read_only=True)
    number = serializers.IntegerField(source="call.number", read_only=True)

    class Meta:
        model = RunCall
        fields = ["call", "model", "simulated", "number", "state", "elements", "score", "right", "embedder"]
        read_only_fields = fields


class RunDetailSerializer(RunSerializer):
    results = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "prompt", "prompt_thinking", "reference", "results"]
        read_only_fields = fields

    def get_results(self, run: Run) -> list[dict[str, Any]]:
        rows = RunCall.objects.filter(run=run).select_related("call", "call__model")
        return list(RunResultSerializer(rows, many=True).data)


class CallSerializer(serializers.ModelSerializer[Call]):
    model = serializers.CharField(source="model.name", read_only=True)
    simulated = serializers.BooleanField(source="model.is_simulated", read_only=True)

    class Meta:
        model = Call
        fields = [
            "id",
            "purpose",
            "model",
            "simulated",
            "provider",
            "document_version",
            "number",
            "repairs",
            "state",
            "thinking",
            "prompt_version",
            "prompt_sha256",
            "parameters",
            "cut_tokens",
            "attempts",
            "next_attempt_at",
            "sent_at",
            "answered_at",
            "latency_ms",
            "finish_reason",
            "served_model",
            "expected_tokens_in",
            "expected_tokens_out",
            "expected_usd",
            "reserved_usd",
            "tokens_in",
            "tokens_cached",
            "tokens_out",
            "tokens_estimated",
            "cost_usd",
            "paid_attempts",
            "settled_at",
            "error_class",
            "error",
            "faults",
        ]
        read_only_fields = fields


class CallDetailSerializer(CallSerializer):
    class Meta(CallSerializer.Meta):
        fields = [*CallSerializer.Meta.fields, "prompt", "raw", "reasoning"]
        read_only_fields = fields


class SettleSerializer(serializers.Serializer[Any]):
    """What all attempts that nobody has accounted for cost together: 0 where the provider billed nothing."""

    billed_usd = serializers.DecimalField(max_digits=14, decimal_places=8, min_value=Decimal(0))
    reason = serializers.CharField(max_length=1000)


class ResendSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=1000)
    billed_usd = serializers.DecimalField(
        max_digits=14,
        decimal_places=8,
        min_value=Decimal(0),
        required=False,
        allow_null=True,
        default=None,
        help_text="what the attempts so far cost, 0 for nothing; null: nobody knows, and it stays held back",
    )


class AgainSerializer(serializers.Serializer[Any]):
    """Which calls to send again: those of `ids`, narrowed by the rest; without `ids` all that the rest leaves. At least
    one must be given. Only what failed, was cancelled or is unknown is meant, never what was answered."""

    ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1), required=False, max_length=10_000
    )
    run = serializers.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    state = serializers.ChoiceField(
        choices=[(state.value, state.label) for state in (CallState.FAILED, CallState.CANCELLED, CallState.UNKNOWN)],
        required=False,
    )
    error_class = serializers.CharField(required=False, max_length=40)
    model = serializers.CharField(required=False, max_length=80, help_text="its name")
    purpose = serializers.ChoiceField(choices=Purpose.choices, required=False)
    reason = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=1000, help_text="needed where a call is unknown"
    )
    none_was_billed = serializers.BooleanField(
        required=False, default=False, help_text="the unknown calls were looked up: what they hold back is released"
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if not set(given) - {"reason", "none_was_billed"}:
            raise serializers.ValidationError(
                {"ids": _("Say which calls: by ids, run, state, error, model or purpose.")}
            )
        return given


class QueuedSerializer(serializers.Serializer[Any]):
    queued = serializers.IntegerField(help_text="calls that are sent again")


class ManyRunsSerializer(serializers.Serializer[Any]):
    ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1), min_length=1, max_length=10_000
    )


class CancelledSerializer(serializers.Serializer[Any]):
    cancelled = serializers.IntegerField(help_text="runs that were under way")
    left = serializers.IntegerField(help_text="runs that the worker cancels; nothing more of them is sent")


class RunBudgetSerializer(serializers.Serializer[Any]):
    budget_usd = serializers.DecimalField(max_digits=14, decimal_places=4, min_value=Decimal(0), allow_null=True)


class BudgetSerializer(RunBudgetSerializer):
    """What all calls together may cost: null is no limit. `version` is the one that was read."""

    version = serializers.IntegerField(min_value=0)


@extend_schema_serializer(many=False)
class SpendingSerializer(serializers.ModelSerializer[Spending]):
    left_usd = serializers.SerializerMethodField(help_text="null without a budget")

    class Meta:
        model = Spending
        fields = ["budget_usd", "spent_usd", "reserved_usd", "left_usd", "version"]
        read_only_fields = fields

    def get_left_usd(self, row: Spending) -> str | None:
        if row.budget_usd is None:
            return None
        return f"{max(Decimal(0), row.budget_usd - row.spent_usd - row.reserved_usd):.8f}"


class ProviderLimitSerializer(serializers.ModelSerializer[ProviderLimit]):
    """What one provider is asked at once and in any minute; null is no limit. `version` is the one that was read, 0
    for a provider that has no limits yet."""

    provider = serializers.CharField(max_length=120)
    version = serializers.IntegerField(min_value=0)

    class Meta:
        model = ProviderLimit
        fields = ["id", "provider", "calls_in_flight", "requests_per_minute", "tokens_per_minute", "version"]


class TrialSerializer(serializers.ModelSerializer[ModelTrial]):
    """One small request without any document. Under way until `ended_at` is set."""

    model = serializers.CharField(source="model.name", read_only=True)

    class Meta:
        model = ModelTrial
        fields = [
            "id",
            "model",
            "asked_at",
            "sent_at",
            "ended_at",
            "error_class",
            "error",
            "answer",
            "served_model",
            "tokens_in",
            "tokens_out",
            "cost_usd",
            "latency_ms",
        ]
        read_only_fields = fields


class PauseSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=300, required=False, default="", allow_blank=True)


class LanguageModelSerializer(serializers.ModelSerializer[LanguageModel]):
    simulated = serializers.BooleanField(source="is_simulated", read_only=True)

    class Meta:
        model = LanguageModel
        fields = [
            "id",
            "name",
            "panel",
            "simulated",
            *EDITABLE,
            "paused_at",
            "paused_because",
            "version",
        ]
        read_only_fields = ["id", "name", "panel", "paused_at", "paused_because"]


class EditModelSerializer(serializers.ModelSerializer[LanguageModel]):
    version = serializers.IntegerField()

    class Meta:
        model = LanguageModel
        fields = ["version", *EDITABLE]


class NewModelSerializer(serializers.ModelSerializer[LanguageModel]):
    """A model of the panel in use. What is left out has the value that is usual; without a price it is not run."""

    name = serializers.CharField(max_length=80)

    class Meta:
        model = LanguageModel
        fields = ["name", *EDITABLE]


class GivenUpSerializer(serializers.Serializer[Any]):
    cancelled = serializers.IntegerField(help_text="calls that waited for the model")
