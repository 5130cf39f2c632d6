"""Pages of the shell itself: health and errors."""

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from core.middleware import refusal_page
from core.refusals import NotAllowed


@login_not_required
def health(request: HttpRequest) -> JsonResponse:
    """Alive and able to reach the database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})


def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form's token is of an older log-in: said in place, so that the typed text stays."""
    words = _(
        "This page is from before you last signed in. Your text is still here: "
        "open the page in another tab and send again."
    )
    return refusal_page(request, NotAllowed(words, rule="csrf"))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "errors/400.html", status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "errors/403.html", status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "errors/404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    return render(request, "errors/500.html", status=500)
