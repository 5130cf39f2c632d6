"""What only leads need stored: targets of single cells that differ from the general target."""

from django.db import models


class CellTarget(models.Model):
    """How many samples one cell (task, language, bucket) shall hold, where it differs from the general figure."""

    task_code = models.CharField(max_length=8)
    language = models.CharField(max_length=16)
    bucket = models.CharField(max_length=8)
    target = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task_code", "language", "bucket"], name="a_cell_has_one_target"),
        ]

    def __str__(self) -> str:
        return f"{self.task_code} {self.language} {self.bucket}"

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.task_code, self.language, self.bucket)
