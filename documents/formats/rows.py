"""JSON that holds documents, made into lines of JSONL; see `documents.jsonl` for which that is."""

import json
import math
from typing import Any

from documents.formats.answers import Answer

FIELDS = frozenset(["text", "title", "language", "domain", "format", "multi", "source_url", "licence"])


def read(data: bytes, until: float = math.inf) -> Answer:
    """`data` is UTF-8. An empty answer: this file holds no documents, its own text is one."""
    try:
        value = json.loads(data, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return Answer("")
    rows = documents_in(value)
    # ASCII only: half a surrogate pair stays visible to the check of each line.
    return Answer("\n".join(map(_line, rows)))


def documents_in(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value] if _is_document(value) and not set(value) - FIELDS else []
    if isinstance(value, list) and all(map(_is_document, value)):
        return value
    return []


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("text"), str)


class _Twice(dict[str, Any]):
    """An object in which a name stands more than once: the check of each line has to see that."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    return row if len(row) == len(pairs) else _Twice(pairs)


def _line(row: dict[str, Any]) -> str:
    if isinstance(row, _Twice):
        return "{" + ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in row.pairs) + "}"
    return json.dumps(row)
