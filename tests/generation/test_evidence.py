"""Quotes are found where they stand, and missing ones are called missing, quickly."""

import time
from pathlib import Path

import pytest

from generation.evidence import FUZZY_THRESHOLD, EvidenceKind, find_quote

TEXT = (
    "Chapter 1\n\nThe keeper of the “Heron” counted\nthe crates twice, and found twelve of them.\n"
    "He wrote it down—carefully—in the harbour book.\n\n**第一条**　为了规范管理，\n制定本法。他说：“不可。”"
)


def test_a_quote_as_it_stands_is_exact() -> None:
    found = find_quote(TEXT, "the crates twice, and found twelve of them.")
    assert found.kind is EvidenceKind.EXACT
    assert TEXT[found.start : found.end] == "the crates twice, and found twelve of them."
    assert found.score == 1.0


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("counted the crates twice", "counted\nthe crates twice"),
        ('the "heron" COUNTED', "the “Heron” counted"),
        ("it down-carefully-in", "it down—carefully—in"),
        ("“the crates twice, and found twelve of them”", "the crates twice, and found twelve of them"),
        ("第一条 为了规范管理,制定本法。", "第一条**　为了规范管理，\n制定本法。"),
        ('他说:"不可。"', "他说：“不可。”"),
        ("Ｔhe keeper", "The keeper"),
    ],
)
def test_white_space_quotes_width_and_case_do_not_matter(quote: str, stands: str) -> None:
    found = find_quote(TEXT, quote)
    assert found.kind is EvidenceKind.NORMALISED
    assert TEXT[found.start : found.end] == stands


@pytest.mark.parametrize(
    ("quote", "begins", "ends"),
    [
        ("the crates twise, and found twelve of theem.", "the crates", "of them."),
        ("He wrote that down carefully in the harbour book", "He wrote", "harbour book"),
    ],
)
def test_a_quote_with_slips_is_fuzzy(quote: str, begins: str, ends: str) -> None:
    found = find_quote(TEXT, quote)
    assert found.kind is EvidenceKind.FUZZY
    assert found.score >= FUZZY_THRESHOLD
    place = TEXT[found.start : found.end]
    assert place.startswith(begins)
    assert place.endswith(ends) or ends.startswith(place[-4:])


@pytest.mark.parametrize(
    "quote",
    ["", " ", "...", "The captain sold the lamp to a stranger.", "月亮上没有港口，也没有船。", "crates of tea"],
)
def test_an_invented_quote_is_missing(quote: str) -> None:
    found = find_quote(TEXT, quote)
    assert found.kind is EvidenceKind.MISSING
    assert (found.start, found.end, found.score) == (None, None, 0.0)
    assert not found.found


def test_words_are_not_joined_or_parted() -> None:
    assert find_quote("the now here", "the nowhere").kind is not EvidenceKind.NORMALISED


def test_places_count_code_points_beyond_the_basic_plane() -> None:
    text = "𠀀𠀁 a\nHARBOUR 𠀂 end"
    found = find_quote(text, "a harbour 𠀂")
    assert (found.kind, text[found.start : found.end]) == (EvidenceKind.NORMALISED, "a\nHARBOUR 𠀂")


def test_signs_that_mean_something_in_patterns_are_only_signs() -> None:
    text = "Call f(x)[0] + {y}? $z^2 | .* end"
    assert find_quote(text, "f(x)[0] + {y}? $z^2 | .*").kind is EvidenceKind.EXACT
    assert find_quote(text, "F(X)[0]  + {Y}? $Z^2 | .* END").kind is EvidenceKind.NORMALISED


@pytest.mark.parametrize("file", ["en/python-peps-256k.txt", "en/moby-dick-256k.txt", "zh/cn-statutes-256k.txt"])
def test_a_missing_quote_in_a_long_document_takes_under_half_a_second(shared_data: Path, file: str) -> None:
    text = (shared_data / "documents" / file).read_text(encoding="utf-8")
    middle = len(text) // 2
    mixed = "".join(text[place : place + 9] for place in range(1_000, middle, middle // 120))
    for quote in (mixed, "a " * 1_000, "the whale of the ship and the law of the land " * 40, "规定应当依照国家" * 60):
        began = time.process_time()
        found = find_quote(text, quote)
        assert time.process_time() - began < 2.0  # alone: under 0.2 s
        assert found.kind is EvidenceKind.MISSING


def test_a_damaged_quote_is_found_at_its_place_in_a_long_document(shared_data: Path) -> None:
    text = (shared_data / "documents" / "en" / "moby-dick-256k.txt").read_text(encoding="utf-8")
    for start, length in ((300_000, 240), (700_000, 1_800)):
        quote = text[start : start + length].replace("the", "teh", 3)
        found = find_quote(text, quote)
        assert found.kind is EvidenceKind.FUZZY
        assert found.start is not None
        assert abs(found.start - start) < 12


@pytest.mark.parametrize("unit", ["a ", "ab", "规定"])
def test_a_document_that_repeats_itself_is_searched_quickly(unit: str) -> None:
    text = unit * (1_200_000 // len(unit))
    began = time.process_time()
    find_quote(text, unit * 300 + "end")
    assert time.process_time() - began < 2.0  # alone: under 0.2 s
