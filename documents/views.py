"""Pages of stage 1: the list, bringing in, one document with its compliance, and the text itself."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.history import history_of
from core.models import BenchmarkSettings, User
from core.refusals import NotAllowed, Refused
from core.viewing import person_of, refuse_into
from documents import actions, queries
from documents.actions import Report
from documents.filters import DocumentFilter, known
from documents.findings import Finding, Kind, findings_in
from documents.forms import CorrectionForm, DecisionForm, ImportForm, RevisionForm, TrimForm
from documents.intake import distance_in_words, normalisation_in_words, read_file, remark_in_words
from documents.models import Document, DocumentVersion
from documents.reading import reader_for
from documents.serving import text_response
from documents.unpacking import Piece, pieces_of
from documents.workflow import Flag, VersionState

PAGE = 50
SHOWN_FINDINGS = 300
AROUND = 60
PREVIEW = 600
PREVIEWED = 20


# The list ---------------------------------------------------------------------------------------------------------


@require_safe
def document_list(request: HttpRequest) -> HttpResponse:
    filtered = DocumentFilter(request.GET, queryset=Document.objects.for_list())
    paginator = Paginator(filtered.qs, PAGE)
    counts = dict(Document.objects.values_list("latest__state").annotate(Count("id")).order_by())
    context = {
        "section": "documents",
        "filter": filtered,
        "page_obj": paginator.get_page(request.GET.get("page")),
        "counts": [(state, counts.get(state.value, 0)) for state in VersionState],
        "all": sum(counts.values()),
        "filtering": any(request.GET.get(name) for name in filtered.filters),
        "may_import": actions.can_import_document(person_of(request)),
    }
    fragment = "#rows" if request.headers.get("HX-Request") and not request.headers.get("HX-Boosted") else ""
    return render(request, f"documents/document_list.html{fragment}", context)


# Bringing in ------------------------------------------------------------------------------------------------------


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


# One document -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """A finding with the line it stands in."""

    number: int
    finding: Finding
    before: str
    hit: str
    after: str
    percent: int

    @property
    def label(self) -> str:
        return str(self.finding.kind.label)


@require_safe
def document_detail(request: HttpRequest, pk: int) -> HttpResponse:
    document = get_object_or_404(Document.objects.select_related("imported_by"), pk=pk)
    return _detail_page(request, _version_asked_for(request, document), DecisionForm())


def _version_asked_for(request: HttpRequest, document: Document) -> DocumentVersion:
    versions = document.versions.select_related("decided_by", "made_by").order_by("-number")
    asked = request.GET.get("version", "")
    if asked:
        versions = versions.filter(number=int(asked) if asked.isdecimal() and len(asked) < 9 else 0)
    version = get_object_or_404(versions[:1])
    version.document = document
    return version


def _detail_page(
    request: HttpRequest, version: DocumentVersion, decision: DecisionForm, *, status: int = 200, **forms: Any
) -> HttpResponse:
    document, person = version.document, person_of(request)
    text = queries.text_of(version)
    found = findings_in(text)
    counts = Counter(finding.kind for finding in found)
    versions = list(document.versions.select_related("made_by", "decided_by").order_by("-number"))
    next_up = queries.next_to_clear(document)
    lengths = BenchmarkSettings.load().lengths
    context = {
        "section": "documents",
        "document": document,
        "version": version,
        "versions": versions,
        "is_latest": version.number == versions[0].number,
        "reader": reader_for(version),
        "findings": _shown(text, found[:SHOWN_FINDINGS]),
        "more_findings": max(0, len(found) - SHOWN_FINDINGS),
        "finding_counts": [(kind.label, counts[kind]) for kind in Kind if counts[kind]],
        "remarks": [remark_in_words(remark) for remark in version.remarks],
        "normalisation": normalisation_in_words(version.normalisation),
        "distance": "" if version.bucket else distance_in_words(version.tokens, lengths),
        "history": history_of(version),
        "flags": [Flag(flag).label for flag in version.flags],
        "decision": decision,
        "next_up": next_up,
        "may_approve": version.state != VersionState.APPROVED and actions.can_approve_version(person, version),
        "may_reject": version.state != VersionState.REJECTED and actions.can_reject_version(person, version),
        "may_correct": actions.can_correct_document(person, document),
        "may_trim": actions.can_trim_document(person, document),
        "may_revise": actions.can_revise_document(person, document),
        "correction": CorrectionForm.of(document),
        "trim": TrimForm(),
        **forms,
    }
    return render(request, "documents/document_detail.html", context, status=status)


def _shown(text: str, found: list[Finding]) -> list[Shown]:
    shown = []
    for number, finding in enumerate(found, 1):
        start = max(text.rfind("\n", 0, finding.start) + 1, finding.start - AROUND)
        line_end = text.find("\n", finding.end)
        end = min(line_end if line_end >= 0 else len(text), finding.end + AROUND)
        shown.append(
            Shown(
                number=number,
                finding=finding,
                before=text[start : finding.start].lstrip(),
                hit=text[finding.start : finding.end],
                after=text[finding.end : end].rstrip(),
                percent=100 * finding.start // len(text),
            )
        )
    return shown


def _address(version: DocumentVersion) -> str:
    address = reverse("documents:document_detail", args=[version.document_id])
    return address if version.document.latest_id == version.pk else f"{address}?version={version.number}"


@require_POST
def version_decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve or reject one version: `decision` is the button that was pressed."""
    version = get_object_or_404(DocumentVersion.objects.select_related("document__imported_by", "decided_by"), pk=pk)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _detail_page(request, version, form, status=400)
    person = person_of(request)
    try:
        if request.POST.get("decision") == "approve":
            actions.approve_version(version=version, by=person, note=form.cleaned_data["note"])
            messages.success(request, _("“%(title)s” is approved.") % {"title": version.document.title})
        else:
            actions.reject_version(version=version, by=person, **form.cleaned_data)
            messages.success(request, _("“%(title)s” is rejected.") % {"title": version.document.title})
    except Refused as refusal:
        refuse_into(form, refusal)
        version.refresh_from_db(fields=["state"])
        return _detail_page(request, version, form, status=refusal.status)
    return redirect(_address(version))


