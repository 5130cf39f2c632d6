"""What the calls to models cost: by model, stage, sample and day, the estimate beside it. Each call is counted once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Greatest, TruncDate

from annotation.models import Challenge, Sample
from generation.models import Call, ModelTrial, Run, RunCall
from generation.models.money import Dollars
from generation.queries import COST_UNKNOWN
from generation.workflow import Purpose
from release.models import DifficultyLabel
from review.models import ReviewCase

ZERO = Decimal(0)


@dataclass(frozen=True)
class CostRow:
    """One model, stage, sample or day. `unpriced` calls have no known cost, `unforeseen` ones no estimate: neither is
    in the sums. An estimate is of one attempt, a cost is of all that were paid: `again` counts those beyond the first,
    and the difference holds each paid attempt against an estimate of its own, where both are known."""

    key: str
    label: str
    calls: int = 0
    answered: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    spent: Decimal = ZERO
    unpriced: int = 0
    expected: Decimal = ZERO
    unforeseen: int = 0
    compared: int = 0
    compared_spent: Decimal = ZERO
    compared_expected: Decimal = ZERO
    compared_once: Decimal = ZERO
    again: int = 0

    @property
    def difference(self) -> Decimal | None:
        """How much more than expected for the attempts that were paid, in per cent; None without any to compare."""
        return self._over(self.compared_expected)

    @property
    def difference_once(self) -> Decimal | None:
        """How much more than expected before anything was sent, when each call was to be asked once."""
        return self._over(self.compared_once)

    def _over(self, expected: Decimal) -> Decimal | None:
        if not expected:
            return ZERO if self.compared and not self.compared_spent else None
        return (self.compared_spent - expected) * 100 / expected


def figures() -> dict[str, Any]:
    """What is summed over calls."""
    # What has a cost was paid at least once, also where nobody counted.
    paid = Greatest("paid_attempts", 1)
    is_compared = Q(cost_usd__isnull=False, expected_usd__isnull=False)
    return {
        "calls": Count("pk"),
        "answered": Count("pk", filter=Q(answered_at__isnull=False)),
        "tokens_in": Sum("tokens_in"),
        "tokens_out": Sum("tokens_out"),
        "spent": Sum("cost_usd"),
        "unpriced": Count("pk", filter=COST_UNKNOWN),
        "expected": Sum("expected_usd"),
        "unforeseen": Count("pk", filter=Q(expected_usd=None)),
        "compared": Count("pk", filter=is_compared),
        "compared_spent": Sum("cost_usd", filter=is_compared),
        "compared_expected": Sum(F("expected_usd") * paid, filter=is_compared, output_field=Dollars()),
        "compared_once": Sum("expected_usd", filter=is_compared),
        "again": Sum(paid - 1, filter=Q(cost_usd__isnull=False)),
    }


NAMES = tuple(figures())
MONEY = frozenset({"spent", "expected", "compared_spent", "compared_expected", "compared_once"})


@dataclass(frozen=True)
class Together:
    """Sums by model, by stage and over all, from one look at the calls."""

    total: CostRow
    by_model: list[CostRow]
    by_stage: list[CostRow]


def together() -> Together:
    rows = list(_grouped(Call.objects.all(), "model__name", "purpose"))
    models = [_row(name, name, mine) for name, mine in _folded(rows, "model__name").items()]
    stages = _folded(rows, "purpose")
    return Together(
        _row("total", "", _sum(rows)),
        sorted(models, key=lambda row: (-row.spent, -row.expected, row.label)),
        [_row(str(one), str(one.label), stages[one]) for one in Purpose if one in stages],
    )


def _folded(rows: Iterable[Mapping[str, Any]], name: str) -> dict[str, Mapping[str, Any]]:
    mine: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        mine.setdefault(row[name], []).append(row)
    return {value: _sum(some) for value, some in mine.items()}


def _sum(rows: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    sums: dict[str, Any] = dict.fromkeys(NAMES, 0)
    for row in rows:
        for name in NAMES:
            sums[name] += row[name] or 0
    return sums


def total() -> CostRow:
    return together().total


@dataclass(frozen=True)
class Trials:
    """Test calls of models: no purpose and no sample has them, but they are paid."""

    count: int
    spent: Decimal
    unpriced: int


def trials() -> Trials:
    sent = ModelTrial.objects.exclude(sent_at=None)
    unpriced = Count("pk", filter=Q(cost_usd=None, tokens_in__isnull=False))
    found = sent.aggregate(count=Count("pk"), spent=Sum("cost_usd"), unpriced=unpriced)
    return Trials(**{**found, "spent": found["spent"] or ZERO})


def by_model() -> list[CostRow]:
    """The dearest first."""
    return together().by_model


def by_stage() -> list[CostRow]:
    return together().by_stage


def by_day() -> list[CostRow]:
    """By the day on which the request left, in the reader's zone, the newest first."""
    sent = Call.objects.exclude(sent_at=None).annotate(day=TruncDate("sent_at"))
    return [_row(str(row["day"]), str(row["day"]), row) for row in _grouped(sent, "day").order_by("-day")]


