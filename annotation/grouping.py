"""Which of a sample's drafted questions ask the same thing: five models read one document and often hit on one idea.

Pure and deterministic. Two questions are the same when they share their words (inflection, word order and the phrases
that only introduce a question left out) and nothing sets them apart: another number, another name or quoted word, an
opposite (largest, smallest) or another order. Answers that agree make up for other words; answers that have nothing in
common tell two nearly equal questions apart. A group is only a hint: people decide, with both questions before them.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

# Shares of common features (Dice): enough by itself; with nothing but additions on one side; with agreeing answers.
SAME, EXTENDED, SAME_ANSWER = 0.9, 0.75, 0.5
AGREEING, OPPOSED = 0.5, 0.2
LONGEST = 2_000

_WORD = re.compile(r"[a-z0-9]+(?:[.,]\d+)*|[\u3400-\u9fff]+|↓|↑", re.ASCII | re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u9fff]")
_QUOTED = re.compile(r"[\"“”«»「『《]([^\"“”«»」』》]{1,80})[\"“”«»」』》]")
_SENTENCE = re.compile(r"[.?!:;。？！：；\n]\s*")

# What a question is introduced by, and verbs that only say that a text says something.
_IDLE_WORDS = """
    a all also an and are as at be been by can complete could did do does document each every exactly find for from
    full give given had has have how identify in into is it its item line list mention mentioned must name named of on
    once one only or output passage please point provide refer report said say separate shall should show specify state
    stated tell text that the their them then there these they this those to was were what when where which who whom
    whose will with within write you your appear appears cite cited describe described discuss discussed occur occurs
    according order ordered sort sorted rank ranked arrange arranged put