@require_POST
def document_correct(request: HttpRequest, pk: int) -> HttpResponse:
    document = get_object_or_404(Document.objects.select_related("imported_by"), pk=pk)
    form = CorrectionForm(request.POST)
    if form.is_valid():
        try:
            actions.correct_document(document=document, by=person_of(request), **form.cleaned_data)
        except Refused as refusal:
            refuse_into(form, refusal)
            status = refusal.status
        else:
            messages.success(request, _("Corrected."))
            return redirect("documents:document_detail", pk=pk)
    else:
        status = 400
    document.refresh_from_db()
    version = _version_asked_for(request, document)
    return _detail_page(request, version, DecisionForm(), status=status, correction=form, correcting=True)


@require_POST
def document_trim(request: HttpRequest, pk: int) -> HttpResponse:
    document = get_object_or_404(Document.objects.select_related("imported_by"), pk=pk)
    form = TrimForm(request.POST)
    status = 400
    if form.is_valid():
        try:
            version = actions.trim_document(document=document, by=person_of(request), **form.cleaned_data)
        except Refused as refusal:
            refuse_into(form, refusal)
            status = refusal.status
        else:
            messages.success(
                request, _("Version %(n)s has %(tokens)s tokens.") % {"n": version.number, "tokens": version.tokens}
            )
            return redirect("documents:document_detail", pk=pk)
    version = _version_asked_for(request, document)
    return _detail_page(request, version, DecisionForm(), status=status, trim=form, trimming=True)


@require_http_methods(["GET", "HEAD", "POST"])
def document_revise(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit the text: a new version, which goes back to compliance."""
    document = get_object_or_404(Document, pk=pk)
    person = person_of(request)
    if not actions.can_revise_document(person, document):
        raise NotAllowed(_("This is not for your role to do."))
    latest = _version_asked_for(request, document)
    status = 200
    if request.method == "POST":
        form = RevisionForm(request.POST)
        status = 400
        if form.is_valid():
            try:
                actions.revise_document(document=document, by=person, **form.cleaned_data)
            except Refused as refusal:
                refuse_into(form, refusal)
                status = refusal.status
            else:
                messages.success(request, _("The new text waits for compliance."))
                return redirect("documents:document_detail", pk=pk)
    else:
        form = RevisionForm(initial={"text": queries.text_of(latest), "based_on": latest.number})
    context = {"section": "documents", "document": document, "version": latest, "form": form}
    return render(request, "documents/document_revise.html", context, status=status)


@require_safe
def document_text(request: HttpRequest, pk: int) -> HttpResponseBase:
    version = get_object_or_404(DocumentVersion.objects.only("sha256"), pk=pk)
    return text_response(request, version)
