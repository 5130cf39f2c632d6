"""Reading documents. Only these functions touch the table that holds the texts."""

from collections.abc import Sequence

from django.db.models import QuerySet
from django.db.models.functions import Substr

from core.models import Event
from documents.models import Document, DocumentText, DocumentVersion, WatchedNames

NO_BUCKET = "none"


def text_of(version: DocumentVersion) -> str:
    return DocumentText.objects.values_list("text", flat=True).get(version=version)


def text_between(version: DocumentVersion, start: int, end: int) -> str:
    """The code points from `start` up to `end`, cut by the database: a small range costs little of a large text."""
    part = Substr("text", start + 1, max(0, end - start))
    return DocumentText.objects.annotate(part=part).values_list("part", flat=True).get(version=version)


def gzipped_text_of(version: DocumentVersion) -> bytes:
    return bytes(DocumentText.objects.values_list("gzipped", flat=True).get(version=version))


def versions_with(sha256s: Sequence[str]) -> dict[str, DocumentVersion]:
    """By SHA-256, the first version ever stored with that text."""
    versions = DocumentVersion.objects.filter(sha256__in=sha256s).select_related("document").order_by("-id")
    return {version.sha256: version for version in versions}


def watched_names() -> WatchedNames | None:
    """The list of names that holds now."""
    return WatchedNames.objects.order_by("-pk").first()


def number_of_names_list() -> int:
    """0 while there never was a list."""
    return WatchedNames.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def events_of_versions(document: Document) -> QuerySet[Event]:
    """All that happened to the texts of a document: made, approved, rejected, by whom and why."""
    numbers = document.versions.values("pk")
    events = Event.objects.filter(subject_type=DocumentVersion._meta.model_name, subject_id__in=numbers)
    return events.select_related("by").order_by("-pk")
