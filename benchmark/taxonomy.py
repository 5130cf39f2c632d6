"""The tasks of the benchmark: 11 primary and 25 secondary, in English and Chinese.

The only list of tasks. The names are protocol: readers of the exported file match them byte for byte. The data lives
in `data/*.json` beside this file; `check_answer` holds the rule that each task sets for its answers.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from benchmark.elements import comparable, holds_line_end
from benchmark.findings import Finding, error, gettext_noop

DATA = Path(__file__).parent / "data"


class Language(StrEnum):
    ENGLISH = "English"
    CHINESE = "Chinese"


class Metric(StrEnum):
    NDCG = "NDCG@k"
    PAIRWISE = "Pairwise Accuracy"
    ACCURACY = "Accuracy"
    SUMMARY = "Summary"
    F1 = "F1"
    SUBEM = "SubEM"


class ContextRequirement(StrEnum):
    FULL = "Full"
    PARTIAL = "Partial"


class UnknownTask(KeyError):
    """No secondary task has this code or name."""

    def __str__(self) -> str:
        return f"No secondary task has the code or name {self.args[0]!r}."


@dataclass(frozen=True)
class PrimaryTask:
    code: str
    name: str
    name_zh: str
    definition: str
    definition_zh: str

    def name_in(self, language: Language) -> str:
        return self.name if language == Language.ENGLISH else f"{self.code} {self.name_zh}"

    def definition_in(self, language: Language) -> str:
        return self.definition if language == Language.ENGLISH else self.definition_zh


@dataclass(frozen=True)
class TaskExample:
    """A question of the task, the phrase that says what to output, and the answer's elements."""

    question: str
    elements: str
    answer: tuple[str, ...]


@dataclass(frozen=True)
class SecondaryTask:
    """One of the 25 tasks. `max_elements` is None where the answer may be as long as the question needs."""

    code: str
    name: str
    name_zh: str
    primary: PrimaryTask
    context_requirement: ContextRequirement
    metric: Metric
    definition: str
    definition_zh: str
    answer_rule: str
    answer_rule_zh: str
    min_elements: int
    max_elements: int | None
    multiple_choice: bool
    example: TaskExample
    example_zh: TaskExample

    def name_in(self, language: Language) -> str:
        return self.name if language == Language.ENGLISH else f"{self.code} {self.name_zh}"

    def definition_in(self, language: Language) -> str:
        return self.definition if language == Language.ENGLISH else self.definition_zh

    def answer_rule_in(self, language: Language) -> str:
        return self.answer_rule if language == Language.ENGLISH else self.answer_rule_zh

    def example_in(self, language: Language) -> TaskExample:
        return self.example if language == Language.ENGLISH else self.example_zh

    def context_requirement_in(self, language: Language) -> str:
        return CONTEXT_REQUIREMENTS[self.context_requirement][language]


