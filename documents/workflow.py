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
    CUT = "cut", _("cut out")


class BatchState(TextChoices):
    WAITING = "waiting", _("waiting")
    RUNNING = "running", _("at work")
    FINISHED = "finished", _("finished")
    CANCELLED = "cancelled", _("cancelled")


class Outcome(TextChoices):
    """Of one text of a batch. Flagged: taken, but a person should look twice."""

    ACCEPTED = "accepted", _("accepted")
    FLAGGED = "flagged", _("flagged")
    REFUSED = "refused", _("refused")


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
        # It was cleared in another system, whose release was imported here: nobody here decided anything.
        (
            "import_from_release",
            [VersionState.PENDING],
            VersionState.APPROVED,
        ),
    ],
)

BATCH_LIFECYCLE = Lifecycle(
    BatchState,
    [
        ("start", [BatchState.WAITING], BatchState.RUNNING),
        ("finish", [BatchState.RUNNING], BatchState.FINISHED),
        # What was taken before stays: each text of a batch stands by itself.
        ("cancel", [BatchState.WAITING, BatchState.RUNNING], BatchState.CANCELLED),
    ],
)
