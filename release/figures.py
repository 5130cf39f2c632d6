"""Counts of a release: per dimension, balance against the target, reuse of documents. Pure, no database."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmark.difficulty import Difficulty
from benchmark.lengths import Lengths
from benchmark.taxonomy import PRIMARY_TASKS, SECONDARY_TASKS, ContextRequirement, Language

# Dimensions that the public evaluator reports on: it fails when one of their values has no sample at all.
NEVER_EMPTY = ("token_length", "difficulty", "primary_task", "language")


@dataclass(frozen=True)
class Cell:
    """One square of the plan. `task` is a secondary task's name."""

    task: str
    language: str
    bucket: str


@dataclass(frozen=True)
class Targets:
    """How many samples each cell shall hold: a general figure, and the cells that differ from it."""

    per_cell: int
    exceptions: Mapping[Cell, int] = field(default_factory=dict)

    def of(self, cell: Cell) -> int:
        return self.exceptions.get(cell, self.per_cell)

    def to_json(self) -> dict[str, Any]:
        rows = [
            {"secondary_task": cell.task, "language": cell.language, "token_length": cell.bucket, "target": target}
            for cell, target in self.exceptions.items()
        ]
        order = sorted(rows, key=lambda row: (row["secondary_task"], row["language"], row["token_length"]))
        return {"per_cell": self.per_cell, "exceptions": order}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Targets":
        """KeyError, TypeError or ValueError for another shape."""
        exceptions = {
            Cell(row["secondary_task"], row["language"], row["token_length"]): int(row["target"])
            for row in value["exceptions"]
        }
        return cls(int(value["per_cell"]), exceptions)


@dataclass(frozen=True)
class Filled:
    """One cell with what it holds."""

    cell: Cell
    samples: int
    target: int

    @property
    def missing(self) -> int:
        return max(0, self.target - self.samples)


def all_cells(lengths: Lengths) -> Iterator[Cell]:
    for task in SECONDARY_TASKS:
        for language in Language:
            for bucket in lengths.names():
                yield Cell(task.name, language.value, bucket)


def balance(held: Iterable[Cell], targets: Targets, lengths: Lengths) -> list[Filled]:
    """Every cell in the taxonomy's order, also the empty ones."""
    counted = Counter(held)
    return [Filled(cell, counted[cell], targets.of(cell)) for cell in all_cells(lengths)]


def unmet(cells: Iterable[Filled]) -> list[Filled]:
    return [filled for filled in cells if filled.missing]


def listed_values(lengths: Lengths) -> dict[str, list[str]]:
    """The dimensions whose values are listed, in the order in which they are shown."""
    return {
        "primary_task": [task.name for task in PRIMARY_TASKS],
        "secondary_task": [task.name for task in SECONDARY_TASKS],
        "language": [language.value for language in Language],
        "token_length": list(lengths.names()),
        "contextual_requirement": [requirement.value for requirement in ContextRequirement],
        "difficulty": [difficulty.value for difficulty in Difficulty],
    }


class Tally:
    """Counts while the samples pass by, and holds none of them."""

    def __init__(self, targets: Targets, lengths: Lengths) -> None:
        self.targets, self.lengths = targets, lengths
        self.samples = 0
        self.simulated = 0
        self.cells: Counter[Cell] = Counter()
        self.documents: Counter[str] = Counter()
        self.values: dict[str, Counter[str]] = {name: Counter() for name in listed_values(lengths)}
        self.open_values: dict[str, Counter[str]] = {"domain": Counter(), "format": Counter(), "licence": Counter()}

    def add(self, fields: Mapping[str, Any], provenance: Mapping[str, Any]) -> None:
        """One sample: its exported fields (the context is not read) and its provenance."""
        source = provenance["source"]
        self.samples += 1
        self.simulated += bool(provenance["simulated"])
        self.cells[Cell(fields["secondary_task"], fields["language"], fields["token_length"])] += 1
        self.documents[source["sha256"]] += 1
        for name, counter in self.values.items():
            counter[fields[name]] += 1
        for name, counter in self.open_values.items():
            counter[source[name]] += 1

    def statistics(self) -> dict[str, Any]:
        """What statistics.json holds. The same samples in any order give the same."""
        cells = balance(self.cells.elements(), self.targets, self.lengths)
        listed = listed_values(self.lengths)
        counts = {name: {value: self.values[name][value] for value in values} for name, values in listed.items()}
        counts |= {name: dict(sorted(counter.items())) for name, counter in self.open_values.items()}
        reuse = Counter(self.documents.values())
        return {
            "samples": self.samples,
            "samples_by_simulated_models": self.simulated,
            "counts": counts,
            "without_samples": {name: [v for v in listed[name] if not self.values[name][v]] for name in NEVER_EMPTY},
            "balance": {
                "target": sum(filled.target for filled in cells),
                "cells": len(cells),
                "cells_below_target": len(unmet(cells)),
                "per_cell": [
                    {
                        "secondary_task": filled.cell.task,
                        "language": filled.cell.language,
                        "token_length": filled.cell.bucket,
                        "samples": filled.samples,
                        "target": filled.target,
                    }
                    for filled in cells
                ],
            },
            "documents": {
                "distinct": len(self.documents),
                "by_samples_per_document": {str(uses): reuse[uses] for uses in sorted(reuse)},
            },
        }
