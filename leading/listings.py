"""What the pages of progress and plan show, as files for spreadsheets: the same rows from the same queries."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotation.workflow import SampleState
from core.spreadsheet import lines
from leading import costs
from leading.effort import Effort
from leading.outcomes import Chosen, Rates
from leading.pace import BY_PEOPLE, Forecast, Throughput, Work
from leading.queries import AGES, STAGE_ORDER, Cell, Cost, Stage


def cell_lines(cells: Iterable[Cell]) -> Iterator[str]:
    # Accepted stands among the first.
    others = [state for state in STAGE_ORDER if state != SampleState.ACCEPTED]
    head = [
        *("secondary_task", "language", "bucket", "target", "accepted", "under_way", "missing", "to_plan", "blocked"),
        *others,
    ]
    rows = (
        [
            *(cell.task.name, cell.language, cell.bucket, cell.target, cell.done, cell.under_way),
            *(cell.missing, cell.unplanned, cell.blocked),
            *(cell.states.get(state, 0) for state in others),
        ]
        for cell in cells
    )
    return lines(head, rows)


def stage_lines(stages: Iterable[Stage]) -> Iterator[str]:
    ages = [f"within_{days}_days" for days in AGES]
    head = ["state", "samples", "blocked", "waiting_since", *ages, "longer"]
    none = [""] * (len(AGES) + 1)
    rows = (
        [
            *(stage.state, stage.count, stage.blocked),
            stage.oldest.isoformat(timespec="seconds") if stage.oldest and stage.is_waiting else "",
            *(stage.ages or none),
        ]
        for stage in stages
    )
    return lines(head, rows)


def forecast_lines(expected: Forecast) -> Iterator[str]:
    return lines(["day", "accepted"], ([point.day.isoformat(), point.accepted] for point in expected.curve))


def cost_lines(cost: Cost, accepted: int) -> Iterator[str]:
    head = ["stage", "calls", "spent_usd", "unpriced", "spent_usd_per_accepted_sample"]
    rows: list[list[Any]] = [
        [stage.purpose, stage.calls, stage.usd, stage.unknown, _each(stage.usd, accepted)] for stage in cost.stages
    ]
    return lines(head, [*rows, ["all", cost.calls, cost.usd, cost.unknown, _each(cost.usd, accepted)]])


def _each(usd: Any, accepted: int) -> Any:
    return round(usd / accepted, 4) if accepted else ""


def day_lines(done: Throughput) -> Iterator[str]:
    rows = ([day.isoformat(), *(done.by_day[kind][at] for kind in Work)] for at, day in enumerate(done.days))
    return lines(["day", *(kind.value for kind in Work)], rows)


def person_lines(done: Throughput) -> Iterator[str]:
    head = ["person", "role", *(kind.value for kind in BY_PEOPLE), "all"]
    rows = ([one.name, one.role, *(one.counts[kind] for kind in BY_PEOPLE), one.total] for one in done.people)
    return lines(head, rows)


def time_lines(effort: Effort) -> Iterator[str]:
    """One line for each step and bucket that has a time."""
    rows = (
        [step.step.value, bucket, time.samples, round(time.seconds), round(time.mean, 1)]
        for step in effort.steps
        for bucket, time in zip(effort.buckets, step.times, strict=True)
        if time.mean is not None
    )
    return lines(["step", "bucket", "samples", "seconds", "seconds_per_sample"], rows)


def rate_lines(by: str, rates: Iterable[Rates]) -> Iterator[str]:
    head = [
        *(by, "audited", "rejected", "rejected_percent"),
        *("cases_decided", "reconstructed", "reconstructed_percent"),
    ]
    rows = (
        [
            *(row.label, row.audited, row.rejected, _percent(row.rejection)),
            *(row.decided, row.reconstructed, _percent(row.reconstruction)),
        ]
        for row in rates
    )
    return lines(head, rows)


def chosen_lines(rows: Iterable[Chosen]) -> Iterator[str]:
    head = [
        *("model", "simulated", "candidates", "discarded", "passed", "chosen", "in_accepted_samples"),
        *("percent_of_all_chosen", "percent_of_its_candidates"),
    ]
    told = (
        [
            *(row.name, int(row.simulated), row.candidates, row.discarded, row.passed, row.chosen, row.accepted),
            *(_percent(row.share), _percent(row.rate)),
        ]
        for row in rows
    )
    return lines(head, told)


def _percent(share: float | None) -> Any:
    return "" if share is None else round(share * 100, 1)


# Costs -------------------------------------------------------------------------------------------------------------

COLUMNS = (
    *("calls", "answered", "tokens_in", "tokens_out", "spent", "unpriced", "again", "expected", "unforeseen"),
    *("difference", "difference_once"),
)
# Sums of which nothing is known are empty cells, never zero.
UNKNOWN_WITH = {"spent": "unpriced", "expected": "unforeseen"}
UNITS: Mapping[str, str] = {
    "spent": "spent_usd",
    "expected": "expected_usd",
    "again": "paid_again",
    "difference": "difference_percent",
    "difference_once": "difference_to_one_attempt_percent",
}


def call_cost_lines(by: str, rows: Sequence[costs.CostRow]) -> Iterator[str]:
    head = [by, *(UNITS.get(column, column) for column in COLUMNS)]
    return lines(head, ([row.label or row.key, *(_cell(row, column) for column in COLUMNS)] for row in rows))


def _cell(row: costs.CostRow, column: str) -> Any:
    value = getattr(row, column)
    if value is None or (not value and column in UNKNOWN_WITH and getattr(row, UNKNOWN_WITH[column])):
        return ""
    return round(value, 2) if column in {"difference", "difference_once"} else value
