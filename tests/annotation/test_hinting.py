"""Hints while somebody edits: each task's good answer passes in silence, its bad one is told why, in both languages."""

from dataclasses import replace
from typing import Any

import pytest

from annotation.hinting import Draft, hints_of, length_limit, words_to_find
from annotation.occurring import Haystack, fold
from benchmark.taxonomy import SECONDARY_TASKS, Language, secondary_task

EN, ZH = Language.ENGLISH, Language.CHINESE
OPTIONS = {
    EN: ("A. the north", "B. the south", "C. the east", "D. the west"),
    ZH: ("A. 北区", "B. 南区", "C. 东区", "D. 西区"),
}
FIVE = {EN: (*OPTIONS[EN], "E. the harbour"), ZH: (*OPTIONS[ZH], "E. 港口")}


def good(code: str, language: Language) -> Draft:
    task = secondary_task(code)
    example = task.example_in(language)
    options = FIVE[language] if code == "T2.2" else OPTIONS[language] if task.multiple_choice else ()
    return Draft(example.question, example.elements, options, example.answer)


def rules(code: str, language: Language, draft: Draft, text: str | None = None) -> list[str]:
    task = secondary_task(code)
    found = Haystack(text).find(words_to_find(task, draft.answer)) if text is not None else None
    hints = hints_of(task, language, draft, found)
    assert all(one.message and not one.is_error for one in hints)
    return [one.check for one in hints]


# task: the rule that a bad answer breaks, and such an answer in English and in Chinese
BAD: dict[str, tuple[str, list[str], list[str]]] = {
    "T1.1": ("answer_count", ["P12"], ["提案12"]),
    "T1.2": ("answer_duplicate", ["Marigold", "MARIGOLD"], ["金盏号", "金盏号"]),
    "T2.1": ("form", ["Letter 4", "Letter-1", "Letter 7"], ["信件4", "信件 1", "信件7"]),
    "T2.2": ("letters_left", ["C", "A", "E", "B"], ["C", "A", "E", "B"]),
    "T3.1": ("letter_unknown", ["E"], ["E"]),
    "T3.2": ("answer_count", ["A", "B"], ["A", "B"]),
    "T4.1": ("answer_count", ["one reference", "another"], ["参考摘要一", "参考摘要二"]),
    "T4.2": ("over_limit", ["word " * 61, "two", "three"], ["字" * 101, "摘要二", "摘要三"]),
    "T5.1": ("answer_duplicate", ["Part 3", "part  3"], ["第3部分", "第3部分"]),
    "T5.2": ("duplicate_width", ["S41", "Ｓ41"], ["S41", "Ｓ41"]),
    "T6.1": ("answer_share_total", ["Accident 35.00%", "Illness 50.00%"], ["事故 35.00%", "疾病 50.00%"]),
    "T6.2": ("form", ["L2", "L-5", "L9"], ["来信2", "来信-5", "来信9"]),
    "T6.3": ("not_given", ["river", "flood", "lake"], ["河流", "洪水", "湖泊"]),
    "T7.1": ("form", ["A3 B7", "A12, B12", "A1 B1"], ["甲3 乙7", "甲12、乙12", "甲1 乙1"]),
    "T7.2": ("last_mark", ["4,", "9"], ["4、", "9"]),
    "T7.3": ("list_mark", ["1. recieve", "ocurred"], ["1. 按步就班", "再接再励"]),
    "T8.1": ("none_among_others", ["No Error", "1077"], ["无错误", "1077"]),
    "T8.2": ("form", ["12.5%", "-3.14%"], ["12.5%", "-3.14%"]),
    "T8.3": ("form", ["North 14", "Quay: 3", "Hill 22"], ["北栈 14", "码头栈：3", "山栈 22"]),
    "T9.1": ("too_long", ["open(" + "str, " * 50 + "str)", "flush()"], ["open(" + "str, " * 50 + "str)", "flush()"]),
    "T9.2": ("invisible", ["Booking: seat\u200b_no"], ["Booking: seat\u200b_no"]),
    "T10.1": ("identifier", ["X1 grant", "[Answer] X2"], ["X1 准许", "[答案] X2"]),
    "T10.2": ("not_offered", ["perhaps"], ["也许"]),
    "T11.1": ("answer_letters", ["b"], ["b"]),
    "T11.2": ("options_missing", ["B"], ["B"]),
}


