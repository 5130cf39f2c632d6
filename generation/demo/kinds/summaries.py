"""Questions answered by a summary. The simulated models summarise by extraction: they quote chosen passages.

The three references are three different selections; the solver's summary is the first of them.
"""

from generation.demo.asking import SUMMARY, Asked, Draw, Kind
from generation.demo.picking import known_terms, terms_where
from generation.demo.text import CHINESE, ENGLISH, Document, Part, length_in


def _limit(draw: Draw, *, whole: bool) -> int:
    if draw.language == ENGLISH:
        return draw.chance.between(14, 28) * 5 if whole else draw.chance.between(9, 16) * 5
    return draw.chance.between(18, 34) * 5 if whole else draw.chance.between(10, 20) * 5


def _make_whole(draw: Draw) -> Asked | None:
    return Asked(n=_limit(draw, whole=True))


def _make_whole_terms(draw: Draw) -> Asked | None:
    terms = terms_where(draw, 2, lambda term, _: True, known_terms(draw.document, most=40))
    return Asked(terms=tuple(terms), n=_limit(draw, whole=True)) if len(terms) == 2 else None


def _make_part(draw: Draw) -> Asked | None:
    return Asked(part=draw.document.some_part(draw.chance), n=_limit(draw, whole=False))


def _make_term(draw: Draw) -> Asked | None:
    part = draw.document.some_part(draw.chance)
    terms = [term for term, number in draw.document.terms_in(part).most_common(12) if number >= 2]
    return Asked(terms=(draw.chance.pick(terms),), part=part, n=_limit(draw, whole=False)) if terms else None


def references(document: Document, asked: Asked, language: str) -> list[str]:
    """Three summaries within the limit, no two equal; fewer when the document holds too little."""
    passages = _material(document, asked.part or document.whole, asked.terms)
    found: list[str] = []
    chosen = (_selection(passages, turn, asked.n, language) for turn in range(12))
    for summary in (*chosen, *_beginnings(document, asked, language)):
        if summary and summary.lower() not in [other.lower() for other in found]:
            found.append(summary)
        if len(found) == 3:
            break
    return found


def _beginnings(document: Document, asked: Asked, language: str) -> list[str]:
    """The first words of the part at three lengths: for a document that says the same thing over and over."""
    part = asked.part or document.whole
    text = document.text[part.start : min(part.end, part.start + 4_000)]
    words = text.split() if language == ENGLISH else list("".join(text.split()))
    lengths = [min(len(words), asked.n) * share // 4 for share in (4, 3, 2)]
    return [(" " if language == ENGLISH else "").join(words[:length]) for length in lengths]


def _material(document: Document, part: Part, terms: tuple[str, ...]) -> list[str]:
    lines = document.lines_in(part)
    if terms and part == document.whole:
        lines = list(dict.fromkeys(document.line_at(place) for term in terms for place in document.places(term)))
        lines.sort(key=lambda line: line.start)
    step = max(1, len(lines) // 60)
    passages: list[str] = []
    for line in lines[::step]:
        passages += document.passages_of(line)
        if not document.passages_of(line):
            passages += _windows(document.text[line.start : line.end])
    if len(passages) < 3 or len(set(passages)) < 3:
        for line in lines[:20]:
            passages += _windows(document.text[line.start : line.end])
    about = [passage for passage in passages if any(term in passage for term in terms)]
    return list(dict.fromkeys(about if len(about) >= 3 else passages))


def _windows(line: str) -> list[str]:
    """Pieces of a line that holds no passage fit for quoting."""
    words = line[:2_000].split()
    if len(words) < 8:
        text = "".join(words)
        return [text[place : place + 30] for place in range(0, len(text), 30)]
    return [" ".join(words[place : place + 12]) for place in range(0, len(words), 12)]


def _selection(passages: list[str], turn: int, limit: int, language: str) -> str:
    """Passages at even distances, beginning at a different one each turn, while they fit the limit."""
    if not passages:
        return ""
    wanted = max(2, limit // (14 if language == ENGLISH else 24))
    step = max(1, len(passages) // wanted)
    start = (turn * max(1, step // 3)) % len(passages)
    taken: list[str] = []
    for passage in passages[start::step]:
        joined = _joined([*taken, passage], language)
        if length_in(joined, language) <= limit:
            taken.append(passage)
    return _joined(taken, language)


def _joined(passages: list[str], language: str) -> str:
    return (" " if language == ENGLISH else "").join(passages)


_ELEMENTS = {ENGLISH: "the summary", CHINESE: "摘要"}

SUMMARY_KINDS = (
    Kind(
        "summary_whole",
        SUMMARY,
        {
            ENGLISH: (
                "Summarise the whole document in at most {n} words, from its beginning to its end, leaving out no "
                "main point.",
                "Give an account of the document as a whole that covers its opening, its course and its close in no "
                "more than {n} words.",
                "What does the document say, taken from first to last? Condense it into {n} words or fewer.",
            ),
            CHINESE: (
                "请用不超过{n}字概括全文，从开头到结尾，不遗漏要点。",
                "请在{n}字以内概述整份文档，涵盖开端、经过与结尾。",
                "这份文档从头到尾讲了什么？请压缩为至多{n}字的摘要。",
            ),
        },
        _ELEMENTS,
        {
            ENGLISH: "The passages chosen are spread over the whole document",
            CHINESE: "所选语句遍布全文",
        },
        _make_whole,
        references,
    ),
    Kind(
        "summary_whole_terms",
        SUMMARY,
        {
            ENGLISH: (
                "Tell in at most {n} words what happens in the document from first to last, with an eye on what it "
                "says of {terms} throughout.",
                "Summarise the document within {n} words, covering all of it and following the threads of {terms}.",
            ),
            CHINESE: (
                "请用不超过{n}字讲述文档自始至终的内容，并兼顾其中有关{terms}的叙述。",
                "请在{n}字以内概括文档，覆盖全篇，并贯穿{terms}的线索。",
            ),
        },
        _ELEMENTS,
        {
            ENGLISH: "The passages chosen are spread over the whole document",
            CHINESE: "所选语句遍布全文",
        },
        _make_whole_terms,
        references,
    ),
    Kind(
        "summary_part",
        SUMMARY,
        {
            ENGLISH: (
                "In at most {n} words, summarise {part}.",
                "Summarise what is said in {part}, and nothing from elsewhere, within {n} words.",
            ),
            CHINESE: (
                "请用不超过{n}字概括{part}。",
                "请概括{part}所讲的内容，不涉及其他部分，限{n}字以内。",
            ),
        },
        _ELEMENTS,
        {ENGLISH: "All passages stand in the named part", CHINESE: "全部语句都位于指定的部分"},
        _make_part,
        references,
    ),
    Kind(
        "summary_term",
        SUMMARY,
        {
            ENGLISH: ("Within {n} words, summarise what {part} tells about {terms}.",),
            CHINESE: ("请在{n}字以内概括{part}中有关{terms}的内容。",),
        },
        _ELEMENTS,
        {
            ENGLISH: "All passages stand in the named part and keep to the subject",
            CHINESE: "全部语句都位于指定的部分且切合主题",
        },
        _make_term,
        references,
    ),
)
