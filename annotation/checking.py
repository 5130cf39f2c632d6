"""What is said about a candidate's wording while somebody edits it: hints, places in the document, differences.

Nothing is changed, and nothing is loaded but the document, once, when the task's elements are looked for in it.
"""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.differences import Piece, is_change, line_difference, text_difference
from annotation.editing import Wording, edited_in_step, undoable
from annotation.hinting import Draft, hints_of, without_letters, words_to_find
from annotation.models import Candidate, CandidateEdit
from annotation.occurring import NOWHERE, Occurrence, haystack_of
from annotation.standardizing import said
from annotation.workflow import CandidateState
from benchmark.findings import Finding
from benchmark.taxonomy import Language, Metric

# More lines, and longer ones, are not looked for.
MOST_LINES = 1_000
LONGEST_LINE = 2_000
PARTS: dict[str, str | Promise] = {
    "question": gettext_lazy("Question"),
    "elements": gettext_lazy("What to output"),
    "options": gettext_lazy("Options"),
    "answer": gettext_lazy("Answer"),
}
OPTIONS, ANSWER = "options", "answer"


@dataclass(frozen=True)
class Hint:
    """`line` counts from 1 within options or answer; None when the whole field is meant."""

    field: str
    line: int | None
    rule: str
    text: str


@dataclass(frozen=True)
class Place:
    """Where a line of the options or of the answer stands in the document."""

    field: str
    line: int
    text: str
    occurrence: Occurrence


@dataclass(frozen=True)
class Checked:
    hints: tuple[Hint, ...]
    places: tuple[Place, ...]
    differences: dict[str, tuple[Piece, ...]]


@dataclass(frozen=True)
class Undo:
    edit: CandidateEdit
    changes: dict[str, tuple[Piece, ...]]


def check_wording(candidate: Candidate, wording: Wording) -> Checked:
    """Of the candidate as typed; candidate.sample with its document version and candidate.draft are loaded."""
    sample = candidate.sample
    draft = Draft(wording.question, wording.elements, wording.options, wording.answer)
    found = occurrences(candidate, wording)
    hints = hints_of(sample.task, Language(sample.document.language), draft, found)
    return Checked(tuple(map(_hint, hints)), tuple(_places(wording, found)), differences(candidate, wording))


def read_hints(candidate: Candidate, wording: Wording) -> tuple[str, ...]:
    """The hints that need no document, for who reads: each names its part, unless it is the answer."""
    draft = Draft(wording.question, wording.elements, wording.options, wording.answer)
    hints = hints_of(candidate.sample.task, Language(candidate.sample.document.language), draft)
    return tuple(
        said(hint)
        if hint.field == ANSWER
        else _("%(part)s: %(hint)s") % {"part": PARTS.get(hint.field, hint.field), "hint": said(hint)}
        for hint in hints
    )


def occurrences(candidate: Candidate, wording: Wording) -> dict[str, Occurrence]:
    task = candidate.sample.task
    if task.metric is Metric.SUMMARY:
        return {}
    options = wording.options[:MOST_LINES]
    bare = dict(zip((option.strip() for option in options), without_letters(options), strict=True))
    wanted = [*words_to_find(task, wording.answer[:MOST_LINES]), *bare.values()]
    short = [line for line in wanted if len(line) <= LONGEST_LINE and not (task.multiple_choice and len(line) == 1)]
    found = haystack_of(candidate.sample.document_version).find(short) if short else {}
    return found | {option: found[text] for option, text in bare.items() if text in found}


def differences(candidate: Candidate, wording: Wording) -> dict[str, tuple[Piece, ...]]:
    """To the model's draft, by field."""
    draft = Wording.of(candidate.draft)
    return between(draft, wording)


def between(before: Wording, after: Wording) -> dict[str, tuple[Piece, ...]]:
    return {
        "question": tuple(text_difference(before.question, after.question)),
        "elements": tuple(text_difference(before.elements, after.elements)),
        "options": tuple(line_difference(before.options, after.options)),
        "answer": tuple(line_difference(before.answer, after.answer)),
    }


def changes_of(edit: CandidateEdit) -> dict[str, tuple[Piece, ...]]:
    """The parts that an edit changed."""
    return _changed(Wording.read(edit.before), Wording.read(edit.after))


def _changed(before: Wording, after: Wording) -> dict[str, tuple[Piece, ...]]:
    return {name: pieces for name, pieces in between(before, after).items() if is_change(pieces)}


def undo_of(candidate: Candidate) -> Undo | None:
    """The last edit, and what putting back the wording before it would change."""
    edit = undoable(candidate)
    return Undo(edit, _changed(Wording.of(candidate), Wording.read(edit.before))) if edit else None


def step_of(candidate: Candidate) -> str:
    """What around the editor depends on the wording: while it stays the same, nothing around it is fetched."""
    edited = edited_in_step(candidate) if candidate.state in {CandidateState.TASK_A, CandidateState.TASK_B} else False
    stale = (
        candidate.challenges.exists() and not candidate.challenges.filter(candidate_version=candidate.version).exists()
    )
    return f"{candidate.state} {'edited' if edited else ''} {'stale' if stale else ''}".strip()


def _hint(finding: Finding) -> Hint:
    position = finding.params.get("position")
    return Hint(finding.field, position if isinstance(position, int) else None, finding.check, said(finding))


def _places(wording: Wording, found: dict[str, Occurrence]) -> list[Place]:
    lines = [(OPTIONS, place, text) for place, text in enumerate(wording.options, 1)]
    lines += [(ANSWER, place, text) for place, text in enumerate(wording.answer, 1)]
    return [
        Place(field, place, text, found.get(text.strip(), NOWHERE))
        for field, place, text in lines
        if text.strip() in found
    ]
