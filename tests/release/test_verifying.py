"""A release proves itself from its files alone; whatever is changed in them is found, with its place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmark.taxonomy import Language
from release import formats
from release.formats import (
    CARD_FILE,
    JSON_FILE,
    JSONL_FILE,
    MANIFEST_FILE,
    PARQUET_FILE,
    PROVENANCE_FILE,
    STATISTICS_FILE,
)
from release.verifying import Fault, verify
from tests.release.parts import make_ready_sample, written

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_lengths")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_ready_sample()
    make_ready_sample(task_code="T1.1", difficulty="Hard")
    make_ready_sample(language=Language.CHINESE)
    written(tmp_path / "out")
    return tmp_path / "out"


def seal(folder: Path) -> None:
    """What somebody would do who wants a change to pass: write the new checksums into the manifest."""
    manifest = json.loads((folder / MANIFEST_FILE).read_text())
    manifest["files"] = [formats.describe(folder / name) for name in formats.CONTENT_FILES]
    (folder / MANIFEST_FILE).write_bytes(formats.manifest_bytes(manifest))


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / JSONL_FILE).read_bytes().splitlines()]


def write_rows(folder: Path, rows: list[dict[str, Any]]) -> None:
    """The rows in all three forms, sealed."""
    lines = [json.dumps(row, ensure_ascii=False).encode() for row in rows]
    (folder / JSONL_FILE).write_bytes(b"".join(line + b"\n" for line in lines))
    (folder / JSON_FILE).write_bytes(formats.JSON_BEGIN + formats.JSON_BETWEEN.join(lines) + formats.JSON_END)
    pq.write_table(pa.Table.from_pylist(rows, schema=formats.PARQUET_SCHEMA), folder / PARQUET_FILE)
    seal(folder)


def where(faults: list[Fault]) -> set[tuple[str, str]]:
    return {(fault.file, fault.place) for fault in faults}


def test_a_release_is_sound(folder: Path) -> None:
    assert verify(folder) == []


def test_verifying_needs_no_database(folder: Path, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert verify(folder) == []


@pytest.mark.parametrize("name", formats.FILES)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert (name, "") in where(verify(folder))


@pytest.mark.parametrize("name", formats.CONTENT_FILES)
def test_one_changed_byte_is_found(folder: Path, name: str) -> None:
    raw = bytearray((folder / name).read_bytes())
    raw[len(raw) // 2] ^= 1
    (folder / name).write_bytes(bytes(raw))
    faults = verify(folder)
    assert any(fault.file == name and "SHA-256" in fault.message for fault in faults)


@pytest.mark.parametrize("name", formats.FILES)
@pytest.mark.parametrize("rubbish", [b"", b"\x00\xff", b"[", b"{}\n", b"[]\n", b"null\n", b"\xef\xbb\xbf[\n"])
def test_rubbish_in_any_file_is_a_fault_and_never_a_crash(folder: Path, name: str, rubbish: bytes) -> None:
    (folder / name).write_bytes(rubbish)
    assert any(fault.file == name for fault in verify(folder))
    if name != MANIFEST_FILE:
        seal(folder)
        assert verify(folder) != []


def test_a_strange_file_does_not_belong_there(folder: Path) -> None:
    (folder / "notes.txt").write_text("x")
    assert where(verify(folder)) == {("notes.txt", "")}


def test_a_folder_that_is_none_is_said_so(tmp_path: Path) -> None:
    (fault,) = verify(tmp_path / "nowhere")
    assert fault.message == "This is not a folder."


# Changes that carry the right checksums ---------------------------------------------------------------------------


def test_a_sample_changed_in_the_json_alone_is_found_on_its_line(folder: Path) -> None:
    raw = (folder / JSON_FILE).read_bytes()
    (folder / JSON_FILE).write_bytes(raw.replace(b'"Hard"', b'"Easy"'))
    seal(folder)
    assert where(verify(folder)) == {(JSON_FILE, "line 2")}


def test_a_sample_changed_in_the_parquet_alone_is_found_with_its_field(folder: Path) -> None:
    rows = rows_of(folder)
    ident = rows[1]["id"]
    rows[1]["difficulty"] = "Extreme"
    pq.write_table(pa.Table.from_pylist(rows, schema=formats.PARQUET_SCHEMA), folder / PARQUET_FILE)
    seal(folder)
    assert where(verify(folder)) == {(PARQUET_FILE, f"sample 2 ({ident}), difficulty")}


def test_parquet_of_other_types_is_not_a_release(folder: Path) -> None:
    pq.write_table(pa.Table.from_pylist([{**row, "id": 7} for row in rows_of(folder)]), folder / PARQUET_FILE)
    seal(folder)
    assert any(fault.file == PARQUET_FILE and "columns" in fault.message for fault in verify(folder))


def test_a_missing_sample_is_missed_in_each_form(folder: Path) -> None:
    lines = (folder / JSONL_FILE).read_bytes().splitlines(keepends=True)
    (folder / JSONL_FILE).write_bytes(b"".join(lines[:2]))
    seal(folder)
    found = where(verify(folder))
    assert {(JSON_FILE, "sample 3"), (PARQUET_FILE, "sample 3"), (PROVENANCE_FILE, "sample 3")} <= found
    assert (MANIFEST_FILE, "counts.samples") in found


def changed(field: str, value: Any) -> Callable[[list[dict[str, Any]]], None]:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[0][field] = value

    return change


def same_id(rows: list[dict[str, Any]]) -> None:
    rows[0]["id"] = rows[1]["id"]


def same_question(rows: list[dict[str, Any]]) -> None:
    rows[1].update({name: rows[0][name] for name in ("context", "question_nonthinking", "question_thinking")})


def longer_context(rows: list[dict[str, Any]]) -> None:
    rows[0]["context"] += " and on and on" * 20


def other_requirement(rows: list[dict[str, Any]]) -> None:
    rows[0]["question_nonthinking"] = rows[0]["question_nonthinking"].replace("[Answer]", "[answer]")


def example_is_answer(rows: list[dict[str, Any]]) -> None:
    for name in ("question_nonthinking", "question_thinking"):
        rows[0][name] = rows[0][name].replace("Gull", "Marigold")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (changed("language", "German"), "language"),
        (changed("token_length", "9k"), "token_length"),
        (changed("token_length", "16k"), "token_length"),
        (changed("difficulty", "easy"), "difficulty"),
        (changed("primary_task", "Anything"), "primary_task"),
        (changed("secondary_task", "Anything"), "secondary_task"),
        (changed("contextual_requirement", "Whole"), "contextual_requirement"),
        (changed("answer", ["Heron", "heron", "Tern"]), "answer"),
        (changed("answer", []), "answer"),
        (changed("id", " "), "id"),
        (changed("context", ""), "context"),
        (longer_context, "token_length"),
        (other_requirement, "question_nonthinking"),
        (example_is_answer, "question_nonthinking"),
    ],
)
def test_every_rule_of_a_record_is_proved_from_the_files(
    folder: Path, change: Callable[[list[dict[str, Any]]], None], field: str
) -> None:
    rows = rows_of(folder)
    change(rows)
    write_rows(folder, rows)
    place = f"line 1 ({rows[0]['id']}), {field}"
    assert (JSONL_FILE, place) in where(verify(folder))


@pytest.mark.parametrize(("change", "field"), [(same_id, "id"), (same_question, "question_nonthinking")])
def test_repetitions_are_found_with_the_line_they_repeat(
    folder: Path, change: Callable[[list[dict[str, Any]]], None], field: str
) -> None:
    rows = rows_of(folder)
    change(rows)
    write_rows(folder, rows)
    faults = [fault for fault in verify(folder) if fault.place == f"line 2 ({rows[1]['id']}), {field}"]
    assert any("line 1" in fault.message for fault in faults)


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[1]",
        b'{"id": "x"}',
        b"[" * 100_000,
        b'{"id": 1e999}',
    ],
)
def test_a_line_that_is_no_record_is_found(folder: Path, line: bytes) -> None:
    lines = (folder / JSONL_FILE).read_bytes().splitlines()
    lines[1] = line
    (folder / JSONL_FILE).write_bytes(b"\n".join(lines) + b"\n")
    seal(folder)
    assert (JSONL_FILE, "line 2") in where(verify(folder))


@pytest.mark.parametrize("spoil", [lambda raw: b"\xef\xbb\xbf" + raw, lambda raw: json.dumps(json.loads(raw)).encode()])
def test_escaped_characters_and_byte_order_marks_are_faults(folder: Path, spoil: Callable[[bytes], bytes]) -> None:
    lines = (folder / JSONL_FILE).read_bytes().splitlines()
    lines[2] = spoil(lines[2])
    (folder / JSONL_FILE).write_bytes(b"\n".join(lines) + b"\n")
    seal(folder)
    assert any(fault.file == JSONL_FILE and fault.place.startswith("line 3") for fault in verify(folder))


def edit_provenance(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    lines = [json.loads(line) for line in (folder / PROVENANCE_FILE).read_bytes().splitlines()]
    change(lines[0])
    (folder / PROVENANCE_FILE).write_bytes(b"".join(formats.provenance_line(line) for line in lines))
    seal(folder)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda line: line.update(id="lbp-other"), "line 1, id"),
        (lambda line: line["people"].update(verified_by="Jane Doe"), "line 1 ({id}), people.verified_by"),
        (lambda line: line["reviews"][0]["reviews"][1].update(by="jane"), "line 1 ({id}), reviews.1.reviews.2.by"),
        (lambda line: line["source"].update(title="ask jane@example.org"), "line 1 ({id})"),
        (lambda line: line["source"].update(sha256="0" * 64), "line 1 ({id}), source.sha256"),
        (lambda line: line["source"].pop("domain"), "line 1 ({id}), source"),
        (lambda line: line.pop("people"), "line 1"),
    ],
)
def test_provenance_is_about_its_sample_and_names_nobody(
    folder: Path, change: Callable[[dict[str, Any]], Any], place: str
) -> None:
    ident = rows_of(folder)[0]["id"]
    edit_provenance(folder, change)
    assert (PROVENANCE_FILE, place.format(id=ident)) in where(verify(folder))


def test_statistics_are_counted_again(folder: Path) -> None:
    statistics = json.loads((folder / STATISTICS_FILE).read_text())
    statistics["counts"]["difficulty"]["Hard"] = 7
    (folder / STATISTICS_FILE).write_bytes(formats.pretty(statistics))
    seal(folder)
    (fault,) = verify(folder)
    assert (fault.file, fault.place) == (STATISTICS_FILE, "counts.difficulty.Hard")
    assert fault.message == "is 7; counted again it is 1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("version", "2.0"),
        ("made_at", "2001-01-01T00:00:00Z"),
        ("made_at", "yesterday"),
        ("schema_version", "9"),
        ("lengths", {"targets": [8, 16], "unit": 8, "tolerance_percent": 99}),
        ("lengths", "long"),
        ("targets", {"per_cell": 0, "exceptions": []}),
        ("tokenizer", "by eye"),
        ("embedder", "another"),
        ("complete", True),
        ("counts", {"samples": 4, "documents": 3, "left_out": 0}),
    ],
)
def test_a_changed_manifest_does_not_go_unnoticed(folder: Path, name: str, value: Any) -> None:
    manifest = json.loads((folder / MANIFEST_FILE).read_text())
    manifest[name] = value
    (folder / MANIFEST_FILE).write_bytes(formats.manifest_bytes(manifest))
    assert any(fault.file == MANIFEST_FILE and fault.place.startswith(name) for fault in verify(folder))


def test_the_cards_header_is_held_to_the_data(folder: Path) -> None:
    text = (folder / CARD_FILE).read_text(encoding="utf-8")
    (folder / CARD_FILE).write_text(
        text.replace("path: longbench_pro.parquet", "path: other.parquet"), encoding="utf-8"
    )
    seal(folder)
    (fault,) = verify(folder)
    assert (fault.file, fault.place) == (
        CARD_FILE,
        f"line {text.split(chr(10)).index('    path: longbench_pro.parquet') + 1}",
    )
