"""The documented normalisation of a text on its way in, and nothing else; every change is counted.

1. A byte-order mark at the beginning is removed.
2. Line ends (CRLF, CR, and NEL, which is CR+LF in one character) become LF.
3. A form feed becomes a newline.
4. Every other control character (C0, DEL, C1; tab and LF stay) is removed.

No Unicode normal form is applied, no space is trimmed, no invisible character taken away.
"""

import re
from dataclasses import dataclass

_LINE_ENDS = re.compile("\r\n?|\x85")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f]")


# The same, as bytes of UTF-8: all that the rules above take away or change.
_ONE_BYTE = bytes([*range(0x09), *range(0x0B, 0x20), 0x7F])
_TWO_BYTES = re.compile(b"\xc2[\x80-\x9f]")


@dataclass(frozen=True)
class Normalised:
    text: str
    # How often each rule was applied: only what was applied is there.
    counts: dict[str, int]


def normalise(text: str, *, had_bom: bool = False) -> Normalised:
    if not had_bom and not _has_what_changes(text):
        return Normalised(text, {})
    counts = {"bom": int(had_bom)}
    if text.startswith("\ufeff"):
        text = text[1:]
        counts["bom"] += 1
    # To look for one letter takes a tenth of the time of an expression, and most texts have neither.
    if "\r" in text or "\x85" in text:
        text, counts["line_ends"] = _LINE_ENDS.subn("\n", text)
    counts["form_feeds"] = text.count("\f")
    text, counts["controls"] = _CONTROLS.subn("", text.replace("\f", "\n"))
    return Normalised(text, {rule: count for rule, count in counts.items() if count})


def _has_what_changes(text: str) -> bool:
    """Most texts have nothing of it, which bytes tell several times as fast as the rules."""
    data = text.encode("utf-8", "surrogatepass")
    return (
        text.startswith("\ufeff")
        or len(data.translate(None, _ONE_BYTE)) != len(data)
        or _TWO_BYTES.search(data) is not None
    )
