"""What became of the work: submissions that experts sent back, samples that went to reconstruction, candidates that
were chosen; by person, model and task."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q

from annotation.models import Candidate, Sample, Submission
from annotation.workflow import AuditOutcome, CandidateState, SampleState
from benchmark.taxonomy import SECONDARY_TASKS, SecondaryTask
from core.models import User
from generation.models import LanguageModel
from review.models import ReviewCase
from review.workflow import AdjudicationOutcome, CaseState

CLOSED = (CaseState.ACCEPTED, CaseState.ADJUDICATED)


@dataclass
class Rates:
    """Of one person, model or task. `audited` submissions were approved or rejected; `decided` cases were accepted by
    their reviews or adjudicated."""

    key: str
    label: str
    audited: int = 0
    rejected: int = 0
    decided: int = 0
    reconstructed: int = 0
    simulated: bool = False
    task: SecondaryTask | None = None

    @property
    def rejection(self) -> float | None:
        return _share(self.rejected, self.audited)

    @property
    def reconstruction(self) -> float | None:
        return _share(self.reconstructed, self.decided)


@dataclass(frozen=True)
class Outcomes:
    total: Rates
    by_person: list[Rates]
    by_model: list[Rates]
    by_task: list[Rates]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass
class _Fold:
    """Rates under their keys, made when they are first counted."""

    rows: dict[Any, Rates] = field(default_factory=dict)

    def of(self, key: Any) -> Rates:
        return self.rows.setdefault(key, Rates(str(key), ""))


# What a submission tells: sample, round, how it ended, by whom, of which model's candidate, task.
_TOLD = ("sample", "round", "outcome", "submitted_by", "candidate__draft__call__model", "sample__task_code")


def outcomes() -> Outcomes:
    """Four queries. A case is its submission's: what the expert approved last in its round, whose author and model
    it counts for."""
    total, people, models, tasks = Rates("", ""), _Fold(), _Fold(), _Fold()
    approved: dict[tuple[int, int], tuple[int, int, str]] = {}
    told = Submission.objects.filter(outcome__in=[AuditOutcome.APPROVED, AuditOutcome.REJECTED])
    for sample, of_round, outcome, person, model, task in told.order_by("sample", "number").values_list(*_TOLD):
        for row in (total, people.of(person), models.of(model), tasks.of(task)):
            row.audited += 1
            row.rejected += outcome == AuditOutcome.REJECTED
        if outcome == AuditOutcome.APPROVED:
            approved[sample, of_round] = (person, model, task)
    cases = ReviewCase.objects.filter(state__in=CLOSED).order_by()
    for sample, of_round, decision, task in cases.values_list(
        "sample", "round", "adjudication__outcome", "sample__task_code"
    ):
        rows = [total, tasks.of(task)]
        if (sample, of_round) in approved:
            person, model, _task = approved[sample, of_round]
            rows += [people.of(person), models.of(model)]
        for row in rows:
            row.decided += 1
            row.reconstructed += decision == AdjudicationOutcome.RECONSTRUCT
    _name_people(people.rows)
    _name_models(models.rows)
    return Outcomes(
        total, _worst_first(people.rows.values()), _worst_first(models.rows.values()), _named_tasks(tasks.rows)
    )


def _worst_first(rows: Iterable[Rates]) -> list[Rates]:
    return sorted(rows, key=lambda row: (-(row.rejection or 0), -(row.reconstruction or 0), -row.audited, row.label))


def _name_people(rows: dict[Any, Rates]) -> None:
    for pk, user in User.objects.in_bulk(list(rows)).items():
        rows[pk].label = user.name


def _name_models(rows: dict[Any, Rates]) -> None:
    for pk, model in LanguageModel.objects.in_bulk(list(rows)).items():
        rows[pk].label, rows[pk].simulated = model.name, model.is_simulated


def _named_tasks(rows: dict[Any, Rates]) -> list[Rates]:
    """In the order of the taxonomy."""
    found = []
    for task in SECONDARY_TASKS:
        if task.code in rows:
            row = rows[task.code]
            row.label, row.task = task.name, task
            found.append(row)
    return found


# Chosen candidates -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chosen:
    """What became of one drafting model's candidates. `chosen` now is some sample's one candidate that goes on;
    `accepted` of these are in accepted samples. `of_all` counts the chosen ones of all models."""

    name: str
    simulated: bool
    candidates: int
    discarded: int
    passed: int
    chosen: int
    accepted: int
    of_all: int

    @property
    def share(self) -> float | None:
        """Of all that were chosen."""
        return _share(self.chosen, self.of_all)

    @property
    def rate(self) -> float | None:
        """Of its own candidates."""
        return _share(self.chosen, self.candidates)


def chosen() -> list[Chosen]:
    """The most chosen first. Three queries."""
    model = "draft__call__model"
    counted = (
        Candidate.objects.order_by()
        .values(model)
        .annotate(
            count=Count("pk"),
            discarded=Count("pk", filter=Q(state=CandidateState.DISCARDED)),
            passed=Count("pk", filter=Q(state=CandidateState.PASSED)),
        )
    )
    picked = (
        Sample.objects.exclude(chosen=None)
        .order_by()
        .values(f"chosen__{model}")
        .annotate(count=Count("pk"), accepted=Count("pk", filter=Q(state=SampleState.ACCEPTED)))
    )
    picks = {row[f"chosen__{model}"]: row for row in picked}
    of_all = sum(row["count"] for row in picks.values())
    by_model = {row[model]: row for row in counted}
    models = LanguageModel.objects.in_bulk(list(by_model))
    rows = []
    for pk, row in by_model.items():
        pick = picks.get(pk, {"count": 0, "accepted": 0})
        counts = (row["count"], row["discarded"], row["passed"], pick["count"], pick["accepted"])
        rows.append(Chosen(models[pk].name, models[pk].is_simulated, *counts, of_all))
    return sorted(rows, key=lambda row: (-row.chosen, -row.passed, row.name))
