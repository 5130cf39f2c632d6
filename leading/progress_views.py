"""How far the benchmark is, how fast it goes, what became of the work; and the plan, with what to make next."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.workflow import SampleState
from benchmark.taxonomy import SECONDARY_TASKS, Language, SecondaryTask
from core.models import BenchmarkSettings
from core.refusals import Invalid
from core.viewing import csv_response
from leading import actions, effort, listings, outcomes, pace, planning, plots, queries
from leading.forms import DueForm, TargetsForm, WishForm
from leading.queries import Cell, CellKey
from leading.views import lead

Lines = Iterator[str]


def _file(request: HttpRequest, files: Mapping[str, Callable[[], Lines]]) -> HttpResponseBase | None:
    """The file that the address asks for, if this page has it."""
    wanted = request.GET.get("csv", "")
    if wanted not in files:
        return None
    return csv_response(files[wanted](), f"{wanted}.csv")


# The grid --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Square:
    """One cell as the grid shows it: `count` is what is asked for, `tone` its colour, `query` narrows the list of
    samples to what is counted."""

    cell: Cell
    count: int
    tone: str
    query: str

    @property
    def words(self) -> str:
        """All that the cell holds, for who points at it."""
        cell = self.cell
        words = _("%(done)s of %(target)s accepted, %(way)s under way, %(plan)s to plan") % {
            "done": cell.done,
            "target": cell.target,
            "way": cell.under_way,
            "plan": cell.unplanned,
        }
        if cell.blocked:
            words += _(", %(n)s blocked") % {"n": cell.blocked}
        if cell.exhausted:
            words += _(", %(n)s exhausted") % {"n": cell.exhausted}
        return words


@dataclass(frozen=True)
class TaskRow:
    task: SecondaryTask
    parts: list[list[Square]]

    @property
    def sum(self) -> int:
        return sum(square.count for part in self.parts for square in part)


@dataclass(frozen=True)
class Measure:
    """What the grid can count. `filters` narrows the list of samples to the same samples. Those that stand for progress
    are coloured by how far the cell is; of the others the colour says only that there are some."""

    name: str
    label: Any
    of: Callable[[Cell], int]
    filters: Mapping[str, str]
    is_progress: bool = False


def _in_state(state: SampleState) -> Measure:
    return Measure(state.value, state.label, lambda cell: cell.states.get(state, 0), {"state": state.value})


def _measures() -> dict[str, Measure]:
    measures = [
        Measure("held", gettext_lazy("accepted or under way"), lambda cell: cell.held, {"live": "true"}, True),
        Measure("accepted", gettext_lazy("accepted"), lambda cell: cell.done, {"state": "accepted"}, True),
        Measure("under_way", gettext_lazy("under way"), lambda cell: cell.under_way, {"under_way": "true"}),
        *(_in_state(SampleState(state)) for state in queries.STAGE_ORDER if state != SampleState.ACCEPTED),
        Measure("blocked", gettext_lazy("blocked"), lambda cell: cell.blocked, {"blocked": "true"}),
    ]
    return {measure.name: measure for measure in measures}


MEASURES = _measures()
SUMS = ("held", "accepted", "under_way", "blocked")


def _square(cell: Cell, measure: Measure) -> Square:
    count = measure.of(cell)
    fill = f"f{queries.fill_of(count, cell.target)}"
    where = {"secondary_task": cell.task.code, "language": cell.language, "bucket": cell.bucket}
    tone = fill if measure.is_progress else "some" if count else "none"
    return Square(cell, count, tone, urlencode({**where, **measure.filters}))


def _rows(cells: Sequence[Cell], measure: Measure) -> list[TaskRow]:
    """One row per task, its cells in the order of the columns, language by language."""
    width = len(cells) // len(SECONDARY_TASKS)
    half = width // len(Language)
    rows = []
    for position, task in enumerate(SECONDARY_TASKS):
        row = [_square(cell, measure) for cell in cells[position * width : (position + 1) * width]]
        rows.append(TaskRow(task, [row[start : start + half] for start in range(0, width, half)]))
    return rows


def _grid(cells: Sequence[Cell], measure: Measure) -> dict[str, Any]:
    rows = _rows(cells, measure)
    columns = [
        [sum(squares) for squares in zip(*([square.count for square in row.parts[half]] for row in rows), strict=True)]
        for half in range(len(Language))
    ]
    empty = sum(1 for row in rows for part in row.parts for square in part if square.tone == "f0")
    return {
        "rows": rows,
        "columns": columns,
        "buckets": BenchmarkSettings.load().lengths.names(),
        "languages": list(Language),
        "measure": measure,
        "sum": sum(row.sum for row in rows),
        # A grid that is nearly all empty would be one field of the strongest colour and point nowhere.
        "calm": empty * 3 > len(cells),
    }


# Progress --------------------------------------------------------------------------------------------------------


@require_GET
def progress(request: HttpRequest) -> HttpResponseBase:
    lead(request)
    files: dict[str, Callable[[], Lines]] = {
        "progress": lambda: listings.cell_lines(queries.cells()),
        "stages": lambda: listings.stage_lines(queries.funnel()),
        "forecast": lambda: listings.forecast_lines(pace.forecast(queries.cells())),
        "costs-per-sample": lambda: listings.cost_lines(queries.cost(), pace.accepted_here().count()),
    }
    if request.GET.get("format") == "csv":
        return csv_response(files["progress"](), "progress.csv")
    if file := _file(request, files):
        return file
    grid, stages = queries.grid(), queries.funnel()
    expected, cost = pace.forecast(grid.cells), queries.cost()
    cells, due = grid.cells, DueForm(request.GET or None)
    by = due.cleaned_data["by"] if due.is_bound and due.is_valid() else None
    context = {
        "section": "progress",
        "tab": "progress",
        **_grid(cells, MEASURES["accepted"]),
        "done": sum(cell.done for cell in cells),
        "target": sum(cell.target for cell in cells),
        "full": sum(1 for cell in cells if not cell.missing),
        "empty": sum(1 for cell in cells if not cell.done),
        "count": len(cells),
        "outside": grid.outside.total(),
        "funnel": stages,
        "largest": max((stage.count for stage in stages if stage.is_waiting), default=0) or 1,
        "unlabelled": queries.accepted_without_label().count(),
        "expected": expected,
        "curve": plots.curve_of(expected),
        "by": by,
        "due": pace.due(by, expected) if by else None,
        "due_form": due,
        "cost": cost,
        "each": cost.per_sample(expected.accepted_here),
        "dearest": max((stage.usd for stage in cost.stages), default=0) or 1,
        "shortest": list(queries.shortest_cells(cells, 8)),
    }
    return render(request, "leading/progress.html", context)


@dataclass(frozen=True)
class KindRow:
    """One kind of work: how much a day, as bars."""

    kind: pace.Work
    bars: str
    largest: int
    last_week: int
    total: int


@require_GET
def progress_work(request: HttpRequest) -> HttpResponseBase:
    """How much is done a day, and by whom; how long it takes."""
    lead(request)
    asked = request.GET.get("days", "")
    span = int(asked) if asked in {str(span) for span in pace.SPANS} else pace.SPAN
    files: dict[str, Callable[[], Lines]] = {
        "throughput": lambda: listings.day_lines(pace.throughput(span)),
        "people": lambda: listings.person_lines(pace.throughput(span)),
        "active-time": lambda: listings.time_lines(effort.effort()),
    }
    if file := _file(request, files):
        return file
    done, times = pace.throughput(span), effort.effort()
    context = {
        "section": "progress",
        "tab": "work",
        "span": span,
        "spans": pace.SPANS,
        "done": done,
        "kinds": [_kind_row(done, kind) for kind in pace.Work],
        "kinds_of_people": pace.BY_PEOPLE,
        "most": max((person.total for person in done.people), default=0) or 1,
        "by_day": [(day, [done.by_day[kind][at] for kind in pace.Work]) for at, day in enumerate(done.days)][::-1],
        "times": times,
        "longest": times.longest or 1,
    }
    return render(request, "leading/progress_work.html", context)


def _kind_row(done: pace.Throughput, kind: pace.Work) -> KindRow:
    counts = done.by_day[kind]
    largest = max(counts)
    return KindRow(kind, plots.bars(counts, largest), largest, done.last_week(kind), done.total(kind))


@require_GET
def progress_outcomes(request: HttpRequest) -> HttpResponseBase:
    """What experts sent back, what was reconstructed, whose candidates were chosen."""
    lead(request)
    files: dict[str, Callable[[], Lines]] = {
        "outcomes-by-person": lambda: listings.rate_lines("person", outcomes.outcomes().by_person),
        "outcomes-by-model": lambda: listings.rate_lines("model", outcomes.outcomes().by_model),
        "outcomes-by-task": lambda: listings.rate_lines("secondary_task", outcomes.outcomes().by_task),
        "chosen": lambda: listings.chosen_lines(outcomes.chosen()),
    }
    if file := _file(request, files):
        return file
    found = outcomes.outcomes()
    context = {
        "section": "progress",
        "tab": "outcomes",
        "total": found.total,
        "tables": [("person", found.by_person), ("model", found.by_model), ("task", found.by_task)],
        "chosen": outcomes.chosen(),
    }
    return render(request, "leading/progress_outcomes.html", context)


# Plan ------------------------------------------------------------------------------------------------------------

PER_PAGE = 50
VIEWS = ("grid", "table", "targets")


@dataclass(frozen=True)
class Typed:
    """The fields of the grid of targets, in the order of the cells: what stood in them, and what was typed."""

    stood: list[str]
    now: list[str]
    refusal: str = ""

    @classmethod
    def as_kept(cls, cells: Iterable[Cell]) -> "Typed":
        kept = [str(cell.target) for cell in cells]
        return cls(kept, kept)

    @classmethod
    def given(cls, given: QueryDict) -> "Typed":
        return cls(str(given["grid"]).split(","), [value.strip() for value in given.getlist("target")])

    def targets(self, cells: Sequence[Cell]) -> dict[CellKey, int | None]:
        """Only what was typed anew, so that nothing goes back to what it was when somebody else changed it meanwhile.
        Raises Invalid where a field holds no target."""
        if not self.fits(cells):
            raise Invalid({"target": _("The grid has changed meanwhile. Load the page again.")})
        if not all(map(_is_target, self.now)):
            raise Invalid({"target": _("A target is a whole number from 0 to %(n)s.") % {"n": actions.MOST_PER_CELL}})
        rows = zip(cells, self.stood, self.now, strict=True)
        return {cell.key: int(now) if now else None for cell, was, now in rows if now != was}

    def fits(self, cells: Sequence[Cell]) -> bool:
        return len(self.stood) == len(self.now) == len(cells)


def _is_target(typed: str) -> bool:
    """Empty: the general figure."""
    return not typed or (
        typed.isascii() and typed.isdecimal() and len(typed) < 7 and int(typed) <= actions.MOST_PER_CELL
    )


@dataclass(frozen=True)
class Field:
    cell: Cell
    value: str

    @property
    def is_wrong(self) -> bool:
        return not _is_target(self.value)


def _field_rows(cells: Sequence[Cell], typed: Typed) -> list[tuple[SecondaryTask, list[list[Field]]]]:
    fields = [Field(cell, value) for cell, value in zip(cells, typed.now, strict=True)]
    width = len(cells) // len(SECONDARY_TASKS)
    half = width // len(Language)
    return [
        (task, [fields[start : start + half] for start in range(at * width, (at + 1) * width, half)])
        for at, task in enumerate(SECONDARY_TASKS)
    ]


@require_GET
def plan(request: HttpRequest) -> HttpResponseBase:
    """Every cell with its target and what it holds: as a grid, as a table, the shortest first, or to set targets."""
    lead(request)
    grid = queries.grid()
    if file := _file(request, {"plan": lambda: listings.cell_lines(queries.by_emptiness(grid.cells))}):
        return file
    shown = request.GET.get("as", "")
    return _plan_page(request, grid, shown if shown in VIEWS else "grid")


def _plan_page(
    request: HttpRequest, grid: queries.Grid, shown: str, *, typed: Typed | None = None, form: TargetsForm | None = None
) -> HttpResponse:
    """`typed` and `form` hold what was refused: what a person typed stays where they typed it."""
    measure = MEASURES.get(request.GET.get("show", ""), MEASURES["held"])
    typed, form = typed or Typed.as_kept(grid.cells), form or TargetsForm()
    context = {
        "section": "progress",
        "tab": "plan",
        "shown": shown,
        **_plan_context(grid.cells),
        **_grid(grid.cells, measure),
        "typed": typed,
        "fields": _field_rows(grid.cells, typed),
        "outside": grid.outside.total(),
        "targets_form": form,
    }
    if shown == "table":
        ordered = queries.by_emptiness(grid.cells)
        context["page_obj"] = Paginator(ordered, PER_PAGE).get_page(request.GET.get("page"))
        context["stages"] = [SampleState(state) for state in queries.STAGE_ORDER if state != SampleState.ACCEPTED]
    return render(request, "leading/plan.html", context, status=400 if typed.refusal or form.errors else 200)


def _plan_context(cells: Sequence[Cell]) -> dict[str, Any]:
    """What stands beside the grid, whatever it shows."""
    counted = [(measure, sum(measure.of(cell) for cell in cells)) for measure in MEASURES.values()]
    return {
        "counted": counted,
        "sums": SUMS,
        "unplanned": sum(cell.unplanned for cell in cells),
        "lacking": sum(1 for cell in cells if cell.unplanned),
        "count": len(cells),
        "target": sum(cell.target for cell in cells),
        "general": BenchmarkSettings.load().samples_per_cell,
        "special": sum(1 for cell in cells if cell.is_special),
        "shortest": list(queries.shortest_cells(cells, 10)),
        "wish_form": WishForm(initial={"count": planning.USUAL}),
    }


@require_http_methods(["GET", "POST"])
def plan_next(request: HttpRequest) -> HttpResponse:
    """Pairs for the emptiest cells, shown first, then made as they were shown."""
    person = lead(request)
    errors: dict[str, list[str]] = {}
    if request.method == "POST":
        try:
            made = planning.make_samples(pairs=planning.pairs_named(request.POST.getlist("pairs")), by=person)
        except Invalid as refusal:
            errors = {name: [str(word) for word in words] for name, words in refusal.errors.items()}
        else:
            _tell(request, made)
            return redirect(_after(made))
    form = WishForm(request.GET or None, initial={"count": planning.USUAL})
    proposed = planning.propose(_wish(form))
    context = {
        "section": "progress",
        "tab": "plan",
        "form": form,
        "proposed": proposed,
        "errors": [word for words in errors.values() for word in words],
        "domains": _shares(one.source.domain for one in proposed.proposals),
        "formats": _shares(one.source.format for one in proposed.proposals),
    }
    return render(request, "leading/plan_next.html", context, status=400 if errors or form.errors else 200)


def _wish(form: WishForm) -> planning.Wish:
    """What the form says, as far as it is right."""
    form.full_clean()
    said = getattr(form, "cleaned_data", {})
    return planning.wish_of(**{name: value for name, value in said.items() if value})


def _shares(values: Iterable[str]) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


NAMED = 5


def _tell(request: HttpRequest, made: planning.Made) -> None:
    if made.samples:
        count = len(made.samples)
        words = ngettext("%(n)s sample is planned.", "%(n)s samples are planned.", count)
        messages.success(request, words % {"n": count})
    for one in made.left[:NAMED]:
        messages.warning(request, one.why)
    if len(made.left) > NAMED:
        more = len(made.left) - NAMED
        messages.warning(request, ngettext("%(n)s more was left out.", "%(n)s more were left out.", more) % {"n": more})


def _after(made: planning.Made) -> str:
    """To what drafting them would take, where nothing is sent yet; back to the plan when nothing was made."""
    if not made.samples:
        return reverse("leading:plan")
    ids = urlencode([("ids", sample.pk) for sample in made.samples])
    return f"{reverse('annotation:samples_draft')}?{ids}"


@require_POST
def plan_targets(request: HttpRequest) -> HttpResponse:
    """The targets as typed into the grid, or one for all cells of a kind."""
    person, grid = lead(request), queries.grid()
    form = None if "grid" in request.POST else TargetsForm(request.POST)
    typed = Typed.as_kept(grid.cells) if form else Typed.given(request.POST)
    if form is not None and not form.is_valid():
        return _plan_page(request, grid, "targets", form=form)
    try:
        targets = _of_a_kind(form, grid.cells) if form else typed.targets(grid.cells)
        changed = actions.set_cell_targets(targets=targets, by=person)
    except Invalid as refusal:
        kept = typed if typed.fits(grid.cells) else Typed.as_kept(grid.cells)
        return _plan_page(request, grid, "targets", typed=replace(kept, refusal=str(refusal.message)))
    words = ngettext("%(n)s target is changed.", "%(n)s targets are changed.", changed)
    messages.success(request, words % {"n": changed} if changed else _("No target is changed."))
    return redirect(f"{reverse('leading:plan')}?as=targets")


def _of_a_kind(form: TargetsForm, cells: Iterable[Cell]) -> dict[CellKey, int | None]:
    said = form.cleaned_data
    kind = planning.Wish(1, said["language"], said["bucket"], said["secondary_task"])
    return {cell.key: said["target"] for cell in cells if kind.holds(cell)}
