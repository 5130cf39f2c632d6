"""Both prompts as the page shows them: what is fixed, what was typed, where a check found something, and what one
prompt has that the other has not. And the checks in words, those that hold too."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.differences import SAME, close_difference
from annotation.rendering import Rendering, said
from benchmark.findings import Finding, Repair
from benchmark.forms import Kind
from benchmark.framing import FIXED, Parts, Segment, segments
from benchmark.metrics import FULL_MARKS
from benchmark.taxonomy import Language, SecondaryTask

DIFFERS, TYPED, FAIL, WARN = "differs", "typed", "fail", "warn"
FIELD_NAMES: dict[str, str | Promise] = {
    "task_description": gettext_lazy("Task description"),
    "elements": gettext_lazy("Elements phrase"),
    "supplementary": gettext_lazy("Supplementary content"),
    "example": gettext_lazy("Example elements"),
    "answer": gettext_lazy("Answer"),
    "language": gettext_lazy("Language"),
}
KIND_NAMES: dict[Kind, str | Promise] = {
    Kind.LETTER: gettext_lazy("option letters"),
    Kind.NUMBER: gettext_lazy("a number"),
    Kind.PERCENTAGE: gettext_lazy("a percentage"),
    Kind.DATE: gettext_lazy("a date"),
    Kind.IDENTIFIER: gettext_lazy("an identifier"),
    Kind.NAME: gettext_lazy("a name"),
    Kind.PHRASE: gettext_lazy("a phrase"),
    Kind.SUMMARY: gettext_lazy("a summary"),
}


@dataclass(frozen=True)
class Piece:
    """A stretch of a prompt: `fixed`, `differs` (fixed, and only in this prompt), `typed`, `fail` or `warn`."""

    text: str
    kind: str


def prompt_pieces(rendering: Rendering, *, thinking: bool) -> list[Piece]:
    """The prompt in stretches; their texts joined are the prompt exactly."""
    own, other = (segments(rendering.parts, thinking=one) for one in (thinking, not thinking))
    pieces: list[Piece] = []
    for segment, beside in zip(own, other, strict=True):
        pieces += _fixed(segment, beside) if segment.source == FIXED else _typed(segment, rendering)
    return pieces


def _fixed(segment: Segment, beside: Segment) -> Iterator[Piece]:
    for piece in close_difference(beside.text, segment.text):
        if piece.kind != "del":
            yield Piece(piece.text, FIXED if piece.kind == SAME or piece.text.isspace() else DIFFERS)


def _typed(segment: Segment, rendering: Rendering) -> Iterator[Piece]:
    """The part with what was found in it. Places are those of the part as typed, so white space before it is off."""
    raw = _raw(rendering.parts, segment.source)
    lead = len(raw) - len(raw.lstrip()) if segment.source != "example" else 0
    length = len(segment.text)
    found = [
        (max(0, one.start - lead), min(length, one.end - lead), one.is_error)
        for one in rendering.findings
        if one.field == segment.source and one.start is not None and one.end is not None
    ]
    cuts = sorted({0, length, *(cut for start, end, _error in found if start < end for cut in (start, end))})
    for start, end in pairwise(cuts):
        here = [is_error for left, right, is_error in found if left <= start and end <= right]
        yield Piece(segment.text[start:end], (FAIL if any(here) else WARN) if here else TYPED)


def _raw(parts: Parts, source: str) -> str:
    return "\n".join(parts.example) if source == "example" else str(getattr(parts, source))


# Checks in words -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """One finding in the reader's words, at its place."""

    finding: Finding
    name: str | Promise
    text: str

    @property
    def is_error(self) -> bool:
        return self.finding.is_error

    @property
    def character(self) -> int | None:
        return None if self.finding.start is None else self.finding.start + 1


@dataclass(frozen=True)
class Mending:
    """A repair as a button: what it says, what it changes, and the text that must still stand there."""

    label: str
    repair: Repair
    expected: str


@dataclass(frozen=True)
class Check:
    """One thing that must hold, with what was found against it."""

    name: str | Promise
    holds: str
    found: tuple[tuple[Found, Mending | None], ...]

    @property
    def fails(self) -> bool:
        return any(found.is_error for found, _mending in self.found)


Belongs = Callable[[Finding], bool]


def checks_of(rendering: Rendering, *, task: SecondaryTask, language: Language) -> list[Check]:
    """All checks, those that fail first. `language`: the reader's."""
    rows: list[tuple[str | Promise, str, Belongs]] = [
        (FIELD_NAMES["task_description"], _("Not empty; sets no output requirement."), _about("task_description")),
        (FIELD_NAMES["elements"], _("Not empty, in one line."), _about("elements")),
        (FIELD_NAMES["example"], _("In the form of the answer, and nothing of the answer."), _begins("example_")),
        (gettext_lazy("Identifier"), _("Stands where the template puts it, nowhere else."), _named("identifier")),
        (
            FIELD_NAMES["language"],
            _("Prompt and document are in English.")
            if rendering.parts.language == Language.ENGLISH
            else _("Prompt and document are in Chinese."),
            _named("language", "written_language"),
        ),
        (
            gettext_lazy("Punctuation"),
            _("Chinese and English marks are not mixed."),
            _named("punctuation", "white_space", "invisible"),
        ),
        (FIELD_NAMES["answer"], task.answer_rule_in(language), _rule_of_answer),
        (gettext_lazy("Self-score"), scores_in_words(rendering, task), _named("answer_scores_itself")),
    ]
    checks = [Check(name, holds, tuple(_against(rendering, belongs))) for name, holds, belongs in rows]
    return sorted(checks, key=lambda check: (not check.fails, not check.found))


def scores_in_words(rendering: Rendering, task: SecondaryTask) -> str:
    plain, thought = rendering.scores
    return _(
        "As a reply the answer scores %(plain)s to the non-thinking and %(thought)s to the thinking prompt, by "
        "%(metric)s."
    ) % {"plain": shown_score(plain), "thought": shown_score(thought), "metric": task.metric.value}


def shown_score(score: float) -> str:
    """1.0 only for full marks."""
    return "1.0" if score >= FULL_MARKS else f"{min(score, 0.99):.2f}"


def _against(rendering: Rendering, belongs: Belongs) -> Iterator[tuple[Found, Mending | None]]:
    for finding in rendering.findings:
        if belongs(finding):
            found = Found(finding, FIELD_NAMES.get(finding.field, finding.field), said(finding))
            yield found, mending_of(rendering, finding.repair)


def mending_of(rendering: Rendering, repair: Repair | None) -> Mending | None:
    if repair is None:
        return None
    return Mending(said(repair), repair, _raw(rendering.parts, repair.field)[repair.start : repair.end])


def _about(field: str) -> Belongs:
    return lambda finding: finding.field == field and finding.check in (
        "empty", "line_break", "output_requirement", "end_mark",
    )  # fmt: skip


def _named(*names: str) -> Belongs:
    return lambda finding: finding.check in names


def _begins(start: str) -> Belongs:
    return lambda finding: finding.check.startswith(start)


def _rule_of_answer(finding: Finding) -> bool:
    return finding.check.startswith("answer_") and finding.check != "answer_scores_itself"
