"""Difficulty labels and releases, as data."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from core.workflow import Lifecycle


class ReleaseState(TextChoices):
    BUILDING = "building", _("being made")
    FROZEN = "frozen", _("frozen")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")
    WITHDRAWN = "withdrawn", _("withdrawn")


RELEASE_LIFECYCLE = Lifecycle(
    ReleaseState,
    [
        ("freeze", ReleaseState.BUILDING, ReleaseState.FROZEN),
        ("fail", ReleaseState.BUILDING, ReleaseState.FAILED),
        # Whoever is making it notices with the next batch and leaves nothing behind.
        ("cancel", ReleaseState.BUILDING, ReleaseState.CANCELLED),
        ("retry", [ReleaseState.FAILED, ReleaseState.CANCELLED], ReleaseState.BUILDING),
        ("withdraw", ReleaseState.FROZEN, ReleaseState.WITHDRAWN),
    ],
)
