"""The six metrics, and the two questions asked of a score: what is it, and is that right?"""

from collections.abc import Callable, Sequence

from benchmark.metrics.accuracy import accuracy
from benchmark.metrics.embedding import Embedder, OfflineEmbedder, default_embedder
from benchmark.metrics.f1 import f1
from benchmark.metrics.ndcg import ndcg
from benchmark.metrics.pairwise import pairwise_accuracy
from benchmark.metrics.reading import (
    IDENTIFIERS,
    answer_text,
    predicted_lines,
    reference_lines,
    shown_elements,
)
from benchmark.metrics.subem import subem
from benchmark.metrics.summary import summary
from benchmark.taxonomy import Language, Metric, SecondaryTask

__all__ = [
    "IDENTIFIERS",
    "Embedder",
    "OfflineEmbedder",
    "answer_text",
    "default_embedder",
    "is_right",
    "metric_of",
    "predicted_lines",
    "reference_lines",
    "score",
    "scores_itself",
    "shown_elements",
]

LINE_METRICS: dict[Metric, Callable[[Sequence[str], Sequence[str]], float]] = {
    Metric.NDCG: ndcg,
    Metric.PAIRWISE: pairwise_accuracy,
    Metric.ACCURACY: accuracy,
    Metric.F1: f1,
    Metric.SUBEM: subem,
}
FULL_MARKS = 1 - 1e-6
SUMMARY_PASSES_ABOVE = 0.65
MARK = {Language.ENGLISH: IDENTIFIERS[0], Language.CHINESE: IDENTIFIERS[1]}


def metric_of(metric_or_task: Metric | SecondaryTask | str) -> Metric:
    """The metric itself, or a task's metric. ValueError for a string that names no metric."""
    return metric_or_task.metric if isinstance(metric_or_task, SecondaryTask) else Metric(metric_or_task)


def score(
    metric_or_task: Metric | SecondaryTask | str,
    *,
    language: Language,
    answer: Sequence[str],
    prediction: str,
    public: bool = False,
    embedder: Embedder | None = None,
) -> float:
    """The score of one reply against the reference elements; an empty reply scores 0.0.

    `prediction` is the raw reply. `public` reproduces the public evaluator (it differs for summaries only).
    `embedder` is asked for summaries only; the default one is loaded when first needed.
    """
    metric = metric_of(metric_or_task)
    if not prediction:
        return 0.0
    if metric is Metric.SUMMARY:
        return summary(answer, prediction, language=Language(language), public=public, embedder=embedder)
    return LINE_METRICS[metric](reference_lines(answer), predicted_lines(prediction))


def is_right(metric_or_task: Metric | SecondaryTask | str, score: float) -> bool:
    """The one place that decides whether a score counts as a right answer."""
    if metric_of(metric_or_task) is Metric.SUMMARY:
        return score > SUMMARY_PASSES_ABOVE
    return score >= FULL_MARKS


def as_reply(language: Language, elements: Sequence[str]) -> str:
    """Elements as a model would give them: the identifier, then one a line."""
    return "\n".join([MARK[Language(language)], *elements])


def scores_itself(
    task: Metric | SecondaryTask | str,
    *,
    language: Language,
    answer: Sequence[str],
    embedder: Embedder | None = None,
) -> bool:
    """Whether the reference, given as a model's reply, gets full marks; for summaries each reference alone."""
    summaries = metric_of(task) is Metric.SUMMARY
    replies = [as_reply(language, [text]) for text in answer] if summaries else [as_reply(language, answer)]
    return bool(replies) and all(
        score(task, language=language, answer=answer, prediction=reply, embedder=embedder) >= FULL_MARKS
        for reply in replies
    )
