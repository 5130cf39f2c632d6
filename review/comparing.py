"""How far the two reviewers of a case agree: by sample, by element of the answer, and by element that only models gave.
The last two are kept apart: their marks are others, and thrown together they would raise kappa by that alone. Only
submitted reviews of decided cases count, and the expert's decision never does (T-32)."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from review.agreement import Agreement, agreement_of
from review.models import AnswerReview, ReviewCase
from review.queries import DECIDED
from review.workflow import ReviewState

Pair = tuple[str, str]
CLEAN, ISSUE = "clean", "issue"
BY: dict[str, Callable[[ReviewCase], str]] = {
    "all": lambda case: "",
    "task": lambda case: case.sample.task_code,
    "language": lambda case: case.sample.language.value,
    "bucket": lambda case: case.sample.bucket,
    "pair": lambda case: "-".join(str(pk) for pk in pair_of(case)),
}


@dataclass(frozen=True)
class Compared:
    """One group of cases: `key` is the task, language, bucket or pair of reviewers (their numbers)."""

    key: str
    cases: int
    both_clean: int
    by_sample: Agreement
    by_element: Agreement
    by_prediction: Agreement


def comparable_cases() -> QuerySet[ReviewCase]:
    return (
        ReviewCase.objects.filter(state__in=DECIDED)
        .select_related("sample__document", "sample__document_version")
        .prefetch_related("reviews")
        .order_by("pk")
    )


def compared(by: str = "all", cases: Iterable[ReviewCase] | None = None) -> list[Compared]:
    """The figures by `task`, `language`, `bucket`, `pair` or over `all`, in the order of their keys."""
    groups: dict[str, list[ReviewCase]] = defaultdict(list)
    for case in comparable_cases() if cases is None else cases:
        if len(_both(case)) == 2:
            groups[BY[by](case)].append(case)
    return [_of(key, groups[key]) for key in sorted(groups, key=in_order)]


def in_order(key: str) -> list[tuple[int, str]]:
    """Figures by their value: 8k before 16k, T2 before T10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", key)]


def _both(case: ReviewCase) -> list[AnswerReview]:
    submitted = [review for review in case.reviews.all() if review.state == ReviewState.SUBMITTED]
    return sorted(submitted, key=lambda review: review.seat)


def pair_of(case: ReviewCase) -> tuple[int, ...]:
    return tuple(sorted(review.reviewer_id for review in _both(case)))


def _of(key: str, cases: list[ReviewCase]) -> Compared:
    verdicts = [_verdicts(case) for case in cases]
    return Compared(
        key=key,
        cases=len(cases),
        both_clean=verdicts.count((CLEAN, CLEAN)),
        by_sample=agreement_of(verdicts),
        by_element=_agreement(cases, _marks),
        by_prediction=_agreement(cases, _recalls),
    )


def _agreement(cases: list[ReviewCase], said: Callable[[ReviewCase], list[Pair]]) -> Agreement:
    units = [(case.pk, pair) for case in cases for pair in said(case)]
    return agreement_of([pair for _case, pair in units], of=[case for case, _pair in units])


def _verdicts(case: ReviewCase) -> Pair:
    one, other = (ISSUE if review.found_issue else CLEAN for review in _both(case))
    return one, other


def _marks(case: ReviewCase) -> list[Pair]:
    """What both said of each element of the answer."""
    one, other = _both(case)
    return [(a["mark"], b["mark"]) for a, b in zip(one.marks, other.marks, strict=False)]


def _recalls(case: ReviewCase) -> list[Pair]:
    """What both said of each element that only models gave."""
    one, other = _both(case)
    given = {row["element"]: row["mark"] for row in other.recall}
    return [(row["mark"], given[row["element"]]) for row in one.recall if given.get(row["element"])]
