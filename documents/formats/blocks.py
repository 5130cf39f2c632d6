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


def as_rows(rows: list[list[Blocks]]) -> str:
    """A table of finished cells: rows on lines, tabs between cells; a table that only makes a layout gives its blocks
    one after the other."""
    texts = [[cell.text() for cell in row] for row in rows]
    if any(cell.holds_table for row in rows for cell in row) or any(len(t) > LONG_CELL for row in texts for t in row):
        return "\n\n".join(text for row in texts for text in row if text)
    lines = ["\t".join(" ".join(text.split()) for text in row).rstrip() for row in texts]
    return "\n".join(line for line in lines if line)
