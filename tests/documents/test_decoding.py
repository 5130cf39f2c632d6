"""Encodings and odd bytes, by the rows B-01 to B-30 of the plan that concern plain text."""

import json
from pathlib import Path

import pytest

from benchmark.lengths import DEFAULT_LENGTHS
from core.refusals import Invalid, Refused, RuleBroken
from documents.decoding import decode, known_encoding
from documents.extracting import read_file
from documents.intake import MAX_BYTES, prepare
from documents.languages import characters_in, detect

MODERN = "圣安港的航海日志说，五月一日苍鹭号载着盐进了港。船上的人都不知道天气会变，他们在码头上等了三天。" * 12
TRADITIONAL = "聖安港的航海日誌說，五月一日蒼鷺號載著鹽進了港。船上的人都不知道天氣會變，他們在碼頭上等了三天。" * 12
JAPANESE = "五月一日、サギ号は塩を積んで港に入った。船の人々は天気が変わることを知らなかった。" * 12
KOREAN = "오월 일일, 왜가리호는 소금을 싣고 항구에 들어왔다. 선원들은 날씨가 변할 줄 몰랐다." * 12
FRENCH = "Le premier mai, le héron entra au port chargé de sel. L’équipage, fatigué, y resta trois jours. " * 12


def rule_of(data: bytes, encoding: str = "") -> tuple[str, object]:
    with pytest.raises(Refused) as caught:
        decode(data, encoding=encoding)
    return caught.value.rule, caught.value.details.get("position")


def test_a_byte_order_mark_is_removed_and_counted() -> None:
    """B-04"""
    assert read_file(b"\xef\xbb\xbfHeron", file_name="a.txt") == ("Heron", "utf-8", {"bom": 1})


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_utf_16_and_32_are_read_by_their_mark(encoding: str) -> None:
    """B-05"""
    data = ("\ufeff" + MODERN).encode(encoding)
    assert read_file(data, file_name="a.txt") == (MODERN, encoding, {"bom": 1})


@pytest.mark.parametrize("text", [MODERN, FRENCH], ids=["chinese", "french"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_refused_unless_named(encoding: str, text: str) -> None:
    """B-06"""
    assert rule_of(text.encode(encoding))[0] == "encoding"
    assert decode(text.encode(encoding), encoding=encoding).text == text


@pytest.mark.parametrize(
    "text",
    [
        MODERN,
        "曰：「子在川上，逝者如斯夫！」不舍晝夜。"[:6] + MODERN,
        "The brig Heron (苍鹭号) came in with salt, the sloop Tern （燕鸥号） left — for the north.",
        MODERN + "𠀀𪚥",
    ],
    ids=["modern", "quoted", "mostly English", "four bytes"],
)
def test_gb18030_is_found(text: str) -> None:
    """B-07"""
    decoded = decode(text.encode("gb18030"))
    assert (decoded.text, decoded.encoding) == (text, "gb18030")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(TRADITIONAL, "big5"), (JAPANESE, "shift_jis"), (JAPANESE, "euc_jp"), (KOREAN, "euc_kr"), (FRENCH, "cp1252")],
)
def test_other_encodings_are_never_guessed_and_taken_when_named(text: str, encoding: str) -> None:
    """B-08"""
    data = text.encode(encoding)
    assert rule_of(data)[0] == "encoding"
    assert decode(data, encoding=encoding).text == text


def test_one_invalid_byte_far_in_is_refused_with_its_place() -> None:
    """B-09"""
    data = b"a" * 1_100_000 + b"\xff" + b"b" * 100
    assert rule_of(data) == ("encoding", 1_100_000)


@pytest.mark.parametrize(
    "data",
    ["苍鹭".encode()[:-1], b"a\xc0\xafb", b"a\xed\xa0\xbd\xed\xb8\x80b"],
    ids=["truncated", "overlong", "CESU-8"],
)
def test_broken_utf_8_is_refused_with_its_place(data: bytes) -> None:
    """B-10, B-11"""
    rule, position = rule_of(data)
    assert rule == "encoding"
    assert isinstance(position, int)


def test_a_named_encoding_is_held_to_strictly() -> None:
    assert rule_of(b"abc\xff\xfe", "utf-8") == ("encoding", 3)
    with pytest.raises(Invalid):
        decode(b"abc", encoding="unicode_escape")
    assert [known_encoding(name) for name in ("Windows-1252", "GBK", "Shift-JIS", "latin-1", "")] == [
        "cp1252",
        "gb18030",
        "cp932",
        "iso8859-1",
        "",
    ]


def test_the_mark_of_utf_16_wins_over_the_order_that_was_named() -> None:
    assert decode("\ufeffHeron".encode("utf-16-be"), encoding="utf-16").text == "Heron"


@pytest.mark.parametrize("data", [b"MZ\x90\x00\x03", b"PK\x03\x04rest", b"%PDF-1.7", b"\x89PNG\r\n"])
def test_what_is_no_text_is_refused_whatever_its_name(data: bytes) -> None:
    """B-52"""
    assert rule_of(data)[0] == "type_mismatch"


