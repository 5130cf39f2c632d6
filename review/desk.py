"""What the pages of a case show: the rows to judge, with their places in the document and who predicted them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from benchmark.elements import comparable
from benchmark.prompts import Segment, segments
from documents.queries import text_of
from generation.models import LanguageModel
from generation.queries import Result
from review.judging import Content, OpenPoint, content_of, open_points
from review.models import AnswerReview, ReviewCase
from review.queries import is_summary, lines_of, predicted_elements, predictions_of, unanswered
from review.workflow import ElementMark, IssueKind, PredictedMark

MOST_PLACES = 3
BEFORE = 16
AFTER = 24

LOOK = {
    ElementMark.CORRECT.value: ("pass", "check"),
    ElementMark.INCORRECT.value: ("fail", "cross"),
    ElementMark.UNSURE.value: ("warn", "query"),
    PredictedMark.MISSING.value: ("warn", "plus"),
    PredictedMark.UNREASONABLE.value: ("idle", "cross"),
}
DOUBT = frozenset({ElementMark.INCORRECT.value, ElementMark.UNSURE.value, PredictedMark.MISSING.value})
WORDS: dict[str, Promise] = {
    ElementMark.CORRECT.value: _("correct"),
    ElementMark.INCORRECT.value: _("incorrect"),
    ElementMark.UNSURE.value: _("unsure"),
    PredictedMark.MISSING.value: _("missing"),
    PredictedMark.UNREASONABLE.value: _("unreasonable"),
}


@dataclass(frozen=True)
class Place:
    """Where an element stands in the document, in code points, with a few characters around it."""

    start: int
    end: int
    before: str
    text: str
    after: str


@dataclass(frozen=True)
class Giver:
    """Whether one model of the panel gave an element; `short` is what a narrow column has room for."""

    model: LanguageModel
    short: str
    gave: bool


@dataclass(frozen=True)
class ElementRow:
    position: int
    element: str
    mark: str
    note: str
    places: tuple[Place, ...]
    more: int
    givers: tuple[Giver, ...]

    @property
    def given_by(self) -> int:
        return sum(giver.gave for giver in self.givers)

    @property
    def word(self) -> Promise | str:
        return WORDS.get(self.mark, "–")


@dataclass(frozen=True)
class IssueRow:
    kind: IssueKind
    chosen: bool
    note: str


@dataclass(frozen=True)
class Cell:
    """One reviewer's mark as the adjudication shows it."""

    mark: str
    note: str

    @property
    def state(self) -> str:
        return LOOK.get(self.mark, ("", ""))[0]

    @property
    def icon(self) -> str:
        return LOOK.get(self.mark, ("", ""))[1]

    @property
    def label(self) -> Promise | str:
        return WORDS.get(self.mark, "")


@dataclass(frozen=True)
class Difference:
    """One row of the adjudication: an element of the answer, or one that models or a reviewer added."""

    number: int
    row: ElementRow
    predicted: bool
    cells: tuple[Cell, ...]
    decided: Cell

    @property
    def differs(self) -> bool:
        return len({cell.mark for cell in self.cells}) > 1

    @property
    def in_doubt(self) -> bool:
        """Whether a reviewer doubts the answer here."""
        return any(cell.mark in DOUBT for cell in self.cells)


@dataclass(frozen=True)
class Desk:
    """One case as a page shows it, with the marks of `content`."""

    case: ReviewCase
    content: Content
    segments: list[Segment]
    results: list[Result]
    elements: list[ElementRow]
    predicted: list[ElementRow]
    open: list[OpenPoint]

    @property
    def asked(self) -> list[Segment]:
        """The prompt without its output example, which stands folded beside it."""
        *asked, last, _example = self.segments
        head = last.text.rpartition("\n\n")[0]
        return [*asked, Segment(head, last.source)] if head else asked

    @property
    def example(self) -> str:
        """The output example with its heading, as it ends the prompt."""
        last, example = self.segments[-2:]
        return last.text.rpartition("\n\n")[2] + example.text

    @property
    def is_summary(self) -> bool:
        return is_summary(self.case)

    @property
    def to_judge(self) -> int:
        return len(self.elements) + len(self.predicted)

    @property
    def judged(self) -> int:
        return self.to_judge - len(self.open)

    @property
    def failed(self) -> list[Result]:
        return unanswered(self.case, self.results)

    @property
    def simulated(self) -> bool:
        return any(result.model.is_simulated for result in self.results)

    @property
    def issues(self) -> list[IssueRow]:
        notes = {
            kind: "\n".join(issue["note"] for issue in self.content.issues if issue["kind"] == kind)
            for kind in IssueKind
        }
        chosen = {issue["kind"] for issue in self.content.issues}
        return [IssueRow(kind, kind in chosen, notes[kind]) for kind in IssueKind]


def desk_for(case: ReviewCase, content: Content, *, places: bool = True) -> Desk:
    results = predictions_of(case)
    answer = case.standardization.answer
    extra = predicted_elements(case, results)
    text = text_of(case.standardization.document_version) if places else ""
    givers = _Givers(case, results)
    return Desk(
        case=case,
        content=content,
        segments=segments(case.standardization.parts, thinking=False),
        results=results,
        elements=[
            _row(case, text, place, element, _at(content.marks, place - 1), givers)
            for place, element in enumerate(answer, 1)
        ],
        predicted=[
            _row(case, text, place, predicted.element, _of(content.recall, predicted.element), givers)
            for place, predicted in enumerate(extra, 1)
        ],
        open=open_points(content, answer=answer, predicted=[predicted.element for predicted in extra]),
    )


