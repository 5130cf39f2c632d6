"""Questions answered by one option letter (accuracy)."""

from collections.abc import Sequence

from generation.demo.asking import ACCURACY, Asked, Draw, Kind
from generation.demo.picking import altered, inside_and_outside, lettered, terms_at_places, terms_with_counts
from generation.demo.text import CHINESE, ENGLISH, Document


def _options(draw: Draw, texts: Sequence[str]) -> Asked | None:
    return Asked(options=lettered(draw.chance.shuffled(texts))) if len(set(texts)) == 4 else None


def _make_verbatim(draw: Draw) -> Asked | None:
    passages = draw.document.passages(draw.chance, 4)
    if not passages:
        return None
    true = passages[0]
    false = [altered(draw, passages[place % len(passages)]) for place in range(1, 4)]
    return _options(draw, [true, *false]) if all(false) else None


def _make_passages(draw: Draw) -> Asked | None:
    return _options(draw, draw.document.passages(draw.chance, 4))


def _make_counts(draw: Draw) -> Asked | None:
    return _options(draw, terms_with_counts(draw, 4))


def _make_terms(draw: Draw) -> Asked | None:
    return _options(draw, terms_at_places(draw, 4))


def _make_next(draw: Draw) -> Asked | None:
    passages = draw.document.passages(draw.chance, 5)
    if len(passages) < 5:
        return None
    in_order = sorted(passages, key=draw.document.text.find)
    place = draw.chance.below(4)
    others = [*in_order[:place], *in_order[place + 1 :]]
    return Asked(passage=in_order[place], options=lettered(draw.chance.shuffled(others)))


def _make_in_part(draw: Draw) -> Asked | None:
    part = draw.document.some_part(draw.chance)
    inside, outside = inside_and_outside(draw, part, 1, 3)
    if len(inside) + len(outside) < 4:
        return None
    return Asked(part=part, options=lettered(draw.chance.shuffled([*inside, *outside])))


def _first_where(labels: list[str]) -> list[str]:
    return labels[:1]


def _verbatim(document: Document, asked: Asked, language: str) -> list[str]:
    return _first_where([label for label, text in asked.labelled if text in document.text])


def _places(document: Document, asked: Asked) -> dict[str, int]:
    return {label: place for label, text in asked.labelled if (place := document.text.find(text)) >= 0}


def _earliest(document: Document, asked: Asked, language: str) -> list[str]:
    places = _places(document, asked)
    return [min(places, key=places.__getitem__)] if places else []


def _latest(document: Document, asked: Asked, language: str) -> list[str]:
    places = _places(document, asked)
    return [max(places, key=places.__getitem__)] if places else []


def _most_frequent(document: Document, asked: Asked, language: str) -> list[str]:
    counts = {label: document.count(text) for label, text in asked.labelled}
    return [max(counts, key=counts.__getitem__)] if counts else []


def _first_term(document: Document, asked: Asked, language: str) -> list[str]:
    places = {label: found[0] for label, text in asked.labelled if (found := document.places(text))}
    return [min(places, key=places.__getitem__)] if places else []


def _next(document: Document, asked: Asked, language: str) -> list[str]:
    anchor = document.text.find(asked.passage)
    after = {label: place for label, place in _places(document, asked).items() if place > anchor}
    return [min(after, key=after.__getitem__)] if after else []


def _in_part(document: Document, asked: Asked, language: str) -> list[str]:
    return _first_where([label for label, text in asked.labelled if document.stands(text, asked.part)])


_LETTER = {ENGLISH: "the answer option letter (A/B/C/D)", CHINESE: "正确选项的字母（A/B/C/D）"}
_SCATTERED = {
    ENGLISH: "The options come from distant places, which have to be compared with one another",
    CHINESE: "各选项出自相隔较远的位置，需要相互比对",
}
_LOCAL = {
    ENGLISH: "One place of the document settles the question",
    CHINESE: "文中的一处内容即可确定答案",
}

CHOICE_KINDS = (
    Kind(
        "choose_verbatim",
        ACCURACY,
        {
            ENGLISH: (
                "Three of the four statements below differ from the document in one word. Which one does the document "
                "contain word for word?",
                "Only one of the four options is a faithful quotation from the document. Which?",
            ),
            CHINESE: (
                "下列四项陈述中有三项与原文有一处不同。哪一项与原文一字不差？",
                "四个选项中只有一项忠实引用了文档原文，是哪一项？",
            ),
        },
        _LETTER,
        _SCATTERED,
        _make_verbatim,
        _verbatim,
    ),
    Kind(
        "choose_earliest",
        ACCURACY,
        {
            ENGLISH: (
                "All four passages below stand in the document. Which one comes before the other three?",
                "Following the whole course of the document, which of the four passages is reached first?",
            ),
            CHINESE: (
                "下列四句都出自文档。哪一句位于其余三句之前？",
                "沿着全文的进程，下列四句中哪一句最先出现？",
            ),
        },
        _LETTER,
        _SCATTERED,
        _make_passages,
        _earliest,
    ),
    Kind(
        "choose_latest",
        ACCURACY,
        {
            ENGLISH: (
                "All four passages below stand in the document. Which one comes after the other three?",
                "Following the whole course of the document, which of the four passages is reached last?",
            ),
            CHINESE: (
                "下列四句都出自文档。哪一句位于其余三句之后？",
                "沿着全文的进程，下列四句中哪一句最后出现？",
            ),
        },
        _LETTER,
        _SCATTERED,
        _make_passages,
        _latest,
    ),
    Kind(
        "choose_most_frequent",
        ACCURACY,
        {
            ENGLISH: (
                "Over the whole document, which of the four terms does the text come back to most often, counted in "
                "occurrences?",
            ),
            CHINESE: ("就全文而言，下列四个词语中哪一个出现次数最多？",),
        },
        _LETTER,
        _SCATTERED,
        _make_counts,
        _most_frequent,
    ),
    Kind(
        "choose_first_term",
        ACCURACY,
        {
            ENGLISH: ("Which of the four terms below is the first to be mentioned in the document?",),
            CHINESE: ("下列四个词语中，哪一个在文档中最先被提及？",),
        },
        _LETTER,
        _SCATTERED,
        _make_terms,
        _first_term,
    ),
    Kind(
        "choose_next",
        ACCURACY,
        {
            ENGLISH: (
                "Start from the passage {passage}. Reading on from there, which of the four options is met first?",
                "After the point where the document says {passage}, which of the options is the next to follow?",
            ),
            CHINESE: (
                "从语句{passage}开始往下读，四个选项中最先遇到的是哪一项？",
                "在文档写到{passage}之后，下列选项中紧接着出现的是哪一项？",
            ),
        },
        _LETTER,
        _LOCAL,
        _make_next,
        _next,
    ),
    Kind(
        "choose_in_part",
        ACCURACY,
        {
            ENGLISH: (
                "Which of the four terms is used in {part}?",
                "Consider only {part}. Which of the four options is mentioned there, while the other three are not?",
            ),
            CHINESE: (
                "下列四个词语中，哪一个用于{part}？",
                "只看{part}。四个选项中哪一项在此提到，而其余三项没有？",
            ),
        },
        _LETTER,
        _LOCAL,
        _make_in_part,
        _in_part,
    ),
)
