"""A batch on its way in, what became of each text, and the batches before it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.paginator import Paginator
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from benchmark.lengths import Lengths
from core.models import BenchmarkSettings
from core.refusals import NotAllowed
from core.spreadsheet import lines
from core.viewing import csv_response, person_of
from documents import actions, batches, wording
from documents.models import BatchLine, ImportBatch
from documents.workflow import BatchState, Outcome

LINES = 100
BATCHES = 50
# A worker takes a batch up at once; when none has after so long, none is there.
PATIENCE = timedelta(seconds=4)
TONES = {
    BatchState.WAITING: "idle",
    BatchState.RUNNING: "now",
    BatchState.FINISHED: "pass",
    BatchState.CANCELLED: "warn",
    Outcome.ACCEPTED: "pass",
    Outcome.FLAGGED: "warn",
    Outcome.REFUSED: "fail",
}


@dataclass(frozen=True)
class Line:
    """One text of the report. Why it is flagged is said in the reader's language, whoever sent the batch."""

    row: BatchLine
    lengths: Lengths

    @property
    def tone(self) -> str:
        return TONES[Outcome(self.row.status)]

    @property
    def path(self) -> str:
        return self.row.path or _("pasted text")

    @property
    def document(self) -> int | None:
        return self.row.version.document_id if self.row.version else None

    @property
    def reasons(self) -> list[str]:
        version = self.row.version
        if version is None:
            return [self.row.reason]
        words = [wording.remark_in_words(remark) for remark in version.remarks if remark["rule"] != "near_duplicate"]
        if not version.bucket:
            words.append(
                _("no bucket: %(distance)s") % {"distance": wording.distance_in_words(version.tokens, self.lengths)}
            )
        return words

    @property
    def near(self) -> list[dict[str, int]]:
        """Documents that share long passages with this one."""
        remarks = self.row.version.remarks if self.row.version else []
        return [near for remark in remarks if remark["rule"] == "near_duplicate" for near in remark["documents"]]

    @property
    def near_unnamed(self) -> int:
        """How many more there are than are named."""
        remarks = self.row.version.remarks if self.row.version else []
        return sum(remark["count"] for remark in remarks if remark["rule"] == "near_duplicate") - len(self.near)

    @property
    def changes(self) -> list[str]:
        return wording.normalisation_in_words(self.row.version.normalisation) if self.row.version else []


def _refuse_others(request: HttpRequest) -> None:
    if not actions.can_import_document(person_of(request)):
        raise NotAllowed(_("Only leads bring documents in."))


@require_safe
def batch_list(request: HttpRequest) -> HttpResponse:
    _refuse_others(request)
    rows = ImportBatch.objects.select_related("made_by").order_by("-id")
    page = Paginator(rows, BATCHES).get_page(request.GET.get("page"))
    for batch in page:
        describe(batch)
    return render(request, "documents/batch_list.html", {"section": "documents", "page_obj": page})


@require_safe
def batch_detail(request: HttpRequest, pk: int) -> HttpResponse:
    _refuse_others(request)
    batch = get_object_or_404(ImportBatch.objects.select_related("made_by"), pk=pk)
    describe(batch)
    outcome = request.GET.get("outcome", "")
    outcome = outcome if outcome in Outcome.values else ""
    page = Paginator(_lines(batch, outcome), LINES).get_page(request.GET.get("page"))
    lengths = BenchmarkSettings.load().lengths
    paste = batches.refused_paste(batch) if batch.state not in batches.UNFINISHED else None
    lines = [Line(row, lengths) for row in page]
    context = {
        "section": "documents",
        "batch": batch,
        "page_obj": page,
        "lines": lines,
        "any_taken": any(line.document for line in lines),
        "outcome": outcome,
        "tallies": [(choice, getattr(batch, choice.value), TONES[choice]) for choice in Outcome],
        "files": batch.files.count(),
        "paste": paste,
        "untaken": batches.untaken(batch) if batch.state == BatchState.CANCELLED else None,
        "can_cancel": actions.can_cancel_batch(person_of(request), batch),
    }
    fragment = "#batch" if request.headers.get("HX-Request") and not request.headers.get("HX-Boosted") else ""
    return render(request, f"documents/batch_detail.html{fragment}", context)


def _lines(batch: ImportBatch, outcome: str = "") -> QuerySet[BatchLine]:
    rows = batch.lines.select_related("version").order_by("file_id", "number")
    return rows.filter(status=outcome) if outcome else rows


def describe(batch: Any) -> None:
    """How the batch is shown: its tone, its state in words, how far it is."""
    batch.is_unfinished = batch.state in batches.UNFINISHED
    batch.tone = TONES[BatchState(batch.state)]
    batch.words = batch.get_state_display()
    batch.total = batch.accepted + batch.flagged + batch.refused
    batch.percent = 100 * batch.bytes_done // batch.bytes_total if batch.bytes_total else 0
    batch.is_waiting_for_worker = _waits_for_worker(batch)
    if batch.is_waiting_for_worker:
        batch.tone, batch.words = "warn", _("waiting for the worker")


def _waits_for_worker(batch: ImportBatch) -> bool:
    """Nobody took it up, or whoever held it has died (its lease ran out, or was given back)."""
    now = timezone.now()
    if batch.state == BatchState.WAITING:
        return batch.made_at < now - PATIENCE
    return batch.state == BatchState.RUNNING and (batch.leased_until is None or batch.leased_until < now)


@require_POST
def batch_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    batch = get_object_or_404(ImportBatch, pk=pk)
    actions.cancel_batch(batch=batch, by=person_of(request))
    return redirect("documents:batch_detail", pk=pk)


# The report as a file -------------------------------------------------------------------------------------------------


@require_safe
def batch_report(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    _refuse_others(request)
    batch = get_object_or_404(ImportBatch, pk=pk)
    head = ["file", "outcome", "rule", "reason", "position", "document", "tokens", "bucket", "duplicate_of"]
    return csv_response(lines(head, _report_rows(batch)), f"batch-{pk}.csv")


def _report_rows(batch: ImportBatch) -> Iterator[Sequence[Any]]:
    lengths = BenchmarkSettings.load().lengths
    rows = _lines(batch).annotate(tokens=F("version__tokens"), bucket=F("version__bucket"))
    for row in rows.iterator(chunk_size=1000):
        line = Line(row, lengths)
        reasons = [*line.reasons, *([_near_in_words(line)] if line.near else [])]
        cells = [line.path, row.status, row.rule, "; ".join(reasons), row.position, line.document]
        yield [*cells, row.tokens, row.bucket, row.duplicate_of]


def _near_in_words(line: Line) -> str:
    return wording.remark_in_words({"rule": "near_duplicate", "documents": line.near})
