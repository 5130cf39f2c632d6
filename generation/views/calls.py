"""Calls: the list, one call, and sending again what has no answer."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from core import history
from core.models import User
from core.refusals import RuleBroken
from core.viewing import refuse_into
from generation import actions, listing
from generation.filters import CallFilter
from generation.forms import AgainForm, DecideForm, ResendForm
from generation.listing import ByModel
from generation.models import Call
from generation.views.common import A_PAGE, lead_of, query_of, template_for
from generation.workflow import CallState


@require_GET
def call_list(request: HttpRequest) -> HttpResponse:
    lead_of(request)
    found = CallFilter(request.GET, queryset=listing.calls_plain())
    page = Paginator(found.qs, A_PAGE).get_page(request.GET.get("page"))
    shown = Call.objects.filter(pk__in=[call.pk for call in page])
    context = {
        "section": "runs",
        "can_go": set(listing.unanswered(shown).values_list("pk", flat=True)),
        "filter": found,
        "filters": query_of(request),
        "page_obj": page,
        "under_way": any(call.state in {CallState.QUEUED, CallState.CALLING} for call in page),
        "again": listing.unanswered(found.qs.order_by()).count(),
        "may_be_billed": request.GET.get("state") == CallState.UNKNOWN,
    }
    return render(request, template_for(request, "generation/call_list.html", "calls"), context)


@require_http_methods(["GET", "POST"])
def call_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One call, and the lead's decision on it: what it cost where nobody knows, and whether it is sent again."""
    lead = lead_of(request)
    call = get_object_or_404(Call.objects.select_related("model", "document_version__document", "repairs"), pk=pk)
    form = (DecideForm if call.may_have_been_billed else ResendForm)(request.POST or None)
    if request.method == "POST" and form.is_valid() and (words := _decided(request, call, form, lead)):
        messages.success(request, words)
        return redirect("generation:call_detail", pk=pk)
    context = {
        "section": "runs",
        "call": call,
        "form": form,
        "can_resend": actions.can_resend_call(lead, call),
        "can_settle": actions.can_settle_call(lead, call),
        "runs": call.runs.order_by("-id"),
        "repair": Call.objects.filter(repairs=call).first(),
        "drafts": call.drafts.all(),
        "events": history.history_of(call).order_by("-id")[:50],
    }
    return render(request, "generation/call_detail.html", context, status=400 if form.errors else 200)


def _decided(request: HttpRequest, call: Call, form: DecideForm | ResendForm, lead: User) -> str:
    """What was done, in words; empty where the form does not say enough."""
    reason, billed_usd = form.cleaned_data["reason"], form.billed_usd
    if request.POST.get("do") == "settle":
        if billed_usd is None:
            form.add_error("billed" if "billed" in form.fields else None, _("Say whether it was billed."))
            return ""
        actions.settle_call(call=call, by=lead, billed_usd=billed_usd, reason=reason)
        return _("It is settled what the call cost.")
    actions.resend_call(call=call, by=lead, reason=reason, billed_usd=billed_usd)
    return _("The call is queued again.")


# --- sending again ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Meant:
    """The calls that a lead means to send again, by model, with what they should cost."""

    calls: QuerySet[Call]
    models: list[ByModel]

    @property
    def count(self) -> int:
        return sum(row.calls for row in self.models)

    @property
    def unknown(self) -> int:
        return sum(row.unknown for row in self.models)

    @property
    def expected(self) -> listing.Money:
        return listing.total_of(self.models)


def meant(given: QueryDict) -> Meant:
    """Those ticked, or all that the filters leave; never one that was answered, or that a repair followed."""
    calls = listing.unanswered(CallFilter(given, queryset=Call.objects.all()).qs.order_by())
    if "known" in given:
        calls = calls.exclude(state=CallState.UNKNOWN)
    if ids := given.getlist("ids"):
        calls = calls.filter(pk__in=[pk for pk in ids if pk.isdecimal()])
    return Meant(calls, listing.by_model(calls))


@require_http_methods(["GET", "POST"])
def calls_again(request: HttpRequest) -> HttpResponse:
    """How many calls, at which models, expected to cost how much; then the lead's word."""
    lead, given = lead_of(request), request.POST if request.method == "POST" else request.GET
    chosen = meant(given)
    form = AgainForm(request.POST or None, count=chosen.count, unknown=chosen.unknown)
    if request.method == "POST" and form.is_valid():
        try:
            word = {name: form.cleaned_data[name] for name in ("reason", "none_was_billed")}
            sent = actions.send_again(calls=chosen.calls, by=lead, **word)
        except RuleBroken as refusal:
            refuse_into(form, refusal)
        else:
            words = ngettext("%(n)s call is queued again.", "%(n)s calls are queued again.", sent)
            messages.success(request, words % {"n": sent})
            return redirect(_back(given))
    context: dict[str, Any] = {
        "section": "runs",
        "chosen": chosen,
        "form": form,
        "given": [(name, value) for name in given for value in given.getlist(name) if name in GIVEN],
        "run": given.get("run"),
        "back": _back(given),
    }
    return render(request, "generation/calls_again.html", context, status=400 if form.errors else 200)


GIVEN = {"ids", "known", *CallFilter.base_filters}


def _back(given: QueryDict) -> str:
    run = given.get("run", "")
    return reverse("generation:run_detail", args=[run]) if run.isdecimal() else reverse("generation:run_list")