def _at(marks: Sequence[dict[str, str]], index: int) -> dict[str, str]:
    return marks[index] if index < len(marks) else {}


def _of(recall: Sequence[dict[str, str]], element: str) -> dict[str, str]:
    key = comparable(element)
    return next((row for row in recall if comparable(row["element"]) == key), {})


class _Givers:
    def __init__(self, case: ReviewCase, results: Sequence[Result]) -> None:
        self.models = [result.model for result in results if result.call.has_answer]
        self.lines = [
            {comparable(line) for line in lines_of(case, result)} for result in results if result.call.has_answer
        ]
        self.short = short_names([model.name for model in self.models])

    def of(self, element: str) -> tuple[Giver, ...]:
        key = comparable(element)
        return tuple(
            Giver(model, short, key in lines)
            for model, short, lines in zip(self.models, self.short, self.lines, strict=True)
        )


def short_names(names: Sequence[str]) -> list[str]:
    """One letter for each name, the first of its own that no earlier name took; a figure when none is left."""
    taken: list[str] = []
    for number, name in enumerate(names, 1):
        last = name.rpartition("/")[2]
        letters = [letter.upper() for letter in last if letter.isalnum()]
        taken.append(next((letter for letter in letters if letter not in taken), str(number)))
    return taken


def _row(case: ReviewCase, text: str, position: int, element: str, mark: dict[str, str], givers: _Givers) -> ElementRow:
    places, more = places_of(element, text) if not is_summary(case) else ((), 0)
    return ElementRow(
        position=position,
        element=element,
        mark=mark.get("mark", ""),
        note=mark.get("note", ""),
        places=places,
        more=more,
        givers=givers.of(element),
    )


def places_of(element: str, text: str) -> tuple[tuple[Place, ...], int]:
    """The first exact places of an element, and how many more there are. An option's letter stands everywhere."""
    element = element.strip()
    if not element or (len(element) < 2 and element.isascii()):
        return (), 0
    found = [match.span() for match in re.finditer(_whole(element), text)]
    return tuple(_place(text, start, end) for start, end in found[:MOST_PLACES]), max(0, len(found) - MOST_PLACES)


def _whole(element: str) -> str:
    """The element as a whole word where it begins or ends with Latin letters or figures: `4` is not found in `2024`."""
    before = r"(?<![A-Za-z0-9])" if re.match("[A-Za-z0-9]", element) else ""
    after = r"(?![A-Za-z0-9])" if re.search("[A-Za-z0-9]$", element) else ""
    return before + re.escape(element) + after


def _place(text: str, start: int, end: int) -> Place:
    return Place(start, end, _before(text, start), text[start:end], _after(text, end))


def _before(text: str, start: int) -> str:
    """A few characters of the same line, beginning with a whole word where the script has words."""
    line = text[max(0, start - BEFORE) : start].rpartition("\n")[2]
    cut = start > BEFORE and len(line) == BEFORE and re.match(r"[A-Za-z0-9]", line) is not None
    return (line.partition(" ")[2] or line if cut else line).lstrip()


def _after(text: str, end: int) -> str:
    line = text[end : end + AFTER].partition("\n")[0]
    cut = len(line) == AFTER and re.search(r"[A-Za-z0-9]$", line) is not None
    return (line.rpartition(" ")[0] if cut else line).rstrip()


# Adjudication ----------------------------------------------------------------------------------------------------


def compare(desk: Desk, reviews: Sequence[AnswerReview], marks: Sequence[Mapping[str, str]] = ()) -> list[Difference]:
    """Every mark of the reviews beside each other, with the expert's own: what differs first, then what both doubt,
    then the rest, each in the order of the answer. `number` counts in the order of the answer, then of what it lacks,
    so that it names the same row however the rows are sorted."""
    contents = [content_of(review) for review in reviews]
    decided = {comparable(row["element"]): row["mark"] for row in marks}
    rows = [(row, False, [_at(content.marks, row.position - 1) for content in contents]) for row in desk.elements]
    rows += [(row, True, [_of(content.recall, row.element) for content in contents]) for row in desk.predicted]
    rows += _added(contents, {comparable(row.element) for row in [*desk.elements, *desk.predicted]})
    compared = [
        Difference(number, row, lacked, tuple(map(_cell, given)), Cell(decided.get(comparable(row.element), ""), ""))
        for number, (row, lacked, given) in enumerate(rows, 1)
    ]
    return sorted(compared, key=lambda row: (not row.differs, not row.in_doubt))


def _cell(mark: Mapping[str, str]) -> Cell:
    return Cell(mark.get("mark", ""), mark.get("note", ""))


def _added(contents: Sequence[Content], shown: set[str]) -> list[tuple[ElementRow, bool, list[dict[str, str]]]]:
    """What reviewers added in their own words; what is in a row already is not shown twice."""
    words: dict[str, str] = {}
    for content in contents:
        for element in content.additions:
            if comparable(element) not in shown:
                words.setdefault(comparable(element), element)
    keys = [{comparable(element) for element in content.additions} for content in contents]
    missing = {"mark": PredictedMark.MISSING.value}
    return [
        (ElementRow(0, element, "", "", (), 0, ()), True, [missing if key in added else {} for added in keys])
        for key, element in words.items()
    ]
