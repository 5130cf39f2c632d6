"""The only JSON object of a reply, whatever prose or fence stands around it."""

import json
import re
from typing import Any

from generation.replies.faults import Fault, FaultClass


class _DuplicateKeyError(ValueError):
    pass


class _NoNumberError(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _DuplicateKeyError
    return found


def _no_number(name: str) -> None:
    raise _NoNumberError(name)


# Line breaks inside strings are let through: nothing has to be invented to read them.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number, strict=False)
_OPENING = re.compile(r'\{(?=\s*["}])|\[')
_ARRAY_OF_OBJECTS = re.compile(r"\[\s*\{")
_MOST_OPENINGS = 200


def one_object(text: str) -> tuple[dict[str, Any] | None, Fault | None]:
    """The object, or what is wrong."""
    objects: list[dict[str, Any]] = []
    position = 0
    for _ in range(_MOST_OPENINGS):
        opening = _OPENING.search(text, position)
        if opening is None:
            break
        start = opening.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
        except _DuplicateKeyError:
            return None, Fault(FaultClass.DUPLICATE_KEY, "a key stands twice in one object")
        except json.JSONDecodeError as error:
            if text[start] == "[" and not _ARRAY_OF_OBJECTS.match(text, start):
                position = start + 1  # a bracket in prose
                continue
            return None, _syntax_fault(text, error)
        except (ValueError, RecursionError):
            return None, Fault(FaultClass.NOT_JSON, "the JSON holds a number or a nesting that cannot be read")
        if isinstance(value, list):
            if any(isinstance(entry, dict) for entry in value):
                return None, Fault(FaultClass.ARRAY, "the reply is an array; one object with the key drafts is needed")
        elif value:
            objects.append(value)
    if len(objects) > 1:
        return None, Fault(FaultClass.SEVERAL_OBJECTS, f"the reply holds {len(objects)} JSON objects; one is needed")
    if not objects:
        return None, Fault(FaultClass.NOT_JSON, "there is no JSON object in the reply")
    return objects[0], None


def _syntax_fault(text: str, error: json.JSONDecodeError) -> Fault:
    rest = text[error.pos :].strip().strip("`").strip()
    if error.msg.startswith("Unterminated string") or not rest:
        return Fault(FaultClass.TRUNCATED, "the JSON breaks off before its end")
    before = text[: error.pos].rstrip()
    if error.msg.startswith("Expecting") and before.endswith('"') and rest[0] not in "\"{}[]:,'":
        return Fault(
            FaultClass.UNESCAPED_QUOTE,
            f'a quotation mark inside a string is not escaped near character {error.pos}; write it as \\"',
        )
    return Fault(FaultClass.NOT_JSON, f"the JSON cannot be read near character {error.pos}: {error.msg}")
