"""Reading documents. Only these functions touch the table that holds the texts."""

import json
from collections.abc import Collection, Sequence

from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Substr

from core.models import Event, User
from documents.models import Document, DocumentText, DocumentVersion, ReadingPosition, WatchedNames

NO_BUCKET = "none"
MOST_SHARING = 24


def text_of(version: DocumentVersion) -> str:
    return DocumentText.objects.values_list("text", flat=True).get(version=version)


def text_between(version: DocumentVersion, start: int, end: int) -> str:
    """The code points from `start` up to `end`, cut by the database: a small range costs little of a large text."""
    part = Substr("text", start + 1, max(0, end - start))
    return DocumentText.objects.annotate(part=part).values_list("part", flat=True).get(version=version)


def gzipped_text_of(version: DocumentVersion) -> bytes:
    return bytes(DocumentText.objects.values_list("gzipped", flat=True).get(version=version))


def is_known(sha256: str) -> bool:
    """Whether any version has that text: asked for every text that comes in, so without the ORM."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM documents_documentversion WHERE sha256 = %s LIMIT 1", [sha256])
        return cursor.fetchone() is not None


def first_with(sha256s: Collection[str]) -> dict[str, Document]:
    """By SHA-256, the document that has that text, or had it first."""
    versions = DocumentVersion.objects.filter(sha256__in=sha256s).order_by("-id").values_list("sha256", "document")
    found = dict(versions)
    titles = Document.objects.only("title").in_bulk(list(found.values())) if found else {}
    return {sha256: titles[document] for sha256, document in found.items()}


# Marks of passages: a long text has a thousand. Both databases take them in one statement, where the ORM would spend
# more time on a text's marks than on the text.

_KEEP = {
    "sqlite": "INSERT INTO documents_passage (version_id, mark, position)"
    " SELECT %s, json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(%s)",
    "postgresql": "INSERT INTO documents_passage (version_id, mark, position)"
    " SELECT %s, (value->>0)::bigint, (value->>1)::integer FROM json_array_elements(%s::json) AS value",
}
_GIVEN = {
    "sqlite": "SELECT value FROM json_each(%s)",
    "postgresql": "SELECT value::bigint FROM json_array_elements_text(%s::json) AS value",
}
# Of the versions that share most: document, marks shared, marks it has.
_SHARING = (
    "SELECT version.document_id, near.shared,"
    " (SELECT COUNT(*) FROM documents_passage AS own WHERE own.version_id = near.version_id)"
    " FROM (SELECT version_id, COUNT(*) AS shared FROM documents_passage WHERE mark IN ({given})"
    " GROUP BY version_id ORDER BY shared DESC, version_id LIMIT {most}) AS near"
    " JOIN documents_documentversion AS version ON version.id = near.version_id"
)


def keep_marks(version: DocumentVersion, marks: Sequence[tuple[int, int]]) -> None:
    """`marks` are (mark, position), each mark once."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP[connection.vendor], [version.pk, json.dumps(marks)])


def documents_sharing(marks: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Of the versions that share most of these marks, by document: (marks shared, marks it has)."""
    found: dict[int, tuple[int, int]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_SHARING.format(given=_GIVEN[connection.vendor], most=MOST_SHARING), [json.dumps(marks)])
        for document, shared, count in cursor.fetchall():
            found[document] = max(found.get(document, (0, 0)), (shared, count))
    return found


def position_of(person: User, version: DocumentVersion) -> int:
    """The first code point that stood in the window when the person left this text; 0 for who never did."""
    places = ReadingPosition.objects.filter(person=person, version=version)
    return places.values_list("position", flat=True).first() or 0


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
