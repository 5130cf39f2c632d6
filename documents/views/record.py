"""The record of compliance as a file for spreadsheets: who cleared what, when, and why."""

from collections.abc import Iterator, Sequence
from datetime import UTC
from itertools import islice
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from core.models import Event
from core.refusals import Invalid, NotAllowed
from core.spreadsheet import MARK, lines
from core.viewing import csv_response, person_of
from documents import actions
from documents.filters import DocumentFilter
from documents.models import Document, DocumentVersion
from documents.workflow import VersionState

AT_ONCE = 500
DECISIONS = ("documents.approve", "documents.reject")
HEAD = (
    "document",
    "version",
    "title",
    "language",
    "domain",
    "format",
    "bucket",
    "tokens",
    "sha256",
    "decision",
    "flags",
    "note",
    "decided_by",
    "decided_at",
    "imported_by",
    "imported_at",
    "source_url",
    "licence",
)


@require_safe
def document_record(request: HttpRequest) -> StreamingHttpResponse:
    """Every decision ever taken, one in a line, oldest first, of the documents that the list's filters leave.

    `bom=0` leaves out the mark for spreadsheets.
    """
    if not actions.can_see_record(person_of(request)):
        raise NotAllowed(_("The record is for experts and leads."))
    filtered = DocumentFilter(request.GET, queryset=Document.objects.order_by())
    if not filtered.is_valid():
        raise Invalid({name: [str(word) for word in words] for name, words in filtered.errors.items()})
    mark = "" if request.GET.get("bom") == "0" else MARK
    return csv_response(lines(HEAD, _rows(filtered.qs), mark=mark), "compliance-record.csv")


def _rows(documents: Any) -> Iterator[Sequence[Any]]:
    versions = DocumentVersion.objects.filter(document__in=documents.order_by().values("pk"))
    events = Event.objects.filter(
        subject_type=DocumentVersion._meta.model_name, action__in=DECISIONS, subject_id__in=versions.values("pk")
    )
    stream = events.select_related("by").order_by("id").iterator(chunk_size=AT_ONCE)
    while some := list(islice(stream, AT_ONCE)):
        about = _versions(some)
        for event in some:
            yield _row(event, about[event.subject_id])


def _versions(events: list[Event]) -> dict[int, DocumentVersion]:
    versions = DocumentVersion.objects.select_related("document__imported_by").defer("normalisation", "remarks")
    return versions.in_bulk({event.subject_id for event in events})


def _row(event: Event, version: DocumentVersion) -> list[Any]:
    document = version.document
    return [
        document.pk,
        version.number,
        document.title,
        document.language,
        document.domain,
        document.format,
        version.bucket or "none",
        version.tokens,
        event.data.get("sha256", version.sha256),
        decision_of(event),
        " ".join(event.data.get("flags", [])),
        event.reason,
        event.by.username if event.by else "",
        f"{event.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        document.imported_by.username if document.imported_by else "",
        f"{document.imported_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        document.source_url,
        document.licence,
    ]


def decision_of(event: Event) -> str:
    """approved, rejected, or withdrawn: the rejection of what had been approved."""
    if event.to_state == VersionState.REJECTED and event.from_state == VersionState.APPROVED:
        return "withdrawn"
    return event.to_state
