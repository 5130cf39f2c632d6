"""Lists of samples for spreadsheets."""

from collections.abc import Iterable, Iterator
from typing import Any

from core.spreadsheet import lines
from release.models import Release
from release.readiness import Verdict

READINESS = (
    "sample",
    "id",
    "secondary_task",
    "language",
    "token_length",
    "tokens",
    "difficulty",
    "answer",
    "ready",
    "reasons",
)
ITEMS = (
    "id",
    "language",
    "token_length",
    "primary_task",
    "secondary_task",
    "contextual_requirement",
    "question_nonthinking",
    "answer",
    "difficulty",
)


def readiness_lines(verdicts: Iterable[Verdict]) -> Iterator[str]:
    return lines(READINESS, map(_readiness_row, verdicts))


def _readiness_row(verdict: Verdict) -> list[Any]:
    one = verdict.collected
    return [
        one.sample.label,
        one.sample.public_id,
        one.cell.task,
        one.cell.language,
        one.cell.bucket,
        one.sample.document_version.tokens,
        one.difficulty,
        "\n".join(one.standardization.answer) if one.standardization else "",
        "yes" if verdict.is_ready else "no",
        "\n".join(reason.message for reason in verdict.reasons),
    ]


def item_lines(release: Release) -> Iterator[str]:
    fields = release.items.order_by("position").values_list("fields", flat=True).iterator(chunk_size=200)
    return lines(ITEMS, ([_cell(row[name]) for name in ITEMS] for row in fields))


def _cell(value: Any) -> Any:
    return "\n".join(value) if isinstance(value, list) else value
