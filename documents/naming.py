"""Names in a list that the lead keeps, looked for in a text: thousands of names, a megabyte, a few milliseconds.

A Latin name is found whatever the case and only as whole words; a Chinese name anywhere. What a name begins with (its
first word, its first two characters) is gathered in a set once, so that the text is gone through once by code in C
and not once for each name.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from documents.findings import Finding, Kind, in_order
from documents.findings.sight import places_of

MAX_NAMES = 20_000
LONGEST = 100

_WORD_BYTES = bytes(
    code + 32 if 65 <= code <= 90 else code if 97 <= code <= 122 or 48 <= code <= 57 else 32 for code in range(256)
)
_WORD = re.compile(rb"[a-z0-9]+")
_FOREIGN = re.compile(rb"\?\?+")
# So many different first words are searched for one by one; more of them in one look at every word.
_FEW = 40


@dataclass(frozen=True)
class NameList:
    """`latin` by that ASCII word of the name, in small letters, which the fewest names of the list hold (James is in
    many, Featherstonehaugh in one): (the name in small letters, how far into it the word begins). `other` by the first
    two characters as one number (`_pair`)."""

    latin: dict[bytes, tuple[tuple[str, int], ...]]
    other: dict[int, tuple[str, ...]]


def names_of(text: str) -> tuple[str, ...]:
    """The names in a list of lines, each once, in their order; spaces are made single."""
    lines = (" ".join(line.split()) for line in text.replace("\ufeff", "").splitlines())
    return tuple(dict.fromkeys(line for line in lines if line))


def is_name(line: str) -> bool:
    """Two characters or more with a letter among them: a single one would be found in every sentence."""
    return 2 <= len(line) <= LONGEST and any(letter.isalpha() for letter in line)


@lru_cache(maxsize=4)
def listed(text: str) -> NameList:
    """A list prepared for looking. Kept, since every text is looked through for the same one."""
    both = (unicodedata.normalize(form, name) for name in names_of(text) if is_name(name) for form in ("NFC", "NFD"))
    names = list(dict.fromkeys(both))
    common = Counter(word for name in names for word in _words_of(name).split())
    latin: dict[bytes, list[tuple[str, int]]] = defaultdict(list)
    other: dict[int, list[str]] = defaultdict(list)
    for name in names:
        words = list(_WORD.finditer(_words_of(name)))
        if words and not _is_han(name[0]):
            rarest = min(words, key=lambda word: common[word[0]])
            latin[rarest[0]].append((name.lower(), rarest.start()))
        else:
            for written in _as_written(name):
                other[_pair(written)].append(written)
    return NameList(
        {word: tuple(names) for word, names in latin.items()},
        {pair: tuple(sorted(names, key=len, reverse=True)) for pair, names in other.items()},
    )


def names_in(text: str, names: NameList) -> list[Finding]:
    found = chain(_latin_in(text, names.latin), _other_in(text, names.other))
    return in_order(Finding(Kind.NAME, start, end) for start, end in _apart(found))


def _latin_in(text: str, names: dict[bytes, tuple[tuple[str, int], ...]]) -> Iterator[tuple[int, int]]:
    if not names:
        return
    words = _words_of(text)
    present = names.keys() & set(words.split()) if len(names) > _FEW else {word for word in names if word in words}
    for word, at in _places(words, present):
        for name, into in names[word]:
            end = _whole_name(text, at - into, name)
            if end:
                yield at - into, end


def _places(words: bytes, present: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    wanted = frozenset(present)
    if len(wanted) <= _FEW:
        yield from ((word, at) for word in wanted for at in places_of(words, word))
        return
    yield from ((match[0], match.start()) for match in _WORD.finditer(words) if match[0] in wanted)


def _whole_name(text: str, start: int, name: str) -> int:
    """Where the name ends that begins at `start`; 0 where it does not stand there, or is part of a longer word.
    White space in the text may be of any kind and length up to a line's end, as a name is often broken there."""
    if start < 0 or _is_part_of_word(text[start - 1 : start]):
        return 0
    at = start
    for number, word in enumerate(name.split(" ")):
        if number:
            gap = at
            while at - gap < 9 and text[at : at + 1].isspace():
                at += 1
            if at == gap:
                return 0
        if text[at : at + len(word)].lower() != word:
            return 0
        at += len(word)
    return 0 if _is_part_of_word(text[at : at + 1]) else at


def _other_in(text: str, names: dict[int, tuple[str, ...]]) -> Iterator[tuple[int, int]]:
    """Every two characters that stand together are one number, and the numbers of the list are known."""
    if not names or text.isascii():
        return
    for start, end in _foreign_parts(text):
        part = text[start:end]
        data = part.encode("utf-32-le", "surrogatepass")
        for odd in (0, 4):
            pairs = memoryview(data[odd : len(data) - (len(data) - odd) % 8]).cast("Q")
            if names.keys().isdisjoint(pairs):
                continue
            for number in [number for number, pair in enumerate(pairs) if pair in names]:
                at = start + 2 * number + odd // 4
                end_of_name = _longest_at(text, at, names[pairs[number]])
                if end_of_name:
                    yield at, end_of_name


def _foreign_parts(text: str) -> Iterator[tuple[int, int]]:
    """The parts in which names beyond ASCII can stand: the whole text, or where few characters are such, their runs."""
    data = text.encode("ascii", "replace")
    if data.count(b"?") > len(data) // 10:
        yield 0, len(text)
        return
    for run in _FOREIGN.finditer(data):
        yield run.start(), min(run.end() + 1, len(text))


def _longest_at(text: str, at: int, names: Sequence[str]) -> int:
    for name in names:
        if text.startswith(name, at) and (_is_han(name[0]) or _whole_name(text, at, name.lower())):
            return at + len(name)
    return 0


def _pair(name: str) -> int:
    return int.from_bytes(name[:2].encode("utf-32-le", "surrogatepass"), "little")


def _apart(found: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Of names that overlap (“Jane Doe” and “Jane Doe Smith”) the longest of those that begin first."""
    last = -1
    for start, end in sorted(set(found), key=lambda place: (place[0], -place[1])):
        if start >= last:
            last = end
            yield start, end


def _words_of(text: str) -> bytes:
    return text.encode("ascii", "replace").translate(_WORD_BYTES)


def _as_written(name: str) -> Sequence[str]:
    """Names without any ASCII letter (Cyrillic, Greek, Chinese) in the cases in which they are written."""
    return tuple(dict.fromkeys((name, name.lower(), name.upper(), name.title())))


def _is_part_of_word(letter: str) -> bool:
    """Whether a Latin word goes on with it: Chinese is written without spaces, so “我叫Guido” holds the whole name."""
    return bool(letter) and (letter.isalnum() or unicodedata.combining(letter) > 0) and not _is_han(letter)


def _is_han(letter: str) -> bool:
    return "\u2e80" <= letter <= "\u9fff" or "\uf900" <= letter <= "\ufaff" or letter >= "\U00020000"
