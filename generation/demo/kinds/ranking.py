"""Questions answered by a ranked list (NDCG) or a complete order (pairwise)."""

from dataclasses import replace

from generation.demo.asking import NDCG, PAIRWISE, Asked, Draw, Kind
from generation.demo.picking import (
    inside_and_outside,
    known_terms,
    lettered,
    terms_at_places,
    terms_where,
    terms_with_counts,
)
from generation.demo.text import CHINESE, ENGLISH, Document, Part

# --- making ----------------------------------------------------------------------------------------------------------


def _make_threshold(draw: Draw) -> Asked | None:
    """Some terms reach the threshold, others do not; no two occur equally often."""
    terms = terms_with_counts(draw, draw.chance.between(6, 8))
    if len(terms) < 3:
        return None
    counts = sorted((draw.document.count(term) for term in terms), reverse=True)
    reached = draw.chance.between(2, max(2, min(len(terms) - 1, 5)))
    return Asked(terms=tuple(draw.chance.shuffled(terms)), n=counts[reached - 1])


def _make_threshold_places(draw: Draw) -> Asked | None:
    document = draw.document
    few = terms_where(draw, 3, lambda term, _: document.count(term) == 1, known_terms(document, 1, 1))
    many = terms_where(
        draw,
        draw.chance.between(3, 5),
        lambda term, taken: document.count(term) >= 2 and all(term not in one and one not in term for one in few),
        known_terms(document, 2, 400),
    )
    if len(many) >= 2:
        return Asked(terms=tuple(draw.chance.shuffled([*few, *many])), n=2)
    terms = terms_at_places(draw, 5)
    return Asked(terms=tuple(terms), n=1) if len(terms) >= 2 else None


def _make_part_terms(draw: Draw) -> Asked | None:
    part = draw.document.some_part(draw.chance)
    inside, outside = inside_and_outside(draw, part, draw.chance.between(3, 5), 3)
    if len(inside) < 2:
        return None
    return Asked(terms=tuple(draw.chance.shuffled([*inside, *outside])), part=part)


def _make_part_counts(draw: Draw) -> Asked | None:
    part = draw.document.some_part(draw.chance)
    terms = terms_where(
        draw,
        4,
        lambda term, taken: (
            draw.document.count(term, part) not in (0, *(draw.document.count(other, part) for other in taken))
        ),
        list(draw.document.terms_in(part)),
    )
    return Asked(terms=tuple(terms), part=part) if len(terms) >= 2 else None


def _make_passages(draw: Draw) -> Asked | None:
    return _shuffled_passages(draw, None)


def _make_part_passages(draw: Draw) -> Asked | None:
    return _shuffled_passages(draw, draw.document.some_part(draw.chance))


def _shuffled_passages(draw: Draw, part: Part | None) -> Asked | None:
    passages = draw.document.passages(draw.chance, draw.chance.between(4, 6), part)
    if len(passages) < 3:
        return None
    return Asked(part=part, options=lettered(draw.chance.shuffled(passages)))


def _make_order_terms(draw: Draw) -> Asked | None:
    terms = terms_at_places(draw, draw.chance.between(4, 6))
    return Asked(terms=tuple(terms)) if len(terms) >= 3 else None


def _make_part_order(draw: Draw) -> Asked | None:
    part = draw.document.some_part(draw.chance)
    terms = terms_at_places(draw, draw.chance.between(4, 6), part)
    return Asked(terms=tuple(terms), part=part) if len(terms) >= 3 else None


def _make_counts(draw: Draw) -> Asked | None:
    terms = terms_with_counts(draw, draw.chance.between(4, 6))
    return Asked(terms=tuple(draw.chance.shuffled(terms))) if len(terms) >= 3 else None


def _make_line_counts(draw: Draw) -> Asked | None:
    def differs(term: str, taken: list[str]) -> bool:
        number = len(_lines_with(draw.document, term))
        return number > 0 and all(number != len(_lines_with(draw.document, other)) for other in taken)

    terms = terms_where(draw, draw.chance.between(4, 5), differs, known_terms(draw.document, most=300))
    return Asked(terms=tuple(terms)) if len(terms) >= 3 else None


