"""Where the quotes of a candidate's solution stand in the document that its sample is pinned to.

Drafting searched the text it was given and kept the places. When the sample has moved to another version the quotes
are searched anew, up to 50 ms each in a long text, so the places are kept in the cache by draft and text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache

from annotation.models import Candidate
from documents import queries as documents
from generation.evidence import find_quote

KEPT_SECONDS = 30 * 24 * 3600


@dataclass(frozen=True)
class Proof:
    """One step of the solution and where its quote stands in the document as it is now pinned."""

    step: str
    quote: str
    kind: str
    start: int | None
    end: int | None
    percent: int

    @property
    def is_found(self) -> bool:
        return self.start is not None


def proofs_of(candidate: Candidate) -> tuple[Proof, ...]:
    """The solution with the places of its quotes. Searched anew on another document version."""
    known = known_proofs([candidate]).get(candidate.pk)
    if known is not None:
        return known
    text = documents.text_of(candidate.sample.document_version)
    placed = [{**item, **_placed(text, item.get("quote", ""))} for item in candidate.draft.solution]
    cache.set(_key(candidate), placed, KEPT_SECONDS)
    return tuple(_proof(item) for item in placed)


def known_proofs(candidates: Sequence[Candidate]) -> dict[int, tuple[Proof, ...]]:
    """By candidate, the same without a search; left out is what would need one."""
    moved = [one for one in candidates if one.draft.call.document_version_id != one.sample.document_version_id]
    kept = cache.get_many([_key(one) for one in moved]) if moved else {}
    found: dict[int, list[dict[str, Any]]] = {one.pk: one.draft.solution for one in candidates}
    for one in moved:
        del found[one.pk]
        if _key(one) in kept:
            found[one.pk] = kept[_key(one)]
    return {pk: tuple(_proof(item) for item in solution) for pk, solution in found.items()}


def _key(candidate: Candidate) -> str:
    return f"proofs:{candidate.draft_id}:{candidate.sample.document_version.sha256}"


def _placed(text: str, quote: str) -> dict[str, Any]:
    found = find_quote(text, quote)
    return {"kind": found.kind.value, "start": found.start, "end": found.end, "score": found.score}


def _proof(item: dict[str, Any]) -> Proof:
    return Proof(
        item.get("step", ""),
        item.get("quote", ""),
        item.get("kind", "missing"),
        item.get("start"),
        item.get("end"),
        round(100 * float(item.get("score") or 0)),
    )
