"""Writing a release's files from its frozen items: a stream, never all texts in memory, the same bytes every time."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

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
BATCH_BYTES = 8 * 1024 * 1024
BATCH_ITEMS = 64

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Row:
    record: Record
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
    with ExitStack() as stack:
        files = [stack.enter_context((folder / name).open("wb")) for name in _STREAMS]
        parquet = stack.enter_context(
            pq.ParquetWriter(folder / formats.PARQUET_FILE, formats.PARQUET_SCHEMA, **formats.PARQUET_OPTIONS)
        )
        written = 0
        for batch in batches(release):
            _write_batch(batch, files, parquet, first=not written)
            for row in batch:
                tally.add(vars(row.record), row.provenance)
            written += len(batch)
            progress(written)
        files[0].write(formats.JSON_END)
    statistics = tally.statistics() | {"release": formats.head_of_statistics(head)}
    (folder / formats.STATISTICS_FILE).write_bytes(formats.pretty(statistics))
    (folder / formats.CARD_FILE).write_text(card.text(head, statistics), encoding="utf-8", newline="\n")
    manifest = {**head, "files": [formats.describe(folder / name) for name in formats.CONTENT_FILES]}
    (folder / formats.MANIFEST_FILE).write_bytes(formats.manifest_bytes(manifest))
    return manifest


_STREAMS = (formats.JSON_FILE, formats.JSONL_FILE, formats.PROVENANCE_FILE)


def _write_batch(batch: list[Row], files: Sequence[BinaryIO], parquet: Any, *, first: bool) -> None:
    json_file, jsonl_file, provenance_file = files
    for row in batch:
        line = to_json_line(row.record)
        json_file.write(formats.JSON_BEGIN if first else formats.JSON_BETWEEN)
        json_file.write(line)
        jsonl_file.write(line + b"\n")
        provenance_file.write(formats.provenance_line(row.provenance))
        first = False
    columns = {name: [getattr(row.record, name) for row in batch] for name in FIELDS}
    parquet.write_table(pa.table(columns, schema=formats.PARQUET_SCHEMA), row_group_size=len(batch))


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
    for item in items:
        if item.document_version_id not in sound:
            _refuse_damaged(item, texts.get(item.document_version_id, ""))
            sound.add(item.document_version_id)
    return [Row(_record(item.fields, texts[item.document_version_id]), item.provenance) for item in items]


def _refuse_damaged(item: ReleaseItem, text: str) -> None:
    if hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != item.document_version.sha256:
        words = _("The stored text of document version %(id)s is not the one that was measured.")
        raise RuleBroken(words % {"id": item.document_version_id}, rule="text_damaged")


def _record(fields: dict[str, Any], context: str) -> Record:
    return Record(**{**fields, "context": context, "answer": tuple(fields["answer"])})
