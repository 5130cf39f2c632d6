"""Every count a page, a list or the API shows about progress comes from here, so that they agree."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import Any

from django.db.models import Count, F, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils import timezone

from annotation.claims import live_claims, of_the_work_of
from annotation.models import Participation, Sample, Submission
from annotation.queries import BLOCKED, samples
from annotation.workflow import Job, SampleState
from benchmark.taxonomy import SECONDARY_TASKS, Language, SecondaryTask
from core.models import BenchmarkSettings, User
from documents.models import DocumentVersion
from documents.workflow import VersionState
from generation.models import Call
from generation.queries import COST_UNKNOWN
from generation.workflow import CallState, Purpose
from leading.models import CellTarget
from review.models import AnswerReview
from review.queries import reviews_by
from review.workflow import CaseState, ReviewState

STAGE_ORDER: tuple[str, ...] = (
    SampleState.PLANNED,
    SampleState.DRAFTING,
    SampleState.IN_VERIFICATION,
    SampleState.RETURNED,
    SampleState.IN_AUDIT,
    SampleState.IN_STANDARDIZATION,
    SampleState.AWAITING_PREDICTIONS,
    SampleState.IN_REVIEW,
    SampleState.IN_ADJUDICATION,
    SampleState.AWAITING_DOCUMENT,
    SampleState.ACCEPTED,
    SampleState.EXHAUSTED,
)


# Of samples in these nothing more is to come.
ENDED = frozenset({SampleState.ACCEPTED, SampleState.EXHAUSTED})
# How long samples have waited in their state: up to so many days, and beyond the last.
AGES = (1, 3, 7)


@dataclass(frozen=True)
class Bar:
    tone: str
    x: int
    width: int


@dataclass(frozen=True)
class Stage:
    """One row of the funnel. `oldest` is since when the longest waiting sample is in it; `ages` counts its samples by
    how long they have waited, in the order of AGES, those beyond the last at the end. Of what has ended nothing waits:
    its `ages` are empty."""

    state: str
    label: str
    count: int
    oldest: datetime | None
    blocked: int = 0
    ages: tuple[int, ...] = ()

    @property
    def is_waiting(self) -> bool:
        return self.state not in ENDED

    @property
    def bars(self) -> list["Bar"]:
        """The row's bar, one part for each age. What has ended has none: it would dwarf those that wait."""
        ends = [0, *accumulate(self.ages)]
        parts = enumerate(pairwise(ends), start=1)
        return [Bar(f"a{number}", start, end - start) for number, (start, end) in parts if end > start]


CellKey = tuple[str, str, str]


@dataclass(frozen=True)
class Cell:
    """One cell of the grid task x language x bucket. `done` is accepted; `under_way` is neither that nor exhausted.
    `states` counts its samples by state; `blocked` those, accepted ones too, whose document lost its approval."""

    task: SecondaryTask
    language: str
    bucket: str
    target: int
    done: int
    under_way: int
    blocked: int = 0
    states: Mapping[str, int] = field(default_factory=dict)
    is_special: bool = False

    @property
    def key(self) -> CellKey:
        return (self.task.code, self.language, self.bucket)

    @property
    def missing(self) -> int:
        return max(0, self.target - self.done)

    @property
    def unplanned(self) -> int:
        """How many are to be planned yet: neither accepted nor under way."""
        return max(0, self.target - self.done - self.under_way)

    @property
    def held(self) -> int:
        return self.done + self.under_way

    @property
    def in_stages(self) -> list[tuple[str, int]]:
        """Its samples in every state but accepted, in the order of the stages."""
        return [(state, self.states.get(state, 0)) for state in STAGE_ORDER if state != SampleState.ACCEPTED]

    @property
    def exhausted(self) -> int:
        return self.states.get(SampleState.EXHAUSTED, 0)

    @property
    def fill(self) -> int:
        """0 (empty) to 5 (full): how far the cell is, for its colour."""
        return fill_of(self.done, self.target)


