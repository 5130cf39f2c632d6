"""Where a person left a text."""

from django.utils import timezone
from django.utils.translation import gettext as _

from core.models import User
from core.refusals import Invalid
from documents.actions.permissions import can_remember_position, refuse_unless
from documents.models import DocumentVersion, ReadingPosition


def remember_position(*, version: DocumentVersion, position: int, by: User) -> ReadingPosition:
    """Keep the first code point in the window, one per person and version. Each one's own bookmark, so there is no
    line in the audit trail. One statement: two windows of one person cannot clash."""
    refuse_unless(can_remember_position(by, version))
    if not 0 <= position <= version.chars:
        raise Invalid({"position": _("The text has %(chars)s characters.") % {"chars": version.chars}})
    place = ReadingPosition(person=by, version=version, position=position, at=timezone.now())
    ReadingPosition.objects.bulk_create(
        [place], update_conflicts=True, unique_fields=["person", "version"], update_fields=["position", "at"]
    )
    return place
