"""Stage 5: difficulty labels, and releases frozen with everything their files are made of."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models import Sample, Standardization
from core.models import Stateful
from documents.models import DocumentVersion
from generation.models import Run
from release.workflow import RELEASE_LIFECYCLE, ReleaseState

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager


class DifficultyLabel(models.Model):
    """The difficulty of one completed standardization. Another prompt or answer is another standardization, so a change
    voids the label by itself."""

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="difficulty_labels")
    standardization = models.OneToOneField(Standardization, on_delete=models.PROTECT, related_name="difficulty_label")
    run = models.ForeignKey(
        Run,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="difficulty_labels",
        help_text="empty until the worker has started it",
    )
    runs_per_model = models.PositiveIntegerField(default=1)
    difficulty = models.CharField(
        max_length=16,
        blank=True,
        help_text="empty until the tiers that decide have run",
    )
    missing = models.JSONField(default=list, help_text="models whose answer the label waits for")
    right = models.JSONField(default=dict, help_text="right models per tier")
    refusal = models.TextField(blank=True, help_text="why the run could not be started")
    labelled_at = models.DateTimeField(null=True, blank=True)
    asked_at = models.DateTimeField(default=timezone.now)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"difficulty of {self.sample_id}"


class Release(Stateful):
    """A frozen set of samples under a version name. Its files can be made again, byte for byte, from its items."""

    lifecycle = RELEASE_LIFECYCLE

    version = models.CharField(_("version"), max_length=40, unique=True)
    state = models.CharField(max_length=16, choices=ReleaseState.choices, default=ReleaseState.BUILDING)
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    allow_incomplete = models.BooleanField(default=False)
    progress = models.PositiveIntegerField(default=0, help_text="items written")
    total = models.PositiveIntegerField(default=0, help_text="items frozen; 0 until the snapshot is taken")
    lease_until = models.DateTimeField(null=True, blank=True, help_text="somebody writes the files until then")
    statistics = models.JSONField(default=dict)
    manifest = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    withdrawn_reason = models.TextField(blank=True)

    if TYPE_CHECKING:
        items: "RelatedManager[ReleaseItem]"
        left_out: "RelatedManager[LeftOut]"

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.version


class ReleaseItem(models.Model):
    """One sample as released: every exported field but the context, which is the pinned document version's text."""

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="items")
    position = models.PositiveIntegerField()
    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="release_items")
    document_version = models.ForeignKey(DocumentVersion, on_delete=models.PROTECT, related_name="+")
    fields = models.JSONField()
    provenance = models.JSONField()

    class Meta:
        ordering = ["release_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["release", "sample"], name="a_release_holds_a_sample_once"),
            models.UniqueConstraint(fields=["release", "position"], name="a_release_numbers_its_items"),
        ]

    def __str__(self) -> str:
        return f"{self.release_id}/{self.position}"


class LeftOut(models.Model):
    """A sample that is not in a release, and why. Never silently."""

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="left_out")
    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="+")
    reasons = models.JSONField()

    class Meta:
        ordering = ["release_id", "sample_id"]

    def __str__(self) -> str:
        return f"{self.release_id} without {self.sample_id}"


class ReleaseImport(models.Model):
    """The files of a release that were taken into this system while it was empty."""

    version = models.CharField(max_length=40)
    manifest = models.JSONField(help_text="as it lay there, with the SHA-256 of every file")
    manifest_sha256 = models.CharField(max_length=64)
    imported_at = models.DateTimeField(default=timezone.now)
    imported_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"import of {self.version}"


class ImportedSample(models.Model):
    """What the release told of a sample that was made elsewhere. Nobody here decided any of it."""

    release_import = models.ForeignKey(ReleaseImport, on_delete=models.PROTECT, related_name="samples")
    sample = models.OneToOneField(Sample, on_delete=models.PROTECT, related_name="imported")
    provenance = models.JSONField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.sample_id} from {self.release_import_id}"
