"""The work list of every role, progress, the benchmark's figures."""

import csv
from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.models import Sample
from benchmark.taxonomy import SECONDARY_TASKS, Language
from core import history
from core.models import BenchmarkSettings, User
from core.refusals import Invalid, NotAllowed
from core.spreadsheet import safe_cell
from core.viewing import person_of, refuse_into
from generation import overview
from leading import actions, costs, queries, story, wording, worklist
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


def _grid(cells: list[queries.Cell]) -> list[dict[str, Any]]:
    """The cells as rows of the table: one row per task, its cells in the order of the columns."""
    width = len(cells) // len(SECONDARY_TASKS)
    rows = []
    for position, task in enumerate(SECONDARY_TASKS):
        row = cells[position * width : (position + 1) * width]
        half = len(row) // len(Language)
        parts = [row[start : start + half] for start in range(0, len(row), half)]
        rows.append({"task": task, "parts": parts, "done": sum(cell.done for cell in row)})
    return rows


@require_GET
def progress(request: HttpRequest) -> HttpResponse:
    lead(request)
    cells = queries.cells()
    if request.GET.get("format") == "csv":
        return _cells_csv(cells)
    stages = queries.funnel()
    context = {
        "section": "progress",
        "rows": _grid(cells),
        "buckets": BenchmarkSettings.load().lengths.names(),
        "languages": list(Language),
        "done": sum(cell.done for cell in cells),
        "target": sum(cell.target for cell in cells),
        "full": sum(1 for cell in cells if not cell.missing),
        "empty": sum(1 for cell in cells if not cell.done),
        "count": len(cells),
        # A grid that is nearly all empty would be one field of the strongest colour and point nowhere.
        "calm": sum(1 for cell in cells if not cell.done) * 3 > len(cells),
        "funnel": stages,
        "largest": max((stage.count for stage in stages), default=0) or 1,
        "cost": queries.cost(),
        "waiting": queries.waiting_for_leads(),
        "shortest": list(queries.shortest_cells(8)),
    }
    return render(request, "leading/progress.html", context)


def _cells_csv(cells: list[queries.Cell]) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="progress.csv"'
    response.write("\ufeff")  # Excel reads UTF-8 only with this mark
    writer = csv.writer(response)
    writer.writerow(["secondary_task", "language", "bucket", "target", "accepted", "under_way"])
    for cell in cells:
        row = [cell.task.name, cell.language, cell.bucket, cell.target, cell.done, cell.under_way]
        writer.writerow([safe_cell(value) for value in row])
    return response


SHOWN = 50


@require_GET
def cost_list(request: HttpRequest) -> HttpResponse:
    """What calls cost, by model, stage, sample and day; each as a table and, whole, as a file."""
    lead(request)
    wanted = request.GET.get("csv", "")
    if wanted in costs.BY:
        return _costs_csv(wanted, costs.BY[wanted]())
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


COLUMNS = (
    *("calls", "answered", "tokens_in", "tokens_out", "spent", "unpriced", "again", "expected", "unforeseen"),
    *("difference", "difference_once"),
)
# Sums of which nothing is known are empty cells, never zero.
UNKNOWN_WITH = {"spent": "unpriced", "expected": "unforeseen"}


def _costs_csv(name: str, rows: list[costs.CostRow]) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="costs-by-{name}.csv"'
    response.write("\ufeff")  # Excel reads UTF-8 only with this mark
    writer = csv.writer(response)
    units = {
        "spent": "spent_usd",
        "expected": "expected_usd",
        "again": "paid_again",
        "difference": "difference_percent",
        "difference_once": "difference_to_one_attempt_percent",
    }
    writer.writerow([name, *(units.get(column, column) for column in COLUMNS)])
    for row in rows:
        writer.writerow([safe_cell(value) for value in (row.label or row.key, *(_cell(row, one) for one in COLUMNS))])
    return response


def _cell(row: costs.CostRow, column: str) -> Any:
    value = getattr(row, column)
    if value is None or (not value and column in UNKNOWN_WITH and getattr(row, UNKNOWN_WITH[column])):
        return ""
    return round(value, 2) if column in {"difference", "difference_once"} else value


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
