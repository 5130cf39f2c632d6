"""What is stored about leading: targets of single cells, one-time links, and how far notifications were read."""

import hashlib

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from core.workflow import Role
from leading.workflow import LinkState


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


def new_digest(token: str) -> str:
    """What is kept of a one-time link: whoever reads the database cannot open it."""
    return hashlib.sha256(token.encode()).hexdigest()


class OneTimeLink(models.Model):
    """A link that a lead gives to one person, by e-mail or on paper. It opens once, until its end, unless revoked."""

    digest = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def state(self) -> LinkState:
        if self.used_at is not None:
            return LinkState.USED
        if self.revoked_at is not None:
            return LinkState.REVOKED
        return LinkState.OPEN if timezone.now() < self.expires_at else LinkState.EXPIRED


class Invitation(OneTimeLink):
    """Who opens it becomes a person with this role, these languages and tasks; name and password are their own."""

    role = models.CharField(max_length=16, choices=Role.choices)
    languages = models.JSONField(default=list, blank=True)
    tasks = models.JSONField(default=list, blank=True)
    email = models.EmailField(blank=True)
    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="invitation"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(used_at__isnull=True, person__isnull=True) | Q(used_at__isnull=False, person__isnull=False),
                name="a_used_invitation_says_who_came",
            ),
            models.CheckConstraint(
                condition=Q(used_at__isnull=True) | Q(revoked_at__isnull=True),
                name="an_invitation_is_used_or_revoked",
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class ResetLink(OneTimeLink):
    """With it a person who forgot the password chooses a new one. It signs nobody in, and removes no second factor."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="reset_links")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person"],
                condition=Q(used_at__isnull=True, revoked_at__isnull=True),
                name="a_person_has_one_reset_link",
            ),
        ]

    def __str__(self) -> str:
        return f"reset link {self.pk}"


class NoticeMark(models.Model):
    """How far a person has read their notifications: the number of the trail's last line that they were shown."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    seen_up_to = models.BigIntegerField(default=0)
    seen_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"seen up to {self.seen_up_to}"
