"""Splitting a drafted question into the parts of a standardization, as an annotator would type them.

The drafts of the simulated models are worded so that the question is the task description and the options are the
supplementary content; what is left to do is an example that has the answer's form and is not the answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from generation.demo.asking import ACCURACY, PAIRWISE, SUMMARY
from generation.demo.kinds import kinds_for
from generation.demo.text import CHINESE, ENGLISH

_WORDS = {ENGLISH: ("apple", "orange", "cherry", "peach"), CHINESE: ("苹果", "香蕉", "葡萄", "樱桃")}
_SUMMARY = {ENGLISH: "A summary of what was asked for stands here.", CHINESE: "此处为所要求内容的摘要。"}
_NUMBER = re.compile(r"\d+")
_NAMED_FIGURE = re.compile(r"^(\D*[^\W\d]\D*)\s(\S*\d\S*)$")
_MOST_LINES = 3


@dataclass(frozen=True)
class StandardParts:
    task_description: str
    elements: str
    supplementary: str
    example: tuple[str, ...]


def standardized_parts(
    *, question: str, elements: str, options: Sequence[str], answer: Sequence[str], language: str, task: str
) -> StandardParts:
    """The parts for a question of the simulated models; `task` is the secondary task's code, for example `T3.2`."""
    return StandardParts(
        task_description=question.strip(),
        elements=elements.strip(),
        supplementary="\n".join(options),
        example=example_for(answer, language=language, task=task, options=options),
    )


def example_for(answer: Sequence[str], *, language: str, task: str, options: Sequence[str] = ()) -> tuple[str, ...]:
    """Example elements: the answer's form, and none of them right."""
    metric = kinds_for(task)[0].metric
    if metric == SUMMARY:
        return (_SUMMARY[language],)
    if metric == ACCURACY:
        return (next(letter for letter in "ABCD" if letter != answer[0]),)
    if metric == PAIRWISE:
        return tuple(reversed(answer))
    taken = {" ".join(line.lower().split()) for line in answer}
    words = [word for word in _WORDS[language] if all(word not in line.lower() for line in answer)]
    example: list[str] = []
    for place, line in enumerate(answer[:_MOST_LINES]):
        example.append(_other(line, words[place % len(words)] if words else f"item {place}", taken))
        taken.add(example[-1].lower())
    return tuple(example)


def _other(line: str, word: str, taken: set[str]) -> str:
    """The same form with another word and other numbers."""
    figure = _NAMED_FIGURE.match(line)
    if figure:
        return f"{word} {_other_numbers(figure.group(2), set())}"
    if _NUMBER.search(line):
        return _other_numbers(line, taken)
    head, _, decision = line.rpartition(" ")
    return f"{word} {decision}" if head and decision in ("yes", "no", "是", "否") else word


def _other_numbers(line: str, taken: set[str]) -> str:
    """Every run of digits replaced by another of the same length, until the line is a new one."""
    for step in range(1, 200):
        other = _NUMBER.sub(lambda run: _moved(run.group(), step), line)  # noqa: B023
        if other.lower() not in taken:
            return other
    return line


def _moved(digits: str, step: int) -> str:
    size = 10 ** len(digits)
    return str((int(digits) + step) % size or 1).zfill(len(digits))
