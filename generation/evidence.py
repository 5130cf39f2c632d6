"""Finding the passages that a solution quotes.

Three looks, each only when the one before failed: the quote as it stands; the quote with white space, quotation
marks, full and half width, case and light mark-up taken as equal; and a fuzzy look, anchored by short pieces of the
quote that do stand in the document. Positions are code points, half-open, in the text that was given.

A quote that is not found is a hint of invention. The search is therefore bounded: a missing quote in a document of
a million characters must not cost the reader half a second.
"""

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from itertools import islice

FUZZY_THRESHOLD = 0.85
_LONGEST_FUZZY_QUOTE = 800  # longer quotes are placed by their two ends
_PIECES = 48
_PLACES_PER_PIECE = 40
_CANDIDATES = 4


class EvidenceKind(StrEnum):
    EXACT = "exact"
    NORMALISED = "normalised"
    FUZZY = "fuzzy"
    MISSING = "missing"


@dataclass(frozen=True)
class Evidence:
    """Where a quote stands: [start, end) in code points; both None when it is missing. `score` is 1.0 for exact."""

    kind: EvidenceKind
    start: int | None
    end: int | None
    score: float

    @property
    def found(self) -> bool:
        return self.kind is not EvidenceKind.MISSING


def find_quote(text: str, quote: str) -> Evidence:
    """Find `quote` in `text`; the first place wins."""
    wanted = quote.strip()
    if not wanted:
        return Evidence(EvidenceKind.MISSING, None, None, 0.0)
    start = text.find(wanted)
    if start >= 0:
        return Evidence(EvidenceKind.EXACT, start, start + len(wanted), 1.0)
    return _normalised(text, wanted) or _fuzzy(text, wanted)


# --- the second look -------------------------------------------------------------------------------------------------

_DOUBLE_QUOTES = "“”„‟«»「」『』〝〞″＂"
_SINGLE_QUOTES = "‘’‚‛‹›′＇`´"
_DASHES = "‐‑‒–—―−"


def _folding_table() -> dict[int, str]:
    """One character for one character, so that places in the folded text are places in the text."""
    table = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    table |= {code: chr(code).lower() for code in range(0x41, 0x250) if len(chr(code).lower()) == 1}
    table |= {code: chr(code).lower() for code in range(0x370, 0x530) if len(chr(code).lower()) == 1}
    table |= {code: chr(code - 0xFEE0).lower() for code in range(0xFF21, 0xFF3B)}
    table |= {ord(mark): '"' for mark in _DOUBLE_QUOTES} | {ord(mark): "'" for mark in _SINGLE_QUOTES}
    table |= {ord(mark): "-" for mark in _DASHES}
    table |= {ord("。"): ".", ord("、"): ",", 0x3000: " ", 0xA0: " ", 0x2028: " ", 0x2029: " "}
    return table


_FOLDING = _folding_table()
_TOKEN = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]|[^\W_]+|[^\s\w]", re.UNICODE)
_GAP = r"[\s*_]*"
_HEAD = 16
_BEGINNINGS = 200


@lru_cache(maxsize=2)
def _folded(text: str) -> str:
    return text.translate(_FOLDING)


def _pieces(quote: str) -> list[str]:
    """Patterns of the tokens: words need white space between them, the rest may touch or be broken over lines."""
    pieces: list[str] = []
    end, before = 0, ""
    for token in _TOKEN.finditer(quote):
        word = token.group()
        if word in "*_":
            continue
        apart = token.start() > end and quote[end : token.start()].strip("*_") != ""
        words = before[-1:].isalnum() and word[0].isalnum()
        wide = bool(before) and (ord(word[0]) >= 0x2E80 or ord(before[-1]) >= 0x2E80)
        gap = "" if not before else r"[\s*_]+" if apart and words and not wide else _GAP
        pieces.append(gap + re.escape(word))
        end, before = token.end(), word
    return pieces


def _normalised(text: str, quote: str) -> Evidence | None:
    folded = _folded(text)
    for wanted in dict.fromkeys((quote.translate(_FOLDING), quote.translate(_FOLDING).strip("\"'.-…*_ \n"))):
        found = _search(folded, _pieces(wanted))
        if found:
            return Evidence(EvidenceKind.NORMALISED, found[0], found[1], 1.0)
    return None


def _search(folded: str, pieces: list[str]) -> tuple[int, int] | None:
    """Look for the first tokens everywhere, for the rest only after them: a text that repeats itself stays cheap."""
    if not pieces:
        return None
    head, rest = re.compile("".join(pieces[:_HEAD])), re.compile("".join(pieces[_HEAD:]))
    for beginning in islice(head.finditer(folded), _BEGINNINGS):
        end = rest.match(folded, beginning.end())
        if end:
            return beginning.start(), end.end()
    return None


# --- the third look --------------------------------------------------------------------------------------------------


def _fuzzy(text: str, quote: str) -> Evidence:
    missing = Evidence(EvidenceKind.MISSING, None, None, 0.0)
    folded, wanted = _folded(text), quote.translate(_FOLDING)
    if len(wanted) <= _LONGEST_FUZZY_QUOTE:
        return _closest(folded, wanted) or missing
    half = _LONGEST_FUZZY_QUOTE // 2
    head, tail = _closest(folded, wanted[:half]), _closest(folded, wanted[-half:])
    if head is None or tail is None or head.start is None or tail.end is None:
        return missing
    length = tail.end - head.start
    if not 0.7 * len(wanted) <= length <= 1.3 * len(wanted):
        return missing
    return Evidence(EvidenceKind.FUZZY, head.start, tail.end, min(head.score, tail.score))


def _closest(folded: str, wanted: str) -> Evidence | None:
    best: Evidence | None = None
    for diagonal in _diagonals(folded, wanted):
        margin = max(12, len(wanted) // 5)
        left = max(0, diagonal - margin)
        found = _compare(folded[left : diagonal + len(wanted) + margin], wanted, left)
        if found and (best is None or found.score > best.score):
            best = found
    return best


def _diagonals(folded: str, wanted: str) -> list[int]:
    """Likely beginnings: pieces of the quote vote for where the quote would begin if they were part of it."""
    size = 4 if sum(ord(mark) >= 0x2E80 for mark in wanted) * 2 > len(wanted) else 8
    size = max(2, min(size, len(wanted) // 3))
    step = max(1, (len(wanted) - size) // _PIECES + 1)
    votes: Counter[int] = Counter()
    bucket = max(16, len(wanted) // 8)
    for offset in range(0, len(wanted) - size + 1, step):
        piece = wanted[offset : offset + size]
        if not piece.strip():
            continue
        place = folded.find(piece)
        for _ in range(_PLACES_PER_PIECE):
            if place < 0:
                break
            votes[(place - offset) // bucket] += 1
            place = folded.find(piece, place + 1)
    return [max(0, key * bucket + bucket // 2) for key, _ in votes.most_common(_CANDIDATES)]


def _compare(window: str, wanted: str, left: int) -> Evidence | None:
    matcher = SequenceMatcher(None, window, wanted, autojunk=False)
    if matcher.real_quick_ratio() * 2 < FUZZY_THRESHOLD:
        return None
    blocks = [block for block in matcher.get_matching_blocks() if block.size >= 2]
    if not blocks:
        return None
    start, end = blocks[0].a, blocks[-1].a + blocks[-1].size
    score = 2 * sum(block.size for block in blocks) / (len(wanted) + end - start)
    if score < FUZZY_THRESHOLD:
        return None
    return Evidence(EvidenceKind.FUZZY, left + start, left + end, score)
