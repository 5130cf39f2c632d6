"""HTML to text by libxml2's HTML5 tokenizer, event by event: no tree is built, so nesting costs nothing.

The page comes as UTF-8: `documents.decoding` has found its encoding. What is between the tags is said as a browser
would show it; `<title>` is the title, else the first heading. Left out: scripts, styles, templates, frames, comments,
and what is embedded (images, sound, objects). Text of `<noscript>` stays, as no script ever runs here. Style sheets are
not followed, so what only they hide is said.
"""

import math
from collections import Counter
from typing import Any

from lxml import etree

from documents.formats.answers import Answer, one_line
from documents.formats.blocks import BR, Blocks, Table
from documents.formats.doubts import doubts_about
from documents.formats.faults import Fault
from documents.formats.numerals import HTML as COUNTING

UNSEEN = frozenset(
    [
        "script",
        "style",
        "template",
        "iframe",
        "frame",
        "frameset",
        "noframes",
        "noembed",
        "object",
        "embed",
        "applet",
        "audio",
        "video",
        "canvas",
        "datalist",
        "annotation",
        "annotation-xml",
        "math-annotation",
    ]
)
HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
APART = HEADINGS | frozenset(
    [
        "p",
        "div",
        "section",
        "article",
        "aside",
        "main",
        "header",
        "footer",
        "nav",
        "address",
        "blockquote",
        "center",
        "dl",
        "ol",
        "ul",
        "menu",
        "figure",
        "figcaption",
        "fieldset",
        "form",
        "details",
        "summary",
        "hr",
        "table",
        "body",
        "hgroup",
        "search",
        "dir",
    ]
)
LINES = frozenset(["li", "dt", "dd", "tr", "caption", "option", "optgroup", "legend"])
# libxml2 looks through all open elements for each end tag.
MAX_DEPTH = 5_000
MAX_TABLES = 12


def read(data: bytes, until: float = math.inf) -> Answer:
    page = text_of(data)
    return Answer(page.text, page.title, doubts_about(page.text))


def text_of(data: bytes) -> Answer:
    """`data` is UTF-8."""
    page = _Page()
    parser = etree.HTMLParser(target=page, encoding="utf-8", recover=True, huge_tree=True, no_network=True)
    try:
        for start in range(0, len(data), 1 << 20):
            parser.feed(data[start : start + (1 << 20)])
        if data:
            parser.close()
    except etree.XMLSyntaxError:
        # A page without a single element: libxml2 calls it empty.
        pass
    return page.answer()


