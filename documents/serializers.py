"""The API's bodies for documents. Fields carry the names of the pipeline; no list holds a text."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from documents.models import LANGUAGE_CHOICES, BatchLine, Document, DocumentVersion, ImportBatch
from documents.workflow import BatchState, Flag, Outcome, VersionState


class VersionSerializer(serializers.ModelSerializer[DocumentVersion]):
    made_by = serializers.CharField(source="made_by.username", default=None, read_only=True, allow_null=True)
    decided_by = serializers.CharField(source="decided_by.username", default=None, read_only=True, allow_null=True)
    state = serializers.ChoiceField(choices=VersionState.choices, read_only=True)
    flags = serializers.ListField(child=serializers.ChoiceField(choices=Flag.choices), read_only=True)
    remarks = serializers.ListField(child=serializers.DictField(), read_only=True)
    normalisation = serializers.DictField(child=serializers.IntegerField(), read_only=True)

    class Meta:
        model = DocumentVersion
        fields = (
            "id",
            "number",
            "state",
            "origin",
            "sha256",
            "chars",
            "bytes",
            "tokens",
            "tokenizer",
            "bucket",
            "normalisation",
            "remarks",
            "made_at",
            "made_by",
            "made_reason",
            "decided_at",
            "decided_by",
            "flags",
            "note",
        )
        read_only_fields = fields


class DocumentSerializer(serializers.ModelSerializer[Document]):
    """A document with its latest version."""

    imported_by = serializers.CharField(source="imported_by.username", default=None, read_only=True, allow_null=True)
    state = serializers.ChoiceField(source="latest.state", choices=VersionState.choices, read_only=True)
    tokens = serializers.IntegerField(source="latest.tokens", read_only=True)
    bucket = serializers.CharField(source="latest.bucket", read_only=True)
    latest = VersionSerializer(read_only=True)

    class Meta:
        model = Document
        fields = (
            "id",
            "title",
            "language",
            "domain",
            "format",
            "multi",
            "source_url",
            "licence",
            "imported_at",
            "imported_by",
            "state",
            "tokens",
            "bucket",
            "latest",
        )
        read_only_fields = fields


class DocumentDetailSerializer(DocumentSerializer):
    """A document with all its versions."""

    versions = serializers.SerializerMethodField()

    class Meta(DocumentSerializer.Meta):
        # The base's tuple has a fixed length for the type checker: one more field is another type.
        fields = (*DocumentSerializer.Meta.fields, "versions")  # type: ignore[assignment]
        read_only_fields = fields  # type: ignore[assignment]

    @extend_schema_field(VersionSerializer(many=True))
    def get_versions(self, document: Document) -> Any:
        versions = document.versions.select_related("made_by", "decided_by").order_by("number")
        return VersionSerializer(versions, many=True).data


class VerbatimField(serializers.CharField):
    """A text taken as it is: not trimmed; what a text may not hold is refused by the action, with its place."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trim_whitespace=False, allow_blank=True, **kwargs)
        self.validators = [validator for validator in self.validators if "Prohibit" not in type(validator).__name__]

    def to_internal_value(self, data: Any) -> str:
        """A number in the place of a text is a mistake of the sender's, not a text."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class CreateSerializer(serializers.Serializer[Any]):
    """Either `text` (JSON) or `file` (multipart), and what is to be recorded with it."""

    text = VerbatimField(required=False)
    file = serializers.FileField(required=False)
    encoding = serializers.CharField(required=False, default="", allow_blank=True)
    title = serializers.CharField(required=False, default="", allow_blank=True, max_length=300)
    language = serializers.ChoiceField(choices=LANGUAGE_CHOICES, required=False, default="", allow_blank=True)
    domain = serializers.CharField(required=False, default="", allow_blank=True, max_length=60)
    format = serializers.CharField(required=False, default="", allow_blank=True, max_length=60)
    multi = serializers.BooleanField(required=False, default=False)
    source_url = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)
    licence = serializers.CharField(required=False, default="", allow_blank=True, max_length=300)


class BatchSerializer(serializers.ModelSerializer[ImportBatch]):
    """A batch with its counts; its lines are at `lines`. `bytes_done` of `bytes_total` tells how far it is."""

    made_by = serializers.CharField(source="made_by.username", default=None, read_only=True, allow_null=True)
    state = serializers.ChoiceField(choices=BatchState.choices, read_only=True)
    facts = serializers.DictField(read_only=True, help_text="recorded with each text")
    reading = serializers.DictField(
        read_only=True, help_text="the long file that is read now: name, done, total, in pages"
    )

    class Meta:
        model = ImportBatch
        fields = (
            "id",
            "state",
            "made_at",
            "made_by",
            "started_at",
            "finished_at",
            "facts",
            "encoding",
            "bytes_total",
            "bytes_done",
            "reading",
            "accepted",
            "flagged",
            "refused",
        )
        read_only_fields = fields


class BatchLineSerializer(serializers.ModelSerializer[BatchLine]):
    """What became of one text. `reason` is in the language of whoever sent the batch."""

    status = serializers.ChoiceField(choices=Outcome.choices, read_only=True)
    document = serializers.IntegerField(source="version.document_id", default=None, read_only=True, allow_null=True)
    tokens = serializers.IntegerField(source="version.tokens", default=None, read_only=True, allow_null=True)
    bucket = serializers.CharField(source="version.bucket", default=None, read_only=True, allow_null=True)

    class Meta:
        model = BatchLine
        fields = (
            "number",
            "path",
            "status",
            "rule",
            "reason",
            "position",
            "document",
            "tokens",
            "bucket",
            "duplicate_of",
        )
        read_only_fields = fields


class SendBatchSerializer(serializers.Serializer[Any]):
    """Any number of files, with what is recorded with each text."""

    files = serializers.ListField(child=serializers.FileField(allow_empty_file=True), allow_empty=False)
    encoding = serializers.CharField(required=False, default="", allow_blank=True)
    title = serializers.CharField(required=False, default="", allow_blank=True, max_length=300)
    language = serializers.ChoiceField(choices=LANGUAGE_CHOICES, required=False, default="", allow_blank=True)
    domain = serializers.CharField(required=False, default="", allow_blank=True, max_length=60)
    format = serializers.CharField(required=False, default="", allow_blank=True, max_length=60)
    multi = serializers.BooleanField(required=False, default=False)
    source_url = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)
    licence = serializers.CharField(required=False, default="", allow_blank=True, max_length=300)


class RangeSerializer(serializers.Serializer[Any]):
    """Part of a text: `start` and `end` in code points, half-open."""

    version = serializers.IntegerField(help_text="number of the version")
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    chars = serializers.IntegerField(help_text="length of the whole text")
    text = serializers.CharField()


class SeenSerializer(serializers.Serializer[Any]):
    """What stood before whoever decides. When it is no longer so, nothing is decided: 409 with the rule
    `stale_version` (a newer text came) or `state_moved` (somebody else decided)."""

    state = serializers.ChoiceField(choices=VersionState.choices, help_text="state of the version that is decided on")
    latest = serializers.IntegerField(help_text="number of the newest version of the document")


SEEN_HELP = "what was seen; left out, the decision is taken whatever happened meanwhile"


class ApproveSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(required=False, help_text="number of the version; the latest when left out")
    seen = SeenSerializer(required=False, help_text=SEEN_HELP)
    note = serializers.CharField(required=False, default="", allow_blank=True)


class RejectSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(required=False, help_text="number of the version; the latest when left out")
    seen = SeenSerializer(required=False, help_text=SEEN_HELP)
    flags = serializers.ListField(child=serializers.CharField(), allow_empty=True)
    note = serializers.CharField(allow_blank=True)


class CorrectSerializer(serializers.Serializer[Any]):
    """Only what is given changes."""

    version = serializers.IntegerField(help_text="the document's own `version`, as it was seen")
    title = serializers.CharField(required=False, max_length=300)
    language = serializers.ChoiceField(choices=LANGUAGE_CHOICES, required=False)
    domain = serializers.CharField(required=False, allow_blank=True, max_length=60)
    format = serializers.CharField(required=False, allow_blank=True, max_length=60)
    multi = serializers.BooleanField(required=False)
    licence = serializers.CharField(required=False, allow_blank=True, max_length=300)
    source_url = serializers.CharField(required=False, allow_blank=True, max_length=2000)


class ReviseSerializer(serializers.Serializer[Any]):
    text = VerbatimField()
    based_on = serializers.IntegerField(help_text="number of the version that was edited")
    reason = serializers.CharField(max_length=1000)


class TrimSerializer(serializers.Serializer[Any]):
    """To the target of a bucket, to at most so many tokens, or to the place `end`; from `start` on."""

    bucket = serializers.CharField(required=False, default="", allow_blank=True)
    tokens = serializers.IntegerField(required=False, default=None, allow_null=True)
    start = serializers.IntegerField(required=False, default=0, min_value=0, help_text="first code point that stays")
    end = serializers.IntegerField(
        required=False, default=None, allow_null=True, min_value=1, help_text="behind the last code point that stays"
    )
    version = serializers.IntegerField(
        required=False, default=None, allow_null=True, help_text="number of the version that was seen"
    )
    reason = serializers.CharField(required=False, default="", allow_blank=True)


class CutSerializer(serializers.Serializer[Any]):
    """Into parts of a bucket, into so many `parts`, or at the places `cuts` (code points, ascending)."""

    bucket = serializers.CharField(required=False, default="", allow_blank=True)
    parts = serializers.IntegerField(required=False, default=None, allow_null=True)
    cuts = serializers.ListField(child=serializers.IntegerField(min_value=1), required=False, max_length=200)
    version = serializers.IntegerField(
        required=False, default=None, allow_null=True, help_text="number of the version that was seen"
    )
    reason = serializers.CharField(required=False, default="", allow_blank=True)


class CutAnswerSerializer(serializers.Serializer[Any]):
    """The documents that were made, in the order of the text."""

    documents = DocumentDetailSerializer(many=True)


class JoinSerializer(serializers.Serializer[Any]):
    """This document first, then `documents` in their order. `headings`: one for each, this document's first."""

    documents = serializers.ListField(child=serializers.IntegerField(), allow_empty=False, max_length=200)
    headings = serializers.ListField(child=serializers.CharField(max_length=300), required=False, max_length=201)
    title = serializers.CharField(max_length=300)
    reason = serializers.CharField(required=False, default="", allow_blank=True)