@pytest.mark.parametrize("data", [b"MZ\x90\x00\x03", b"\x7fELF\x02"])
def test_the_kind_stands_in_a_sentence_that_reads_well_for_every_kind(data: bytes) -> None:
    with pytest.raises(RuleBroken, match=r"it begins as E[XL][EF] files do"):
        decode(data)


@pytest.mark.parametrize("name", ["book.rtf", "book.MOBI", "a/b.doc", "x.odt", "x.mhtml"])
def test_formats_not_yet_read_are_refused_by_name(name: str) -> None:
    with pytest.raises(RuleBroken) as caught:
        read_file(b"<p>text</p>", file_name=name)
    assert caught.value.rule == "unsupported_format"


def test_html_in_a_text_file_is_text() -> None:
    """B-22 to B-25, B-52"""
    page = "<script>alert(1)</script> {{ 7*7 }} </textarea> ]]> --!> <div hx-get='/x'>"
    assert read_file(page.encode(), file_name="a.txt")[0] == page


@pytest.mark.parametrize(
    ("written", "kept", "counts"),
    [
        ("a\x00b", "ab", {"controls": 1}),
        ("a\x1b[31mb\x07\x7f", "a[31mb", {"controls": 3}),
        ("a\x80b\x9f", "ab", {"controls": 2}),
        ("a\r\nb\rc\nd\x85e", "a\nb\nc\nd\ne", {"line_ends": 3}),
        ("a\fb", "a\nb", {"form_feeds": 1}),
        ("e\u0301 \u00e9 \u200b\u2060\u00a0\tx  ", "e\u0301 \u00e9 \u200b\u2060\u00a0\tx  ", {}),
    ],
)
def test_the_documented_normalisation_and_nothing_else(written: str, kept: str, counts: dict[str, int]) -> None:
    """B-12, B-13 (where the plan of bad inputs and pipeline.md differ, pipeline.md holds), B-17, T-10"""
    text, _encoding, counted = read_file(written.encode(), file_name="a.txt")
    assert (text, counted) == (kept, counts)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("plain \u202eturned", ["bidi"]),
        ("zero\u200bwidth", ["invisible"]),
        ("👩\u200d🔬 works می\u200cخواهم here", []),
        ("write to someone@example.org please", ["personal_data"]),
    ],
)
def test_what_to_look_at_twice_is_remarked_and_the_text_unchanged(text: str, rules: list[str]) -> None:
    """B-15, B-16, B-28"""
    prepared = prepare(text, lengths=DEFAULT_LENGTHS)
    assert prepared.text == text
    assert [remark.rule for remark in prepared.remarks if remark.rule != "language_unsure"] == rules


def test_the_limit_is_16_mib_of_text_exactly() -> None:
    """B-02"""
    line = "x" * 1023 + "\n"
    assert prepare(line * (MAX_BYTES // 1024), lengths=DEFAULT_LENGTHS).measure.bytes == MAX_BYTES
    with pytest.raises(RuleBroken) as caught:
        prepare(line * (MAX_BYTES // 1024) + "x", lengths=DEFAULT_LENGTHS)
    assert caught.value.rule == "too_large"


def test_the_shared_formats_are_read_right(shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "documents" / "manifest.jsonl").read_text().splitlines()]
    text = (shared_data / "documents" / "zh" / "xiyou-ji-8k.txt").read_text()
    sha = next(row["sha256"] for row in rows if row["file"] == "zh/xiyou-ji-8k.txt")
    for name in ("xiyou-ji-8k.gb18030.txt", "xiyou-ji-8k.utf16.txt"):
        read, _encoding, _counts = read_file((shared_data / "formats" / name).read_bytes(), file_name=name)
        assert read == text
        assert prepare(read, lengths=DEFAULT_LENGTHS).measure.sha256 == sha
    alice = (shared_data / "formats" / "alice-utf8-bom-crlf.txt").read_bytes()
    read, _encoding, counts = read_file(alice, file_name="alice.txt")
    assert counts == {"bom": 1, "line_ends": alice.count(b"\r\n")}
    assert "\r" not in read


def test_every_shared_document_survives_gb18030(shared_data: Path) -> None:
    for path in sorted((shared_data / "documents" / "zh").iterdir()):
        text = path.read_text()
        assert decode(text.encode("gb18030")).text == text, path.name
        assert detect(text).language == "Chinese"
    for path in sorted((shared_data / "documents" / "en").iterdir()):
        assert detect(path.read_text()).language == "English"


@pytest.mark.parametrize(
    "text", ["", "1 2", "abc 中文", "中文字", "é\u200b𠀀 и", "пример ab", "\u0370\u1fff\u3040龦\U0003ffff"]
)
def test_both_ways_to_find_the_language_agree(text: str) -> None:
    assert detect(text) == characters_in(text).language
