"""Pages of runs, calls and models: for leads."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from benchmark.taxonomy import Language
from core import history
from core.models import User
from core.refusals import Invalid, NotAllowed
from core.viewing import refuse_into
from generation import actions, queries
from generation.filters import RunFilter
from generation.forms import ModelForm, ResendForm
from generation.models import Call, LanguageModel, Run

RUNS_A_PAGE = 50


def _lead(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    if not request.user.is_lead:
        raise NotAllowed(_("Runs and models are the leads' pages."))
    return request.user


def _template(request: HttpRequest, name: str, part: str) -> str:
    """The whole page, or the part of it that polls itself."""
    return f"{name}#{part}" if getattr(request, "htmx", None) and request.method == "GET" else name


def _page_language() -> Language:
    return Language.CHINESE if (get_language() or "").startswith("zh") else Language.ENGLISH


def run_list(request: HttpRequest) -> HttpResponse:
    _lead(request)
    found = RunFilter(request.GET, queryset=queries.runs_for_list())
    page = Paginator(found.qs, RUNS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "section": "runs",
        "filter": found,
        "page_obj": page,
        "under_way": any(run.is_under_way for run in page),
        "totals": queries.totals(),
        "any_run": page.paginator.count > 0 or Run.objects.exists(),
    }
    return render(request, _template(request, "generation/run_list.html", "runs"), context)


def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    lead = _lead(request)
    run = get_object_or_404(queries.runs_for_list().defer(None), pk=pk)
    rows = list(queries.run_calls_for_page(run))
    context = {
        "section": "runs",
        "run": run,
        "rows": rows,
        "task_name": run.task.name_in(_page_language()),
        "answers": run.purpose != "drafting",
        "can_cancel": actions.can_cancel_run(lead, run),
        "can_retry": any(row.call.state in {"failed", "cancelled"} for row in rows),
    }
    return render(request, _template(request, "generation/run_detail.html", "run"), context)


@require_POST
def run_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    actions.cancel_run(run=get_object_or_404(Run, pk=pk), by=_lead(request))
    messages.success(request, _("The run is cancelled. Calls that are out come back and are kept."))
    return redirect("generation:run_detail", pk=pk)


@require_POST
def run_retry(request: HttpRequest, pk: int) -> HttpResponse:
    actions.retry_run(run=get_object_or_404(Run, pk=pk), by=_lead(request))
    messages.success(request, _("The failed calls are queued again."))
    return redirect("generation:run_detail", pk=pk)


def call_detail(request: HttpRequest, pk: int) -> HttpResponse:
    lead = _lead(request)
    call = get_object_or_404(Call.objects.select_related("model", "document_version__document", "repairs"), pk=pk)
    form = ResendForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        actions.resend_call(call=call, by=lead, reason=form.cleaned_data["reason"])
        messages.success(request, _("The call is queued again."))
        return redirect("generation:call_detail", pk=pk)
    context = {
        "section": "runs",
        "call": call,
        "form": form,
        "can_resend": actions.can_resend_call(lead, call),
        "runs": call.runs.order_by("-id"),
        "repair": Call.objects.filter(repairs=call).first(),
        "drafts": call.drafts.all(),
        "events": history.history_of(call).order_by("-id")[:50],
    }
    return render(request, "generation/call_detail.html", context, status=400 if form.errors else 200)


def model_list(request: HttpRequest) -> HttpResponse:
    _lead(request)
    context = {"section": "models", "models": queries.models_for_list(), "panel": queries.panel_name()}
    return render(request, "generation/model_list.html", context)


def model_edit(request: HttpRequest, pk: int) -> HttpResponse:
    lead = _lead(request)
    model = get_object_or_404(LanguageModel, pk=pk)
    form = ModelForm(request.POST or None, instance=model)
    if request.method == "POST" and form.is_valid() and _saved(form, model, lead):
        messages.success(request, _("%(name)s is saved.") % {"name": model.name})
        return redirect("generation:model_list")
    context: dict[str, Any] = {
        "section": "models",
        "model": model,
        "form": form,
        "events": history.history_of(model).order_by("-id")[:20],
    }
    return render(request, "generation/model_edit.html", context, status=400 if form.errors else 200)


def _saved(form: ModelForm, model: LanguageModel, lead: User) -> bool:
    try:
        actions.edit_model(model=model, version=form.cleaned_data["version"], by=lead, **form.changes())
    except Invalid as wrong:
        refuse_into(form, wrong)
        return False
    return True


@require_POST
def model_pause(request: HttpRequest, pk: int) -> HttpResponse:
    model = actions.pause_model(model=get_object_or_404(LanguageModel, pk=pk), by=_lead(request))
    messages.success(request, _("%(name)s is paused; nothing is sent to it.") % {"name": model.name})
    return redirect("generation:model_list")


@require_POST
def model_resume(request: HttpRequest, pk: int) -> HttpResponse:
    model = actions.resume_model(model=get_object_or_404(LanguageModel, pk=pk), by=_lead(request))
    messages.success(
        request, _("%(name)s is in use again. Retry its failed calls on the runs page.") % {"name": model.name}
    )
    return redirect("generation:model_list")
