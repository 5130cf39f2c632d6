"""Who works on what, and what everybody is to a sample."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from annotation.models import Claim, Participation, Sample
from annotation.workflow import Job
from core.models import User
from core.workflow import Role
from review.models import AnswerReview, ReviewCase
from review.workflow import ReviewState

STAGE_ROLES = (Role.ANNOTATOR, Role.EXPERT)


@dataclass(frozen=True)
class Work:
    """The languages and the codes of the secondary tasks that somebody works on; an empty one is no limit."""

    languages: frozenset[str]
    tasks: frozenset[str]

    def covers(self, sample: Sample) -> bool:
        speaks = not self.languages or sample.document.language in self.languages
        return speaks and (not self.tasks or sample.task_code in self.tasks)


def work_of(person: User) -> Work:
    return Work(frozenset(person.work_languages), frozenset(person.work_tasks))


def works_on(person: User, sample: Sample) -> bool:
    return work_of(person).covers(sample)


def holds(person: User, *jobs: Job) -> Exists:
    """Whether the person has one of these jobs on the row's `sample`."""
    return Exists(Participation.objects.filter(sample=OuterRef("sample"), person=person, job__in=jobs))


def job_on(case: ReviewCase, person: User) -> str:
    """What this person is to the case's sample, empty when nothing."""
    held = Participation.objects.filter(sample=case.sample_id, person=person).values_list("job", flat=True)
    return held.first() or ""


def stage_workers() -> list[User]:
    return list(User.objects.filter(is_active=True, role__in=STAGE_ROLES).order_by("pk"))


def jobs_on(samples: Iterable[int]) -> dict[int, dict[int, str]]:
    """By sample, everybody's job on it."""
    held: dict[int, dict[int, str]] = defaultdict(dict)
    for sample, person, job in Participation.objects.filter(sample__in=list(samples)).values_list(
        "sample", "person", "job"
    ):
        held[sample][person] = job
    return held


def new_people(sample: Sample, workers: Collection[User], held: dict[int, str]) -> list[User]:
    """Those who may review the sample and have no part in it yet."""
    return [person for person in workers if person.pk not in held and works_on(person, sample)]


def earlier_reviewers(sample: Sample, workers: Collection[User], held: dict[int, str]) -> list[User]:
    return [person for person in workers if held.get(person.pk) == Job.REVIEWS and works_on(person, sample)]


def somebody_new_is_left(case: ReviewCase) -> bool:
    """Whether anybody who works on this language and task has no part yet in the case's sample."""
    held = jobs_on([case.sample_id])[case.sample_id]
    return bool(new_people(case.sample, stage_workers(), held))


def loads(people: Collection[User]) -> dict[int, int]:
    """What lies on each one's desk: begun reviews and open claims."""
    begun = AnswerReview.objects.filter(reviewer__in=people, state=ReviewState.DRAFT).values_list("reviewer", flat=True)
    held = Claim.objects.filter(holder__in=people, ended_at=None).values_list("holder", flat=True)
    return Counter([*begun, *held])
