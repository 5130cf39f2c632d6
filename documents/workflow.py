"""Compliance of a document version, as data. Only an approved version's text may reach a model."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from core.workflow import Lifecycle


class VersionState(TextChoices):
    PENDING = "pending", _("to clear")
    APPROVED = "approved", _("approved")
    REJECTED = "rejected", _("rejected")


class Flag(TextChoices):
    PRIVACY = "privacy", _("privacy")
    COPYRIGHT = "copyright", _("copyright")
    OTHER = "other", _("other")


class Origin(TextChoices):
    IMPORT = "import", _("imported")
    PASTE = "paste", _("pasted")
    TRIM = "trim", _("trimmed")
    JOIN = "join", _("joined")
    REVISION = "revision", _("revised")


VERSION_LIFECYCLE = Lifecycle(
    VersionState,
    [
        (
            "approve",
            [VersionState.PENDING, VersionState.REJECTED],
            VersionState.APPROVED,
        ),
        # Rejecting an approved version withdraws the approval: every sample of it is blocked.
        (
            "reject",
            [VersionState.PENDING, VersionState.APPROVED],
            VersionState.REJECTED,
        ),
    ],
)