class _Page:
    """Receives the events of the parser. `_here` is where words go: the page, or the cell that is open."""

    def __init__(self) -> None:
        self._page = Blocks()
        self._here = self._page
        self._tables: list[Table] = []
        self._open: list[str] = []
        self._inside: Counter[str] = Counter()
        self._unseen = 0
        self._pre: list[str] | None = None
        self._lists: list[tuple[str, int]] = []
        self._title: list[str] = []
        self._heading: list[str] = []
        self._in_title = self._in_heading = False

    # Events -------------------------------------------------------------------------------------------------------

    def start(self, tag: Any, attributes: Any) -> None:
        tag = str(tag).lower()
        self._open.append(tag)
        self._inside[tag] += 1
        if len(self._open) > MAX_DEPTH:
            raise Fault("too_deep", limit=MAX_DEPTH)
        if tag in UNSEEN:
            self._unseen += 1
        if self._unseen:
            return
        if tag == "title":
            self._in_title = True
        elif tag == "br":
            self._say("\n" if self._pre is not None else BR)
        elif tag == "pre" and self._pre is None:
            self._pre = []
        elif self._pre is not None:
            return
        elif tag in ("table", "tr", "td", "th"):
            self._start_of_table(tag)
        elif tag == "li":
            self._start_item(attributes)
        elif tag in APART:
            self._start_apart(tag, attributes)
        elif tag in LINES:
            self._here.rest(1)

    def end(self, tag: Any) -> None:
        tag = str(tag).lower()
        if self._open:
            self._inside[self._open.pop()] -= 1
        if tag in UNSEEN:
            self._unseen -= 1
            return
        if self._unseen:
            return
        if tag == "title":
            self._in_title = False
        elif tag == "pre" and self._pre is not None and not self._inside["pre"]:
            words, self._pre = "".join(self._pre), None
            self._here.keep(words.expandtabs(8))
        elif self._pre is not None:
            return
        elif tag == "table":
            self._end_table()
        elif tag in ("ol", "ul", "menu", "dir") and self._lists:
            self._lists.pop()
            self._here.rest(1 if self._lists else 2)
        elif tag in APART:
            self._end_apart()
        elif tag in LINES:
            self._here.rest(1)

    def data(self, words: str) -> None:
        if self._unseen:
            return
        if self._in_title:
            if not self._inside["svg"] and len(self._title) < 1000:
                self._title.append(words)
            return
        if self._open and self._open[-1] in ("head", "html", "colgroup", "tr", "table", "tbody") and words.isspace():
            return
        if self._in_heading and len(self._heading) < 1000:
            self._heading.append(words)
        self._say(words)

    def comment(self, words: str) -> None:
        pass

    def pi(self, target: str, words: str | None = None) -> None:
        pass

    def close(self) -> None:
        return None

    def answer(self) -> Answer:
        if self._pre is not None:
            self._here.keep("".join(self._pre))
        while self._tables:
            self._end_table()
        title = one_line("".join(self._title)) or one_line("".join(self._heading))
        return Answer(self._page.text(), title)

    # What they do -------------------------------------------------------------------------------------------------

    def _say(self, words: str) -> None:
        words = words.replace("\x1e", "") if words != BR else words
        if self._pre is not None:
            self._pre.append("\n" if words == BR else words)
        else:
            self._here.say(words)

    def _start_apart(self, tag: str, attributes: Any) -> None:
        if tag in ("ol", "ul", "menu", "dir"):
            self._here.rest(1 if self._lists else 2)
            first = attributes.get("start", "1") if tag == "ol" else "1"
            kind = attributes.get("type", "1") if tag == "ol" else ""
            self._lists.append((kind if kind in COUNTING or tag != "ol" else "1", _number(first, 1)))
            return
        self._here.rest(2)
        if tag in HEADINGS and not self._heading:
            self._in_heading = True

    def _end_apart(self) -> None:
        self._here.rest(2)
        self._in_heading = False
        if not "".join(self._heading).strip():
            self._heading.clear()

    def _start_item(self, attributes: Any) -> None:
        self._here.rest(1)
        kind, number = self._lists[-1] if self._lists else ("", 1)
        if kind:
            number = _number(attributes.get("value", ""), number)
            self._lists[-1] = (kind, number + 1)
        mark = f"{COUNTING[kind](number)}." if kind else "-"
        self._here.lead = "  " * min(max(len(self._lists) - 1, 0), 10) + mark + " "

    def _start_of_table(self, tag: str) -> None:
        if tag == "table":
            self._here.rest(2)
            if len(self._tables) < MAX_TABLES:
                self._here.holds_table = True
                self._tables.append(Table(self._here))
            return
        if not self._tables or self._inside["table"] > MAX_TABLES:
            self._here.rest(1)
            return
        table = self._tables[-1]
        if tag == "tr":
            table.begin_row()
            self._here = table.outside
        else:
            self._here = table.begin_cell()

    def _end_table(self) -> None:
        if not self._tables or self._inside["table"] >= MAX_TABLES:
            self._here.rest(2)
            return
        table = self._tables.pop()
        self._here = table.outside
        self._here.keep(table.text())


def _number(written: str, otherwise: int) -> int:
    written = written.strip()
    return int(written) if written.lstrip("-").isdecimal() and len(written) < 9 else otherwise
