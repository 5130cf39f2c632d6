"""The prompts are a pure function of their parts, and can be taken apart again."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.framing import (
    NotAPrompt,
    Parts,
    fixed_text,
    identifier,
    model_input,
    nonthinking_prompt,
    nonthinking_requirement,
    segments,
    split_prompt,
    thinking_prompt,
)
from benchmark.taxonomy import Language

ENGLISH = Parts(Language.ENGLISH, "List the ships that paid.", "the ship names", "", ("Gull", "Auk"))
CHINESE = Parts(Language.CHINESE, "列出缴费的船只。", "船名", "选项：\nA 甲\nB 乙", ("海鸥号", "海雀号"))


def test_the_english_prompts_read_as_the_template_says() -> None:
    assert nonthinking_prompt(ENGLISH) == (
        "List the ships that paid. Output the “[Answer]” identifier first, and then output the ship names line by line,"
        " without any additional content.\n\nOutput example:\n[Answer]\nGull\nAuk"
    )
    assert thinking_prompt(ENGLISH) == (
        "List the ships that paid. Think step by step. After your thinking process, output the “[Answer]” identifier,"
        " and then output the ship names line by line.\n\nOutput example:\n<Your thinking process>\n[Answer]\nGull\nAuk"
    )


def test_the_chinese_prompts_read_as_the_template_says() -> None:
    assert nonthinking_prompt(CHINESE) == (
        "列出缴费的船只。先输出“[答案]”标识符，再逐行输出船名，不要输出任何其他内容。\n\n选项：\nA 甲\nB 乙\n\n"
        "输出示例：\n[答案]\n海鸥号\n海雀号"
    )
    assert thinking_prompt(CHINESE) == (
        "列出缴费的船只。请一步一步思考。在思考过程结束之后，输出“[答案]”标识符，再逐行输出船名。\n\n"
        "选项：\nA 甲\nB 乙\n\n输出示例：\n<你的思考过程>\n[答案]\n海鸥号\n海雀号"
    )


def test_the_fixed_text_is_that_of_the_specification(shared_data: Path) -> None:
    path = shared_data.parent / "spec" / "templates.json"
    if not path.is_file():
        pytest.skip(f"no specification at {path}")
    given = json.loads(path.read_text(encoding="utf-8"))
    for language in Language:
        assert {name: getattr(fixed_text(language), name) for name in given[language]} == given[language]


def test_the_model_reads_the_document_before_the_prompt() -> None:
    assert model_input("text", "prompt") == "text\n\n\n\nprompt"
    assert identifier(Language.CHINESE) == "[答案]"
    assert nonthinking_requirement(Language.CHINESE, "船名").startswith("先输出“[答案]”标识符，再逐行输出船名，")


def test_white_space_around_the_parts_is_not_part_of_the_prompt() -> None:
    loose = Parts("English", " List the ships that paid.\r\n", "the ship names ", " \r\n", [" Gull", "Auk\r\n"])  # type: ignore[arg-type]
    assert nonthinking_prompt(loose) == nonthinking_prompt(ENGLISH)


TRICKY = st.sampled_from(["{elements}", "{task_description}", "%s", "%(x)s", "{", "}", "{{}}", "\\1", "\\g<0>", "$x"])
LINE = st.lists(st.one_of(TRICKY, st.text(alphabet="ab 甲，.", min_size=1, max_size=6)), min_size=1, max_size=4).map(
    "".join
)
FILLED = LINE.map(str.strip).filter(bool)
BLOCK = st.lists(LINE, max_size=4).map("\n".join)
PARTS = st.builds(
    Parts,
    language=st.sampled_from(Language),
    task_description=st.lists(FILLED, min_size=1, max_size=3).map("\n\n".join),
    elements=FILLED,
    supplementary=BLOCK,
    example=st.lists(FILLED, min_size=1, max_size=3).map(tuple),
)


@given(PARTS, st.booleans())
def test_parts_go_in_once_and_unchanged(parts: Parts, thinking: bool) -> None:
    fixed = fixed_text(parts.language)
    requirement = fixed.thinking_requirement if thinking else fixed.non_thinking_requirement
    before, after = requirement.split("{elements}")
    lines = [parts.task_description.strip() + fixed.joint + before + parts.elements.strip() + after, ""]
    if parts.supplementary.strip():
        lines += [parts.supplementary.strip(), ""]
    lines += [
        fixed.example_heading,
        *([fixed.thinking_placeholder] if thinking else []),
        fixed.identifier,
        *parts.example,
    ]
    assert (thinking_prompt if thinking else nonthinking_prompt)(parts) == "\n".join(lines)


@given(PARTS, st.booleans())
def test_segments_joined_are_the_prompt(parts: Parts, thinking: bool) -> None:
    found = segments(parts, thinking)
    assert "".join(segment.text for segment in found) == (thinking_prompt if thinking else nonthinking_prompt)(parts)
    assert {segment.source for segment in found} <= {
        "fixed", "task_description", "elements", "supplementary", "example",
    }  # fmt: skip
    typed = "".join(segment.text for segment in found if segment.source != "fixed")
    clean = parts.cleaned()
    assert typed == clean.task_description + clean.elements + clean.supplementary + "\n".join(clean.example)


@given(PARTS, st.booleans())
def test_a_prompt_taken_apart_gives_its_parts(parts: Parts, thinking: bool) -> None:
    prompt = (thinking_prompt if thinking else nonthinking_prompt)(parts)
    assert split_prompt(parts.language, prompt, thinking) == parts.cleaned()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("“[Answer]”", '"[Answer]"'),
        ("Output example:", "Output Example:"),
        ("Output example:\n", "Output example: \n"),
        (", without any additional content.", "."),
        ("\n\nOutput example", "\nOutput example"),
        ("paid. Output", "paid.  Output"),
        ("\nAuk", "\nAuk\n"),
        ("List", " List"),
        ("[Answer]\nGull", "[answer]\nGull"),
    ],
)
def test_an_edited_fixed_text_is_noticed(old: str, new: str) -> None:
    prompt = nonthinking_prompt(ENGLISH)
    assert old in prompt
    with pytest.raises(NotAPrompt):
        split_prompt(Language.ENGLISH, prompt.replace(old, new, 1), thinking=False)


def test_a_prompt_of_the_other_kind_or_language_is_noticed() -> None:
    with pytest.raises(NotAPrompt):
        split_prompt(Language.ENGLISH, nonthinking_prompt(ENGLISH), thinking=True)
    with pytest.raises(NotAPrompt):
        split_prompt(Language.CHINESE, nonthinking_prompt(ENGLISH), thinking=False)
