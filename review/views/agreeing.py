"""How far reviewers agree: for leads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from benchmark.taxonomy import SecondaryTask, secondary_task
from core.models import User
from core.refusals import NotAllowed
from core.viewing import person_of
from documents.models import Document
from review.agreement import Agreement
from review.comparing import BY, Compared, comparable_cases, compared
from review.models import ReviewCase

UNITS: dict[str, Promise] = {
    "sample": gettext_lazy("samples: any issue or none"),
    "element": gettext_lazy("elements of the answer"),
    "prediction": gettext_lazy("elements that only models gave"),
}


@dataclass(frozen=True)
class Level:
    """One line: what was compared, and how far the two agree on it."""

    what: Promise
    said: Agreement


@dataclass(frozen=True)
class Group:
    """Named by a task, a pair of people or words; by nothing when it is all cases together."""

    task: SecondaryTask | None
    people: tuple[User, ...]
    words: str | Promise
    row: Compared
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class Table:
    name: str
    groups: list[Group]


@require_GET
def agreement(request: HttpRequest) -> HttpResponse:
    """Raw agreement, kappa and alpha of the two reviewers of each decided case."""
    if not person_of(request).is_lead:
        raise NotAllowed(_("This page is for leads."))
    cases = list(comparable_cases())
    context = {"section": "reviews", "tables": _tables(cases) if cases else []}
    return render(request, "review/agreement.html", context)


def _tables(cases: Sequence[ReviewCase]) -> list[Table]:
    people = User.objects.in_bulk({review.reviewer_id for case in cases for review in case.reviews.all()})
    return [Table(by, [_group(by, row, people) for row in compared(by, cases)]) for by in BY]


def _group(by: str, row: Compared, people: Mapping[int, User]) -> Group:
    said = {"sample": row.by_sample, "element": row.by_element, "prediction": row.by_prediction}
    return Group(
        task=secondary_task(row.key) if by == "task" else None,
        people=tuple(people[int(pk)] for pk in row.key.split("-")) if by == "pair" else (),
        words=Document(language=row.key).get_language_display() if by == "language" else row.key,
        row=row,
        levels=tuple(Level(words, said[unit]) for unit, words in UNITS.items()),
    )
