"""The parts of a draft, each of its type and within its length."""

from typing import Any

from generation.prompts import clean_text
from generation.replies.faults import FaultClass

LONGEST = {"question": 8_000, "elements": 400, "rationale": 20_000, "option": 4_000, "answer": 8_000, "step": 8_000}
MOST = {"options": 200, "answer": 2_000, "solution": 200}


class FaultyError(Exception):
    """A draft that cannot be used, and why."""

    def __init__(self, kind: FaultClass, detail: str) -> None:
        super().__init__(detail)
        self.kind, self.detail = kind, detail


def part(entry: dict[str, Any], name: str) -> object:
    value = entry.get(name)
    if value is None:
        raise FaultyError(FaultClass.MISSING_PART, f"{name} is missing")
    return value


def as_text(value: object, name: str, longest: int, *, may_be_blank: bool = False) -> str:
    if not isinstance(value, str):
        raise FaultyError(FaultClass.WRONG_TYPE, f"{name} is not a string")
    # Escapes such as \\u0000 or \\ud800 only become characters when the JSON is read.
    text = clean_text(value).strip()
    if not text and not may_be_blank:
        raise FaultyError(FaultClass.MISSING_PART, f"{name} is empty")
    if len(text) > longest:
        raise FaultyError(FaultClass.TOO_LONG, f"{name} has {len(text)} characters; at most {longest} are taken")
    return text


def string(entry: dict[str, Any], name: str) -> str:
    return as_text(part(entry, name), name, LONGEST[name])


def listed(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise FaultyError(FaultClass.WRONG_TYPE, f"{name} is not a list")
    if len(value) > MOST[name]:
        raise FaultyError(FaultClass.TOO_LONG, f"{name} has {len(value)} entries; at most {MOST[name]} are taken")
    return value


def strings(entry: dict[str, Any], name: str, limit: str) -> tuple[str, ...]:
    entries = listed(part(entry, name), name)
    if not entries:
        raise FaultyError(FaultClass.MISSING_PART, f"{name} is empty")
    return tuple(as_text(value, f"an entry of {name}", LONGEST[limit]) for value in entries)
