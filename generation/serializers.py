"""Runs, calls and models as programs see them. No document text, and no key."""

from typing import Any

from rest_framework import serializers

from benchmark.taxonomy import secondary_task
from generation.actions import EDITABLE
from generation.models import Call, LanguageModel, Run, RunCall


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
            "tokens_in",
            "tokens_out",
            "tokens_estimated",
            "cost_usd",
            "error_class",
            "error",
            "faults",
        ]
        read_only_fields = fields


class CallDetailSerializer(CallSerializer):
    class Meta(CallSerializer.Meta):
        fields = [*CallSerializer.Meta.fields, "prompt", "raw", "reasoning"]
        read_only_fields = fields


class ResendSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=1000)


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
