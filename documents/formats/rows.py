"""JSON that holds documents, made into lines of JSONL; see `documents.unpacking` for which that is."""

import json
import math
from typing import Any

from documents.formats.answers import Answer

FIELDS = frozenset(["text", "title", "language", "domain", "format", "multi", "source_url", "licence"])


def read(data: bytes, until: float = math.inf) -> Answer:
    """`data` is UTF-8. An empty answer: this file holds no documents, its own text is one."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return Answer("")
    rows = documents_in(value)
    # ASCII only: half a surrogate pair stays visible to the check of each line.
    return Answer("\n".join(json.dumps(row) for row in rows))


def documents_in(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value] if _is_document(value) and not set(value) - FIELDS else []
    if isinstance(value, list) and all(map(_is_document, value)):
        return value
    return []


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("text"), str)
