"""Questions answered by figures, states or outputs, one a line (SubEM)."""

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal

from generation.demo.asking import QUOTED, SUBEM, Asked, Draw, Kind
from generation.demo.picking import inside_and_outside, known_terms, terms_at_places, terms_where
from generation.demo.text import CHINESE, ENGLISH, Document, Part

NO_ERROR = {ENGLISH: "No Error", CHINESE: "无错误"}
YES_NO = {ENGLISH: ("yes", "no"), CHINESE: ("是", "否")}
_CLASSES = {ENGLISH: ("Short", "Medium", "Long"), CHINESE: ("短行", "中行", "长行")}


def _share(part: int, whole: int, decimals: str = "0.01") -> str:
    if not whole:
        return f"{Decimal(0).quantize(Decimal(decimals))}%"
    return f"{(Decimal(100) * part / whole).quantize(Decimal(decimals), ROUND_HALF_UP)}%"


def _is_whole(counts: list[int]) -> bool:
    """The rounded shares add up to exactly 100.00 %."""
    total = sum(counts)
    return total > 0 and sum(Decimal(_share(count, total)[:-1]) for count in counts) == Decimal("100.00")


# --- shares of classes -----------------------------------------------------------------------------------------------


def _line_lengths(document: Document) -> list[int]:
    return [len(document.text[line.start : line.end].strip()) for line in document.lines]


def _class_counts(lengths: list[int], n: int, m: int) -> list[int]:
    short, long = sum(one < n for one in lengths), sum(one >= m for one in lengths)
    return [short, len(lengths) - short - long, long]


def _make_line_classes(draw: Draw) -> Asked | None:
    lengths = _line_lengths(draw.document)
    if not lengths:
        return None
    in_order = sorted(lengths)
    for _ in range(30):
        n = max(2, in_order[int(len(in_order) * (0.15 + 0.3 * draw.chance.unit()))])
        m = max(n + 1, in_order[int(len(in_order) * (0.55 + 0.35 * draw.chance.unit()))])
        if _is_whole(_class_counts(lengths, n, m)):
            return Asked(n=n, m=m)
    return None


def _line_classes(document: Document, asked: Asked, language: str) -> list[str]:
    counts = _class_counts(_line_lengths(document), asked.n, asked.m)
    return [f"{name} {_share(count, sum(counts))}" for name, count in zip(_CLASSES[language], counts, strict=True)]


def _make_term_classes(draw: Draw) -> Asked | None:
    for _ in range(30):
        terms = terms_at_places(draw, draw.chance.between(2, 4))
        if len(terms) >= 2 and _is_whole([draw.document.count(term) for term in terms]):
            return Asked(terms=tuple(terms))
    return None


def _term_classes(document: Document, asked: Asked, language: str) -> list[str]:
    counts = [document.count(term) for term in asked.terms]
    return [f"{term} {_share(count, sum(counts))}" for term, count in zip(asked.terms, counts, strict=True)]


# --- records and counts ----------------------------------------------------------------------------------------------


def _make_records(draw: Draw) -> Asked | None:
    terms = terms_at_places(draw, draw.chance.between(4, 6))
    if len(terms) < 2:
        return None
    wrong = draw.chance.below(4)
    records = []
    for place, term in enumerate(terms, start=1):
        number = draw.document.count(term) + (draw.chance.between(1, 3) if place <= wrong else 0)
        records.append((term, number))
    return Asked(
        options=tuple(
            f"R{place}. “{term}” {number}" for place, (term, number) in enumerate(draw.chance.shuffled(records), 1)
        )
    )


def _examples(asked: Asked) -> list[tuple[str, str, str]]:
    """Label, term and value of option lines such as `R1. “whale” 12`."""
    found = []
    for label, text in asked.labelled:
        quoted = QUOTED.search(text)
        if quoted:
            found.append((label, quoted.group(1), text[quoted.end() :].strip()))
    return found


def _records(document: Document, asked: Asked, language: str) -> list[str]:
    wrong = [label for label, term, value in _examples(asked) if value != str(document.count(term))]
    return wrong or [NO_ERROR[language]]


def _make_part_terms(draw: Draw) -> Asked | None:
    part = draw.document.some_part(draw.chance)
    terms = terms_at_places(draw, draw.chance.between(2, 3), part)
    return Asked(part=part, terms=tuple(terms)) if terms else None


def _part_counts(document: Document, asked: Asked, language: str) -> list[str]:
    return [f"{term} {document.count(term, asked.part)}" for term in asked.terms]


def _part_shares(document: Document, asked: Asked, language: str) -> list[str]:
    lines = document.lines_in(asked.part or document.whole)
    found = []
    for term in asked.terms:
        holding = sum(document.stands(term, Part(line.start, line.end)) for line in lines)
        found.append(f"{term} {_share(holding, len(lines), '0.1')}")
    return found


# --- states ----------------------------------------------------------------------------------------------------------


def _make_states(draw: Draw) -> Asked | None:
    terms = terms_at_places(draw, draw.chance.between(3, 4))
    return Asked(terms=tuple(terms)) if terms else None


