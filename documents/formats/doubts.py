"""Whether what a parser gave is the text that people see, or the waste of a font without a proper character map."""

import re
import unicodedata
from collections import Counter
from typing import Any

from documents.formats.answers import remark

# Glyph numbers that stand for glyphs without a name.
_GLYPHS = re.compile(r"\(cid:\d+\)|/(?:g|gid|cid|uni)[0-9A-Fa-f]{1,5}(?=/|\s|$)|/[GCc]\d{1,4}(?=/|\s|$)")
SHARE = 0.03
# Of the Latin letters of any European text, more than a third are these; in a shifted alphabet far fewer.
FREQUENT = "etaoin"
FREQUENT_SHARE = 0.30
LETTERS_ENOUGH = 500


def doubts_about(text: str) -> list[dict[str, Any]]:
    counts = Counter(text)
    seen = sum(number for letter, number in counts.items() if not letter.isspace())
    if not seen:
        return []
    waste = sum(number for letter, number in counts.items() if _is_waste(letter))
    waste += sum(len(match[0]) for match in _GLYPHS.finditer(text))
    if waste > SHARE * seen or _is_shifted(counts):
        first = next((place for place, letter in enumerate(text) if _is_waste(letter)), None)
        return [remark("suspicious_text", waste, position=first)]
    return []


def _is_waste(letter: str) -> bool:
    return letter == "\ufffd" or (letter not in "\t\n\r\f" and unicodedata.category(letter) in ("Co", "Cn", "Cc"))


def _is_shifted(counts: Counter[str]) -> bool:
    latin = {letter: number for letter, number in counts.items() if letter.isascii() and letter.isalpha()}
    letters = sum(latin.values())
    if letters < LETTERS_ENOUGH:
        return False
    frequent = sum(number for letter, number in latin.items() if letter.lower() in FREQUENT)
    return frequent < FREQUENT_SHARE * letters
