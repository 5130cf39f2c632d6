"""Budgets, of all calls and of one run, and what each provider is asked at once."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from core import history
from core.models import User
from core.refusals import Conflict, Invalid
from core.viewing import refuse_into, stale_into, status_of
from generation import actions, holding, overview, queries
from generation.estimating import usual_tokens_out
from generation.forms import LIMITS, BudgetForm, LimitForm
from generation.models import ProviderLimit, Run, Spending
from generation.views.common import lead_of
from generation.views.models import models_context
from generation.views.runs import run_context


@require_http_methods(["GET", "POST"])
def budget(request: HttpRequest) -> HttpResponse:
    """What all calls together may cost."""
    lead = lead_of(request)
    row = Spending.objects.filter(pk=1).first() or Spending(pk=1)
    form = BudgetForm(request.POST or None, initial={"budget_usd": row.budget_usd, "version": row.version})
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            actions.set_budget(by=lead, budget_usd=given["budget_usd"], version=given["version"] or 0)
        except Invalid as wrong:
            refuse_into(form, wrong)
        except Conflict as stale:
            row.refresh_from_db()
            stale_into(form, stale, now={"budget_usd": row.budget_usd, "version": row.version})
        else:
            messages.success(request, _("The budget is saved."))
            return redirect("generation:run_list")
    models = [model for model in queries.models_in_use() if holding.missing_limits(model)]
    context = {
        "section": "runs",
        "form": form,
        "purse": overview.purse(),
        "held": holding.held_by_model(),
        "unlimited": holding.all_unlimited(models, usual_tokens_out(models)),
        "events": history.history_of(row).order_by("-id")[:20],
    }
    return render(request, "generation/budget.html", context, status=status_of(form))


@require_POST
def run_budget(request: HttpRequest, pk: int) -> HttpResponse:
    lead, run = lead_of(request), get_object_or_404(Run, pk=pk)
    form = BudgetForm(request.POST)
    if form.is_valid():
        try:
            actions.set_run_budget(run=run, by=lead, budget_usd=form.cleaned_data["budget_usd"])
        except Invalid as wrong:
            refuse_into(form, wrong)
        else:
            messages.success(request, _("The budget of R-%(pk)s is saved.") % {"pk": pk})
            return redirect("generation:run_detail", pk)
    return render(request, "generation/run_detail.html", run_context(run, lead, form), status=400)


@require_POST
def provider_limit(request: HttpRequest) -> HttpResponse:
    """How much one provider is asked at once and in a minute, edited on the page of models."""
    lead, form = lead_of(request), LimitForm(request.POST)
    if request.POST.get("do") == "remove":
        return _limit_removed(request, lead)
    if form.is_valid():
        try:
            held = actions.set_provider_limit(by=lead, **form.cleaned_data)
        except Invalid as wrong:
            words = wrong.errors.pop("provider", [])
            refuse_into(form, wrong)
            for fault in words:
                # The page has no field for it.
                form.add_error(None, str(fault))
        except Conflict as stale:
            held = ProviderLimit.objects.get(provider=form.cleaned_data["provider"])
            stale_into(form, stale, now={name: getattr(held, name) for name in ("version", *LIMITS)})
        else:
            messages.success(request, _("The limits of %(provider)s are saved.") % {"provider": held.provider})
            return redirect("generation:model_list")
    return render(request, "generation/model_list.html", models_context(limit_form=form), status=status_of(form))


def _limit_removed(request: HttpRequest, lead: User) -> HttpResponse:
    provider, version = request.POST.get("provider", ""), request.POST.get("version", "")
    seen = int(version) if version.isdecimal() and len(version) < 10 else 0
    actions.remove_provider_limit(provider=provider, by=lead, version=seen)
    messages.success(request, _("%(provider)s has no limits any more.") % {"provider": provider})
    return redirect("generation:model_list")
