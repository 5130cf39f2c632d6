"""Every format by its name and its content: B-52 and B-53, JSON and CSV, limits of size."""

import json
from pathlib import Path

import pytest

from core.refusals import RuleBroken
from documents.extracting import MAX_FILE, Read, read_document, read_file
from documents.intake import MAX_BYTES
from tests.documents.made import pdf
from tests.documents.made.packages import chapter, docx, epub, paragraph, zipped

FILES = {
    "pdf": pdf.of_pages([["The log of the port"]]),
    "docx": docx(paragraph("The log of the port")),
    "epub": epub({"a.xhtml": chapter("<p>The log of the port")}),
    "html": b"<p>The log of the port",
    "json": b'{"log": "of the port"}',
    "txt": b"The log of the port",
    "zip": zipped({"a.txt": "The log of the port"}),
    "xlsx": zipped({"[Content_Types].xml": "", "xl/workbook.xml": ""}),
    "exe": b"MZ\x90\x00\x03\x00" + b"\x00" * 100,
    "exe by its stub": b"MZ12" + b"\x01" * 60 + b"This program cannot be run in DOS mode",
    "elf": b"\x7fELF\x02\x01\x01",
    "png": b"\x89PNG\r\n\x1a\n",
    "gz": b"\x1f\x8b\x08\x00",
    "rtf": rb"{\rtf1\ansi The log}",
    "wav": b"RIFF\x00\x00\x00\x00WAVEfmt ",
}


def read(data: bytes, name: str) -> Read:
    return read_document(data, file_name=name)


def rule_of(data: bytes, name: str) -> str:
    with pytest.raises(RuleBroken) as caught:
        read(data, name)
    assert str(caught.value).endswith(".")
    return caught.value.rule


