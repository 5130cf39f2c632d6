"""Characters that nobody sees: they turn the direction of writing, or part and join letters in secret."""

import re
import unicodedata
from collections.abc import Iterator

from documents.findings.kinds import Finding, Kind
from documents.findings.sight import Sight

# Soft hyphen, Mongolian vowel separator, zero width space, marks and overrides of direction, word joiner and its
# like, byte-order mark, interlinear annotation, and the tags in which whole messages were hidden.
_HIDDEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]+"
)
# These have their place in words: joining emoji, parting Persian letters, mixing Hebrew with Latin.
_AT_HOME = frozenset("\u061c\u200c\u200d\u200e\u200f")
_FLAG = "\U0001f3f4"


def hidden_in(sight: Sight) -> Iterator[Finding]:
    for start, end in _runs(sight):
        if not _is_at_home(sight.text, start, end):
            yield Finding(Kind.INVISIBLE, start, end)


def _runs(sight: Sight) -> Iterator[tuple[int, int]]:
    if sight.foreign is None:
        yield from (match.span() for match in _HIDDEN.finditer(sight.text))
        return
    last = 0
    for at in sight.foreign:
        match = _HIDDEN.match(sight.text, at) if at >= last else None
        if match:
            last = match.end()
            yield match.span()


def _is_at_home(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    if before == _FLAG:
        return True
    if not set(text[start:end]) <= _AT_HOME:
        return False
    return not (_is_plain(before) and _is_plain(after))


def _is_plain(letter: str) -> bool:
    """A letter of Latin, Greek, Cyrillic or Chinese: no joiner or mark of direction belongs between two of them."""
    if not letter or not letter.isalnum():
        return False
    return ord(letter) < 0x530 or unicodedata.name(letter, "").startswith("CJK UNIFIED")
