import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.lengths import DEFAULT_LENGTHS, Lengths
from documents.cutting import fitting, landing, parts_at, parts_by_bucket, parts_by_number
from documents.stops import MOST, Kind, is_heading, is_seam, kept, refined, stops_in
from documents.tokenizing import count_tokens

CHAPTERS = "\n\n".join(
    f"CHAPTER {number}.\n\n" + "\n\n".join(f"The brig {number} came in on day {day} with salt." for day in range(12))
    for number in range(1, 13)
)
SMALL = Lengths(targets=(1, 2, 4), unit=100)


def test_stops_are_the_ends_of_paragraphs_then_of_lines_then_any_place() -> None:
    assert stops_in("One.\n\nTwo.\n \nThree.\n").offsets == (0, 6, 13, 20)
    lines = stops_in("One.\nTwo.\nThree.")
    assert (lines.kind, lines.offsets) == (Kind.LINE, (0, 5, 10, 16))
    words = stops_in("one two three " * 5000)
    assert words.kind == Kind.CHARACTER
    assert 900 < words.offered <= 1000
    assert all(("one two three " * 5000)[offset - 1] == " " for offset in words.offsets[1:-1])


def test_blank_beginnings_and_ends_are_no_stops() -> None:
    assert stops_in("\n\n\nOne.\n\n\n", Kind.PARAGRAPH).offsets == (0, 10)
    assert stops_in("One.\n", Kind.LINE).offsets == (0, 5)


PIECES = ["One.", "“Two”", "three", " ", "\t", "\n", "\n\n", "\u3000", "说道：", "a1", "'s"]


@given(st.lists(st.sampled_from(PIECES), max_size=40))
@settings(max_examples=150, deadline=None)
def test_tokens_before_a_stop_are_those_of_the_text_before_it(words: list[str]) -> None:
    text = "".join(words)
    for kind in (Kind.PARAGRAPH, Kind.LINE):
        stops = stops_in(text, kind)
        assert list(stops.tokens) == [count_tokens(text[:offset]) for offset in stops.offsets]


def test_very_many_ends_are_thinned_evenly_and_headings_stay() -> None:
    text = "".join(f"CHAPTER {n}\n" if n % 1000 == 7 else f"line {n}\n" for n in range(20_000))
    stops = stops_in(text)
    assert (stops.found, stops.offered <= MOST) == (19_999, True)
    assert len(stops.headings & set(stops.offsets)) == 20
    gaps = [right - left for left, right in zip(stops.offsets, stops.offsets[1:], strict=False)]
    assert max(gaps) < 4 * len(text) / MOST
    fine = refined(text, stops, 5)
    assert fine.offsets[:6] == stops.offsets[:6]
    assert set(stops.offsets) < set(fine.offsets)
    assert list(fine.tokens) == sorted(fine.tokens)
    assert fine.tokens[7] == count_tokens(text[: fine.offsets[7]])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("e\u0301", 1),
        ("👩\u200d🚀", 1),
        ("👩\u200d🚀", 2),
        ("👍🏽", 1),
        ("🇩🇪", 1),
        ("\u1112\u1161\u11ab", 1),
        ("❤\ufe0f", 1),
        ("葛\U000e0100", 1),
    ],
)
def test_no_cut_tears_a_character(text: str, place: int) -> None:
    assert not is_seam(text, place)
    assert is_seam(text, len(text))
    assert is_seam(f"{text}x", len(text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("newlines", "a" + "\n" * 600_000 + "b"),
        ("lines", "a\n" * 300_000),
        ("one line", "字" * 300_000),
        ("accents without end", "e" + "\u0301" * 100_000),
        ("vast blank", "a" + " " * 200_000 + "b\n\nc"),
    ],
)
def test_no_text_breaks_the_stops(name: str, text: str) -> None:
    began = time.monotonic()
    stops = stops_in(text)
    assert stops.offsets[0] == 0
    assert stops.offsets[-1] == len(text)
    assert stops.offered <= MOST
    assert time.monotonic() - began < 10, name


def test_what_is_kept_is_a_piece_of_the_text_with_one_newline_at_its_end() -> None:
    text = "One.\n\n\nTwo.\n \nThree.\n\n"
    assert kept(text, 0, 7) == "One.\n"
    assert kept(text, 7, 14) == "Two.\n"
    assert kept(text, 7, len(text)) == "Two.\n \nThree.\n\n"
    assert kept("one two three", 0, 8) == "one two "


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("CHAPTER I. Loomings.", True),
        ("Chapter 12", True),
        ("## 第三章 学校", True),
        ("第二十九回 享福人福深还祷福", True),
        ("　　第一章", True),
        ("==== pep-0248.rst ====", True),
        ("chapters are long", False),
        ("The chapter 3 of", False),
        ("#hashtag", False),
        ("第一次见面", False),
        ("x" * 300, False),
    ],
)
def test_headings_are_known_by_their_words(line: str, is_one: bool) -> None:
    assert is_heading(f"{line}\n\ntext", 0) is is_one


