"""What the calls to models cost: by model, stage, sample and day, the estimate beside it. Each call is counted once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from annotation.models import Challenge, Sample
from generation.models import Call, ModelTrial, Run, RunCall
from generation.workflow import CallState, Purpose
from release.models import DifficultyLabel
from review.models import ReviewCase

ZERO = Decimal(0)


@dataclass(frozen=True)
class CostRow:
    """One model, stage, sample or day. `unpriced` calls have no known cost, `unforeseen` ones no estimate: neither is
    in the sums. The difference compares only calls for which both are known."""

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

    @property
    def difference(self) -> Decimal | None:
        """How much more than expected, in per cent; None where there is nothing to compare."""
        if not self.compared_expected:
            return ZERO if self.compared and not self.compared_spent else None
        return (self.compared_spent - self.compared_expected) * 100 / self.compared_expected


def figures(of: str = "") -> dict[str, Any]:
    """What is summed over calls; `of`: how a call is reached from the rows that are grouped."""
    is_compared = Q(**{f"{of}cost_usd__isnull": False, f"{of}expected_usd__isnull": False})
    is_unknown = Q(**{f"{of}answered_at__isnull": False, f"{of}cost_usd": None}) | Q(
        **{f"{of}state": CallState.UNKNOWN}
    )
    return {
        "calls": Count("pk"),
        "answered": Count("pk", filter=Q(**{f"{of}answered_at__isnull": False})),
        "tokens_in": Sum(f"{of}tokens_in"),
        "tokens_out": Sum(f"{of}tokens_out"),
        "spent": Sum(f"{of}cost_usd"),
        "unpriced": Count("pk", filter=is_unknown),
        "expected": Sum(f"{of}expected_usd"),
        "unforeseen": Count("pk", filter=Q(**{f"{of}expected_usd": None})),
        "compared": Count("pk", filter=is_compared),
        "compared_spent": Sum(f"{of}cost_usd", filter=is_compared),
        "compared_expected": Sum(f"{of}expected_usd", filter=is_compared),
    }


NAMES = tuple(figures())
MONEY = frozenset({"spent", "expected", "compared_spent", "compared_expected"})


def total() -> CostRow:
    return _row("total", "", Call.objects.aggregate(**figures()))


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
    rows = [_row(row["model__name"], row["model__name"], row) for row in _grouped(Call.objects.all(), "model__name")]
    return sorted(rows, key=lambda row: (-row.spent, -row.expected, row.label))


def by_stage() -> list[CostRow]:
    found = {row["purpose"]: row for row in _grouped(Call.objects.all(), "purpose")}
    return [_row(str(one), str(one.label), found[one]) for one in Purpose if one in found]


def by_day() -> list[CostRow]:
    """By the day on which the request left, in the reader's zone, the newest first."""
    sent = Call.objects.exclude(sent_at=None).annotate(day=TruncDate("sent_at"))
    return [_row(str(row["day"]), str(row["day"]), row) for row in _grouped(sent, "day").order_by("-day")]


def by_sample() -> list[CostRow]:
    """The dearest first. A call that several runs read belongs to the first; what belongs to no sample comes last."""
    earlier = RunCall.objects.filter(call=OuterRef("call"), pk__lt=OuterRef("pk"))
    rows: Any = RunCall.objects.filter(~Exists(earlier)).order_by().values("run").annotate(**figures("call__"))
    sample_of = _samples_by_run()
    merged: dict[int | None, dict[str, Any]] = {}
    for row in rows:
        mine = merged.setdefault(sample_of.get(row["run"]), dict.fromkeys(NAMES, 0))
        for name in NAMES:
            mine[name] += row[name] or 0
    labels = {pk: sample_label(pk) for pk in merged if pk is not None}
    found = [_row(str(pk or ""), labels.get(pk, "") if pk else "", row) for pk, row in merged.items()]
    return sorted(found, key=lambda row: (not row.key, -row.spent, -row.expected, row.label))


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
