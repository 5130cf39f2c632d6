"""How an answer is read out of a model's reply, the same for every metric.

What follows the last `[Answer]` counts; where there is none, what follows the last `[答案]`; else the whole reply.
Lines are compared in lower case, with runs of white space as one space.
"""

from collections.abc import Sequence

from benchmark.elements import comparable

IDENTIFIERS = ("[Answer]", "[答案]")


def answer_text(reply: str) -> str:
    """The part of a reply that is the answer, stripped, in its own case."""
    for mark in IDENTIFIERS:
        if mark in reply:
            return reply.rpartition(mark)[2].strip()
    return reply.strip()


def predicted_lines(reply: str) -> list[str]:
    """The answer's lines in comparable form. Blank lines count; an empty answer gives one empty line."""
    return [comparable(line) for line in answer_text(reply).split("\n")]


def reference_lines(answer: Sequence[str]) -> list[str]:
    return [comparable(element) for element in answer]


def shown_elements(reply: str) -> list[str]:
    """The answer's lines as a person reads them: in their own case, without the blank ones."""
    lines = [" ".join(line.split()) for line in answer_text(reply).split("\n")]
    return [line for line in lines if line]
