"""Money, held back before a call leaves and settled when it ends (reliability.md, I-20).

Three sums move together, always in the transaction that moves the call: what the call has cost and still holds back,
and the totals of both in `Spending`. A run's own sums are those of its calls. What a budget forbids is not sent.
Held back is the most an attempt can cost: its input by our count, and all of its output limit. It is released when
the attempt ends in a reply, whose cost takes its place, or in a failure for which nothing was billed. What may have
been billed (no reply, a lost worker) stays held back: it counts as spent until a late reply, or a lead, says what it
was (`actions.settle_call`).
"""

from decimal import Decimal
from enum import Enum

from django.db.models import Case, F, Q, Sum, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from generation.estimating import cost_of
from generation.models import Call, LanguageModel, Run, Spending
from generation.workflow import CallState

NOTHING = Decimal(0)
SMALLEST = Decimal("0.000000004")
MOST_USD = Decimal(1_000_000_000)


class Room(Enum):
    """Whether a budget lets a call leave: yes, no, or not until a call that is out has come back."""

    FREE = "free"
    LATER = "later"
    NEVER = "never"


def budget_fault(budget_usd: Decimal | None) -> str:
    """Why this cannot be a budget; empty when it can. None: no budget."""
    if budget_usd is None or NOTHING <= budget_usd < MOST_USD:
        return ""
    return _("A budget is an amount from 0 up.")


def spending() -> Spending:
    return Spending.objects.get_or_create(pk=1)[0]


def most_of(model: LanguageModel, *, tokens_in: int, output_limit: int | None) -> Decimal | None:
    """The most one attempt can cost; None where the price is unknown. Without a limit, the context bounds it."""
    most_out = output_limit if output_limit is not None else max(0, model.context_tokens - tokens_in)
    return cost_of(model, tokens_in, most_out)


# --- asking ----------------------------------------------------------------------------------------------------------


def room_in_run(run: Run, most: Decimal | None) -> Room:
    """Locks the run's row where it has a budget. Called before the call's row is locked, as whoever cancels a run
    locks in that order too."""
    if most == NOTHING:
        return Room.FREE
    budget = Run.objects.select_for_update().filter(pk=run.pk).exclude(budget_usd=None)
    allowed = budget.values_list("budget_usd", flat=True).first()
    if allowed is None:
        return Room.FREE
    calls = Call.objects.filter(runs=run)
    sums = calls.aggregate(
        spent=Coalesce(Sum("cost_usd"), NOTHING),
        held=Coalesce(Sum("reserved_usd"), NOTHING),
        out=Coalesce(Sum("reserved_usd", filter=Q(state=CallState.CALLING)), NOTHING),
    )
    return _room(allowed, most, sums["spent"] + sums["held"], sums["out"])


def held_with(most: Decimal | None) -> Combinable:
    """What a call holds back once so much is added: written with its other fields, before `hold_back`."""
    return Coalesce(F("reserved_usd"), NOTHING) + (most or NOTHING)


def hold_back(call: Call, most: Decimal | None) -> Room:
    """Hold back in the total what the attempt can cost; or say that the budget of all calls has no room for it, and
    leave everything as it is. The total's row stays locked until the transaction ends."""
    if most == NOTHING:
        return Room.FREE
    unbounded = Spending.objects.filter(pk=1, budget_usd=None)
    if unbounded.update(reserved_usd=F("reserved_usd") + (most or NOTHING)):
        return Room.FREE
    total = _locked()
    if total.budget_usd is not None:
        others = Call.objects.filter(state=CallState.CALLING).exclude(pk=call.pk)
        out = others.aggregate(out=Coalesce(Sum("reserved_usd"), NOTHING))["out"]
        room = _room(total.budget_usd, most, total.spent_usd + total.reserved_usd, out)
        if room is not Room.FREE:
            return room
    if most:
        Spending.objects.filter(pk=1).update(reserved_usd=F("reserved_usd") + most)
    return Room.FREE


def _locked() -> Spending:
    row = Spending.objects.select_for_update().filter(pk=1)
    return row.first() or (spending() and row.get())


def _room(allowed: Decimal, most: Decimal | None, counted: Decimal, out: Decimal) -> Room:
    if most is None:
        return Room.NEVER
    if counted + most <= allowed:
        return Room.FREE
    return Room.LATER if counted - out + most <= allowed else Room.NEVER


# --- settling --------------------------------------------------------------------------------------------------------


def settled(held: Decimal | None, cost: Decimal | None) -> dict[str, Combinable]:
    """The call's own fields when an attempt has ended: what was held back for it is released, what it cost is added. A
    call that was sent again has been paid more than once. `cost` None: the price is unknown. With it goes `count`."""
    fields: dict[str, Combinable] = {}
    if cost is not None:
        fields["cost_usd"] = Coalesce(F("cost_usd"), NOTHING) + cost
        fields["paid_attempts"] = F("paid_attempts") + 1
    if held:
        left = F("reserved_usd") - held
        # Where sums are floats (SQLite), next to nothing is nothing.
        is_all = Q(reserved_usd__lte=held + SMALLEST)
        fields["reserved_usd"] = Case(When(is_all, then=Value(None)), default=left)
    return fields


def count(*, held: Decimal | None = None, cost: Decimal | None = None) -> None:
    """Into the total, as the last write of a transaction where it can be: everybody else waits for this row."""
    released, added = held or NOTHING, cost or NOTHING
    if released or added:
        sums = {"reserved_usd": F("reserved_usd") - released, "spent_usd": F("spent_usd") + added}
        if not Spending.objects.filter(pk=1).update(**sums):
            spending()
            Spending.objects.filter(pk=1).update(**sums)
