"""PDF to text by pypdf: what the pages show, page after page, in the order in which the file draws it.

A blank line between pages. Lines stay lines: where a paragraph ends cannot be known from a page. White space at the end
of lines goes, runs of blank lines become one, and a word is joined over a line's end only at a soft hyphen, which is
the one hyphen that is certain to be none. Ligatures and radicals, shapes of a font, are read as the letters they stand
for, and counted. Scripts, actions, forms, notes and attached files are not looked at.
"""

import io
import logging
import math
import re
import time
from contextlib import suppress
from typing import Any

import pypdf.filters
import pypdf.xmp  # noqa: F401 (pypdf would import it, and the filters, when first needed: no file can be opened then)
from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError

from documents.formats.answers import MAX_TEXT, Answer, one_line, remark
from documents.formats.doubts import doubts_about
from documents.formats.faults import Fault
from documents.formats.forms import with_letters
from documents.formats.progressing import Teller

_TRAILING = re.compile("[ \t\u00a0]+$", re.MULTILINE)
_GAPS = re.compile("(?<=\\S)[ \t]{2,}(?=\\S)")
_BLANKS = re.compile("\n{3,}")
_SOFT_HYPHEN = re.compile("(?<=\\w)\u00ad ?\n(?=\\w)")
MAX_PAGES = 20_000

# What it warns of may quote the document.
logging.disable()


def read(data: bytes, until: float = math.inf) -> Answer:
    """`until`, of the system's monotonic clock, is when to stop and say how far it came."""
    reader = PdfReader(io.BytesIO(data), strict=False)
    remarks = _unlock(reader)
    pages = _pages_of(reader)
    texts, damaged, pictures = _texts(pages, until)
    if len(damaged) == len(pages):
        raise Fault("damaged")
    text, forms = with_letters("\n\n".join(text for text in texts if text))
    if not text.strip():
        raise Fault("no_text_layer", pages=len(pages))
    if damaged:
        remarks.append(remark("damaged_pages", len(damaged), page=damaged[0]))
    if pictures:
        remarks.append(remark("pages_without_text", len(pictures), page=pictures[0]))
    return Answer(text, _title(reader), remarks + doubts_about(text), forms)


def _unlock(reader: PdfReader) -> list[dict[str, Any]]:
    """A file that opens without a password is read; its owner's restrictions are for people to weigh."""
    if not reader.is_encrypted:
        return []
    try:
        opened = reader.decrypt("")
    except (DependencyError, NotImplementedError):
        opened = None
    if not opened:
        raise Fault("encrypted")
    return [remark("restricted")]


def _pages_of(reader: PdfReader) -> list[PageObject]:
    count = reader.get_num_pages()
    if count > MAX_PAGES:
        raise Fault("crowded_pages", pages=count, limit=MAX_PAGES)
    pages = list(reader.pages)
    if not pages:
        raise Fault("damaged")
    return pages


def _texts(pages: list[PageObject], until: float) -> tuple[list[str], list[int], list[int]]:
    """The pages' texts, and the numbers of those that are damaged and of those that only show a picture."""
    texts, damaged, pictures = [], [], []
    size, teller = 0, Teller()
    for number, page in enumerate(pages, 1):
        teller.tell(number - 1, len(pages))
        if time.monotonic() > until:
            raise Fault("limit_time", page=number, pages=len(pages))
        try:
            text = tidy(page.extract_text())
        except MemoryError:
            raise
        except Exception:
            # A broken page raises anything at all; its number is what the report says, and the others are read.
            damaged.append(number)
            continue
        texts.append(text)
        size += len(text)
        if size > MAX_TEXT:
            raise Fault("too_large", size=size)
        if not text and _shows_something(page):
            pictures.append(number)
    return texts, damaged, pictures


def _shows_something(page: PageObject) -> bool:
    with suppress(Exception):
        return "/XObject" in page["/Resources"].get_object()  # type: ignore[operator]
    return False


def tidy(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SOFT_HYPHEN.sub("", _TRAILING.sub("", text))
    return _BLANKS.sub("\n\n", _GAPS.sub(" ", text)).strip("\n")


def _title(reader: PdfReader) -> str:
    with suppress(Exception):
        metadata = reader.metadata
        return one_line((metadata and metadata.title) or "")
    return ""