def _make_signs(draw: Draw) -> Asked | None:
    text = draw.document.text
    signs = sorted({sign.lower() for sign in text[:4_000] if sign.isalpha()})
    taken: list[str] = []
    for sign in draw.chance.shuffled(signs):
        if all(text.count(sign) != text.count(other) for other in taken) and text.count(sign):
            taken.append(sign)
    return Asked(terms=tuple(taken[:4])) if len(taken) >= 3 else None


# --- solving ---------------------------------------------------------------------------------------------------------


def _lines_with(document: Document, term: str) -> set[int]:
    return {document.line_at(place).number for place in document.places(term)}


def _by_count(document: Document, terms: tuple[str, ...], part: Part | None = None) -> list[str]:
    return sorted(terms, key=lambda term: -document.count(term, part))


def _by_place(document: Document, asked: Asked, *, last: bool = False) -> list[str]:
    """Terms that stand in the document (or part), by their first place, or the latest last place first."""
    places = {term: found for term in asked.terms if (found := document.places(term, asked.part))}
    return sorted(places, key=lambda term: -places[term][-1] if last else places[term][0])


def _reaching(document: Document, asked: Asked) -> Asked:
    return replace(asked, terms=tuple(term for term in asked.terms if document.count(term) >= asked.n))


def _rank_by_count(document: Document, asked: Asked, language: str) -> list[str]:
    return _by_count(document, _reaching(document, asked).terms)


def _rank_by_first(document: Document, asked: Asked, language: str) -> list[str]:
    return _by_place(document, _reaching(document, asked))


def _rank_by_last(document: Document, asked: Asked, language: str) -> list[str]:
    return _by_place(document, _reaching(document, asked), last=True)


def _part_by_first(document: Document, asked: Asked, language: str) -> list[str]:
    return _by_place(document, asked)


def _part_by_last(document: Document, asked: Asked, language: str) -> list[str]:
    return _by_place(document, asked, last=True)


def _part_by_count(document: Document, asked: Asked, language: str) -> list[str]:
    return [term for term in _by_count(document, asked.terms, asked.part) if document.count(term, asked.part)]


def _order_passages(document: Document, asked: Asked, language: str) -> list[str]:
    places = {label: document.text.find(text) for label, text in asked.labelled}
    return sorted(places, key=lambda label: places[label] if places[label] >= 0 else len(document.text))


def _order_terms(document: Document, asked: Asked, language: str) -> list[str]:
    return _with_rest(_by_place(document, asked), asked.terms)


def _order_terms_last(document: Document, asked: Asked, language: str) -> list[str]:
    return _with_rest(_by_place(document, asked, last=True), asked.terms)


def _with_rest(found: list[str], terms: tuple[str, ...]) -> list[str]:
    return [*found, *(term for term in terms if term not in found)]


def _order_by_count(document: Document, asked: Asked, language: str) -> list[str]:
    return _by_count(document, asked.terms)


def _order_by_lines(document: Document, asked: Asked, language: str) -> list[str]:
    return sorted(asked.terms, key=lambda term: -len(_lines_with(document, term)))


def _order_signs(document: Document, asked: Asked, language: str) -> list[str]:
    return sorted(asked.terms, key=lambda sign: -document.text.count(sign))


# --- the kinds -------------------------------------------------------------------------------------------------------

_TERMS = {ENGLISH: "the terms in the stated order", CHINESE: "按所述顺序排列的词语"}
_SORTED = {ENGLISH: "the sorted terms", CHINESE: "排序后的词语"}
_LETTERS = {ENGLISH: "the sorted option letters", CHINESE: "排序后的选项字母"}
_EVERYWHERE = {
    ENGLISH: "Occurrences lie all over the document, so every part of it has to be read",
    CHINESE: "相关出现散布于整份文档，必须通读全文",
}
_THERE = {
    ENGLISH: "Everything needed stands in the named part",
    CHINESE: "所需内容全部位于指定的部分之内",
}

