"""Which drafted questions ask the same: paraphrases do, near but different ones do not, in both languages."""

import time
from itertools import product
from random import Random

import pytest

from annotation.grouping import Asked, groups, is_same

SHIPS = ("Marigold", "Heron", "Tern")
FEES = ("12", "9", "4")

PARAPHRASES = [
    (
        "Which ships paid a late fee, largest fee first? Give each ship once.",
        "List the ships that paid a late fee, ordered from the largest fee to the smallest.",
    ),
    ("Which ships paid a late fee?", "which SHIPS  paid a late fee ?"),
    ("Which countries does the report mention?", "Name every country that is mentioned in the report."),
    ("In descending order of fee, list the ships.", "List the ships by fee, descending."),
    ("Which statuses of a PEP are there?", "List all statuses of a PEP, each exactly once."),
    ("Which three ships paid fees?", "List the 3 ships that paid fees."),
    ("哪些船缴纳了滞纳金？按金额从大到小排列。", "请列出缴纳滞纳金的船，金额由高到低排序。"),
    ("哪些条款规定了学位撤销的情形？", "请列出规定学位撤销情形的条款。"),
    ("《学位法》中哪些条款规定了期限？", "根据《学位法》，请找出规定期限的所有条款。"),
    ("第三章规定了哪些职责？", "请列出第3章规定的各项职责。"),
    ("哪些船缴纳了滞纳金？", "哪些船缴纳了滞纳金？每行一个。"),
]
DIFFERENT = [
    ("Which ships paid a late fee in May?", "Which ships paid a late fee in June?"),
    ("Which ships paid a late fee, largest fee first?", "Which ships paid a late fee, smallest fee first?"),
    ("Which ships paid a late fee?", "Which ships paid a harbour fee?"),
    ("Which ships paid a late fee?", "Which ships did not pay a late fee?"),
    ("What is the first status in the list?", "What is the last status in the list?"),
    ("List the five largest fees.", "List the six largest fees."),
    ("Which ships left before the storm?", "Which ships left after the storm?"),
    ('Which sections use the word "may"?', 'Which sections use the word "must"?'),
    ("What happened in 1834?", "What happened in 1843?"),
    ("Which duties does the harbour master have?", "Which duties does the ferryman have?"),
    ("哪些船在五月缴纳了滞纳金？", "哪些船在六月缴纳了滞纳金？"),
    ("哪些船缴纳了滞纳金？按金额从大到小排列。", "哪些船缴纳了滞纳金？按金额从小到大排列。"),
    ("哪些船缴纳了滞纳金？", "哪些船缴纳了停泊费？"),
    ("哪些船缴纳了滞纳金？", "哪些船没有缴纳滞纳金？"),
    ("风暴之前有哪些船北上？", "风暴之后有哪些船北上？"),
    ("第三章规定了哪些职责？", "第四章规定了哪些职责？"),
    ("“评审”一词出现在哪些条款？", "“评议”一词出现在哪些条款？"),
    ("金额最大的是哪艘船？", "金额最小的是哪艘船？"),
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), PARAPHRASES)
def test_paraphrases_ask_the_same(one: str, other: str) -> None:
    assert is_same(Asked(one), Asked(other))
    assert is_same(Asked(other), Asked(one))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_near_but_different_questions_do_not(one: str, other: str) -> None:
    assert not is_same(Asked(one), Asked(other))
    assert not is_same(Asked(other), Asked(one))


@pytest.mark.parametrize(("one", "other"), [DIFFERENT[0], DIFFERENT[1], DIFFERENT[10], DIFFERENT[11]])
def test_not_even_with_the_same_answer_where_a_name_a_number_or_an_order_parts_them(one: str, other: str) -> None:
    assert not is_same(Asked(one, SHIPS), Asked(other, SHIPS))


def test_the_same_answer_makes_up_for_other_words() -> None:
    one, other = "Which vessels were charged for lateness?", "Which vessels had to pay for lateness at the mole?"
    assert not is_same(Asked(one), Asked(other))
    assert is_same(Asked(one, SHIPS), Asked(other, (*SHIPS, "Gull")))
    assert not is_same(Asked(one, SHIPS), Asked(other, ("Gull", "Swan")))
    assert not is_same(Asked("Who owns the ferry?", SHIPS), Asked("Which birds nest on the mole?", SHIPS))


def test_another_answer_parts_long_questions_that_differ_in_one_word() -> None:
    words = "Which measures for the repair of the mole, the bridge, the quay and the lighthouse did the {} propose"
    one, other = words.format("council"), words.format("abbey")
    assert is_same(Asked(one, SHIPS), Asked(other, SHIPS))
    assert not is_same(Asked(one, SHIPS), Asked(other, FEES))


def test_letters_of_options_say_nothing_about_the_answer() -> None:
    one, other = "Which vessels were charged for lateness?", "Which vessels had to pay for lateness at the mole?"
    assert not is_same(Asked(one, ("A", "C")), Asked(other, ("A", "C")))


def test_groups_are_in_reading_order_and_leave_single_questions_out() -> None:
    asked = [
        Asked(question) for question in (PARAPHRASES[0][0], "What is a berth?", *PARAPHRASES[6], PARAPHRASES[0][1])
    ]
    assert groups(asked) == ((0, 4), (2, 3))
    assert groups(asked) == groups(list(asked))
    assert groups([]) == ()


def test_sixty_candidates_are_grouped_at_once() -> None:
    chance = Random(5)
    nouns, verbs = ("ships", "keepers", "tolls", "fees", "logs"), ("paid", "left", "sank", "rose", "held")
    asked = [
        Asked(
            " ".join(["Which", noun, verb, "beside", *chance.choices(nouns, k=40)]), tuple(chance.choices(SHIPS, k=8))
        )
        for noun, verb in product(nouns, verbs)
    ]
    asked = [*asked, *asked, *asked[:10]]
    began = time.perf_counter()
    found = groups(asked)
    assert time.perf_counter() - began < 0.5
    assert sum(len(group) for group in found) >= 60
