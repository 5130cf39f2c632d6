"""A record that may be published, and what keeps one from it."""

import json
from dataclasses import replace

import pytest

from benchmark.interchange import BadRow, render_row, score_row
from benchmark.lengths import Lengths
from benchmark.prompts import Parts, nonthinking_prompt, thinking_prompt
from benchmark.record import FIELDS, Record, check_record, from_object, split_prompt, to_json_line
from benchmark.taxonomy import SECONDARY_TASKS, Language, SecondaryTask, secondary_task

PARTS = Parts(Language.ENGLISH, "Name the parts that support it.", "the parts", "The fog “lifted”.", ("Part 90",))


def record_of(parts: Parts, task: SecondaryTask, answer: tuple[str, ...]) -> Record:
    return Record(
        id="lbp-00001",
        context="It was foggy.\u2028“雾”",
        language=parts.language.value,
        token_length="8k",
        primary_task=task.primary.name,
        secondary_task=task.name,
        contextual_requirement=task.context_requirement.value,
        question_nonthinking=nonthinking_prompt(parts),
        question_thinking=thinking_prompt(parts),
        answer=answer,
        difficulty="Hard",
    )


GOOD = record_of(PARTS, secondary_task("T5.1"), ("Part 3", "Part 17"))


def found(record: Record, **extra: object) -> list[tuple[str, str]]:
    findings = check_record(record, **extra)  # type: ignore[arg-type]
    assert all(finding.message for finding in findings)
    return [(finding.check, finding.field) for finding in findings]


def test_the_fields_stand_in_the_order_of_the_finished_file() -> None:
    assert FIELDS == (
        "id", "context", "language", "token_length", "primary_task", "secondary_task", "contextual_requirement",
        "question_nonthinking", "question_thinking", "answer", "difficulty",
    )  # fmt: skip
    line = to_json_line(GOOD)
    assert b"\n" not in line
    assert "“雾”".encode() in line
    assert tuple(json.loads(line)) == FIELDS
    assert from_object(json.loads(line)) == GOOD


def test_a_sound_record_has_no_finding() -> None:
    assert found(GOOD) == []
    assert found(GOOD, parts=PARTS, tokens=9830) == []


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("task", SECONDARY_TASKS, ids=lambda task: task.code)
def test_every_task_can_be_published(task: SecondaryTask, language: Language) -> None:
    example = task.example_in(language)
    shown = {"Accuracy": ("Q",), "Pairwise Accuracy": tuple(reversed(example.answer))}
    parts = Parts(language, example.question, example.elements, "", shown.get(task.metric, ("0",)))
    assert found(record_of(parts, task, example.answer), parts=parts) == []


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"id": " "}, ("empty", "id")),
        ({"context": ""}, ("empty", "context")),
        ({"language": "German"}, ("listed_value", "language")),
        ({"token_length": "9k"}, ("listed_value", "token_length")),
        ({"difficulty": "easy"}, ("listed_value", "difficulty")),
        ({"primary_task": "T1. Retrieval & Ranking"}, ("primary_task", "primary_task")),
        ({"primary_task": "T5"}, ("listed_value", "primary_task")),
        ({"secondary_task": "T5.1"}, ("listed_value", "secondary_task")),
        ({"contextual_requirement": "Partial"}, ("contextual_requirement", "contextual_requirement")),
        ({"contextual_requirement": "full"}, ("listed_value", "contextual_requirement")),
        ({"language": "Chinese"}, ("fixed_text", "question_nonthinking")),
        ({"question_nonthinking": GOOD.question_nonthinking + "\n"}, ("fixed_text", "question_nonthinking")),
        ({"question_thinking": GOOD.question_nonthinking}, ("fixed_text", "question_thinking")),
        ({"question_thinking": GOOD.question_thinking.replace("fog", "rain")}, ("prompts_differ", "question_thinking")),
        ({"answer": ("Part 3", "Part 90")}, ("example_is_answer", "question_nonthinking")),
        ({"answer": ()}, ("answer_count", "answer")),
        ({"answer": ("Part 3", "part 3")}, ("answer_duplicate", "answer")),
        ({"answer": ("Part 3 [Answer]",)}, ("answer_scores_itself", "answer")),
    ],
)
def test_a_fault_is_named_at_its_field(change: dict[str, object], finding: tuple[str, str]) -> None:
    assert finding in found(replace(GOOD, **change))  # type: ignore[arg-type]


