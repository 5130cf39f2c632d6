"""A text put together from blocks: blank lines between them, tables by rows, white space as a browser shows it."""

import re

from documents.formats.answers import MAX_TEXT
from documents.formats.faults import Fault

_SPACE = re.compile("[ \t\n\r\f]+")
# A line end between two wide characters is no space (CSS Text 3, 4.1.3).
_WIDE = (
    "\u2e80-\u2fff\u3000-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
)
_WIDE_BREAK = re.compile(f"(?<=[{_WIDE}])[ \t\r\f]*\n[ \t\n\r\f]*(?=[{_WIDE}])")
_EDGE_SPACES = re.compile(" *\n *")
_MANY_ENDS = re.compile("\n{3,}")
BR = "\x1e"
# A cell longer than this, or with a table inside, is layout: its blocks stay blocks.
LONG_CELL = 500


class Blocks:
    """Grows a text. `say` adds words to the line, `rest(n)` ends it with n line ends, `keep` adds words as they are."""

    __slots__ = ("_done", "_gap", "_line", "_size", "holds_table", "lead")

    def __init__(self) -> None:
        self._line: list[str] = []
        self._done: list[str] = []
        self._gap = 0
        self._size = 0
        self.lead = ""
        self.holds_table = False

    def say(self, words: str) -> None:
        self._line.append(words)
        self._grow(words)

    def rest(self, gap: int) -> None:
        self._flush(_collapsed("".join(self._line)))
        self._gap = max(self._gap, gap)

    def keep(self, words: str) -> None:
        """A block of its own whose white space counts."""
        self.rest(2)
        self._grow(words)
        lines = [line.rstrip() for line in words.split("\n")]
        self._flush("\n".join(lines).strip("\n"))
        self._gap = 2

    def add(self, words: str) -> None:
        """Words whose white space counts, without a gap of their own."""
        self._grow(words)
        self._flush(words)

    def text(self) -> str:
        self.rest(0)
        return "".join(self._done)

    def _grow(self, words: str) -> None:
        # Counted in characters, so generous: the child counts bytes in the end.
        self._size += len(words)
        if self._size > MAX_TEXT:
            raise Fault("too_large", size=self._size)

    def _flush(self, words: str) -> None:
        self._line.clear()
        if not words:
            return
        if self._done:
            self._done.append("\n" * max(self._gap, 1))
        self._done.append(self.lead + words)
        self.lead = ""
        self._gap = 0


def _collapsed(words: str) -> str:
    words = _SPACE.sub(" ", _WIDE_BREAK.sub("", words))
    if BR in words:
        words = _MANY_ENDS.sub("\n\n", _EDGE_SPACES.sub("\n", words.replace(BR, "\n")))
    return words.strip(" \n")


class Table:
    """Rows of cells, each kept as text once the next begins: a page may have a million. `outside` is what it stands in.

    Its text: rows on lines, tabs between cells; a table that only makes a layout gives its blocks one after the other.
    """

    def __init__(self, outside: Blocks) -> None:
        self.outside = outside
        self._rows: list[list[str]] = []
        self._cell: Blocks | None = None
        self._is_layout = False

    def begin_row(self) -> None:
        self._close()
        self._rows.append([])

    def begin_cell(self) -> Blocks:
        self._close()
        if not self._rows:
            self._rows.append([])
        self._cell = Blocks()
        return self._cell

    def text(self) -> str:
        self._close()
        if self._is_layout:
            return "\n\n".join(text for row in self._rows for text in row if text)
        lines = ["\t".join(" ".join(text.split()) for text in row).rstrip() for row in self._rows]
        return "\n".join(line for line in lines if line)

    def _close(self) -> None:
        if self._cell is None:
            return
        text = self._cell.text()
        self._is_layout = self._is_layout or self._cell.holds_table or len(text) > LONG_CELL
        self._rows[-1].append(text)
        self._cell = None
