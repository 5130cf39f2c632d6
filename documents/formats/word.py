"""DOCX to text: the parts of the package that hold text, each read as a stream; see `story` for the text rule.

Notes follow the text under a heading of their own, numbered as in the text. Page headers and footers, which repeat, are
left out. Nothing else in the package is opened: no picture, no macro, no embedded object, no template, no address.
"""

import math
import zipfile
from typing import Any

from documents.formats.answers import Answer, one_line, remark
from documents.formats.boxes import MIB, member, opened
from documents.formats.doubts import doubts_about
from documents.formats.elements import walk
from documents.formats.faults import Fault
from documents.formats.numbering import Numbering, numbering_in
from documents.formats.story import Story
from documents.formats.styles import Styles, styles_in
from documents.languages import detect

MAX_ENTRIES = 10_000
MAX_UNPACKED = 512 * MIB
MAX_PART = 256 * MIB
# Some programs write document2.xml.
MAIN = "word/document.xml"
HEADINGS = {
    "footnotes": {"English": "Footnotes", "Chinese": "脚注"},
    "endnotes": {"English": "Endnotes", "Chinese": "尾注"},
}


def read(data: bytes, until: float = math.inf) -> Answer:
    with opened(data, entries=MAX_ENTRIES, unpacked=MAX_UNPACKED) as package:
        return _Document(package).answer()


class _Document:
    def __init__(self, package: zipfile.ZipFile) -> None:
        self.package = package
        self.names = set(package.namelist())
        self.styles = styles_in(self._part("word/styles.xml")) if "word/styles.xml" in self.names else Styles()
        self.numbering = Numbering()
        if "word/numbering.xml" in self.names:
            self.numbering = numbering_in(self._part("word/numbering.xml"))
        self.labels: dict[str, dict[str, str]] = {"footnotes": {}, "endnotes": {}}

    def answer(self) -> Answer:
        story = Story(self.numbering, self.styles, self._label)
        self._walk(story, self._main())
        text = story.text()
        language = detect(text).language.value
        for kind in self.labels:
            notes = self._notes(kind)
            if notes:
                text = "\n\n".join([text, HEADINGS[kind][language], *notes])
        return Answer(text, self._title(), self._remarks(story) + doubts_about(text))

    def _main(self) -> str:
        if MAIN in self.names:
            return MAIN
        others = sorted(name for name in self.names if name.startswith("word/document") and name.endswith(".xml"))
        if not others:
            raise Fault("damaged", part=MAIN)
        return others[0]

    def _label(self, kind: str, number: str) -> str:
        labels = self.labels[kind]
        # Footnotes 1, 2, 3; endnotes e1, e2: the two must not be mistaken for each other.
        prefix = "e" if kind == "endnotes" else ""
        return labels.setdefault(number, f"{prefix}{len(labels) + 1}")

    def _notes(self, kind: str) -> list[str]:
        part = f"word/{kind}.xml"
        if not self.labels[kind] or part not in self.names:
            return []
        reader = _Notes(self, kind.removesuffix("s"))
        walk(self._part(part), start=reader.start, end=reader.end, words=reader.words, part=part)
        return [f"[{label}] {reader.texts.get(number, '')}".rstrip() for number, label in self.labels[kind].items()]

    def _remarks(self, story: Story) -> list[dict[str, Any]]:
        counts = dict(story.counts)
        for kind in self.labels:
            if self.labels[kind]:
                counts[kind] = len(self.labels[kind])
        if any(name.lower().endswith("vbaproject.bin") for name in self.names):
            counts["macros"] = 1
        embedded = sum(name.startswith("word/embeddings/") for name in self.names)
        counts["embedded_objects"] = max(embedded, counts.get("embedded_objects", 0))
        return [remark(rule, count) for rule, count in sorted(counts.items()) if count]

    def _title(self) -> str:
        if "docProps/core.xml" not in self.names:
            return ""
        reader = _Title()
        self._walk(reader, "docProps/core.xml")
        return one_line("".join(reader.found))

    def _walk(self, reader: Any, part: str) -> None:
        walk(self._part(part), start=reader.start, end=reader.end, words=reader.words, part=part)

    def _part(self, name: str) -> bytes:
        return member(self.package, name, MAX_PART)


class _Notes:
    """Each note is a story; the lines that Word draws above notes have a type and are none."""

    def __init__(self, document: _Document, element: str) -> None:
        self.texts: dict[str, str] = {}
        self._document, self._element = document, element
        self._story: Story | None = None
        self._number = ""

    def start(self, name: str, given: dict[str, str]) -> None:
        if name == self._element and given.get("type", "normal") == "normal":
            document = self._document
            self._story = Story(document.numbering, document.styles, lambda kind, number: number)
            self._number = given.get("id", "")
        elif self._story is not None:
            self._story.start(name, given)

    def end(self, name: str) -> None:
        if self._story is None:
            return
        if name == self._element:
            self.texts[self._number] = self._story.text()
            self._story = None
        else:
            self._story.end(name)

    def words(self, words: str) -> None:
        if self._story is not None:
            self._story.words(words)


class _Title:
    def __init__(self) -> None:
        self.found: list[str] = []
        self._in_title = False

    def start(self, name: str, given: dict[str, str]) -> None:
        self._in_title = name == "title"

    def end(self, name: str) -> None:
        self._in_title = False

    def words(self, words: str) -> None:
        if self._in_title:
            self.found.append(words[:1000])
