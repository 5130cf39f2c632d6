"""What the release stage reads: current standardizations, labels, releases."""

from typing import TYPE_CHECKING, Any, TypedDict

from django.apps import apps
from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum, When

from annotation.models import Sample, Standardization
from annotation.workflow import SampleState
from benchmark.taxonomy import SECONDARY_TASKS
from core.history import history_of
from core.models import BenchmarkSettings, Event
from documents.workflow import VersionState
from generation.models import Run, RunCall
from generation.workflow import FINAL_CALL_STATES, RunState
from release.figures import Cell, Targets
from release.models import DifficultyLabel, LeftOut, Release, ReleaseImport
from release.workflow import ReleaseState

FROZEN_STATES = (ReleaseState.FROZEN, ReleaseState.WITHDRAWN)

if TYPE_CHECKING:
    from django.db.models import Manager
    from django_stubs_ext import WithAnnotations

    class Current(TypedDict):
        current_id: int | None

    CurrentSample = WithAnnotations[Sample, Current]


def accepted_samples() -> QuerySet[Sample]:
    return Sample.objects.filter(state=SampleState.ACCEPTED).select_related("document", "document_version")


def with_current_standardization(samples: QuerySet[Sample]) -> "QuerySet[CurrentSample]":
    """Samples annotated with `current_id`: the standardization that reviews, difficulty and release refer to.

    It is the newest one (a newer draft voids what an older one had), and counts only when it is completed, of the
    sample's round, and of its document version.
    """
    newer = Standardization.objects.filter(sample=OuterRef("sample"), number__gt=OuterRef("number"))
    current = Standardization.objects.filter(
        ~Exists(newer),
        sample=OuterRef("pk"),
        round=OuterRef("round"),
        document_version=OuterRef("document_version"),
        completed_at__isnull=False,
    )
    return samples.annotate(current_id=Subquery(current.values("pk")[:1]))


def current_standardization(sample: Sample) -> Standardization | None:
    found = with_current_standardization(Sample.objects.filter(pk=sample.pk)).get().current_id
    return Standardization.objects.filter(pk=found).first() if found else None


def current_label(sample: Sample) -> DifficultyLabel | None:
    """The label of the sample's prompts and answer as they are now; it may still wait for models."""
    standardization = current_standardization(sample)
    if standardization is None:
        return None
    return DifficultyLabel.objects.filter(standardization=standardization).select_related("run").first()


def unlabelled(*, blocked: bool = False) -> "QuerySet[CurrentSample]":
    """Accepted samples whose current standardization nobody has asked a label for, or whose run was cancelled."""
    asked = DifficultyLabel.objects.exclude(difficulty="", run__state=RunState.CANCELLED)
    approved = Q(document_version__state=VersionState.APPROVED)
    return (
        with_current_standardization(accepted_samples())
        .filter(~approved if blocked else approved, current_id__isnull=False)
        .exclude(current_id__in=asked.values("standardization"))
        .order_by("pk")
    )


def current_labels() -> QuerySet[DifficultyLabel]:
    """Labels of the prompts and answers as they are now; a change voids a label by itself."""
    current = with_current_standardization(Sample.objects.filter(pk=OuterRef("sample_id"))).values("current_id")[:1]
    return DifficultyLabel.objects.filter(standardization=Subquery(current))


def waiting_labels() -> QuerySet[DifficultyLabel]:
    """Labels without a difficulty that still count."""
    return (
        current_labels()
        .filter(difficulty="")
        .select_related("sample__document", "sample__document_version", "standardization", "run")
        .order_by("pk")
    )


def to_start() -> QuerySet[DifficultyLabel]:
    return waiting_labels().filter(run=None, sample__document_version__state=VersionState.APPROVED)


def to_judge() -> QuerySet[DifficultyLabel]:
    return waiting_labels().filter(run__state=RunState.FINISHED)


def call_progress() -> tuple[int, int]:
    """Of the calls that waiting labels have asked for: how many ended, how many there are."""
    runs = Run.objects.filter(pk__in=waiting_labels().exclude(run=None).values("run"))
    counted = RunCall.objects.filter(run__in=runs).aggregate(
        ended=Count("pk", filter=Q(call__state__in=FINAL_CALL_STATES)), asked=Count("pk")
    )
    return counted["ended"], counted["asked"]


def cell_targets() -> "Manager[Any]":
    """Targets of single cells, which leads set on the page of coverage. That app stands above this one, so it is
    reached by its name, as a foreign key would reach it."""
    return apps.get_model("leading", "CellTarget")._default_manager


def targets() -> Targets:
    """How many samples each cell shall hold, as leads have set it now."""
    names = {task.code: task.name for task in SECONDARY_TASKS}
    special = {
        Cell(names[row.task_code], row.language, row.bucket): row.target
        for row in cell_targets().all()
        if row.task_code in names
    }
    return Targets(BenchmarkSettings.load().samples_per_cell, special)


def releases() -> QuerySet[Release]:
    return Release.objects.select_related("made_by").order_by("-pk")


def imports() -> QuerySet[ReleaseImport]:
    """Where the first samples of this system came from, when they were imported."""
    return ReleaseImport.objects.select_related("imported_by").defer("manifest").annotate(count=Count("samples"))


def pushes_of(release: Release) -> QuerySet[Event]:
    """Where a release was sent, newest first."""
    return history_of(release).filter(action="release.push_release").order_by("-pk")


def comparable_with(release: Release) -> QuerySet[Release]:
    """The other releases whose samples are frozen, those made before it first."""
    others = releases().exclude(pk=release.pk).filter(total__gt=0, state__in=FROZEN_STATES)
    return others.defer("statistics", "manifest").order_by(Case(When(pk__lt=release.pk, then=0), default=1), "-pk")


def left_out_of(release: Release) -> QuerySet[LeftOut]:
    return release.left_out.select_related("sample__document", "sample__document_version").order_by("sample")


def tokens_to_label() -> tuple[int, int]:
    """How many samples could be labelled now, and the tokens of their documents together."""
    totals = unlabelled().aggregate(samples=Count("pk"), tokens=Sum("document_version__tokens"))
    return totals["samples"], totals["tokens"] or 0


def items_of(release: Release) -> list[tuple[int, int, int]]:
    """Every item in its order: its id, its document version's id, and the size of that version's text in bytes."""
    rows = release.items.order_by("position")
    return list(rows.values_list("pk", "document_version_id", "document_version__bytes"))
