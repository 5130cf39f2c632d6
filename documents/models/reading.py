"""Who has read how far."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from documents.models.documents import DocumentVersion


class ReadingPosition(models.Model):
    """Where a person left a text: the first code point that stood in the window."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    version = models.ForeignKey(DocumentVersion, on_delete=models.CASCADE, related_name="+")
    position = models.PositiveIntegerField(help_text="code points")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "version"], name="a_person_reads_a_version_at_one_place")
        ]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.version_id}"
