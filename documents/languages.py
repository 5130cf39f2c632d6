"""The language of a text by its script: Chinese where a Han character weighs as much as two Latin letters."""

import re
from dataclasses import dataclass

from benchmark.taxonomy import Language

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]+")
_OTHER = re.compile("[\u0370-\u1fff\u3040-\u30ff\uac00-\ud7af]+")

HAN_WEIGHT = 2
SURE = 0.8


@dataclass(frozen=True)
class Found:
    """`sure` is False where the scripts are mixed, or the text is in neither of the two."""

    language: Language
    sure: bool


def _letters(script: re.Pattern[str], text: str) -> int:
    """By runs, not one by one: a text may hold millions, and each would be an object."""
    return sum(len(run) for run in script.findall(text))


def detect(text: str) -> Found:
    han = HAN_WEIGHT * _letters(_HAN, text)
    latin = _letters(_LATIN, text)
    other = _letters(_OTHER, text)
    language = Language.CHINESE if han > latin else Language.ENGLISH
    known = han + latin
    sure = known > 0 and max(han, latin) >= SURE * known and other < known
    return Found(language, sure)
