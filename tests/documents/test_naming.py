"""Names in the lead's list, found in a text."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.naming import is_name, listed, names_in, names_of


def found(text: str, *names: str) -> list[str]:
    return [text[finding.start : finding.end] for finding in names_in(text, listed("\n".join(names)))]


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("Call me Ishmael.", ["Ishmael"], ["Ishmael"]),
        ("ISHMAEL and ishmael", ["Ishmael"], ["ISHMAEL", "ishmael"]),
        ("Ishmaelite, an Ishmaels", ["Ishmael"], []),
        ("by Guido van\n   Rossum (1999)", ["Guido van Rossum"], ["Guido van\n   Rossum"]),
        ("Guido vanRossum", ["Guido van Rossum"], []),
        ("Jane Doe-Smith, Jane Doe", ["Jane Doe", "Jane Doe-Smith"], ["Jane Doe-Smith", "Jane Doe"]),
        ("Frau Özil und JOSÉ GARCÍA", ["Özil", "José García"], ["Özil", "JOSÉ GARCÍA"]),
        ("Özils", ["Özil"], []),
        # Composed and decomposed letters are the same name (B-17).
        ("Jose\u0301 Garci\u0301a", ["José García"], ["Jose\u0301 Garci\u0301a"]),
        ("José García", ["Jose\u0301 Garci\u0301a"], ["José García"]),
        ("O'Brien’s", ["O'Brien"], ["O'Brien"]),
        ("我叫Guido，你呢", ["Guido"], ["Guido"]),
        ("请写信给王宁先生，王宁宁不是", ["王宁", "王宁宁"], ["王宁", "王宁宁"]),
        ("欧阳锋与欧阳克", ["欧阳克"], ["欧阳克"]),
        ("by 王宁 of X", ["王宁"], ["王宁"]),
        ("Иван Петров, ИВАН ПЕТРОВ, Иван Петровский", ["Иван Петров"], ["Иван Петров", "ИВАН ПЕТРОВ"]),
        ("𠮷田先生", ["𠮷田"], ["𠮷田"]),
        ("nobody", [], []),
        ("", ["Ishmael"], []),
    ],
)
def test_names_are_found(text: str, names: list[str], expected: list[str]) -> None:
    assert found(text, *names) == expected


@given(st.text(alphabet="王宁a é\n", max_size=60), st.integers(0, 30))
def test_a_name_between_others_is_always_found(around: str, more: int) -> None:
    text = f"{around}。赵钱孙, Ahab Rex;{around}" + "x" * more
    assert {"赵钱孙", "Ahab Rex"} <= set(found(text, "赵钱孙", "ahab rex", "王宁"))


def test_a_list_holds_each_name_once_and_no_single_characters() -> None:
    assert names_of("\ufeffA  B\n\n A B \r\n王宁\n") == ("A B", "王宁")
    assert [is_name(line) for line in ("王", "1984", "A", "Al", "王宁", "x" * 101)] == [
        False,
        False,
        False,
        True,
        True,
        False,
    ]


def test_thousands_of_names_take_little_time() -> None:
    chance = random.Random(7)
    letters, signs = "abcdefghijklmnopqrstuvwxyz", [chr(code) for code in range(0x4E00, 0x5200)]
    firsts = ["James", "Mary", "John", "Linda"]
    latin = [f"{chance.choice(firsts)} {''.join(chance.choices(letters, k=6)).title()}" for _ in range(5_000)]
    chinese = ["".join(chance.choices(signs, k=chance.choice([2, 3]))) for _ in range(5_000)]
    names = listed("\n".join([*latin, *chinese]))
    words = ["John went", "and Mary saw", "".join(chance.choices(letters, k=5)), "the sea,"]
    english = " ".join(chance.choices(words, k=200_000))[:1_200_000]
    han = "".join(chance.choices(signs, k=400_000))
    for text in (english, han):
        begun = time.process_time()
        names_in(text, names)
        # About 25 ms on a quiet machine; a search for each name takes seconds.
        assert time.process_time() - begun < 0.3
