import gzip
import io
import json
import os
import resource
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.lengths import DEFAULT_LENGTHS
from documents import archives, jsonl
from documents.extracting import read_document
from documents.intake import prepare
from documents.jsonl import Piece
from documents.unpacking import pieces_of, pieces_of_path
from tests.documents.made import bombs
from tests.documents.made.costs import at_most
from tests.documents.made.packages import chapter, docx, epub, paragraph


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def rules(pieces: list[Piece]) -> list[str]:
    return [piece.refusal.rule if piece.refusal else "taken" for piece in pieces]


def test_one_bad_line_never_stops_the_others() -> None:
    """B-30"""
    lines = [json.dumps({"text": f"text {number}"}).encode() for number in range(1, 5001)]
    lines[2999] = b'{"text": "broken'
    pieces = list(pieces_of("batch.jsonl", b"\n".join(lines)))
    refused = [piece for piece in pieces if piece.refusal]
    assert (len(pieces), len(refused)) == (5000, 1)
    assert refused[0].path == "batch.jsonl:3000"
    assert refused[0].refusal is not None
    assert refused[0].refusal.details["line"] == 3000
    assert "3000" in str(refused[0].refusal)


def test_crlf_blank_lines_a_mark_and_no_last_newline_are_taken() -> None:
    """B-31"""
    data = b'\xef\xbb\xbf{"text": "a"}\r\n\r\n{"text": "b", "multi": true, "title": "B"}'
    pieces = list(pieces_of("batch.jsonl", data))
    assert [(piece.path, piece.text, piece.facts) for piece in pieces] == [
        ("batch.jsonl:1", "a", {}),
        ("batch.jsonl:3", "b", {"multi": True, "title": "B"}),
    ]


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"[]",
        b'"text"',
        b'{"text": null}',
        b'{"text": 7}',
        b'{"text": "a", "other": 1}',
        b'{"text": "a", "multi": 1}',
        b'{"text": "\\ud83d"}',
        b'{"text": NaN}',
        b'{"text": "a", "title": 1e999}',
        b'{"text": "a", "title": ' + b"9" * 400 + b"}",
        b'{"text": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        b'{"text": ' + b"[" * 1000 + b"]" * 1000 + b', "text": "a"}',
        b'{"text": ' + b"9" * 9000 + b', "text": "a"}',
        b'{"text": "\xff"}',
    ],
)
def test_a_line_that_is_not_what_it_should_be_is_refused_by_itself(line: bytes) -> None:
    """B-14, B-32, B-33"""
    pieces = list(pieces_of("a.jsonl", line + b'\n{"text": "good"}\n'))
    assert rules(pieces) == ["jsonl", "taken"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_a_line_with_two_fields_of_one_name_is_refused_and_named(name: str) -> None:
    rows = ['{"text": "one"}', '{"text": "two", "title": "A", "text": "three"}', '{"text": "four", "ti\\u0074le": "B"}']
    data = "\n".join(rows) if name == "a.jsonl" else "[" + ", ".join(rows) + "]"
    pieces = list(pieces_of(name, data.encode()))
    assert rules(pieces) == ["taken", "jsonl", "taken"]
    assert str(pieces[1].refusal).startswith("Line 2: the field “text” stands there more than once.")


def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """B-34"""
    monkeypatch.setattr(jsonl, "MAX_LINE", 1000)
    assert rules(list(pieces_of("a.jsonl", b'{"text": "' + b"a" * 1000 + b'"}'))) == ["too_large"]


def test_an_archive_gives_its_files_and_lines() -> None:
    members = {"a/one.txt": b"one", "two.jsonl": b'{"text": "two"}', ".DS_Store": b"x", "__MACOSX/._one": b"x"}
    pieces = list(pieces_of("all.zip", zipped(members)))
    assert [(piece.path, piece.data, piece.text) for piece in pieces] == [
        ("all.zip/a/one.txt", b"one", None),
        ("all.zip/two.jsonl:1", None, "two"),
    ]


def test_names_that_lead_outside_archives_in_archives_and_links_are_refused_one_by_one() -> None:
    """B-38, B-39"""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in ("../x.txt", "/etc/y.txt", "good.txt", "inner.zip"):
            info = tarfile.TarInfo(name)
            info.size = 4
            archive.addfile(info, io.BytesIO(b"text"))
        link = tarfile.TarInfo("link.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    pieces = list(pieces_of("all.tar.gz", buffer.getvalue()))
    assert rules(pieces) == ["archive_name", "archive_name", "taken", "archive", "archive_link"]
    assert "Unpack the outer one" in str(pieces[3].refusal)


def test_a_bomb_is_refused_before_it_unpacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """B-38"""
    monkeypatch.setattr(archives, "MAX_FILE", 1_000_000)
    bomb = zipped({"bomb.txt": b"0" * 50_000_000, "good.txt": b"good"})
    assert len(bomb) < 100_000
    assert rules(list(pieces_of("bomb.zip", bomb))) == ["too_large", "taken"]


def test_too_many_files_and_too_much_in_all_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    assert rules(list(pieces_of("a.zip", zipped({f"{n}.txt": b"x" for n in range(4)})))) == ["archive_too_large"]
    monkeypatch.setattr(archives, "MAX_UNPACKED", 5)
    pieces = list(pieces_of("a.zip", zipped({"1.txt": b"1234", "2.txt": b"1234"})))
    assert rules(pieces) == ["archive_too_large"]


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_a_damaged_archive_is_refused_with_words(name: str) -> None:
    assert rules(list(pieces_of(name, b"no archive at all"))) == ["archive"]
    cut = zipped({"one.txt": os.urandom(5000)})[:2500]
    assert rules(list(pieces_of(name, cut))) == ["archive"]


def test_a_folder_gives_its_files_in_order_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.txt").write_bytes(b"2")
    (tmp_path / "a.txt").write_bytes(b"1")
    (tmp_path / "link.txt").symlink_to("/etc/passwd")
    pieces = list(pieces_of_path(tmp_path))
    assert [(Path(piece.path).name, piece.data) for piece in pieces] == [("a.txt", b"1"), ("two.txt", b"2")]


def test_a_path_that_is_not_there_is_said() -> None:
    assert rules(list(pieces_of_path(Path("/nowhere/at all.txt")))) == ["unreadable"]


@pytest.mark.parametrize(
    "bomb",
    [
        lambda: bombs.zip_of_zeros(32, 1 << 27),
        lambda: bombs.zip_of_zeros(64, 1 << 26),
        lambda: bombs.overlapping(3_000, 1 << 20),
        lambda: bombs.crowd(100_000),
        lambda: bombs.crowd(30_000),
    ],
    ids=["4 GiB", "64 files", "overlapping", "100,000 files", "30,000 files"],
)
def test_bombs_are_refused_before_anything_is_unpacked(bomb: Callable[[], bytes]) -> None:
    """B-38"""
    data = bomb()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with at_most(seconds=2):
        assert rules(list(pieces_of("bomb.zip", data))) == ["archive_too_large"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


def test_a_nested_bomb_stays_packed() -> None:
    """B-38"""
    assert rules(list(pieces_of("a.zip", bombs.nested(4)))) == ["archive"] * 10


def test_bombs_in_a_tar_file_are_refused_while_it_unpacks() -> None:
    """B-38: a header without end, and files that are only passed over."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert rules(list(pieces_of("a.tar.gz", bombs.tar_with_endless_header(200 << 20)))) == ["archive"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024
    with at_most(seconds=2):
        assert rules(list(pieces_of("a.tgz", bombs.tar_of_sizes([2 << 30])))) == ["archive_too_large"]
        assert rules(list(pieces_of("a.tgz", bombs.tar_of_sizes([1 << 62])))) == ["archive_too_large"]


def test_names_in_archives_lead_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B-39"""
    monkeypatch.chdir(tmp_path)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("../../x.txt", "/etc/x.txt", "C:/x.txt", "..\\..\\x.txt", "same.txt", "same.txt"):
            archive.writestr(name, name)
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    pieces = list(pieces_of("a.zip", buffer.getvalue()))
    assert rules(pieces) == [*["archive_name"] * 4, "taken", "taken", "archive_link"]
    assert list(tmp_path.iterdir()) == []


def test_names_in_gbk_are_shown_right_and_odd_ones_in_one_line() -> None:
    """B-53"""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("aaaa.txt", "one")
        archive.writestr("b\nc\x1bd\u202e🧂.txt", "two")
        archive.writestr("x" * 5000 + ".txt", "three")
    data = buffer.getvalue().replace(b"aaaa.txt", "苍鹭".encode("gb18030") + b".txt")
    paths = [piece.path for piece in pieces_of("a.zip", data)]
    assert paths[:2] == ["a.zip/苍鹭.txt", "a.zip/b cd\u202e🧂.txt"]
    assert len(paths[2]) < 1100
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", encoding="gb18030", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("苍鹭.txt"))
    assert [piece.path for piece in pieces_of("a.tar", buffer.getvalue())] == ["a.tar/苍鹭.txt"]
    assert [piece.path for piece in pieces_of("a\x00\n\ud83d.txt", b"x")] == ["a \ufffd.txt"]
    assert [piece.path for piece in pieces_of("a  b .txt", b"x")] == ["a  b .txt"]


def test_one_damaged_or_locked_part_of_an_archive_never_stops_the_others() -> None:
    """B-30, B-40"""
    data = bytearray(zipped({"1.txt": b"one " * 100, "2.txt": b"two " * 100, "3.txt": b"three " * 100}))
    second = data.index(b"2.txt")
    data[second + 8] ^= 0xFF
    assert rules(list(pieces_of("a.zip", bytes(data)))) == ["taken", "archive", "taken"]
    locked = bytearray(zipped({"1.txt": b"one", "2.txt": b"two"}))
    directory = locked.index(b"PK\x01\x02")
    locked[directory + 8] |= 1
    assert rules(list(pieces_of("a.zip", bytes(locked)))) == ["encrypted", "taken"]


@pytest.mark.parametrize(
    "data", [docx(paragraph("The log")), epub({"a.xhtml": chapter("<p>The log")})], ids=["DOCX", "EPUB"]
)
def test_a_document_under_the_name_of_an_archive_is_not_taken_apart(data: bytes) -> None:
    """B-52"""
    assert rules(list(pieces_of("a.zip", data))) == ["type_mismatch"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.zip", "a.tar.gz"])
def test_what_is_no_archive_and_no_jsonl_is_refused_once(name: str) -> None:
    """B-52"""
    (piece,) = pieces_of(name, b"%PDF-1.7\nline\nline\n")
    assert piece.refusal is not None
    assert piece.refusal.rule in ("type_mismatch", "archive")


def test_every_format_is_found_in_archives_and_folders(tmp_path: Path) -> None:
    members = {"a.docx": docx(paragraph("The log")), "b.html": b"<p>The log", "c.txt": b"The log"}
    for name, data in members.items():
        (tmp_path / name).write_bytes(data)
    for pieces in (pieces_of("a.zip", zipped(members)), pieces_of_path(tmp_path)):
        texts = [read_document(piece.data or b"", file_name=piece.path).text for piece in pieces]
        assert texts == ["The log"] * 3


# JSON -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"text": "one", "title": "T"}', [("a.json:1", "one", {"title": "T"})]),
        (
            '[{"text": "one"}, {"text": "two", "multi": true}]',
            [("a.json:1", "one", {}), ("a.json:2", "two", {"multi": True})],
        ),
        ('[{"text": "one"}, {"other": "two"}]', None),
        ('[{"text": "one"}, {"text": 2}]', None),
        ('{"text": "one", "count": 2}', None),
        ('{"text": 1}', None),
        ('{"data": [{"text": "one"}]}', None),
        ("[]", None),
        ('["text"]', None),
        ('{"text": "broken', None),
        ("[" * 5000 + '"text"', None),
    ],
)
def test_a_json_file_of_documents_is_taken_like_jsonl_and_any_other_is_the_document(
    text: str, found: list[tuple[str, str, dict[str, object]]] | None
) -> None:
    pieces = list(pieces_of("a.json", text.encode()))
    if found is None:
        assert [(piece.path, piece.data) for piece in pieces] == [("a.json", text.encode())]
    else:
        assert [(piece.path, piece.text, piece.facts) for piece in pieces] == found


def test_a_bad_entry_of_a_json_file_is_refused_by_itself() -> None:
    """B-14, B-32, B-33"""
    entries = [
        *('{"text": "good"}', '{"text": "a", "id": 1}', '{"text": "\\ud83d"}', '{"text": "a", "title": 1e999}'),
        '{"text": "a", "title": ' + "9" * 400 + "}",
    ]
    pieces = list(pieces_of("a.json", f"[{','.join(entries)}]".encode()))
    assert rules(pieces) == ["taken", "jsonl", "jsonl", "jsonl", "jsonl"]


def test_an_id_is_not_a_field_and_the_text_is_what_identifies() -> None:
    """B-35: ids that differ in case or space cannot conflict, as none is taken; equal texts are found by their hash."""
    pieces = list(
        pieces_of("a.jsonl", b'{"text": "a", "id": "X"}\n{"text": "a", "id": "x "}\n{"text": "same"}\n{"text": "same"}')
    )
    assert rules(pieces) == ["jsonl", "jsonl", "taken", "taken"]
    assert "id" in str(pieces[0].refusal)
    assert "licence" in str(pieces[0].refusal)
    one, other = (prepare(piece.text or "", lengths=DEFAULT_LENGTHS) for piece in pieces[2:])
    assert one.measure.sha256 == other.measure.sha256


def test_jsonl_in_another_encoding_is_refused_once() -> None:
    for encoding in ("utf-16", "utf-32"):
        assert rules(list(pieces_of("a.jsonl", '{"text": "a"}\n{"text": "b"}'.encode(encoding)))) == ["encoding"]


def test_a_line_of_200_megabytes_is_refused() -> None:
    """B-34"""
    with at_most(seconds=5):
        assert rules(list(pieces_of("a.jsonl", b'{"text": "' + b"a" * 200_000_000 + b'"}'))) == ["too_large"]


def test_a_long_line_that_is_all_structure_is_refused_before_it_is_parsed() -> None:
    """B-33"""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = b'{"text": "a", "title": [' + b"[]," * 10_000_000 + b"[]]}"
    assert rules(list(pieces_of("a.jsonl", line))) == ["jsonl"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150 * 1024
    text = json.dumps({"text": 'quoted \\"words\\" [and] {brackets}, ' * 40_000})
    assert rules(list(pieces_of("a.jsonl", text.encode()))) == ["taken"]


def tar_of_texts() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("a.txt", "b.txt", "c.txt"):
            info = tarfile.TarInfo(name)
            info.size = 600
            archive.addfile(info, io.BytesIO(name.encode() * 120))
    return buffer.getvalue()


def spoiled(data: bytes) -> bytes:
    """The header of the second file is no header."""
    return data[:1536] + b"?" * 512 + data[2048:]


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(tar_of_texts())[:-9],
        gzip.compress(tar_of_texts()[:3072])[:-4],
        gzip.compress(tar_of_texts())[:-8] + b"wrongsum",
        spoiled(tar_of_texts()),
        tar_of_texts()[:1700],
        tar_of_texts()[:2500],
    ],
    ids=["gzip cut", "sum cut", "wrong sum", "broken header", "header cut", "file cut"],
)
def test_what_is_missing_at_the_end_of_a_tar_file_is_said_and_the_rest_is_taken(data: bytes) -> None:
    pieces = list(pieces_of("a.tar.gz", data))
    assert pieces[-1].path == "a.tar.gz"
    assert rules(pieces[-1:]) == ["archive"]
    assert all(piece.data == piece.path.removeprefix("a.tar.gz/").encode() * 120 for piece in pieces[:-1])


def test_a_tar_file_packed_in_two_parts_is_read_whole() -> None:
    data = tar_of_texts()
    pieces = list(pieces_of("a.tgz", gzip.compress(data[:1500]) + gzip.compress(data[1500:])))
    assert [piece.path for piece in pieces if piece.data] == ["a.tgz/a.txt", "a.tgz/b.txt", "a.tgz/c.txt"]


def test_an_archive_or_a_folder_without_a_file_is_said(tmp_path: Path) -> None:
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("folder/", "")
        archive.writestr("__MACOSX/._a", "litter")
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz"):
        pass
    (tmp_path / "folder" / "deeper").mkdir(parents=True)
    found = [
        *pieces_of("a.zip", empty.getvalue()),
        *pieces_of("a.tgz", tar.getvalue()),
        *pieces_of_path(tmp_path / "folder"),
    ]
    assert [piece.path for piece in found] == ["a.zip", "a.tgz", str(tmp_path / "folder")]
    assert rules(found) == ["empty", "empty", "empty"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"text": "caf\xe9"}', "Line 1: not UTF-8 at byte 13 of the line"),
        (rb'{"text": "half \ud83d"}', "Line 1: half of a surrogate pair at character"),
        (b'{"text": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", "Line 1: nested too deeply at character"),
        (b'{"text": "a", "multi": NaN}', "Line 1: not valid JSON at character 23"),
    ],
    ids=["encoding", "surrogate", "deep", "NaN"],
)
def test_what_is_wrong_with_a_line_is_said(line: bytes, words: str) -> None:
    refusal = next(pieces_of("a.jsonl", line)).refusal
    assert refusal is not None
    assert refusal.rule == "jsonl"
    assert str(refusal.message).startswith(words)
