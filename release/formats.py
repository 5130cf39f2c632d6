"""The files of a release: their names, their order, their bytes. Pure, no database."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmark.lengths import Lengths
from benchmark.record import FIELDS

SCHEMA_VERSION = "1"
VERSION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
PSEUDONYM = re.compile(r"p-[0-9a-f]{8}")
EMAIL = re.compile(r"[^\s@<>\"',;:()/\\]+@[^\s@<>\"',;:()/\\]+\.[^\s@<>\"',;:()/\\.]+")
REMOVED = "[e-mail removed]"

JSON_FILE = "longbench_pro.json"
JSONL_FILE = "longbench_pro.jsonl"
PARQUET_FILE = "longbench_pro.parquet"
CARD_FILE = "README.md"
STATISTICS_FILE = "statistics.json"
PROVENANCE_FILE = "provenance.jsonl"
MANIFEST_FILE = "manifest.json"
CONTENT_FILES = (JSON_FILE, JSONL_FILE, PARQUET_FILE, CARD_FILE, STATISTICS_FILE, PROVENANCE_FILE)
FILES = (*CONTENT_FILES, MANIFEST_FILE)

# The JSON file holds one object per line, so that it can be read back a line at a time.
JSON_BEGIN, JSON_BETWEEN, JSON_END = b"[\n", b",\n", b"\n]\n"

PARQUET_SCHEMA = pa.schema(
    [pa.field(name, pa.list_(pa.string()) if name == "answer" else pa.string(), nullable=False) for name in FIELDS]
)
PARQUET_OPTIONS: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 3,
    "use_dictionary": [name for name in FIELDS if name not in {"id", "context", "answer"}],
}

# What is frozen with the samples, before any file is written; `files` comes when they are.
MANIFEST_HEAD = (
    "version",
    "made_at",
    "schema_version",
    "made_with",
    "lengths",
    "tokenizer",
    "embedder",
    "targets",
    "complete",
    "counts",
    "left_out",
)


PROVENANCE_FIELDS = frozenset(
    {
        "id",
        "source",
        "strategy",
        "simulated",
        "models",
        "question_model",
        "people",
        "dates",
        "rounds",
        "edits",
        "audits",
        "reviews",
        "difficulty",
        "quality",
    }
)
# In the provenance of samples that were imported from a release of another system, and only there.
IMPORTED = "imported"


def without_emails(words: str) -> str:
    return EMAIL.sub(REMOVED, words)


def head_of_statistics(head: Mapping[str, Any]) -> dict[str, Any]:
    """What statistics.json repeats of the manifest, so that a changed manifest does not go unnoticed."""
    return {name: head[name] for name in sorted(MANIFEST_HEAD) if name != "left_out"}


def pretty(value: Mapping[str, Any], *, sort: bool = False) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2, sort_keys=sort) + "\n").encode("utf-8")


def provenance_line(provenance: Mapping[str, Any]) -> bytes:
    return json.dumps(provenance, ensure_ascii=False, sort_keys=True).encode("utf-8") + b"\n"


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """Sorted, because PostgreSQL does not keep the order of a JSON object's names."""
    return pretty(manifest, sort=True)


def describe(path: Path) -> dict[str, Any]:
    """One file's line in the manifest."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest}


def describe_bytes(name: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest's own line, which it cannot hold itself."""
    raw = manifest_bytes(manifest)
    return {"name": name, "bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


def lengths_to_json(lengths: Lengths) -> dict[str, Any]:
    return {
        "targets": list(lengths.targets),
        "unit": lengths.unit,
        "tolerance_percent": lengths.tolerance_percent,
    }


def lengths_from_json(value: Mapping[str, Any]) -> Lengths:
    """KeyError, TypeError or ValueError for another shape."""
    return Lengths(tuple(value["targets"]), value["unit"], value["tolerance_percent"])
