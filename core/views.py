"""Pages of the shell itself: health, preferences of the person, errors."""


from django.http import HttpRequest, HttpResponse


from core.middleware import refusal_page
from core.refusals import NotAllowed
from django.utils.translation import gettext as _


def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form's token is of an older log-in: said in place, so that the typed text stays."""
    return refusal_page(
        request,
        NotAllowed(
            _("This page is from before you last signed in. Your text is still here: reload the page in another tab, then send again."),
            rule="csrf",
        ),
    )
