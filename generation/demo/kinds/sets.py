"""Questions answered by a set of identifiers in any order (F1)."""

from collections.abc import Iterable, Sequence

from generation.demo.asking import F1, Asked, Draw, Kind
from generation.demo.picking import altered, apart, inside_and_outside, known_terms, numbered, terms_where
from generation.demo.text import CHINESE, ENGLISH, Document, Line, Part

# --- citing lines ----------------------------------------------------------------------------------------------------


def _make_cite_passages(draw: Draw) -> Asked | None:
    passages = draw.document.passages(draw.chance, draw.chance.between(3, 4))
    return Asked(options=numbered(draw.chance.shuffled(passages), "S")) if passages else None


def _make_cite_term(draw: Draw) -> Asked | None:
    terms = terms_where(
        draw, 1, lambda term, _: 2 <= draw.document.count(term) <= 7, known_terms(draw.document, 2, 7, most=9_000)
    )
    return Asked(terms=tuple(terms)) if terms else None


def _make_cite_one(draw: Draw) -> Asked | None:
    part = draw.document.some_part(draw.chance)
    passages = draw.document.passages(draw.chance, 3, part)
    if len(passages) < 2:
        return None
    return Asked(
        part=part, n=draw.chance.between(1, len(passages)), options=numbered(draw.chance.shuffled(passages), "S")
    )


def _cite_passages(document: Document, asked: Asked, language: str) -> list[str]:
    places = [document.text.find(text) for _, text in asked.labelled]
    return _line_names(document.line_at(place).number for place in places if place >= 0)


def _cite_term(document: Document, asked: Asked, language: str) -> list[str]:
    return _line_names(document.line_at(place).number for term in asked.terms for place in document.places(term))


def _cite_one(document: Document, asked: Asked, language: str) -> list[str]:
    part = asked.part or document.whole
    wanted = dict(asked.labelled).get(f"S{asked.n}", "")
    place = document.text.find(wanted, part.start, part.end) if wanted else -1
    return _line_names(line.number for line in document.lines_in(part) if line.start <= place < line.end)


def _line_names(numbers: Iterable[int]) -> list[str]:
    return [f"L{number}" for number in sorted(set(numbers))]


# --- members of a part -----------------------------------------------------------------------------------------------


def _make_members(draw: Draw) -> Asked | None:
    part = draw.document.some_part(draw.chance)
    inside, outside = inside_and_outside(draw, part, draw.chance.between(2, 4), draw.chance.between(3, 4))
    return Asked(part=part, terms=tuple(draw.chance.shuffled([*inside, *outside]))) if inside else None


def _make_members_twice(draw: Draw) -> Asked | None:
    document = draw.document
    part = document.some_part(draw.chance)
    source = list(document.terms_in(part))
    often = terms_where(draw, draw.chance.between(2, 3), lambda term, _: document.count(term, part) >= 2, source)
    once = terms_where(draw, 4, lambda term, _: document.count(term, part) == 1 and apart(term, often), source)
    return Asked(part=part, n=2, terms=tuple(draw.chance.shuffled([*often, *once]))) if often else None


def _members(document: Document, asked: Asked, language: str) -> list[str]:
    return [term for term in asked.terms if document.count(term, asked.part) >= max(1, asked.n)]


# --- conflicts and violations ----------------------------------------------------------------------------------------


