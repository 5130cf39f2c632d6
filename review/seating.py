"""Whom an open case may be given to: by language and task, new people before earlier reviewers, the least loaded
first."""

from collections.abc import Iterator
from dataclasses import dataclass

from core.models import BenchmarkSettings, User
from review.models import ReviewCase
from review.queries import earlier_reviewers, jobs_on, loads, new_people, seated, stage_workers


@dataclass(frozen=True)
class Suited:
    """`load` counts begun reviews and open claims; `again`: reviewed the sample in an earlier round."""

    person: User
    load: int
    again: bool


def suited(case: ReviewCase) -> list[Suited]:
    """Who may take a seat, the best first. Nobody who holds as much as one person may is among them."""
    held, workers = jobs_on([case.sample_id])[case.sample_id], stage_workers()
    sitting = set(seated().filter(case=case).values_list("reviewer", flat=True))
    burden, limit = loads(workers), BenchmarkSettings.load().claims_per_person

    def ranked(people: list[User], again: bool) -> Iterator[Suited]:
        for person in sorted(people, key=lambda person: (burden.get(person.pk, 0), person.pk)):
            load = burden.get(person.pk, 0)
            if load < limit and person.pk not in sitting:
                yield Suited(person, load, again)

    back = set(case.reviews.values_list("reviewer", flat=True))
    earlier = [person for person in earlier_reviewers(case.sample, workers, held) if person.pk not in back]
    fresh = list(ranked(new_people(case.sample, workers, held), again=False))
    return [*fresh, *ranked(earlier, again=True)]
