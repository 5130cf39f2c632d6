"""Files on their way in: the batch, its files as they were sent, and one line of its report for each text."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from core.models import Stateful
from documents.models.documents import DocumentVersion
from documents.workflow import BATCH_LIFECYCLE, BatchState, Outcome

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager


class ImportBatch(Stateful):
    """What one person sent at once. The worker takes its files one after the other and may be stopped at any moment:
    what a line of the report names is done, the rest is taken up again."""

    lifecycle = BATCH_LIFECYCLE

    state = models.CharField(max_length=16, choices=BatchState.choices, default=BatchState.WAITING)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the files' contents and the facts: what was sent")
    facts = models.JSONField(default=dict, help_text="recorded with each text")
    encoding = models.CharField(max_length=40, blank=True)
    language = models.CharField(max_length=16, blank=True, help_text="of the page it was sent from: its report's")
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True, help_text="a worker that still lives renews this")
    bytes_total = models.PositiveBigIntegerField(default=0, help_text="of the files as they were sent")
    bytes_done = models.PositiveBigIntegerField(default=0)
    reading = models.JSONField(default=dict, help_text="the long file that is read now: {name, done, total}, in pages")
    accepted = models.PositiveIntegerField(default=0)
    flagged = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)

    if TYPE_CHECKING:
        files: "RelatedManager[BatchFile]"
        lines: "RelatedManager[BatchLine]"

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["made_by", "digest"],
                condition=Q(state__in=[BatchState.WAITING, BatchState.RUNNING]),
                name="the_same_batch_runs_once",
            ),
        ]

    def __str__(self) -> str:
        return f"batch {self.pk}"


class BatchFile(models.Model):
    """One file as it was sent, kept in the store until the batch has ended."""

    batch = models.ForeignKey(ImportBatch, on_delete=models.CASCADE, related_name="files")
    number = models.PositiveIntegerField()
    name = models.TextField(help_text="as the sender called it: only ever shown")
    size = models.PositiveBigIntegerField()
    content = models.FileField(upload_to="batches/%Y/%m/", blank=True)
    is_done = models.BooleanField(default=False)

    class Meta:
        ordering = ["batch_id", "number"]
        constraints = [models.UniqueConstraint(fields=["batch", "number"], name="a_batch_numbers_its_files")]

    def __str__(self) -> str:
        return f"{self.batch_id} file {self.number}"


class BatchLine(models.Model):
    """What became of one text: `number` counts the texts of one file, from 1."""

    batch = models.ForeignKey(ImportBatch, on_delete=models.CASCADE, related_name="lines")
    file = models.ForeignKey(BatchFile, on_delete=models.CASCADE, related_name="lines")
    number = models.PositiveIntegerField()
    path = models.TextField()
    status = models.CharField(max_length=16, choices=Outcome.choices)
    rule = models.CharField(max_length=60, blank=True)
    reason = models.TextField(blank=True)
    position = models.PositiveBigIntegerField(null=True, blank=True)
    version = models.ForeignKey(DocumentVersion, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    duplicate_of = models.PositiveBigIntegerField(null=True, blank=True, help_text="number of the first document")

    class Meta:
        ordering = ["batch_id", "file_id", "number"]
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="a_text_of_a_file_is_reported_once")]

    def __str__(self) -> str:
        return f"{self.batch_id}: {self.status}"
