"""What the shell shows on every page."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.models import User
from core.workflow import Role, Theme

THEME_COOKIE = "theme"
EVERYBODY = frozenset(Role.values)
LEADS = frozenset({Role.LEAD.value})


@dataclass(frozen=True)
class Entry:
    """One place of the navigation: which roles it serves and the name of its page."""

    section: str
    url_name: str
    label: str | Promise
    roles: frozenset[str] = EVERYBODY

    @property
    def url(self) -> str:
        try:
            return reverse(self.url_name)
        except NoReverseMatch:
            return ""


NAVIGATION = (
    Entry("work", "leading:work", _("Work")),
    Entry("documents", "documents:document_list", _("Documents")),
    Entry("samples", "annotation:sample_list", _("Samples")),
    Entry("reviews", "review:review_list", _("Reviews")),
    Entry("quality", "review:quality", _("Quality"), frozenset({Role.EXPERT.value, Role.LEAD.value})),
    Entry("runs", "generation:run_list", _("Runs"), LEADS),
    Entry("models", "generation:model_list", _("Models"), LEADS),
    Entry("progress", "leading:progress", _("Progress"), LEADS),
    Entry("releases", "release:release_list", _("Releases"), LEADS),
    Entry("people", "leading:people", _("People"), LEADS),
    Entry("trail", "leading:trail", _("Audit trail"), LEADS),
    Entry("guidelines", "core:guidelines", _("Guidelines")),
)


def navigation_of(person: Any) -> list[Entry]:
    role = getattr(person, "role", "")
    return [entry for entry in NAVIGATION if role in entry.roles and entry.url]


def theme_cookie(request: HttpRequest) -> str:
    """This browser's theme, known without the database."""
    chosen = request.COOKIES.get(THEME_COOKIE, "")
    return chosen if chosen in Theme.values else ""


def theme_of(request: HttpRequest) -> str:
    """The person's theme, or this browser's before somebody signed in; empty: as the system."""
    person = getattr(request, "user", None)
    return person.theme if isinstance(person, User) else theme_cookie(request)


def demo_people() -> list[tuple[str, str]]:
    """Whom the demo's log-in page offers (the set-up makes them)."""
    return [
        (str(Role.LEAD.label), "lead"),
        (str(Role.EXPERT.label), "expert1 … expert5"),
        (str(Role.ANNOTATOR.label), "annotator1 … annotator6"),
    ]


def shell(request: HttpRequest) -> dict[str, Any]:
    person = getattr(request, "user", None)
    demo = getattr(settings, "LBP_DEMO", False)
    return {
        "demo": demo,
        "demo_password": getattr(settings, "LBP_DEMO_PASSWORD", "") if demo else "",
        "demo_people": demo_people() if demo else [],
        "simulated_models": settings.LBP_PANEL == "demo",
        "navigation": navigation_of(person),
        "theme": theme_of(request),
        "shortcuts": getattr(person, "shortcuts", True),
    }
