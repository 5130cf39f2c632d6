import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from documents import unpacking
from documents.unpacking import Piece, pieces_of, pieces_of_path


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def rules(pieces: list[Piece]) -> list[str]:
    return [piece.refusal.rule if piece.refusal else "taken" for piece in pieces]


def test_one_bad_line_never_stops_the_others() -> None:
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
        b'{"text": "\xff"}',
    ],
)
def test_a_line_that_is_not_what_it_should_be_is_refused_by_itself(line: bytes) -> None:
    pieces = list(pieces_of("a.jsonl", line + b'\n{"text": "good"}\n'))
    assert rules(pieces) == ["jsonl", "taken"]


def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_LINE", 1000)
    assert rules(list(pieces_of("a.jsonl", b'{"text": "' + b"a" * 1000 + b'"}'))) == ["too_large"]


def test_an_archive_gives_its_files_and_lines() -> None:
    members = {"a/one.txt": b"one", "two.jsonl": b'{"text": "two"}', ".DS_Store": b"x", "__MACOSX/._one": b"x"}
    pieces = list(pieces_of("all.zip", zipped(members)))
    assert [(piece.path, piece.data, piece.text) for piece in pieces] == [
        ("all.zip/a/one.txt", b"one", None),
        ("all.zip/two.jsonl:1", None, "two"),
    ]


def test_names_that_lead_outside_archives_in_archives_and_links_are_refused_one_by_one() -> None:
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


def test_a_bomb_is_refused_before_it_unpacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_FILE", 1_000_000)
    bomb = zipped({"bomb.txt": b"0" * 50_000_000, "good.txt": b"good"})
    assert len(bomb) < 100_000
    assert rules(list(pieces_of("bomb.zip", bomb))) == ["too_large", "taken"]


def test_too_many_files_and_too_much_in_all_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_MEMBERS", 3)
    assert rules(list(pieces_of("a.zip", zipped({f"{n}.txt": b"x" for n in range(4)})))) == ["archive_too_large"]
    monkeypatch.setattr(unpacking, "MAX_UNPACKED", 5)
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
