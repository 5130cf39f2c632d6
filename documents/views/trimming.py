"""Trimming: a beginning and an end are chosen among the text's own ends, and what remains is counted."""

import json
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from benchmark.lengths import Lengths
from core.models import BenchmarkSettings
from core.refusals import Invalid, Refused
from core.viewing import person_of
from documents import actions, queries
from documents.cutting import target_of
from documents.forms import TrimForm
from documents.models import DocumentVersion
from documents.stops import Stops, is_seam, kept, stops_in
from documents.tokenizing import count_tokens
from documents.views.opening import kind_asked_for, latest_for, opening, refuse_onto_newest
from documents.wording import distance_in_words

AROUND = 220


@dataclass(frozen=True)
class Remains:
    """What a choice would leave: counted exactly, and the words on both sides of both cuts."""

    start: int
    end: int
    tokens: int
    bucket: str
    distance: str
    dropped_before: str
    first_kept: str
    last_kept: str
    dropped_behind: str


def remains(text: str, start: int, end: int, lengths: Lengths) -> Remains:
    tokens = count_tokens(kept(text, start, end))
    bucket = lengths.bucket_of(tokens) or ""
    return Remains(
        start=start,
        end=end,
        tokens=tokens,
        bucket=bucket,
        distance="" if bucket else distance_in_words(tokens, lengths),
        dropped_before=_last(text, 0, start),
        first_kept=_first(text, start, end),
        last_kept=_last(text, start, end),
        dropped_behind=_first(text, end, len(text)),
    )


def _first(text: str, start: int, end: int) -> str:
    """The first paragraph behind `start`, or as much of it as is shown."""
    window = text[start : min(end, start + AROUND)].lstrip("\n")
    paragraph = window.split("\n\n", 1)[0].rstrip()
    return f"{paragraph} …" if paragraph == window.rstrip() and start + AROUND < end else paragraph


def _last(text: str, start: int, end: int) -> str:
    """The last paragraph before `end`, or as much of its end as is shown."""
    window = text[max(start, end - AROUND) : end].rstrip()
    paragraph = window.rsplit("\n\n", 1)[-1].lstrip("\n")
    return f"… {paragraph}" if paragraph == window and end - AROUND > start else paragraph


@require_http_methods(["GET", "HEAD", "POST"])
def document_trim(request: HttpRequest, pk: int) -> HttpResponse:
    latest = latest_for(request, pk, allowed=actions.can_trim_document)
    if request.method != "POST":
        return _page(request, latest, TrimForm(initial={"based_on": latest.number}))
    form = TrimForm(request.POST)
    status = 400
    if form.is_valid():
        try:
            version = actions.trim_document(document=latest.document, by=person_of(request), **form.values)
        except Refused as refusal:
            latest = refuse_onto_newest(latest, form, refusal)
            status = refusal.status
        else:
            messages.success(
                request,
                _("Version %(n)s has %(tokens)s tokens.") % {"n": version.number, "tokens": intcomma(version.tokens)},
            )
            return redirect("documents:document_detail", pk=pk)
    return _page(request, latest, form, status=status)


@require_safe
def document_trim_measure(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The exact count of one choice, for the page's script: `start` and `end` in code points."""
    latest = latest_for(request, pk, allowed=actions.can_trim_document)
    text = queries.text_of(latest)
    start, end = (whole_number(request.GET.get(name, ""), name, len(text)) for name in ("start", "end"))
    if start >= end or not is_seam(text, start) or not is_seam(text, end):
        raise Invalid({"end": _("The text cannot be cut there.")})
    return JsonResponse(remains(text, start, end, BenchmarkSettings.load().lengths).__dict__)


def whole_number(value: str, name: str, most: int) -> int:
    if not (value.isascii() and value.isdecimal() and len(value) < 10) or int(value) > most:
        raise Invalid({name: _("A whole number from 0 to %(n)s is expected.") % {"n": most}})
    return int(value)


def _page(request: HttpRequest, latest: DocumentVersion, form: TrimForm, *, status: int = 200) -> HttpResponse:
    text = queries.text_of(latest)
    lengths = BenchmarkSettings.load().lengths
    stops = stops_in(text, kind_asked_for(request))
    start, end = _chosen(request, form, stops, latest, lengths)
    begun = opening(latest, form, lengths)
    context = {
        **begun,
        "stops": stops,
        "start": start,
        "end": end,
        "end_before_last": stops.last - 1,
        "stops_json": json.dumps([stops.offsets, stops.tokens]),
        "buckets_json": json.dumps([[each.name, each.target, each.low, each.high] for each in begun["targets"]]),
        "remains": remains(text, stops.offsets[start], stops.offsets[end], lengths),
        "distance": "" if latest.bucket else distance_in_words(latest.tokens, lengths),
    }
    return render(request, "documents/document_trim.html", context, status=status)


def _chosen(
    request: HttpRequest, form: TrimForm, stops: Stops, latest: DocumentVersion, lengths: Lengths
) -> tuple[int, int]:
    """The stops that the address names: by the sliders, by tokens, or by a bucket; else a sensible first choice."""
    asked = request.GET
    if form.is_bound:
        start = form.cleaned_data.get("start") or 0 if hasattr(form, "cleaned_data") else 0
        end = form.cleaned_data.get("end") if hasattr(form, "cleaned_data") else None
        # The text may have become shorter than the one that was seen.
        first = min(stops.number_at(start), stops.last - 1)
        return first, max(first + 1, min(stops.number_at(end), stops.last) if end else stops.last)
    start = min(_stop(asked.get("first", ""), 0), stops.last - 1)
    tokens = _stop(asked.get("tokens", ""), 0)
    by = asked.get("by", "")
    if by == "tokens" and tokens:
        end = stops.within(start, tokens)
    elif by in lengths.names():
        end = nearest_to(stops, start, by, lengths)
    elif asked.get("last"):
        end = min(_stop(asked["last"], stops.last), stops.last)
    else:
        end = nearest_to(stops, start, _first_choice(latest, lengths), lengths)
    return start, max(start + 1, end)


def _stop(value: str, otherwise: int) -> int:
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else otherwise


def _first_choice(latest: DocumentVersion, lengths: Lengths) -> str:
    """The largest bucket whose target lies below a text without a bucket; nothing for a text that has one."""
    below = [name for name in lengths.names() if target_of(lengths, name) <= latest.tokens]
    return below[-1] if below and not latest.bucket else ""


def nearest_to(stops: Stops, start: int, bucket: str, lengths: Lengths) -> int:
    """The last stop up to the bucket's target; where that falls short of the bucket, the first stop inside it."""
    if not bucket:
        return stops.last
    low, high = lengths.range_of(bucket)
    end = stops.within(start, target_of(lengths, bucket))
    if stops.about(start, end) < low:
        inside = stops.holding(start, low, high)
        end = inside[0] if inside else end
    return end
