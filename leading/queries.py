"""Every count a page, a list or the API shows about progress comes from here, so that they agree."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, F, Min, OuterRef, Q, QuerySet, Subquery, Sum

from annotation.claims import live_claims, of_the_work_of
from annotation.models import Participation, Sample, Submission
from annotation.queries import samples
from annotation.workflow import Job, SampleState
from benchmark.taxonomy import SECONDARY_TASKS, Language, SecondaryTask
from core.models import BenchmarkSettings, User
from documents.models import DocumentVersion
from documents.workflow import VersionState
from generation.models import Call
from generation.queries import COST_UNKNOWN
from generation.workflow import CallState
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


@dataclass(frozen=True)
class Stage:
    """One row of the funnel. `oldest` is since when the longest waiting sample is in it."""

    state: str
    label: str
    count: int
    oldest: datetime | None


@dataclass(frozen=True)
class Cell:
    """One cell of the grid task x language x bucket. `done` is accepted; `under_way` is neither that nor exhausted."""

    task: SecondaryTask
    language: str
    bucket: str
    target: int
    done: int
    under_way: int

    @property
    def missing(self) -> int:
        return max(0, self.target - self.done)

    @property
    def fill(self) -> int:
        """0 (empty) to 5 (full): how far the cell is, for its colour."""
        if self.done >= self.target:
            return 5
        return min(4, self.done * 5 // self.target)


def funnel() -> list[Stage]:
    rows = Sample.objects.order_by().values("state").annotate(count=Count("pk"), oldest=Min("state_since"))
    by_state = {row["state"]: row for row in rows}
    stages = []
    for state in STAGE_ORDER:
        row = by_state.get(state)
        label = str(SampleState(state).label)
        stages.append(Stage(state, label, row["count"] if row else 0, row["oldest"] if row else None))
    return stages


def cells(languages: Iterable[str] = tuple(Language)) -> list[Cell]:
    """Every cell in the order of the taxonomy, also those without a sample. Two queries and the settings."""
    settings = BenchmarkSettings.load()
    special = {(cell.task_code, cell.language, cell.bucket): cell.target for cell in CellTarget.objects.all()}
    counted = (
        Sample.objects.order_by()
        .values("task_code", "document__language", "document_version__bucket")
        .annotate(
            done=Count("pk", filter=Q(state=SampleState.ACCEPTED)),
            under_way=Count("pk", filter=~Q(state__in=[SampleState.ACCEPTED, SampleState.EXHAUSTED])),
        )
    )
    found = {(row["task_code"], row["document__language"], row["document_version__bucket"]): row for row in counted}
    made = []
    for task in SECONDARY_TASKS:
        for language in languages:
            for bucket in settings.lengths.names():
                key = (task.code, str(language), bucket)
                row = found.get(key)
                target = special.get(key, settings.samples_per_cell)
                made.append(
                    Cell(
                        task,
                        str(language),
                        bucket,
                        target,
                        row["done"] if row else 0,
                        row["under_way"] if row else 0,
                    )
                )
    return made


@dataclass(frozen=True)
class Cost:
    """What calls cost so far. `unknown` counts calls whose cost nobody knows: never taken for zero."""

    usd: Decimal
    calls: int
    unknown: int


def cost() -> Cost:
    row = Call.objects.aggregate(usd=Sum("cost_usd"), calls=Count("pk"), unknown=Count("pk", filter=COST_UNKNOWN))
    return Cost(row["usd"] or Decimal(0), row["calls"], row["unknown"])


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
        blocked=live.exclude(document_version__state=VersionState.APPROVED).count(),
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


def shortest_cells(limit: int) -> Iterator[Cell]:
    """Cells that lack most, counting what is under way."""
    lacking = sorted(cells(), key=lambda cell: (-(cell.missing - cell.under_way), cell.task.code, cell.language))
    return (cell for cell in lacking[:limit] if cell.missing > cell.under_way)
