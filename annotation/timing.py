"""Active time: how long people were at work on each step of a sample, with idle time left out.

The page counts the seconds in which it was visible and its person had acted within the last minute, and tells the sum
now and then ("a beat"). The server believes no more than the time that has passed since the person's last beat,
whichever window told it: two windows are one person, and a beat that is sent again counts once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import ActiveTime, Participation, Sample, WorkClock
from annotation.workflow import Job, TimedStep
from core.models import User
from core.refusals import Invalid, NotAllowed

T = TimedStep
STEPS_OF_JOB: dict[str, frozenset[str]] = {
    Job.VERIFIES: frozenset({T.READ, T.TASK_A, T.TASK_B, T.TASK_C, T.SELECT, T.SUBMIT, T.STANDARDIZE}),
    Job.JUDGES: frozenset({T.AUDIT}),
    Job.REVIEWS: frozenset({T.REVIEW}),
}
# The first beat has none before it; a page tells its time twice as often.
FIRST_AT_MOST = timedelta(seconds=60)
# After a long silence a page cannot have counted more: it would have told.
AT_MOST = timedelta(minutes=15)
REMEMBERED = 60
LONGEST_NUMBER = 64


def can_tell_time(user: User, sample: Sample) -> bool:
    return Participation.objects.filter(sample=sample, person=user).exists()


@transaction.atomic
def tell_time(*, sample: Sample, beat: str, seconds: Mapping[str, float], by: User) -> float:
    """Count one beat: `seconds` by step. Returns how many were counted. The same `beat` counts once.

    No line in the audit trail: it changes nobody's work and comes every half minute.
    """
    job = Participation.objects.filter(sample=sample, person=by).values_list("job", flat=True).first()
    if job is None:
        raise NotAllowed(_("Time is counted for those who work on the sample."), rule="not_your_work")
    _require_steps(seconds, job)
    if not beat or len(beat) > LONGEST_NUMBER:
        raise Invalid({"beat": _("A beat has a number of its own, of at most 64 characters.")})
    clock = _clock_of(by)
    now = timezone.now()
    if beat in clock.beats:
        return 0.0
    told = sum(seconds.values())
    counted = min(told, _passed(clock, now).total_seconds())
    if told > 0 and counted > 0:
        for step, part in seconds.items():
            if part > 0:
                _add(sample, by, step, part * counted / told, now)
    clock.told_at, clock.beats = now, [*clock.beats, beat][-REMEMBERED:]
    clock.save(update_fields=["told_at", "beats"])
    return counted if told > 0 else 0.0


def _require_steps(seconds: Mapping[str, float], job: str) -> None:
    for step, part in seconds.items():
        if step not in STEPS_OF_JOB[job]:
            raise Invalid({"seconds": _("“%(step)s” is no step of your work on this sample.") % {"step": step[:40]}})
        if not 0 <= part < AT_MOST.total_seconds() * 100:  # NaN is refused as well
            raise Invalid({"seconds": _("Seconds are a number, at least 0.")})


def _clock_of(person: User) -> WorkClock:
    """The person's clock, locked: their windows tell their times one after the other."""
    WorkClock.objects.get_or_create(person=person)
    return WorkClock.objects.select_for_update().get(person=person)


def _passed(clock: WorkClock, now: datetime) -> timedelta:
    if clock.told_at is None:
        return FIRST_AT_MOST
    return max(timedelta(0), min(now - clock.told_at, AT_MOST))


def _add(sample: Sample, person: User, step: str, seconds: float, now: datetime) -> None:
    row, _made = ActiveTime.objects.get_or_create(sample=sample, person=person, step=step, defaults={"first_at": now})
    ActiveTime.objects.filter(pk=row.pk).update(seconds=F("seconds") + seconds, last_at=now)


# Reading -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StepTime:
    """What one person spent on one step of one sample."""

    person: User
    step: TimedStep
    seconds: float


@dataclass(frozen=True)
class TimeRow:
    """One line for figures and plans: sample, cell, step, person, seconds."""

    sample: int
    task_code: str
    language: str
    bucket: str
    step: str
    person: int
    seconds: float


def visible_to(user: User, sample: Sample) -> list[StepTime]:
    """Leads: everybody's, by person and step. Others: their own, and nothing that depends on another's."""
    rows = ActiveTime.objects.filter(sample=sample).select_related("person")
    return _in_order(rows if user.is_lead else rows.filter(person=user))


def shown_at_audit(user: User, sample: Sample) -> list[StepTime]:
    """What the annotator spent on verifying: for leads, experts and the annotator. Never the time of a review."""
    if not (user.is_lead or user.is_expert or sample.annotator_id == user.pk):
        return []
    rows = ActiveTime.objects.filter(sample=sample, person=sample.annotator, step__in=STEPS_OF_JOB[Job.VERIFIES])
    return _in_order(rows.select_related("person"))


def _in_order(rows: QuerySet[ActiveTime]) -> list[StepTime]:
    order = TimedStep.values
    found = [StepTime(row.person, TimedStep(row.step), row.seconds) for row in rows]
    return sorted(found, key=lambda one: (one.person.username, order.index(one.step)))


def total_of(user: User, sample: Sample) -> float:
    """What this person has spent on the sample so far."""
    return ActiveTime.objects.filter(sample=sample, person=user).aggregate(all=Sum("seconds"))["all"] or 0.0


def active_times() -> QuerySet[ActiveTime]:
    """Chainable, for means and plans: `.values("step", "sample__document_version__bucket").annotate(...)`."""
    return ActiveTime.objects.filter(seconds__gt=0).order_by("sample", "person", "step")


def time_rows(times: QuerySet[ActiveTime] | None = None) -> list[TimeRow]:
    """Per sample, step, bucket and person, in one query. For leads: it names people."""
    columns = (
        "sample_id",
        "sample__task_code",
        "sample__document__language",
        "sample__document_version__bucket",
        "step",
        "person_id",
        "seconds",
    )
    found = (active_times() if times is None else times).values_list(*columns)
    return [TimeRow(*row) for row in found]
