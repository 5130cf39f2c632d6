"""A lead says what a call cost that came back without an answer: nothing, or an amount."""

from decimal import Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core import history
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from generation import budgeting
from generation.models import Call
from generation.workflow import CallState, Trouble


def can_settle_call(user: User, call: Call) -> bool:
    return user.is_lead and call.may_have_been_billed


def settle_call(*, call: Call, by: User, billed_usd: Decimal, reason: str) -> Call:
    """What all attempts that nobody has accounted for cost together: 0 where the provider billed nothing. What was
    held back for them is released, and the amount joins the call's cost. An unknown call has failed from then on: it
    may be sent again like any other. `reason`: where it was looked up."""
    if not by.is_lead:
        raise NotAllowed(_("Only a lead says what a call cost."))
    if not budgeting.NOTHING <= billed_usd < budgeting.MOST_USD:
        raise Invalid({"billed_usd": _("What was billed is an amount from 0 up.")})
    if not reason.strip():
        raise RuleBroken(_("Say where you looked up what this call cost."), rule="reason_missing")
    with transaction.atomic():
        held = _held_by(call)
        cost = billed_usd or None
        fields = {"settled_at": timezone.now(), **budgeting.settled(held, cost)}
        said = {"billed_usd": str(billed_usd), "released_usd": str(held or budgeting.NOTHING)}
        if call.state == CallState.UNKNOWN:
            trouble = Trouble.BILLED if cost else Trouble.NOT_BILLED
            said["error_class"] = call.error_class
            fields |= {"error_class": trouble.value, "error": ""}
            history.advance(call, "settle", by=by, reason=reason, also=fields, locked_in=call.state, **said)
        else:
            Call.objects.filter(pk=call.pk).update(**fields)
            history.record("settle", call, by=by, reason=reason, **said)
        budgeting.count(held=held, cost=cost)
    call.refresh_from_db(fields=["cost_usd", "reserved_usd", "paid_attempts", "settled_at", "error_class", "error"])
    return call


def _held_by(call: Call) -> Decimal | None:
    """Locks the call, and says what it holds back for attempts that have ended."""
    known = ("state", "reserved_usd", "error_class")
    call.state, held, call.error_class = Call.objects.select_for_update().values_list(*known).get(pk=call.pk)
    if call.state == CallState.CALLING:
        raise Conflict(_("The call is out again. Say what was billed when it has come back."), rule="call_out")
    if call.state != CallState.UNKNOWN and not held:
        raise RuleBroken(_("What this call cost is known already: nothing is held back for it."), rule="nothing_held")
    return held
