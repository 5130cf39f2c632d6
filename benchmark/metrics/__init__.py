"""The six metrics, and the two questions asked of a score: what is it, and is that right?"""

from collections.abc import Callable, Sequence

from benchmark.metrics.accuracy import accuracy
from benchmark.metrics.embedding import Embedder, OfflineEmbedder, default_embedder, is_of_the_paper, use_embedder
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
    "FULL_MARKS",
    "IDENTIFIERS",
    "Embedder",
    "OfflineEmbedder",
    "answer_text",
    "default_embedder",
    "is_of_the_paper",
    "is_right",
    "metric_of",
    "predicted_lines",
    "reference_lines",
    "score",
    "scores_itself",
    "self_scores",
    "shown_elements",
    "use_embedder",
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
# How a reply to the thinking prompt goes on before its answer; %s is the identifier.
REASONING = {
    Language.ENGLISH: "I read the text step by step and check each line. Now I output the “%s” identifier.",
    Language.CHINESE: "我逐步阅读全文，并核对每一行。现在输出“%s”标识符。",
}
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


def as_reply(language: Language, elements: Sequence[str], *, thinking: bool = False) -> str:
    """Elements as a model would give them: the identifier, then one a line.

    With `thinking` after a reasoning part, in which the model names the identifier too, as models do.
    """
    mark = MARK[Language(language)]
    reasoning = [REASONING[Language(language)] % mark, ""] if thinking else []
    return "\n".join([*reasoning, mark, *elements])


def self_scores(
    task: Metric | SecondaryTask | str,
    *,
    language: Language,
    answer: Sequence[str],
    embedder: Embedder | None = None,
) -> tuple[float, float]:
    """What the reference scores as a reply to the non-thinking and to the thinking prompt, read as replies are read.

    For summaries each reference alone is a reply; the lowest of their scores counts.
    """
    replies = [[text] for text in answer] if metric_of(task) is Metric.SUMMARY else [list(answer)]
    plain, thought = (
        min(
            (
                score(
                    task,
                    language=language,
                    answer=answer,
                    prediction=as_reply(language, reply, thinking=thinking),
                    embedder=embedder,
                )
                for reply in replies
            ),
            default=0.0,
        )
        for thinking in (False, True)
    )
    return plain, thought


def scores_itself(
    task: Metric | SecondaryTask | str,
    *,
    language: Language,
    answer: Sequence[str],
    embedder: Embedder | None = None,
) -> bool:
    """Whether the reference, given as a model's reply in either form, gets full marks."""
    return min(self_scores(task, language=language, answer=answer, embedder=embedder)) >= FULL_MARKS