def fill_of(held: int, target: int) -> int:
    """0 to 5; 0 only where nothing is, 5 only where nothing lacks."""
    if held >= target:
        return 5
    return min(4, max(1, held * 5 // target)) if held else 0


def funnel() -> list[Stage]:
    """Every state with its samples, in one query."""
    now = timezone.now()
    younger = {f"within_{days}": Count("pk", filter=Q(state_since__gt=now - timedelta(days=days))) for days in AGES}
    rows = (
        Sample.objects.order_by()
        .values("state")
        .annotate(count=Count("pk"), oldest=Min("state_since"), blocked=Count("pk", filter=BLOCKED), **younger)
    )
    by_state = {row["state"]: row for row in rows}
    return [_stage(state, by_state.get(state)) for state in STAGE_ORDER]


def _stage(state: str, row: Mapping[str, Any] | None) -> Stage:
    label = str(SampleState(state).label)
    if row is None:
        return Stage(state, label, 0, None, 0, () if state in ENDED else (0,) * (len(AGES) + 1))
    if state in ENDED:
        return Stage(state, label, row["count"], row["oldest"], row["blocked"])
    upto = [0, *(row[f"within_{days}"] for days in AGES), row["count"]]
    ages = tuple(more - less for less, more in pairwise(upto))
    return Stage(state, label, row["count"], row["oldest"], row["blocked"], ages)


@dataclass(frozen=True)
class Grid:
    """All cells in the order of the taxonomy, also those without a sample. `outside` counts samples of no cell: their
    document is in no bucket that the benchmark has now."""

    cells: list[Cell]
    outside: Counter[str]


def grid() -> Grid:
    """Two queries and the settings."""
    settings = BenchmarkSettings.load()
    special = {(cell.task_code, cell.language, cell.bucket): cell.target for cell in CellTarget.objects.all()}
    counted = (
        Sample.objects.order_by()
        .values("task_code", "document__language", "document_version__bucket", "state")
        .annotate(count=Count("pk"), blocked=Count("pk", filter=BLOCKED))
    )
    states: dict[CellKey, Counter[str]] = {}
    blocked = Counter[CellKey]()
    for row in counted:
        key = (row["task_code"], row["document__language"], row["document_version__bucket"])
        states.setdefault(key, Counter())[row["state"]] += row["count"]
        blocked[key] += row["blocked"]
    made = []
    for task in SECONDARY_TASKS:
        for language in Language:
            for bucket in settings.lengths.names():
                key = (task.code, language.value, bucket)
                held = states.pop(key, Counter[str]())
                done = held[SampleState.ACCEPTED]
                made.append(
                    Cell(
                        task=task,
                        language=language.value,
                        bucket=bucket,
                        target=special.get(key, settings.samples_per_cell),
                        done=done,
                        under_way=held.total() - done - held[SampleState.EXHAUSTED],
                        blocked=blocked[key],
                        states=held,
                        is_special=key in special,
                    )
                )
    return Grid(made, sum(states.values(), Counter[str]()))


def cells() -> list[Cell]:
    return grid().cells


@dataclass(frozen=True)
class StageCost:
    """What calls of one purpose cost so far."""

    purpose: str
    label: str
    usd: Decimal
    calls: int
    unknown: int


@dataclass(frozen=True)
class Cost:
    """What calls cost so far. `unknown` counts calls whose cost nobody knows: never taken for zero."""

    usd: Decimal
    calls: int
    unknown: int
    stages: tuple[StageCost, ...] = ()

    def per_sample(self, accepted: int) -> Decimal | None:
        """All that is known to be spent, on accepted samples and on others, for each accepted one."""
        return self.usd / accepted if accepted and self.usd else None


def cost() -> Cost:
    """In one query. Purposes for which nothing was asked are left out."""
    # By model as well: so the index of calls lies, and nothing is sorted to be summed up.
    counted = (
        Call.objects.order_by()
        .values("model", "purpose")
        .annotate(usd=Sum("cost_usd"), calls=Count("pk"), unknown=Count("pk", filter=COST_UNKNOWN))
    )
    rows: dict[str, list[Any]] = {}
    for row in counted:
        rows.setdefault(row["purpose"], []).append(row)
    stages = tuple(_stage_cost(purpose, rows[purpose]) for purpose in Purpose if purpose in rows)
    return Cost(
        sum((stage.usd for stage in stages), Decimal(0)),
        sum(stage.calls for stage in stages),
        sum(stage.unknown for stage in stages),
        stages,
    )


def _stage_cost(purpose: Purpose, rows: Iterable[Mapping[str, Any]]) -> StageCost:
    counted = list(rows)
    return StageCost(
        purpose.value,
        str(purpose.label),
        sum((row["usd"] or Decimal(0) for row in counted), Decimal(0)),
        sum(row["calls"] for row in counted),
        sum(row["unknown"] for row in counted),
    )


@dataclass(frozen=True)
class Waiting:
    """What waits for a lead, counted."""

    documents_to_clear: int
    documents_without_bucket: int
    planned: int
    failed_calls: int
    unknown_calls: int
    blocked: int
    unlabelled: int
    awaiting_document: int
    out_of_bucket: list[Sample]


def waiting_for_leads() -> Waiting:
    versions = DocumentVersion.objects.filter(pk=F("document__latest"))
    live = live_samples()
    return Waiting(
        documents_to_clear=versions.filter(state=VersionState.PENDING).count(),
        documents_without_bucket=versions.filter(bucket="").count(),
        planned=live.filter(state=SampleState.PLANNED).count(),
        failed_calls=Call.objects.filter(state=CallState.FAILED, repaired_by=None).count(),
        unknown_calls=Call.objects.filter(state=CallState.UNKNOWN).count(),
        blocked=samples().blocked().count(),
        unlabelled=accepted_without_label().count(),
        awaiting_document=live.filter(state=SampleState.AWAITING_DOCUMENT).count(),
        out_of_bucket=out_of_bucket(),
    )


def live_samples() -> QuerySet[Sample]:
    return Sample.objects.exclude(state=SampleState.EXHAUSTED)


def out_of_bucket() -> list[Sample]:
    """Samples whose document version is no longer within the tolerance of the bucket they were made for."""
    lengths = BenchmarkSettings.load().lengths
    rows = live_samples().values_list("pk", "document_version__tokens", "document_version__bucket")
    strays = [pk for pk, tokens, bucket in rows if (lengths.bucket_of(tokens) or "") != bucket]
    return list(_for_list(Sample.objects.filter(pk__in=strays)))


def accepted_without_label() -> QuerySet[Sample]:
    """Accepted samples whose newest completed standardization has no difficulty yet."""
    labelled = Q(
        standardizations__round=F("round"),
        standardizations__completed_at__isnull=False,
        standardizations__difficulty_label__difficulty__gt="",
    )
    return Sample.objects.filter(state=SampleState.ACCEPTED).exclude(
        pk__in=Sample.objects.filter(labelled).values("pk")
    )


def _for_list(samples: QuerySet[Sample]) -> QuerySet[Sample]:
    return samples.select_related("document", "document_version", "annotator").order_by("state_since", "id")


def own_samples(person: User) -> QuerySet[Sample]:
    """Returned to this person, claimed by them, or theirs to standardize."""
    desk, standard = samples().at_the_desk_of(person), samples().to_standardize(person)
    last = Submission.objects.filter(sample=OuterRef("pk")).order_by("-number").values("outcome")[:1]
    rows = Sample.objects.filter(Q(pk__in=desk.values("pk")) | Q(pk__in=standard.values("pk")))
    return _for_list(rows.annotate(last_outcome=Subquery(last)))


def _without_another_job(person: User, job: Job) -> Q:
    """Samples on which this person may do `job`: nobody holds two jobs on one sample."""
    return ~Q(pk__in=Participation.objects.filter(person=person).exclude(job=job).values("sample"))


def free_samples(person: User) -> QuerySet[Sample]:
    """In verification, claimed by nobody now (a lapsed claim is none), and open to this person."""
    free = samples().workable().unclaimed().filter(state=SampleState.IN_VERIFICATION)
    return _for_list(of_the_work_of(person, free).filter(_without_another_job(person, Job.VERIFIES)))


def audits_for(person: User) -> QuerySet[Sample]:
    """Submitted, judged by nobody else now, and open to this person."""
    taken = live_claims().exclude(holder=person).values("sample")
    waiting = samples().workable().awaiting_audit().exclude(pk__in=taken)
    return _for_list(waiting.filter(_without_another_job(person, Job.JUDGES)))


def begun_reviews(person: User) -> QuerySet[AnswerReview]:
    """The person's own unfinished reviews, whatever the other seat does."""
    return reviews_by(person).filter(state=ReviewState.DRAFT, case__state=CaseState.OPEN).order_by("begun_at", "pk")


def documents_to_clear() -> QuerySet[DocumentVersion]:
    return (
        DocumentVersion.objects.filter(state=VersionState.PENDING, pk=F("document__latest"))
        .select_related("document")
        .order_by("made_at", "id")
    )


def by_emptiness(cells: Iterable[Cell]) -> list[Cell]:
    """The shortest first: those of which most is unplanned, then those that lack most, then the taxonomy's order."""
    return sorted(cells, key=lambda cell: (-cell.unplanned, -cell.missing))


def shortest_cells(cells: Iterable[Cell], limit: int) -> Iterator[Cell]:
    """Cells that lack most, counting what is under way."""
    return (cell for cell in by_emptiness(cells)[:limit] if cell.unplanned)
