"""What a reading gives."""

from dataclasses import dataclass

from generation.replies.faults import Fault, Outcome


@dataclass(frozen=True)
class SolutionStep:
    step: str
    quote: str


@dataclass(frozen=True)
class DraftText:
    """A draft as a model wrote it; `position` is its place in the reply, from 1."""

    question: str
    elements: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    rationale: str
    solution: tuple[SolutionStep, ...]
    position: int


@dataclass(frozen=True)
class DraftReading:
    drafts: tuple[DraftText, ...]
    faults: tuple[Fault, ...]
    outcome: Outcome
    cleaned: bool = False
    """True when NUL or lone surrogates were taken out of the reply before it was read."""


@dataclass(frozen=True)
class AnswerReading:
    text: str | None
    fault: Fault | None
