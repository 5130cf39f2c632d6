"""What every page of runs and models does first: ask whether a lead asks."""

from django.http import HttpRequest
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from benchmark.taxonomy import Language
from core.models import User
from core.refusals import NotAllowed
from core.viewing import person_of

A_PAGE = 50


def lead_of(request: HttpRequest) -> User:
    person = person_of(request)
    if not person.is_lead:
        raise NotAllowed(_("Runs and models are the leads' pages."))
    return person


def template_for(request: HttpRequest, name: str, part: str) -> str:
    """The whole page, or the part of it that polls itself."""
    return f"{name}#{part}" if getattr(request, "htmx", None) and request.method == "GET" else name


def page_language() -> Language:
    return Language.CHINESE if (get_language() or "").startswith("zh") else Language.ENGLISH


def query_of(request: HttpRequest) -> str:
    """The filters of this page as they were asked for, without the page number."""
    kept = request.GET.copy()
    kept.pop("page", None)
    return kept.urlencode()
