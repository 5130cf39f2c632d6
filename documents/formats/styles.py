"""Which styles of a DOCX number their paragraphs: Word keeps "1.2" of a heading in its style."""

from dataclasses import dataclass

from documents.formats.elements import walk
from documents.formats.numbering import whole

# A style may be based on another, and that on another; hostile ones on themselves.
MAX_ANCESTORS = 20


@dataclass
class Style:
    based_on: str = ""
    number: str = ""
    depth: int | None = None


class Styles(dict[str, Style]):
    def numbering_of(self, name: str) -> tuple[str, int]:
        number, depth = "", None
        for _step in range(MAX_ANCESTORS):
            style = self.get(name)
            if style is None:
                break
            number = number or style.number
            depth = style.depth if depth is None else depth
            name = style.based_on
        return number, depth or 0


class _Reader:
    def __init__(self) -> None:
        self.styles = Styles()
        self._style: Style | None = None

    def start(self, name: str, given: dict[str, str]) -> None:
        value = given.get("val", "")
        if name == "style":
            self._style = self.styles.setdefault(given.get("styleId", ""), Style())
        elif self._style is None:
            return
        elif name == "basedOn":
            self._style.based_on = value
        elif name == "numId":
            self._style.number = value
        elif name == "ilvl":
            self._style.depth = whole(value)

    def end(self, name: str) -> None:
        if name == "style":
            self._style = None


def styles_in(data: bytes) -> Styles:
    reader = _Reader()
    walk(data, start=reader.start, end=reader.end, words=lambda words: None, part="word/styles.xml")
    return reader.styles