def by_sample() -> list[CostRow]:
    """The dearest first. A call that several runs read belongs to the first; what belongs to no sample comes last."""
    read = RunCall.objects.filter(call=OuterRef("pk")).order_by().values("call")
    first = read.annotate(first=Min("run")).values("first")
    rows: Any = Call.objects.annotate(run=Subquery(first)).order_by().values("run").annotate(**figures())
    sample_of = _samples_by_run()
    merged: dict[int | None, dict[str, Any]] = {}
    for row in rows:
        mine = merged.setdefault(sample_of.get(row["run"]), dict.fromkeys(NAMES, 0))
        for name in NAMES:
            mine[name] += row[name] or 0
    labels = {pk: sample_label(pk) for pk in merged if pk is not None}
    found = [_row(str(pk or ""), labels.get(pk, "") if pk else "", row) for pk, row in merged.items()]
    return sorted(found, key=lambda row: (not row.key, -row.spent, -row.expected, row.label))


# What costs can be summed by.
BY: Mapping[str, Callable[[], list[CostRow]]] = {
    "model": by_model,
    "stage": by_stage,
    "day": by_day,
    "sample": by_sample,
}


def sample_label(pk: int) -> str:
    return Sample(pk=pk).label


def _samples_by_run() -> dict[int, int]:
    """Every run that was made for a sample, whichever stage made it; one that its sample no longer names (it was
    drafted again) by document and task."""
    by_pair = {(document, task): pk for document, task, pk in _pairs_of_samples()}
    runs = Run.objects.order_by().values_list("pk", "document_version__document", "task_code")
    found = {pk: by_pair[document, task] for pk, document, task in runs if (document, task) in by_pair}
    named: Iterable[tuple[Any, int]] = [
        *Sample.objects.exclude(drafting_run=None).values_list("drafting_run", "pk"),
        *Challenge.objects.values_list("run", "candidate__sample"),
        *ReviewCase.objects.exclude(prediction_run=None).values_list("prediction_run", "sample"),
        *DifficultyLabel.objects.exclude(run=None).values_list("run", "standardization__sample"),
    ]
    return {**found, **dict(named)}


def _pairs_of_samples() -> QuerySet[Sample, tuple[int, str, int]]:
    """The first sample of a pair comes last, and stays: runs made before the next one are its."""
    return Sample.objects.order_by("-pk").values_list("document", "task_code", "pk")


def _grouped(calls: QuerySet[Call], *names: str) -> Any:
    return calls.order_by().values(*names).annotate(**figures())


def _row(key: str, label: str, found: Mapping[str, Any]) -> CostRow:
    given: dict[str, Any] = {name: found[name] or (ZERO if name in MONEY else 0) for name in NAMES}
    return CostRow(key, label, **given)
