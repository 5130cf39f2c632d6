"""What automated checks found, kept so that no page computes it anew. Hints for people; they decide nothing."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from documents.models.documents import DocumentVersion


class WatchedNames(models.Model):
    """The names a lead wants to be warned of. A change makes a new row: the highest number is the list that holds."""

    names = models.TextField(blank=True, help_text="one in a line")
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"watched names {self.pk}"


class VersionFindings(models.Model):
    """The findings in one version's text: `places` is [[kind, start, end], ...] in code points, half-open, in the
    order of the text."""

    version = models.OneToOneField(DocumentVersion, on_delete=models.CASCADE, primary_key=True, related_name="found")
    places = models.JSONField(default=list)
    names_list = models.PositiveBigIntegerField(default=0, help_text="number of the list of names that was looked for")
    rules = models.PositiveIntegerField(default=0, help_text="findings.RULES by which the others were found")

    def __str__(self) -> str:
        return f"findings in {self.version_id}"


class Passage(models.Model):
    """A sampled mark of a passage. Two versions that share marks share a long passage (documents.passages)."""

    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="passages")
    mark = models.BigIntegerField(db_index=True)
    position = models.PositiveIntegerField(help_text="code points")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.version_id} at {self.position}"
