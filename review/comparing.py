"""How far the two reviewers of a case agree: by element, and by sample. Only submitted reviews of decided cases count,
and the expert's decision never does (T-32)."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from review.agreement import Agreement, agreement_of
from review.models import AnswerReview, ReviewCase
from review.queries import DECIDED
from review.workflow import ReviewState

BY: dict[str, Callable[[ReviewCase], str]] = {
    "all": lambda case: "",
    "task": lambda case: case.sample.task_code,
    "language": lambda case: case.sample.language.value,
    "bucket": lambda case: case.sample.bucket,
    "pair": lambda case: "-".join(str(pk) for pk in sorted(review.reviewer_id for review in _both(case))),
}


@dataclass(frozen=True)
class Compared:
    """One group of cases: `key` is the task, language, bucket or pair of reviewers (their numbers)."""

    key: str
    cases: int
    both_clean: int
    by_sample: Agreement
    by_element: Agreement


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
    return [_of(key, groups[key]) for key in sorted(groups)]


def _both(case: ReviewCase) -> list[AnswerReview]:
    submitted = [review for review in case.reviews.all() if review.state == ReviewState.SUBMITTED]
    return sorted(submitted, key=lambda review: review.seat)


def _of(key: str, cases: list[ReviewCase]) -> Compared:
    verdicts = [tuple("issue" if review.found_issue else "clean" for review in _both(case)) for case in cases]
    marks = [pair for case in cases for pair in _marks(case)]
    return Compared(
        key=key,
        cases=len(cases),
        both_clean=verdicts.count(("clean", "clean")),
        by_sample=agreement_of([(one, other) for one, other in verdicts]),
        by_element=agreement_of(marks),
    )


def _marks(case: ReviewCase) -> list[tuple[str, str]]:
    """What both said of each element of the answer, and of each that only models gave."""
    one, other = _both(case)
    pairs = [(a["mark"], b["mark"]) for a, b in zip(one.marks, other.marks, strict=False)]
    given = {row["element"]: row["mark"] for row in other.recall}
    return pairs + [(row["mark"], given[row["element"]]) for row in one.recall if given.get(row["element"])]
