"""What the models predicted for a case, and what of it the answer lacks."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.elements import comparable
from benchmark.taxonomy import Metric
from generation.models import LanguageModel
from generation.queries import Result, results_of
from review.models import ReviewCase


@dataclass(frozen=True)
class PredictedElement:
    """An element that models gave and the answer lacks, in the words of the first who gave it."""

    element: str
    models: tuple[LanguageModel, ...]


def predictions_of(case: ReviewCase) -> list[Result]:
    """What the panel answered, failed calls included."""
    return list(results_of(case.prediction_run)) if case.prediction_run else []


def lines_of(case: ReviewCase, result: Result) -> list[str]:
    """The elements of one prediction. A summary is one element, however many lines it has."""
    if not result.call.has_answer:
        return []
    lines = [str(line) for line in result.elements if str(line).strip()]
    if is_summary(case):
        return ["\n".join(lines)] if lines else []
    return lines


def is_summary(case: ReviewCase) -> bool:
    return case.sample.task.metric is Metric.SUMMARY


def predicted_elements(case: ReviewCase, results: Sequence[Result] | None = None) -> list[PredictedElement]:
    """The distinct elements that only models gave: the most given first, then in the order in which they appear.

    Elements are the same without regard to case and spacing. A summary counts as one element.
    """
    results = predictions_of(case) if results is None else results
    answer = {comparable(element) for element in case.standardization.answer}
    words: dict[str, str] = {}
    models: dict[str, list[LanguageModel]] = {}
    for result in results:
        for line in lines_of(case, result):
            key = comparable(line)
            if key in answer:
                continue
            words.setdefault(key, line)
            givers = models.setdefault(key, [])
            if result.model not in givers:
                givers.append(result.model)
    found = [PredictedElement(words[key], tuple(models[key])) for key in words]
    return sorted(found, key=lambda predicted: -len(predicted.models))


def unanswered(case: ReviewCase, results: Sequence[Result] | None = None) -> list[Result]:
    """The predictions that did not come, or not yet."""
    results = predictions_of(case) if results is None else results
    return [result for result in results if not result.call.has_answer]
