"""Wording by which a part would set an output form of its own, beside or against the fixed requirement.

Searched for in the text as it reads: full-width letters and brackets count as their plain ones, invisible characters
not at all. Places are those of the text as given.
"""

import re
import unicodedata
from dataclasses import dataclass

from benchmark.punctuation import exempt_spans

GIVE = "list|output|write|give|put|print|name"
PATTERNS = (
    r"\bline by line\b",
    r"\bone per line\b",
    rf"\b(?:{GIVE})\b[^.!?\n]{{0,60}}\b(?:one|each)\b[^.!?\n]{{0,20}}\b(?:per|a|own|separate|new) line\b",
    rf"\b(?:{GIVE})\b[^.!?\n]{{0,60}}\bon separate lines\b",
    r"\bwithout (?:any )?(?:additional|extra|other|further) (?:content|text|words?|explanations?)\b",
    r"\bdo not output\b",
    r"\bdo not (?:include|add|write|give) any(?:thing else\b| additional\b| extra\b| explanations?\b)",
    r"\b(?:output|respond|reply|answer) (?:with )?only\b",
    r"\bonly (?:output|respond|reply)\b",
    r"(?:^|[.!?;:]\s+|\n\s*|\b(?:please|then|first|finally|must|should) )output (?!of\b|is\b|are\b|was\b|were\b)",
    r"\boutput (?:the |your )?(?:final )?answers?\b",
    r"\boutput (?:example|format|requirements?)\b",
    r"\b(?:your|the) (?:answer|output|response|reply) (?:should|must) (?:be|only|contain|have)\b",
    r"\bthink step by step\b",
    r"\byour thinking process\b",
    r"\[ ?answer ?\]",
    r"逐行(?:输出|列出|写出|给出|作答|回答)",
    r"每行(?:只|仅)?(?:输出|写|列出|给出)",
    r"(?:输出|写出|列出|给出)[^。！？\n]{0,12}每行(?:一|1)",
    r"(?:不要|不得|无需|请勿|勿)输出",
    r"(?:不要|不得|无需|请勿|勿)(?:添加|附加|给出)[^。！？\n]{0,3}(?:其他|其它|任何|额外|多余|解释)",
    r"(?:只|仅|请)(?:直接|依次|按顺序)?输出",
    r"(?:^|[。！？；：，]\s*|\n\s*)(?:先|再|然后|最后|并)?输出(?!的|了|是|为|什么|哪)",
    r"输出(?:示例|格式|要求|答案)",
    r"(?:回答|作答|答案)的?格式",
    r"一步(?:一步|步)(?:地)?(?:思考|推理)",
    r"[\[【]\s?答案\s?[\]】]",
)
ANY = re.compile("|".join(PATTERNS), re.IGNORECASE)
# What no phrase can mean otherwise: the template says it around the elements phrase, so there it would stand twice.
SAID_TWICE = re.compile(
    r"\bline by line\b|\bone per line\b|\bwithout (?:any )?(?:additional|extra|other|further) (?:content|text)\b"
    r"|逐行(?:输出|列出|写出|给出)|不要输出",
    re.IGNORECASE,
)
ALIKE = re.compile(r"[\[【〔]\s?(?:answer|答案)\s?[\]】〕]", re.IGNORECASE)
LEADING = " .!?;:。！？；：，\n"

FULL = dict(zip(range(0xFF10, 0xFF5B), map(chr, range(0x30, 0x7B)), strict=True))
WIDE = {code: plain for code, plain in FULL.items() if plain.isalnum() or plain in "[]"} | {0x3000: " ", 0xA0: " "}


@dataclass(frozen=True)
class Place:
    """Code points of the text as given, half-open, and what stands there."""

    start: int
    end: int
    text: str


