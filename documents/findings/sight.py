"""A text prepared for cheap looks: the rare beginning of every pattern is found by C code over plain bytes.

Each byte stands for one code point, so that a place in the bytes is a place in the text. A pattern of Python's `re`
costs 10 to 100 ns for each character; a search for fixed bytes costs less than one. So no pattern ever runs over the
whole text: it runs around what such a search found, in a window of fixed size, which also keeps the time linear.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import AnyStr

_DIGITS, _CAPITALS, _SMALL = b"0123456789", range(65, 91), range(97, 123)
_KEPT = b" .-()+/:"
# One foreign character in so many is few: then each is looked at by itself.
FEW = 50
FIRST_HAN = "\u2e80"


def _shape_of(code: int) -> int:
    if code in _DIGITS:
        return ord("0")
    if code in _CAPITALS:
        return ord("A")
    if code in _SMALL:
        return ord("a")
    return code if code in _KEPT else ord("?")


SHAPES = bytes(_shape_of(code) for code in range(256))


class Sight:
    """`ascii` has "?" for every other character, `lower` is that in small letters, and `shape` has "0" for a digit,
    "A" and "a" for letters, "?" for what separates nothing."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.ascii = text.encode("ascii", "replace")

    @cached_property
    def lower(self) -> bytes:
        return self.ascii.lower()

    @cached_property
    def shape(self) -> bytes:
        return self.ascii.translate(SHAPES)

    @cached_property
    def foreign(self) -> list[int] | None:
        """The places of all characters beyond ASCII where these are few; None where they are many."""
        marks = self.ascii.count(b"?")
        if marks > len(self.ascii) // FEW:
            return None
        return [at for at in places_of(self.ascii, b"?") if self.text[at] != "?"]

    @cached_property
    def has_han(self) -> bool:
        return self.foreign is None or any(self.text[at] >= FIRST_HAN for at in self.foreign)

    def words(self, words: Iterable[bytes]) -> list[int]:
        """Where any of these ASCII words (in small letters) begin, in order."""
        return sorted(at for word in words for at in places_of(self.lower, word))

    def signs(self, signs: Iterable[str]) -> list[int]:
        """Where any of these Chinese strings, exactly so, begin, in order."""
        if not self.has_han:
            return []
        return sorted(at for sign in signs for at in places_of(self.text, sign))


def places_of(text: AnyStr, wanted: AnyStr) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))
