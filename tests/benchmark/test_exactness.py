"""The prompts, byte by byte: the template of the specification filled by other code, for every task, language and form,
with parts that try to be taken for something else."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.findings import errors
from benchmark.framing import (
    Parts,
    check,
    identifier_places,
    nonthinking_prompt,
    split_prompt,
    thinking_prompt,
)
from benchmark.metrics import FULL_MARKS, IDENTIFIERS, as_reply, self_scores, shown_elements
from benchmark.taxonomy import SECONDARY_TASKS, Language, Metric, SecondaryTask, secondary_task

# spec/templates.json, as it was agreed; the test of the fixed text holds the product's copy to the file itself.
TEMPLATE = {
    Language.ENGLISH: (
        "{task_description} Output the “[Answer]” identifier first, and then output {elements} line by line, without"
        " any additional content.",
        "{task_description} Think step by step. After your thinking process, output the “[Answer]” identifier, and then"
        " output {elements} line by line.",
        "Output example:",
        "<Your thinking process>",
        "[Answer]",
    ),
    Language.CHINESE: (
        "{task_description}先输出“[答案]”标识符，再逐行输出{elements}，不要输出任何其他内容。",
        "{task_description}请一步一步思考。在思考过程结束之后，输出“[答案]”标识符，再逐行输出{elements}。",
        "输出示例：",
        "<你的思考过程>",
        "[答案]",
    ),
}


def filled(parts: Parts, thinking: bool) -> str:
    """The layout line by line; each place is filled once, and what fills it is not looked at."""
    plain, thought, heading, placeholder, mark = TEMPLATE[parts.language]
    tidy = {
        name: getattr(parts, name).replace("\r\n", "\n").replace("\r", "\n").strip()
        for name in ("task_description", "elements", "supplementary")
    }
    pieces = re.split(r"(\{task_description\}|\{elements\})", thought if thinking else plain)
    first = "".join(tidy[piece[1:-1]] if piece.startswith("{") else piece for piece in pieces)
    lines = [first, ""]
    if tidy["supplementary"]:
        lines += [tidy["supplementary"], ""]
    lines += [heading, *([placeholder] if thinking else []), mark]
    return "\n".join([*lines, *(line.replace("\r\n", "\n").replace("\r", "\n").strip() for line in parts.example)])


def made(parts: Parts, thinking: bool) -> str:
    return thinking_prompt(parts) if thinking else nonthinking_prompt(parts)


TRICKS = st.sampled_from(
    [
        "{question}", "{elements}", "{task_description}", "{supplementary}", "{example_lines}", "{", "}", "{{x}}",
        "{0}", "%s", "%(x)s", "%%", "%", "\\", "\\n", "\\1", "\\g<0>", "${x}", "$1", "💩", "👩‍👩‍👧", "𠮷",
        "\r\n", "\r", "\n",
        "\t", " ", "\u3000", "“", "”", "，", "。", "?", "[", "]", "Answer", "答案", "a", "甲", "<script>", "&amp;",
        "\u0301", "Output example:", "输出示例：", "line by line", "\u200b", "\u2028", "\x85",
    ]
)  # fmt: skip
TEXT = st.lists(TRICKS, max_size=8).map("".join)
ANY_PARTS = st.builds(
    Parts,
    language=st.sampled_from(Language),
    task_description=TEXT,
    elements=TEXT,
    supplementary=TEXT,
    example=st.lists(TEXT, max_size=4).map(tuple),
)


@given(ANY_PARTS, st.booleans())
def test_both_prompts_are_the_template_filled_once_whatever_the_parts_hold(parts: Parts, thinking: bool) -> None:
    assert made(parts, thinking).encode() == filled(parts, thinking).encode()


@pytest.mark.parametrize("thinking", [False, True], ids=["nonthinking", "thinking"])
@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("task", SECONDARY_TASKS, ids=lambda task: task.code)
def test_the_prompts_of_every_task_are_exact(task: SecondaryTask, language: Language, thinking: bool) -> None:
    example = task.example_in(language)
    for supplementary in ("", "A. {x} %s\r\nB. 100%\\"):
        parts = Parts(language, f" {example.question}\r\n", example.elements, supplementary, example.answer[:2])
        prompt = made(parts, thinking)
        assert prompt == filled(parts, thinking)
        assert [match.start() for match in ANY_MARK.finditer(prompt)] == identifier_places(parts, thinking)
        assert len(identifier_places(parts, thinking)) == 2
        assert not prompt.endswith("\n")


ANY_MARK = re.compile("|".join(map(re.escape, IDENTIFIERS)))
LINES = st.lists(st.text(alphabet="ab 甲P1[]", min_size=1, max_size=6), min_size=1, max_size=4, unique=True)
TASK = st.sampled_from(SECONDARY_TASKS)


@given(ANY_PARTS, TASK, LINES)
def test_what_may_be_completed_breaks_no_invariant(parts: Parts, task: SecondaryTask, answer: Sequence[str]) -> None:
    """Completion implies: exact and separable prompts, the identifier in its places only, an answer that scores 1.0,
    and an example that is not it."""
    findings = check(parts, task=task, answer=answer, document_language=parts.language)
    if errors(findings):
        return
    holds(parts, task, answer)


def holds(parts: Parts, task: SecondaryTask, answer: Sequence[str]) -> None:
    for thinking in (False, True):
        prompt = made(parts, thinking)
        assert [match.start() for match in ANY_MARK.finditer(prompt)] == identifier_places(parts, thinking)
        assert split_prompt(parts.language, prompt, thinking) == parts.cleaned()
    assert min(self_scores(task, language=parts.language, answer=answer)) >= FULL_MARKS
    if task.metric in (Metric.NDCG, Metric.F1, Metric.SUBEM):
        assert not {line.lower() for line in parts.example} & {line.lower() for line in answer}


GOOD = {
    Language.ENGLISH: Parts("English", "Name the parts that support it.", "the cited parts", "", ("Part 90",)),  # type: ignore[arg-type]
    Language.CHINESE: Parts("Chinese", "指出支持摘要的部分。", "被引用的部分", "", ("第90部分",)),  # type: ignore[arg-type]
}


@given(st.sampled_from(Language), st.sampled_from(["task_description", "elements", "supplementary", "example"]), TEXT)
def test_one_spoilt_part_of_a_good_form_is_found_or_harmless(language: Language, name: str, spoilt: str) -> None:
    good = GOOD[language]
    value = (*good.example, spoilt) if name == "example" else getattr(good, name) + spoilt
    parts = Parts(**{**good.__dict__, name: value})
    answer = ("Part 3", "Part 17") if language == Language.ENGLISH else ("第3部分", "第17部分")
    task = secondary_task("T5.1")
    if not errors(check(parts, task=task, answer=answer, document_language=language)):
        holds(parts, task, answer)


# Self-score --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("task", SECONDARY_TASKS, ids=lambda task: task.code)
def test_the_answer_of_every_task_scores_one_as_a_reply_to_either_prompt(
    task: SecondaryTask, language: Language
) -> None:
    answer = task.example_in(language).answer
    assert min(self_scores(task, language=language, answer=answer)) >= FULL_MARKS
    given = list(answer) if task.metric is not Metric.SUMMARY else [answer[0]]
    for thinking in (False, True):
        assert shown_elements(as_reply(language, given, thinking=thinking)) == given


@pytest.mark.parametrize("language", Language)
def test_a_thinking_reply_names_the_identifier_in_its_reasoning_and_is_read_from_the_last(language: Language) -> None:
    reply = as_reply(language, ["P12"], thinking=True)
    mark = IDENTIFIERS[0] if language == Language.ENGLISH else IDENTIFIERS[1]
    assert reply.count(mark) == 2
    assert shown_elements(reply) == ["P12"]


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("T2.1", ["Part 1"]),
        ("T5.1", ["Part 1 [Answer]", "Part 2"]),
        ("T8.2", ["12.5%\n13%"]),
        ("T4.1", ["...", "One sentence.", "Another sentence."]),
    ],
)
def test_an_answer_that_loses_points_against_itself_blocks(code: str, answer: list[str]) -> None:
    findings = check(
        GOOD[Language.ENGLISH],
        task=secondary_task(code),
        answer=answer,
        document_language=Language.ENGLISH,
    )
    assert min(self_scores(secondary_task(code), language=Language.ENGLISH, answer=answer)) < FULL_MARKS
    assert "answer_scores_itself" in [one.check for one in errors(findings)]
