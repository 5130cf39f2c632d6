"""Making one text out of another: trimmed at a paragraph's end, or joined with visible headings."""

import re
from collections.abc import Sequence

from documents.tokenizing import count_tokens, decode, encode

_PARAGRAPH_END = re.compile(r"\n[ \t\u3000]*\n+")
_LINE_END = re.compile(r"\n+")


def trimmed(text: str, tokens: int) -> str | None:
    """The longest beginning of whole paragraphs with at most `tokens` tokens; None when not one paragraph fits.

    A paragraph ends at a blank line; in a text without blank lines, at the end of a line.
    """
    ends = _ends(text, _PARAGRAPH_END) or _ends(text, _LINE_END)
    reach = len(decode(encode(text)[:tokens]))
    for end in reversed([end for end in ends if end <= reach]):
        beginning = text[:end].rstrip("\n") + "\n"
        # Counted anew: the cut can change how its last characters are split.
        if beginning.strip() and count_tokens(beginning) <= tokens:
            return beginning
    return None


def _ends(text: str, boundary: re.Pattern[str]) -> list[int]:
    return [match.end() for match in boundary.finditer(text)]


def joined(parts: Sequence[tuple[str, str]]) -> str:
    """Several texts in one, each under a heading with its number and title."""
    return "\n".join(
        f"==== {number}. {' '.join(title.split())} ====\n\n{text.rstrip(chr(10))}\n"
        for number, (title, text) in enumerate(parts, 1)
    )
