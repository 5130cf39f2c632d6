"""Stage 1: documents, their versions, and the text, which lives in a table of its own so that no list touches it."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from benchmark.taxonomy import Language
from core.models import Stateful
from documents.workflow import VERSION_LIFECYCLE, Origin, VersionState

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

LANGUAGE_CHOICES = [
    (Language.ENGLISH.value, _("English")),
    (Language.CHINESE.value, _("Chinese")),
]


class DocumentQuerySet(models.QuerySet["Document"]):
    """State, bucket and tokens of a document are those of its latest version."""

    def for_list(self) -> "DocumentQuerySet":
        return self.select_related("latest", "imported_by").order_by("-id")

    def in_state(self, state: str) -> "DocumentQuerySet":
        return self.filter(latest__state=state)

    def in_bucket(self, bucket: str) -> "DocumentQuerySet":
        """`bucket` is a name, or empty for the documents between the buckets."""
        return self.filter(latest__bucket=bucket)

    def approved(self) -> "DocumentQuerySet":
        return self.in_state(VersionState.APPROVED)


class DocumentVersionQuerySet(models.QuerySet["DocumentVersion"]):
    def for_list(self) -> "DocumentVersionQuerySet":
        return self.select_related("document", "made_by", "decided_by").order_by("document", "number")

    def in_state(self, state: str) -> "DocumentVersionQuerySet":
        return self.filter(state=state)

    def in_bucket(self, bucket: str) -> "DocumentVersionQuerySet":
        return self.filter(bucket=bucket)

    def in_language(self, language: str) -> "DocumentVersionQuerySet":
        return self.filter(document__language=language)

    def approved(self) -> "DocumentVersionQuerySet":
        return self.in_state(VersionState.APPROVED)


class Document(models.Model):
    """One context. Its text may change by making a new version; samples pin the version they were made for."""

    title = models.CharField(_("title"), max_length=300)
    language = models.CharField(_("language"), max_length=16, choices=LANGUAGE_CHOICES)
    domain = models.CharField(_("domain"), max_length=60, blank=True)
    format = models.CharField(_("format"), max_length=60, blank=True)
    multi = models.BooleanField(_("several documents in one"), default=False)
    source_url = models.CharField(_("source address"), max_length=2000, blank=True)
    licence = models.CharField(_("licence"), max_length=300, blank=True)
    imported_at = models.DateTimeField(default=timezone.now)
    imported_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    version = models.PositiveIntegerField(default=1, editable=False, help_text="counts corrections of the facts above")
    latest = models.ForeignKey(
        "DocumentVersion",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        editable=False,
    )

    objects = DocumentQuerySet.as_manager()

    if TYPE_CHECKING:
        versions: "RelatedManager[DocumentVersion]"

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.title


class DocumentVersion(Stateful):
    """One text of a document: its measure, its bucket, and whether people cleared it."""

    lifecycle = VERSION_LIFECYCLE

    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=16, choices=VersionState.choices, default=VersionState.PENDING)
    origin = models.CharField(max_length=16, choices=Origin.choices, default=Origin.IMPORT)
    sha256 = models.CharField(max_length=64, db_index=True)
    chars = models.PositiveIntegerField(help_text="code points")
    bytes = models.PositiveIntegerField(help_text="of UTF-8")
    tokens = models.PositiveIntegerField(help_text="by the tokenizer named beside it")
    tokenizer = models.CharField(max_length=80)
    bucket = models.CharField(max_length=8, blank=True)
    normalisation = models.JSONField(default=dict, help_text="what was changed on the way in, counted")
    remarks = models.JSONField(default=list, help_text="why a person should look twice")
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    made_reason = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    flags = models.JSONField(default=list)
    note = models.TextField(blank=True)

    objects = DocumentVersionQuerySet.as_manager()

    class Meta:
        ordering = ["document_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="a_document_numbers_its_versions"),
            models.UniqueConstraint(
                fields=["sha256"],
                condition=Q(number=1),
                name="no_two_documents_begin_with_the_same_text",
            ),
            models.CheckConstraint(
                condition=Q(decided_at__isnull=True, decided_by__isnull=True)
                | Q(decided_at__isnull=False, decided_by__isnull=False),
                name="a_compliance_decision_has_a_decider",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} v{self.number}"

    @property
    def is_approved(self) -> bool:
        return self.state == VersionState.APPROVED


class DocumentText(models.Model):
    """The text of one version, never changed, beside its precompressed rendering for the reader."""

    version = models.OneToOneField(DocumentVersion, on_delete=models.PROTECT, primary_key=True, related_name="body")
    text = models.TextField()
    gzipped = models.BinaryField(help_text="gzip of the UTF-8 text, served as it is")

    def __str__(self) -> str:
        return f"text of {self.version_id}"
