"""How much is done a day and by whom, and when the benchmark is full if it goes on so."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from math import ceil, sqrt
from typing import Any

from django.db.models import Count, QuerySet, TextChoices
from django.db.models.functions import TruncDate
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Sample, Standardization, Submission
from annotation.workflow import SampleState
from core.models import User
from documents.models import DocumentVersion
from leading.queries import Cell
from review.models import Adjudication, AnswerReview
from review.workflow import ReviewState

# What the page and the API look back on.
SPANS = (7, 28, 90)
SPAN = 28


class Work(TextChoices):
    """What is counted, in the order of the pipeline. Nobody accepts a sample: it is, when its reviews are in."""

    CLEARED = "cleared", gettext_lazy("documents cleared")
    SUBMITTED = "submitted", gettext_lazy("submitted")
    AUDITED = "audited", gettext_lazy("audited")
    STANDARDIZED = "standardized", gettext_lazy("standardized")
    REVIEWED = "reviewed", gettext_lazy("reviewed")
    ADJUDICATED = "adjudicated", gettext_lazy("adjudicated")
    ACCEPTED = "accepted", gettext_lazy("accepted")


BY_PEOPLE = tuple(one for one in Work if one != Work.ACCEPTED)


@dataclass(frozen=True)
class Person:
    """One person's work in the span, by kind."""

    pk: int
    name: str
    role: str
    counts: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class Throughput:
    """`days` from the first to today; `by_day` has a count for each of them, also the empty ones."""

    days: list[date]
    by_day: dict[str, list[int]]
    people: list[Person]

    def total(self, kind: str) -> int:
        return sum(self.by_day[kind])

    def last_week(self, kind: str) -> int:
        return sum(self.by_day[kind][-7:])


def today() -> date:
    """In the reader's zone, as the days are that work is counted by."""
    return timezone.localdate()


