"""Reading a document: its lines, the passages worth quoting, its terms and how often they stand where."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from string import ascii_letters, digits

from generation.demo.chance import Chance

ENGLISH, CHINESE = "English", "Chinese"

_COMMON_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        about above after again against also although always among another around because been before being below
        between both cannot could does doing down during each either even ever every from give given goes gone had
        has have having here hers herself himself however into itself just less like made make many more most much
        must myself never none nothing only other others ours over same self shall should since some something such
        than that their theirs them themselves then there therefore these they thing things this those though through
        thus till together under until unto upon used very were what whatever when where whether which while whom
        whose will with within without would your yours yourself
        """,
    )
)
_COMMON_HAN = "的了是在不一有他她它我这那你们个就着和与也都而其之于以为及或但若又并得地将被把对从到说道听见去来过还只要"
_WORD = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z]{4,20}(?![A-Za-z0-9_])")
_HAN_TERM = re.compile(rf"(?<![^\W{_COMMON_HAN}])(?:(?![{_COMMON_HAN}])[\u4e00-\u9fff]){{2,3}}(?![^\W{_COMMON_HAN}])")
_HAN_PAIR = re.compile(r"(?=([\u4e00-\u9fff]{2}))")
_ANY_WORD = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z][A-Za-z0-9]{1,20}(?![A-Za-z0-9_])")
_SENTENCE = re.compile(r"[^.!?。！？．；;]+[.!?。！？．；;]*")
_QUOTES = set('“”"「」『』`')
_WORD_MARKS = frozenset(f"{ascii_letters}{digits}_")


@dataclass(frozen=True)
class Part:
    """A stretch of a document: code points [start, end), and how a question names it."""

    start: int
    end: int
    first: str = ""  # the passages that begin and end it, when it is named by passages
    last: str = ""
    lines: tuple[int, int] | None = None  # the numbers of its non-empty lines, from 1, when it is named by these


@dataclass(frozen=True)
class Line:
    number: int
    start: int
    end: int


