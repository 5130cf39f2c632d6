"""An approved question broken into the parts of its prompts, as far as they can be told apart."""

import re
from collections.abc import Sequence

from benchmark.elements import comparable, with_line_feeds
from benchmark.prompts import Parts
from benchmark.proposing import propose_example
from benchmark.taxonomy import Language, SecondaryTask

LABEL = r"[A-Z]|\d{1,3}|[-*•·]|[一二三四五六七八九十]+|[（(](?:[A-Za-z]|\d{1,3})[)）]"
ITEM = re.compile(rf"^\s*(?:{LABEL})\s*[.．、:：)）]?\s*\S")
LEAST_ITEMS = 2
END_MARKS = " .。,，;；:：、"


def parts_of_question(
    task: SecondaryTask,
    *,
    language: Language,
    question: str,
    elements: str,
    options: Sequence[str],
    answer: Sequence[str],
) -> Parts:
    """Question, elements phrase and options as drafted, and a made-up example.

    What the question lists below its text (options, labels, a text to work on) is the supplementary content; options
    that are given by themselves are not listed twice.
    """
    description, listed = _told_apart(with_line_feeds(question))
    given = [option.strip() for option in options if option.strip()]
    taken = {comparable(option) for option in given}
    rest = [line for line in listed.split("\n") if comparable(line) not in taken] if given else [listed]
    supplementary = "\n".join([*rest, *given]).strip()
    phrase = with_line_feeds(elements).rstrip(END_MARKS)
    context = "\n".join([description, supplementary])
    example = propose_example(task, language=language, answer=answer, elements=phrase, context=context)
    return Parts(language, description, phrase, supplementary, example)


def _told_apart(question: str) -> tuple[str, str]:
    """The question's own text, and what it lists below: the lines after an empty line, or a list at its end."""
    head, gap, rest = question.partition("\n\n")
    if gap:
        return head.strip(), rest.strip()
    lines = question.split("\n")
    begins = len(lines)
    while begins > 1 and ITEM.match(lines[begins - 1]):
        begins -= 1
    if len(lines) - begins < LEAST_ITEMS:
        return question, ""
    return "\n".join(lines[:begins]).strip(), "\n".join(lines[begins:]).strip()