@pytest.mark.parametrize("language", [EN, ZH])
@pytest.mark.parametrize("code", [task.code for task in SECONDARY_TASKS])
def test_each_task_has_a_good_answer_without_and_a_bad_one_with_a_hint(code: str, language: Language) -> None:
    draft = good(code, language)
    assert rules(code, language, draft) == []
    rule, english, chinese = BAD[code]
    bad = replace(draft, answer=tuple(english if language == EN else chinese))
    if rule == "options_missing":
        bad = replace(bad, options=bad.options[:3])
    assert rule in rules(code, language, bad)


@pytest.mark.parametrize(
    ("code", "language", "change", "rule"),
    [
        ("T3.1", EN, {"options": ("A. one", "B. two", "C. ONE", "D. four")}, "options_repeat"),
        ("T3.1", ZH, {"options": ("A. 一", "B. 二", "C. 三", "四")}, "options_mixed"),
        ("T3.1", EN, {"options": ("A. one", "C. two", "B. three", "D. four")}, "options_order"),
        ("T3.1", EN, {"question": "Why is option F wrong, and which is right?"}, "question_option"),
        ("T3.1", ZH, {"question": "为什么选项F是错的，哪一项是对的？"}, "question_option"),
        ("T3.1", EN, {"elements": "the answer option letter (A/B/C)"}, "elements_letters"),
        ("T4.1", EN, {"question": "Summarise the whole report."}, "no_limit"),
        ("T4.1", ZH, {"question": "概括整份报告。"}, "no_limit"),
        ("T4.1", EN, {"answer": ("参考摘要一", "reference two", "reference three")}, "language"),
        ("T1.1", EN, {"question": "列出所有提案。"}, "language"),
        ("T1.1", ZH, {"question": "List every proposal."}, "language"),
        ("T1.1", ZH, {"elements": "the numbers"}, "language"),
        ("T1.1", EN, {"question": "List every proposal，oldest first."}, "punctuation"),
        ("T1.1", ZH, {"question": "列出所有提案,按时间排列。"}, "punctuation"),
        ("T1.1", EN, {"answer": ("2024-01-02", "2024-01-03", "3 January 2024")}, "form"),
        ("T1.1", ZH, {"answer": ("2024年1月2日", "2024年1月3日", "2024-01-04")}, "form"),
        ("T8.2", EN, {"answer": ("12.5 km", "3.1 km", "7 miles")}, "form"),
        ("T6.1", EN, {"answer": ("Accident 35.00%", "Fire 65.00%")}, "not_given"),
        ("T6.1", EN, {"answer": ("Accident 35%", "Illness 65.00%")}, "answer_share_form"),
    ],
)
def test_question_options_and_phrase_are_looked_at_too(
    code: str, language: Language, change: dict[str, Any], rule: str
) -> None:
    assert rule in rules(code, language, replace(good(code, language), **change))


def test_options_may_stand_in_the_question_itself() -> None:
    asked = "Which is right?\nA. one\nB. two\nC. three\nD. four"
    assert rules("T3.1", EN, replace(good("T3.1", EN), question=asked, options=())) == []
    short = asked.removesuffix("\nD. four")
    assert "options_missing" in rules("T3.1", EN, replace(good("T3.1", EN), question=short, options=()))


@pytest.mark.parametrize(
    ("question", "language", "limit"),
    [
        ("in at most 120 words", EN, 120),
        ("Use no more than 60 words.", EN, 60),
        ("in 80 words or fewer", EN, 80),
        ("a 100-word summary", EN, None),
        ("用不超过200字概括", ZH, 200),
        ("150字以内", ZH, 150),
        ("概括整份报告", ZH, None),
    ],
)
def test_the_limit_of_a_summary_is_read_from_the_question(question: str, language: Language, limit: int | None) -> None:
    assert length_limit(question, language) == limit


