"""Cutting a long text into parts: they are proposed and looked at before anything is made."""

from collections import Counter
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from benchmark.lengths import Lengths
from core.models import BenchmarkSettings
from core.refusals import Refused
from core.viewing import person_of
from documents import actions, queries
from documents.cutting import MOST_PARTS, Part, target_of
from documents.forms import CutForm
from documents.models import DocumentVersion
from documents.stops import coarsest_kind, first_line, is_heading
from documents.views.opening import kind_asked_for, latest_for, opening, refuse_onto_newest
from documents.wording import distance_in_words


@dataclass(frozen=True)
class Proposed:
    """One part as the page shows it."""

    number: int
    part: Part
    first_line: str
    at_heading: bool
    distance: str
    chosen: bool

    @property
    def value(self) -> str:
        return f"{self.part.start}-{self.part.end}"


@require_http_methods(["GET", "HEAD", "POST"])
def document_cut(request: HttpRequest, pk: int) -> HttpResponse:
    latest = latest_for(request, pk, allowed=actions.can_cut_document)
    if request.method != "POST":
        return _page(request, latest, CutForm(initial={"based_on": latest.number}))
    form = CutForm(request.POST)
    status = 400
    if form.is_valid():
        try:
            made = actions.cut_document(document=latest.document, by=person_of(request), **form.cleaned_data)
        except Refused as refusal:
            latest = refuse_onto_newest(latest, form, refusal)
            status = refusal.status
        else:
            words = ngettext("%(n)s document was made of it.", "%(n)s documents were made of it.", len(made))
            messages.success(request, words % {"n": len(made)})
            return redirect("documents:document_detail", pk=made[0].document_id)
    return _page(request, latest, form, status=status)


def _page(request: HttpRequest, latest: DocumentVersion, form: CutForm, *, status: int = 200) -> HttpResponse:
    text = queries.text_of(latest)
    lengths = BenchmarkSettings.load().lengths
    bucket, number = _asked_for(request, latest, lengths)
    kind = kind_asked_for(request)
    parts = actions.propose_parts(text, bucket=bucket, number=number, kind=kind)
    chosen = request.POST.getlist("spans") if form.is_bound else None
    proposed = [_proposed(text, at, part, lengths, chosen, bool(bucket)) for at, part in enumerate(parts, 1)]
    buckets = Counter(part.bucket for part in parts)
    context = {
        **opening(latest, form, lengths),
        "parts": proposed,
        "bucket": bucket,
        "number": number or len(parts),
        "most_parts": MOST_PARTS,
        "at": kind or coarsest_kind(text),
        "without": sum(part.tokens for part in parts if not part.bucket),
        "counts": [(name, buckets[name]) for name in lengths.names() if buckets[name]],
        "example": actions.part_title(latest.document, 1, max(2, len(parts))),
    }
    return render(request, "documents/document_cut.html", context, status=status)


def _asked_for(request: HttpRequest, latest: DocumentVersion, lengths: Lengths) -> tuple[str, int | None]:
    """A bucket or a number of parts; else the largest bucket that the text fills at least twice."""
    number = request.GET.get("parts", "")
    if request.GET.get("by") == "parts" and number.isascii() and number.isdecimal() and len(number) < 5:
        return "", min(max(int(number), 2), MOST_PARTS)
    if request.GET.get("by") in lengths.names():
        return str(request.GET["by"]), None
    filled = [name for name in lengths.names() if 2 * target_of(lengths, name) <= latest.tokens * 1.1]
    return (filled[-1], None) if filled else ("", 2)


def _proposed(
    text: str, number: int, part: Part, lengths: Lengths, chosen: list[str] | None, by_bucket: bool
) -> Proposed:
    """At first every part that has a bucket is chosen; with a number of parts, every one."""
    value = f"{part.start}-{part.end}"
    return Proposed(
        number=number,
        part=part,
        first_line=first_line(text, part.start),
        at_heading=is_heading(text, part.start),
        distance="" if part.bucket else distance_in_words(part.tokens, lengths),
        chosen=bool(part.bucket) or not by_bucket if chosen is None else value in chosen,
    )
