"""Picking what a question is asked about: terms with wanted counts, labelled options, altered passages."""

from collections.abc import Callable, Iterable, Sequence

from generation.demo.asking import Draw
from generation.demo.text import Document, Part

MOST_TRIES = 160


def apart(term: str, others: Iterable[str]) -> bool:
    """No term is another one, or inside another one: their places would coincide."""
    low = term.lower()
    return all(low not in other.lower() and other.lower() not in low for other in others)


def terms_where(draw: Draw, count: int, fits: Callable[[str, list[str]], bool], source: Sequence[str]) -> list[str]:
    """Up to `count` terms of `source`, in a random order, that fit beside those already taken."""
    taken: list[str] = []
    for term in draw.chance.shuffled(source)[:MOST_TRIES]:
        if len(taken) == count:
            break
        if apart(term, taken) and fits(term, taken):
            taken.append(term)
    return taken


def known_terms(document: Document, low: int = 1, high: int = 1_000_000, most: int = 1_500) -> list[str]:
    """Terms whose first count lies in [low, high], the frequent ones first; isolated ones only when asked for."""
    counted = document.terms.most_common()
    if low == 1 and high > 1 and len(counted) > 400:
        low = 2
    return [term for term, number in counted if low <= number <= high][:most]


def terms_at_places(draw: Draw, count: int, part: Part | None = None) -> list[str]:
    """Terms that stand in the document (or the part), at places of their own."""
    document = draw.document
    source = [term for term, _ in document.terms_in(part).most_common()] if part else known_terms(document)
    return terms_where(draw, count, lambda term, _: document.stands(term, part), source)


def terms_with_counts(draw: Draw, count: int, part: Part | None = None) -> list[str]:
    """Terms no two of which occur equally often."""
    document = draw.document

    def differs(term: str, taken: list[str]) -> bool:
        number = document.count(term, part)
        return number > 0 and all(number != document.count(other, part) for other in taken)

    return terms_where(draw, count, differs, known_terms(document, most=400))


def inside_and_outside(draw: Draw, part: Part, inside: int, outside: int) -> tuple[list[str], list[str]]:
    """Terms that stand in the part, and terms of the document that do not."""
    document = draw.document
    within = terms_where(draw, inside, lambda term, _: document.stands(term, part), list(document.terms_in(part)))

    def absent(term: str, taken: list[str]) -> bool:
        return apart(term, within) and not document.stands(term, part) and document.stands(term)

    return within, terms_where(draw, outside, absent, known_terms(document, most=800))


def lettered(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{chr(65 + place)}. {text}" for place, text in enumerate(texts))


def numbered(texts: Sequence[str], label: str) -> tuple[str, ...]:
    return tuple(f"{label}{place}. {text}" for place, text in enumerate(texts, start=1))


def altered(draw: Draw, passage: str) -> str:
    """The passage with one word near its middle replaced by another word of the document; not in the document."""
    document = draw.document
    for _ in range(8):
        candidate = _with_word_replaced(draw, passage)
        if candidate and candidate != passage and candidate not in document.text:
            return candidate
    return ""


def _with_word_replaced(draw: Draw, passage: str) -> str:
    words = passage.split(" ")
    terms = known_terms(draw.document, most=300)
    if not terms:
        return ""
    other = draw.chance.pick(terms)
    if len(words) >= 4:
        place = draw.chance.between(len(words) // 3, max(len(words) // 3, 2 * len(words) // 3 - 1))
        bare = words[place].strip(".,;:!?()'’")
        if not bare or bare.lower() == other.lower():
            return ""
        words[place] = words[place].replace(bare, other)
        return " ".join(words)
    third = max(1, len(passage) // 3)
    place = draw.chance.between(third, max(third, 2 * third - 2))
    size = min(len(other), 2)
    return passage[:place] + other + passage[place + size :]
