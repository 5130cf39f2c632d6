"""Reading replies: every malformed reply has a name, nothing is invented, nothing is cut silently."""

import json
import time
from typing import Any

import pytest

from generation.replies import DraftReading, FaultClass, Outcome, read_answer_reply, read_drafts


def draft(number: int = 1, **changes: Any) -> dict[str, Any]:
    one = {
        "question": f"Which of the harbours named in part {number} were closed by the storm of that winter?",
        "elements": "the names of the harbours",
        "answer": ["Heron Bay", "Tern Point"],
        "rationale": "The question fits the task because the harbours stand in many places of the document.",
        "solution": [{"step": "Find the storm.", "quote": "the storm of that winter"}],
    }
    one.update(changes)
    return {key: value for key, value in one.items() if value is not ...}


def reply(*drafts: object) -> str:
    return json.dumps({"drafts": list(drafts)}, ensure_ascii=False)


THREE = reply(draft(1), draft(2), draft(3))


def read(
    content: object, *, finish: str | None = "stop", reasoning: str | None = None, task: str = "T1.1", zh: bool = False
) -> DraftReading:
    return read_drafts(
        content=content,
        finish_reason=finish,
        reasoning=reasoning,
        language="Chinese" if zh else "English",
        task=task,
    )


def kinds(reading: DraftReading) -> list[str]:
    return [fault.kind.value for fault in reading.faults]


# --- accepted --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        THREE,
        f"```json\n{THREE}\n```",
        f"Here are the {{three}} drafts [1], as {{}} you asked:\n\n{THREE}\n\nI hope they are of use.",
        f"\ufeff\n{THREE}",
        json.dumps(json.loads(THREE), indent=2),
    ],
)
def test_one_object_is_taken_whatever_stands_around_it(content: str) -> None:
    reading = read(content)
    assert reading.outcome is Outcome.SUCCEEDED
    assert reading.faults == ()
    assert [one.position for one in reading.drafts] == [1, 2, 3]
    assert reading.drafts[0].answer == ("Heron Bay", "Tern Point")
    assert reading.drafts[0].solution[0].quote == "the storm of that winter"


def test_markup_in_an_answer_is_kept_as_text() -> None:
    answer = ["<script>alert(1)</script>", "![x](https://evil.example/y.png)"]
    reading = read(reply(draft(1, answer=answer), draft(2), draft(3)))
    assert reading.drafts[0].answer == tuple(answer)


def test_nul_and_lone_surrogates_are_cleaned() -> None:
    content = THREE.replace("closed", "clo\x00sed").replace("storm", "st\\u0000orm\\ud800", 1)
    reading = read(content)
    assert reading.outcome is Outcome.SUCCEEDED
    assert reading.cleaned
    everything = repr(reading.drafts)
    assert "\\x00" not in everything
    assert "\\ud800" not in everything
    json.dumps([one.question for one in reading.drafts], ensure_ascii=False).encode("utf-8")


# --- not usable at all -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "finish", "reasoning", "kind"),
    [
        ("", "stop", None, FaultClass.EMPTY),
        (None, "stop", None, FaultClass.EMPTY),
        (" \n\t\x00", "stop", None, FaultClass.EMPTY),
        ("", "length", None, FaultClass.EMPTY),
        ("", "stop", THREE, FaultClass.EMPTY),
        ("", "length", THREE, FaultClass.NO_ANSWER_BUDGET),
        (None, "max_tokens", "thinking", FaultClass.NO_ANSWER_BUDGET),
        (["not", "text"], "stop", None, FaultClass.EMPTY),
        (THREE[:-40], "length", None, FaultClass.TRUNCATED),
        (THREE, "length", None, FaultClass.TRUNCATED),
        (THREE[:200], "stop", None, FaultClass.TRUNCATED),
        (THREE[: THREE.index("Tern") + 2], None, None, FaultClass.TRUNCATED),
        ("```json\n" + THREE[:-3] + "\n```", "stop", None, FaultClass.TRUNCATED),
        (THREE, "content_filter", None, FaultClass.REFUSED),
        ("I'm sorry, but I can't help with that.", "stop", None, FaultClass.REFUSED),
        ("抱歉，我无法回答这个问题。", "stop", None, FaultClass.REFUSED),
    ],
)
def test_a_reply_without_a_whole_answer_fails_and_is_not_repaired(
    content: object, finish: str | None, reasoning: str | None, kind: FaultClass
) -> None:
    reading = read(content, finish=finish, reasoning=reasoning)
    assert reading.outcome is Outcome.FAILED
    assert [fault.kind for fault in reading.faults] == [kind]
    assert reading.drafts == ()


