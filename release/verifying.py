"""Whether a folder is a sound release, from its files alone: no database, nothing but what lies there.

Every file is read as a stream beside the others, so that a release of any size needs the memory of a few samples.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.utils.translation import gettext as _

from benchmark.lengths import DEFAULT_LENGTHS, Lengths
from benchmark.metrics import Embedder, default_embedder
from benchmark.record import FIELDS, Record, check_record, from_object, to_json_line
from documents.tokenizing import TOKENIZER_NAME, count_tokens
from release import card, formats
from release.figures import Tally, Targets

# A file that is shifted by a line differs in all lines: it is enough to say so a few times.
MOST_FAULTS_PER_FILE = 50


@dataclass(frozen=True)
class Fault:
    """What is wrong, in which file, where in it."""

    file: str
    place: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.place, self.message) if part)


class Faults:
    """The faults found so far."""

    def __init__(self) -> None:
        self.found: list[Fault] = []
        self._per_file: Counter[str] = Counter()

    def add(self, file: str, place: str, message: str) -> None:
        self._per_file[file] += 1
        if self._per_file[file] <= MOST_FAULTS_PER_FILE:
            self.found.append(Fault(file, place, message))
        elif self._per_file[file] == MOST_FAULTS_PER_FILE + 1:
            self.found.append(Fault(file, "", _("More faults of this file are not listed.")))


def verify(folder: Path, *, embedder: Embedder | None = None) -> list[Fault]:
    """Every fault of the release in `folder`; none means that all of its rules hold."""
    faults = Faults()
    if not folder.is_dir():
        faults.add(str(folder), "", _("This is not a folder."))
        return faults.found
    manifest = _Manifest.read(folder, faults)
    present = _check_files(folder, manifest, faults)
    if formats.JSONL_FILE in present:
        tally = _Contents(folder, present, manifest, embedder or default_embedder(), faults).check()
        _check_counts(manifest, tally, faults)
        _check_statistics(folder, present, manifest, tally, faults)
    return faults.found


# The manifest ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Manifest:
    """The manifest as far as it could be read; `head` is None when it cannot serve as a measure for the rest."""

    head: Mapping[str, Any] | None
    files: Mapping[str, Mapping[str, Any]]
    lengths: Lengths
    targets: Targets

    @classmethod
    def read(cls, folder: Path, faults: Faults) -> "_Manifest":
        name = formats.MANIFEST_FILE
        raw = _read_object(folder / name, faults)
        if raw is None:
            return cls(None, {}, DEFAULT_LENGTHS, Targets(0))
        absent = [key for key in (*formats.MANIFEST_HEAD, "files") if key not in raw]
        for key in absent:
            faults.add(name, key, _("is missing"))
        for key in raw:
            if key not in (*formats.MANIFEST_HEAD, "files"):
                faults.add(name, key, _("is not a field of the manifest"))
        lengths = _read_part(raw, "lengths", formats.lengths_from_json, DEFAULT_LENGTHS, faults)
        targets = _read_part(raw, "targets", Targets.from_json, Targets(0), faults)
        _check_head(raw, faults)
        files = _read_part(raw, "files", lambda rows: {row["name"]: row for row in rows}, {}, faults)
        return cls(None if absent else {key: raw[key] for key in formats.MANIFEST_HEAD}, files, lengths, targets)


def _read_object(path: Path, faults: Faults) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        faults.add(path.name, "", _("The file is missing."))
    except (OSError, ValueError, RecursionError) as error:
        faults.add(path.name, _where(error), _("This is not JSON in UTF-8."))
    else:
        if isinstance(value, dict):
            return value
        faults.add(path.name, "", _("This is not a JSON object."))
    return None


def _where(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return _("line %(line)d") % {"line": error.lineno}
    return ""


def _read_part(raw: Mapping[str, Any], name: str, read: Callable[[Any], Any], otherwise: Any, faults: Faults) -> Any:
    try:
        return read(raw[name]) if name in raw else otherwise
    except (KeyError, TypeError, ValueError, AttributeError):
        faults.add(formats.MANIFEST_FILE, name, _("has another shape than a release's"))
        return otherwise


def _check_head(raw: Mapping[str, Any], faults: Faults) -> None:
    name = formats.MANIFEST_FILE
    version = raw.get("version", "0")
    if not isinstance(version, str) or not formats.VERSION_NAME.fullmatch(version):
        faults.add(name, "version", _("is not a version name"))
    if "made_at" in raw and not _is_moment(raw["made_at"]):
        faults.add(name, "made_at", _("is not a time in UTC"))
    if raw.get("schema_version", formats.SCHEMA_VERSION) != formats.SCHEMA_VERSION:
        words = _("is %(given)s; version %(known)s is known here")
        faults.add(name, "schema_version", words % {"given": raw["schema_version"], "known": formats.SCHEMA_VERSION})
    if raw.get("tokenizer", TOKENIZER_NAME) != TOKENIZER_NAME:
        words = _("is %(given)s; here tokens are counted by %(known)s, so buckets cannot be checked")
        faults.add(name, "tokenizer", words % {"given": raw["tokenizer"], "known": TOKENIZER_NAME})


def _is_moment(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC))
    except ValueError:
        return False


def _check_files(folder: Path, manifest: _Manifest, faults: Faults) -> set[str]:
    """Names, sizes and checksums; returns the files that are there."""
    there = {path.name for path in folder.iterdir()}
    for name in sorted(there - set(formats.FILES)):
        faults.add(name, "", _("This does not belong to a release."))
    for name in sorted(set(manifest.files) - set(formats.CONTENT_FILES)):
        faults.add(formats.MANIFEST_FILE, f"files, {name}", _("is not a file of a release"))
    present = set()
    for name in formats.CONTENT_FILES:
        if not (folder / name).is_file():
            faults.add(name, "", _("The file is missing."))
            continue
        present.add(name)
        _check_file(folder / name, manifest, faults)
    return present


def _check_file(path: Path, manifest: _Manifest, faults: Faults) -> None:
    listed = manifest.files.get(path.name)
    if listed is None:
        if manifest.head is not None:
            faults.add(formats.MANIFEST_FILE, f"files, {path.name}", _("is missing"))
        return
    found = formats.describe(path)
    if listed.get("bytes") != found["bytes"]:
        words = _("The file has %(found)s bytes; the manifest says %(listed)s.")
        faults.add(path.name, "", words % {"found": found["bytes"], "listed": listed.get("bytes")})
    if listed.get("sha256") != found["sha256"]:
        words = _("The SHA-256 is %(found)s; the manifest says %(listed)s.")
        faults.add(path.name, "", words % {"found": found["sha256"], "listed": listed.get("sha256")})


# The samples ----------------------------------------------------------------------------------------------------


class _Contents:
    """All samples, each in its four forms side by side."""

    def __init__(
        self, folder: Path, present: set[str], manifest: _Manifest, embedder: Embedder, faults: Faults
    ) -> None:
        self.folder, self.present, self.manifest = folder, present, manifest
        self.embedder, self.faults = embedder, faults
        self.counts_tokens = manifest.head is None or manifest.head["tokenizer"] == TOKENIZER_NAME
        self.tokens: dict[str, int] = {}
        self.ids: dict[str, int] = {}
        self.questions: dict[tuple[str, str], int] = {}

    def check(self) -> Tally:
        tally = Tally(self.manifest.targets, self.manifest.lengths)
        forms = zip_longest(
            self._lines(formats.JSONL_FILE),
            self._of(formats.JSON_FILE, self._objects),
            self._of(formats.PARQUET_FILE, self._rows),
            self._of(formats.PROVENANCE_FILE, lambda: self._lines(formats.PROVENANCE_FILE)),
        )
        place = 0
        for place, (line, in_json, in_parquet, provenance) in enumerate(forms, 1):
            if line is None:
                self._check_surplus(place, in_json, in_parquet, provenance)
                break
            record = self._record(line, place)
            self._compare_json(line, in_json, place)
            if record is None:
                continue
            self._compare_parquet(record, in_parquet, place)
            digest = hashlib.sha256(record.context.encode("utf-8", "surrogatepass")).hexdigest()
            self._check_record(record, digest, place)
            self._check_unique(record, digest, place)
            found = self._provenance(provenance, record, digest, place)
            if found is not None:
                self._count(tally, record, found, place)
        if not place:
            self.faults.add(formats.JSONL_FILE, "", _("The release holds no sample."))
        return tally

    # Reading

    def _of(self, name: str, read: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        return read() if name in self.present else iter(())

    def _lines(self, name: str) -> Iterator[bytes]:
        with (self.folder / name).open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    self.faults.add(name, _line(number), _("The last line has no line end."))
                yield line.removesuffix(b"\n")

    def _objects(self) -> Iterator[bytes]:
        """The JSON array's objects, of which each has a line to itself."""
        name = formats.JSON_FILE
        with (self.folder / name).open("rb") as file:
            if file.readline() != formats.JSON_BEGIN:
                self.faults.add(name, _line(1), _("The array does not begin on a line of its own."))
                return
            for number, line in enumerate(file, 2):
                if line.endswith(formats.JSON_BETWEEN):
                    yield line.removesuffix(formats.JSON_BETWEEN)
                    continue
                yield line.removesuffix(b"\n")
                if line[-1:] + file.read(len(formats.JSON_END)) != formats.JSON_END:
                    self.faults.add(name, _line(number + 1), _("The array does not end after this object."))
                return
            self.faults.add(name, "", _("The array does not end."))

    def _rows(self) -> Iterator[dict[str, Any]]:
        name = formats.PARQUET_FILE
        try:
            with pq.ParquetFile(self.folder / name) as parquet:
                if not parquet.schema_arrow.equals(formats.PARQUET_SCHEMA):
                    self.faults.add(name, "", _("The columns are not those of a release."))
                for group in range(parquet.num_row_groups):
                    yield from parquet.read_row_group(group).to_pylist()
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            words = _("The file cannot be read as Parquet (%(kind)s).")
            self.faults.add(name, "", words % {"kind": type(error).__name__})

    def _record(self, line: bytes, place: int) -> Record | None:
        name = formats.JSONL_FILE
        try:
            record = from_object(json.loads(line.decode("utf-8")))
        except (ValueError, RecursionError) as error:
            self.faults.add(name, _line(place), str(error))
            return None
        if not _is_written_so(record, line):
            words = _("The line is not written as a release writes it (UTF-8, not escaped, no byte order mark).")
            self.faults.add(name, _line(place, record.id), words)
        return record

    # Comparing

    def _check_surplus(self, place: int, in_json: Any, in_parquet: Any, provenance: Any) -> None:
        forms = {formats.JSON_FILE: in_json, formats.PARQUET_FILE: in_parquet, formats.PROVENANCE_FILE: provenance}
        for name, value in forms.items():
            if value is not None:
                words = _("There is a sample more than in %(other)s.")
                self.faults.add(name, _sample(place), words % {"other": formats.JSONL_FILE})

    def _compare_json(self, line: bytes, in_json: bytes | None, place: int) -> None:
        if formats.JSON_FILE not in self.present:
            return
        if in_json is None:
            words = _("The sample is missing; %(other)s has it.")
            self.faults.add(formats.JSON_FILE, _sample(place), words % {"other": formats.JSONL_FILE})
        elif in_json != line:
            words = _("The object is not the one of %(other)s.")
            self.faults.add(formats.JSON_FILE, _line(place + 1), words % {"other": formats.JSONL_FILE})

    def _compare_parquet(self, record: Record, row: dict[str, Any] | None, place: int) -> None:
        name = formats.PARQUET_FILE
        if name not in self.present:
            return
        if row is None:
            words = _("The sample is missing; %(other)s has it.")
            self.faults.add(name, _sample(place, record.id), words % {"other": formats.JSONL_FILE})
            return
        own = {**vars(record), "answer": list(record.answer)}
        for field in FIELDS:
            if field not in row or row[field] != own[field]:
                words = _("is not what %(other)s says")
                self.faults.add(name, f"{_sample(place, record.id)}, {field}", words % {"other": formats.JSONL_FILE})

    def _check_record(self, record: Record, digest: str, place: int) -> None:
        tokens = self._tokens(record.context, digest) if self.counts_tokens else None
        findings = check_record(record, tokens=tokens, lengths=self.manifest.lengths, embedder=self.embedder)
        for finding in findings:
            if finding.is_error:
                where = f"{_line(place, record.id)}, {finding.field}"
                self.faults.add(formats.JSONL_FILE, where, _(finding.template) % finding.params)

    def _tokens(self, context: str, digest: str) -> int:
        """Counted once for a document, however many samples it carries."""
        if digest not in self.tokens:
            self.tokens[digest] = count_tokens(context)
        return self.tokens[digest]

    def _check_unique(self, record: Record, digest: str, place: int) -> None:
        first = self.ids.setdefault(record.id, place)
        if first != place:
            words = _("The id is also that of line %(line)d.")
            self.faults.add(formats.JSONL_FILE, f"{_line(place, record.id)}, id", words % {"line": first})
        first = self.questions.setdefault((digest, record.question_nonthinking), place)
        if first != place:
            words = _("Context and question are also those of line %(line)d.")
            where = f"{_line(place, record.id)}, question_nonthinking"
            self.faults.add(formats.JSONL_FILE, where, words % {"line": first})

    # Provenance

    def _provenance(self, line: bytes | None, record: Record, digest: str, place: int) -> dict[str, Any] | None:
        name = formats.PROVENANCE_FILE
        if name not in self.present:
            return None
        if line is None:
            self.faults.add(name, _sample(place, record.id), _("The sample has no line."))
            return None
        try:
            found = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            self.faults.add(name, _line(place), _("This is not JSON in UTF-8."))
            return None
        if not isinstance(found, dict) or set(found) - {formats.IMPORTED} != formats.PROVENANCE_FIELDS:
            self.faults.add(name, _line(place), _("The fields are not those of a release."))
            return None
        self._check_provenance(found, line, record, digest, place)
        return found

    def _check_provenance(self, found: dict[str, Any], line: bytes, record: Record, digest: str, place: int) -> None:
        name = formats.PROVENANCE_FILE
        if found["id"] != record.id:
            words = _("The line is about %(found)s; %(other)s has %(id)s there.")
            params = {"found": found["id"], "other": formats.JSONL_FILE, "id": record.id}
            self.faults.add(name, f"{_line(place)}, id", words % params)
        if not isinstance(found["source"], dict) or found["source"].get("sha256") != digest:
            words = _("The SHA-256 is not that of the context.")
            self.faults.add(name, f"{_line(place, record.id)}, source.sha256", words)
        if formats.EMAIL.search(line.decode("utf-8")):
            self.faults.add(name, _line(place, record.id), _("The line holds an e-mail address."))
        for path, value in _people(found, ""):
            if value is not None and not (isinstance(value, str) and formats.PSEUDONYM.fullmatch(value)):
                words = _("names a person otherwise than by pseudonym")
                self.faults.add(name, f"{_line(place, record.id)}, {path}", words)

    def _count(self, tally: Tally, record: Record, found: dict[str, Any], place: int) -> None:
        try:
            tally.add(vars(record), found)
        except (KeyError, TypeError):
            words = _("has another shape than a release's")
            self.faults.add(formats.PROVENANCE_FILE, f"{_line(place, record.id)}, source", words)