@pytest.mark.parametrize(
    ("name", "format"),
    [
        *(("a.pdf", ""), ("a.PDF", ""), ("a.docx", ""), ("a.docm", ""), ("a.epub", "book"), ("a.html", "web page")),
        *(("a.xhtml", "web page"), ("a.HTM", "web page"), ("a.txt", ""), ("a", ""), ("a.md", "")),
    ],
)
def test_each_format_is_read_by_the_end_of_its_name(name: str, format: str) -> None:
    kind = {"docm": "docx", "xhtml": "html", "htm": "html", "md": "txt", "a": "txt"}.get(
        name.lower().rpartition(".")[2], name.lower().rpartition(".")[2]
    )
    found = read(FILES[kind], name)
    assert (found.text, found.format) == ("The log of the port", format)
    assert read_file(FILES[kind], file_name=name) == (found.text, found.encoding, found.counts)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, "a.txt") for kind in FILES if kind not in ("html", "json", "txt")),
        *((kind, "a.pdf") for kind in FILES if kind != "pdf"),
        *((kind, "a.docx") for kind in FILES if kind != "docx"),
        *((kind, "a.epub") for kind in FILES if kind != "epub"),
        *((kind, "a.html") for kind in ("pdf", "docx", "zip", "exe", "png")),
        *((kind, "a.json") for kind in ("pdf", "epub", "zip", "elf")),
        *((kind, "a.csv") for kind in ("xlsx", "gz")),
        ("docx", "a.xlsx.md"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(kind: str, name: str) -> None:
    """B-52"""
    assert rule_of(FILES[kind], name) == "type_mismatch"


@pytest.mark.parametrize("kind", ["html", "json"])
def test_markup_and_json_under_the_name_of_a_text_are_text(kind: str) -> None:
    """B-52"""
    assert read(FILES[kind], "a.txt").text == FILES[kind].decode()


def test_a_text_that_begins_like_a_mark_is_still_a_text() -> None:
    for text in ("MZ was here", "PKI and others", "RIFFLES", "BZh", "GIF8 or not", "Rar!", "%PD", "{\\r"):
        assert read(text.encode(), "a.txt").text == text


@pytest.mark.parametrize("name", ["a.doc", "a.rtf", "a.xlsx", "a.pptx", "a.mobi", "a.rar", "a.odt", "a.mht"])
def test_formats_that_are_not_read_say_so(name: str) -> None:
    assert rule_of(b"whatever", name) == "unsupported_format"


@pytest.mark.parametrize(
    "name",
    [
        *("../../etc/passwd.txt", "/etc/passwd.html", "a\x00b.txt", "a\nb.html", "'\"><script>.txt", "CON", "aux.txt"),
        *("x" * 300 + ".txt", "🧂.html", "\u202etxt.exe", "..", "", " .txt ", "C:\\x\\y.html", "\ud83d.txt"),
    ],
)
def test_a_name_may_be_anything_and_is_never_a_path(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B-53"""
    monkeypatch.chdir(tmp_path)
    assert read(b"The log", name).text == "The log"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.json", "a.csv", "a.pdf", "a.docx", "a.epub"])
def test_nothing_is_empty(name: str) -> None:
    """B-01"""
    assert rule_of(b"", name) == "empty"


@pytest.mark.parametrize("data", [b" \n\t ", b"\xef\xbb\xbf", b"\x00\x00", "\u3000\u00a0".encode()])
def test_white_space_alone_is_empty(data: bytes) -> None:
    """B-01"""
    assert rule_of(data, "a.txt") == "empty"


def test_the_limit_of_the_text_holds_for_every_format() -> None:
    """B-02"""
    line = b"x" * 1023 + b"\n"
    assert len(read(line * (MAX_BYTES // 1024), "a.txt").text) == MAX_BYTES
    assert rule_of(line * (MAX_BYTES // 1024) + b"x", "a.txt") == "too_large"
    assert rule_of(b"<p>" + line * (MAX_BYTES // 1024 + 1), "a.html") == "too_large"
    assert rule_of(docx(paragraph("盐" * (MAX_BYTES // 3 + 1))), "a.docx") == "too_large"
    assert rule_of(b"x" * (MAX_FILE + 1), "a.pdf") == "too_large"


# JSON and CSV -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, 2.5e3, true, null, "x"]}',
        "[]",
        '"only a text"',
        '{\n  "n": ' + "9" * 400 + ',\n  "m": 1e999\n}',
        '{"half": "\\ud83d"}',
        "[" * 500 + "]" * 500,
    ],
)
def test_json_is_its_own_text(text: str) -> None:
    """B-33"""
    found = read(text.encode(), "a.json")
    assert (found.text, found.format, found.counts) == (text, "JSON", {})


@pytest.mark.parametrize(
    ("text", "rule", "words"),
    [
        ('{"a": 1,\n "b": }', "json", "line 2, at column 7"),
        ('{"a": NaN}', "json", "NaN"),
        ('{"a": -Infinity}', "json", "Infinity"),
        ("no json", "json", "line 1, at column 1"),
        ('{"a": 1} x', "json", "column 10"),
        ("[" * 100_000 + "]" * 100_000, "too_deep", "deep"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "too_deep", "deep"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(text: str, rule: str, words: str) -> None:
    """B-33"""
    with pytest.raises(RuleBroken) as caught:
        read(text.encode(), "a.json")
    assert caught.value.rule == rule
    assert words in str(caught.value)


def test_json_is_found_in_the_encodings_of_texts() -> None:
    """B-04, B-05"""
    text = json.dumps({"港": "圣安港的航海日志说，苍鹭号载着盐进了港。"}, ensure_ascii=False)
    assert read(text.encode("utf-8-sig"), "a.json").counts == {"bom": 1}
    assert read(text.encode("gb18030"), "a.json").encoding == "gb18030"
    assert read(("\ufeff" + text).encode("utf-16-be"), "a.json").text == text


def test_a_table_stays_as_it_is_formulas_and_all() -> None:
    table = 'port,"=HYPERLINK(""http://x"")"\r\n+1,-1,@x,\t\r\n'
    found = read(table.encode(), "a.csv")
    assert (found.text, found.format, found.counts) == (table.replace("\r\n", "\n"), "table", {"line_ends": 2})
    assert read("甲\t乙\n".encode("gb18030") * 3, "a.tsv").format == "table"


def test_code_stays_as_it_is() -> None:
    code = "def f():\n\treturn '<b>' # {{ x }}\n"
    found = read(code.encode(), "a.py")
    assert (found.text, found.format) == (code, "code")
