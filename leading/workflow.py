"""What leading tells apart by name."""

from django.db.models import TextChoices
from django.utils.translation import pgettext_lazy


class LinkState(TextChoices):
    """Where a one-time link stands. It is read from its dates, so nothing has to move it when its time is over."""

    OPEN = "open", pgettext_lazy("a link", "open")
    USED = "used", pgettext_lazy("a link", "used")
    EXPIRED = "expired", pgettext_lazy("a link", "expired")
    REVOKED = "revoked", pgettext_lazy("a link", "revoked")