class Document:
    def __init__(self, text: str) -> None:
        self.text = text

    # --- lines

    @cached_property
    def lines(self) -> list[Line]:
        """The non-empty lines, numbered from 1."""
        found: list[Line] = []
        start = 0
        for raw in self.text.split("\n"):
            if raw and not raw.isspace():
                found.append(Line(len(found) + 1, start, start + len(raw)))
            start += len(raw) + 1
        return found

    @cached_property
    def _line_starts(self) -> list[int]:
        return [line.start for line in self.lines]

    def line_at(self, place: int) -> Line:
        return self.lines[max(0, bisect_right(self._line_starts, place) - 1)]

    def lines_in(self, part: Part) -> list[Line]:
        """Lines that begin in the part, and the one it begins in; cut to the part, numbered from 1 within it."""
        first = max(0, bisect_right(self._line_starts, part.start) - 1)
        found: list[Line] = []
        for line in self.lines[first:]:
            if line.start >= part.end:
                break
            start, end = max(line.start, part.start), min(line.end, part.end)
            if self.text[start:end].strip():
                found.append(Line(len(found) + 1, start, end))
        return found

    @property
    def whole(self) -> Part:
        return Part(0, len(self.text))

    # --- terms

    def count(self, term: str, part: Part | None = None) -> int:
        return len(self.places(term, part))

    def places(self, term: str, part: Part | None = None) -> list[int]:
        """Where a term stands, one after the other without overlap. Latin terms count as whole words."""
        start, end = (part.start, part.end) if part else (0, len(self.text))
        if term[:1] in _WORD_MARKS:
            return list(self._word_places(term, start, end))
        found: list[int] = []
        place = self.text.find(term, start, end)
        while place >= 0 and term:
            found.append(place)
            place = self.text.find(term, place + len(term), end)
        return found

    def stands(self, term: str, part: Part | None = None) -> bool:
        """Whether a term stands there at all: the search ends at the first place."""
        start, end = (part.start, part.end) if part else (0, len(self.text))
        if term[:1] not in _WORD_MARKS:
            return self.text.find(term, start, end) >= 0
        return next(self._word_places(term, start, end), -1) >= 0

    def _word_places(self, term: str, start: int, end: int) -> Iterator[int]:
        text, size = self.text, len(term)
        place = text.find(term, start, end)
        while place >= 0:
            after = place + size
            if (place == 0 or text[place - 1] not in _WORD_MARKS) and text[after : after + 1] not in _WORD_MARKS:
                yield place
            place = text.find(term, after, end)

    @cached_property
    def terms(self) -> Counter[str]:
        return self.terms_in(self.whole)

    def terms_in(self, part: Part) -> Counter[str]:
        """Candidate terms of a part with a first count: words of letters, and runs of Han between common ones."""
        text = self.text[part.start : part.end]
        han = Counter(_HAN_TERM.findall(text))
        words = Counter(word for word in _WORD.findall(text) if word.lower() not in _COMMON_WORDS)
        if han.total() > words.total():
            return han if len(han) >= 12 else Counter(_HAN_PAIR.findall(text)) + han
        if len(words) < 12:
            words = Counter(_ANY_WORD.findall(text))
        # Metrics do not see case: of two spellings the more frequent one stays.
        seen: set[str] = set()
        kept: Counter[str] = Counter()
        for word, number in words.most_common():
            if word.lower() not in seen:
                seen.add(word.lower())
                kept[word] = number
        return kept

    # --- passages

    def passage_in(self, start: int, end: int) -> str:
        """A passage fit for quoting that lies wholly in [start, end), within a line, and stands once in the document.

        The first whole sentence among the next lines, or else the first piece of a line.
        """
        spare = ""
        for line in self._lines_between(start, end):
            for passage in self.passages_of(line):
                whole = is_whole_sentence(passage)
                if (spare and not whole) or not self._stands_in(passage, line, start, end):
                    continue
                if whole:
                    return passage
                spare = passage
        return spare

    def _stands_in(self, passage: str, line: Line, start: int, end: int) -> bool:
        place = self.text.find(passage, line.start, line.end)
        return place >= start and place + len(passage) <= end and self.is_unique(passage)

    def _lines_between(self, start: int, end: int) -> list[Line]:
        first = max(0, bisect_right(self._line_starts, start) - 1)
        return [line for line in self.lines[first : first + 40] if line.start < end]

    def is_unique(self, passage: str) -> bool:
        first = self.text.find(passage)
        return first >= 0 and self.text.find(passage, first + 1) < 0

    def passages_of(self, line: Line) -> list[str]:
        """Sentences of a line that can be quoted; a line without any gives itself, if it can be quoted."""
        text = self.text[line.start : min(line.end, line.start + 4_000)]
        sentences = [found.group().strip() for found in _SENTENCE.finditer(text)]
        fit = [sentence for sentence in sentences if is_quotable(sentence)]
        return fit or [whole for whole in (text.strip(),) if is_quotable(whole)]

    def passages(self, chance: Chance, count: int, part: Part | None = None) -> list[str]:
        """Up to `count` different passages from all over the part."""
        part = part or self.whole
        found: list[str] = []
        for turn in range(count * 6):
            if len(found) == count:
                break
            # The first throws are spread evenly, later ones fill the gaps.
            width = (part.end - part.start) / count
            place = part.start + int(width * ((turn % count) + chance.unit()))
            passage = self.passage_in(place, min(part.end, place + max(2_000, int(width))))
            if passage and not any(passage in other or other in passage for other in found):
                found.append(passage)
        return found

    # --- parts

    def part_named(self, first: str, last: str) -> Part:
        """The part between two passages, both included; as much of it as a shortened document still holds."""
        start = self.text.find(first)
        end = self.text.find(last, max(0, start))
        if start < 0 and end < 0:
            return Part(0, 0, first=first, last=last)
        return Part(
            start if start >= 0 else max(0, end - 6_000),
            end + len(last) if end >= 0 else min(len(self.text), start + 6_000),
            first=first,
            last=last,
        )

    def some_part(self, chance: Chance) -> Part:
        """A part small enough to be found and read: named by the passages at its ends, else by its lines."""
        size = min(6_000, max(200, len(self.text) // 3))
        for _ in range(12):
            start = chance.below(max(1, len(self.text) - size))
            first = self.passage_in(start, start + size // 3)
            begin = self.text.find(first)
            last = self.passage_in(begin + 2 * size // 3, min(len(self.text), begin + 2 * size)) if first else ""
            end = self.text.find(last) + len(last)
            if first and last and first != last and end - begin > size // 3:
                return Part(begin, end, first=first, last=last)
        return self.part_by_lines(chance)

    def part_by_lines(self, chance: Chance) -> Part:
        count = len(self.lines)
        length = max(1, min(60, count * 2 // 3))
        first = chance.between(1, max(1, count - length + 1))
        return self.lines_part(first, min(count, first + length - 1))

    def lines_part(self, first: int, last: int) -> Part:
        if not self.lines:
            return self.whole
        first = min(max(1, first), len(self.lines))
        last = min(max(first, last), len(self.lines))
        return Part(self.lines[first - 1].start, self.lines[last - 1].end, lines=(first, last))


def is_quotable(passage: str) -> bool:
    wide = sum(ord(mark) >= 0x2E80 for mark in passage)
    low, high = (6, 60) if wide * 2 > len(passage) else (16, 140)
    if not low <= len(passage) <= high or _QUOTES & set(passage):
        return False
    if passage[0] in "’)）》〉]】,，、:：*#>-" or "  " in passage or not passage.isprintable() or "[" in passage:
        return False
    if high == 60 and re.search(r"[A-Za-z?＝|*#]", passage):
        return False  # stray signs in a Chinese text: not a sentence anyone would quote
    return sum(mark.isalpha() for mark in passage) * 2 > len(passage)


def is_whole_sentence(passage: str) -> bool:
    return not passage[0].islower() and passage[0].isalpha() and passage[-1] in ".!?。！？．；"


def length_in(text: str, language: str) -> int:
    """Words in English, characters in Chinese."""
    return len(text.split()) if language == ENGLISH else len("".join(text.split()))