def _load(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def _example(row: dict[str, Any]) -> TaskExample:
    return TaskExample(row["question"], row["elements"], tuple(row["answer"]))


def _secondary(row: dict[str, Any], primaries: dict[str, PrimaryTask]) -> SecondaryTask:
    return SecondaryTask(
        **{
            **row,
            "primary": primaries[row["primary"]],
            "context_requirement": ContextRequirement(row["context_requirement"]),
            "metric": Metric(row["metric"]),
            "example": _example(row["example"]),
            "example_zh": _example(row["example_zh"]),
        }
    )


PRIMARY_TASKS: tuple[PrimaryTask, ...] = tuple(PrimaryTask(**row) for row in _load("primary_tasks.json"))
SECONDARY_TASKS: tuple[SecondaryTask, ...] = tuple(
    _secondary(row, {task.code: task for task in PRIMARY_TASKS}) for row in _load("secondary_tasks.json")
)
CONTEXT_REQUIREMENTS: dict[ContextRequirement, dict[Language, str]] = {
    ContextRequirement(key): {Language(language): text for language, text in wording.items()}
    for key, wording in _load("context_requirements.json").items()
}


@cache
def _by_key() -> dict[str, SecondaryTask]:
    return {key: task for task in SECONDARY_TASKS for key in (task.code, task.name)}


def secondary_task(key: str) -> SecondaryTask:
    """The task with this code (`T1.1`) or exact English name. Raises UnknownTask."""
    try:
        return _by_key()[key]
    except KeyError:
        raise UnknownTask(key) from None


# The answer rule -----------------------------------------------------------------------------------------------

OPTION_LETTERS = re.compile(r"[A-Z]+")
CLASS_SHARE = re.compile(r"(?P<name>\S(?:.*\S)?) (?P<share>\d{1,3}\.\d{2})%", re.ASCII)
CLUSTERING = "T6.1"
WHOLE = Decimal("100.00")


def check_answer(task: SecondaryTask, elements: Sequence[str]) -> list[Finding]:
    """Whether `elements` obey the task's answer rule; positions in the findings count from 1.

    An element that is empty or broken over lines is reported once, as that, and not judged further.
    """
    found = [*_check_count(task, elements), *_check_lines(elements)]
    sound = [(place, text) for place, text in enumerate(elements, 1) if text.strip() and not holds_line_end(text)]
    found += _check_duplicates(sound)
    if task.multiple_choice:
        found += _check_letters(sound)
    if task.code == CLUSTERING:
        found += _check_shares(sound)
    return found


def _check_count(task: SecondaryTask, elements: Sequence[str]) -> Iterator[Finding]:
    count, least, most = len(elements), task.min_elements, task.max_elements
    if least == most and count != least:
        template = gettext_noop("The answer of this task has exactly %(expected)s element(s); %(count)s given.")
        yield error("answer_count", "answer", template, expected=least, count=count)
    elif count < least:
        template = gettext_noop("The answer of this task needs at least %(expected)s element(s); %(count)s given.")
        yield error("answer_count", "answer", template, expected=least, count=count)
    elif most is not None and count > most:
        template = gettext_noop("The answer of this task has at most %(expected)s element(s); %(count)s given.")
        yield error("answer_count", "answer", template, expected=most, count=count)


def _check_lines(elements: Sequence[str]) -> Iterator[Finding]:
    for place, text in enumerate(elements, 1):
        if not text.strip():
            template = gettext_noop("Element %(position)s of the answer is empty.")
            yield error("answer_empty_element", "answer", template, position=place)
        elif holds_line_end(text):
            template = gettext_noop("Element %(position)s of the answer contains a line break.")
            yield error("answer_line_break", "answer", template, position=place)


def _check_duplicates(elements: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for place, text in elements:
        earlier = first.setdefault(comparable(text), place)
        if earlier != place:
            template = gettext_noop(
                "Element %(position)s of the answer repeats element %(first)s (case and spacing do not count)."
            )
            yield error("answer_duplicate", "answer", template, position=place, first=earlier)


def _check_letters(elements: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    for place, text in elements:
        letters = text.strip()
        if not OPTION_LETTERS.fullmatch(letters) or list(letters) != sorted(set(letters)):
            template = gettext_noop(
                "Element %(position)s of the answer must be an option letter,"
                " or the letters of several options joined in alphabetical order."
            )
            yield error("answer_letters", "answer", template, position=place)


def _check_shares(elements: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    matches = [(place, CLASS_SHARE.fullmatch(text.strip())) for place, text in elements]
    for place, match in matches:
        if match is None:
            template = gettext_noop(
                "Element %(position)s of the answer must be a class name, one space"
                " and a share with two decimals and a per cent sign."
            )
            yield error("answer_share_form", "answer", template, position=place)
    read = [(place, match) for place, match in matches if match is not None]
    yield from _check_classes([(place, match["name"]) for place, match in read])
    total = sum((Decimal(match["share"]) for _, match in read), Decimal("0.00"))
    if len(read) == len(matches) and total != WHOLE:
        template = gettext_noop("The shares add up to %(total)s%%, not to 100.00%%.")
        yield error("answer_share_total", "answer", template, total=str(total))


def _check_classes(names: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for place, name in names:
        earlier = first.setdefault(comparable(name), place)
        if earlier != place:
            template = gettext_noop("Element %(position)s of the answer names the same class as element %(first)s.")
            yield error("answer_class_twice", "answer", template, position=place, first=earlier)
