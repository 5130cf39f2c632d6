"""Many samples to drafting: what it would take, the lead's word, and how far it is."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import actions
from annotation.costing import plan_of
from annotation.filters import SampleFilter
from annotation.forms import DraftManyForm, page_language
from annotation.models import DraftingBatch
from annotation.queries import SampleQuerySet, drafting_batches, lines_of_batch, runs_of_batch, samples
from annotation.workflow import DraftingOutcome, SampleState
from core.models import User
from core.refusals import NotAllowed, RuleBroken
from core.viewing import person_of, refuse_into
from generation import overview

PER_PAGE = 50
# What the confirmation names one by one; the rest is counted.
NAMED = 100
GIVEN = {"ids", "all", *SampleFilter.base_filters}


def _lead(request: HttpRequest) -> User:
    person = person_of(request)
    if not actions.can_draft_samples(person):
        raise NotAllowed(_("Only a lead has samples drafted."))
    return person


def meant(given: QueryDict, request: HttpRequest) -> SampleQuerySet:
    """Those ticked, or every planned one that the filters leave."""
    if "all" in given:
        narrowed: Any = SampleFilter(given, queryset=samples(), request=request).qs
        return narrowed if given.get("state") else narrowed.filter(state=SampleState.PLANNED)
    return samples().filter(pk__in=[pk for pk in given.getlist("ids") if pk.isdecimal()])


@require_http_methods(["GET", "POST"])
def samples_draft(request: HttpRequest) -> HttpResponse:
    lead, given = _lead(request), request.POST if request.method == "POST" else request.GET
    chosen = meant(given, request)
    form = DraftManyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            batch = actions.draft_samples(samples=chosen, by=lead, **form.cleaned_data)
        except RuleBroken as refusal:
            refuse_into(form, refusal)
        else:
            count = batch.lines.count()
            words = ngettext("%(n)s sample goes to drafting.", "%(n)s samples go to drafting.", count)
            messages.success(request, words % {"n": count})
            return redirect("annotation:drafting_detail", batch.pk)
    plan, purse = plan_of(chosen), overview.purse()
    context = {
        "section": "samples",
        "plan": plan,
        "named": plan.samples[:NAMED],
        "left": plan.left[:NAMED],
        "purse": purse,
        "is_over": purse.left is not None and plan.usd > purse.left,
        "given": [(name, value) for name in given for value in given.getlist(name) if name in GIVEN],
        "language": page_language(),
        "form": form,
    }
    return render(request, "annotation/samples_draft.html", context, status=400 if form.errors else 200)


@require_GET
def drafting_list(request: HttpRequest) -> HttpResponse:
    _lead(request)
    page = Paginator(drafting_batches(), PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "annotation/drafting_list.html", {"section": "samples", "page_obj": page})


@require_GET
def drafting_detail(request: HttpRequest, pk: int) -> HttpResponse:
    lead = _lead(request)
    batch = get_object_or_404(drafting_batches(), pk=pk)
    outcome = request.GET.get("outcome", "")
    lines = lines_of_batch(batch)
    page = Paginator(lines.filter(outcome=outcome) if outcome else lines, PER_PAGE).get_page(request.GET.get("page"))
    counted = overview.sum_of(runs_of_batch(batch))
    context = {
        "section": "samples",
        "batch": batch,
        "page_obj": page,
        "outcome": outcome,
        "outcomes": [(choice, getattr(batch, choice.value), TONES[choice]) for choice in DraftingOutcome],
        "counted": counted,
        "under_way": batch.finished_at is None or counted.open > 0,
        "can_cancel": actions.can_cancel_drafting(lead, batch),
        "language": page_language(),
    }
    part = (
        "annotation/drafting_detail.html#batch" if getattr(request, "htmx", None) else "annotation/drafting_detail.html"
    )
    return render(request, part, context)


TONES = {
    DraftingOutcome.WAITING: "idle",
    DraftingOutcome.STARTED: "pass",
    DraftingOutcome.REFUSED: "fail",
    DraftingOutcome.CANCELLED: "idle",
}


@require_POST
def drafting_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    batch = get_object_or_404(DraftingBatch, pk=pk)
    stopped = actions.cancel_drafting(batch=batch, by=_lead(request))
    words = ngettext("%(n)s sample is not started.", "%(n)s samples are not started.", stopped)
    messages.success(request, words % {"n": stopped})
    return redirect("annotation:drafting_detail", pk)
