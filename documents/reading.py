"""The reader: one document version shown beside whatever is being decided about it.

Used by every stage: `reader_for(version)` into the context as `reader`, then `{% include "components/reader.html" %}`,
which brings its own style sheet and scripts (static/js/reader*.js). The page carries the first part of the text; the
rest comes in one cached answer (`documents:document_text`), and so does the outline. Marks are elements anywhere on the
page with data-mark="evidence" (or finding, heading), data-start and data-end in code points: the reader paints them
and links them to their place. `marks` given here are drawn by the reader itself, for pages that show no list of their
own.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from django.core.cache import cache

from benchmark.taxonomy import Language
from documents import outlining, queries
from documents.models import DocumentVersion

FIRST_PART = 8_000
# How much further a line's end is looked for: a part that ends inside a line would show a break that is not there.
SLACK = 4_000
OUTLINE_SECONDS = 30 * 24 * 3600

LANG = {Language.ENGLISH.value: "en", Language.CHINESE.value: "zh-Hans"}


@dataclass(frozen=True)
class Mark:
    """A place in the text, in code points, half-open."""

    start: int
    end: int
    kind: str = "evidence"


@dataclass(frozen=True)
class Reader:
    version: DocumentVersion
    lang: str
    first: str
    marks: tuple[Mark, ...] = ()

    @property
    def outline_rules(self) -> int:
        """Stands in the address of the outline, which browsers keep for good."""
        return outlining.RULES

    @property
    def is_whole(self) -> bool:
        return len(self.first) == self.version.chars


def reader_for(version: DocumentVersion, *, marks: Iterable[Mark] = ()) -> Reader:
    """One query, whatever the length of the text. `version.document` should be loaded."""
    beginning = queries.text_between(version, 0, FIRST_PART + SLACK)
    return Reader(
        version=version,
        lang=LANG.get(version.document.language, "en"),
        first=beginning[: first_cut(beginning)],
        marks=tuple(marks),
    )


def first_cut(beginning: str) -> int:
    """Behind the first line that ends after FIRST_PART; inside a line where none ends near."""
    if len(beginning) <= FIRST_PART:
        return len(beginning)
    end = beginning.find("\n", FIRST_PART)
    return end + 1 if end >= 0 else FIRST_PART


def outline_json(version: DocumentVersion) -> str:
    """Computed once per text: {"headings": [[start, end, level, title], ...], "found": n, "every": n}."""
    key = f"outline:{outlining.RULES}:{version.sha256}"
    kept = cache.get(key)
    if kept is None:
        outline = outlining.outline_of(queries.text_of(version))
        rows = [[heading.start, heading.end, heading.level, heading.title] for heading in outline.headings]
        kept = json.dumps({"headings": rows, "found": outline.found, "every": outline.every}, ensure_ascii=False)
        cache.set(key, kept, OUTLINE_SECONDS)
    return str(kept)
