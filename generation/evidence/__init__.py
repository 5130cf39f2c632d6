"""Finding the passages that a solution quotes.

Three looks, each only when the one before failed: the quote as it stands; the quote where white space, line breaks,
hyphens, quotation marks, full and half width, case and light mark-up are taken as equal; and a fuzzy look with a
stated similarity. Positions are code points, half-open, in the text that was given.

A quote that is not found is a hint of invention. The search is therefore bounded: 50 ms for a quote in a document of
256k tokens, found or not, the first reading of the document included.
"""

from dataclasses import dataclass
from enum import StrEnum

from generation.evidence.aligning import FUZZY_THRESHOLD, closest
from generation.evidence.squeezing import Squeezed, squeeze, squeezed

__all__ = ["FUZZY_THRESHOLD", "Evidence", "EvidenceKind", "find_quote"]

# So often at most are the same letters tried with other gaps between their words.
MOST_PLACES = 200
_EDGES = "\"'.-…*_"


class EvidenceKind(StrEnum):
    EXACT = "exact"
    NORMALISED = "normalised"
    FUZZY = "fuzzy"
    MISSING = "missing"


@dataclass(frozen=True)
class Evidence:
    """Where a quote stands: [start, end) in code points; both None when it is missing.

    `score` is 1.0 for the first two kinds, 0.0 for the last, and for a fuzzy one the similarity: the share of
    characters, white space left out, that need not be changed to turn the one into the other.
    """

    kind: EvidenceKind
    start: int | None
    end: int | None
    score: float

    @property
    def found(self) -> bool:
        return self.kind is not EvidenceKind.MISSING


MISSING = Evidence(EvidenceKind.MISSING, None, None, 0.0)


def find_quote(text: str, quote: str) -> Evidence:
    """Find `quote` in `text`; the first place wins, in a fuzzy look the most similar one."""
    wanted = quote.strip()
    if not wanted:
        return MISSING
    start = text.find(wanted)
    if start >= 0:
        return Evidence(EvidenceKind.EXACT, start, start + len(wanted), 1.0)
    document, needle = squeezed(text), squeeze(wanted)
    return _normalised(document, needle) or _fuzzy(document, needle) or MISSING


def _normalised(document: Squeezed, needle: Squeezed) -> Evidence | None:
    """Also without what may frame a quote: quotation marks, a full stop, an ellipsis."""
    for wanted in (needle, needle.trimmed(_EDGES)):
        place = _place(document, wanted)
        if place is not None:
            start, end = document.span(place, place + len(wanted))
            return Evidence(EvidenceKind.NORMALISED, start, end, 1.0)
    return None


def _place(document: Squeezed, wanted: Squeezed) -> int | None:
    if not wanted.letters:
        return None
    place = document.letters.find(wanted.letters)
    for _ in range(MOST_PLACES):
        if place < 0:
            return None
        if document.has_gaps_of(wanted, place):
            return place
        place = document.letters.find(wanted.letters, place + 1)
    return None


def _fuzzy(document: Squeezed, needle: Squeezed) -> Evidence | None:
    found = closest(document, needle)
    if found is None:
        return None
    start, end = document.span(found.start, found.end)
    return Evidence(EvidenceKind.FUZZY, start, end, found.similarity)
