"""No mixing of Chinese and English punctuation in a prompt's parts.

English text holds no full-width mark; in Chinese text no ASCII mark stands between Chinese characters. Curly quotes
are always allowed. Code, addresses and quoted source text are exempt; so are numbers and identifiers, whose marks
either stand beside ASCII characters or belong to an element given as `identifiers`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from benchmark.elements import HAN

CHINESE_CHARACTER = f"[{HAN}\u3001-\u303f\uff01-\uff60]"
FULL_WIDTH = re.compile("[\u3001-\u3002\u3008-\u3011\uff01-\uff5e]+")
ASCII_BETWEEN_CHINESE = re.compile(f"(?<={CHINESE_CHARACTER})[,;:?!().](?={CHINESE_CHARACTER})")
# Nothing but white space, or the end of the line, lies between the mark and Chinese text: mixed too, but less surely.
ASCII_BESIDE_CHINESE = re.compile(f"(?<={CHINESE_CHARACTER})[,;:?!]\\s+(?={CHINESE_CHARACTER})")
QUOTED = (
    r"```.*?```|`[^`\n]*`|“[^“”]*”|‘[^‘’\n]*’(?!\w)|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)"
    r"|\b[A-Za-z][A-Za-z0-9+.-]*://[^\s，。；、“”《》]*"
)
CHINESE_QUOTED = QUOTED + r"|「[^「」]*」|『[^『』]*』|《[^《》]*》|〈[^〈〉]*〉|\b[A-Za-z_][A-Za-z0-9_.]*\([^()\n]*\)"
EXEMPT_IN_ENGLISH = re.compile(QUOTED, re.DOTALL)
EXEMPT_IN_CHINESE = re.compile(CHINESE_QUOTED, re.DOTALL | re.ASCII)

TO_HALF = {
    "、": ",", "。": ".", "〈": "‘", "〉": "’", "《": "“", "》": "”", "「": "“", "」": "”", "『": "“", "』": "”",
    "【": "[", "】": "]",
}  # fmt: skip
TO_FULL = {",": "，", ";": "；", ":": "：", "?": "？", "!": "！", "(": "（", ")": "）", ".": "。"}
SPACE_AFTER = frozenset(",.;:!?)]”’")
SPACE_BEFORE = frozenset("([“‘")


@dataclass(frozen=True)
class Swap:
    """The code points `start` to `end` become `text`."""

    start: int
    end: int
    text: str


def mixed_in_english(text: str, *, identifiers: Iterable[str] = ()) -> list[tuple[int, int]]:
    """Where runs of full-width marks stand outside what is exempt: (start, end) code points, half-open, ascending."""
    return _outside(text, FULL_WIDTH, EXEMPT_IN_ENGLISH, identifiers)


def mixed_in_chinese(text: str, *, identifiers: Iterable[str] = ()) -> list[tuple[int, int]]:
    """Where an ASCII , ; : ? ! ( ) . has a Chinese character on both sides, outside what is exempt."""
    return _outside(text, ASCII_BETWEEN_CHINESE, EXEMPT_IN_CHINESE, identifiers)


def loose_in_chinese(text: str, *, identifiers: Iterable[str] = ()) -> list[tuple[int, int]]:
    """Where an ASCII mark and white space stand between Chinese characters; the place holds the white space too."""
    return _outside(text, ASCII_BESIDE_CHINESE, EXEMPT_IN_CHINESE, identifiers)


def exempt_spans(text: str, *, english: bool) -> list[tuple[int, int]]:
    """Code, addresses and quoted source text."""
    return [match.span() for match in (EXEMPT_IN_ENGLISH if english else EXEMPT_IN_CHINESE).finditer(text)]


def _outside(
    text: str, mark: re.Pattern[str], exempt: re.Pattern[str], identifiers: Iterable[str]
) -> list[tuple[int, int]]:
    kept = bytearray(len(text))
    for match in exempt.finditer(text):
        kept[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    for identifier in filter(None, identifiers):
        for match in re.finditer(re.escape(identifier), text):
            kept[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    return [match.span() for match in mark.finditer(text) if not all(kept[match.start() : match.end()])]


def without_exempt(text: str, *, english: bool) -> str:
    """The text without code and quoted source text."""
    return (EXEMPT_IN_ENGLISH if english else EXEMPT_IN_CHINESE).sub(" ", text)


# The other width ----------------------------------------------------------------------------------------------


def half_width(text: str, start: int, end: int) -> Swap:
    """The marks as English has them, with the space that English sets beside them."""
    marks = "".join(TO_HALF.get(mark) or chr(ord(mark) - 0xFEE0) for mark in text[start:end])
    before, after = text[:start][-1:], text[end:][:1]
    if marks[0] in SPACE_BEFORE and before and (before.isalnum() or before in SPACE_AFTER):
        marks = " " + marks
    if marks[-1] in SPACE_AFTER and after and (after.isalnum() or after in SPACE_BEFORE):
        marks += " "
    return Swap(start, end, marks)


def full_width(text: str, start: int, end: int) -> Swap:
    """The mark as Chinese has it, without white space after it; of brackets, both."""
    mark = text[start]
    partner = _partner(text, start)
    if partner is not None:
        left, right = sorted((start, partner))
        return Swap(left, right + 1, "（" + text[left + 1 : right] + "）")
    rest = "" if text[start + 1 : end].isspace() and "\n" not in text[start:end] else text[start + 1 : end]
    return Swap(start, end, TO_FULL[mark] + rest)


def _partner(text: str, at: int) -> int | None:
    if text[at] == "(":
        found = text.find(")", at)
        return None if found < 0 or "(" in text[at + 1 : found] else found
    if text[at] == ")":
        found = text.rfind("(", 0, at)
        return None if found < 0 or ")" in text[found:at] else found
    return None
