"""Pages of the shell itself: health, errors, a person's own settings, the guidelines."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST
from django_htmx.http import trigger_client_event

from benchmark.taxonomy import Language
from core import actions
from core import guidelines as criteria
from core.api import problem
from core.context_processors import THEME_COOKIE, theme_cookie
from core.forms import ApiTokenForm, PreferencesForm
from core.guidelines import taxonomy_in
from core.middleware import TooLarge, refusal_page, unread_refusal
from core.models import ApiToken, GuidelinesMark, GuidelinesVersion, User
from core.refusals import NotAllowed
from core.viewing import person_of
from core.workflow import Theme

YEAR = 365 * 24 * 3600
API_RULES = {400: "invalid", 403: "not_allowed", 404: "not_found", 500: "fault"}
API_WORDS = {
    400: gettext_lazy("The request cannot be read."),
    403: gettext_lazy("This is not allowed."),
    404: gettext_lazy("There is nothing at this address. The schema lists all that there is."),
    500: gettext_lazy("A fault of the program. Nothing was changed."),
}


@login_not_required
def health(request: HttpRequest) -> JsonResponse:
    """Alive and able to reach the database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})


# Errors ------------------------------------------------------------------------------------------------
def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form's token is of an older log-in: said in place, so that the typed text stays.

    A fragment's answer brings the token of now, and whose it is: the page takes it over if the person is the same.
    Nobody else can read it, since the answer is of this origin.
    """
    words = _(
        "This page is from before you last signed in. Nothing was lost: send it again from the page you came from."
    )
    response = refusal_page(request, NotAllowed(words, rule="csrf"))
    if getattr(request, "htmx", None):
        trigger_client_event(response, "lbp:token", {"token": get_token(request), "person": str(request.user.pk or "")})
    return response


def error_page(request: HttpRequest, status: int) -> HttpResponse:
    """Without the request's context: an error page must not need the database, nor who asks. Programs get it as
    problem details."""
    if request.path.startswith("/api/"):
        return problem(status, str(API_WORDS[status]), rule=API_RULES[status])
    fragment = request.headers.get("HX-Request") == "true"
    context = {"status": status, "theme": theme_cookie(request)}
    response = HttpResponse(
        render_to_string("errors/fragment.html" if fragment else f"errors/{status}.html", context),
        status=status,
    )
    if fragment:
        response.headers["HX-Retarget"] = "#refusal"
        response.headers["HX-Reswap"] = "innerHTML"
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, TooManyFilesSent):
        words = _(
            "More than %(limit)s files at once are too many. Put them into one zip or tar.gz, "
            "or use the command import_documents."
        ) % {"limit": settings.DATA_UPLOAD_MAX_NUMBER_FILES}
        return unread_refusal(request, TooLarge(words, rule="too_many_files"))
    if isinstance(exception, RequestDataTooBig):
        words = _("The form is too large: at most %(limit)s MiB of typed text. Send long texts as files.") % {
            "limit": settings.DATA_UPLOAD_MAX_MEMORY_SIZE // (1024 * 1024)
        }
        return unread_refusal(request, TooLarge(words))
    return error_page(request, 400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    return error_page(request, 500)


# A person's own settings ---------------------------------------------------------------------------------
def back_from(request: HttpRequest) -> HttpResponseRedirect:
    """To the page the switch stands on, never to another site."""
    target = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return HttpResponseRedirect(target if safe else "/")


def _keep(response: HttpResponse, name: str, value: str) -> None:
    response.set_cookie(name, value, max_age=YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE, httponly=True)


@require_POST
@login_not_required
def set_language(request: HttpRequest) -> HttpResponse:
    language = request.POST.get("language", "")
    response = back_from(request)
    if language not in dict(settings.LANGUAGES):
        return response
    if isinstance(request.user, User):
        actions.change_preferences(person=request.user, language=language)
    _keep(response, settings.LANGUAGE_COOKIE_NAME, language)
    return response


@require_POST
@login_not_required
def set_theme(request: HttpRequest) -> HttpResponse:
    theme = request.POST.get("theme", "")
    response = back_from(request)
    if theme not in Theme.values:
        return response
    if isinstance(request.user, User):
        actions.change_preferences(person=request.user, theme=theme)
    _keep(response, THEME_COOKIE, theme)
    return response


def preferences(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    form = PreferencesForm(request.POST or None, instance=User.objects.get(pk=person.pk))
    if request.method == "POST" and form.is_valid():
        actions.change_preferences(person=person, **form.cleaned_data)
        if person.language:
            translation.activate(person.language)
        messages.success(request, _("Preferences saved."))
        response = redirect("core:preferences")
        _keep(response, THEME_COOKIE, person.theme)
        if person.language:
            _keep(response, settings.LANGUAGE_COOKIE_NAME, person.language)
        else:
            response.delete_cookie(settings.LANGUAGE_COOKIE_NAME)
        return response
    return _preferences_page(request, form=form, status=400 if request.method == "POST" else 200)


def _preferences_page(request: HttpRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    person = person_of(request)
    context = {
        "form": PreferencesForm(instance=person),
        "token_form": ApiTokenForm(prefix="token"),
        "tokens": person.api_tokens.filter(revoked_at=None).order_by("-pk"),
        "now": timezone.now(),
    }
    return render(request, "core/preferences.html", {**context, **more}, status=status)


@require_POST
def issue_api_token(request: HttpRequest) -> HttpResponse:
    """The answer shows the token, once. It is not a redirect, because nothing may keep the text."""
    form = ApiTokenForm(request.POST, prefix="token")
    if not form.is_valid():
        return _preferences_page(request, token_form=form, status=400)
    token, text = actions.issue_api_token(by=person_of(request), **form.cleaned_data)
    return _preferences_page(request, issued=token, issued_text=text, status=201)


@require_POST
def revoke_api_token(request: HttpRequest, pk: int) -> HttpResponse:
    person = person_of(request)
    token = get_object_or_404(ApiToken, pk=pk, person=person)
    actions.revoke_api_token(token=token, by=person)
    messages.success(request, _("“%(name)s” is revoked. Programs that use it are turned away.") % {"name": token.name})
    return redirect("core:preferences")


def _version_seen(person: User) -> GuidelinesVersion | None:
    """The version that the person has marked as read; the wording to begin with, if none."""
    mark = GuidelinesMark.objects.filter(person=person).first()
    return GuidelinesVersion.objects.filter(number=mark.number).first() if mark else None


@require_POST
def guidelines_read(request: HttpRequest) -> HttpResponse:
    actions.read_guidelines(by=person_of(request))
    return redirect("core:guidelines")


def guidelines(request: HttpRequest) -> HttpResponse:
    """The criteria beside the work, the benchmark's tasks, and the version that verdicts record."""
    language = Language.CHINESE if (translation.get_language() or "").startswith("zh") else Language.ENGLISH
    person = person_of(request)
    newest, seen = criteria.newest(), _version_seen(person)
    here = "zh-hans" if language is Language.CHINESE else "en"
    context = {
        "section": "guidelines",
        "criteria": criteria,
        "guidance": [
            (key, title, text) for key, title in criteria.SECTIONS.items() if (text := criteria.guidance_of(key))
        ],
        "newest": newest,
        "seen": seen,
        "since_read": criteria.rewordings(seen, newest, (here,)) if newest != seen else [],
        "may_save": actions.can_save_guidelines(person),
        "text_language": "zh-Hans" if language is Language.CHINESE else "en",
        "primary_tasks": taxonomy_in(language),
    }
    return render(request, "core/guidelines.html", context)
