"""One document beside its findings, and the decision on it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.history import history_of
from core.models import BenchmarkSettings
from core.refusals import Refused
from core.viewing import person_of, refuse_into
from documents import actions, queries
from documents.findings import Finding, Kind, findings_in
from documents.forms import CorrectionForm, DecisionForm, TrimForm
from documents.intake import distance_in_words, normalisation_in_words, remark_in_words
from documents.models import Document, DocumentVersion
from documents.reading import reader_for
from documents.workflow import Flag, VersionState

SHOWN_FINDINGS = 300
AROUND = 60


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
    return detail_page(request, version_asked_for(request, document), DecisionForm())


def version_asked_for(request: HttpRequest, document: Document) -> DocumentVersion:
    versions = document.versions.select_related("decided_by", "made_by").order_by("-number")
    asked = request.GET.get("version", "")
    if asked:
        versions = versions.filter(number=int(asked) if asked.isdecimal() and len(asked) < 9 else 0)
    version = get_object_or_404(versions[:1])
    version.document = document
    return version


def detail_page(
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
        return detail_page(request, version, form, status=400)
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
        return detail_page(request, version, form, status=refusal.status)
    return redirect(_address(version))