def _last_lines(document: Document, asked: Asked, language: str) -> list[str]:
    found = {term: document.places(term) for term in asked.terms}
    return [f"{term} L{document.line_at(places[-1]).number if places else 0}" for term, places in found.items()]


def _make_counters(draw: Draw) -> Asked | None:
    document = draw.document
    passage = document.passage_in(len(document.text) * draw.chance.between(60, 90) // 100, len(document.text))
    source = known_terms(document, 2, 120) or known_terms(document)
    terms = terms_where(draw, 3, lambda term, _: document.stands(term), source)
    if not passage or not terms:
        return None
    return Asked(passage=passage, terms=tuple(terms), n=draw.chance.between(2, 20) * 5)


def _counters(document: Document, asked: Asked, language: str) -> list[str]:
    end = document.text.find(asked.passage)
    read = Part(0, end if end >= 0 else len(document.text))
    return [f"{term} {asked.n + document.count(term, read)}" for term in asked.terms]


# --- rules -----------------------------------------------------------------------------------------------------------


def _count_rule(document: Document, term: str) -> str:
    return str(document.count(term))


def _lines_rule(document: Document, term: str) -> str:
    return str(len({document.line_at(place).number for place in document.places(term)}))


def _first_line_rule(document: Document, term: str) -> str:
    places = document.places(term)
    return str(document.line_at(places[0]).number if places else 0)


_RULES: tuple[Callable[[Document, str], str], ...] = (_count_rule, _lines_rule, _first_line_rule)


def _make_induce(draw: Draw) -> Asked | None:
    """Examples of one rule such that every rule which fits them gives the new cases the same values."""
    terms = terms_at_places(draw, 6)
    if len(terms) < 4:
        return None
    rule = draw.chance.pick(_RULES)
    shown, new = terms[:-2], terms[-2:]
    options = tuple(f"E{place}. “{term}” {rule(draw.document, term)}" for place, term in enumerate(shown, start=1))
    asked = Asked(terms=tuple(new), options=options)
    answers = {tuple(other(draw.document, term) for term in new) for other in _fitting(draw.document, asked)}
    return asked if len(answers) == 1 else None


def _fitting(document: Document, asked: Asked) -> list[Callable[[Document, str], str]]:
    examples = _examples(asked)
    return [rule for rule in _RULES if all(rule(document, term) == value for _, term, value in examples)]


def _induce(document: Document, asked: Asked, language: str) -> list[str]:
    rule = (_fitting(document, asked) or [_count_rule])[0]
    return [f"{term} {rule(document, term)}" for term in asked.terms]


def _make_induce_part(draw: Draw) -> Asked | None:
    part = draw.document.some_part(draw.chance)
    inside, outside = inside_and_outside(draw, part, 4, 4)
    if len(inside) < 2 or not outside:
        return None
    new = [inside[-1], *(outside[-1:] if len(outside) > 1 else [])]
    shown = [term for term in (*inside, *outside) if term not in new]
    turned = draw.chance.unit() < 0.3
    yes, no = YES_NO[draw.language][:: -1 if turned else 1]
    lines = [f"“{term}” {yes if term in inside else no}" for term in draw.chance.shuffled(shown)]
    return Asked(
        part=part,
        terms=tuple(draw.chance.shuffled(new)),
        options=tuple(f"E{place}. {line}" for place, line in enumerate(lines, start=1)),
    )


def _induce_part(document: Document, asked: Asked, language: str) -> list[str]:
    yes, no = YES_NO[language]
    fits = sum((value == yes) == document.stands(term, asked.part) for _, term, value in _examples(asked))
    if fits * 2 < len(_examples(asked)):
        yes, no = no, yes
    return [f"{term} {yes if document.stands(term, asked.part) else no}" for term in asked.terms]


# --- the kinds -------------------------------------------------------------------------------------------------------

_EVERYWHERE = {
    ENGLISH: "The figures come out right only when the whole document has been gone through",
    CHINESE: "只有通读整份文档才能得出正确的数值",
}
_THERE = {ENGLISH: "All figures come from the named part", CHINESE: "全部数值都来自指定的部分"}
_COUNTED = {ENGLISH: "the terms in the form Term Count", CHINESE: "词语与次数（形如 词语 12）"}

FIGURE_KINDS = (
    Kind(
        "line_classes",
        SUBEM,
        {
            ENGLISH: (
                "Sort all non-empty lines of the document by their number of characters, white space at both ends "
                "aside, into the classes Short (fewer than {n}), Medium (that number or more, but fewer than {m}) and "
                "Long (all others), and give the share of each class.",
            ),
            CHINESE: (
                "将文档的全部非空行按字符数（行首行尾空白不计）分为三类："
                "短行（少于{n}个字符）、中行（不少于该数但少于{m}个字符）和"
                "长行（其余各行），给出各类所占比例。",
            ),
        },
        {
            ENGLISH: "the classes in the form ClassName Share% (two decimals)",
            CHINESE: "类别与比例（形如 类别 12.50%，保留两位小数）",
        },
        _EVERYWHERE,
        _make_line_classes,
        _line_classes,
    ),
    Kind(
        "term_classes",
        SUBEM,
        {
            ENGLISH: (
                "Take all occurrences of the terms {terms} in the document together, each term forming one class, and "
                "give the share of each class in all these occurrences.",
            ),
            CHINESE: ("将词语{terms}在全文中的所有出现合在一起，每个词语为一类，给出每一类在其中所占的比例。",),
        },
        {
            ENGLISH: "the classes in the form Term Share% (two decimals)",
            CHINESE: "词语与比例（形如 词语 12.50%，保留两位小数）",
        },
        _EVERYWHERE,
        _make_term_classes,
        _term_classes,
    ),
    Kind(
        "records",
        SUBEM,
        {
            ENGLISH: (
                "Each record below states how many times a term occurs in the whole document. Count again and find "
                "the records that disagree with the document; if none does, the result is No Error.",
                "Check the tally below against the document. Which records give a wrong number of occurrences? The "
                "result is No Error when all are right.",
            ),
            CHINESE: (
                "下列每条记录写明某词语在全文中出现的次数。请重新统计，找出与文档不符的记录；若全部相符，结果为无错误。",
                "请将下列统计与文档核对。哪些记录的出现次数有误？全部正确时，结果为无错误。",
            ),
        },
        {ENGLISH: "the record identifiers, or No Error", CHINESE: "记录编号，或无错误"},
        _EVERYWHERE,
        _make_records,
        _records,
    ),
    Kind(
        "part_counts",
        SUBEM,
        {
            ENGLISH: (
                "How many times does each of the terms {terms} occur in {part}?",
                "Count in {part} alone: what number of occurrences has each of the terms {terms}?",
            ),
            CHINESE: (
                "词语{terms}在{part}中各出现多少次？",
                "仅就{part}统计，词语{terms}的出现次数各是多少？",
            ),
        },
        _COUNTED,
        _THERE,
        _make_part_terms,
        _part_counts,
    ),
    Kind(
        "part_shares",
        SUBEM,
        {
            ENGLISH: ("What percentage of the non-empty lines of {part} contains each of the terms {terms}?",),
            CHINESE: ("在{part}的非空行中，包含词语{terms}的行各占百分之几？",),
        },
        {
            ENGLISH: "the terms in the form Term Percentage% (one decimal)",
            CHINESE: "词语与百分比（形如 词语 12.5%，保留一位小数）",
        },
        _THERE,
        _make_part_terms,
        _part_shares,
    ),
    Kind(
        "last_lines",
        SUBEM,
        {
            ENGLISH: (
                "Number the non-empty lines of the document L1, L2, L3 and so on. A marker for each of the terms "
                "{terms} moves along with the reader and is set down on every line in which its term stands. Where "
                "does each marker lie after the last line?",
            ),
            CHINESE: (
                "将文档的非空行依次编号为L1、L2、L3，以此类推。词语{terms}各有一枚标记，随阅读推进，每遇到含有该词语的行就移到那一行。读完最后一行后，各标记位于哪一行？",
            ),
        },
        {ENGLISH: "the terms in the form Term L12", CHINESE: "词语与行（形如 词语 L12）"},
        _EVERYWHERE,
        _make_states,
        _last_lines,
    ),
    Kind(
        "counters",
        SUBEM,
        {
            ENGLISH: (
                "A counter for each of the terms {terms} stands at {n} before the first line and goes up by one "
                "whenever its term occurs. What do the counters show when the reader reaches the passage {passage}?",
            ),
            CHINESE: (
                "词语{terms}各有一个计数器，阅读之前均为{n}，每遇到该词语一次加一。读到语句{passage}时，各计数器的数值是多少？",
            ),
        },
        _COUNTED,
        _EVERYWHERE,
        _make_counters,
        _counters,
    ),
    Kind(
        "induce",
        SUBEM,
        {
            ENGLISH: (
                "In the examples below, one unstated rule gives each term a number by what the whole document does "
                "with that term. Work out the rule and apply it to the terms {terms}.",
                "The examples below assign numbers to terms, always by the same rule, which can be found out only "
                "from the document. Which numbers does the rule assign to {terms}?",
            ),
            CHINESE: (
                "在下列示例中，有一条未言明的规则根据词语在全文中的情况给出数值。请归纳该规则，并应用于词语{terms}。",
                "下列示例按同一规则给词语赋予数值，规则只能从文档中得出。该规则赋予{terms}的数值各是多少？",
            ),
        },
        {ENGLISH: "the terms in the form Term Number", CHINESE: "词语与数值（形如 词语 12）"},
        _EVERYWHERE,
        _make_induce,
        _induce,
    ),
    Kind(
        "induce_part",
        SUBEM,
        {
            ENGLISH: (
                "By a rule about {part}, the examples below give each term a yes or a no. Infer the rule and decide "
                "the new cases {terms}.",
            ),
            CHINESE: ("下列示例根据一条关于{part}的规则，对每个词语给出是或否。请归纳该规则，并判定新的词语{terms}。",),
        },
        {ENGLISH: "the decisions in the form Term yes/no", CHINESE: "判定结果（形如 词语 是/否）"},
        _THERE,
        _make_induce_part,
        _induce_part,
    ),
)
