"""The audit trail for leads: who did what to which record, when and why; and as a file that can be verified."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from core import sealing
from core.models import Event, TrailSeal
from core.spreadsheet import lines
from core.viewing import csv_response
from leading import wording
from leading.filters import TrailFilter
from leading.views import lead

A_PAGE = 100


@dataclass(frozen=True)
class Shown:
    event: Event
    subject: str
    what: str | Promise


@require_GET
def trail(request: HttpRequest) -> HttpResponseBase:
    lead(request)
    found = TrailFilter(request.GET, queryset=Event.objects.select_related("by").order_by("-id"))
    kind = request.GET.get("format")
    if kind in {"csv", "jsonl"} and found.is_valid():
        return _file(found.qs.order_by("id"), kind)
    rows = found.qs if found.is_valid() else Event.objects.none()
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    asked = request.GET.copy()
    for name in ("page", "format"):
        asked.pop(name, None)
    context = {
        "section": "trail",
        "filter": found,
        "filters": asked.urlencode(),
        "filtered": any(asked.values()),
        "page_obj": page,
        "shown": [Shown(event, _subject(event), _what(event)) for event in page],
        "seal": TrailSeal.objects.defer("lines").order_by("-number").first(),
        "unsealed": sealing.unsealed(),
    }
    return render(request, "leading/trail.html", context, status=200 if found.is_valid() else 400)


def _subject(event: Event) -> str:
    return wording.line(event).subject or f"{event.subject_type} {event.subject_id}"


def _what(event: Event) -> str | Promise:
    verb = event.action.partition(".")[2]
    return wording.words_of(event.subject_type, verb) or _("did something")


def _file(events: QuerySet[Event], kind: str) -> HttpResponseBase:
    """Oldest first, nothing held in memory. The JSONL is what `verify_audit --file` takes."""
    rows = events.iterator(chunk_size=2000)
    if kind == "csv":
        return csv_response(lines((*sealing.FIELDS, "by"), map(_cells, rows)), "audit-trail.csv")
    response = StreamingHttpResponse(_json_lines(rows), content_type="application/jsonl; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="audit-trail.jsonl"'
    return response


def _cells(event: Event) -> list[object]:
    line = sealing.line_of(event)
    data = json.dumps(line["data"], ensure_ascii=False, sort_keys=True)
    return [*({**line, "data": data}[name] for name in sealing.FIELDS), event.by.username if event.by else ""]


def _json_lines(events: Iterator[Event]) -> Iterator[str]:
    for event in events:
        line = {**sealing.line_of(event), "by": event.by.username if event.by else None}
        yield json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n"
