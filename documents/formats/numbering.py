"""The numbers and bullets of a DOCX: counted by the rules in word/numbering.xml, as they are nowhere in the text."""

import re
from dataclasses import dataclass, field

from documents.formats.elements import walk
from documents.formats.numerals import WORD

_PLACE = re.compile("%([1-9])")


@dataclass
class Level:
    form: str = "decimal"
    pattern: str = ""
    start: int = 1


@dataclass
class Numbering:
    """`lists` maps a w:num to its levels. `mark` counts on and gives what stands before a paragraph."""

    lists: dict[str, dict[int, Level]] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)

    def mark(self, number: str, depth: int) -> str:
        levels = self.lists.get(number)
        if levels is None:
            return ""
        counts = self._counts.setdefault(number, {})
        level = levels.get(depth, Level())
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [other for other in counts if other > depth]:
            del counts[deeper]
        if level.form == "none":
            return ""
        if level.form == "bullet":
            return "  " * depth + "-"
        return _PLACE.sub(lambda found: self._written(levels, counts, int(found[1]) - 1), level.pattern)

    @staticmethod
    def _written(levels: dict[int, Level], counts: dict[int, int], depth: int) -> str:
        level = levels.get(depth, Level())
        return WORD.get(level.form, str)(counts.get(depth, level.start))


class _Reader:
    def __init__(self) -> None:
        self.patterns: dict[str, dict[int, Level]] = {}
        self.lists: dict[str, dict[int, Level]] = {}
        self._pattern = self._number = ""
        self._level: Level | None = None

    def start(self, name: str, given: dict[str, str]) -> None:
        value = given.get("val", "")
        if name == "abstractNum":
            self._pattern = given.get("abstractNumId", "")
            self.patterns[self._pattern] = {}
        elif name == "num":
            self._number = given.get("numId", "")
        elif name == "abstractNumId" and self._number:
            # Lists that share a pattern count each for itself, but know the same levels.
            self.lists[self._number] = self.patterns.get(value, {})
        elif name == "lvl" and self._pattern and not self._number:
            self._level = Level()
            self.patterns[self._pattern][whole(given.get("ilvl", ""))] = self._level
        elif self._level is not None:
            self._in_level(name, value)

    def _in_level(self, name: str, value: str) -> None:
        assert self._level is not None
        if name == "start":
            self._level.start = whole(value, 1)
        elif name == "numFmt":
            self._level.form = value
        elif name == "lvlText":
            self._level.pattern = value[:60]

    def end(self, name: str) -> None:
        if name == "lvl":
            self._level = None
        elif name == "num":
            self._number = ""


def numbering_in(data: bytes) -> Numbering:
    reader = _Reader()
    walk(data, start=reader.start, end=reader.end, words=lambda words: None, part="word/numbering.xml")
    return Numbering(reader.lists)


def whole(written: str, otherwise: int = 0) -> int:
    return int(written) if written.isdecimal() and len(written) < 7 else otherwise
