"""Reading everything a release is made of at one point in time, while people go on working."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db import connection, transaction

from annotation.models import Sample, Standardization
from benchmark.lengths import Lengths
from benchmark.record import FIELDS, Record
from benchmark.taxonomy import SECONDARY_TASKS, Language
from release.figures import Cell
from release.models import DifficultyLabel
from release.provenance import Subject, provenance_of
from release.queries import accepted_samples, with_current_standardization

TASK_ORDER = {task.code: place for place, task in enumerate(SECONDARY_TASKS)}
LANGUAGE_ORDER = {language.value: place for place, language in enumerate(Language)}
# The document's text is not read to judge a sample: a version that holds characters is not empty.
SOME_TEXT = "text"


@dataclass(frozen=True)
class Collected:
    """One accepted sample with what it would be released with, as far as it is there."""

    sample: Sample
    standardization: Standardization | None
    label: DifficultyLabel | None
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def cell(self) -> Cell:
        return Cell(self.sample.task.name, self.sample.document.language, self.sample.bucket)

    @property
    def difficulty(self) -> str:
        return self.label.difficulty if self.label else ""

    @cached_property
    def record(self) -> Record | None:
        """The exported record without its context, for which a few letters stand."""
        if self.standardization is None:
            return None
        sample, task, made = self.sample, self.sample.task, self.standardization
        return Record(
            id=sample.public_id,
            context=SOME_TEXT if sample.document_version.chars else "",
            language=sample.document.language,
            token_length=sample.bucket,
            primary_task=task.primary.name,
            secondary_task=task.name,
            contextual_requirement=task.context_requirement.value,
            question_nonthinking=made.question_nonthinking,
            question_thinking=made.question_thinking,
            answer=tuple(made.answer),
            difficulty=self.difficulty,
        )

    @property
    def fields(self) -> dict[str, Any]:
        """Every exported field but the context."""
        assert self.record is not None
        row = {name: getattr(self.record, name) for name in FIELDS if name != "context"}
        return {**row, "answer": list(self.record.answer)}


@contextmanager
def one_moment() -> Iterator[None]:
    """Everything read inside is of one point in time. SQLite's transactions are so by themselves."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if connection.vendor == "postgresql" and outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def collect(lengths: Lengths, *, provenance: bool = False) -> list[Collected]:
    """Every accepted sample, in the order in which a release holds them: task, language, bucket, public id."""
    with one_moment():
        found = _collect(lengths)
        return _with_provenance(found) if provenance else found


def _collect(lengths: Lengths) -> list[Collected]:
    samples = list(with_current_standardization(accepted_samples()))
    current = with_current_standardization(accepted_samples()).values("current_id")
    made: dict[int | None, Standardization] = {one.pk: one for one in Standardization.objects.filter(pk__in=current)}
    labels: dict[int | None, DifficultyLabel] = {
        one.standardization_id: one for one in DifficultyLabel.objects.filter(standardization__in=current)
    }
    buckets = {name: place for place, name in enumerate(lengths.names())}

    def order(one: Collected) -> tuple[int, int, int, str]:
        sample = one.sample
        return (
            TASK_ORDER[sample.task_code],
            LANGUAGE_ORDER[sample.document.language],
            buckets.get(sample.bucket, len(buckets)),
            sample.public_id,
        )

    found = [Collected(sample, made.get(sample.current_id), labels.get(sample.current_id)) for sample in samples]
    return sorted(found, key=order)


def _with_provenance(found: list[Collected]) -> list[Collected]:
    subjects = [
        Subject(one.sample, one.standardization, one.label)
        for one in found
        if one.standardization is not None and one.label is not None
    ]
    written = provenance_of(subjects)
    return [Collected(one.sample, one.standardization, one.label, written.get(one.sample.pk, {})) for one in found]
