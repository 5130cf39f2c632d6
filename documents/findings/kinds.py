"""What kinds of findings there are, and one finding."""

from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Kind(TextChoices):
    """In the order in which a person is to look at them: people first."""

    EMAIL = "email", _("e-mail address")
    PHONE = "phone", _("telephone number")
    IDENTITY = "identity", _("identity card number")
    CARD = "card", _("bank card number")
    STREET = "street", _("street address")
    NAME = "name", _("watched name")
    IP = "ip", _("IP address")
    COPYRIGHT = "copyright", _("copyright line")
    LICENCE = "licence", _("licence text")
    INVISIBLE = "invisible", _("invisible characters")


PERSONAL = frozenset({Kind.EMAIL, Kind.PHONE, Kind.IDENTITY, Kind.CARD, Kind.STREET, Kind.NAME})


@dataclass(frozen=True, slots=True)
class Finding:
    """`start` and `end` are code points in the text, half-open."""

    kind: Kind
    start: int
    end: int
