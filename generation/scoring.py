"""Scores answers against the run's reference. The reference is compared here, in the house; no request carries it."""

from collections.abc import Sequence

from benchmark.metrics import Embedder, default_embedder, is_right, score, shown_elements
from benchmark.taxonomy import Language, Metric
from generation.models import Call, Run, RunCall
from generation.queries import unscored


def score_answers(run: Run, calls: Sequence[Call] | None = None, *, embedder: Embedder | None = None) -> int:
    """Score the run's answered calls that have no score yet; returns how many. Run twice at once, it writes once."""
    if not run.reference:
        return 0
    return sum(_score(run, row.call, embedder or default_embedder()) for row in unscored(run, calls))


def score_answer(run: Run, call: Call) -> int:
    """The same for one call whose reply has just been stored, and is at hand."""
    return _score(run, call, default_embedder()) if run.reference else 0


def _score(run: Run, call: Call, embedder: Embedder) -> int:
    task = run.task
    value = score(task, language=Language(run.language), answer=run.reference, prediction=call.raw, embedder=embedder)
    return RunCall.objects.filter(run=run, call=call, score=None).update(
        elements=shown_elements(call.raw),
        score=value,
        right=is_right(task, value),
        embedder=embedder.name if task.metric is Metric.SUMMARY else "",
    )
