"""EPUB to text: the chapters in the order of the book's spine, each by the way of `markup`."""

import math
import posixpath
import re
import zipfile
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

from documents.formats import markup
from documents.formats.answers import MAX_TEXT, Answer, one_line, remark
from documents.formats.boxes import MIB, member, opened
from documents.formats.doubts import doubts_about
from documents.formats.elements import walk
from documents.formats.faults import Fault

CONTAINER = "META-INF/container.xml"
MAX_ENTRIES = 10_000
MAX_UNPACKED = 1024 * MIB
MAX_CHAPTER = 32 * MIB
MAX_CHAPTERS = 5_000
CHAPTERS = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", ""})
# Fonts may be scrambled by the publisher; only the book's own words matter.
SCRAMBLED_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_DECLARES = re.compile(rb"<!DOCTYPE[^>\[]{0,2000}\[|<!ENTITY", re.IGNORECASE)
_ENCODING = re.compile(rb"""^<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
KNOWN_ENCODINGS = {"iso-8859-1": "cp1252", "windows-1252": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}


def read(data: bytes, until: float = math.inf) -> Answer:
    with opened(data, entries=MAX_ENTRIES, unpacked=MAX_UNPACKED) as archive:
        _refuse_locked(archive)
        return _Book(archive).answer()


class _Book:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        place = _Attributes("rootfile", "full-path")
        self._walk(place, CONTAINER)
        if not place.found:
            raise Fault("damaged", part=CONTAINER)
        self.package = _inside(place.found[0])
        self.contents = _Package()
        self._walk(self.contents, self.package)

    def answer(self) -> Answer:
        texts, missing, size = [], 0, 0
        chapters = [self.contents.items.get(name) for name in self.contents.spine[:MAX_CHAPTERS]]
        for href in chapters:
            text = self._chapter(href) if href is not None else None
            missing += text is None
            size += len(text or "")
            if size > MAX_TEXT:
                raise Fault("too_large", size=size)
            texts.append(text or "")
        if not chapters or missing == len(chapters):
            raise Fault("damaged", part=self.package[:100])
        text = "\n\n".join(text for text in texts if text)
        remarks = [remark("missing_chapters", missing)] if missing else []
        return Answer(text, one_line("".join(self.contents.title)), remarks + doubts_about(text))

    def _chapter(self, href: str) -> str | None:
        name = _inside(posixpath.join(posixpath.dirname(self.package), unquote(href.partition("#")[0])))
        try:
            data = member(self.archive, name, MAX_CHAPTER)
        except KeyError:
            return None
        return markup.text_of(_utf_8(data, name)).text

    def _walk(self, reader: Any, part: str) -> None:
        try:
            data = member(self.archive, part, MAX_CHAPTER)
        except KeyError:
            raise Fault("damaged", part=part[:100]) from None
        walk(data, start=reader.start, end=reader.end, words=reader.words, part=part, may_name_doctype=True)


def _utf_8(data: bytes, name: str) -> bytes:
    """A chapter in UTF-8. XHTML may name its DOCTYPE, but declare nothing in it."""
    if _DECLARES.search(data[:4096]):
        raise Fault("xml_doctype", part=name[:100])
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    else:
        said = _ENCODING.match(data.removeprefix(b"\xef\xbb\xbf"))
        declared = said[1].decode().lower() if said else "utf-8"
        encoding = KNOWN_ENCODINGS.get(declared, "utf-8-sig")
    for name_of_encoding in ("utf-8-sig", encoding):
        with suppress(UnicodeDecodeError):
            return data.decode(name_of_encoding).replace("\x00", "").encode()
    raise Fault("encoding_of_part", part=name[:100])


def _refuse_locked(archive: zipfile.ZipFile) -> None:
    """Rights management scrambles the chapters themselves."""
    with suppress(KeyError):
        methods = _Attributes("EncryptionMethod", "Algorithm")
        data = member(archive, "META-INF/encryption.xml", MIB)
        walk(data, start=methods.start, end=methods.end, words=methods.words, part="META-INF/encryption.xml")
        if any(method not in SCRAMBLED_FONTS for method in methods.found):
            raise Fault("encrypted")


def _inside(name: str) -> str:
    """A name is only ever looked up among the archive's own entries."""
    return posixpath.normpath(name.lstrip("/"))


class _Attributes:
    """Collects one attribute of all elements of one name."""

    def __init__(self, element: str, attribute: str) -> None:
        self.found: list[str] = []
        self._element, self._attribute = element, attribute

    def start(self, name: str, given: dict[str, str]) -> None:
        if name == self._element and self._attribute in given:
            self.found.append(given[self._attribute])

    def end(self, name: str) -> None:
        pass

    def words(self, words: str) -> None:
        pass


class _Package:
    """The package document: title, files by their id, and the order of reading."""

    def __init__(self) -> None:
        self.title: list[str] = []
        self.items: dict[str, str] = {}
        self.spine: list[str] = []
        self._titles = 0
        self._in_title = False

    def start(self, name: str, given: dict[str, str]) -> None:
        if name == "title":
            self._titles += 1
            self._in_title = self._titles == 1
        elif name == "item" and given.get("media-type", "") in CHAPTERS:
            self.items[given.get("id", "")] = given.get("href", "")
        elif name == "itemref":
            self.spine.append(given.get("idref", ""))

    def end(self, name: str) -> None:
        self._in_title = False

    def words(self, words: str) -> None:
        if self._in_title:
            self.title.append(words[:1000])
