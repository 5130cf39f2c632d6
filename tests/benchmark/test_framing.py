"""Every check that must hold before a standardization is complete."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from benchmark.findings import Severity
from benchmark.forms import Form, Kind, classify
from benchmark.framing import Parts, check, check_parts
from benchmark.taxonomy import SECONDARY_TASKS, Language, SecondaryTask, secondary_task

ENGLISH = Parts(
    Language.ENGLISH, "Name the parts that support the summary.", "the cited parts", "", ("Part 90", "Part 91")
)
CHINESE = Parts(Language.CHINESE, "指出支持下列摘要的部分。", "被引用的部分", "", ("第90部分", "第91部分"))
ANSWER = {Language.ENGLISH: ("Part 3", "Part 17"), Language.CHINESE: ("第3部分", "第17部分")}


def found(parts: Parts, *, task: str = "T5.1", answer: Sequence[str] | None = None) -> list[tuple[str, str]]:
    findings = check(
        parts,
        task=secondary_task(task),
        answer=ANSWER[parts.language] if answer is None else answer,
        document_language=parts.language,
    )
    assert all(finding.message for finding in findings)
    return [(finding.check, finding.field) for finding in findings]


@pytest.mark.parametrize("parts", [ENGLISH, CHINESE], ids=["English", "Chinese"])
def test_parts_in_order_have_no_finding(parts: Parts) -> None:
    assert found(parts) == []
    assert found(replace(parts, supplementary="A {x} %s\nB 100%")) == []


def test_the_prompt_speaks_the_documents_language() -> None:
    findings = check(
        ENGLISH, task=secondary_task("T5.1"), answer=ANSWER[Language.ENGLISH], document_language=Language.CHINESE
    )
    assert [finding.check for finding in findings] == ["language"]
    assert ("written_language", "task_description") in found(replace(ENGLISH, task_description="指出支持摘要的部分"))
    assert ("written_language", "task_description") in found(replace(CHINESE, task_description="Name the parts"))
    assert found(replace(ENGLISH, task_description="Which part has “指出支持下列摘要的部分，全部。”?")) == []


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("task", SECONDARY_TASKS, ids=lambda task: task.code)
def test_the_examples_of_the_tasks_are_well_put(task: SecondaryTask, language: Language) -> None:
    example = task.example_in(language)
    parts = Parts(language, example.question, example.elements, "", example.answer[:1])
    assert check_parts(parts, known=example.answer) == []


@pytest.mark.parametrize("name", ["task_description", "elements"])
@pytest.mark.parametrize("text", ["", " \n "])
def test_description_and_elements_are_needed(name: str, text: str) -> None:
    assert found(replace(ENGLISH, **{name: text})) == [("empty", name)]  # type: ignore[arg-type]


def test_the_elements_phrase_is_one_line() -> None:
    assert found(replace(ENGLISH, elements="the parts\nand more")) == [("line_break", "elements")]


@pytest.mark.parametrize(
    "text",
    [
        "Name the parts. Output the part labels.",
        "Name the parts, line by line.",
        "Name the parts, one per line.",
        "List the parts, each on its own line.",
        "List the parts on separate lines.",
        "Name the parts without any additional content.",
        "Name the parts and then output the answer.",
        "Name the parts. Do not output anything else.",
        "Name the parts. Your answer should be a list.",
        "Name the parts. Think step by step.",
        "Name the parts after [answer].",
        "Name the parts.\nOutput example:\nPart 1",
    ],
)
def test_an_english_description_sets_no_output_requirement(text: str) -> None:
    assert ("output_requirement", "task_description") in found(replace(ENGLISH, task_description=text))


@pytest.mark.parametrize(
    "text",
    [
        "指出相关部分，逐行输出。",
        "指出相关部分。请输出部分编号。",
        "指出相关部分，每行写一个。",
        "指出相关部分。不要输出其他内容。",
        "指出相关部分。只输出编号。",
        "指出相关部分。请一步一步思考。",
        "指出相关部分，写在【答案】之后。",
        "指出相关部分。\n输出示例：第1部分",
    ],
)
def test_a_chinese_description_sets_no_output_requirement(text: str) -> None:
    assert ("output_requirement", "task_description") in found(replace(CHINESE, task_description=text))


@pytest.mark.parametrize(
    "text",
    [
        "Which records of the log, which holds one record to a line, are late?",
        "What does the program output for the input 5? Name the parts.",
        "Name the parts where the output of the mill is reported.",
        "Name the parts that give Ahab's thinking process.",
        "Do not include any ship that sank.",
        "Which answer does the witness give in each part?",
    ],
)
def test_an_ordinary_question_is_no_output_requirement(text: str) -> None:
    assert found(replace(ENGLISH, task_description=text)) == []


@pytest.mark.parametrize("mark", ["[Answer]", "[答案]"])
@pytest.mark.parametrize("name", ["task_description", "elements", "supplementary"])
def test_the_identifier_stands_nowhere_else(name: str, mark: str) -> None:
    findings = check(
        replace(ENGLISH, **{name: f"the parts {mark}"}),  # type: ignore[arg-type]
        task=secondary_task("T5.1"),
        answer=ANSWER[Language.ENGLISH],
        document_language=Language.ENGLISH,
    )
    places = [(one.field, one.start, one.end) for one in findings if one.check == "identifier"]
    assert places == [(name, 10, 10 + len(mark))]


def test_the_identifier_stands_in_no_element() -> None:
    assert ("identifier", "example") in found(replace(ENGLISH, example=("Part 90", "Part 91 [Answer]")))
    assert ("identifier", "answer") in found(ENGLISH, answer=("Part 3", "[Answer] Part 17"))


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("Name the parts，please", ["，"]),
        ("Name the parts（all）", ["（", "）"]),
        ("Name the parts。", ["。"]),
        ("Name the parts in 《Sanguo》", ["《", "》"]),
        ("Name the parts！？", ["！？"]),
        ("Name the “parts” – don’t guess…", []),
        ("Name the parts that hold “他说：走吧。”", []),
        ('Name the parts that hold "他说：走吧。"', []),
        ("Name the parts that hold '走吧。', don't guess", []),
        ("Don't guess，it isn't easy", ["，"]),
        ("Name the parts that call `打开（甲，乙）`", []),
        ("Name the parts like Part 3", []),
    ],
)
def test_english_text_holds_no_full_width_mark(text: str, marks: list[str]) -> None:
    parts = replace(ENGLISH, task_description=text)
    findings = check(
        parts, task=secondary_task("T5.1"), answer=ANSWER[Language.ENGLISH], document_language=Language.ENGLISH
    )
    mixed = [one for one in findings if one.check == "punctuation"]
    assert [one.params["mark"] for one in mixed] == marks
    for one in mixed:
        assert (one.check, one.severity) == ("punctuation", Severity.ERROR)
        assert text[one.start : one.end] == one.params["mark"]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("指出甲,乙两部分", [","]),
        ("指出甲(乙)丙两部分", ["(", ")"]),
        ("哪些部分相关?请指出", ["?"]),
        ("指出相关部分.另附说明;再核对:全部!完", [".", ";", ":", "!"]),
        ("指出第3.5节、12:30以及1,024项", []),
        ("指出版本v1.2与A,B两部分", []),
        ("指出“甲,乙”两部分", []),
        ("指出「甲,乙」两部分", []),
        ("指出`甲.乙(丙)丁`的部分", []),
        ("指出相关部分，另附说明；完。", []),
        ("指出“甲”与‘乙’部分", []),
    ],
)
def test_chinese_text_has_no_half_width_mark_between_characters(text: str, marks: list[str]) -> None:
    parts = replace(CHINESE, task_description=text)
    findings = check(
        parts, task=secondary_task("T5.1"), answer=ANSWER[Language.CHINESE], document_language=Language.CHINESE
    )
    assert [one.params["mark"] for one in findings if one.check == "punctuation"] == marks


def test_mixed_punctuation_in_the_supplementary_part_is_a_hint() -> None:
    findings = check(
        replace(ENGLISH, supplementary="A：one"),
        task=secondary_task("T5.1"),
        answer=ANSWER[Language.ENGLISH],
        document_language=Language.ENGLISH,
    )
    assert [(one.check, one.field, one.severity) for one in findings] == [
        ("punctuation", "supplementary", Severity.HINT)
    ]


def test_identifiers_of_the_answer_are_exempt_from_punctuation() -> None:
    parts = replace(ENGLISH, task_description="Is 条款（3） met?", example=("条款（8）",))
    assert found(parts, answer=("条款（3）", "条款（5）")) == []
    assert found(replace(parts, example=("Part 8",)), answer=("Part 3",)) == [
        ("punctuation", "task_description"),
        ("punctuation", "task_description"),
    ]


@pytest.mark.parametrize(
    ("task", "answer", "example", "checks"),
    [
        ("T5.1", ("Part 3", "Part 17"), ("Part 90", "part  17"), ["example_is_answer"]),
        ("T5.1", ("Part 3",), ("PART 3",), ["example_is_answer", "example_scores_right"]),
        ("T1.1", ("P1", "P2"), ("P2", "P9"), ["example_is_answer"]),
        ("T8.3", ("North 14", "Quay 3"), ("North 12", "Quay 9"), []),
        ("T3.1", ("C",), ("C",), ["example_scores_right"]),
        ("T3.1", ("C",), ("B",), []),
        ("T3.1", ("C",), ("AB",), []),
        ("T2.1", ("a", "b", "c"), ("c", "a", "b"), []),
        ("T2.1", ("a", "b", "c"), ("a", "b", "c"), ["example_scores_right"]),
        ("T2.1", ("a", "b", "c"), ("a", "c"), ["example_scores_right"]),
        ("T10.2", ("refuse",), ("grant",), []),
    ],
)
def test_the_example_is_not_the_answer(
    task: str, answer: tuple[str, ...], example: tuple[str, ...], checks: list[str]
) -> None:
    assert [name for name, _ in found(replace(ENGLISH, example=example), task=task, answer=answer)] == checks


SUMMARIES = ("The ferry stopped because of fog.", "Fog halted the ferry.", "Because of fog the ferry did not run.")


class Alike:
    """Finds all texts alike, or all strange."""

    def __init__(self, cosine: float) -> None:
        self.name, self.cosine = "alike", cosine

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        other = [self.cosine, (1 - self.cosine**2) ** 0.5]
        return np.array([[1.0, 0.0], *[other for _ in texts[1:]]])


@pytest.mark.parametrize(
    ("example", "embedder", "checks"),
    [
        ("The ferry stopped because of fog", None, ["example_scores_right"]),
        ("The mayor opened the new bridge.", None, []),
        ("Fog halted everything.", Alike(0.99), ["example_scores_right"]),
        ("Fog halted everything.", Alike(0.1), []),
    ],
)
def test_a_summarys_example_would_not_pass(example: str, embedder: Alike | None, checks: list[str]) -> None:
    findings = check(
        replace(ENGLISH, example=(example,)),
        task=secondary_task("T4.1"),
        answer=SUMMARIES,
        document_language=Language.ENGLISH,
        embedder=embedder,
    )
    assert [one.check for one in findings] == checks


@pytest.mark.parametrize(
    ("task", "answer", "example", "checks"),
    [
        ("T5.1", ("Part 3", "Part 17"), ("S90",), ["example_form"]),
        ("T5.1", ("Part 3", "Part 17"), (), ["example_missing"]),
        ("T5.1", ("Part 3", "Part 17"), ("Part 90", ""), ["example_empty_element"]),
        ("T5.1", ("Part 3", "Part 17"), ("Part 90\nPart 91",), ["example_line_break"]),
        ("T3.1", ("C",), ("the third",), ["example_form"]),
        ("T3.1", ("C",), ("A", "B"), ["example_count"]),
        ("T4.1", SUMMARIES, ("Bridges were built.", "The mayor spoke."), ["example_count"]),
        ("T8.2", ("12.5%", "-3.1%"), ("7.0%",), []),
        ("T8.2", ("12.5%", "-3.1%"), ("7.00%",), ["example_form"]),
        ("T8.2", ("14 crates",), ("3 barrels",), ["example_form"]),
        ("T8.2", ("14 crates",), ("30 crates",), []),
        ("T8.2", ("3 March 1911",), ("1911-03-04",), ["example_form"]),
        ("T8.2", ("3 March 1911",), ("14 July 1912",), []),
        ("T8.1", ("No Error",), ("1042", "1077"), []),
        ("T8.1", ("1042",), ("No Error",), []),
        ("T6.1", ("Yes 33.33%", "No 66.67%"), ("Yes 40.0%", "No 60.0%"), ["example_form", "example_form"]),
        ("T9.1", ("open(str)", "flush()"), ("close(int, str)",), []),
        ("T9.2", ("Booking: seat_no",), ("fare_class",), ["example_form"]),
    ],
)
def test_the_example_has_the_answers_form(
    task: str, answer: tuple[str, ...], example: tuple[str, ...], checks: list[str]
) -> None:
    assert [name for name, _ in found(replace(ENGLISH, example=example), task=task, answer=answer)] == checks


@pytest.mark.parametrize(
    ("element", "form"),
    [
        ("C", Form(Kind.LETTER)),
        ("river", Form(Kind.PHRASE)),
        ("无错误", Form(Kind.PHRASE)),
        ("-1,042", Form(Kind.NUMBER, "0")),
        ("$3.50", Form(Kind.NUMBER, "0.00 $")),
        ("3.5 km", Form(Kind.NUMBER, "0.0 km")),
        ("300万元", Form(Kind.NUMBER, "0 万元")),
        ("12.5%", Form(Kind.PERCENTAGE, "0.0")),
        ("2020-01-05", Form(Kind.DATE, "#-#-#")),
        ("2020年3月5日", Form(Kind.DATE, "#年#月#日")),
        ("March 3, 1911", Form(Kind.DATE, "M#,#")),
        ("Part 12", Form(Kind.IDENTIFIER, "a #")),
        ("S41", Form(Kind.IDENTIFIER, "a#")),
        ("第12部分", Form(Kind.IDENTIFIER, "a#a")),
        ("MethodA(java.lang.String)", Form(Kind.IDENTIFIER, "a()")),
        ("Randomized trial 25.00%", Form(Kind.IDENTIFIER, "a 0.00%")),
        ("The board approved the merger after a debate.", Form(Kind.SUMMARY)),
    ],
)
def test_elements_are_classified(element: str, form: Form) -> None:
    assert classify(element) == form


def test_joined_letters_are_options_only_in_multiple_choice() -> None:
    assert classify("ABD", multiple_choice=True).kind is Kind.LETTER
    assert classify("ABD").kind is Kind.PHRASE


def test_an_answer_that_cannot_score_is_refused() -> None:
    assert ("answer_scores_itself", "answer") in found(ENGLISH, task="T2.1", answer=("a",))
    assert ("answer_letters", "answer") in found(replace(ENGLISH, example=("A",)), task="T3.1", answer=("ba",))
