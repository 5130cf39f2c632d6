"""PDF as text: whole ones, locked ones, broken ones, hostile ones."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.refusals import RuleBroken
from documents.extracting import Read, read_document
from documents.formats import asking, pages
from documents.formats.asking import Limits
from documents.wording import normalisation_in_words, remark_in_words
from tests.documents.made import pdf
from tests.documents.made.books import assert_same_words
from tests.documents.made.costs import at_most

LINES = ["The brig Heron came in with salt,", "   the sloop Tern left", "", "for the north.  "]


def read(data: bytes) -> Read:
    return read_document(data, file_name="a.pdf")


def refused(data: bytes) -> RuleBroken:
    with pytest.raises(RuleBroken) as caught:
        read(data)
    return caught.value


def test_pages_follow_each_other_with_a_blank_line_between() -> None:
    found = read(pdf.of_pages([["Page one, line one", "line two"], [], ["Page three"]]))
    assert (found.text, found.title, found.encoding) == ("Page one, line one\nline two\n\nPage three", "", "")
    assert found.remarks == ()


def test_a_word_is_joined_only_over_a_soft_hyphen() -> None:
    assert pages.tidy("an exam\u00ad\nple of a well-\nknown port\u00ad\n\nnext") == (
        "an example of a well-\nknown port\u00ad\n\nnext"
    )


def test_shapes_that_a_font_gives_for_letters_are_read_as_those_and_counted() -> None:
    lines = ["".join(chr(65 + place) for place in range(4)), "AB"]
    found = read(pdf.with_map(lines, {65: "\u2f47", 66: "\u2ed3", 67: "\ufb01", 68: "龙"}))
    assert (found.text, found.counts) == ("日长fi龙\n日长", {"forms": 5})
    assert "5 shapes" in normalisation_in_words(found.counts)[0]


def test_the_book_as_pdf_has_the_words_of_the_text(shared_data: Path) -> None:
    found = read((shared_data / "formats" / "alice.pdf").read_bytes())
    text = read_document((shared_data / "formats" / "alice-utf8-bom-crlf.txt").read_bytes(), file_name="a.txt").text
    assert found.title == "Alice's Adventures in Wonderland, by Lewis Carroll"
    assert found.remarks == ()
    assert_same_words(found.text, text)


@pytest.mark.parametrize("user", ["secret", "密码"])
def test_a_locked_file_is_refused(user: str) -> None:
    """B-40"""
    refusal = refused(pdf.locked(pdf.of_pages([LINES]), user=user))
    assert refusal.rule == "encrypted"
    assert "password" in str(refusal)


def test_a_file_that_opens_without_a_password_is_read_and_its_restriction_told() -> None:
    found = read(pdf.locked(pdf.of_pages([LINES]), user=""))
    assert "Heron" in found.text
    assert [remark.rule for remark in found.remarks] == ["restricted"]


def test_scanned_pages_are_refused() -> None:
    """B-43"""
    refusal = refused(pdf.of_pictures(3))
    assert refusal.rule == "no_text_layer"
    assert "3" in str(refusal)


def outcome_of(data: bytes) -> str:
    """The text, or the rule."""
    try:
        return read(data).text
    except RuleBroken as refusal:
        return refusal.rule


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


@pytest.mark.parametrize(
    "broken",
    [
        lambda data: data.replace(b"startxref\n", b"startxref\n9"),
        lambda data: data.replace(b" 00000 n", b" 00000 f"),
        lambda data: data[: data.rindex(b"xref")],
        cut,
        lambda data: data.replace(b"/Type /Catalog", b"/Type /Dog"),
        lambda data: b"some mail header\n\n" + data,
        lambda data: data[:200],
        lambda data: b"%PDF-1.7",
        lambda data: b"%PDF-1.7\n" + bytes(range(256)) * 400,
    ],
)
def test_a_damaged_file_is_read_or_refused_in_time(broken: Callable[[bytes], bytes]) -> None:
    """B-44"""
    data = pdf.of_pages([[f"Page {number} of the log"] for number in range(20)])
    with at_most(seconds=10):
        outcome = outcome_of(broken(data))
    assert outcome in ("damaged", "no_text_layer") or "Page 1 of the log" in outcome


def test_one_damaged_page_is_named_and_the_others_are_read() -> None:
    """B-44"""
    data = pdf.of_pages([["First page"], ["Second page"], ["Third page"]])
    places = [place for place in range(len(data)) if data.startswith(b"/Type /Page ", place)]
    second = data[: places[1]] + data[places[1] :].replace(b"/Contents", b"/Contents [ 999 0 R 3 0 R ] /Other", 1)
    found = read(second.replace(b"/Font << /F1 3 0 R >>", b"/Font << /F1 3 0 R >>", 1))
    assert "First page" in found.text
    assert "Third page" in found.text
    assert "Second page" not in found.text


@pytest.mark.parametrize("data", [pdf.with_tree_loop(), pdf.with_object_stream_loop()], ids=["page tree", "objects"])
def test_a_loop_ends(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """B-45"""
    monkeypatch.setattr(asking, "LIMITS", Limits(seconds=5))
    with at_most(seconds=8):
        assert refused(data).rule in ("damaged", "limit_time", "too_deep", "limit_memory", "no_text_layer")


def test_five_thousand_pages_are_read() -> None:
    """B-46"""
    data = pdf.of_pages([[f"Page {number}", "one line of it"] for number in range(5_000)])
    found = read(data)
    assert found.text.count("one line of it") == 5_000
    assert found.text.endswith("Page 4999\none line of it")


def test_a_file_that_takes_too_long_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """B-46"""
    monkeypatch.setattr(asking, "LIMITS", Limits(seconds=2))
    refusal = refused(pdf.of_pages([[f"{number} {line}" for line in range(50)] for number in range(5_000)]))
    assert refusal.rule == "limit_time"
    assert "of 5000" in str(refusal)


def test_scripts_actions_and_attachments_are_not_looked_at() -> None:
    """B-47"""
    more = [
        b"<< /S /JavaScript /JS (app.alert\\(1\\); this.submitForm\\('http://127.0.0.1:9/'\\)) >>",
        b"<< /S /Launch /F (/bin/touch) /Win << /F (cmd.exe) >> >>",
        b"<< /Type /Filespec /F (evil.exe) /EF << /F 7 0 R >> >>",
        pdf.stream(b"MZ attached", more=b"/Type /EmbeddedFile"),
    ]
    catalog = (
        b"/OpenAction 4 0 R /AA << /WC 5 0 R >> /Names << /EmbeddedFiles << /Names [(evil.exe) 6 0 R] >> "
        b"/JavaScript << /Names [(x) 4 0 R] >> >>"
    )
    assert read(pdf.of_pages([["Only text"]], catalog=catalog, more=more)).text == "Only text"


PROSE = ["The men of the brig waited on the quay for three days and thought that the weather would turn"] * 12


@pytest.mark.parametrize(
    "data",
    [
        pdf.with_private_font(PROSE),
        # Each letter three places on, as a font without a map gives them.
        pdf.of_pages([["".join(chr((ord(c) - 29) % 95 + 32) for c in line) for line in PROSE]]),
        pdf.of_pages([["".join(f"(cid:{ord(letter)})" for letter in line[:30]) for line in PROSE]]),
        pdf.of_pages([["".join(f"/g{ord(letter)}" for letter in line[:30]) for line in PROSE]]),
    ],
    ids=["private", "shifted", "cid", "glyphs"],
)
def test_gibberish_is_taken_and_told(data: bytes) -> None:
    """B-48"""
    found = read(data)
    assert [remark.rule for remark in found.remarks] == ["suspicious_text"]
    assert "gibberish" in remark_in_words(found.remarks[0].as_json())


def test_honest_text_is_not_called_gibberish() -> None:
    german = ["Die Männer der Brigg warteten drei Tage am Kai und dachten, das Wetter werde umschlagen."] * 12
    assert read(pdf.of_pages([german])).remarks == ()
    assert read(pdf.of_pages([PROSE])).remarks == ()
    assert read(pdf.of_pages([["4711 0815 | 3.14 - 2.72 %"] * 40])).remarks == ()


def test_a_stream_that_unpacks_without_end_is_stopped() -> None:
    bomb = pdf.stream(b"(a) Tj " * 30_000_000)
    assert len(bomb) < 1_000_000
    data = pdf.of_pages([["First page"]])
    place = data.index(b"<< /Length")
    end = data.index(b"endobj", place)
    refusal = refused(data[:place] + bomb + b"\n" + data[end:])
    assert refusal.rule in ("damaged", "limit_memory", "limit_time", "too_large")
