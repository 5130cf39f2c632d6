"""What a review says: its shape, what is still open in it, and whether it found an issue."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from benchmark.elements import comparable
from core.refusals import Invalid
from core.text import clean_value
from review.workflow import ElementMark, IssueKind, PredictedMark

LONGEST_NOTE = 4000
MOST_ADDITIONS = 200

Mark = dict[str, str]


@dataclass(frozen=True)
class Content:
    """A review's words and marks, in the shape in which the record keeps them. An empty mark is still open."""

    marks: list[Mark]
    recall: list[Mark]
    additions: list[str]
    issues: list[Mark]

    def as_fields(self) -> dict[str, list[Any]]:
        return {"marks": self.marks, "recall": self.recall, "additions": self.additions, "issues": self.issues}


@dataclass(frozen=True)
class OpenPoint:
    """One thing that is not judged yet: `kind` is `element` or `prediction`, `position` counts from 1."""

    kind: str
    position: int
    element: str

    @property
    def words(self) -> str:
        if self.kind == "element":
            return _("element %(position)s") % {"position": self.position}
        return _("prediction %(position)s") % {"position": self.position}


def content_of(review: Any) -> Content:
    return Content(review.marks, review.recall, review.additions, review.issues)


def cleaned(
    *,
    marks: Sequence[Any],
    recall: Sequence[Any],
    additions: Sequence[Any],
    issues: Sequence[Any],
    answer: Sequence[str],
    predicted: Sequence[str],
) -> Content:
    """The sent values in their kept shape: one mark per answer element, one per predicted element. Raises Invalid."""
    content = Content(
        marks=_marks(marks, len(answer)),
        recall=_recall(recall, predicted),
        additions=_additions(additions),
        issues=_issues(issues),
    )
    too_long = [
        field
        for field, values in content.as_fields().items()
        if any(len(text) > LONGEST_NOTE for text in _texts(field, values))
    ]
    if too_long:
        words = _("At most %(most)s characters.") % {"most": LONGEST_NOTE}
        raise Invalid(dict.fromkeys(too_long, words))
    return content


def _texts(field: str, values: Iterable[Any]) -> Iterable[str]:
    return values if field == "additions" else (value["note"] for value in values)


def _rows(field: str, values: Sequence[Any]) -> list[Mapping[str, Any]]:
    if isinstance(values, str) or not all(isinstance(value, Mapping) for value in values):
        raise Invalid({field: _("A list of objects is expected.")})
    return list(clean_value(list(values)))


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _choice(field: str, value: Any, choices: Sequence[str]) -> str:
    mark = _text(value)
    if mark and mark not in choices:
        raise Invalid({field: _("“%(mark)s” is none of %(choices)s.") % {"mark": mark, "choices": ", ".join(choices)}})
    return mark


def _marks(values: Sequence[Any], count: int) -> list[Mark]:
    rows = _rows("marks", values)
    if len(rows) > count:
        raise Invalid({"marks": _("The answer has %(count)s elements; more were judged.") % {"count": count}})
    rows += [{}] * (count - len(rows))
    return [
        {"mark": _choice("marks", row.get("mark"), ElementMark.values), "note": _text(row.get("note"))} for row in rows
    ]


def _recall(values: Sequence[Any], predicted: Sequence[str]) -> list[Mark]:
    rows = _rows("recall", values)
    known = {comparable(element) for element in predicted}
    given: dict[str, Mark] = {}
    for row in rows:
        element = _text(row.get("element"))
        if comparable(element) not in known:
            words = _("“%(element)s” is not among the elements that only models gave.") % {"element": element[:80]}
            raise Invalid({"recall": words})
        mark = _choice("recall", row.get("mark"), PredictedMark.values)
        given[comparable(element)] = {"element": element, "mark": mark, "note": _text(row.get("note"))}
    blank = {"mark": "", "note": ""}
    return [{**given.get(comparable(element), blank), "element": element} for element in predicted]


def _additions(values: Sequence[Any]) -> list[str]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise Invalid({"additions": _("A list of texts is expected.")})
    if len(values) > MOST_ADDITIONS:
        raise Invalid({"additions": _("At most %(most)s additions.") % {"most": MOST_ADDITIONS}})
    return [text for text in map(_text, clean_value(list(values))) if text]


def _issues(values: Sequence[Any]) -> list[Mark]:
    return [
        {"kind": _choice("issues", row.get("kind"), IssueKind.values), "note": _text(row.get("note"))}
        for row in _rows("issues", values)
    ]


def open_points(content: Content, *, answer: Sequence[str], predicted: Sequence[str]) -> list[OpenPoint]:
    """What must still be judged before the review can be submitted."""
    marks = [row.get("mark", "") for row in content.marks]
    marks += [""] * (len(answer) - len(marks))
    judged = {comparable(row["element"]) for row in content.recall if row.get("mark")}
    return [
        OpenPoint("element", place, element)
        for place, (element, mark) in enumerate(zip(answer, marks, strict=False), 1)
        if not mark
    ] + [
        OpenPoint("prediction", place, element)
        for place, element in enumerate(predicted, 1)
        if comparable(element) not in judged
    ]


def finds_issue(content: Content) -> bool:
    """Any incorrect, unsure or missing mark, any addition and any issue kind is an issue."""
    return bool(
        content.issues
        or content.additions
        or any(row["mark"] != ElementMark.CORRECT for row in content.marks)
        or any(row["mark"] == PredictedMark.MISSING for row in content.recall)
    )


def check_issues(content: Content) -> None:
    """Each issue has a kind and says what is wrong. Raises Invalid."""
    for issue in content.issues:
        if not issue["kind"]:
            raise Invalid({"issues": _("Say of what kind the issue is: document, question or answer.")})
        if not issue["note"]:
            kind = IssueKind(issue["kind"]).label
            raise Invalid({"issues": _("Say in the note what is wrong with the %(kind)s, and where.") % {"kind": kind}})
