"""The models of the panels: the list, adding, copying, editing, pausing, and trying one."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from core import history
from core.models import User
from core.refusals import Conflict, Invalid
from core.viewing import refuse_into, stale_into, status_of
from generation import actions, queries, roster
from generation.forms import LIMITS, LimitForm, ModelForm, NewModelForm, PauseForm
from generation.models import LanguageModel, ModelTrial
from generation.roster import Fault, LimitLine
from generation.views.common import lead_of


@require_GET
def model_list(request: HttpRequest) -> HttpResponse:
    lead_of(request)
    return render(request, "generation/model_list.html", models_context())


def models_context(limit_form: LimitForm | None = None) -> dict[str, Any]:
    lines = roster.lines()
    return {
        "section": "models",
        "panel": queries.panel_name(),
        "groups": roster.groups(lines),
        "others": [line for line in lines if not line.is_in_panel],
        "limits": _as_typed(roster.limits(lines), limit_form),
        "limit_form": limit_form,
        "drafters": sum(1 for line in lines if line.is_in_panel and line.model.active and line.model.drafting),
        "any_model": bool(lines),
    }


def _as_typed(limits: list[LimitLine], form: LimitForm | None) -> list[LimitLine]:
    """A row that was refused shows what was typed into it, and what is wrong with it."""
    return [line if form is None else _refused(line, form) for line in limits]


def _refused(line: LimitLine, form: LimitForm) -> LimitLine:
    if line.limit.provider != form.data.get("provider"):
        return line
    for name in LIMITS:
        setattr(line.limit, name, form.data.get(name, ""))
    line.limit.version = form.data.get("version", line.limit.version)
    faults = [Fault(name, str(words)) for name in LIMITS for words in form.errors.get(name, [])]
    return replace(line, is_faulty=True, faults=tuple(faults))


@require_http_methods(["GET", "POST"])
def model_add(request: HttpRequest) -> HttpResponse:
    """A new model, empty or as a copy of another (`copy`)."""
    lead = lead_of(request)
    copied = LanguageModel.objects.filter(pk=request.GET.get("copy") or 0).first() if _is_number(request) else None
    form = NewModelForm(request.POST or None, instance=roster.copy_of(copied))
    if request.method == "POST" and form.is_valid():
        try:
            model = actions.add_model(by=lead, name=form.cleaned_data["name"], **form.changes())
        except Invalid as wrong:
            refuse_into(form, wrong)
        else:
            messages.success(request, _("%(name)s is added. Try it before a run asks it.") % {"name": model.name})
            return redirect("generation:model_edit", model.pk)
    context = {"section": "models", "form": form, "copied": copied, "panel": queries.panel_name()}
    return render(request, "generation/model_add.html", context, status=400 if form.errors else 200)


def _is_number(request: HttpRequest) -> bool:
    return request.GET.get("copy", "").isdecimal()


@require_http_methods(["GET", "POST"])
def model_edit(request: HttpRequest, pk: int) -> HttpResponse:
    lead = lead_of(request)
    model = get_object_or_404(LanguageModel, pk=pk)
    form = ModelForm(request.POST or None, instance=model)
    if request.method == "POST" and form.is_valid() and _saved(form, model, lead):
        messages.success(request, _("%(name)s is saved.") % {"name": model.name})
        return redirect("generation:model_list")
    context: dict[str, Any] = {
        "section": "models",
        "model": model,
        "form": form,
        "warnings": roster.warnings(model),
        "unlimited": roster.unlimited_of(model),
        "trials": model.trials.select_related("asked_by")[:5],
        "can_try": actions.can_try_model(lead, model),
        "waiting": queries.queued_of(model).count(),
        "pause_form": PauseForm(),
        "events": history.history_of(model).order_by("-id")[:20],
    }
    return render(request, "generation/model_edit.html", context, status=status_of(form))


def _saved(form: ModelForm, model: LanguageModel, lead: User) -> bool:
    try:
        actions.edit_model(model=model, version=form.cleaned_data["version"], by=lead, **form.changes())
    except Invalid as wrong:
        refuse_into(form, wrong)
        return False
    except Conflict as stale:
        model.refresh_from_db()
        stale_into(form, stale, now={name: getattr(model, name) for name in ("version", *actions.EDITABLE)})
        return False
    return True


# --- paused and in use again -----------------------------------------------------------------------------------------


@require_POST
def model_pause(request: HttpRequest, pk: int) -> HttpResponse:
    lead, form = lead_of(request), PauseForm(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    model = actions.pause_model(model=get_object_or_404(LanguageModel, pk=pk), by=lead, reason=reason)
    messages.success(request, _("%(name)s is paused; nothing is sent to it.") % {"name": model.name})
    return _back(request, model)


@require_POST
def model_resume(request: HttpRequest, pk: int) -> HttpResponse:
    model = actions.resume_model(model=get_object_or_404(LanguageModel, pk=pk), by=lead_of(request))
    messages.success(request, _("%(name)s is in use again; what waited for it is sent.") % {"name": model.name})
    return _back(request, model)


@require_POST
def model_give_up(request: HttpRequest, pk: int) -> HttpResponse:
    """What waits for a paused model is cancelled, so that the runs end with what the others gave."""
    model = get_object_or_404(LanguageModel, pk=pk)
    count = actions.give_up_queue(model=model, by=lead_of(request))
    words = ngettext("%(n)s waiting call is cancelled.", "%(n)s waiting calls are cancelled.", count)
    messages.success(request, words % {"n": count})
    return _back(request, model)


def _back(request: HttpRequest, model: LanguageModel) -> HttpResponse:
    """To the page on which the button stood."""
    if request.POST.get("from") == "runs":
        return redirect("generation:run_list")
    if request.POST.get("from") == "edit":
        return redirect("generation:model_edit", model.pk)
    return redirect("generation:model_list")


# --- trying one ------------------------------------------------------------------------------------------------------


@require_POST
def model_try(request: HttpRequest, pk: int) -> HttpResponse:
    """One small request, in the background; the fragment that is answered renews itself until it has ended. Who asks
    again meanwhile sees the one that is out."""
    lead, model = lead_of(request), get_object_or_404(LanguageModel, pk=pk)
    try:
        trial = actions.try_model(model=model, by=lead)
    except Conflict:
        trial = model.trials.latest("pk")
    if getattr(request, "htmx", None):
        return render(request, "generation/parts/trial.html", {"trial": trial})
    return redirect("generation:trial_detail", trial.pk)


@require_GET
def trial_detail(request: HttpRequest, pk: int) -> HttpResponse:
    lead_of(request)
    trial = get_object_or_404(ModelTrial.objects.select_related("model", "asked_by"), pk=pk)
    if getattr(request, "htmx", None):
        return render(request, "generation/parts/trial.html", {"trial": trial})
    return render(request, "generation/trial_detail.html", {"section": "models", "trial": trial})
