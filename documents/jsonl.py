"""Documents in lines of JSONL, and in JSON.

A line of JSONL is an object with `text` and any of the other FIELDS, in UTF-8. There is no field for an id: a document
is known by its text (SHA-256), and gets a number of ours; a field that is not known, or stands there twice, is refused
rather than dropped.

A .json file holds documents, and is taken like JSONL, when it is one object with a text in `text` and no field that is
not known, or a list of objects that all have a text in `text`. Any other .json file is itself the document.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.utils.translation import gettext as _

from core.refusals import Refused, RuleBroken
from documents.decoding import BOMS, decode, refuse_other_kinds
from documents.extracting import MAX_FILE
from documents.formats.asking import read_apart
from documents.intake import MAX_BYTES, MIB, too_large

# A line of JSONL may write each character as \uXXXX.
MAX_LINE = 6 * MAX_BYTES
# A longer line is looked over before it is parsed: outside its texts it has no need of more than this.
LONG_LINE = MIB
MAX_BONES = 10_000

FIELDS: dict[str, type] = {
    "text": str,
    "title": str,
    "language": str,
    "domain": str,
    "format": str,
    "multi": bool,
    "source_url": str,
    "licence": str,
}

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


@dataclass(frozen=True)
class Piece:
    """One text to be: the bytes of a file, or a text with the facts that came with it, or the reason why not."""

    path: str
    data: bytes | None = None
    text: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    refusal: Refused | None = None


def of_lines(name: str, data: bytes) -> Iterator[Piece]:
    """One text per line. A bad line is named and never stops the others; blank lines are passed over."""
    refuse_other_kinds(data)
    for mark, marked in BOMS:
        if data.startswith(mark) and marked != "utf-8":
            words = _("JSONL is read in UTF-8 only; this is %(encoding)s. Save it as UTF-8.")
            raise RuleBroken(words % {"encoding": marked.upper()}, rule="encoding", position=0)
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if not any(line.strip() for line in lines):
        yield Piece(name, refusal=RuleBroken(_("The file holds no line."), rule="empty"))
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _of_line(f"{name}:{number}", number, line)


def of_json(name: str, data: bytes) -> Iterator[Piece]:
    """The documents in it, entry by entry; where it holds none, the file as it is."""
    rows = _rows_of(data)
    if not rows:
        yield Piece(name, data=data)
    for number, row in enumerate(rows, 1):
        yield _of_line(f"{name}:{number}", number, row)


def _rows_of(data: bytes) -> list[bytes]:
    if len(data) > MAX_FILE or data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        return []
    try:
        text = decode(data).text
    except Refused:
        # Whoever reads the file as one document says why, or is told the encoding.
        return []
    if '"text"' not in text:
        return []
    lines = read_apart("rows", text.encode()).text
    return lines.encode().split(b"\n") if lines else []


def _of_line(path: str, number: int, line: bytes) -> Piece:
    try:
        row = _read_line(line)
    except Refused as refusal:
        words = _("Line %(number)s: %(reason)s") % {"number": number, "reason": refusal.message}
        return Piece(path, refusal=RuleBroken(words, rule=refusal.rule, line=number, **refusal.details))
    return Piece(path, text=row.pop("text"), facts=row)


def _read_line(line: bytes) -> dict[str, Any]:
    if len(line) > MAX_LINE:
        raise too_large(len(line))
    if len(line) > LONG_LINE and len(_STRING.sub(b"", line)) > MAX_BONES:
        raise _holds_more()
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise _no_json(line, error) from None
    if not isinstance(row, dict):
        raise RuleBroken(_("a JSON object is expected."), rule="jsonl")
    if "text" not in row:
        raise RuleBroken(_("the field “text” is missing."), rule="jsonl")
    unknown = sorted(set(row) - set(FIELDS))
    if unknown:
        words = _("unknown field “%(field)s”. Known are: %(known)s.")
        raise RuleBroken(words % {"field": unknown[0][:60], "known": ", ".join(FIELDS)}, rule="jsonl")
    for field_name, value in row.items():
        if type(value) is not FIELDS[field_name]:
            words = (
                _("the field “%(field)s” must be a text.")
                if FIELDS[field_name] is str
                else _("the field “%(field)s” must be true or false.")
            )
            raise RuleBroken(words % {"field": field_name}, rule="jsonl")
    _refuse_twice(line)
    return row


def _refuse_twice(line: bytes) -> None:
    """A parser keeps the last of two fields of one name, and nobody knows which was meant."""
    names: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        # An object within a field ends before the line's own.
        names[:] = [name for name, _value in pairs]

    try:
        json.loads(line, object_pairs_hook=note, parse_int=str, parse_float=str)
    except RecursionError:
        raise RuleBroken(
            _("its fields must be texts, or true or false: it holds more than that."), rule="jsonl"
        ) from None
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        words = _("the field “%(field)s” stands there more than once. Keep the one that is meant.")
        raise RuleBroken(words % {"field": twice[0]}, rule="jsonl")


def _holds_more() -> RuleBroken:
    return RuleBroken(_("its fields must be texts, or true or false: it holds more than that."), rule="jsonl")


def _no_json(line: bytes, error: orjson.JSONDecodeError) -> RuleBroken:
    """What is wrong with a line, as far as it can be told, and where."""
    try:
        line.decode()
    except UnicodeDecodeError as broken:
        words = _("not UTF-8 at byte %(position)s of the line. Save the file as UTF-8.") % {"position": broken.start}
        return RuleBroken(words, rule="jsonl", position=broken.start)
    place = {"position": error.pos}
    if "surrogate" in error.msg:
        words = _("half of a surrogate pair at character %(position)s, which no text may hold.") % place
        return RuleBroken(words, rule="jsonl", position=error.pos)
    if "depth" in error.msg or "recursion" in error.msg:
        words = _("nested too deeply at character %(position)s.") % place
        return RuleBroken(words, rule="jsonl", position=error.pos)
    return RuleBroken(_("not valid JSON at character %(position)s.") % place, rule="jsonl", position=error.pos)