# The document ------------------------------------------------------------------------------------------------------

ENGLISH = "Marigold paid. The  Heron\npaid late; HERON again. L25 and S41, then ‘Tern’. A3 and B7. Booking has seat_no."
CHINESE = "金盏号按时缴费。苍鹭号迟缴，第 3 部分提到Ｐ１２。"


@pytest.mark.parametrize(
    ("text", "element", "count", "place", "exact"),
    [
        (ENGLISH, "Marigold", 1, "Marigold", True),
        (ENGLISH, "heron", 2, "Heron", False),
        (ENGLISH, "The Heron", 1, "The  Heron", False),
        (ENGLISH, "HERON", 2, "HERON", True),
        (ENGLISH, "L2", 0, None, False),
        (ENGLISH, "L25", 1, "L25", True),
        (ENGLISH, "Ｓ41", 1, "S41", False),
        (ENGLISH, "'Tern'", 1, "‘Tern’", False),
        (CHINESE, "号", 2, "号", True),
        (CHINESE, "第3部分", 1, "第 3 部分", False),
        (CHINESE, "P12", 1, "Ｐ１２", False),
        (CHINESE, "海鸥号", 0, None, False),
        (ENGLISH, "  ", 0, None, False),
        ("", "x", 0, None, False),
        ("𠮷野家 and more", "野家", 1, "野家", True),
    ],
)
def test_an_element_is_found_as_whole_words_whatever_its_case_width_and_spacing(
    text: str, element: str, count: int, place: str | None, exact: bool
) -> None:
    others = [f"other {number}" for number in range(12)]
    for wanted in ([element], [element, *others, *(other[-1] for other in others)]):
        found = Haystack(text).find(wanted)[element.strip()]
        assert (found.count, found.exact) == (count, exact)
        if place is not None:
            assert text[found.start : found.end] == place


def test_ever_so_many_places_are_counted_up_to_a_bound() -> None:
    found = Haystack("river 7 " * 3_000).find(["river", "7"])
    assert [(one.count, one.more) for one in found.values()] == [(999, True)] * 2


def test_an_element_that_the_document_lacks_or_spells_otherwise_is_hinted_at() -> None:
    draft = replace(good("T1.2", EN), answer=("Marigold", "heron", "Gannet"))
    assert rules("T1.2", EN, draft, ENGLISH) == ["not_in_document", "spelt_otherwise"][::-1]
    zh = replace(good("T1.2", ZH), answer=("金盏号", "海鸥号"))
    assert rules("T1.2", ZH, zh, CHINESE) == ["not_in_document"]


def test_joined_elements_are_looked_for_in_their_parts() -> None:
    assert rules("T7.1", EN, replace(good("T7.1", EN), answer=("A3 B7",)), ENGLISH) == []
    assert rules("T7.1", EN, replace(good("T7.1", EN), answer=("A3 B8",)), ENGLISH) == ["not_in_document"]
    assert rules("T9.2", EN, replace(good("T9.2", EN), answer=("Booking: seat_no",)), ENGLISH) == []


@pytest.mark.parametrize("code", ["T3.1", "T4.1", "T8.2", "T10.2", "T2.2"])
def test_letters_summaries_and_computed_figures_need_not_stand_in_the_document(code: str) -> None:
    assert rules(code, EN, good(code, EN), "nothing of it") == []


def test_the_phrase_for_none_need_not_stand_in_the_document() -> None:
    for language, phrase in ((EN, "No Error"), (ZH, "无错误")):
        assert rules("T8.1", language, replace(good("T8.1", language), answer=(phrase,)), "1042") == []


def test_folding_leaves_what_tells_elements_apart() -> None:
    assert fold("Part 12") != fold("Part12") != fold("Part 1 2")
    assert fold("  Ｐart\u300012 ") == fold("part 12")