def _make_conflicts(draw: Draw) -> Asked | None:
    passages = draw.document.passages(draw.chance, 6)
    if len(passages) < 2:
        return None
    wrong = draw.chance.between(1, max(1, len(passages) // 2))
    statements = [altered(draw, passage) if place < wrong else passage for place, passage in enumerate(passages)]
    if not all(statements):
        return None
    return Asked(options=numbered(draw.chance.shuffled(statements), "S"))


def _conflicts(document: Document, asked: Asked, language: str) -> list[str]:
    found = []
    for label, text in asked.labelled:
        if text not in document.text and (place := _place_of_altered(document, text)) >= 0:
            found.append(f"{label} L{document.line_at(place).number}")
    return found


def _place_of_altered(document: Document, text: str) -> int:
    """Where a statement with one word changed stands: its beginning or its end is as in the document."""
    third = max(2, len(text) // 3)
    place = document.text.find(text[:third])
    tail = document.text.find(text[-third:])
    if place >= 0 and document.text.find(text[:third], place + 1) < 0:
        return place
    return tail if tail >= 0 else place


def _make_rule_term(draw: Draw) -> Asked | None:
    document = draw.document
    part = document.some_part(draw.chance)
    lines = document.lines_in(part)
    terms = terms_where(
        draw,
        1,
        lambda term, _: 1 <= len(_lines_with(document, lines, term)) <= 6,
        [term for term, number in document.terms_in(part).items() if number <= 8],
    )
    return Asked(part=part, terms=tuple(terms)) if terms else None


def _lines_with(document: Document, lines: Sequence[Line], term: str) -> list[int]:
    return [line.number for line in lines if document.places(term, Part(line.start, line.end))]


def _rule_term(document: Document, asked: Asked, language: str) -> list[str]:
    lines = document.lines_in(asked.part or document.whole)
    return _line_names(number for term in asked.terms for number in _lines_with(document, lines, term))


def _make_rule_length(draw: Draw) -> Asked | None:
    document = draw.document
    part = document.some_part(draw.chance)
    lengths = sorted((line.end - line.start for line in document.lines_in(part)), reverse=True)
    breaking = [place for place in range(1, min(6, len(lengths))) if lengths[place] < lengths[place - 1]]
    return Asked(part=part, n=lengths[draw.chance.pick(breaking)]) if breaking else None


def _rule_length(document: Document, asked: Asked, language: str) -> list[str]:
    lines = document.lines_in(asked.part or document.whole)
    return _line_names(line.number for line in lines if line.end - line.start > asked.n)


# --- anomalies and versions ------------------------------------------------------------------------------------------


def _make_once(draw: Draw) -> Asked | None:
    document = draw.document
    once = terms_where(
        draw, draw.chance.between(2, 3), lambda term, _: document.count(term) == 1, known_terms(document, 1, 1, 9_000)
    )
    more = terms_where(
        draw, 4, lambda term, _: document.count(term) > 1 and apart(term, once), known_terms(document, 2, 40)
    )
    return Asked(terms=tuple(draw.chance.shuffled([*once, *more]))) if once else None


def _once(document: Document, asked: Asked, language: str) -> list[str]:
    return [term for term in asked.terms if document.count(term) == 1]


def _make_halves(draw: Draw) -> Asked | None:
    """Terms of both sides of a passage: some stand on one side only."""
    document = draw.document
    middle = len(document.text) // 4 + draw.chance.below(max(1, len(document.text) // 2))
    passage = document.passage_in(middle, len(document.text))
    if not passage:
        return None
    early, late = _halves(document, passage)
    return _of_two(draw, early, late, Asked(passage=passage), known_terms(document, 1, 60, 4_000))


def _make_parts(draw: Draw) -> Asked | None:
    document = draw.document
    first = document.some_part(draw.chance)
    for _ in range(6):
        second = document.some_part(draw.chance)
        if second.start >= first.end or second.end <= first.start:
            break
    else:
        return None
    early, late = sorted((first, second), key=lambda part: part.start)
    source = [*document.terms_in(early), *document.terms_in(late)]
    return _of_two(draw, early, late, Asked(part=early, later=late), list(dict.fromkeys(source)))


def _of_two(draw: Draw, early: Part, late: Part, asked: Asked, source: list[str]) -> Asked | None:
    def sides(term: str) -> tuple[bool, bool]:
        return draw.document.stands(term, early), draw.document.stands(term, late)

    before = terms_where(draw, 3, lambda term, _: sides(term) == (True, False), source)
    after = terms_where(draw, 3, lambda term, _: sides(term) == (False, True) and apart(term, before), source)
    both = terms_where(draw, 2, lambda term, _: sides(term) == (True, True) and apart(term, [*before, *after]), source)
    if not before or not after:
        return None
    terms = tuple(draw.chance.shuffled([*before, *after, *both]))
    return Asked(terms=terms, passage=asked.passage, part=asked.part, later=asked.later)


def _halves(document: Document, passage: str) -> tuple[Part, Part]:
    place = max(0, document.text.find(passage))
    return Part(0, place), Part(place, len(document.text))


def _sides(document: Document, asked: Asked) -> tuple[Part, Part]:
    if asked.part and asked.later:
        return asked.part, asked.later
    return _halves(document, asked.passage)


def _dropped(document: Document, asked: Asked, language: str) -> list[str]:
    early, late = _sides(document, asked)
    return [term for term in asked.terms if document.places(term, early) and not document.stands(term, late)]


def _added(document: Document, asked: Asked, language: str) -> list[str]:
    early, late = _sides(document, asked)
    return [term for term in asked.terms if document.places(term, late) and not document.stands(term, early)]


# --- the kinds -------------------------------------------------------------------------------------------------------

_LINES = {ENGLISH: "the line identifiers (in the form L12)", CHINESE: "行标识符（形如L12）"}
_TERMS = {ENGLISH: "the terms found", CHINESE: "找到的词语"}
_EVERYWHERE = {
    ENGLISH: "What is asked for may stand anywhere in the document, so nothing may be left out",
    CHINESE: "所问内容可能出现在文档任何位置，不能有遗漏",
}
_THERE = {ENGLISH: "Everything needed stands in the named part", CHINESE: "所需内容全部位于指定的部分之内"}

SET_KINDS = (
    Kind(
        "cite_passages",
        F1,
        {
            ENGLISH: (
                "Number the non-empty lines of the document L1, L2, L3 and so on, from the beginning. Read the "
                "statements below and name every line that supports one of them.",
                "The text made up of the statements below was drawn from the document. With the non-empty lines of "
                "the document counted L1, L2, L3 and so on, cite the lines that it rests on.",
            ),
            CHINESE: (
                "将文档的非空行从头依次编号为L1、L2、L3，以此类推。阅读下列陈述，指出支持其中任何一条的所有行。",
                "由下列陈述组成的文字取自文档。文档的非空行依次记为L1、L2、L3，以此类推，请标出它所依据的各行。",
            ),
        },
        _LINES,
        _EVERYWHERE,
        _make_cite_passages,
        _cite_passages,
    ),
    Kind(
        "cite_term",
        F1,
        {
            ENGLISH: (
                "Number the non-empty lines of the document L1, L2, L3 and so on, from the beginning. A commentator "
                "writes about {terms}; cite every line in which this term stands.",
                "A note on the document mentions {terms}. With the non-empty lines of the document counted L1, L2, L3 "
                "and so on, which lines have to be cited as its sources because they use this term?",
            ),
            CHINESE: (
                "将文档的非空行从头依次编号为L1、L2、L3，以此类推。有评论谈到{terms}，请标出该词语所在的所有行。",
                "某条关于文档的札记提到{terms}。文档的非空行依次记为L1、L2、L3，以此类推，哪些行因使用该词语而应列为其出处？",
            ),
        },
        _LINES,
        _EVERYWHERE,
        _make_cite_term,
        _cite_term,
    ),
    Kind(
        "cite_one",
        F1,
        {
            ENGLISH: (
                "Take {part} and number its non-empty lines L1, L2, L3 and so on, L1 being the line it begins in. Of "
                "the statements below, cite the source line of statement S{n} only.",
            ),
            CHINESE: (
                "取{part}，将其中的非空行依次编号为L1、L2、L3，以此类推，起始处所在的行为L1。在下列陈述中，只标出陈述S{n}的来源行。",
            ),
        },
        _LINES,
        _THERE,
        _make_cite_one,
        _cite_one,
    ),
    Kind(
        "members_of_part",
        F1,
        {
            ENGLISH: (
                "Which of the terms {terms} belong to the vocabulary of {part}, that is, occur there at least once?",
            ),
            CHINESE: ("词语{terms}中，哪些属于{part}的用词，即在其中至少出现一次？",),
        },
        _TERMS,
        _THERE,
        _make_members,
        _members,
    ),
    Kind(
        "members_twice",
        F1,
        {
            ENGLISH: (
                "Call a term recurrent when it occurs at least {n} times in {part}. Which of the terms {terms} are "
                "recurrent?",
            ),
            CHINESE: ("若某词语在{part}中至少出现{n}次，则称为重复用词。词语{terms}中哪些是重复用词？",),
        },
        _TERMS,
        _THERE,
        _make_members_twice,
        _members,
    ),
    Kind(
        "conflicts",
        F1,
        {
            ENGLISH: (
                "Number the non-empty lines of the document L1, L2, L3 and so on, from the beginning. Some of the "
                "statements below contradict the line they were taken from in one word. Find every such pair of "
                "statement and line.",
                "With the non-empty lines of the document counted L1, L2, L3 and so on, compare the statements below "
                "with the document and locate each conflict: the statement, and the line whose wording it distorts.",
            ),
            CHINESE: (
                "将文档的非空行从头依次编号为L1、L2、L3，以此类推。下列陈述中有一些与其出处所在行有一处矛盾。请找出所有这样的陈述与行。",
                "文档的非空行依次记为L1、L2、L3，以此类推。请将下列陈述与文档比对，定位每一处冲突：陈述，以及被它改动了文字的那一行。",
            ),
        },
        {ENGLISH: "the conflicting pairs in the form S1 L12", CHINESE: "相互矛盾的组合（形如S1 L12）"},
        _EVERYWHERE,
        _make_conflicts,
        _conflicts,
    ),
    Kind(
        "rule_term",
        F1,
        {
            ENGLISH: (
                "Take {part} and number its non-empty lines L1, L2, L3 and so on, L1 being the line it begins in. The "
                "rule is that no line may use the term {terms}. Which lines break it?",
            ),
            CHINESE: (
                "取{part}，将其中的非空行依次编号为L1、L2、L3，以此类推，起始处所在的行为L1。规则是任何一行都不得使用{terms}。哪些行违反了规则？",
            ),
        },
        _LINES,
        _THERE,
        _make_rule_term,
        _rule_term,
    ),
    Kind(
        "rule_length",
        F1,
        {
            ENGLISH: (
                "Take {part} and number its non-empty lines L1, L2, L3 and so on, L1 being the line it begins in. The "
                "rule is that no line of the part may have more than {n} characters, spaces included. Which lines "
                "break it?",
            ),
            CHINESE: (
                "取{part}，将其中的非空行依次编号为L1、L2、L3，以此类推，起始处所在的行为L1。规则是该部分任何一行都不得超过{n}个字符（含空格）。哪些行违反了规则？",
            ),
        },
        _LINES,
        _THERE,
        _make_rule_length,
        _rule_length,
    ),
    Kind(
        "once_only",
        F1,
        {
            ENGLISH: (
                "A spelling that stands only once in the whole document is to be checked as a possible slip. Which of "
                "the terms {terms} have to be checked?",
                "Sweep the whole document for the terms {terms}: which of them are isolated, that is, used exactly "
                "once?",
            ),
            CHINESE: (
                "全文只出现一次的写法应作为可能的笔误核查。词语{terms}中哪些需要核查？",
                "在全文中排查词语{terms}：其中哪些是孤例，即恰好使用一次？",
            ),
        },
        _TERMS,
        _EVERYWHERE,
        _make_once,
        _once,
    ),
    Kind(
        "not_after",
        F1,
        {
            ENGLISH: (
                "A term that the document takes up only from the passage {passage} onward, never before it, counts "
                "as an anomaly. Which of the terms {terms} are anomalies?",
            ),
            CHINESE: ("若某词语只在语句{passage}及其之后使用、之前从未使用，则视为异常。词语{terms}中哪些是异常？",),
        },
        _TERMS,
        _EVERYWHERE,
        _make_halves,
        _added,
    ),
    Kind(
        "dropped",
        F1,
        {
            ENGLISH: (
                "Treat everything before the passage {passage} as the first version and everything from it onward as "
                "the second. Which of the terms {terms} does the second version give up, although the first uses "
                "them?",
            ),
            CHINESE: (
                "将语句{passage}之前的全部内容视为第一版，自该句起的全部内容视为第二版。词语{terms}中哪些在第一版使用而第二版不再使用？",
            ),
        },
        _TERMS,
        _EVERYWHERE,
        _make_halves,
        _dropped,
    ),
    Kind(
        "added",
        F1,
        {
            ENGLISH: (
                "Treat everything before the passage {passage} as the first version and everything from it onward as "
                "the second. Which of the terms {terms} are new in the second version, not having been used in the "
                "first?",
            ),
            CHINESE: (
                "将语句{passage}之前的全部内容视为第一版，自该句起的全部内容视为第二版。词语{terms}中哪些是第二版新增、第一版未曾使用的？",
            ),
        },
        _TERMS,
        _EVERYWHERE,
        _make_halves,
        _added,
    ),
    Kind(
        "part_dropped",
        F1,
        {
            ENGLISH: (
                "Let version 1 be {part}, and version 2 be {later}. Which of the terms {terms} does version 1 use "
                "that version 2 no longer uses?",
            ),
            CHINESE: ("设版本1为{part}，版本2为{later}。词语{terms}中哪些是版本1使用而版本2不再使用的？",),
        },
        _TERMS,
        _THERE,
        _make_parts,
        _dropped,
    ),
    Kind(
        "part_added",
        F1,
        {
            ENGLISH: (
                "Let version 1 be {part}, and version 2 be {later}. Which of the terms {terms} were introduced by "
                "version 2?",
            ),
            CHINESE: ("设版本1为{part}，版本2为{later}。词语{terms}中哪些是版本2引入的？",),
        },
        _TERMS,
        _THERE,
        _make_parts,
        _added,
    ),
)