def _line(number: int, id: str = "") -> str:
    place = _("line %(line)d") % {"line": number}
    return f"{place} ({id})" if id else place


def _sample(number: int, id: str = "") -> str:
    place = _("sample %(number)d") % {"number": number}
    return f"{place} ({id})" if id else place


def _is_written_so(record: Record, line: bytes) -> bool:
    try:
        return to_json_line(record) == line
    except UnicodeEncodeError:
        return False


def _people(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every place of a provenance line that names a person: `by`, and what ends in `_by`."""
    if isinstance(value, dict):
        for name, inner in value.items():
            inside = f"{path}.{name}" if path else name
            if name == "by" or name.endswith("_by"):
                yield inside, inner
            yield from _people(inner, inside)
    elif isinstance(value, list):
        for place, inner in enumerate(value, 1):
            yield from _people(inner, f"{path}.{place}")


# What is said about the samples -----------------------------------------------------------------------------------


def _check_counts(manifest: _Manifest, tally: Tally, faults: Faults) -> None:
    if manifest.head is None:
        return
    counts = manifest.head["counts"]
    listed = counts if isinstance(counts, dict) else {}
    left_out = manifest.head["left_out"]
    found = {
        "samples": tally.samples,
        "documents": len(tally.documents),
        "left_out": len(left_out) if isinstance(left_out, list) else None,
    }
    for name, count in found.items():
        if listed.get(name) != count:
            words = _("is %(listed)s; there are %(found)s")
            faults.add(formats.MANIFEST_FILE, f"counts.{name}", words % {"listed": listed.get(name), "found": count})


def _check_statistics(folder: Path, present: set[str], manifest: _Manifest, tally: Tally, faults: Faults) -> None:
    if formats.STATISTICS_FILE not in present or manifest.head is None:
        return
    wanted: dict[str, Any] = tally.statistics()
    found = _read_object(folder / formats.STATISTICS_FILE, faults)
    if found is None:
        return
    repeated = found.get("release")
    said: dict[str, Any] = repeated if isinstance(repeated, dict) else {}
    for name, value in formats.head_of_statistics(manifest.head).items():
        if said.get(name) != value:
            faults.add(formats.MANIFEST_FILE, name, _("is not what statistics.json says"))
    for path, here, there in _differences(wanted, {k: v for k, v in found.items() if k != "release"}, ""):
        words = _("is %(found)s; counted again it is %(counted)s")
        faults.add(formats.STATISTICS_FILE, path, words % {"found": there, "counted": here})
    if wanted["balance"]["cells_below_target"] and manifest.head["complete"]:
        faults.add(formats.MANIFEST_FILE, "complete", _("is said, but some cells are below their target"))
    if formats.CARD_FILE in present and tally.samples:
        _check_card(folder / formats.CARD_FILE, manifest, wanted, faults)


def _differences(wanted: Any, found: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(wanted, dict) and isinstance(found, dict):
        for name in [*wanted, *(name for name in found if name not in wanted)]:
            inside = f"{path}.{name}" if path else str(name)
            yield from _differences(wanted.get(name), found.get(name), inside)
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for place, (one, other) in enumerate(zip(wanted, found, strict=True), 1):
            yield from _differences(one, other, f"{path}.{place}")
    elif wanted != found:
        yield path, wanted, found


def _check_card(path: Path, manifest: _Manifest, statistics: dict[str, Any], faults: Faults) -> None:
    assert manifest.head is not None
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    try:
        header = card.header(manifest.head, statistics)
    except (KeyError, TypeError):
        return
    for number, wanted in enumerate(header, 1):
        if lines[number - 1 : number] != [wanted]:
            words = _("The header does not say “%(wanted)s” there.")
            faults.add(path.name, _line(number), words % {"wanted": wanted})
