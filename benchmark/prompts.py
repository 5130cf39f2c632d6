"""The two standardized prompts of a sample.

Both are computed from the same parts and a fixed text; nobody types them. The fixed text lives in
`data/templates.json` and is protocol down to its quotation marks. Parts are put in once, left to right, and never
looked at again, so braces and per cent signs in them stay as they are.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from benchmark.elements import with_line_feeds
from benchmark.findings import gettext_noop
from benchmark.taxonomy import DATA, Language

FIXED = "fixed"
CONTEXT_GAP = "\n" * 4


@dataclass(frozen=True)
class Parts:
    """What an annotator types for one sample's prompts; `supplementary` may be empty, the rest may not."""

    language: Language
    task_description: str
    elements: str
    supplementary: str
    example: tuple[str, ...]

    def __post_init__(self) -> None:
        """Language names and lists from forms and files are taken too. ValueError for an unknown language."""
        object.__setattr__(self, "language", Language(self.language))
        object.__setattr__(self, "example", tuple(self.example))

    def cleaned(self) -> "Parts":
        """The parts as they stand in the prompts: LF line ends, no white space around."""
        return Parts(
            self.language,
            with_line_feeds(self.task_description),
            with_line_feeds(self.elements),
            with_line_feeds(self.supplementary),
            tuple(with_line_feeds(line) for line in self.example),
        )


@dataclass(frozen=True)
class Segment:
    """A stretch of a prompt; `source` is `fixed` or the name of the part it comes from."""

    text: str
    source: str


@dataclass(frozen=True)
class FixedText:
    """One language's protocol text. The requirements hold the place `{elements}` once."""

    identifier: str
    non_thinking_requirement: str
    thinking_requirement: str
    example_heading: str
    thinking_placeholder: str
    joint: str

    def requirement(self, thinking: bool) -> tuple[str, str]:
        """The requirement before and after the elements phrase."""
        text = self.thinking_requirement if thinking else self.non_thinking_requirement
        before, _, after = text.partition("{elements}")
        return before, after

    def example_frame(self, thinking: bool) -> str:
        """What stands between the last part and the example's lines, without the line ends around it."""
        placeholder = [self.thinking_placeholder] if thinking else []
        return "\n".join([self.example_heading, *placeholder, self.identifier])


@cache
def _fixed_texts() -> dict[Language, FixedText]:
    rows = json.loads((DATA / "templates.json").read_text(encoding="utf-8"))
    return {Language(language): FixedText(**row) for language, row in rows.items()}


def fixed_text(language: Language) -> FixedText:
    return _fixed_texts()[Language(language)]


def identifier(language: Language) -> str:
    """`[Answer]` or `[答案]`."""
    return fixed_text(language).identifier


def nonthinking_requirement(language: Language, elements: str) -> str:
    """The sentence that says what to output and nothing else, with the elements phrase put in."""
    before, after = fixed_text(language).requirement(thinking=False)
    return before + with_line_feeds(elements) + after


def segments(parts: Parts, thinking: bool) -> list[Segment]:
    """The prompt in stretches, each with its source; their texts joined are the prompt exactly."""
    return [segment for segment in _segments(parts.cleaned(), thinking) if segment.text]


def _segments(parts: Parts, thinking: bool) -> Iterator[Segment]:
    fixed = fixed_text(parts.language)
    before, after = fixed.requirement(thinking)
    yield Segment(parts.task_description, "task_description")
    yield Segment(fixed.joint + before, FIXED)
    yield Segment(parts.elements, "elements")
    if parts.supplementary:
        yield Segment(after + "\n\n", FIXED)
        yield Segment(parts.supplementary, "supplementary")
        after = ""
    yield Segment(after + "\n\n" + fixed.example_frame(thinking) + ("\n" if parts.example else ""), FIXED)
    yield Segment("\n".join(parts.example), "example")


def nonthinking_prompt(parts: Parts) -> str:
    return "".join(segment.text for segment in segments(parts, thinking=False))


def thinking_prompt(parts: Parts) -> str:
    return "".join(segment.text for segment in segments(parts, thinking=True))


def identifier_places(parts: Parts, thinking: bool) -> list[int]:
    """Where the template puts the identifier: code points in the prompt. Anywhere else it stands in no prompt."""
    places, at = [], 0
    mark = identifier(parts.language)
    for segment in segments(parts, thinking):
        if segment.source == FIXED:
            found = segment.text.find(mark)
            while found >= 0:
                places.append(at + found)
                found = segment.text.find(mark, found + 1)
        at += len(segment.text)
    return places


def model_input(context: str, prompt: str) -> str:
    """What a model is sent: the document, four newlines, the prompt."""
    return context + CONTEXT_GAP + prompt


class NotAPrompt(ValueError):
    """The text is not what the template makes of any parts; the one argument says where it departs (translatable)."""


def split_prompt(language: Language, prompt: str, thinking: bool) -> Parts:
    """The parts of a finished prompt: the inverse of the two prompt functions.

    Proven by putting the parts together again: every byte of the fixed text is checked by that. Raises NotAPrompt.
    Unique because the identifier stands in no part.
    """
    fixed = fixed_text(language)
    before, after = fixed.requirement(thinking)
    head, frame, example = prompt.rpartition("\n\n" + fixed.example_frame(thinking) + "\n")
    if not frame:
        raise NotAPrompt(gettext_noop("The heading of the output example is not where the template puts it."))
    description, requirement, rest = head.partition(fixed.joint + before)
    if not requirement:
        raise NotAPrompt(gettext_noop("The output requirement is not where the template puts it."))
    first_line, _, supplementary = rest.partition("\n")
    if not first_line.endswith(after):
        raise NotAPrompt(gettext_noop("The output requirement does not end as the template says."))
    elements = first_line.removesuffix(after)
    parts = Parts(
        Language(language), description, elements, supplementary.removeprefix("\n"), tuple(example.split("\n"))
    )
    again = "".join(segment.text for segment in segments(parts, thinking))
    if again != prompt or not all(parts.example):
        raise NotAPrompt(gettext_noop("White space or line ends stand where the template has none."))
    return parts
