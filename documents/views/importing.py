"""Bringing documents in: the form, and the decoded beginning of files before they are taken."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from core.refusals import NotAllowed, Refused
from core.viewing import person_of, refuse_into
from documents import actions, batches
from documents.actions import Sent
from documents.extracting import MAX_FILE, ending_of
from documents.filters import known
from documents.forms import ImportForm
from documents.intake import MAX_BYTES, MIB
from documents.models import ImportBatch
from documents.storing import Facts
from documents.unpacking import Piece, pieces_of

PREVIEW = 600
PREVIEWED = 20
# Bytes. A PDF of 2 MB may be a thousand pages, which take ten seconds: longer than a look may last.
LOOKED_THROUGH = {".pdf": 2 * MIB}
# Counting the rest means taking it apart: beyond this nobody wants to know it exactly.
COUNTED = 1000


@dataclass(frozen=True)
class Preview:
    """The decoded beginning of a file, before it is taken."""

    path: str
    beginning: str = ""
    encoding: str = ""
    reason: str = ""
    note: str = ""


@require_http_methods(["GET", "HEAD", "POST"])
def document_import(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    if not actions.can_import_document(person):
        raise NotAllowed(_("Only leads bring documents in."))
    if request.method != "POST":
        return _import_page(request, ImportForm(initial=_again(request)))
    form = ImportForm(request.POST, request.FILES)
    if request.POST.get("do") == "preview":
        return _preview_page(request, form)
    if not form.is_valid():
        return _import_page(request, form, status=400)
    try:
        batch = actions.start_batch(
            files=[Sent(file.name or "", file) for file in form.cleaned_data["uploads"]],
            pasted=form.cleaned_data["text"],
            facts=form.facts,
            encoding=form.cleaned_data["encoding"],
            by=person,
        )
    except Refused as refusal:
        refuse_into(form, refusal)
        return _import_page(request, form, status=refusal.status)
    return redirect("documents:batch_detail", pk=batch.pk)


def _again(request: HttpRequest) -> dict[str, Any]:
    """`?batch=`: the facts of an earlier batch for the next one, and its typed text when that was not taken."""
    number = request.GET.get("batch", "")
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        return {}
    batch = ImportBatch.objects.filter(pk=int(number), made_by=person_of(request)).first()
    if batch is None:
        return {}
    paste = batches.refused_paste(batch)
    facts = {name: value for name, value in batch.facts.items() if name in Facts.__dataclass_fields__}
    if paste is None:
        return {**facts, "title": ""}
    return {**facts, "encoding": batch.encoding, "text": batches.text_of_paste(paste)}


def _preview_page(request: HttpRequest, form: ImportForm) -> HttpResponse:
    form.is_valid()
    encoding = request.POST.get("encoding", "")
    pieces = _pieces_of_files(form)
    previews = [_preview(piece, encoding) for piece in islice(pieces, PREVIEWED)]
    more: dict[str, Any] = {
        "previews": previews,
        "more_texts": sum(1 for _piece in islice(pieces, COUNTED + 1)),
        "counted": COUNTED,
        "more_files": _unsent(request, form),
    }
    fragment = "#preview" if request.headers.get("HX-Request") else ""
    return _import_page(request, form, fragment=fragment, previewing=True, **more)


def _unsent(request: HttpRequest, form: ImportForm) -> int:
    """How many of the chosen files the page kept back: the first few are enough for a look (documents.js)."""
    chosen = request.POST.get("chosen", "")
    sent = len(form.cleaned_data.get("uploads") or [])
    return max(int(chosen) - sent, 0) if chosen.isascii() and chosen.isdecimal() and len(chosen) < 10 else 0


def _pieces_of_files(form: ImportForm) -> Iterator[Piece]:
    for file in form.cleaned_data.get("uploads") or []:
        yield from pieces_of(file.name or "", file.read())


def _preview(piece: Piece, encoding: str) -> Preview:
    try:
        if piece.refusal is not None:
            raise piece.refusal
        if piece.text is not None:
            return Preview(piece.path, piece.text[:PREVIEW], "JSON")
        if len(piece.data or b"") > LOOKED_THROUGH.get(ending_of(piece.path), MAX_FILE):
            return Preview(piece.path, note=_("Too large to be read while you wait: it is read when it is brought in."))
        read = batches.text_of_file(piece.data or b"", piece.path, Facts(), encoding)
        return Preview(piece.path, read.text[:PREVIEW], read.encoding.upper())
    except Refused as refusal:
        return Preview(piece.path, reason=str(refusal.message))


def _import_page(
    request: HttpRequest, form: ImportForm, *, status: int = 200, fragment: str = "", **more: Any
) -> HttpResponse:
    context = {
        "section": "documents",
        "form": form,
        "domains": [value for value, _label in known("domain")],
        "formats": [value for value, _label in known("format")],
        "limits": {
            "text": MAX_BYTES // MIB,
            "files": settings.DATA_UPLOAD_MAX_NUMBER_FILES,
            "upload": settings.LBP_MAX_UPLOAD // MIB,
            "bytes": settings.LBP_MAX_UPLOAD,
        },
        **more,
    }
    return render(request, f"documents/document_import.html{fragment}", context, status=status)
