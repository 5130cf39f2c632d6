"""The form of an element: what an example must share with the answer without being it.

`classify` sorts an element into a kind with a detail that must agree too: a number's decimals and unit, a
percentage's decimals, a date's or an identifier's pattern. `Form.reason` says why it is of that kind.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from benchmark.elements import HAN
from benchmark.findings import gettext_noop


class Kind(StrEnum):
    LETTER = "letter"
    NUMBER = "number"
    PERCENTAGE = "percentage"
    DATE = "date"
    IDENTIFIER = "identifier"
    NAME = "name"
    PHRASE = "phrase"
    SUMMARY = "summary"


# A name in small letters is a phrase, and some phrases are written with capitals: that is not another form.
WORDED = frozenset({Kind.NAME, Kind.PHRASE})
REASONS = {
    Kind.LETTER: gettext_noop("capital letters that stand for options"),
    Kind.DATE: gettext_noop("a date, written as %(pattern)s"),
    Kind.IDENTIFIER: gettext_noop("the pattern %(pattern)s: %(word)s for a word, %(figure)s for a figure"),
    Kind.NAME: gettext_noop("each word begins with a capital letter, or stands in title marks"),
    Kind.PHRASE: gettext_noop("words without figures and without the marks of code"),
    Kind.SUMMARY: gettext_noop("running text of whole sentences"),
}
NUMBER_REASONS = {
    (Kind.NUMBER, False): gettext_noop("a figure with %(decimals)s decimals and no unit"),
    (Kind.NUMBER, True): gettext_noop("a figure with %(decimals)s decimals and the unit %(unit)s"),
    (Kind.PERCENTAGE, False): gettext_noop("a figure with %(decimals)s decimals and a per cent sign"),
}


@dataclass(frozen=True)
class Form:
    """`pattern` is what else must agree: `0.0 km`, `0.00`, `#-#-#`, `a #`; empty where the kind says all."""

    kind: Kind
    pattern: str = ""

    def __str__(self) -> str:
        return f"{self.kind.value} {self.pattern}".strip()

    def agrees(self, other: "Form") -> bool:
        return self == other or (self.kind in WORDED and other.kind in WORDED)

    @property
    def reason(self) -> tuple[str, dict[str, object]]:
        """Why an element is of this form: a wording marked for the catalogue, and its params."""
        figure, _, unit = self.pattern.partition(" ")
        worded = NUMBER_REASONS.get((self.kind, bool(unit)))
        if worded is None:
            return REASONS[self.kind], {"pattern": self.pattern, "word": "a", "figure": "#"}
        return worded, {"decimals": len(figure.partition(".")[2]), "unit": unit}


MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
DATES = (
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?",
    r"\d{1,2}[-/.]\d{1,2}[-/.]\d{4}",
    rf"{MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:, ?\d{{4}})?",
    rf"\d{{1,2}}(?:st|nd|rd|th)? {MONTH}(?:,? \d{{4}})?",
    rf"{MONTH},? \d{{4}}",
    r"\d{4} ?年(?: ?\d{1,2} ?月(?: ?\d{1,2} ?日)?)?",
    r"\d{1,2} ?月 ?\d{1,2} ?日",
)
DATE = re.compile("|".join(f"(?:{date})" for date in DATES), re.IGNORECASE | re.ASCII)
FIGURE = r"[+\-\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<decimals>\d+))?"
PERCENTAGE = re.compile(rf"{FIGURE} ?[%％]", re.ASCII)
NUMBER = re.compile(rf"(?P<before>[$€£¥￥]?) ?{FIGURE}(?P<space> ?)(?P<unit>(?:[A-Za-z°µ²³/$€£¥￥{HAN}]+)?)", re.ASCII)
OPTION_LETTERS = re.compile(r"[A-Z]+")
SENTENCE_WORDS = 6
SENTENCE_HAN = 16
SENTENCE_CHARACTERS = 200
WORD = re.compile(rf"[^\W\d_{HAN}]+|[{HAN}]", re.UNICODE)
CODE_MARKS = re.compile(r"[_(){}\[\]<>=/\\@#$&*|:]")
SMALL_IN_NAMES = frozenset({"of", "the", "and", "de", "la", "le", "du", "der", "den", "von", "van", "zu", "da", "di"})
TITLED = re.compile(r"[《「『“].+[》」』”]")
FOREIGN_NAME = re.compile(rf"[{HAN}]+(?:[·•][{HAN}]+)+")


def classify(element: str, *, multiple_choice: bool = False) -> Form:
    """The form of one element. Several letters are option letters only where `multiple_choice` says so."""
    text = " ".join(unicodedata.normalize("NFC", element).split())
    if OPTION_LETTERS.fullmatch(text) and (multiple_choice or len(text) == 1):
        return Form(Kind.LETTER)
    if DATE.fullmatch(text):
        return Form(Kind.DATE, _date_pattern(text))
    if match := PERCENTAGE.fullmatch(text):
        return Form(Kind.PERCENTAGE, _decimals(match["decimals"]))
    if match := NUMBER.fullmatch(text):
        return Form(Kind.NUMBER, f"{_decimals(match['decimals'])} {match['before']}{_unit(match['unit'])}".strip())
    if _is_long(text):
        return Form(Kind.SUMMARY if text.endswith((".", "。", "！", "!")) else Kind.PHRASE)
    if any(mark.isdigit() for mark in text) or CODE_MARKS.search(text):
        return Form(Kind.IDENTIFIER, _identifier_pattern(text))
    return Form(Kind.NAME if _is_name(text) else Kind.PHRASE)


def _is_name(text: str) -> bool:
    words = [word for word in re.split(r"[\s\-–]+", text) if word]
    capital = [word[:1].isupper() or word.lower() in SMALL_IN_NAMES for word in words]
    latin = bool(words) and all(capital) and words[0][:1].isupper() and not text.isupper()
    return latin or bool(TITLED.fullmatch(text) or FOREIGN_NAME.fullmatch(text))


def _decimals(digits: str | None) -> str:
    return "0." + "0" * len(digits) if digits else "0"


def _unit(unit: str) -> str:
    unit = unit.lower()
    return unit[:-1] if len(unit) > 3 and unit.endswith("s") else unit


def _is_long(text: str) -> bool:
    words = WORD.findall(text)
    han = sum(len(word) == 1 and bool(re.match(f"[{HAN}]", word)) for word in words)
    return len(words) - han > SENTENCE_WORDS or han > SENTENCE_HAN or len(text) > SENTENCE_CHARACTERS


def _date_pattern(text: str) -> str:
    pattern = re.sub(MONTH, "M", text, flags=re.IGNORECASE)
    return re.sub(r"\d+(?:st|nd|rd|th)?", "#", pattern, flags=re.IGNORECASE | re.ASCII).replace(" ", "")


PIECE = re.compile(
    r"(?P<brackets>\([^()]*\))"
    r"|(?P<share>[+\-\u2212]?\d[\d,]*(?:\.(?P<decimals>\d+))? ?[%％])"
    r"|(?P<digits>\d+)"
    r"|(?P<words>[^\W\d]++(?:[.\-'’][^\W\d]++)*+(?: [^\W\d]++(?:[.\-'’][^\W\d]++)*+(?!\d))*+)"
)


def _identifier_pattern(text: str) -> str:
    """Words as `a`, digits as `#`, shares with their decimals, brackets without what stands in them.

    `Part 12` is `a #`, `S41` is `a#`, `open(str, int)` is `a()`, `Accident 35.00%` is `a 0.00%`.
    """
    return PIECE.sub(_piece, text)


def _piece(match: re.Match[str]) -> str:
    if match["share"]:
        return _decimals(match["decimals"]) + "%"
    return {"brackets": "()", "digits": "#", "words": "a"}[match.lastgroup or "words"]
