"""Kinds of questions: how they are worded, read again from their words, made up and solved.

A kind has a few wordings in each language. A wording is a pattern with places for what is asked about; the same
pattern writes the question and recognises it, so a question can be solved again from prompt and document alone,
also when other words stand around it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from generation.demo.chance import Chance
from generation.demo.text import CHINESE, ENGLISH, Document, Part

NDCG, PAIRWISE, ACCURACY, SUMMARY, F1, SUBEM = "NDCG", "Pairwise", "Accuracy", "Summary", "F1", "SubEM"


@dataclass(frozen=True)
class Asked:
    """What a question asks about. `options` are whole lines, label included."""

    terms: tuple[str, ...] = ()
    part: Part | None = None
    later: Part | None = None
    passage: str = ""
    n: int = 0
    m: int = 0
    options: tuple[str, ...] = ()

    @property
    def labelled(self) -> list[tuple[str, str]]:
        return [(found.group(1), found.group(2).strip()) for one in self.options if (found := LABELLED.match(one))]


@dataclass(frozen=True)
class Draw:
    """What a question is made from."""

    document: Document
    chance: Chance
    language: str


@dataclass(frozen=True)
class Kind:
    name: str
    metric: str
    wordings: dict[str, tuple[str, ...]]
    elements: dict[str, str]
    reason: dict[str, str]
    make: Callable[[Draw], Asked | None] = field(repr=False)
    solve: Callable[[Document, Asked, str], list[str]] = field(repr=False)


LABELLED = re.compile(r"^\s*([A-Z]\d{0,2})[.．]\s*(\S.*)$")
QUOTED = re.compile("“([^”]+)”")
_PLACE = re.compile(r"\{(\w+)\}")

_PART_WORDS = {
    ENGLISH: (
        "the part of the document from “{first}” to “{last}”",
        "the part of the document made up of its non-empty lines {from} to {to}",
    ),
    CHINESE: ("文中从“{first}”到“{last}”的部分", "文中第{from}至第{to}个非空行组成的部分"),
}
_PLACES = {
    "terms": "(?P<terms>“[^”]+”(?:(?:,\\s*|、|，)“[^”]+”)*)",
    "passage": "“(?P<passage>[^”]+)”",
    "n": r"(?P<n>\d+)",
    "m": r"(?P<m>\d+)",
}


# --- writing ---------------------------------------------------------------------------------------------------------


def worded(wording: str, asked: Asked, language: str) -> str:
    """The question. What is put in is not looked at again, so a passage may hold anything."""
    values = {
        "terms": ("、" if language == CHINESE else ", ").join(f"“{term}”" for term in asked.terms),
        "passage": f"“{asked.passage}”",
        "n": str(asked.n),
        "m": str(asked.m),
        "part": part_words(asked.part, language) if asked.part else "",
        "later": part_words(asked.later, language) if asked.later else "",
    }
    return _PLACE.sub(lambda place: values[place.group(1)], wording)


def part_words(part: Part, language: str) -> str:
    by_passages, by_lines = _PART_WORDS[language]
    if part.lines:
        values = {"from": str(part.lines[0]), "to": str(part.lines[1])}
        return _PLACE.sub(lambda place: values[place.group(1)], by_lines)
    return _PLACE.sub(lambda place: {"first": part.first, "last": part.last}[place.group(1)], by_passages)


# --- reading ---------------------------------------------------------------------------------------------------------


def recognised(
    kinds: Sequence[Kind], question: str, options: Sequence[str], document: Document
) -> tuple[Kind, Asked] | None:
    for kind in kinds:
        for language, wordings in kind.wordings.items():
            for wording in wordings:
                found = _pattern(wording, language).search(question)
                if found:
                    return kind, _asked(found.groupdict(), options, document)
    return None


@lru_cache(maxsize=512)
def _pattern(wording: str, language: str) -> re.Pattern[str]:
    return re.compile("".join(_pieces(wording, language)), re.DOTALL)


def _pieces(wording: str, language: str) -> list[str]:
    pieces: list[str] = []
    end = 0
    for place in _PLACE.finditer(wording):
        pieces.append(_literal(wording[end : place.start()]))
        name = place.group(1)
        pieces.append(_part_pattern(name, language) if name in ("part", "later") else _PLACES[name])
        end = place.end()
    pieces.append(_literal(wording[end:]))
    return pieces


def _literal(text: str) -> str:
    """Fixed words; white space may have been broken over lines."""
    return r"\s+".join(re.escape(word) for word in re.split(r"\s+", text))


def _part_pattern(name: str, language: str) -> str:
    places = {
        "first": f"(?P<{name}_first>[^”]+)",
        "last": f"(?P<{name}_last>[^”]+)",
        "from": rf"(?P<{name}_from>\d+)",
        "to": rf"(?P<{name}_to>\d+)",
    }
    forms = []
    for words in _PART_WORDS[language]:
        pieces, end = [], 0
        for place in _PLACE.finditer(words):
            pieces += [_literal(words[end : place.start()]), places[place.group(1)]]
            end = place.end()
        forms.append("".join([*pieces, _literal(words[end:])]))
    return f"(?:{'|'.join(forms)})"


def _asked(values: dict[str, str | None], options: Sequence[str], document: Document) -> Asked:
    return Asked(
        terms=tuple(QUOTED.findall(values.get("terms") or "")),
        part=_part(values, "part", document),
        later=_part(values, "later", document),
        passage=values.get("passage") or "",
        n=int(values.get("n") or 0),
        m=int(values.get("m") or 0),
        options=tuple(options),
    )


def _part(values: dict[str, str | None], name: str, document: Document) -> Part | None:
    first, last = values.get(f"{name}_first"), values.get(f"{name}_last")
    if first and last:
        return document.part_named(first, last)
    begin, end = values.get(f"{name}_from"), values.get(f"{name}_to")
    if begin and end:
        return document.lines_part(int(begin), int(end))
    return None
