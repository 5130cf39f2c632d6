"""Findings with their places and the changes that mend them, and the example that is made up."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.elements import comparable
from benchmark.examples import check_example, form_of
from benchmark.findings import Finding, errors
from benchmark.forms import Form, Kind, classify
from benchmark.framing import Parts, check
from benchmark.proposing import propose_example
from benchmark.splitting import parts_of_question
from benchmark.taxonomy import SECONDARY_TASKS, Language, Metric, SecondaryTask, secondary_task

ENGLISH = Parts(Language.ENGLISH, "Name the parts that support it.", "the cited parts", "", ("Part 90", "Part 91"))
CHINESE = Parts(Language.CHINESE, "指出支持摘要的部分。", "被引用的部分", "", ("第90部分", "第91部分"))
ANSWER = {Language.ENGLISH: ("Part 3", "Part 17"), Language.CHINESE: ("第3部分", "第17部分")}
CITING = secondary_task("T5.1")


def found(parts: Parts, *, task: SecondaryTask = CITING, answer: Sequence[str] = ()) -> list[Finding]:
    reference = answer or ANSWER[parts.language]
    return check(parts, task=task, answer=reference, document_language=parts.language)


def text_of(parts: Parts, name: str) -> str:
    return "\n".join(parts.example) if name == "example" else str(getattr(parts, name))


def mended(parts: Parts, finding: Finding) -> Parts:
    assert finding.repair is not None
    text = finding.repair.applied(text_of(parts, finding.repair.field))
    name = finding.repair.field
    return replace(parts, **{name: tuple(text.split("\n")) if name == "example" else text})  # type: ignore[arg-type]


def all_mended(parts: Parts, **more: object) -> Parts:
    """Every repair that is offered, one click after the other, the first first."""
    for _click in range(40):
        offered = [finding for finding in found(parts, **more) if finding.repair]  # type: ignore[arg-type]
        if not offered:
            return parts
        parts = mended(parts, offered[0])
    raise AssertionError(f"still something to repair: {parts}")


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Which ships paid，please？", "Which ships paid, please?"),
        ("Name the parts（all of them）of it.", "Name the parts (all of them) of it."),
        ("Name the parts in 《Sanguo》.", "Name the parts in “Sanguo”."),
        ("Name the parts。", "Name the parts."),
        ("Name the parts、then the pages.", "Name the parts, then the pages."),
        ("List parts １２ and Ｃ.", "List parts 12 and C."),
        ("Which【first】part?", "Which [first] part?"),
        ("Which part！？", "Which part!?"),
        ("Name the parts，one per line.", "Name the parts."),
        ("Name the parts. Output the part labels.", "Name the parts."),
        ("Name the parts and then output the answer.", "Name the parts."),
        ("List the parts, each on its own line.", "List the parts."),
        ("List the parts on separate lines.", "List the parts."),
        ("Name the parts. Do not output anything else. Think step by step.", "Name the parts."),
        ("Name the parts after “[Answer]”.", "Name the parts after."),
        ("Name the parts  that support it", "Name the parts that support it."),
        (" Name the parts.\n", "Name the parts."),
        ("Name the pa\u200brts.", "Name the parts."),
        ("Name the parts. Ｏｕｔｐｕｔ the answer.", "Name the parts."),
        ("Name the parts. Out\u200bput the answer.", "Name the parts."),
    ],
)
def test_an_english_description_is_mended_by_clicks(text: str, right: str) -> None:
    assert found(replace(ENGLISH, task_description=text))
    assert all_mended(replace(ENGLISH, task_description=text)).task_description == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("指出甲,乙两部分?", "指出甲，乙两部分？"),
        ("指出甲, 乙两部分。", "指出甲，乙两部分。"),
        ("指出甲(乙)丙两部分。", "指出甲（乙）丙两部分。"),
        ("(乙)是哪一部分?", "（乙）是哪一部分？"),
        ("指出相关部分.", "指出相关部分。"),
        ("指出相关部分", "指出相关部分。"),
        ("哪些部分相关!请指出;再核对:全部", "哪些部分相关！请指出；再核对：全部。"),
        ("指出相关部分，逐行输出。", "指出相关部分。"),
        ("逐行列出相关部分。", "列出相关部分。"),
        ("指出相关部分。请输出部分编号。不要输出其他内容。", "指出相关部分。"),
        ("指出相关部分，先输出编号。", "指出相关部分。"),
        ("指出相关部分。\n输出示例：第1部分", "指出相关部分。"),
        ("指出“[答案]”相关部分。", "指出相关部分。"),
    ],
)
def test_a_chinese_description_is_mended_by_clicks(text: str, right: str) -> None:
    assert found(replace(CHINESE, task_description=text))
    assert all_mended(replace(CHINESE, task_description=text)).task_description == right


@pytest.mark.parametrize(
    ("name", "text", "right"),
    [
        ("elements", "the cited parts.", "the cited parts"),
        ("elements", "the cited parts line by line", "the cited parts"),
        ("elements", "the cited\nparts", "the cited parts"),
        ("elements", "the cited parts [Answer]", "the cited parts"),
        ("elements", "the cited parts（all）", "the cited parts (all)"),
        ("supplementary", "A：one [answer]", "A: one"),
    ],
)
def test_the_other_parts_are_mended_too(name: str, text: str, right: str) -> None:
    assert getattr(all_mended(replace(ENGLISH, **{name: text})), name) == right  # type: ignore[arg-type]


def test_the_phrase_stands_in_a_chinese_sentence_and_is_judged_there() -> None:
    """“再逐行输出编号.，不要” is mixed, though the phrase alone is not."""
    assert all_mended(replace(CHINESE, elements="编号.")).elements == "编号"
    assert [one.check for one in errors(found(replace(CHINESE, elements="编号.")))] == ["punctuation"]


@pytest.mark.parametrize(
    "text",
    [
        "Which part cites https://example.org/报告（一）.html as its source?",
        "What happens at 12:30 and how often (e.g. twice) by a ratio of 3:2?",
        "Which entry reads 1,000.50 or “他说：走吧。”?",
        "Which call equals `打开（甲，乙）`, and which ```甲：乙``` ?",
        "Which option, A. or B., does the iPhone 15 Pro Max advert name?",
        "What does Mr. Weston's O'Neill write in ‘《三国》’?",
        "What does the program output for 5, and which prints “output the answer”?",
        "Which of the parts S1–S90 – or none – mentions 50 %?",
    ],
)
def test_numbers_code_addresses_and_quotations_are_left_alone_in_english(text: str) -> None:
    assert found(replace(ENGLISH, task_description=text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "第3.5节在12:30提到的1,024项各属哪一部分？",
        "选项A.与B.分别对应哪一部分？",
        "哪一部分引用了 https://example.org/a,b(c) 这一地址？",
        "哪一部分写有“甲,乙(丙)丁.”一语？",
        "哪一部分出自《论语.学而》或「甲:乙」？",
        "调用open(甲,乙)与`读.写(甲)丁`的是哪一部分？",
        "比分为3:2的一场在哪一部分？版本v1.2呢？",
        "哪一部分提到iPhone 15 Pro（e.g.蓝色）？",
        "“甲”与‘乙’、《丙》各在哪一部分？",
        "１２与３４两处在哪一部分？",
    ],
)
def test_numbers_code_addresses_and_quotations_are_left_alone_in_chinese(text: str) -> None:
    assert found(replace(CHINESE, task_description=text)) == []


def test_an_example_keeps_the_marks_that_the_answer_itself_has() -> None:
    task = secondary_task("T8.3")
    parts = replace(CHINESE, example=("赵六,钱七",))
    assert errors(found(parts, task=task, answer=("张三,李四",))) == []
    assert [one.check for one in errors(found(parts, task=task, answer=("张三、李四",)))] == ["punctuation"]


@given(st.text(alphabet="ab，。（）《》：１,.() \n", max_size=24), st.sampled_from(Language))
def test_a_place_is_where_the_mark_stands_and_a_repair_takes_it_away(text: str, language: Language) -> None:
    parts = replace(ENGLISH if language == Language.ENGLISH else CHINESE, task_description=text)
    for finding in found(parts):
        if finding.check != "punctuation" or finding.field != "task_description":
            continue
        assert text[finding.start : finding.end] == finding.params["mark"]
        after = mended(parts, finding)
        assert after != parts


@given(st.text(alphabet="ab 甲乙，。,.?()[]答案Answer输出\n\u200b", max_size=30), st.sampled_from(Language))
def test_clicking_repairs_comes_to_an_end(text: str, language: Language) -> None:
    all_mended(replace(ENGLISH if language == Language.ENGLISH else CHINESE, task_description=text))


# The example ------------------------------------------------------------------------------------------------------

ANSWERS = [
    ("T1.1", ("2020-01-05", "2021-11-30")), ("T1.1", ("3 March 1911", "14 July 1912")),
    ("T1.2", ("Marigold", "Heron")), ("T5.2", ("¶3", "¶14")), ("T6.1", ("Yes 33.33%", "No 66.67%")),
    ("T8.1", ("No Error",)), ("T8.1", ("1042",)), ("T8.2", ("12.5%", "-3.1%")), ("T8.2", ("$3.50",)),
    ("T8.2", ("14 crates",)), ("T8.2", ("1,042",)), ("T8.3", ("North 14", "Quay 3")),
    ("T9.1", ("open(str)", "flush()")), ("T9.2", ("Booking: seat_no", "Booking: fare")), ("T10.2", ("refuse",)),
    ("T2.2", ("B", "A", "C")),
    ("T3.1", ("BD",)), ("T7.3", ("recieve",)), ("T4.2", ("One text.", "Another text.", "A third.")),
]  # fmt: skip


@pytest.mark.parametrize(("code", "answer"), ANSWERS)
def test_a_made_up_example_has_the_form_and_nothing_of_the_answer(code: str, answer: tuple[str, ...]) -> None:
    task = secondary_task(code)
    made = propose_example(
        task, language=Language.ENGLISH, answer=answer, elements="what is asked for", context="What is asked for?"
    )
    assert made
    assert errors(check_example(made, task=task, language=Language.ENGLISH, answer=answer)) == []
    if task.metric is not Metric.PAIRWISE:
        assert not {comparable(line) for line in made} & {comparable(line) for line in answer}


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("task", SECONDARY_TASKS, ids=lambda task: task.code)
def test_the_form_of_every_task_begins_complete(task: SecondaryTask, language: Language) -> None:
    """A well drafted question needs no further typing: description, phrase, options and example are told apart."""
    drafted = task.example_in(language)
    options = (
        ("A. one", "B. two", "C. three", "D. four") if language == Language.ENGLISH else ("A. 甲", "B. 乙", "C. 丙")
    )
    parts = parts_of_question(
        task,
        language=language,
        question=drafted.question,
        elements=drafted.elements,
        options=options if task.multiple_choice else (),
        answer=drafted.answer,
    )
    assert errors(found(parts, task=task, answer=drafted.answer)) == []
    assert (parts.task_description, parts.elements) == (drafted.question, drafted.elements)
    assert parts.supplementary == ("\n".join(options) if task.multiple_choice else "")
    for element in drafted.answer if task.metric is not Metric.PAIRWISE else ():
        assert comparable(element) not in map(comparable, parts.example)


def test_the_figures_of_an_example_do_not_follow_those_of_the_answer() -> None:
    def made(answer: str) -> tuple[str, ...]:
        return propose_example(
            secondary_task("T8.2"), language=Language.ENGLISH, answer=[answer], elements="the share", context="Which?"
        )

    assert made("12.5%") == made("88.1%")
    assert made("12.5%") != made("12.55%")


def test_the_lists_of_a_question_become_the_supplementary_content() -> None:
    def split(question: str, options: Sequence[str] = ()) -> tuple[str, str]:
        parts = parts_of_question(
            secondary_task("T3.1"),
            language=Language.ENGLISH,
            question=question,
            elements="the letter (A/B/C/D).",
            options=options,
            answer=["B"],
        )
        assert parts.elements == "the letter (A/B/C/D)"
        return parts.task_description, parts.supplementary

    assert split("Which one?\nA. x\nB. y\nC. z") == ("Which one?", "A. x\nB. y\nC. z")
    assert split("Which one?\nA. x\nB. y", ["A. x", "B. y", "C. z"]) == ("Which one?", "A. x\nB. y\nC. z")
    assert split("Which sentence supports this?\n\nThe mole broke.") == (
        "Which sentence supports this?",
        "The mole broke.",
    )
    assert split("Which one is\nright?") == ("Which one is\nright?", "")


@pytest.mark.parametrize(
    ("element", "form"),
    [
        ("Marigold", Form(Kind.NAME)),
        ("Saint Anne", Form(Kind.NAME)),
        ("Vincent van der Berg", Form(Kind.NAME)),
        ("《红楼梦》", Form(Kind.NAME)),
        ("列夫·托尔斯泰", Form(Kind.NAME)),
        ("NASA", Form(Kind.PHRASE)),
        ("the river bank", Form(Kind.PHRASE)),
        ("河岸", Form(Kind.PHRASE)),
    ],
)
def test_names_are_told_from_phrases(element: str, form: Form) -> None:
    assert classify(element) == form


def test_a_name_beside_a_phrase_is_a_hint_only() -> None:
    findings = found(replace(ENGLISH, example=("published",)), task=secondary_task("T1.2"), answer=("Draft", "Final"))
    assert [(one.check, one.is_error) for one in findings] == [("example_capitals", False)]


@pytest.mark.parametrize("element", ["C", "3.5 km", "7", "12.5%", "2020-01-05", "Part 12", "Marigold", "river", "A b."])
def test_every_class_says_its_reason(element: str) -> None:
    template, params = classify(element).reason
    assert template % params
    assert form_of("Any text.", secondary_task("T4.1")).reason[0] % {}
