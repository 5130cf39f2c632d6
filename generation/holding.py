"""What budgets hold back and why; and which output limit would keep that small."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum

from generation.budgeting import most_of
from generation.estimating import Usual, cost_of
from generation.models import Call, LanguageModel
from generation.queries import without_price
from generation.workflow import CallState, Kind

# A limit that is proposed leaves so many times room as the model usually takes, and never less than this.
ROOM = 4
LEAST_THINKING = 16_384
LEAST_PLAIN = 4_096
STEP = 1024


@dataclass(frozen=True)
class Held:
    """What the calls of one model hold back: those that are out, and those that may have been billed."""

    model: str
    usd: Decimal
    out: int
    doubtful: int


def held_by_model(calls: QuerySet[Call] | None = None) -> list[Held]:
    """The largest first."""
    calls = Call.objects.all() if calls is None else calls
    rows: Any = (
        Call.objects.filter(pk__in=calls.filter(reserved_usd__gt=0).order_by().values("pk"))
        .order_by()
        .values(name=F("model__name"))
        .annotate(
            usd=Sum("reserved_usd"),
            out=Count("pk", filter=Q(state=CallState.CALLING)),
            doubtful=Count("pk", filter=~Q(state=CallState.CALLING)),
        )
    )
    found = [Held(row["name"], row["usd"], row["out"], row["doubtful"]) for row in rows]
    return sorted(found, key=lambda one: (-one.usd, one.model))


@dataclass(frozen=True)
class Unlimited:
    """A model without an output limit: what each call holds back now, what a usual one costs, and the limit that is
    proposed with what a call would hold back then. All for a document as long as the model takes."""

    model: LanguageModel
    fields: tuple[str, ...]
    holds: Decimal
    usually: Decimal
    limit: int
    would_hold: Decimal


def missing_limits(model: LanguageModel) -> tuple[str, ...]:
    """The output limits that calls of this model are sent by, and that are not set."""
    asked = ["max_output_thinking"]
    if model.kind == Kind.INSTRUCT:
        asked.append("max_output_nonthinking")
    return tuple(name for name in asked if getattr(model, name) is None)


def unlimited(model: LanguageModel, usual: Usual) -> Unlimited | None:
    """None where there is a limit, or no price to hold anything back by."""
    fields = missing_limits(model)
    if not fields or model.is_simulated or without_price([model]):
        return None
    given = [tokens for (pk, _purpose), tokens in usual.items() if pk == model.pk]
    least = LEAST_PLAIN if fields == ("max_output_nonthinking",) else LEAST_THINKING
    typical = max(given, default=least // ROOM)
    limit = -(-max(least, ROOM * typical) // STEP) * STEP
    tokens_in = min(model.truncate_input_to_tokens, model.context_tokens)
    holds = most_of(model, tokens_in=tokens_in, output_limit=None)
    would = most_of(model, tokens_in=tokens_in, output_limit=limit)
    usually = cost_of(model, tokens_in, typical)
    if holds is None or would is None or usually is None or holds <= would:
        return None
    return Unlimited(model, fields, holds, usually, limit, would)


def all_unlimited(models: Iterable[LanguageModel], usual: Usual) -> list[Unlimited]:
    return [found for model in models if (found := unlimited(model, usual)) is not None]
