"""What pages of the last stage have in common."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from core.models import User
from core.refusals import NotAllowed
from release.actions import can_lead_releases


def lead_of(request: HttpRequest) -> User:
    person = request.user
    assert isinstance(person, User)
    if not can_lead_releases(person):
        raise NotAllowed(_("This page is for leads."))
    return person
