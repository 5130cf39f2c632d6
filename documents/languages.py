"""What characters a text is made of, and its language by its script: Chinese where a Han character weighs as much as
two Latin letters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib import import_module
from typing import Any

from benchmark.taxonomy import Language

HAN_WEIGHT = 2
SURE = 0.8


class Group(IntEnum):
    NONE = 0
    HAN = 1
    LATIN = 2
    OTHER_SCRIPT = 3
    # turn the direction of writing
    BIDI = 4
    INVISIBLE = 5


# ZWJ (emoji) and ZWNJ (Persian) have their place in words and are not counted as invisible.
RANGES: Mapping[Group, tuple[tuple[int, int], ...]] = {
    Group.HAN: ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
    Group.LATIN: ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F)),
    Group.OTHER_SCRIPT: ((0x370, 0x1FFF), (0x3040, 0x30FF), (0xAC00, 0xD7AF)),
    Group.BIDI: ((0x202A, 0x202E), (0x2066, 0x2069)),
    Group.INVISIBLE: (
        *((0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200B), (0x200E, 0x200F), (0x2060, 0x2064)),
        *((0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xE0000, 0xE007F)),
    ),
}


@dataclass(frozen=True)
class Found:
    """`sure` is False where the scripts are mixed, or the text is in neither of the two."""

    language: Language
    sure: bool


@dataclass(frozen=True)
class Characters:
    """How many of each group, and where (code points) the first one stands that a person should look at."""

    counts: Mapping[Group, int]
    first: Mapping[Group, int]

    @property
    def language(self) -> Found:
        return _found(self.counts)


def _found(counts: Mapping[Group, int]) -> Found:
    han, latin = HAN_WEIGHT * counts[Group.HAN], counts[Group.LATIN]
    known = han + latin
    language = Language.CHINESE if han > latin else Language.ENGLISH
    sure = known > 0 and max(han, latin) >= SURE * known and counts[Group.OTHER_SCRIPT] < known
    return Found(language, sure)


def _numpy() -> Any:
    """Loaded when first used: a parser's process (documents.formats) has neither the memory nor the leave for it."""
    return import_module("numpy")


@cache
def _table() -> Any:
    """The group of every code point there is."""
    np = _numpy()
    table = np.zeros(0x110000, dtype=np.uint8)
    for group, ranges in RANGES.items():
        for first, last in ranges:
            table[first : last + 1] = group
    return table


def characters_in(text: str, codes: Any = None) -> Characters:
    """`codes`: the text's code points as an array, from somebody who has them already (`passages.codes_of`)."""
    np = _numpy()
    if codes is None:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    # No code point lies outside the table, so nothing is clipped: without the check it takes a third of the time.
    groups = _table().take(codes, mode="clip")
    counts: dict[Group, int] = {group: int(np.count_nonzero(groups == group)) for group in Group if group != Group.NONE}
    counts[Group.NONE] = len(groups) - sum(counts.values())
    seen = [group for group in (Group.BIDI, Group.INVISIBLE) if counts[group]]
    return Characters(
        counts=counts,
        first={group: int(np.argmax(groups == group)) for group in seen},
    )


@cache
def _runs(group: Group) -> re.Pattern[str]:
    return re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in RANGES[group]) + "]+")


def detect(text: str) -> Found:
    """The same as `characters_in(text).language`, in plain Python: also within a parser's process."""
    scripts = (Group.HAN, Group.LATIN, Group.OTHER_SCRIPT)
    return _found({group: sum(map(len, _runs(group).findall(text))) for group in scripts})
