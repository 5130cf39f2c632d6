"""The list of tasks, and the rule that each sets for its answers."""

import json
import re
from pathlib import Path

import pytest

from benchmark.taxonomy import (
    CONTEXT_REQUIREMENTS,
    PRIMARY_TASKS,
    SECONDARY_TASKS,
    ContextRequirement,
    Language,
    Metric,
    SecondaryTask,
    UnknownTask,
    check_answer,
    secondary_task,
)


def checks(task: str, *elements: str) -> list[tuple[str, object]]:
    return [(finding.check, finding.params.get("position")) for finding in check_answer(secondary_task(task), elements)]


def test_there_are_11_primary_and_25_secondary_tasks() -> None:
    assert [task.code for task in PRIMARY_TASKS] == [f"T{number}" for number in range(1, 12)]
    assert len(SECONDARY_TASKS) == len({task.name for task in SECONDARY_TASKS}) == 25
    assert {task.primary for task in SECONDARY_TASKS} == set(PRIMARY_TASKS)
    assert {task.metric for task in SECONDARY_TASKS} == set(Metric)


def test_the_english_is_that_of_the_specification(shared_data: Path) -> None:
    path = shared_data.parent / "spec" / "taxonomy.json"
    if not path.is_file():
        pytest.skip(f"no specification at {path}")
    given = json.loads(path.read_text(encoding="utf-8"))
    for primary, row in zip(PRIMARY_TASKS, given["primary_tasks"], strict=True):
        assert {name: getattr(primary, name) for name in row} == row
    for task, row in zip(SECONDARY_TASKS, given["secondary_tasks"], strict=True):
        assert (task.code, task.name, task.name_zh, task.primary.code) == (
            row["code"], row["name"], row["name_zh"], row["primary"],
        )  # fmt: skip
        assert (task.context_requirement, task.metric) == (row["context_requirement"], row["metric"])
        assert (task.definition, task.answer_rule) == (row["definition"], row["answer"])
        assert (task.min_elements, task.max_elements) == (row["min_elements"], row.get("max_elements"))
        assert task.multiple_choice == row.get("multiple_choice", False)
        example = task.example
        assert {"question": example.question, "elements": example.elements, "answer": list(example.answer)} == row[
            "example"
        ]
    for key, wording in given["context_requirements"].items():
        assert CONTEXT_REQUIREMENTS[ContextRequirement(key)][Language.ENGLISH] == wording


@pytest.mark.parametrize("task", SECONDARY_TASKS, ids=lambda task: task.code)
def test_every_task_speaks_chinese(task: SecondaryTask) -> None:
    example = task.example_in(Language.CHINESE)
    texts = [
        task.name_in(Language.CHINESE),
        task.primary.name_in(Language.CHINESE),
        task.primary.definition_in(Language.CHINESE),
        task.definition_in(Language.CHINESE),
        task.answer_rule_in(Language.CHINESE),
        task.context_requirement_in(Language.CHINESE),
        example.question,
        example.elements,
    ]
    assert all(re.search("[\u4e00-\u9fff]", text) for text in texts)
    assert len(example.answer) == len(task.example.answer)


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("task", SECONDARY_TASKS, ids=lambda task: task.code)
def test_every_example_obeys_its_own_rule(task: SecondaryTask, language: Language) -> None:
    assert check_answer(task, task.example_in(language).answer) == []


def test_a_task_is_found_by_code_and_by_exact_name() -> None:
    assert secondary_task("T10.2") is secondary_task("T10.2 Targeted Example-Based Rule Induction")
    for key in ("T12.1", "t10.2", "", "Targeted Example-Based Rule Induction"):
        with pytest.raises(UnknownTask, match="No secondary task"):
            secondary_task(key)


@pytest.mark.parametrize(
    ("task", "elements", "found"),
    [
        ("T1.1", ("P1",), [("answer_count", None)]),
        ("T2.1", ("a", "b"), [("answer_count", None)]),
        ("T3.1", ("A", "B"), [("answer_count", None)]),
        ("T3.1", (), [("answer_count", None)]),
        ("T4.1", ("one", "two"), [("answer_count", None)]),
        ("T4.1", ("one", "two", "three", "four"), [("answer_count", None)]),
        ("T5.1", (), [("answer_count", None)]),
        ("T5.1", ("Part 1", ""), [("answer_empty_element", 2)]),
        ("T5.1", ("Part 1", " \t"), [("answer_empty_element", 2)]),
        ("T5.1", ("Part 1\nPart 2",), [("answer_line_break", 1)]),
        ("T5.1", ("Part 1\u2028Part 2",), [("answer_line_break", 1)]),
        ("T5.1", ("Part 1", "part  1"), [("answer_duplicate", 2)]),
        ("T2.1", ("a", "b", "A "), [("answer_duplicate", 3)]),
        ("T4.2", ("Same text.", "same  text.", "other"), [("answer_duplicate", 2)]),
        ("T3.2", ("AC",), []),
        ("T3.2", ("CA",), [("answer_letters", 1)]),
        ("T3.2", ("AA",), [("answer_letters", 1)]),
        ("T3.2", ("c",), [("answer_letters", 1)]),
        ("T3.2", ("A, C",), [("answer_letters", 1)]),
        ("T11.1", ("Ｄ",), [("answer_letters", 1)]),
        ("T6.1", ("Yes 33.33%", "No 66.67%"), []),
        ("T6.1", ("Not sure 0.00%", "No 100.00%"), []),
        ("T6.1", ("Yes 33.33%", "No 66.66%"), [("answer_share_total", None)]),
        ("T6.1", ("Yes 33.3%", "No 66.67%"), [("answer_share_form", 1)]),
        ("T6.1", ("Yes  33.33%", "No 66.67%"), [("answer_share_form", 1)]),
        ("T6.1", ("Yes 33.33", "No 66.67％"), [("answer_share_form", 1), ("answer_share_form", 2)]),
        ("T6.1", ("Yes 50.00%", "yes 25.00%", "No 25.00%"), [("answer_class_twice", 2)]),
        ("T8.2", ("12.5%", "-3.1%"), []),
    ],
)
def test_an_answer_obeys_the_rule_of_its_task(
    task: str, elements: tuple[str, ...], found: list[tuple[str, object]]
) -> None:
    assert checks(task, *elements) == found


def test_a_finding_words_its_figures() -> None:
    (finding,) = check_answer(secondary_task("T6.1"), ("Yes 33.33%", "No 66.66%"))
    assert finding.message == "The shares add up to 99.99%, not to 100.00%."
    assert (finding.field, finding.severity, finding.start, finding.end) == ("answer", "error", None, None)
