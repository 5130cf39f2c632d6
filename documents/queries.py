"""Reading documents. Only these functions touch the table that holds the texts."""

from collections import Counter
from collections.abc import Sequence

from django.db.models import Count
from django.db.models.functions import Substr

from core.models import User
from documents.models import Document, DocumentText, DocumentVersion, Passage, ReadingPosition

NO_BUCKET = "none"
# SQLite takes only so many parameters in one question.
AT_ONCE = 900


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


def next_to_clear(after: Document) -> Document | None:
    """The next document waiting for compliance, round about."""
    waiting = Document.objects.in_state("pending").exclude(pk=after.pk).order_by("id")
    return waiting.filter(pk__gt=after.pk).first() or waiting.first()


def documents_sharing(marks: Sequence[int]) -> Counter[int]:
    """How many of these marks each document has; one that has a mark in several versions counts it once."""
    shared: Counter[int] = Counter()
    for start in range(0, len(marks), AT_ONCE):
        rows = Passage.objects.filter(mark__in=marks[start : start + AT_ONCE]).order_by()
        for document, count in rows.values_list("version__document").annotate(Count("mark", distinct=True)):
            shared[document] += count
    return shared


def mark_counts(documents: Sequence[int]) -> dict[int, int]:
    """How many marks each of these documents has."""
    rows = Passage.objects.filter(version__document__in=documents).order_by().values_list("version__document")
    return dict(rows.annotate(Count("mark", distinct=True)))


def position_of(person: User, version: DocumentVersion) -> int:
    """The first code point that stood in the window when the person left this text; 0 for who never did."""
    places = ReadingPosition.objects.filter(person=person, version=version)
    return places.values_list("position", flat=True).first() or 0
