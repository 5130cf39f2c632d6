"""The headings of a text, found from the text alone: what the reader's outline lists.

Known: the headings of joined sources (`==== 1. Title ====`), Markdown, underlined titles (reStructuredText, Setext),
CHAPTER XII and its kin, 第十二回 and its kin down to 第二十条, numbered headings (1.2.3, 一、), and with care short
lines in capitals. Whatever the text, the time is linear in its length and the list is bounded.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

# Rises when the rules change, so that no browser keeps the outline of older rules.
RULES = 3
MOST = 2_000
LONGEST_LINE = 160
LONGEST_TITLE = 120
# A text with more lines in capitals than this uses them for something else (who speaks, what is shouted).
MOST_CAPITALS = 200
DEEPEST = 6
CODE = 4
# Titles that come again later make a table of contents, from so many on.
CONTENTS = 3

SOURCE, VOLUME, BOOK, PART, CHAPTER, SECTION, ARTICLE = range(0, 70, 10)

_LINE = re.compile(rf"^[^\n]{{1,{LONGEST_LINE}}}$", re.MULTILINE)
_FENCE = re.compile(r"(```|~~~)")
_SOURCE = re.compile(r"==== (\d{1,4}\. .+) ====$")
_HASHES = re.compile(r"(#{1,6})[ \t]+(\S.*?)[ \t]*#*$")
_UNDERLINE = re.compile(r"([=\-~^\"'`*+#.:_])\1{2,}$")
_WORDS = {
    "volume": VOLUME, "book": BOOK, "part": PART, "chapter": CHAPTER, "act": CHAPTER, "appendix": CHAPTER,
    "section": SECTION, "scene": SECTION,
}  # fmt: skip
_NUMBERS = (
    r"\d{1,4}|[IVXLCDM]{1,9}|[ivxlcdm]{1,9}|[A-Z]|(?i:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"the (?:first|second|third|fourth|fifth|sixth|seventh|last))"
)
_WORDED = re.compile(rf"({'|'.join(f'{w.title()}|{w.upper()}' for w in _WORDS)}) (?:{_NUMBERS})(?=$|[\s.:,;)—–-])(.*)$")
_HAN_RANKS = {
    "编": VOLUME, "部": VOLUME, "卷": BOOK, "册": BOOK, "集": BOOK, "篇": PART, "章": CHAPTER, "回": CHAPTER,
    "幕": CHAPTER, "节": SECTION, "场": SECTION, "条": ARTICLE,
}  # fmt: skip
_HAN_NUMBER = "零〇一二三四五六七八九十百千两0-9０-９"
_HAN = re.compile(rf"第[{_HAN_NUMBER}]{{1,9}}(?:部分|([{''.join(_HAN_RANKS)}]))(?:之[一二三四五六七八九十])?(.*)$")
_HAN_ALONE = re.compile(r"(?:序|序言|前言|引言|引子|楔子|目录|附录|附则|后记|尾声|结语)$")
_HAN_LIST = re.compile(r"[一二三四五六七八九十百]{1,4}、(\S.{0,29})$")
_NUMBERED = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,4})\.?[ \t\u3000]+(\S.*)$")
_ENDS_SENTENCE = re.compile(r"[.,;:!?。，；：？！…]$")
_SENTENCE = re.compile(r"[。；？！]|[.;?!] ")


@dataclass(frozen=True)
class Heading:
    """A line of the text, in code points, half-open; `level` 1 is the highest."""

    start: int
    end: int
    level: int
    title: str
    kind: str = ""


@dataclass(frozen=True)
class Outline:
    """At most MOST headings. `every` is 1, or n where only each n-th of the `found` is listed."""

    headings: tuple[Heading, ...]
    found: int
    every: int = 1


@dataclass(frozen=True)
class Line:
    """A line that is short enough to be a heading, without the space around it."""

    text: str
    start: int
    above: bool  # an empty line, or the beginning, is above it
    below: bool  # an empty line, or the end, is below it
    indent: int = 0  # spaces before it; a tab is four

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def outline_of(text: str) -> Outline:
    found = _without_contents(_levelled(list(_headings(_lines(text)))))
    shown = found
    for deepest in range(DEEPEST - 1, 0, -1):
        if len(shown) <= MOST:
            break
        shown = [heading for heading in found if heading.level <= deepest] or shown
    every = -(-len(shown) // MOST) or 1
    return Outline(tuple(shown[::every]), len(found), every)


def _lines(text: str) -> Iterator[Line]:
    for match in _LINE.finditer(text):
        line = match.group().strip()
        if not line:
            continue
        start = match.start() + match.group().index(line)
        above, below = _is_empty_above(text, match.start()), _is_empty_below(text, match.end())
        yield Line(line, start, above, below, start - match.start() + 3 * match.group().startswith("\t"))


def _is_empty_above(text: str, start: int) -> bool:
    """Whether the line before is empty. Spaces count as nothing, up to a few."""
    return start == 0 or not text[max(0, start - 9) : start - 1].rpartition("\n")[2].strip()


def _is_empty_below(text: str, end: int) -> bool:
    return not text[end + 1 : end + 9].partition("\n")[0].strip()


def _headings(lines: Iterable[Line]) -> Iterator[Heading]:
    """In order of place. An underlined title is known by the line after it, so one line is held back."""
    styles: dict[str, int] = {}
    fence = ""
    held: Line | None = None
    for line in lines:
        mark = _FENCE.match(line.text)
        if not fence and held and _underlines(line, held):
            level = CHAPTER + styles.setdefault(line.text[0], len(styles))
            yield Heading(held.start, held.end, level, held.text, "underlined")
            held = None
            continue
        if held:
            yield from _single(held)
        held = None
        if mark and (not fence or mark.group() == fence):
            fence = "" if fence else mark.group()
        elif not fence:
            held = line
    if held:
        yield from _single(held)


def _underlines(line: Line, title: Line) -> bool:
    return (
        bool(_UNDERLINE.match(line.text))
        and line.start - title.end <= 8
        and not title.below
        and title.indent < CODE
        and len(line.text) >= len(title.text)
        and not _UNDERLINE.match(title.text)
        and "|" not in title.text
    )


def _single(line: Line) -> Iterator[Heading]:
    for rule in (_source, _hashed, _worded, _han, _numbered, _capitals):
        heading = rule(line)
        if heading:
            yield heading
            return


def _made(line: Line, level: int, title: str, kind: str, *, start: int = 0) -> Heading:
    title = title.replace("**", "").strip() or line.text
    return Heading(line.start + start, line.end, level, title, kind)


def _source(line: Line) -> Heading | None:
    match = _SOURCE.match(line.text)
    return _made(line, SOURCE, match.group(1), "source") if match and line.above else None


def _hashed(line: Line) -> Heading | None:
    """So do programs begin their remarks: no space before it, and a single sign needs an empty line above or below."""
    match = _HASHES.match(line.text)
    if not match or line.indent or not (line.above or line.below or len(match.group(1)) > 1):
        return None
    return _made(line, CHAPTER + len(match.group(1)) - 1, match.group(2), "hashes")


def _worded(line: Line) -> Heading | None:
    match = _WORDED.match(line.text)
    if not match or not line.above or len(line.text) > 100:
        return None
    rest = match.group(2)
    if rest and not (rest[0] in ".:—–-" or (line.below and not _ENDS_SENTENCE.search(rest))):
        return None
    return _made(line, _WORDS[match.group(1).lower()], line.text, "worded")


def _han(line: Line) -> Heading | None:
    """第十二回 with its title; of an article, which goes on in the same line, the number alone."""
    text = line.text.removeprefix("**").lstrip("\u3000 ")
    if _HAN_ALONE.match(text.strip("* ")) and line.above:
        return _made(line, CHAPTER, text, "han")
    listed = _HAN_LIST.match(text)
    if listed and line.above and line.below and not _ENDS_SENTENCE.search(text):
        return _made(line, SECTION + 5, text, "listed")
    match = _HAN.match(text)
    if not match:
        return None
    rank, rest = _HAN_RANKS[match.group(1) or "部"], match.group(2).strip("*")
    if rank == ARTICLE:
        is_article = line.above and (not rest or rest[0] in " \u3000*")
        return _article(line, text[: match.start(2)].strip("*")) if is_article else None
    if _SENTENCE.search(rest) or len(rest) > 60 or rest[:1] in tuple("的、，规所和及与至中"):
        return None
    return _made(line, rank, text, "han")


def _article(line: Line, number: str) -> Heading:
    at = line.start + line.text.index(number)
    return Heading(at, at + len(number), ARTICLE, number, "article")


def _numbered(line: Line) -> Heading | None:
    """1.2.3 Title. A single number also begins a list, so that one must stand between empty lines."""
    match = _NUMBERED.match(line.text)
    if not match or not line.above or line.indent >= CODE or len(line.text) > 90:
        return None
    depth, title = match.group(1).count("."), match.group(2)
    if _ENDS_SENTENCE.search(title) or not (title[0].isupper() or title[0] > "\u2e80"):
        return None
    return _made(line, CHAPTER + 5 + depth, line.text, "numbered") if depth or line.below else None


def _capitals(line: Line) -> Heading | None:
    text = line.text
    if not (line.above and line.below and 4 <= len(text) <= 70 and text.isupper()):
        return None
    letters = sum("A" <= letter <= "Z" for letter in text)
    return _made(line, CHAPTER, text.rstrip(".;:"), "capitals") if letters >= max(4, 0.6 * len(text)) else None


def _levelled(found: Sequence[Heading]) -> list[Heading]:
    """The ranks in use as levels from 1; capitals left out where there are too many of them."""
    kinds = Counter(heading.kind for heading in found)
    if kinds["capitals"] > MOST_CAPITALS:
        found = [heading for heading in found if heading.kind != "capitals"]
    levels = {rank: min(DEEPEST, n) for n, rank in enumerate(sorted({heading.level for heading in found}), 1)}
    return [
        replace(heading, level=levels[heading.level], title=" ".join(heading.title.split())[:LONGEST_TITLE])
        for heading in found
    ]


def _without_contents(found: Sequence[Heading]) -> list[Heading]:
    """Without tables of contents: in headings that follow each other closely, those from the first to the last that
    have nothing below them, where three of them or more, and half of all, come again later. A chapter that opens with
    its first article has something below it, though "General provisions" comes again in the next law."""
    last = {heading.title.casefold(): n for n, heading in enumerate(found)}
    times = Counter(heading.title.casefold() for heading in found)
    kept: list[Heading] = []
    for first, end in _close(found):
        empty = [n for n in range(first, end) if _is_empty(found, n)]
        again = [n for n in empty if last[found[n].title.casefold()] > n]
        start = stop = first
        if len(again) >= CONTENTS and 2 * len(again) > again[-1] - empty[0]:
            start, stop = empty[0], again[-1] + 1
        while first < stop < end and _is_empty(found, stop):  # what the text, cut short, does not reach
            stop += 1
        if start < stop < end and times[found[stop].title.casefold()] == 1 and _goes_on(found[stop - 1], found[stop]):
            stop += 1
        kept += [*found[first:start], *found[stop:end]]
    return kept


def _close(found: Sequence[Heading]) -> Iterator[tuple[int, int]]:
    """From where to where headings follow each other with a line between them at most (a title of two lines)."""
    first = 0
    for n in range(1, len(found) + 1):
        if n == len(found) or found[n].start - found[n - 1].end > LONGEST_LINE or found[n].kind == "article":
            yield first, n
            first = n


def _is_empty(found: Sequence[Heading], n: int) -> bool:
    """Whether the next heading follows at once and does not stand below this one."""
    return n + 1 < len(found) and found[n + 1].start - found[n].end <= 4 and found[n + 1].level <= found[n].level


def _goes_on(entry: Heading, heading: Heading) -> bool:
    """Whether this heading, which has no other close below it, is one more entry of the contents: at once behind the
    last one and of its kind. (The first chapter, which may follow at once as well, is named in the contents.)"""
    return heading.start - entry.end <= 4 and (heading.kind, heading.level) == (entry.kind, entry.level)