# --- asked for again -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("The three questions would be about ships.", FaultClass.NOT_JSON),
        ("{'drafts': []}", FaultClass.NOT_JSON),
        (THREE.replace('"elements":', '"elements"', 1), FaultClass.NOT_JSON),
        (THREE.replace('["Heron Bay", "Tern Point"]', "[NaN]", 1), FaultClass.NOT_JSON),
        ("[" * 100_000, FaultClass.NOT_JSON),
        ('{"drafts": ' + "[" * 100_000, FaultClass.NOT_JSON),
        (f"{THREE}\n{THREE}", FaultClass.SEVERAL_OBJECTS),
        (f'{{"plan": "first"}}\n{THREE}', FaultClass.SEVERAL_OBJECTS),
        (json.dumps([draft(1), draft(2), draft(3)]), FaultClass.ARRAY),
        ('{"drafts": [], "drafts": []}', FaultClass.DUPLICATE_KEY),
        ('{"questions": [1]}', FaultClass.MISSING_PART),
        ('{"drafts": "three"}', FaultClass.WRONG_TYPE),
        ('{"drafts": []}', FaultClass.WRONG_COUNT),
    ],
)
def test_a_reply_that_is_not_one_object_is_named_and_repairable(content: str, kind: FaultClass) -> None:
    reading = read(content)
    assert reading.outcome is Outcome.REPAIRABLE
    assert [fault.kind for fault in reading.faults] == [kind]
    assert reading.drafts == ()


def test_unescaped_quotes_in_chinese_text_are_flagged_and_nothing_is_cut() -> None:
    content = reply(zh_draft(1), zh_draft(2), zh_draft(3)).replace("好消息", '"好"消息', 1)
    reading = read(content, zh=True)
    assert reading.outcome is Outcome.REPAIRABLE
    assert kinds(reading) == ["unescaped_quote"]
    assert reading.drafts == ()


def zh_draft(number: int, **changes: Any) -> dict[str, Any]:
    return (
        draft(
            number,
            question=f"在第{number}部分，他说的好消息涉及哪些港口？",
            elements="港口名称",
            answer=["苍鹭湾", "燕鸥角"],
            rationale="问题符合任务要求，答案可在文中核对。",
            solution=[{"step": "找到原文。", "quote": "好消息来自苍鹭湾"}],
        )
        | changes
    )


# --- drafts one by one -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 4])
def test_another_number_of_valid_drafts_is_partial_and_keeps_them(count: int) -> None:
    reading = read(reply(*[draft(number) for number in range(count)]))
    assert reading.outcome is Outcome.PARTIAL
    assert kinds(reading) == ["wrong_count"]
    assert len(reading.drafts) == count


def test_very_many_drafts_are_not_all_read_and_the_fault_says_so() -> None:
    reading = read(reply(*[draft(number) for number in range(500)]))
    assert len(reading.drafts) == 6
    assert "only the first 6" in str(reading.faults[0])


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"rationale": ...}, FaultClass.MISSING_PART),
        ({"rationale": " "}, FaultClass.MISSING_PART),
        ({"solution": ...}, FaultClass.MISSING_PART),
        ({"solution": []}, FaultClass.MISSING_PART),
        ({"answer": []}, FaultClass.MISSING_PART),
        ({"elements": None}, FaultClass.MISSING_PART),
        ({"answer": "Heron Bay"}, FaultClass.WRONG_TYPE),
        ({"answer": [12, 13]}, FaultClass.WRONG_TYPE),
        ({"question": ["q"]}, FaultClass.WRONG_TYPE),
        ({"options": "A. x"}, FaultClass.WRONG_TYPE),
        ({"solution": ["step"]}, FaultClass.WRONG_TYPE),
        ({"solution": [{"step": "s", "quote": 3}]}, FaultClass.WRONG_TYPE),
        ({"rationale": "long " * 250_000}, FaultClass.TOO_LONG),
        ({"answer": [f"x{number}" for number in range(5_000)]}, FaultClass.TOO_LONG),
        ({"answer": ["Heron Bay"]}, FaultClass.RULE_BROKEN),
        ({"answer": ["Heron Bay", "heron  bay"]}, FaultClass.RULE_BROKEN),
        ({"answer": ["Heron\nBay", "Tern"]}, FaultClass.RULE_BROKEN),
        ({"question": "文中提到的哪些港口因那年冬天的风暴而关闭？"}, FaultClass.WRONG_LANGUAGE),
        ({"rationale": "这个问题符合任务要求，因为港口散见于全文。"}, FaultClass.WRONG_LANGUAGE),
    ],
)
def test_a_faulty_draft_is_named_and_the_others_are_kept(changes: dict[str, Any], kind: FaultClass) -> None:
    reading = read(reply(draft(1), draft(2, **changes), draft(3)))
    assert reading.outcome is Outcome.PARTIAL
    assert [(fault.kind, fault.draft) for fault in reading.faults] == [(kind, 2)]
    assert [one.position for one in reading.drafts] == [1, 3]


