"""One document beside its findings, and the decision on it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from core.models import BenchmarkSettings, Event, User
from core.refusals import Refused
from core.viewing import person_of, refuse_into
from documents import actions, queries
from documents.clearing import forget_looking, note_looking, queue_at
from documents.comparing import compare
from documents.forms import CorrectionForm, DecisionForm
from documents.models import Document, DocumentVersion
from documents.reading import reader_for
from documents.views.findings import listing_of
from documents.wording import distance_in_words, normalisation_in_words, remark_in_words
from documents.workflow import Flag, Origin, VersionState

# The list of findings says these itself, with their places.
SAID_BY_FINDINGS = frozenset({"bidi", "invisible", "personal_data"})
SHOWN_EVENTS = 50


@dataclass(frozen=True)
class Line:
    """What happened to one version, in words."""

    at: datetime
    by: User | None
    version: int
    what: str
    flags: tuple[str, ...]
    reason: str


@require_safe
def document_detail(request: HttpRequest, pk: int) -> HttpResponse:
    document = get_object_or_404(Document.objects.select_related("imported_by"), pk=pk)
    version = version_asked_for(request, document)
    response = detail_page(request, version, DecisionForm())
    if version.state == VersionState.PENDING and document.latest_id == version.pk:
        note_looking(version, person_of(request))
    return response


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
    versions = list(document.versions.select_related("made_by", "decided_by").order_by("-number"))
    lengths = BenchmarkSettings.load().lengths
    context = {
        "section": "documents",
        "document": document,
        "version": version,
        "versions": versions,
        "is_latest": version.number == versions[0].number,
        "approved_before": _approved_before(version, versions),
        "reader": reader_for(version),
        "listing": listing_of(request, version),
        "remarks": [remark_in_words(one) for one in version.remarks if one.get("rule") not in SAID_BY_FINDINGS],
        "sharing": [near for one in version.remarks for near in one.get("documents", [])],
        "normalisation": normalisation_in_words(version.normalisation),
        "distance": "" if version.bucket else distance_in_words(version.tokens, lengths),
        "history": _history(document, versions),
        "flags": [Flag(flag).label for flag in version.flags],
        "decision": decision,
        "queue": queue_at(document, person),
        "may_approve": version.state != VersionState.APPROVED and actions.can_approve_version(person, version),
        "may_reject": version.state != VersionState.REJECTED and actions.can_reject_version(person, version),
        "may_correct": actions.can_correct_document(person, document),
        "may_trim": actions.can_trim_document(person, document),
        "may_revise": actions.can_revise_document(person, document),
        "correction": CorrectionForm.of(document),
        **forms,
    }
    return render(request, "documents/document_detail.html", context, status=status)


def _approved_before(version: DocumentVersion, versions: list[DocumentVersion]) -> int | None:
    """The number of the text that was approved before this one changed it, while this one waits."""
    if version.state != VersionState.PENDING:
        return None
    return next((one.number for one in versions if one.number < version.number and one.is_approved), None)


def _history(document: Document, versions: list[DocumentVersion]) -> list[Line]:
    numbers = {version.pk: version.number for version in versions}
    return [
        Line(
            at=event.at,
            by=event.by,
            version=numbers.get(event.subject_id, 0),
            what=_in_words(event),
            flags=tuple(str(Flag(flag).label) for flag in event.data.get("flags", ()) if flag in Flag.values),
            reason=event.reason,
        )
        for event in queries.events_of_versions(document)[:SHOWN_EVENTS]
    ]


def _in_words(event: Event) -> str:
    verb = event.action.partition(".")[2]
    if verb == "approve":
        return _("approved it")
    if verb == "reject":
        return _("withdrew the approval") if event.from_state == VersionState.APPROVED else _("rejected it")
    if verb == "rebucket":
        return _("it went into another bucket")
    origin = verb.removeprefix("make_version_by_")
    return str(Origin(origin).label) if origin in Origin.values else verb


def _address(version: DocumentVersion) -> str:
    address = reverse("documents:document_detail", args=[version.document_id])
    return address if version.document.latest_id == version.pk else f"{address}?version={version.number}"


@require_http_methods(["GET", "HEAD", "POST"])
def version_decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve or reject one version: `decision` is the button that was pressed. From the queue it goes on to the
    next document that waits."""
    version = get_object_or_404(DocumentVersion.objects.select_related("document__imported_by", "decided_by"), pk=pk)
    if request.method != "POST":  # a refused decision stands at this address: reloaded, or after a new log-in
        return redirect(_address(version))
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return detail_page(request, version, form, status=400)
    waited = version.state == VersionState.PENDING
    try:
        _decide(request, version, form)
    except Refused as refusal:
        refuse_into(form, refusal)
        version = DocumentVersion.objects.select_related("document__imported_by", "decided_by").get(pk=pk)
        return detail_page(request, version, form, status=refusal.status)
    forget_looking(version)
    return redirect(_onwards(request, version) if waited else _address(version))


def _decide(request: HttpRequest, version: DocumentVersion, form: DecisionForm) -> None:
    person, note = person_of(request), form.cleaned_data["note"]
    title = {"title": version.document.title}
    if request.POST.get("decision") == "approve":
        actions.approve_version(version=version, by=person, note=note, seen=form.seen)
        messages.success(request, _("“%(title)s” is approved.") % title)
    else:
        flags = form.cleaned_data["flags"]
        actions.reject_version(version=version, by=person, flags=flags, note=note, seen=form.seen)
        messages.success(request, _("“%(title)s” is rejected.") % title)


def _onwards(request: HttpRequest, version: DocumentVersion) -> str:
    next_up = queue_at(version.document, person_of(request)).next_up
    if next_up is None:
        messages.success(request, _("No other document waits for compliance."))
        return _address(version)
    return reverse("documents:document_detail", args=[next_up.pk])


@require_safe
def document_changes(request: HttpRequest, pk: int) -> HttpResponse:
    """What changed between two texts of one document; without numbers, between the latest and the one before."""
    document = get_object_or_404(Document, pk=pk)
    versions = {version.number: version for version in document.versions.order_by("number")}
    new = _number(request.GET.get("to", ""), max(versions))
    old = _number(request.GET.get("from", ""), new - 1)
    pair = [get_object_or_404(document.versions, number=number) for number in (old, new)]
    context = {
        "section": "documents",
        "document": document,
        "old": pair[0],
        "new": pair[1],
        "comparison": compare(queries.text_of(pair[0]), queries.text_of(pair[1])),
    }
    return render(request, "documents/document_changes.html", context)


def _number(asked: str, otherwise: int) -> int:
    return int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 9 else otherwise
