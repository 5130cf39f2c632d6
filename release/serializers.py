"""Releases for programs: what they hold and why samples are not in them. No document text."""

from typing import Any

from rest_framework import serializers

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


class NewReleaseSerializer(serializers.Serializer[dict[str, Any]]):
    version = serializers.CharField(max_length=40)
    allow_incomplete = serializers.BooleanField(default=False)


class WithdrawSerializer(serializers.Serializer[dict[str, Any]]):
    reason = serializers.CharField(allow_blank=True)