def test_the_bucket_is_that_of_the_token_count() -> None:
    assert found(GOOD, tokens=9831) == [("bucket", "token_length")]
    assert found(GOOD, tokens=9831, lengths=Lengths(tolerance_percent=30)) == []


def test_the_prompts_are_those_of_the_given_parts() -> None:
    other = replace(PARTS, elements="the numbers")
    assert found(GOOD, parts=other) == [
        ("parts_differ", "question_nonthinking"),
        ("parts_differ", "question_thinking"),
    ]


def test_the_prompts_hold_no_second_identifier() -> None:
    parts = replace(PARTS, supplementary="See [答案].")
    assert ("identifier", "question_nonthinking") in found(record_of(parts, secondary_task("T5.1"), ("Part 3",)))


def test_prompts_of_a_record_give_back_the_parts() -> None:
    assert split_prompt(Language.ENGLISH, GOOD.question_thinking, thinking=True) == PARTS


@pytest.mark.parametrize(
    "row",
    [
        [],
        {},
        {**json.loads(to_json_line(GOOD)), "extra": 1},
        {**json.loads(to_json_line(GOOD)), "answer": "Part 3"},
        {**json.loads(to_json_line(GOOD)), "answer": [3]},
        {**json.loads(to_json_line(GOOD)), "id": 1},
        dict(reversed(json.loads(to_json_line(GOOD)).items())),
    ],
)
def test_an_object_of_another_shape_is_no_record(row: object) -> None:
    with pytest.raises(ValueError, match=r"\."):
        from_object(row)


def test_a_lone_surrogate_cannot_be_published() -> None:
    with pytest.raises(UnicodeEncodeError):
        to_json_line(replace(GOOD, context="\ud800"))


def test_a_scored_row_names_its_task() -> None:
    row = {"language": "English", "secondary_task": "T5.1", "answer": ["a", "b"], "prediction": "[Answer]\na", "n": 1}
    assert score_row(row) == {
        **row,
        "secondary_task": "T5.1 Full-Sentence Citation Alignment",
        "score": pytest.approx(2 / 3),
    }
    by_metric = {"language": "Chinese", "metric": "SubEM", "answer": ["a", "b"], "prediction": "a"}
    assert score_row(by_metric)["score"] == 0.5


@pytest.mark.parametrize(
    "change",
    [
        {"secondary_task": "T99"}, {"language": "French"}, {"answer": "a"}, {"prediction": None},
        {"secondary_task": None}, {"secondary_task": None, "metric": "BLEU"},
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_scored_is_refused(change: dict[str, object]) -> None:
    row = {"language": "English", "secondary_task": "T5.1", "answer": ["a"], "prediction": "a"}
    with pytest.raises(BadRow):
        score_row({**row, **change})


def test_prompts_are_rendered_even_when_findings_forbid_them() -> None:
    row = {
        "language": "English",
        "secondary_task": "T5.1",
        "task_description": "Name the parts，all.",
        "elements": "the parts",
        "example": ["Part 3"],
        "answer": ["Part 3", "Part 17"],
    }
    done = render_row(row)
    assert done["question_nonthinking"].startswith("Name the parts，all. Output the “[Answer]” identifier first")
    assert [(one["check"], one["severity"], one["field"]) for one in done["findings"]] == [
        ("punctuation", "error", "task_description"),
        ("example_is_answer", "error", "example"),
    ]
