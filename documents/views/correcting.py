"""Correcting the same facts of many documents at once."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from core.refusals import NotAllowed, Refused
from core.viewing import person_of, refuse_into
from documents import actions
from documents.filters import known
from documents.forms import BulkCorrectionForm
from documents.models import Document

MOST = 1000


def numbers_in(query: QueryDict) -> list[int]:
    """The document numbers named as `ids`, repeated or with commas, each once and in their order."""
    words = ",".join(query.getlist("ids")).split(",")
    numbers = [int(word) for word in words if word.isascii() and word.isdecimal() and len(word) < 10]
    return list(dict.fromkeys(numbers))[:MOST]


def chosen_documents(query: QueryDict) -> list[Document]:
    """Those that exist, in the order they were named."""
    numbers = numbers_in(query)
    found = Document.objects.select_related("latest").in_bulk(numbers)
    return [found[number] for number in numbers if number in found]


@require_http_methods(["GET", "HEAD", "POST"])
def document_correct_many(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    if not actions.can_correct_documents(person):
        raise NotAllowed(_("This is not for your role to do."))
    if request.method != "POST":
        return _page(request, chosen_documents(request.GET), BulkCorrectionForm())
    documents = chosen_documents(request.POST)
    form = BulkCorrectionForm(request.POST)
    status = 400
    if form.is_valid():
        try:
            changed = actions.correct_documents(
                documents=documents, versions=_versions(request.POST), by=person, **form.facts
            )
        except Refused as refusal:
            refuse_into(form, refusal)
            status = refusal.status
        else:
            words = ngettext("%(n)s document corrected.", "%(n)s documents corrected.", changed) % {"n": changed}
            messages.success(request, words)
            return redirect("documents:document_list")
    return _page(request, documents, form, status=status)


def _versions(posted: QueryDict) -> dict[int, int]:
    """What each document's facts were counted as when the form was shown: `versions` are written 12:3."""
    pairs = [pair.split(":") for pair in posted.getlist("versions")]
    return {int(pair[0]): int(pair[1]) for pair in pairs if len(pair) == 2 and all(map(_is_number, pair))}


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 10


def _page(
    request: HttpRequest, documents: list[Document], form: BulkCorrectionForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "section": "documents",
        "documents": documents,
        "form": form,
        "domains": [value for value, _label in known("domain")],
        "formats": [value for value, _label in known("format")],
    }
    return render(request, "documents/document_correct_many.html", context, status=status)
