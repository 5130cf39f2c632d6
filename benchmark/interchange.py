"""Scoring and framing for programs: one JSON object in, one out."""

from typing import Any

from benchmark.framing import Parts, check, nonthinking_prompt, thinking_prompt
from benchmark.metrics import Embedder, score
from benchmark.taxonomy import Language, Metric, SecondaryTask, UnknownTask, secondary_task


class BadRow(ValueError):
    """The object lacks a field or holds a value that is not listed; the message names it."""


def score_row(row: Any, *, public: bool = False, embedder: Embedder | None = None) -> dict[str, Any]:
    """The row with `score` added, and `secondary_task`, given as code or name, as its name.

    A row holds `language`, `answer` (array of strings), `prediction` and either `secondary_task` or `metric`; other
    fields pass through. Raises BadRow.
    """
    language = _language(row)
    task = _task(row) if row.get("secondary_task") is not None else None
    metric = task.metric if task else _metric(row)
    answer, prediction = _texts(row, "answer"), _text(row, "prediction")
    value = score(metric, language=language, answer=answer, prediction=prediction, public=public, embedder=embedder)
    return {**row, **({"secondary_task": task.name} if task else {}), "score": value}


def render_row(row: Any, *, embedder: Embedder | None = None) -> dict[str, Any]:
    """Both prompts of a form's parts, and the findings; made whether or not there are errors. Raises BadRow.

    A row holds `language`, `secondary_task`, `task_description`, `elements`, `example`, `answer`, and may hold
    `supplementary`. The document is taken to be in the prompt's language.
    """
    language, task = _language(row), _task(row)
    parts = Parts(
        language,
        _text(row, "task_description"),
        _text(row, "elements"),
        _text(row, "supplementary") if row.get("supplementary") is not None else "",
        tuple(_texts(row, "example")),
    )
    answer = _texts(row, "answer")
    found = check(parts, task=task, answer=answer, document_language=language, embedder=embedder)
    return {
        "question_nonthinking": nonthinking_prompt(parts),
        "question_thinking": thinking_prompt(parts),
        "findings": [
            {"check": one.check, "severity": one.severity.value, "field": one.field, "message": one.message}
            for one in found
        ],
    }


def _value(row: Any, name: str) -> Any:
    if not isinstance(row, dict):
        raise BadRow("A row is a JSON object.")
    if name not in row:
        raise BadRow(f"The field {name} is missing.")
    return row[name]


def _text(row: Any, name: str) -> str:
    value = _value(row, name)
    if not isinstance(value, str):
        raise BadRow(f"The field {name} is not a string.")
    return value


def _texts(row: Any, name: str) -> list[str]:
    value = _value(row, name)
    if not isinstance(value, list) or not all(isinstance(element, str) for element in value):
        raise BadRow(f"The field {name} is not an array of strings.")
    return value


def _language(row: Any) -> Language:
    value = _text(row, "language")
    if value not in list(Language):
        raise BadRow(f"{value!r} is not a language; use {' or '.join(Language)}.")
    return Language(value)


def _metric(row: Any) -> Metric:
    value = _text(row, "metric")
    if value not in list(Metric):
        raise BadRow(f"{value!r} is not a metric; use one of {', '.join(Metric)}.")
    return Metric(value)


def _task(row: Any) -> SecondaryTask:
    try:
        return secondary_task(_text(row, "secondary_task"))
    except UnknownTask as fault:
        raise BadRow(str(fault)) from fault
