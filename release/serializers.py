"""Releases for programs: what they hold and why samples are not in them. No document text."""

from typing import Any

from rest_framework import serializers

from benchmark.record import FIELDS
from release.comparing import Change, Comparison, Kind
from release.models import LeftOut, Release
from release.readiness import Reason


class LeftOutSerializer(serializers.ModelSerializer[LeftOut]):
    id = serializers.CharField(source="sample.public_id", read_only=True)
    reasons = serializers.SerializerMethodField()

    class Meta:
        model = LeftOut
        fields = ["sample", "id", "reasons"]
        read_only_fields = fields

    def get_reasons(self, row: LeftOut) -> list[dict[str, str]]:
        reasons = [Reason.from_json(reason) for reason in row.reasons]
        return [{"check": one.check, "field": one.field, "message": one.message} for one in reasons]


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    class Meta:
        model = Release
        fields = [
            "id",
            "version",
            "state",
            "made_at",
            "made_by",
            "allow_incomplete",
            "progress",
            "total",
            "error",
            "withdrawn_reason",
        ]
        read_only_fields = fields


class ReleaseDetailSerializer(ReleaseSerializer):
    left_out = LeftOutSerializer(many=True, read_only=True)

    class Meta(ReleaseSerializer.Meta):
        fields = [*ReleaseSerializer.Meta.fields, "statistics", "manifest", "left_out"]
        read_only_fields = fields


class AskedSerializer(serializers.Serializer[dict[str, Any]]):
    asked = serializers.IntegerField(help_text="samples that wait for their difficulty now")


class NewReleaseSerializer(serializers.Serializer[dict[str, Any]]):
    version = serializers.CharField(max_length=40)
    allow_incomplete = serializers.BooleanField(default=False)


class WithdrawSerializer(serializers.Serializer[dict[str, Any]]):
    reason = serializers.CharField(allow_blank=True)


class CompareSerializer(serializers.Serializer[dict[str, Any]]):
    """What to compare with. `with` is a word of Python's, so the fields are made by name."""

    kind = serializers.ChoiceField(choices=Kind.choices, default="", help_text="empty: all")
    field = serializers.ChoiceField(choices=list(FIELDS), default="", help_text="changed in this field; empty: any")
    page = serializers.IntegerField(min_value=1, max_value=1_000_000, default=1)
    page_size = serializers.IntegerField(min_value=1, max_value=200, default=50)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        number = serializers.IntegerField(min_value=1, help_text="number of the release to compare with")
        return {"with": number, **super().get_fields()}


class ChangedSampleSerializer(serializers.Serializer[Change]):
    sample = serializers.IntegerField()
    id = serializers.CharField()
    kind = serializers.ChoiceField(choices=Kind.choices)
    fields_changed = serializers.SerializerMethodField()

    def get_fields_changed(self, change: Change) -> dict[str, dict[str, Any]]:
        """By field: {before, after}. Of a context its SHA-256."""
        before, after = change.before or {}, change.after or {}
        return {name: {"before": before[name], "after": after[name]} for name in change.fields}


class ComparisonSerializer(serializers.Serializer[Comparison]):
    added = serializers.SerializerMethodField()
    removed = serializers.SerializerMethodField()
    changed = serializers.SerializerMethodField()
    unchanged = serializers.IntegerField()
    by_field = serializers.DictField(child=serializers.IntegerField(), help_text="changed samples, by field")
    matching = serializers.IntegerField(help_text="how many changes of the asked kind and field there are in all")
    changes = ChangedSampleSerializer(many=True)

    def get_added(self, found: Comparison) -> int:
        return found.counts[Kind.ADDED]

    def get_removed(self, found: Comparison) -> int:
        return found.counts[Kind.REMOVED]

    def get_changed(self, found: Comparison) -> int:
        return found.counts[Kind.CHANGED]