def plain(text: str) -> tuple[str, list[int]]:
    """The text as it reads, and for each of its characters the place in the text as given; one place more at the end.

    One to one but for invisible characters, which are left out.
    """
    shown = [(at, mark) for at, mark in enumerate(text) if unicodedata.category(mark) != "Cf"]
    return "".join(mark for _, mark in shown).translate(WIDE), [at for at, _ in shown] + [len(text)]


def places(text: str, pattern: re.Pattern[str]) -> list[Place]:
    """Where the pattern reads in the text, without the marks that end the sentence before."""
    read, at = plain(text)
    found = []
    for match in pattern.finditer(read):
        lead = len(match[0]) - len(match[0].lstrip(LEADING))
        start, end = at[match.start() + lead], at[match.end() - 1] + 1
        found.append(Place(start, end, text[start:end].strip()))
    return found


def requirements(text: str, *, english: bool) -> list[Place]:
    """Output requirements, those excepted that stand as a whole inside a quotation or code."""
    quoted = exempt_spans(text, english=english)
    return [
        place
        for place in places(text, ANY)
        if not any(start < place.start and place.end < end for start, end in quoted)
    ]


# Taking it out ---------------------------------------------------------------------------------------------------

SENTENCE_END = re.compile(r"[。！？!?；\n]|(?<!e\.g)(?<!i\.e)\.(?=\s|$)")
JOINT = re.compile(r"[,，;；、:：]\s*|\s+(?:and then|and|then)\s+", re.IGNORECASE)
TAIL = re.compile(
    r"(?:[,，;；]?\s*(?:and\s+)?|\s+)(?:(?:each|one)\b[^,.!?\n]{0,30}?\b(?:per|a|own|separate|new) line"
    r"|on separate lines|line by line|one per line|without (?:any )?(?:additional|extra|other|further) \w+)\b",
    re.IGNORECASE,
)
CONNECTING = re.compile(r"(?:please|then|finally|also|and|now|请|并|且|再|然后|最后|先)*", re.IGNORECASE)
BY_LINE = re.compile(r"逐行(输出|列出|写出|给出)(?=[^\s，。；！？、,.;!?])")


def removal(text: str, place: Place) -> tuple[int, int, str] | None:
    """The smallest change that takes the requirement out and leaves a sentence: (start, end, new text).

    None where nothing of the text would be left, so that only its author can say what is meant.
    """
    for change in (_by_line(text, place), _tail(text, place), _clause(text, place)):
        if change is not None and (text[: change[0]] + change[2] + text[change[1] :]).strip(" .,，。！？!?；;\n"):
            return change
    return None


def _by_line(text: str, place: Place) -> tuple[int, int, str] | None:
    match = BY_LINE.match(text, place.start)
    return (match.start(), match.end(), "列出") if match else None


def _tail(text: str, place: Place) -> tuple[int, int, str] | None:
    match = TAIL.search(text, max(0, place.start - 2), place.end)
    begins = _sentence(text, place)[0]
    return (match.start(), match.end(), "") if match and text[begins : match.start()].strip() else None


def _clause(text: str, place: Place) -> tuple[int, int, str] | None:
    begins, ends = _sentence(text, place)
    lead = text[begins : place.start]
    if CONNECTING.fullmatch("".join(lead.split())):
        stop = ends + 1 if ends < len(text) and text[ends] != "\n" else ends
        while stop < len(text) and text[stop] in " \t":
            stop += 1
        while stop == len(text) and begins and text[begins - 1].isspace():
            begins -= 1
        return begins, stop, ""
    joints = list(JOINT.finditer(lead))
    start = begins + joints[-1].start() if joints else begins + len(lead.rstrip())
    return start, ends, ""


def _sentence(text: str, place: Place) -> tuple[int, int]:
    """Where the sentence begins, white space left out, and where its end mark stands."""
    before = [match.end() for match in SENTENCE_END.finditer(text, 0, place.start)]
    begins = before[-1] if before else 0
    while begins < place.start and text[begins].isspace():
        begins += 1
    after = SENTENCE_END.search(text, max(place.end - 1, place.start))
    return begins, after.start() if after else len(text)
