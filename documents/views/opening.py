"""What the pages that trim and cut begin with: the newest text, where it may be cut, and the buckets."""

from dataclasses import dataclass
from typing import Any

from django.forms import Form
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from benchmark.lengths import Lengths
from core.refusals import Invalid, NotAllowed, Refused
from core.viewing import person_of, refuse_into
from documents.cutting import target_of
from documents.models import Document, DocumentVersion
from documents.reading import LANG
from documents.stops import Kind

STALE = "stale_version"


@dataclass(frozen=True)
class Target:
    """One bucket as a button: what it aims at, what belongs to it, and whether the text reaches it."""

    name: str
    target: int
    low: int
    high: int
    reached: bool


def targets_for(tokens: int, lengths: Lengths) -> list[Target]:
    return [
        Target(name, target_of(lengths, name), *lengths.range_of(name), lengths.range_of(name)[0] <= tokens)
        for name in lengths.names()
    ]


def kind_asked_for(request: HttpRequest) -> str:
    asked = request.GET.get("at", "")
    return asked if asked in Kind.values else ""


def latest_for(request: HttpRequest, pk: int, *, allowed: Any) -> DocumentVersion:
    document = get_object_or_404(Document.objects.select_related("latest"), pk=pk)
    if not allowed(person_of(request), document):
        raise NotAllowed(_("This is not for your role to do."))
    latest = document.latest
    if latest is None:
        raise Invalid({"document": _("This document has no text.")})
    latest.document = document
    return latest


def refuse_onto_newest(latest: DocumentVersion, form: Form, refusal: Refused) -> DocumentVersion:
    """What is wrong goes into the form. Where the text is no longer the one that was seen, the page shows the newest,
    and the next attempt is made on that."""
    if refusal.rule != STALE:
        refuse_into(form, refusal)
        return latest
    form.add_error(
        None, _("The text changed while you looked. The newest is shown here now: look where it is cut, then save.")
    )
    document = Document.objects.select_related("latest").get(pk=latest.document_id)
    newest = document.latest or latest
    newest.document = document
    return newest


def opening(latest: DocumentVersion, form: Form, lengths: Lengths) -> dict[str, Any]:
    """What both pages' templates are given."""
    return {
        "section": "documents",
        "document": latest.document,
        "version": latest,
        "lang": LANG.get(latest.document.language, "en"),
        "form": form,
        "kinds": list(Kind),
        "targets": targets_for(latest.tokens, lengths),
    }
