"""One story of a DOCX (its body, its footnotes) as text, by the events of its XML.

The text rule: paragraphs apart, list items with their mark, table rows on lines with tabs between cells, text boxes
before the paragraph that they hang on. Insertions that await acceptance are in, deletions and what moved away are out;
comments, field codes and hidden text are out; a note's number stands in brackets where its mark stands.
"""

from collections import Counter
from collections.abc import Callable

from documents.formats.blocks import Blocks, Table
from documents.formats.numbering import Numbering, whole
from documents.formats.styles import Styles

# Out with everything inside. Of AlternateContent the fallback says the same again, for older programs.
SKIPPED = frozenset(
    ["del", "moveFrom", "Fallback", "instrText", "delText", "delInstrText", "pPrChange", "rPrChange", "sectPrChange"]
)
NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011", "ptab": "\t"}
OBJECTS = frozenset(["OLEObject", "altChunk"])
MAX_TABLES = 12


class Paragraph:
    def __init__(self) -> None:
        self.words: list[str] = []
        self.style = self.number = ""
        self.depth: int | None = None


class Story:
    """Give `start`, `end` and `words` to `elements.walk`. `notes` lists the notes referred to, in order."""

    def __init__(self, numbering: Numbering, styles: Styles, label: Callable[[str, str], str]) -> None:
        self.counts: Counter[str] = Counter()
        self._numbering, self._styles, self._label = numbering, styles, label
        self._body = Blocks()
        self._here = self._body
        self._tables: list[Table] = []
        self._table_depth = 0
        self._paragraphs: list[Paragraph] = []
        self._open: list[str] = []
        self._skipped = 0
        self._hidden = False
        self._in_words = 0
        self._was_item = False

    def text(self) -> str:
        return self._body.text()

    # Events -------------------------------------------------------------------------------------------------------

    def start(self, name: str, given: dict[str, str]) -> None:
        within = self._open[-1] if self._open else ""
        self._open.append(name)
        self._count(name, given)
        if name in SKIPPED:
            self._skipped += 1
        if self._skipped:
            return
        if name == "p":
            self._paragraphs.append(Paragraph())
        elif name == "r":
            self._hidden = False
        elif name == "t":
            self._in_words += 1
        elif name in ("tbl", "tr", "tc"):
            self._start_of_table(name)
        elif self._paragraphs:
            self._in_paragraph(name, given, within)

    def end(self, name: str) -> None:
        if self._open:
            self._open.pop()
        if name in SKIPPED:
            self._skipped -= 1
            return
        if self._skipped:
            return
        if name == "t":
            self._in_words -= 1
        elif name == "p" and self._paragraphs:
            self._end_paragraph(self._paragraphs.pop())
        elif name == "tbl":
            self._end_table()

    def words(self, words: str) -> None:
        if self._in_words and not self._skipped and self._paragraphs:
            if self._hidden:
                self.counts["hidden_text"] += 1
            else:
                self._paragraphs[-1].words.append(words)

    # What they do -------------------------------------------------------------------------------------------------

    def _count(self, name: str, given: dict[str, str]) -> None:
        if name in ("ins", "del", "moveFrom"):
            self.counts["tracked_changes"] += 1
        elif name == "commentReference":
            self.counts["comments_left_out"] += 1
        elif name in OBJECTS:
            self.counts["embedded_objects"] += 1

    def _in_paragraph(self, name: str, given: dict[str, str], within: str) -> None:
        paragraph, value = self._paragraphs[-1], given.get("val", "")
        if name == "vanish" and within == "rPr" and "r" in self._open[-3:]:
            self._hidden = value not in ("0", "false", "off")
        elif name == "pStyle":
            paragraph.style = value
        elif name == "numId" and within == "numPr":
            paragraph.number = value
        elif name == "ilvl" and within == "numPr":
            paragraph.depth = whole(value)
        elif self._hidden:
            return
        elif name in CHARACTERS and within == "r":
            paragraph.words.append(CHARACTERS[name])
        elif name == "sym":
            paragraph.words.append(_symbol(given.get("char", "")))
        elif name in NOTES:
            kind = NOTES[name]
            paragraph.words.append(f"[{self._label(kind, given.get('id', ''))}]")

    def _end_paragraph(self, paragraph: Paragraph) -> None:
        words = "".join(paragraph.words).strip("\n").rstrip()
        mark = self._mark(paragraph) if words else ""
        if not words:
            self._was_item = False
            return
        # Items of one list stand close together, all else apart.
        if mark and self._was_item:
            self._here.rest(1)
        else:
            self._here.rest(2)
        self._here.add(f"{mark} {words}" if mark else words)
        self._here.rest(1 if mark else 2)
        self._was_item = bool(mark)

    def _mark(self, paragraph: Paragraph) -> str:
        number, depth = self._styles.numbering_of(paragraph.style)
        # Number 0 takes a style's numbering away.
        number = paragraph.number or number
        depth = depth if paragraph.depth is None else paragraph.depth
        return self._numbering.mark(number, depth) if number and number != "0" else ""

    def _start_of_table(self, name: str) -> None:
        if name == "tbl":
            self._table_depth += 1
            self._here.rest(2)
            if self._table_depth <= MAX_TABLES:
                self._here.holds_table = True
                self._tables.append(Table(self._here))
            return
        if not self._tables or self._table_depth > MAX_TABLES:
            return
        if name == "tr":
            self._tables[-1].begin_row()
        elif name == "tc":
            self._here = self._tables[-1].begin_cell()

    def _end_table(self) -> None:
        self._table_depth -= 1
        self._was_item = False
        if self._table_depth < MAX_TABLES and self._tables:
            table = self._tables.pop()
            self._here = table.outside
            self._here.keep(table.text())


def _symbol(code: str) -> str:
    """A character of a symbol font: its number is in the private area, which the font alone knows."""
    try:
        letter = chr(int(code, 16))
    except (ValueError, OverflowError):
        return ""
    return "" if "\ud800" <= letter <= "\udfff" or letter < " " else letter