"""
_IDLE = frozenset(_IDLE_WORDS.split())
_IDLE_HAN = re.compile(
    "请问|请你|请|列出|列举|写出|给出|指出|说出|找出|哪一些|哪些|哪几|哪个|哪|什么|怎样|如何|多少|几个|是否|文档中|文档|文中|本文|原文"
    "|全文|根据|依据|按照|所有|全部|分别|其中|提到|提及|出现|出现过|描述|说明|排列|排序|顺序|依次|每行|一行|各|每个|并|且|以及|和|与|或"
    "|的|了|是|有|在|中|里|把|将|被|对|从|到|由|按|以|为|其|这|那|些|个|及|都|曾|过|呢|吗"
)
_FALLING = re.compile(
    r"(?:in )?(?:descending|decreasing) order|descending"
    r"|(?:from )?(?:the )?(?:largest|highest|greatest|most|latest|biggest)"
    r"(?: \w+)? (?:to|down to) (?:the )?(?:smallest|lowest|least|earliest)(?: \w+)?"
    r"|(?:largest|highest|greatest|biggest)(?: \w+)? first|[从由](?:大到小|高到低|多到少|晚到早|后到前)|降序",
    re.IGNORECASE,
)
_RISING = re.compile(
    r"(?:in )?(?:ascending|increasing) order|ascending|(?:from )?(?:the )?(?:smallest|lowest|least|earliest)"
    r"(?: \w+)? (?:to|up to) (?:the )?(?:largest|highest|greatest|most|latest|biggest)(?: \w+)?"
    r"|(?:smallest|lowest|earliest)(?: \w+)? first|[从由](?:小到大|低到高|少到多|早到晚|前到后)|升序",
    re.IGNORECASE,
)
_OPPOSITES = (
    ("first", "last"),
    ("before", "after"),
    ("largest", "smallest"),
    ("highest", "lowest"),
    ("most", "least"),
    ("earliest", "latest"),
    ("longest", "shortest"),
    ("more", "less"),
    ("above", "below"),
    ("最大", "最小"),
    ("最高", "最低"),
    ("最多", "最少"),
    ("最早", "最晚"),
    ("最长", "最短"),
    ("首次", "末次"),
    ("之前", "之后"),
    ("以前", "以后"),
    ("高于", "低于"),
    ("多于", "少于"),
    ("早于", "晚于"),
)
_DENIALS = re.compile(r"\b(?:not|never|no|without|except|excluding|unlike)\b|n't\b|不|没有|未|除了|除外", re.IGNORECASE)
_NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 2
    )
}
_HAN_DIGITS = {digit: str(number) for number, digit in enumerate("零一二三四五六七八九十")}
_HAN_NUMBER = re.compile(
    r"[零一二三四五六七八九十百千万]+(?=[个条章节年月日次名种项页款篇卷位])|第[零一二三四五六七八九十百千]+"
)


@dataclass(frozen=True)
class Asked:
    """A question with its reference answer; the answer may be empty."""

    question: str
    answer: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Sense:
    """What a question consists of. `words` tell one question from another, `features` measure how near they are."""

    words: frozenset[str]
    features: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    sides: frozenset[str]
    denies: bool
    answer: frozenset[str]
    plain: str


def groups(asked: Sequence[Asked]) -> tuple[tuple[int, ...], ...]:
    """Groups of two or more, as places in `asked`, in its order. A member is the same as every other of its group."""
    return _groups(tuple(asked))


@lru_cache(maxsize=256)
def _groups(asked: tuple[Asked, ...]) -> tuple[tuple[int, ...], ...]:
    senses = [_sense(one) for one in asked]
    found: list[list[int]] = []
    for place, sense in enumerate(senses):
        home = next((group for group in found if all(_same(senses[member], sense) for member in group)), None)
        if home is None:
            found.append([place])
        else:
            home.append(place)
    return tuple(tuple(group) for group in found if len(group) > 1)


def is_same(one: Asked, other: Asked) -> bool:
    return _same(_sense(one), _sense(other))


def _same(one: _Sense, other: _Sense) -> bool:
    if not one.words or not other.words or _are_apart(one, other):
        return False
    near = _share(one.features, other.features)
    agreement = _share(one.answer, other.answer) if one.answer and other.answer else None
    if agreement is not None and agreement >= AGREEING and near >= SAME_ANSWER:
        return True
    if near >= SAME:
        return one.words == other.words or agreement is None or agreement >= OPPOSED
    return near >= EXTENDED and (one.words <= other.words or other.words <= one.words)


def _are_apart(one: _Sense, other: _Sense) -> bool:
    return (
        one.numbers != other.numbers
        or any(f" {name} " not in other.plain for name in one.names)
        or any(f" {name} " not in one.plain for name in other.names)
        or one.denies != other.denies
        or any(
            (left in one.sides and right in other.sides and left not in other.sides)
            or (right in one.sides and left in other.sides and right not in other.sides)
            for left, right in (*_OPPOSITES, ("↓", "↑"))
        )
    )


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / ((len(one) + len(other)) or 1)


# What a question consists of -----------------------------------------------------------------------------------


def _sense(asked: Asked) -> _Sense:
    raw = unicodedata.normalize("NFKC", asked.question[:LONGEST])
    text = _RISING.sub(" ↑ ", _FALLING.sub(" ↓ ", raw))
    lower = text.casefold()
    words, features = _features(lower)
    return _Sense(
        words=words,
        features=features,
        numbers=_numbers(lower),
        names=_names(text),
        sides=frozenset(side for pair in (*_OPPOSITES, ("↓", "↑")) for side in pair if _says(lower, side)),
        denies=bool(_DENIALS.search(text)),
        answer=_answer(asked.answer),
        plain=_spaced(lower),
    )


def _says(text: str, side: str) -> bool:
    return bool(re.search(rf"\b{side}\b", text)) if side.isascii() else side in text


def _features(text: str) -> tuple[frozenset[str], frozenset[str]]:
    words: set[str] = set()
    pairs: set[str] = set()
    for word in _WORD.findall(_IDLE_HAN.sub(" ", _HAN_NUMBER.sub(" ", text))):
        if word[0].isdigit() or word in _NUMBER_WORDS:
            continue  # compared by themselves
        if _HAN.match(word):
            words.update(word)
            pairs.update(word[at : at + 2] for at in range(len(word) - 1))
        elif word not in _IDLE:
            words.add(_stem(word))
    return frozenset(words), frozenset(words | pairs)


def _stem(word: str) -> str:
    """Enough to make ship and ships, pay and paying one word; not a dictionary."""
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def _numbers(text: str) -> frozenset[str]:
    digits = re.findall(r"\d+(?:[.,]\d+)*", text)
    spelled = [_NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", text) if word in _NUMBER_WORDS]
    han = ["".join(_HAN_DIGITS.get(sign, sign) for sign in found.lstrip("第")) for found in _HAN_NUMBER.findall(text)]
    # "one of", 一个: an article, no number.
    return frozenset([*(digit.replace(",", "") for digit in digits), *spelled, *(one for one in han if one != "1")])


def _names(text: str) -> frozenset[str]:
    """Quoted words, and words with a capital that do not begin a sentence. A text all in capitals has no names."""
    quoted = {_plain(found) for found in _QUOTED.findall(text)}
    words = [word for sentence in _SENTENCE.split(_QUOTED.sub(" ", text)) for word in sentence.split()[1:]]
    capital = {word.strip(",()'’\"").removesuffix("'s").removesuffix("’s") for word in words if word[:1].isupper()}
    if len(capital) * 2 > len(words):
        capital = set()
    unquoted = {_plain(word) for word in capital if word.casefold() not in _IDLE and word != "I"}
    return frozenset(_spaced(name).strip() for name in quoted | unquoted if name)


def _answer(elements: Iterable[str]) -> frozenset[str]:
    """Option letters say nothing: each model orders its options its own way."""
    found = frozenset(_plain(element) for element in elements)
    return frozenset() if all(len(element) <= 1 for element in found) else found


def _spaced(text: str) -> str:
    """The words between single blanks, every Han character one of its own, so that a name is found as it stands."""
    return f" {' '.join(_plain(_HAN.sub(lambda sign: f' {sign.group()} ', text)).split())} "


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", text).casefold()).strip()
