"""Runs and calls as lists show them: a page of rows and what belongs to them, in a constant number of queries.

Prompts, replies, references and document texts stay in the database.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from generation.models import Call, Draft, LanguageModel, Run, RunCall
from generation.queries import is_repaired
from generation.workflow import FINAL_CALL_STATES, CallState, trouble_words

HEAVY = ("raw", "reasoning", "prompt")


@dataclass(frozen=True)
class Money:
    """A sum of dollars and how many parts of it nobody knows: with unknown parts alone there is no sum."""

    usd: Decimal = Decimal(0)
    unknown: int = 0


@dataclass(frozen=True)
class RunLine:
    """One run of a list. `states` counts its calls by state; `repaired` of the failed were followed by a repair,
    `held` of the queued wait for a paused model."""

    run: Run
    states: dict[str, int] = field(default_factory=dict)
    repaired: int = 0
    held: int = 0
    cost: Money = Money()
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def total(self) -> int:
        return sum(self.states.values())

    @property
    def ended(self) -> int:
        return sum(n for state, n in self.states.items() if state in FINAL_CALL_STATES)

    @property
    def failed(self) -> int:
        return self.states.get(CallState.FAILED, 0) - self.repaired

    @property
    def unknown(self) -> int:
        return self.states.get(CallState.UNKNOWN, 0)

    @property
    def partial(self) -> int:
        return self.states.get(CallState.PARTIAL, 0)


def runs_plain(runs: QuerySet[Run] | None = None) -> QuerySet[Run]:
    """Runs with their documents, newest first, to be cut into pages before anything is counted."""
    runs = Run.objects.all() if runs is None else runs
    return (
        runs.select_related("document_version__document", "created_by")
        .defer("prompt", "prompt_thinking", "reference")
        .order_by("-id")
    )


def lines_of(runs: Iterable[Run]) -> list[RunLine]:
    """The runs of one page with their figures, in two more queries. No model is joined: a database that begins with
    the models goes through all their calls."""
    runs = list(runs)
    paused = list(LanguageModel.objects.exclude(paused_at=None).order_by().values_list("pk", flat=True))
    rows = (
        RunCall.objects.filter(run__in=[run.pk for run in runs])
        .order_by()
        .values("run", "call__state")
        .annotate(
            n=Count("pk"),
            repaired=Count("pk", filter=Q(call__state=CallState.FAILED, call__repaired_by__isnull=False)),
            held=Count("pk", filter=Q(call__state=CallState.QUEUED, call__model__in=paused or [0])),
            usd=Sum("call__cost_usd"),
            unpriced=Count(
                "pk",
                filter=Q(call__cost_usd=None, call__answered_at__isnull=False) | Q(call__state=CallState.UNKNOWN),
            ),
            read=Sum("call__tokens_in"),
            written=Sum("call__tokens_out"),
        )
    )
    by_run: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_run.setdefault(row["run"], []).append(row)
    return [_line(run, by_run.get(run.pk, [])) for run in runs]


def _line(run: Run, rows: Sequence[Mapping[str, Any]]) -> RunLine:
    def total(name: str) -> int:
        return sum(row[name] or 0 for row in rows)

    usd = sum((row["usd"] or Decimal(0) for row in rows), Decimal(0))
    states = {row["call__state"]: row["n"] for row in rows}
    cost = Money(usd, total("unpriced"))
    return RunLine(run, states, total("repaired"), total("held"), cost, total("read"), total("written"))


# --- calls -----------------------------------------------------------------------------------------------------------


def calls_plain(calls: QuerySet[Call] | None = None) -> QuerySet[Call]:
    """Calls with model and document, newest first; `followed` says whether a repair came after."""
    calls = Call.objects.all() if calls is None else calls
    return (
        calls.select_related("model", "document_version__document")
        .annotate(followed=Exists(Call.objects.filter(repairs=OuterRef("pk"))))
        .defer(*HEAVY)
        .order_by("-id")
    )


def unanswered(calls: QuerySet[Call] | None = None) -> QuerySet[Call]:
    """What `queries.retryable` and `queries.undecided` find together: calls that can be sent again."""
    ended = (Call.objects.all() if calls is None else calls).filter(
        state__in=[CallState.FAILED, CallState.CANCELLED, CallState.UNKNOWN]
    )
    return ended.exclude(is_repaired()).exclude(Exists(Draft.objects.filter(call=OuterRef("pk"))))


@dataclass(frozen=True)
class Trouble:
    """Calls that failed, or whose end is unknown, for one reason at one model."""

    state: str
    error_class: str
    model: str
    calls: int
    expected: Money

    @property
    def words(self) -> str:
        return trouble_words(self.error_class)


def troubles(calls: QuerySet[Call] | None = None) -> list[Trouble]:
    """What failed and what is unknown, by reason and model, the largest first."""
    rows = (
        unanswered((Call.objects.all() if calls is None else calls).exclude(state=CallState.CANCELLED))
        .order_by()
        .values("state", "error_class", "model__name")
        .annotate(n=Count("pk"), usd=Sum("expected_usd"), blank=Count("pk", filter=Q(expected_usd=None)))
    )
    found = [
        Trouble(
            row["state"],
            row["error_class"],
            row["model__name"],
            row["n"],
            Money(row["usd"] or Decimal(0), row["blank"]),
        )
        for row in rows
    ]
    return sorted(found, key=lambda one: (one.state, -one.calls, one.error_class, one.model))


@dataclass(frozen=True)
class Kind:
    """One kind of failure at several models."""

    state: str
    error_class: str
    models: int
    calls: int
    expected: Money

    @property
    def words(self) -> str:
        return trouble_words(self.error_class)


def kinds_of(troubles: Iterable[Trouble]) -> dict[str, Kind]:
    """What several models have in common, by state and reason: it can be sent again at all of them at once."""
    found: dict[str, list[Trouble]] = {}
    for one in troubles:
        found.setdefault(f"{one.state} {one.error_class}", []).append(one)
    return {
        name: Kind(
            some[0].state,
            some[0].error_class,
            len(some),
            sum(one.calls for one in some),
            Money(sum((one.expected.usd for one in some), Decimal(0)), sum(one.expected.unknown for one in some)),
        )
        for name, some in found.items()
        if len(some) > 1
    }


@dataclass(frozen=True)
class ByModel:
    """Calls of one model: how many, how many of them may have been billed already, and what they should cost."""

    model: str
    is_paused: bool
    calls: int
    unknown: int
    expected: Money


def by_model(calls: QuerySet[Call]) -> list[ByModel]:
    rows = (
        Call.objects.filter(pk__in=calls.order_by().values("pk"))
        .order_by()
        .values("model__name", "model__position", "model__paused_at")
        .annotate(
            n=Count("pk"),
            lost=Count("pk", filter=Q(state=CallState.UNKNOWN)),
            usd=Sum("expected_usd"),
            blank=Count("pk", filter=Q(expected_usd=None)),
        )
        .order_by("model__position", "model__name")
    )
    return [
        ByModel(
            row["model__name"],
            row["model__paused_at"] is not None,
            row["n"],
            row["lost"],
            Money(row["usd"] or Decimal(0), row["blank"]),
        )
        for row in rows
    ]


def total_of(rows: Iterable[ByModel]) -> Money:
    sums = [row.expected for row in rows]
    return Money(sum((one.usd for one in sums), Decimal(0)), sum(one.unknown for one in sums))
