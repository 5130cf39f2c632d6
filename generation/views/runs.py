"""The list of runs with what happens now, one run, and stopping runs."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from core.models import User
from generation import actions, cancelling, holding, listing, overview, queries
from generation.filters import RunFilter
from generation.forms import BudgetForm
from generation.models import Run
from generation.views.common import A_PAGE, lead_of, page_language, query_of, template_for
from generation.workflow import CallState, Purpose, Trouble

# What one page of the confirmation names; the rest is counted.
NAMED = 100


@require_GET
def run_list(request: HttpRequest) -> HttpResponse:
    lead_of(request)
    # The numbers alone: what belongs to them is read for the page.
    found = RunFilter(request.GET, queryset=Run.objects.order_by("-id").values_list("pk", flat=True))
    page = Paginator(found.qs, A_PAGE).get_page(request.GET.get("page"))
    runs = list(listing.runs_plain(Run.objects.filter(pk__in=list(page))))
    counted = overview.tally()
    troubles = listing.troubles()
    context = {
        "section": "runs",
        "filter": found,
        "filters": query_of(request),
        "page_obj": page,
        "lines": listing.lines_of(runs),
        "tally": counted,
        "pace": overview.pace(counted),
        "purse": overview.purse(),
        "paused": overview.paused_models(),
        "cancelling": cancelling.progress(),
        "troubles": troubles,
        "kinds": listing.kinds_of(troubles),
        "refused": sum(one.calls for one in troubles if one.error_class == Trouble.BUDGET),
        "under_way": counted.queued + counted.calling > 0 or any(run.is_under_way for run in runs),
        "any_run": page.paginator.count > 0 or Run.objects.exists(),
    }
    return render(request, template_for(request, "generation/run_list.html", "runs"), context)


@require_GET
def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    lead = lead_of(request)
    run = get_object_or_404(Run.objects.select_related("document_version__document", "created_by"), pk=pk)
    context = run_context(run, lead)
    return render(request, template_for(request, "generation/run_detail.html", "run"), context)


def run_context(run: Run, lead: User, form: BudgetForm | None = None) -> dict[str, Any]:
    rows = list(queries.run_calls_for_page(run))
    line = listing.lines_of([run])[0]
    states = [row.call.state for row in rows if not hasattr(row.call, "repaired_by")]
    purse = overview.purse_of(run)
    return {
        "section": "runs",
        "run": run,
        "line": line,
        "rows": rows,
        "purse": purse,
        "held": holding.held_by_model(run.calls.all()) if purse.reserved else [],
        "budget_form": form or BudgetForm(initial={"budget_usd": run.budget_usd}),
        "task_name": run.task.name_in(page_language()),
        "answers": run.purpose != Purpose.DRAFTING,
        "right": sum(1 for row in rows if row.right),
        "scored": sum(1 for row in rows if row.right is not None),
        "can_cancel": actions.can_cancel_run(lead, run),
        "again": sum(1 for state in states if state in {CallState.FAILED, CallState.CANCELLED}),
        "refused": sum(1 for row in rows if row.call.error_class == Trouble.BUDGET),
        "unknown": states.count(CallState.UNKNOWN),
        "paused": any(row.call.model.paused_at and row.call.state == CallState.QUEUED for row in rows),
    }


@require_POST
def run_retry(request: HttpRequest, pk: int) -> HttpResponse:
    actions.retry_run(run=get_object_or_404(Run, pk=pk), by=lead_of(request))
    messages.success(request, _("The failed calls are queued again."))
    return redirect("generation:run_detail", pk=pk)


@require_POST
def run_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    actions.cancel_run(run=get_object_or_404(Run, pk=pk), by=lead_of(request))
    messages.success(request, _("The run is cancelled. Calls that are out come back and are kept."))
    return redirect("generation:run_detail", pk=pk)


# --- stopping several ------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def runs_cancel(request: HttpRequest) -> HttpResponse:
    """Which runs would be stopped, before they are: those ticked, or all that are under way and fit the filters."""
    lead, given = lead_of(request), request.POST if request.method == "POST" else request.GET
    runs = _meant(given)
    if request.method == "POST":
        return _cancelled(request, runs, lead)
    context = {
        "section": "runs",
        "lines": listing.lines_of(runs[:NAMED]),
        "count": runs.count(),
        "named": NAMED,
        "given": [(name, value) for name in given for value in given.getlist(name) if name != "page"],
        "tally": overview.waiting_of(runs),
    }
    return render(request, "generation/runs_cancel.html", context)


def _meant(given: Any) -> QuerySet[Run]:
    runs = listing.runs_plain(queries.unfinished_runs())
    if "all" in given:
        return RunFilter(given, queryset=runs).qs
    return runs.filter(pk__in=[pk for pk in given.getlist("ids") if pk.isdecimal()])


def _cancelled(request: HttpRequest, runs: QuerySet[Run], lead: User) -> HttpResponse:
    done = actions.cancel_runs(runs=runs, by=lead)
    words = ngettext(
        "%(n)s run is cancelled. Calls that are out come back and are kept.",
        "%(n)s runs are cancelled. Calls that are out come back and are kept.",
        done.cancelled,
    )
    messages.success(request, words % {"n": done.cancelled})
    return redirect("generation:run_list")
