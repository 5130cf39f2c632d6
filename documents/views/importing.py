"""Bringing documents in."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from core.models import User
from core.refusals import NotAllowed, Refused
from core.viewing import person_of, refuse_into
from documents import actions
from documents.actions import Report
from documents.filters import known
from documents.forms import ImportForm
from documents.intake import read_file
from documents.unpacking import Piece, pieces_of

PREVIEW = 600
PREVIEWED = 20


@dataclass(frozen=True)
class Preview:
    """The decoded beginning of a file, before it is taken."""

    path: str
    beginning: str = ""
    encoding: str = ""
    reason: str = ""


@require_http_methods(["GET", "HEAD", "POST"])
def document_import(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    if not actions.can_import_document(person):
        raise NotAllowed(_("Only leads bring documents in."))
    if request.method != "POST":
        return _import_page(request, ImportForm())
    form = ImportForm(request.POST, request.FILES)
    if request.POST.get("do") == "preview":
        form.is_valid()
        encoding = request.POST.get("encoding", "")
        previews = [_preview(piece, encoding) for piece in islice(_pieces_of_files(form), PREVIEWED)]
        fragment = "#preview" if request.headers.get("HX-Request") else ""
        return _import_page(request, form, fragment=fragment, previews=previews, previewing=True)
    if not form.is_valid():
        return _import_page(request, form, status=400)
    try:
        reports = _import(form, person)
    except Refused as refusal:
        refuse_into(form, refusal)
        return _import_page(request, form, status=refusal.status)
    refused_paste = any(report.path == _("pasted text") and report.status == "refused" for report in reports)
    # What was refused of a pasted text is mended in place; what was taken leaves the form empty for the next.
    again = (
        form if refused_paste else ImportForm(initial={**form.cleaned_data, "text": "", "title": "", "uploads": None})
    )
    return _import_page(request, again, reports=reports)


def _import(form: ImportForm, person: User) -> list[Report]:
    reports: list[Report] = []
    files = form.cleaned_data["uploads"]
    # One title for several files would name them all the same: then the files' own names stand.
    facts = form.facts if len(files) < 2 else replace(form.facts, title="")
    reports += actions.import_pieces(
        pieces=_pieces_of_files(form), by=person, facts=facts, encoding=form.cleaned_data["encoding"]
    )
    if form.cleaned_data["text"].strip():
        pasted = Piece(_("pasted text"), text=form.cleaned_data["text"])
        title = form.facts.title or form.cleaned_data["text"].strip().splitlines()[0][:80]
        reports += actions.import_pieces(pieces=[pasted], by=person, facts=replace(form.facts, title=title))
    return reports


def _pieces_of_files(form: ImportForm) -> Iterator[Piece]:
    for file in form.cleaned_data.get("uploads") or []:
        yield from pieces_of(file.name or "", file.read())


def _preview(piece: Piece, encoding: str) -> Preview:
    try:
        if piece.refusal is not None:
            raise piece.refusal
        if piece.text is not None:
            return Preview(piece.path, piece.text[:PREVIEW], "JSON")
        text, found, _counts = read_file(piece.data or b"", file_name=piece.path, encoding=encoding)
        return Preview(piece.path, text[:PREVIEW], found.upper())
    except Refused as refusal:
        return Preview(piece.path, reason=str(refusal.message))


def _import_page(
    request: HttpRequest, form: ImportForm, *, status: int = 200, fragment: str = "", **more: Any
) -> HttpResponse:
    reports: list[Report] = more.get("reports", [])
    counts = Counter(report.status for report in reports)
    context = {
        "section": "documents",
        "form": form,
        "domains": [value for value, _label in known("domain")],
        "formats": [value for value, _label in known("format")],
        "accepted": counts["accepted"],
        "flagged": counts["flagged"],
        "refused": counts["refused"],
        **more,
    }
    return render(request, f"documents/document_import.html{fragment}", context, status=status)
