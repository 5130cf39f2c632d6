"""One book in several formats."""

import re
from collections import Counter
from difflib import SequenceMatcher


def words_of(text: str) -> list[str]:
    """From the first sentence of Alice to the last, as lower-case words."""
    words = " ".join(re.findall("[a-z]+", text.lower()))
    start = words.index("alice was beginning to get very tired")
    return words[start : words.index("happy summer days") + len("happy summer days")].split()


def assert_same_words(one: str, other: str) -> None:
    """The same words, but for a handful where the editions differ, and in the same order for the first chapters."""
    ours, theirs = words_of(one), words_of(other)
    assert len(ours) > 26_000
    differing = (Counter(ours) - Counter(theirs)) + (Counter(theirs) - Counter(ours))
    assert sum(differing.values()) <= 40, differing
    assert SequenceMatcher(None, ours[:2_000], theirs[:2_000], autojunk=False).ratio() > 0.995