def test_a_draft_that_is_no_object_is_named() -> None:
    assert kinds(read(reply("one", draft(2), draft(3)))) == ["wrong_type"]


def test_the_same_question_twice_counts_once() -> None:
    reading = read(reply(draft(1), draft(1), draft(3)))
    assert reading.outcome is Outcome.PARTIAL
    assert kinds(reading) == ["rule_broken"]


def test_quoted_source_text_does_not_decide_the_language() -> None:
    question = "What does the inscription “守港人每晚记事，周一苍鹭号运盐入港，周二北上” say of the ships?"
    assert read(reply(draft(1, question=question), draft(2), draft(3))).outcome is Outcome.SUCCEEDED


def test_english_in_a_chinese_prompt_is_the_wrong_language() -> None:
    reading = read(reply(draft(1), zh_draft(2), zh_draft(3)), zh=True)
    assert kinds(reading) == ["wrong_language"]


def choice(number: int, **changes: Any) -> dict[str, Any]:
    return draft(number, options=["A. tea", "B. salt", "C. tin", "D. oil"], answer=["C"], **changes)


def test_a_multiple_choice_has_four_lettered_options() -> None:
    assert read(reply(choice(1), choice(2), choice(3)), task="T3.2").outcome is Outcome.SUCCEEDED


def test_options_without_letters_get_them() -> None:
    bare = choice(1) | {"options": ["tea", "salt", "tin", "oil"]}
    reading = read(reply(bare, choice(2), choice(3)), task="T3.2")
    assert reading.drafts[0].options == ("A. tea", "B. salt", "C. tin", "D. oil")


@pytest.mark.parametrize(
    "changes",
    [
        {"options": ["A. tea", "B. salt", "C. tin"]},
        {"options": []},
        {"options": ["A. tea", "B. salt", "C. tin", "C. oil"]},
        {"answer": ["E"]},
        {"answer": ["tin"]},
    ],
)
def test_a_multiple_choice_that_cannot_be_answered_by_letter_breaks_the_rule(changes: dict[str, Any]) -> None:
    reading = read(reply(choice(1) | changes, choice(2), choice(3)), task="T3.2")
    assert kinds(reading) == ["rule_broken"]


def test_summaries_need_three_references() -> None:
    two = draft(1, answer=["One summary.", "Another summary."])
    three = [draft(number, answer=["One.", "Two.", "Three."]) for number in (2, 3)]
    assert kinds(read(reply(two, *three), task="T4.1")) == ["rule_broken"]


def test_reading_a_hostile_reply_takes_bounded_time() -> None:
    began = time.perf_counter()
    read('{"a ' * 200_000)
    read("[1," * 300_000)
    read("{ " * 500_000 + THREE)
    assert time.perf_counter() - began < 5


# --- answers ---------------------------------------------------------------------------------------------------------


def test_an_answer_is_handed_on_as_it_is() -> None:
    reading = read_answer_reply("thinking\n[Answer]\nI can't\x00", "stop", "thoughts")
    assert reading.text == "thinking\n[Answer]\nI can't"
    assert reading.fault is None


@pytest.mark.parametrize(
    ("content", "finish", "reasoning", "kind"),
    [
        ("", "stop", None, FaultClass.EMPTY),
        (None, None, None, FaultClass.EMPTY),
        ("", "stop", "[Answer]\nC", FaultClass.EMPTY),
        ("", "length", "[Answer]\nC", FaultClass.NO_ANSWER_BUDGET),
        ("[Answer]\nHer", "length", None, FaultClass.TRUNCATED),
        ("[Answer]\nC", "content_filter", None, FaultClass.REFUSED),
        ("I cannot answer questions about this document.", "stop", None, FaultClass.REFUSED),
        ("很抱歉，我不能回答。", "stop", None, FaultClass.REFUSED),
    ],
)
def test_a_reply_without_an_answer_has_a_fault_and_no_text(
    content: object, finish: str | None, reasoning: str | None, kind: FaultClass
) -> None:
    reading = read_answer_reply(content, finish, reasoning)
    assert reading.text is None
    assert reading.fault is not None
    assert reading.fault.kind is kind
