"""No mixing of Chinese and English punctuation in a prompt's parts.

English text holds no full-width mark; in Chinese text no ASCII mark stands between Chinese characters. Curly quotes
are always allowed. Code and quoted source text are exempt; so are numbers and identifiers, whose marks either stand
beside ASCII characters or belong to an element given as `identifiers`.
"""

import re
from collections.abc import Iterable

from benchmark.elements import HAN

CHINESE_CHARACTER = f"[{HAN}\u3001-\u303f\uff01-\uff60]"
FULL_WIDTH = re.compile("[\u3001-\u3002\u3008-\u3011\uff01-\uff5e]+")
ASCII_BETWEEN_CHINESE = re.compile(f"(?<={CHINESE_CHARACTER})[,;:?!().](?={CHINESE_CHARACTER})")
QUOTED = r"```.*?```|`[^`\n]*`|“[^“”]*”|‘[^‘’\n]*’(?!\w)|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)"
CHINESE_QUOTED = QUOTED + "|「[^「」]*」|『[^『』]*』"
EXEMPT_IN_ENGLISH = re.compile(QUOTED, re.DOTALL)
EXEMPT_IN_CHINESE = re.compile(CHINESE_QUOTED, re.DOTALL)


def mixed_in_english(text: str, *, identifiers: Iterable[str] = ()) -> list[tuple[int, int]]:
    """Where runs of full-width marks stand outside what is exempt: (start, end) code points, half-open, ascending."""
    return _outside(text, FULL_WIDTH, EXEMPT_IN_ENGLISH, identifiers)


def mixed_in_chinese(text: str, *, identifiers: Iterable[str] = ()) -> list[tuple[int, int]]:
    """Where an ASCII , ; : ? ! ( ) . has a Chinese character on both sides, outside what is exempt."""
    return _outside(text, ASCII_BETWEEN_CHINESE, EXEMPT_IN_CHINESE, identifiers)


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
