"""Joining: documents are put into an order, each gets its heading, and the whole is counted before it is made."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from core.models import BenchmarkSettings
from core.refusals import Invalid, NotAllowed, Refused
from core.viewing import person_of, refuse_into
from documents import actions, queries
from documents.cutting import heading, joined
from documents.filters import in_both_forms
from documents.forms import JoinForm
from documents.intake import MAX_BYTES
from documents.models import Document
from documents.tokenizing import count_tokens
from documents.views.correcting import chosen_documents, numbers_in
from documents.wording import distance_in_words

FOUND = 10
MOST = 201


@dataclass(frozen=True)
class Row:
    """One part: its document, and the heading it gets."""

    document: Document
    heading: str


@require_http_methods(["GET", "HEAD", "POST"])
def document_join(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    if not actions.can_join_documents(person):
        raise NotAllowed(_("This is not for your role to do."))
    if request.method != "POST":
        rows = [Row(document, document.title) for document in chosen_documents(request.GET)]
        return _page(request, rows, JoinForm(initial={"title": _title_of(rows)}))
    rows = _rows(request)
    deed, _colon, number = request.POST.get("do", "").partition(":")
    if deed == "count":
        return JsonResponse(_counted(rows))
    if deed != "join":
        return _rearranged(request, rows, deed, number)
    form = JoinForm(request.POST)
    status = 400
    if form.is_valid():
        try:
            version = actions.join_documents(
                documents=[row.document for row in rows],
                headings=[row.heading for row in rows],
                by=person,
                **form.cleaned_data,
            )
        except Refused as refusal:
            refuse_into(form, refusal)
            status = refusal.status
        else:
            messages.success(
                request, _("Joined: %(tokens)s tokens, waiting for compliance.") % {"tokens": intcomma(version.tokens)}
            )
            return redirect("documents:document_detail", pk=version.document_id)
    return _page(request, rows, form, status=status)


def _rows(request: HttpRequest) -> list[Row]:
    """The parts in the order they were sent in, each with the heading typed beside it."""
    ids, headings = request.POST.getlist("ids"), request.POST.getlist("headings")
    typed = dict(zip(ids, headings, strict=False))
    return [Row(document, typed.get(str(document.pk), document.title)) for document in chosen_documents(request.POST)]


def _rearranged(request: HttpRequest, rows: list[Row], deed: str, number: str) -> HttpResponse:
    """The same page with its parts in another order, one fewer or one more. What was typed stays."""
    at = next((place for place, row in enumerate(rows) if str(row.document.pk) == number), -1)
    found: list[Document] = []
    fault = ""
    if deed == "remove" and at >= 0:
        rows.pop(at)
    elif deed in {"up", "down"} and at >= 0:
        to = min(max(at + (1 if deed == "down" else -1), 0), len(rows) - 1)
        rows.insert(to, rows.pop(at))
    elif deed == "add":
        found, fault = _add(rows, number or request.POST.get("add", ""), rows[0].document.language if rows else "")
    initial = {name: request.POST.get(name, "") for name in JoinForm.base_fields}
    return _page(request, rows, JoinForm(initial=initial), found=found, fault=fault)


def _add(rows: list[Row], words: str, language: str) -> tuple[list[Document], str]:
    """Add the document with that number; for other words, offer the documents whose titles hold them."""
    words = words.strip()
    have = {row.document.pk for row in rows}
    documents = Document.objects.select_related("latest").exclude(pk__in=have)
    number = words.lower().removeprefix("d-").removeprefix("d")
    if number.isascii() and number.isdecimal() and len(number) < 10:
        document = documents.filter(pk=int(number)).first()
        if document is not None and len(rows) < MOST:
            rows.append(Row(document, document.title))
            return [], ""
        return [], _("There is no other document %s.") % number
    if not words or "\x00" in words:
        return [], _("Type a document’s number, or words of its title.")
    if language:
        documents = documents.filter(language=language)
    found = list(documents.filter(in_both_forms("title", words)).order_by("-id")[:FOUND])
    return found, "" if found else _("No title in this language holds these words.")


def _title_of(rows: list[Row]) -> str:
    return " + ".join(row.document.title for row in rows)[:300] if rows else ""


def _about(rows: list[Row]) -> int:
    headings = sum(count_tokens(heading(number, row.heading)) for number, row in enumerate(rows, 1))
    return headings + sum(row.document.latest.tokens for row in rows if row.document.latest)


def _counted(rows: list[Row]) -> dict[str, Any]:
    """Exactly how many tokens the whole would have."""
    if sum(row.document.latest.bytes for row in rows if row.document.latest) > MAX_BYTES:
        raise Invalid({"ids": _("Together these are larger than one text may be (16 MiB).")})
    texts = [(row.heading, queries.text_of(row.document.latest)) for row in rows if row.document.latest]
    lengths = BenchmarkSettings.load().lengths
    tokens = count_tokens(joined(texts)) if texts else 0
    bucket = lengths.bucket_of(tokens) or ""
    return {"tokens": tokens, "bucket": bucket, "distance": "" if bucket else distance_in_words(tokens, lengths)}


def _page(
    request: HttpRequest,
    rows: list[Row],
    form: JoinForm,
    *,
    status: int = 200,
    found: list[Document] | None = None,
    fault: str = "",
) -> HttpResponse:
    lengths = BenchmarkSettings.load().lengths
    about = _about(rows)
    refusal = ""
    try:
        actions.refuse_unjoinable([row.document for row in rows])
    except Invalid as error:
        refusal = str(error)
    context = {
        "section": "documents",
        "rows": rows,
        "form": form,
        "about": about,
        "bucket": lengths.bucket_of(about) or "",
        "distance": distance_in_words(about, lengths) if rows else "",
        "refusal": refusal,
        "facts": actions.joined_facts([row.document for row in rows], "") if rows else None,
        "found": found or [],
        "fault": fault,
        "missing": sorted(set(numbers_in(request.GET)) - {row.document.pk for row in rows}) if not request.POST else [],
    }
    fragment = "#parts" if request.headers.get("HX-Request") and status == 200 else ""
    return render(request, f"documents/document_join.html{fragment}", context, status=status)
