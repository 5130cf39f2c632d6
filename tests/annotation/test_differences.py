"""Differences to the draft: they add up to both texts, read like a person's, and take bounded time."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.differences import Piece, is_change, line_difference, text_difference

LETTERS = st.text(alphabet="ab c文字。\n", max_size=60)
LINES = st.lists(st.sampled_from(["A", "B", "C", "Part 1", "Part 12", "金盏号"]), max_size=12)


def shown(pieces: list[Piece]) -> str:
    marks = {"same": "{}", "ins": "[+{}]", "del": "[-{}]", "moved": "[~{}]"}
    return "".join(
        marks[piece.kind].format(piece.text) if piece.kind in marks else f"({shown(list(piece.pieces))})"
        for piece in pieces
    )


@given(before=LETTERS, after=LETTERS)
def test_the_pieces_of_a_text_add_up_to_both_texts(before: str, after: str) -> None:
    pieces = text_difference(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "del") == after
    assert "".join(piece.text for piece in pieces if piece.kind != "ins") == before
    assert is_change(pieces) is (before != after)


@given(before=LINES, after=LINES)
def test_the_pieces_of_a_list_add_up_to_the_new_list_and_lose_nothing_of_the_old(
    before: list[str], after: list[str]
) -> None:
    pieces = line_difference(before, after)
    assert [piece.text for piece in pieces if piece.kind != "del"] == after
    old = [piece.text for piece in pieces if piece.kind in {"same", "del", "moved"}]
    old += ["".join(p.text for p in piece.pieces if p.kind != "ins") for piece in pieces if piece.kind == "edit"]
    assert sorted(old) == sorted(before)


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("Which ships paid?", "Which ships paid late?", "Which ships paid[+ late]?"),
        ("哪些船缴纳过滞纳金？", "哪些船只缴纳过罚金？", "哪些船[+只]缴纳过[-滞纳][+罚]金？"),
        ("the largest fee", "the smallest fee", "the [-largest][+smallest] fee"),
        ("same", "same", "same"),
        ("", "new", "[+new]"),
    ],
)
def test_a_text_differs_by_word_in_english_and_by_character_in_chinese(before: str, after: str, wanted: str) -> None:
    assert shown(text_difference(before, after)) == wanted


def test_what_two_sentences_have_in_common_by_chance_is_not_shown_as_kept() -> None:
    pieces = text_difference("他在港口记下了所有的船。", "请列出缴纳过罚款的全部船只名称。")
    assert shown(pieces).count("[-") <= 2


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("A B C", "B C A", "BC[~A]"),
        ("A B C", "A C", "A[-B]C"),
        ("A", "A A", "A[+A]"),
        ("Marigold Heron Tern", "Marigold Gannet Tern", "Marigold[-Heron][+Gannet]Tern"),
        ("金盏花号 苍鹭号", "金盏号 苍鹭号", "(金盏[-花]号)苍鹭号"),
    ],
)
def test_a_moved_element_is_moved_and_a_mended_one_is_shown_inside(before: str, after: str, wanted: str) -> None:
    assert shown(line_difference(before.split(), after.split())) == wanted


def long_texts() -> list[tuple[str, str]]:
    chance = random.Random(5)
    han = "".join(chr(0x4E00 + min(2999, int(chance.paretovariate(0.7)))) for _i in range(10_000))
    other = "".join(chr(0x4E00 + min(2999, int(chance.paretovariate(0.7)))) for _i in range(10_000))
    mended = "".join(chr(0x4E00) if chance.random() < 0.1 else letter for letter in han)
    return [(han, mended), (han, other), (han, han[::-1]), ("的" * 10_000, "了的" * 5_000)]


@pytest.mark.parametrize("place", range(4))
def test_ten_thousand_characters_are_compared_in_bounded_time(place: int) -> None:
    """Measured by `tests/annotation/test_bench_editing.py`; here with room for a busy machine."""
    before, after = long_texts()[place]
    begun = time.process_time()
    pieces = text_difference(before, after)
    assert time.process_time() - begun < 1
    assert "".join(piece.text for piece in pieces if piece.kind != "del") == after


def test_texts_beyond_that_are_compared_by_sentences() -> None:
    before = "".join(f"第{n}句话在这里。" for n in range(4_000))
    after = before.replace("第7句", "第七句")
    assert shown(text_difference(before, after)).count("[+") <= 3