def beginning(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def throughput(span: int = SPAN) -> Throughput:
    """The last `span` days, today included. One query for each kind of work, and one for the names."""
    last = today()
    days = [last - timedelta(days=before) for before in range(span - 1, -1, -1)]
    place = {day: at for at, day in enumerate(days)}
    by_day = {kind.value: [0] * span for kind in Work}
    people: dict[int, Counter[str]] = {}
    for kind, rows, at, by in _sources():
        since = rows.filter(**{f"{at}__gte": beginning(days[0])}).annotate(day=TruncDate(at))
        for row in since.order_by().values("day", *([by] if by else [])).annotate(count=Count("pk")):
            if row["day"] not in place:
                continue
            by_day[kind][place[row["day"]]] += row["count"]
            if by and row[by] is not None:
                people.setdefault(row[by], Counter())[kind] += row["count"]
    return Throughput(days, by_day, _people(people))


def _sources() -> Iterable[tuple[str, QuerySet[Any], str, str]]:
    """Kind of work, its rows, when each was done, and by whom."""
    audited = Submission.objects.exclude(audited_by=None)
    reviewed = AnswerReview.objects.filter(state=ReviewState.SUBMITTED)
    # In an order of its own, so that no row is counted for the order of its table.
    yield Work.CLEARED, DocumentVersion.objects.exclude(decided_by=None), "decided_at", "decided_by"
    yield Work.SUBMITTED, Submission.objects.all(), "submitted_at", "submitted_by"
    yield Work.AUDITED, audited, "audited_at", "audited_by"
    yield Work.STANDARDIZED, Standardization.objects.exclude(completed_by=None), "completed_at", "completed_by"
    yield Work.REVIEWED, reviewed, "submitted_at", "reviewer"
    yield Work.ADJUDICATED, Adjudication.objects.all(), "decided_at", "decided_by"
    yield Work.ACCEPTED, accepted_here(), "state_since", ""


def accepted_here() -> QuerySet[Sample]:
    """Accepted by the people of this system: what came with another system's release came all at once. A sample that
    is accepted stays so: since when it is in that state is when it was accepted."""
    return Sample.objects.filter(state=SampleState.ACCEPTED, imported=None)


def _people(counts: dict[int, Counter[str]]) -> list[Person]:
    users = User.objects.in_bulk(list(counts))
    found = [
        Person(pk, users[pk].name, users[pk].role, {kind.value: count[kind] for kind in BY_PEOPLE})
        for pk, count in counts.items()
    ]
    return sorted(found, key=lambda person: (-person.total, person.name))


# Forecast --------------------------------------------------------------------------------------------------------

# Fewer say nothing about a pace, nor does less than a week of them.
FEWEST = 5
SHORTEST = 7
# Beyond this a date is no plan any more.
LONGEST = 3650
# Two-sided 95 % of a count that comes at random: the count, more or less so many of its square roots.
DEVIATIONS = 1.96


@dataclass(frozen=True)
class Point:
    day: date
    accepted: int


@dataclass(frozen=True)
class Forecast:
    """When every cell holds its target. `missing` is what cells lack, each by itself: what one has too many does not
    stand for what another lacks. `accepted_here` leaves out what came with another system's release. Without a
    `finish`, `why_not` says why."""

    accepted: int
    accepted_here: int
    target: int
    missing: int
    under_way: int
    unplanned: int
    counted: int
    span: int
    finish: date | None = None
    earliest: date | None = None
    latest: date | None = None
    why_not: str = ""
    curve: tuple[Point, ...] = ()

    @property
    def per_week(self) -> float:
        return self.counted * 7 / self.span if self.span else 0.0

    @property
    def is_possible(self) -> bool:
        return self.finish is not None


def forecast(cells: Sequence[Cell]) -> Forecast:
    """From the cells as they are now, and when samples were accepted (one query)."""
    per_day = (
        Sample.objects.filter(state=SampleState.ACCEPTED)
        .order_by()
        .annotate(day=TruncDate("state_since"))
        .values("day", "imported")
        .annotate(count=Count("pk"))
    )
    here, all_of_them = Counter[date](), Counter[date]()
    for row in per_day:
        all_of_them[row["day"]] += row["count"]
        if row["imported"] is None:
            here[row["day"]] += row["count"]
    return reckon(cells, here, all_of_them, today())


def reckon(cells: Sequence[Cell], here: Counter[date], all_of_them: Counter[date], now: date) -> Forecast:
    missing = sum(cell.missing for cell in cells)
    span = min(SPAN, (now - min(here)).days + 1) if here else SPAN
    counted = sum(count for day, count in here.items() if day > now - timedelta(days=span))
    known: dict[str, Any] = {
        "accepted": sum(cell.done for cell in cells),
        "accepted_here": here.total(),
        "target": sum(cell.target for cell in cells),
        "missing": missing,
        "under_way": sum(min(cell.under_way, cell.missing) for cell in cells),
        "unplanned": sum(cell.unplanned for cell in cells),
        "counted": counted,
        "span": span,
        "curve": tuple(_curve(all_of_them, now)),
    }
    why_not = _why_not(missing, here, counted, span, now)
    if why_not:
        return Forecast(**known, why_not=why_not)
    swing = DEVIATIONS * sqrt(counted)
    finish, earliest, latest = (
        _day_after(missing, count / span, now) for count in (counted, counted + swing, counted - swing)
    )
    if finish is None:
        return Forecast(**known, why_not=_("At this pace it would take more than ten years."))
    return Forecast(**known, finish=finish, earliest=earliest, latest=latest)


def _why_not(missing: int, here: Counter[date], counted: int, span: int, now: date) -> str:
    if not missing:
        return _("Nothing is missing: every cell holds its target.")
    if not here:
        return _("Not possible yet: no sample has been accepted.")
    if span < SHORTEST:
        words = _("Not possible yet: the first sample was accepted less than %(n)s days ago.")
        return words % {"n": SHORTEST}
    if counted < FEWEST:
        words = ngettext(
            "Not possible now: %(n)s sample was accepted in the last %(days)s days; %(least)s are needed for a pace.",
            "Not possible now: %(n)s samples were accepted in the last %(days)s days; %(least)s are needed for a pace.",
            counted,
        )
        return words % {"n": counted, "days": span, "least": FEWEST}
    return ""


def _day_after(missing: int, per_day: float, now: date) -> date | None:
    if per_day <= 0 or missing / per_day > LONGEST:
        return None
    return now + timedelta(days=ceil(missing / per_day))


def _curve(per_day: Counter[date], now: date) -> Iterable[Point]:
    """Accepted in all, at the end of each day on which there were some, and today."""
    total = 0
    for day in sorted(per_day):
        total += per_day[day]
        yield Point(day, total)
    if total and max(per_day) < now:
        yield Point(now, total)


@dataclass(frozen=True)
class Due:
    """What it takes to be full by a day that somebody names. `late`: days between it and the forecast; None where there
    is no forecast, negative where it is early."""

    day: date
    days: int
    per_week: float
    late: int | None

    @property
    def early(self) -> int:
        return -(self.late or 0)


def due(day: date, expected: Forecast) -> Due | None:
    """None for a day that has passed."""
    days = (day - today()).days
    if days <= 0:
        return None
    late = (expected.finish - day).days if expected.finish else None
    return Due(day, days, expected.missing * 7 / days, late)