RANKING_KINDS = (
    Kind(
        "rank_by_count",
        NDCG,
        {
            ENGLISH: (
                "Which of the terms {terms} occur at least {n} times in the whole document? Rank them from the most "
                "frequent to the least frequent.",
                "Go through the whole document and pick out those of the terms {terms} that stand in it {n} times or "
                "more, with the most frequent term at the head of the ranking.",
            ),
            CHINESE: (
                "在词语{terms}中，哪些在全文中至少出现{n}次？请按出现次数从多到少排列。",
                "通读全文，从词语{terms}中挑出出现次数不少于{n}次的词语，次数多的排在前面。",
            ),
        },
        _TERMS,
        _EVERYWHERE,
        _make_threshold,
        _rank_by_count,
    ),
    Kind(
        "rank_by_first",
        NDCG,
        {
            ENGLISH: (
                "Find those of the terms {terms} whose number of occurrences in the whole document is {n} or more, "
                "and rank them by the place of their first occurrence, earliest first.",
            ),
            CHINESE: ("找出词语{terms}中在全文至少出现{n}次的词语，并按首次出现的先后排列，先出现的在前。",),
        },
        _TERMS,
        _EVERYWHERE,
        _make_threshold_places,
        _rank_by_first,
    ),
    Kind(
        "rank_by_last",
        NDCG,
        {
            ENGLISH: (
                "Of the terms {terms}, take those whose number of uses in the document is {n} or more and rank them by "
                "the place where each is used for the last time, beginning with the one used closest to the end.",
            ),
            CHINESE: ("从词语{terms}中取出全文至少使用{n}次的词语，按最后一次使用的位置排列，最靠近文末的在前。",),
        },
        _TERMS,
        _EVERYWHERE,
        _make_threshold_places,
        _rank_by_last,
    ),
    Kind(
        "part_by_first",
        NDCG,
        {
            ENGLISH: (
                "Look only at {part}. Which of the terms {terms} stand there? List them in the order of their first "
                "occurrence in that part.",
                "Within {part} and nowhere else, find those of the terms {terms} that are used, in the order in which "
                "the reader first meets them.",
            ),
            CHINESE: (
                "只看{part}，词语{terms}中有哪些出现在这一部分？请按在该部分首次出现的先后列出。",
                "仅在{part}内，找出词语{terms}中被使用的词语，按读者首次遇到的顺序列出。",
            ),
        },
        _TERMS,
        _THERE,
        _make_part_terms,
        _part_by_first,
    ),
    Kind(
        "part_by_last",
        NDCG,
        {
            ENGLISH: (
                "Take only {part}. Of the terms {terms}, list those used there by the place of their last use in that "
                "part, latest use first.",
            ),
            CHINESE: ("只取{part}，将词语{terms}中在此使用过的词语按最后一次使用的位置列出，位置最靠后的在前。",),
        },
        _TERMS,
        _THERE,
        _make_part_terms,
        _part_by_last,
    ),
    Kind(
        "part_by_count",
        NDCG,
        {
            ENGLISH: (
                "Count only in {part}. Rank those of the terms {terms} that stand there by their number of "
                "occurrences in that part, most frequent first.",
            ),
            CHINESE: ("仅统计{part}，将词语{terms}中出现于此的词语按在该部分的出现次数从多到少排列。",),
        },
        _TERMS,
        _THERE,
        _make_part_counts,
        _part_by_count,
    ),
    Kind(
        "order_passages",
        PAIRWISE,
        {
            ENGLISH: (
                "The lettered passages below come from all over the document and have been shuffled. Put them back "
                "into the order in which they stand in the document.",
                "Restore the sequence of the lettered passages below: begin with the one that the document gives "
                "first and end with the one that it gives last.",
            ),
            CHINESE: (
                "下列带字母的语句出自全文各处，次序已被打乱。请恢复它们在文中的先后次序。",
                "请还原下列带字母语句的顺序：从文中最先出现的开始，到最后出现的为止。",
            ),
        },
        _LETTERS,
        _EVERYWHERE,
        _make_passages,
        _order_passages,
    ),
    Kind(
        "order_terms_first",
        PAIRWISE,
        {
            ENGLISH: (
                "Sort the terms {terms} by the place at which each is first mentioned in the document, earliest "
                "mention first.",
                "In what order does the document introduce the terms {terms}? Begin with the one introduced first.",
            ),
            CHINESE: (
                "请将词语{terms}按在文中首次提及的位置排序，最早提及的在前。",
                "文中依次引入词语{terms}的次序是什么？从最先引入的开始。",
            ),
        },
        _SORTED,
        _EVERYWHERE,
        _make_order_terms,
        _order_terms,
    ),
    Kind(
        "order_terms_last",
        PAIRWISE,
        {
            ENGLISH: (
                "Sort the terms {terms} by the place at which each is mentioned for the last time in the document, "
                "the one that is mentioned closest to the end first.",
            ),
            CHINESE: ("请将词语{terms}按在文中最后一次提及的位置排序，最靠近文末的在前。",),
        },
        _SORTED,
        _EVERYWHERE,
        _make_order_terms,
        _order_terms_last,
    ),
    Kind(
        "order_part_passages",
        PAIRWISE,
        {
            ENGLISH: (
                "The lettered passages below all stand in {part}. Sort them into the order in which one follows upon "
                "another there.",
                "Consider {part}. The lettered steps below are taken from it and are out of order; give their true "
                "sequence.",
            ),
            CHINESE: (
                "下列带字母的语句都出自{part}。请按它们在该部分中前后相承的次序排列。",
                "请看{part}。下列带字母的步骤取自其中，次序有误；请给出真实的先后次序。",
            ),
        },
        _LETTERS,
        _THERE,
        _make_part_passages,
        _order_passages,
    ),
    Kind(
        "order_part_terms",
        PAIRWISE,
        {
            ENGLISH: (
                "In {part}, the terms {terms} come up one after another. Sort them by their first mention there, "
                "earliest first.",
            ),
            CHINESE: ("在{part}中，词语{terms}先后出现。请按在该部分首次提及的先后排序，最早的在前。",),
        },
        _SORTED,
        _THERE,
        _make_part_order,
        _order_terms,
    ),
    Kind(
        "order_by_count",
        PAIRWISE,
        {
            ENGLISH: (
                "Order the terms {terms} by the number of times each occurs in the whole text, most frequent first.",
                "How do the terms {terms} compare in frequency over the entire document? Arrange them from the most "
                "to the least frequent.",
            ),
            CHINESE: (
                "请将词语{terms}按在全文中的出现次数排序，最多的在前。",
                "就整份文档而言，词语{terms}的使用频次如何比较？请从最多到最少排列。",
            ),
        },
        _SORTED,
        _EVERYWHERE,
        _make_counts,
        _order_by_count,
    ),
    Kind(
        "order_by_lines",
        PAIRWISE,
        {
            ENGLISH: (
                "Over the whole document, count for each of the terms {terms} the non-empty lines that contain it, "
                "and sort the terms by that number, largest first.",
            ),
            CHINESE: ("在整份文档中，统计包含词语{terms}的非空行数，并据此排序，行数最多的词语在前。",),
        },
        _SORTED,
        _EVERYWHERE,
        _make_line_counts,
        _order_by_lines,
    ),
    Kind(
        "order_signs",
        PAIRWISE,
        {
            ENGLISH: (
                "Order the characters {terms} by how often each stands in the whole text, inside words as well and "
                "only in this case of letters, most frequent first.",
            ),
            CHINESE: ("请将字符{terms}按在全文中的出现次数排序（词语内部的也计算在内），最多的在前。",),
        },
        {ENGLISH: "the sorted characters", CHINESE: "排序后的字符"},
        _EVERYWHERE,
        _make_signs,
        _order_signs,
    ),
)