def test_the_longest_run_of_paragraphs_fits() -> None:
    span = fitting(CHAPTERS, 300)
    assert span is not None
    tokens = count_tokens(kept(CHAPTERS, *span))
    following = CHAPTERS.index("\n\n", span[1]) + 2
    assert tokens <= 300 < count_tokens(CHAPTERS[:following].rstrip() + "\n")
    start = CHAPTERS.index("CHAPTER 3.")
    behind = fitting(CHAPTERS, 300, start=start)
    assert behind is not None
    assert behind[0] == start
    assert fitting(CHAPTERS, 2) is None


def test_a_bucket_is_reached_even_when_one_paragraph_crosses_its_target() -> None:
    # 40 tokens, then 75: up to the target of 100 only 40 fit, which is no 1k (80 to 120) of this unit.
    text = "word " * 39 + "end\n\n" + "word " * 70 + "end\n\n" + "more " * 200
    assert fitting(text, 100) == (0, 39 * 5 + 5)
    span = landing(text, SMALL, "1k")
    assert span is not None
    assert SMALL.bucket_of(count_tokens(kept(text, *span))) == "1k"


def test_parts_of_a_bucket_begin_at_headings_and_leave_nothing_out() -> None:
    parts = parts_by_bucket(CHAPTERS, SMALL, "4k")
    assert [part.bucket for part in parts] == ["4k"] * len(parts)
    assert [part.start for part in parts[1:]] == [part.end for part in parts[:-1]]
    assert (parts[0].start, parts[-1].end) == (0, len(CHAPTERS))
    assert all(is_heading(CHAPTERS, part.start) for part in parts)
    assert [part.tokens for part in parts] == [count_tokens(kept(CHAPTERS, part.start, part.end)) for part in parts]


def test_what_is_too_short_for_the_bucket_is_the_last_part_without_one() -> None:
    text = "\n\n".join(["word " * 94] * 1 + ["word " * 20])
    parts = parts_by_bucket(text, Lengths(targets=(1,), unit=100, tolerance_percent=10), "1k")
    assert [part.bucket for part in parts] == ["1k", ""]


def test_a_paragraph_longer_than_the_bucket_stands_alone() -> None:
    text = "word " * 90 + "\n\n" + "word " * 500 + "\n\n" + "word " * 90
    parts = parts_by_bucket(text, SMALL, "1k")
    assert [part.bucket for part in parts] == ["1k", "", "1k"]


@pytest.mark.parametrize("number", [2, 3, 7])
def test_so_many_parts_are_about_equal(number: int) -> None:
    parts = parts_by_number(CHAPTERS, SMALL, number)
    assert len(parts) == number
    mean = count_tokens(CHAPTERS) / number
    assert all(abs(part.tokens - mean) < 0.35 * mean for part in parts)
    assert len(parts_by_number("One.\n\nTwo.", SMALL, 5)) == 2
    assert [part.start for part in parts_at("abcdef", SMALL, [2, 4])] == [0, 2, 4]


def test_real_texts_are_cut_into_their_buckets(shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "documents" / "manifest.jsonl").read_text().splitlines()]
    for row in [row for row in rows if row["bucket"] in {"64k", "128k"}]:
        text = (shared_data / "documents" / row["file"]).read_bytes().decode()
        parts = parts_by_bucket(text, DEFAULT_LENGTHS, "16k")
        assert {part.bucket for part in parts} == {"16k"}, row["file"]
        assert "".join(text[part.start : part.end] for part in parts) == text


@pytest.mark.bench
def test_stops_of_a_256k_text_come_within_half_a_second(shared_data: Path) -> None:
    for file in ("en/moby-dick-256k.txt", "zh/cn-statutes-256k.txt"):
        text = (shared_data / "documents" / file).read_bytes().decode()
        count_tokens("warm")
        began = time.perf_counter()
        stops = stops_in(text)
        took = time.perf_counter() - began
        assert stops.tokens[-1] == count_tokens(text)
        assert took < 0.5, f"{file}: {took:.2f} s"
