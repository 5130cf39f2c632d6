"""Writing a release's files from its frozen items: a stream, never all texts in memory, the same bytes every time."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.utils.translation import gettext as _

from benchmark.record import FIELDS, Record, to_json_line
from core.refusals import RuleBroken
from documents.models import DocumentText
from release import card, formats
from release.figures import Tally, Targets
from release.models import Release, ReleaseItem
from release.queries import items_of

# A batch is one row group of the Parquet file, and what is in memory at a time.
BATCH_BYTES = 2 * 1024 * 1024
BATCH_ITEMS = 64

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Row:
    """One sample: its record, the record as JSON, and its provenance."""

    record: Record
    line: bytes
    provenance: dict[str, Any]


def write_files(release: Release, folder: Path, *, progress: Progress = lambda written: None) -> dict[str, Any]:
    """Write all files of a release into `folder`, which must be absent or empty; returns the manifest.

    The files appear together: they are written beside the folder and moved into place. RuleBroken when the folder
    holds something, or when the files are not those that were frozen.
    """
    if not release.total:
        raise RuleBroken(_("Nothing is frozen in this release yet."), rule="not_frozen")
    folder = folder.absolute()
    refuse_filled(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        manifest = _write(release, beside, progress)
        _refuse_difference(release, manifest)
        beside.chmod(0o755)
        # Replaces an empty folder, and only an empty one.
        os.rename(beside, folder)
    except OSError as error:
        raise RuleBroken(
            _("The files could not be written: %(error)s") % {"error": error.strerror or type(error).__name__},
            rule="not_written",
        ) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return manifest


def refuse_filled(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RuleBroken(_("%(folder)s is not an empty folder.") % {"folder": folder}, rule="folder_not_empty")


def _refuse_difference(release: Release, manifest: dict[str, Any]) -> None:
    """Invariant 10. Files written before are the measure of files written again."""
    frozen = {row["name"]: row["sha256"] for row in release.manifest.get("files", [])}
    differ = [row["name"] for row in manifest["files"] if frozen.get(row["name"], row["sha256"]) != row["sha256"]]
    if differ:
        raise RuleBroken(
            _(
                "%(files)s would differ from the files of this release as they were frozen. Either its stored data were"
                " damaged, or another version of a library writes them now."
            )
            % {"files": ", ".join(differ)},
            rule="files_differ",
        )


def _write(release: Release, folder: Path, progress: Progress) -> dict[str, Any]:
    head = {name: release.manifest[name] for name in formats.MANIFEST_HEAD}
    tally = Tally(Targets.from_json(head["targets"]), formats.lengths_from_json(head["lengths"]))
    with _Files(folder) as files:
        written = 0
        for batch in batches(release):
            files.write(batch)
            for row in batch:
                tally.add(vars(row.record), row.provenance)
            written += len(batch)
            # The next batch is read while this one is written: it must not lie here besides.
            del batch
            progress(written)
    statistics = tally.statistics() | {"release": formats.head_of_statistics(head)}
    (folder / formats.STATISTICS_FILE).write_bytes(formats.pretty(statistics))
    (folder / formats.CARD_FILE).write_text(card.text(head, statistics), encoding="utf-8", newline="\n")
    measured = files.measured()
    described = [measured.get(name) or formats.describe(folder / name) for name in formats.CONTENT_FILES]
    manifest = {**head, "files": described}
    (folder / formats.MANIFEST_FILE).write_bytes(formats.manifest_bytes(manifest))
    return manifest


class _Measured:
    """A file that is measured while it is written, so that nobody has to read it again."""

    def __init__(self, path: Path) -> None:
        self.name, self.size, self.digest = path.name, 0, hashlib.sha256()
        self.file = path.open("wb")

    def write(self, *parts: bytes) -> None:
        for part in parts:
            self.file.write(part)
            self.digest.update(part)
            self.size += len(part)

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "bytes": self.size, "sha256": self.digest.hexdigest()}


class _Files:
    """The files that hold a line per sample. While one batch is compressed, hashed and written by threads, the next one
    is read; there are never more than these two in memory."""

    def __init__(self, folder: Path) -> None:
        self._stack = ExitStack()
        self._streams: list[_Measured] = []
        for name in _STREAMS:
            stream = _Measured(folder / name)
            self._stack.enter_context(stream.file)
            self._streams.append(stream)
        self._parquet = self._stack.enter_context(
            pq.ParquetWriter(folder / formats.PARQUET_FILE, formats.PARQUET_SCHEMA, **formats.PARQUET_OPTIONS)
        )
        self._pool = self._stack.enter_context(ThreadPoolExecutor(len(_STREAMS) + 1))
        self._waiting: list[Future[None]] = []
        self._is_first = True

    def __enter__(self) -> "_Files":
        return self

    def __exit__(self, *error: Any) -> None:
        with self._stack:
            if error[0] is None:
                self._wait()
                self._streams[0].write(formats.JSON_END)

    def write(self, batch: list[Row]) -> None:
        lines = [row.line for row in batch]
        provenance = b"".join(formats.provenance_line(row.provenance) for row in batch)
        columns = {name: [getattr(row.record, name) for row in batch] for name in FIELDS}
        table = pa.table(columns, schema=formats.PARQUET_SCHEMA)
        self._wait()
        submit, (in_json, in_jsonl, in_provenance) = self._pool.submit, self._streams
        begin = formats.JSON_BEGIN if self._is_first else formats.JSON_BETWEEN
        self._is_first = False
        begins = [begin, *repeat(formats.JSON_BETWEEN, len(lines) - 1)]
        self._waiting = [
            submit(lambda: self._parquet.write_table(table, row_group_size=table.num_rows)),
            submit(lambda: in_json.write(*chain.from_iterable(zip(begins, lines, strict=True)))),
            submit(lambda: in_jsonl.write(*chain.from_iterable((line, b"\n") for line in lines))),
            submit(in_provenance.write, provenance),
        ]

    def _wait(self) -> None:
        """Until the batch before is written; what went wrong with it is raised here."""
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            future.result()

    def measured(self) -> dict[str, dict[str, Any]]:
        return {stream.name: stream.describe() for stream in self._streams}


_STREAMS = (formats.JSON_FILE, formats.JSONL_FILE, formats.PROVENANCE_FILE)


def batches(release: Release) -> Iterator[list[Row]]:
    """The release's samples in their order, a few megabytes at a time."""
    ids: list[int] = []
    size, sound = 0, set[int]()
    for pk, _version, length in items_of(release):
        if ids and (size + length > BATCH_BYTES or len(ids) == BATCH_ITEMS):
            yield _load(ids, sound)
            ids, size = [], 0
        ids.append(pk)
        size += length
    if ids:
        yield _load(ids, sound)


def _load(ids: list[int], sound: set[int]) -> list[Row]:
    items = list(ReleaseItem.objects.filter(pk__in=ids).select_related("document_version").order_by("position"))
    versions = {item.document_version_id for item in items}
    texts = dict(DocumentText.objects.filter(version__in=versions).values_list("version_id", "text"))
    records = [_record(item.fields, texts.get(item.document_version_id, "")) for item in items]
    # Before the texts are measured: Python keeps the UTF-8 that is made of them here.
    lines = [to_json_line(record) for record in records]
    for item in items:
        if item.document_version_id not in sound:
            _refuse_damaged(item, texts.get(item.document_version_id, ""))
            sound.add(item.document_version_id)
    return [Row(record, line, item.provenance) for record, line, item in zip(records, lines, items, strict=True)]


def _refuse_damaged(item: ReleaseItem, text: str) -> None:
    if hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != item.document_version.sha256:
        words = _("The stored text of document version %(id)s is not the one that was measured.")
        raise RuleBroken(words % {"id": item.document_version_id}, rule="text_damaged")


def _record(fields: dict[str, Any], context: str) -> Record:
    return Record(**{**fields, "context": context, "answer": tuple(fields["answer"])})
