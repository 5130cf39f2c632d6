"""A proposed output example: made up, of the answer's form, and nothing in it learnt from the answer.

Figures and choices follow from the question, not from the answer: the same question always gets the same example. From
the answer come only the kinds, patterns, units and decimals of its elements, and the words that the question says
itself. What is proposed has passed the checks on the example; where nothing made up passes them, nothing is proposed.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from benchmark.elements import comparable
from benchmark.examples import PHRASE_FOR_NONE, check_example, form_of
from benchmark.findings import errors
from benchmark.forms import FIGURE, MONTH, PIECE, Form, Kind
from benchmark.taxonomy import CLUSTERING, Language, Metric, SecondaryTask

WORDS = {
    Language.ENGLISH: {
        Kind.NAME: ("Ashcombe", "Brentwick", "Calderby", "Dunmoor"),
        Kind.PHRASE: ("orchard", "lantern", "saddle", "pebble"),
    },
    Language.CHINESE: {
        Kind.NAME: ("《松风集》", "《竹里谣》", "《梅溪记》", "《兰亭续》"),
        Kind.PHRASE: ("苹果", "灯笼", "石桥", "竹篮"),
    },
}
SUMMARY = {
    Language.ENGLISH: "This line stands for the text that is asked for, in whole sentences.",
    Language.CHINESE: "此处以完整的句子写出题目所要求的内容。",
}
SHARES = {2: (60, 40), 3: (50, 30, 20)}
CHOICE = re.compile(r"[(（]([^()（）]*[/／|、][^()（）]*)[)）]")
OPTION = re.compile(r"^\s*([A-Z])\s*[.．、:：)）]\s*\S", re.MULTILINE)
MONTHS = ("January", "February", "August", "September", "October", "November")
ORDINALS = {value: {1: "st", 2: "nd", 3: "rd"}.get(value, "th") for value in range(1, 10)}
SHORT_MONTH, YEAR, LONG = 3, 4, 60
SIGNED = re.compile(FIGURE.replace("?P<decimals>", "?:"), re.ASCII)
CONNECTED = 3
TURNS = 12


class Chance:
    """The same choices for the same question, without a look at the answer."""

    def __init__(self, *words: str) -> None:
        self._seed = "\0".join(words).encode("utf-8", "replace")
        self._drawn = 0

    def below(self, bound: int) -> int:
        self._drawn += 1
        digest = hashlib.sha256(self._seed + b"\0" + str(self._drawn).encode()).digest()
        return int.from_bytes(digest[:8], "big") % bound


def propose_example(
    task: SecondaryTask, *, language: Language, answer: Sequence[str], elements: str, context: str
) -> tuple[str, ...]:
    """Lines of an example for this answer. `context`: the question with its options; empty when none is found."""
    for turn in range(TURNS):
        chance = Chance(context, elements, str(turn))
        lines = _lines(task, language, answer, elements, context, chance)
        if lines and not errors(check_example(lines, task=task, language=language, answer=answer)):
            return lines
    return ()


def _lines(
    task: SecondaryTask, language: Language, answer: Sequence[str], elements: str, context: str, chance: Chance
) -> tuple[str, ...]:
    sound = [element for element in answer if element.strip()]
    if not sound:
        return ()
    if task.metric is Metric.SUMMARY:
        return (SUMMARY[language],)
    if task.multiple_choice:
        return (_letters(sound[0], elements, context, chance),)
    if task.metric is Metric.PAIRWISE:
        return _ordered(sound, chance)
    if task.code == CLUSTERING:
        return _shared(sound, language, chance)
    offered = _offered(elements, sound, chance)
    if offered:
        return offered
    return _made_up(task, language, sound, f"{context} {elements}", chance)


# Closed sets ------------------------------------------------------------------------------------------------------


def _letters(answer: str, elements: str, context: str, chance: Chance) -> str:
    """A letter of an option, or as many joined ones as the answer has, none of them the answer."""
    named = sorted(set(OPTION.findall(context))) or _values(elements)
    letters = [one for one in named if len(one) == 1 and one.isascii() and one.isupper()] or list("ABCD")
    joined = ["".join(some) for some in combinations(letters, min(len(answer.strip()), len(letters) - 1) or 1)]
    others = [one for one in joined if one != answer.strip()] or ["A"]
    return others[chance.below(len(others))]


def _values(elements: str) -> list[str]:
    """The values that a phrase offers in brackets: (A/B/C/D), (grant/refuse)."""
    named = CHOICE.search(elements)
    return [one.strip() for one in re.split(r"[/／|、]", named[1])] if named else []


def _ordered(answer: Sequence[str], chance: Chance) -> tuple[str, ...]:
    """The items in the order of their spelling, begun somewhere: the order that is asked for plays no part."""
    spelt = sorted(
        answer, key=lambda text: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]
    )
    start = chance.below(len(spelt))
    return tuple(spelt[start:] + spelt[:start])


def _spelling(text: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", text)]


def _offered(elements: str, answer: Sequence[str], chance: Chance) -> tuple[str, ...]:
    """One of the values that the elements phrase itself offers, such as (grant/refuse)."""
    values = _values(elements)
    taken = {comparable(element) for element in answer}
    if len(values) < 2 or not taken <= {comparable(one) for one in values}:
        return ()
    others = [one for one in values if one and comparable(one) not in taken]
    return (others[chance.below(len(others))],) if others else ()


def _shared(answer: Sequence[str], language: Language, chance: Chance) -> tuple[str, ...]:
    """Classes of made-up names whose shares add up to the whole."""
    found = re.search(r"\.(\d+) ?%", answer[0])
    decimals = len(found[1]) if found else 2
    names = WORDS[language][Kind.PHRASE if language == Language.CHINESE else Kind.NAME]
    first = chance.below(len(names))
    shares = SHARES[2 + chance.below(2)]
    return tuple(f"{names[(first + at) % len(names)]} {share:.{decimals}f}%" for at, share in enumerate(shares))


# Made up ----------------------------------------------------------------------------------------------------------


def _made_up(
    task: SecondaryTask, language: Language, answer: Sequence[str], said: str, chance: Chance
) -> tuple[str, ...]:
    """One line where the answer is a single figure or outcome, else two, so that their number tells nothing."""
    first: dict[Form, str] = {}
    for element in answer:
        first.setdefault(form_of(element, task), element)
    kinds = list(first.items())
    count = 1 if len(answer) == 1 and task.metric in (Metric.SUBEM, Metric.ACCURACY) else 2
    maker = Maker(language, said, _common_words(answer), chance)
    made = []
    for at in range(count):
        form, model = kinds[at % len(kinds)]
        if task.code == PHRASE_FOR_NONE and form.agrees(Form(Kind.PHRASE)):
            made.append(str(100 + chance.below(900)))
        else:
            made.append(maker.like(form, model))
    return tuple(dict.fromkeys(made))


@dataclass
class Maker:
    """Makes up elements of a given form. `said`: the question; `common`: the words that all elements share."""

    language: Language
    said: str
    common: set[str]
    chance: Chance
    used: int = 0

    def like(self, form: Form, model: str) -> str:
        if form.kind is Kind.LETTER:
            return "ABCDEFGH"[self.chance.below(8)]
        if form.kind is Kind.DATE:
            return _date(model, self.chance)
        if form.kind in (Kind.NUMBER, Kind.PERCENTAGE):
            return SIGNED.sub(lambda found: _figure(found[0], self.chance), model, count=1)
        if form.kind is Kind.IDENTIFIER:
            return self._identifier(model)
        if form.kind is Kind.SUMMARY:
            return SUMMARY[self.language]
        return SUMMARY[self.language].rstrip(".。") if len(model) > LONG else self._word(form.kind, model)

    def _word(self, kind: Kind, like: str) -> str:
        """The next word, each of them once; in the script of the one it stands for."""
        latin = bool(re.search("[A-Za-z]", like))
        words = WORDS[Language.ENGLISH if latin else self.language][kind]
        if not self.used:
            self.used = 1 + self.chance.below(len(words))
        self.used += 1
        return words[self.used % len(words)]

    def _identifier(self, model: str) -> str:
        """The pattern with other figures; its words stay where they are the form: in all elements, in the question, or
        grown together with a figure."""
        digits = {place for place, mark in enumerate(model) if mark.isdigit()}

        def piece(match: re.Match[str]) -> str:
            text = match[0]
            if match["digits"]:
                rest = (str(self.chance.below(10)) for _ in text[1:])
                return str(1 + self.chance.below(9)) + "".join(rest)
            if match["share"]:
                figure = text.rstrip("%％ ")
                return _figure(figure, self.chance) + text[len(figure) :]
            if match["brackets"]:
                return text if text in self.said or len(text) == 2 else f"({self._word(Kind.PHRASE, text)})"
            grown = {match.start() - 1, match.end()} & digits and len(text) <= CONNECTED
            if text in self.common or (digits and (grown or text.lower() in self.said.lower())):
                return text
            other = self._word(Kind.PHRASE, text)
            return other.capitalize() if text[:1].isupper() else other

        return PIECE.sub(piece, model)


def _common_words(answer: Sequence[str]) -> set[str]:
    """Words that stand in every element of an answer that has several: they are its form."""
    sets = [{match[0] for match in PIECE.finditer(element) if match["words"]} for element in answer]
    return set.intersection(*sets) if len(sets) > 1 else set()


def _figure(found: str, chance: Chance) -> str:
    """As many decimals, another size, no sign. A whole number may be an identifier: it keeps its length."""
    whole, _, fraction = found.lstrip("+-\u2212").replace(",", "").partition(".")
    if not fraction and len(whole) > 2:
        least = 10 ** (len(whole) - 1)
        return str(least + chance.below(9 * least))
    decimals = "".join(str(chance.below(10)) for _ in fraction)
    return str(2 + chance.below(97)) + (f".{decimals}" if decimals else "")


def _date(model: str, chance: Chance) -> str:
    """Another day that exists, written the same way."""

    def month(found: re.Match[str]) -> str:
        name = MONTHS[chance.below(len(MONTHS))]
        if found[0].endswith("."):
            return name[:SHORT_MONTH] + "."
        return name if len(found[0]) > SHORT_MONTH else name[:SHORT_MONTH]

    def digits(found: re.Match[str]) -> str:
        if len(found[1]) == YEAR:
            return str(1820 + chance.below(180))
        value = 1 + chance.below(9)
        figure = str(value).zfill(len(found[1]) if found[1].startswith("0") else 1)
        return figure + (ORDINALS[value] if found[2] else "")

    text = re.sub(MONTH, month, model, flags=re.IGNORECASE)
    return re.sub(r"(\d+)((?:st|nd|rd|th)?)", digits, text, flags=re.ASCII)
