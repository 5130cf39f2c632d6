"""A text that is longer than a model's allowance loses its middle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Truncated:
    """A text cut in the middle. `cut_tokens` is 0 when the text was returned as it was."""

    text: str
    kept_tokens: int
    cut_tokens: int


def truncate_middle(
    text: str,
    *,
    allowance: int,
    encode: Callable[[str], Sequence[int]],
    decode: Callable[[Sequence[int]], str],
) -> Truncated:
    """Keep the first and the last half of `allowance` tokens; a text that fits comes back unchanged.

    Both halves stand in the text as they are: a character of which only some tokens fit goes as a whole. What is left
    is counted again, for where the halves meet other tokens may arise; it never counts more than the allowance.
    """
    if allowance < 1:
        raise ValueError("The allowance must be at least one token.")
    tokens = encode(text)
    if len(tokens) <= allowance:
        return Truncated(text, len(tokens), 0)
    wanted = allowance
    while True:
        kept = _ends(text, tokens, wanted, decode)
        count = len(encode(kept))
        if count <= allowance:
            return Truncated(kept, count, len(tokens) - count)
        wanted = max(0, wanted - (count - allowance))


def _ends(text: str, tokens: Sequence[int], wanted: int, decode: Callable[[Sequence[int]], str]) -> str:
    """The text of the first and last half of so many of its tokens."""
    first, last = wanted - wanted // 2, wanted // 2
    head = _shared(text, decode(tokens[:first]))
    tail = _shared(text[::-1], decode(tokens[len(tokens) - last :])[::-1])[::-1] if last else ""
    return head + tail


def _shared(text: str, part: str) -> str:
    """What the text begins with, as far as the part goes; only a broken character, or one that the tokenizer writes
    differently, keeps the two from being the same."""
    part = part.rstrip("\ufffd")
    return part if text.startswith(part) else text[: len(part)]
