"""The work list of every role, progress, the benchmark's figures."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.models import Sample
from benchmark.taxonomy import SECONDARY_TASKS, Language
from core import history
from core.models import BenchmarkSettings, User
from core.refusals import Invalid, NotAllowed
from core.viewing import csv_response, person_of, refuse_into
from generation import overview
from leading import actions, costs, listings, queries, story, wording, worklist
from leading.forms import FiguresForm


def lead(request: HttpRequest) -> User:
    person = person_of(request)
    if not actions.can_lead(person):
        raise NotAllowed(_("This page is for leads."))
    return person


@require_GET
def work(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    groups = worklist.groups_for(person)
    context: dict[str, Any] = {
        "section": "work",
        "groups": groups,
        "count": sum(group.count for group in groups),
        "came_back": worklist.came_back(groups),
        "next_url": worklist.next_url(groups),
        "last_done": [wording.line(event) for event in history.done_by(person)[:8]],
    }
    if person.does_stage_work:
        context["figures"] = worklist.figures_of(person)
    if person.is_lead:
        context |= {"waiting": queries.waiting_for_leads(), "funnel": queries.funnel(), "cost": queries.cost()}
    return render(request, "leading/work.html", context)


SHOWN = 50


@require_GET
def cost_list(request: HttpRequest) -> HttpResponseBase:
    """What calls cost, by model, stage, sample and day; each as a table and, whole, as a file."""
    lead(request)
    wanted = request.GET.get("csv", "")
    if wanted in costs.BY:
        return csv_response(listings.call_cost_lines(wanted, costs.BY[wanted]()), f"costs-by-{wanted}.csv")
    sums = costs.together()
    found = {"model": sums.by_model, "stage": sums.by_stage, "day": costs.by_day(), "sample": costs.by_sample()}
    tables = [Costs(name, rows[:SHOWN], len(rows)) for name, rows in found.items()]
    context = {
        "section": "runs",
        "tables": tables,
        "total": sums.total,
        "trials": costs.trials(),
        "purse": overview.purse(),
    }
    return render(request, "leading/costs.html", context)


@dataclass(frozen=True)
class Costs:
    """One table of the page: its first rows, and how many there are."""

    name: str
    rows: list[costs.CostRow]
    count: int


@require_GET
def sample_story(request: HttpRequest, pk: int) -> HttpResponse:
    """A sample from its document to now, by day; `stage` narrows it."""
    sample = get_object_or_404(Sample.objects.select_related("document", "document_version", "annotator"), pk=pk)
    lines = story.story_of(sample, person_of(request))
    stage = request.GET.get("stage", "")
    counts = Counter(line.stage for line in lines)
    context = {
        "section": "samples",
        "sample": sample,
        "days": story.days_of(line for line in lines if stage not in story.Stage.values or line.stage == stage),
        "stages": [(one, counts[one]) for one in story.Stage if counts[one]],
        "stage": stage if stage in story.Stage.values else "",
        "count": len(lines),
    }
    return render(request, "leading/sample_story.html", context)


@require_http_methods(["GET", "POST"])
def figures(request: HttpRequest) -> HttpResponse:
    person = lead(request)
    settings = BenchmarkSettings.load()
    initial = {name: getattr(settings, name) for name in actions.FIGURES}
    form = FiguresForm(request.POST or None, initial=initial)
    status = 200
    if request.method == "POST":
        if form.is_valid():
            try:
                actions.change_settings(by=person, **form.cleaned_data)
            except Invalid as refusal:
                refuse_into(form, refusal)
            else:
                messages.success(request, _("The figures are saved."))
                return redirect("leading:figures")
        status = 400
    context = {
        "section": "progress",
        "form": form,
        "settings": settings,
        "total": settings.samples_per_cell * len(SECONDARY_TASKS) * len(Language) * len(settings.targets),
    }
    return render(request, "leading/figures.html", context, status=status)
