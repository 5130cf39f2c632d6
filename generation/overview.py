"""What happens now, at a glance: calls by state, how fast they end, how long the rest takes, what was spent."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Min, Q, QuerySet, Sum
from django.utils import timezone

from generation.models import Call, LanguageModel, Run, RunCall, Spending
from generation.queries import COST_UNKNOWN, UNFINISHED, count_of_unknown_cost
from generation.workflow import ENDED_BY_THEMSELVES, FINAL_CALL_STATES, CallState

# Measured over so long; fewer calls than these few, or a shorter time, say nothing about what is to come.
WINDOW = timedelta(minutes=10)
FEWEST = 3
SHORTEST_SECONDS = 15.0


@dataclass(frozen=True)
class Tally:
    """Calls by state. `failed` leaves out those that a repair followed; `held` of the queued wait for a paused one."""

    queued: int
    held: int
    calling: int
    succeeded: int
    partial: int
    failed: int
    unknown: int
    cancelled: int

    @property
    def answered(self) -> int:
        return self.succeeded + self.partial

    @property
    def to_come(self) -> int:
        """What ends without anybody's help."""
        return self.queued - self.held + self.calling


@dataclass(frozen=True)
class Pace:
    """How far the unfinished runs are. Without enough calls ended lately nobody knows how long the rest takes."""

    ended: int
    total: int
    per_minute: float | None
    seconds_left: int | None

    @property
    def minutes_left(self) -> int | None:
        return None if self.seconds_left is None else max(1, round(self.seconds_left / 60))

    @property
    def hours_left(self) -> float | None:
        return None if self.seconds_left is None else self.seconds_left / 3600


def tally() -> Tally:
    """Counted from the index of states; only what failed or waits is looked at itself."""
    found = dict(Call.objects.order_by().values_list("state").annotate(n=Count("pk")))
    counts = {str(state): found.get(state, 0) for state in CallState}
    repaired = Call.objects.filter(repairs__state=CallState.FAILED).count()
    held = Call.objects.filter(state=CallState.QUEUED, model__paused_at__isnull=False).count()
    return Tally(**{**counts, "failed": counts["failed"] - repaired}, held=held)


def pace(counted: Tally, *, now: datetime | None = None) -> Pace:
    now = now or timezone.now()
    rows = RunCall.objects.filter(run__state__in=UNFINISHED)
    done = rows.aggregate(total=Count("pk"), ended=Count("pk", filter=Q(call__state__in=FINAL_CALL_STATES)))
    per_minute = speed(now)
    left = None
    if per_minute and counted.to_come:
        left = round(counted.to_come / per_minute * 60)
    return Pace(done["ended"], done["total"], per_minute, left)


def speed(now: datetime) -> float | None:
    """Calls that ended by themselves in a minute, over the last ten or since the oldest run under way began; None when
    too few did, or nothing is under way."""
    began = Run.objects.filter(state__in=UNFINISHED).aggregate(first=Min("created_at"))["first"]
    if began is None:
        return None
    since = max(began, now - WINDOW)
    ended = Call.objects.filter(state__in=ENDED_BY_THEMSELVES, state_since__gte=since).count()
    seconds = (now - since).total_seconds()
    return None if ended < FEWEST or seconds < SHORTEST_SECONDS else ended * 60 / seconds


# --- money -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Purse:
    """What a budget allows and what is left of it: nothing is sent beyond it. No budget: no limit."""

    budget: Decimal | None
    spent: Decimal
    reserved: Decimal
    unknown: int = 0

    @property
    def used(self) -> Decimal:
        return self.spent + self.reserved

    @property
    def left(self) -> Decimal | None:
        return None if self.budget is None else max(Decimal(0), self.budget - self.used)

    @property
    def is_reached(self) -> bool:
        return self.budget is not None and self.used >= self.budget

    @property
    def is_spent(self) -> bool:
        """Nothing comes back: what was spent alone is all of it."""
        return self.budget is not None and self.spent >= self.budget

    @property
    def percent(self) -> int:
        if not self.budget:
            return 100 if self.budget is not None else 0
        return min(100, int(self.used * 100 / self.budget))


def purse() -> Purse:
    row = Spending.objects.filter(pk=1).first() or Spending(pk=1)
    return Purse(row.budget_usd, row.spent_usd, row.reserved_usd, count_of_unknown_cost())


def paused_models() -> list[LanguageModel]:
    return list(LanguageModel.objects.exclude(paused_at=None).order_by("position", "id"))


def purse_of(run: Run) -> Purse:
    """A run's own budget, beside what its calls cost and hold back. A call that several runs read counts in each."""
    found = Call.objects.filter(runs=run).aggregate(
        spent=Sum("cost_usd"),
        reserved=Sum("reserved_usd"),
        unknown=Count("pk", filter=COST_UNKNOWN),
    )
    zero = Decimal(0)
    return Purse(run.budget_usd, found["spent"] or zero, found["reserved"] or zero, found["unknown"])


def waiting_of(runs: QuerySet[Run]) -> dict[str, int]:
    """How many calls of these runs wait, and how many are out."""
    calls = Call.objects.filter(runs__in=runs.order_by().values("pk")).distinct()
    counts = {
        state: Count("pk", distinct=True, filter=Q(state=state)) for state in (CallState.QUEUED, CallState.CALLING)
    }
    return calls.aggregate(**{str(name): count for name, count in counts.items()})


@dataclass(frozen=True)
class Outcome:
    """What several runs came to: each call counted once, however many of them read it."""

    total: int
    ended: int
    failed: int
    unknown: int
    expected: Decimal
    unexpected: int
    spent: Decimal
    unpriced: int

    @property
    def open(self) -> int:
        return self.total - self.ended


def sum_of(runs: QuerySet[Run]) -> Outcome:
    calls = Call.objects.filter(pk__in=RunCall.objects.filter(run__in=runs.order_by().values("pk")).values("call"))
    found = calls.aggregate(
        total=Count("pk"),
        ended=Count("pk", filter=Q(state__in=FINAL_CALL_STATES)),
        failed=Count("pk", filter=Q(state=CallState.FAILED, repaired_by__isnull=True)),
        unknown=Count("pk", filter=Q(state=CallState.UNKNOWN)),
        expected=Sum("expected_usd"),
        unexpected=Count("pk", filter=Q(expected_usd=None)),
        spent=Sum("cost_usd"),
        unpriced=Count("pk", filter=COST_UNKNOWN),
    )
    zero = Decimal(0)
    return Outcome(**{**found, "expected": found["expected"] or zero, "spent": found["spent"] or zero})
