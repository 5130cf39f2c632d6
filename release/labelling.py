"""Difficulty labels: start a run for every label that was asked for, and read the ladder when its answers are in.

The label's row is the truth. What no message reached is found again by `work_off`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from celery import signature
from django.db import transaction
from django.utils import timezone

from benchmark.difficulty import Judgement, ModelResult, Tier, judge
from core import history
from core.refusals import Refused
from generation.actions import start_difficulty
from generation.models import LanguageModel, Run
from generation.queries import Result, panel, results_of
from generation.workflow import Purpose
from release.models import DifficultyLabel
from release.queries import to_judge, to_start, tokens_to_label

TASK = "release.work_off_labels"


def work_off() -> int:
    """Start what can be started, judge what can be judged. Returns how many labels moved."""
    started = sum(start(label.pk) for label in to_start())
    return started + sum(settle(label) for label in to_judge())


def start(pk: int) -> bool:
    """Start the run of one label, once. A refusal is kept beside the label, which goes on waiting."""
    try:
        with transaction.atomic():
            label = DifficultyLabel.objects.select_for_update(of=("self",)).get(pk=pk)
            if label.run_id is not None:
                return False
            label.run, label.refusal = _start_run(label), ""
            label.save(update_fields=["run", "refusal"])
    except Refused as refusal:
        DifficultyLabel.objects.filter(pk=pk, run=None).update(refusal=str(refusal))
        return False
    return True


def _start_run(label: DifficultyLabel) -> Run:
    made = label.standardization
    return start_difficulty(
        document_version=made.document_version,
        task=label.sample.task,
        prompt=made.question_nonthinking,
        prompt_thinking=made.question_thinking,
        answer=made.answer,
        runs_per_model=label.runs_per_model,
        by=label.asked_by,
        then=signature(TASK, immutable=True),
    )


def settle(label: DifficultyLabel) -> bool:
    """Read the ladder of one finished run. True when the label has changed by it.

    While models that decide are missing the label stays open and names them; answers that come later complete it.
    """
    assert label.run is not None
    judgement = judge(model_results(results_of(label.run)))
    if judgement.difficulty is None:
        return _name_missing(label, judgement)
    with transaction.atomic():
        settled = DifficultyLabel.objects.filter(pk=label.pk, difficulty="").update(
            difficulty=judgement.difficulty.value,
            missing=[],
            right=_counts(judgement),
            labelled_at=timezone.now(),
        )
        if settled:
            right = _counts(judgement)
            history.record("label", label.sample, by=None, difficulty=judgement.difficulty.value, right=right)
    label.refresh_from_db()
    return bool(settled)


def _name_missing(label: DifficultyLabel, judgement: Judgement) -> bool:
    missing, right = list(judgement.missing), _counts(judgement)
    if (label.missing, label.right) == (missing, right):
        return False
    DifficultyLabel.objects.filter(pk=label.pk, difficulty="").update(missing=missing, right=right)
    label.refresh_from_db()
    return True


def _counts(judgement: Judgement) -> dict[str, int]:
    return {tier.value: judgement.right[tier] for tier in Tier}


def model_results(results: Sequence[Result]) -> list[ModelResult]:
    """The run's answers by model, in the panel's order: the evidence that the ladder is read from."""
    runs: dict[LanguageModel, list[bool | None]] = {}
    for result in results:
        runs.setdefault(result.model, []).append(result.right)
    return [ModelResult(model.name, Tier(model.tier), tuple(answers)) for model, answers in runs.items()]


@dataclass(frozen=True)
class Estimate:
    """What labelling the unlabelled samples would take. `usd` is None when a model's price is not known."""

    samples: int
    calls: int
    tokens_in: int
    usd: Decimal | None


def estimate(runs_per_model: int) -> Estimate:
    """Input only, from the documents' tokens: how long answers will be is not known before."""
    samples, tokens = tokens_to_label()
    models = panel(Purpose.DIFFICULTY)
    prices = [model.usd_per_million_input for model in models]
    known = [price for price in prices if price is not None]
    usd = sum(known, Decimal(0)) * tokens * runs_per_model / 1_000_000 if len(known) == len(prices) else None
    return Estimate(samples, samples * len(models) * runs_per_model, tokens * len(models) * runs_per_model, usd)
