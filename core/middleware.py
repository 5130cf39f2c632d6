"""What every request passes: headers, the person's language, the lost log-in, refusals, and one effect per POST."""

import zoneinfo
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django_htmx.http import trigger_client_event

from core import idempotency
from core.api import problem
from core.authentication import TokenAuthentication
from core.models import User
from core.refusals import Invalid, NotAllowed, Refused
from core.workflow import Role

GetResponse = Callable[[HttpRequest], HttpResponseBase]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "object-src 'none'",
        "frame-ancestors 'none'",
    )
)


class SecurityHeadersMiddleware:
    """A strict policy on every response, errors included; pages of signed-in people are never stored."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
        if not request.path.startswith(resolve_url(settings.STATIC_URL)):
            response.headers.setdefault("Cache-Control", "no-store")
            patch_vary_headers(response, ["HX-Request", "Cookie"])
        return response


def zone_of(request: HttpRequest) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(getattr(request.user, "time_zone", "") or settings.TIME_ZONE)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo(settings.TIME_ZONE)


class PersonLanguageMiddleware:
    """The language a person chose wins over the browser's; times are shown in the person's zone."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        language = getattr(request.user, "language", "")
        if language:
            translation.activate(language)
            request.LANGUAGE_CODE = translation.get_language()
        with timezone.override(zone_of(request)):
            return self.answer(request)

    def answer(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Language", translation.get_language() or settings.LANGUAGE_CODE)
        return response


class FragmentLogInMiddleware:
    """A log-in that expired inside a fragment leads the whole page to the log-in and back, never into the fragment.
    One that expired before a form was sent leads back to the form's page: its address cannot be opened."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        htmx = getattr(request, "htmx", None)
        location = response.headers.get("Location", "")
        if response.status_code not in {301, 302, 303} or not (htmx or request.method == "POST"):
            return response
        asked = urlsplit(location)
        if asked.path != resolve_url(settings.LOGIN_URL):
            return response
        if htmx:
            back = redirect_to_login(htmx.current_url_abs_path or "/").headers["Location"]
            return HttpResponse(status=204, headers={"HX-Redirect": back})
        leads_here = parse_qs(asked.query).get("next") == [request.get_full_path()]
        return redirect_to_login(_page_before(request)) if leads_here else response


class SecondFactorMiddleware:
    """Where the operator asks for it (LBP_REQUIRE_TOTP), experts and leads set up an authenticator before anything
    else. A program with a token goes on: its owner made it behind the factor, and it ends by itself."""

    ROLES = frozenset({Role.EXPERT.value, Role.LEAD.value})
    # What the way there needs, and what anybody may do at any time.
    OPEN = frozenset({"account_logout", "account_reauthenticate", "core:health", "core:set_language", "core:set_theme"})

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponseBase | None:
        if not self.is_missing(request):
            return None
        request.second_factor_missing = True  # type: ignore[attr-defined]  # for the page that asks for it
        name = request.resolver_match.view_name if request.resolver_match else ""
        if name in self.OPEN or name.startswith("mfa_"):
            return None
        words = _("Your role works with a second factor. Set up an authenticator first: open any page in the browser.")
        if request.path.startswith("/api/"):
            return problem(403, words, rule="second_factor_required")
        there = resolve_url("mfa_activate_totp")
        if getattr(request, "htmx", None):
            return HttpResponse(status=204, headers={"HX-Redirect": there})
        if wants_json(request):
            return _refusal_json(NotAllowed(words, rule="second_factor_required"))
        return redirect(there)

    def is_missing(self, request: HttpRequest) -> bool:
        person = request.user
        if not settings.LBP_REQUIRE_TOTP or not isinstance(person, User) or person.role not in self.ROLES:
            return False
        # Who sends a token is known by it alone: core.authentication refuses one that is not valid.
        words = request.META.get("HTTP_AUTHORIZATION", "").split()
        if request.path.startswith("/api/") and words and words[0].lower() == TokenAuthentication.keyword.lower():
            return False
        return not Authenticator.objects.filter(user=person, type=Authenticator.Type.TOTP).exists()


STATE_OF_LEVEL = {"success": "pass", "error": "fail", "warning": "warn"}


class FragmentMessagesMiddleware:
    """Messages travel with a fragment too, as the event `lbp:messages`; otherwise they would wait for the next page."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        leads_elsewhere = response.status_code in {301, 302, 303} or "HX-Redirect" in response.headers
        if not getattr(request, "htmx", None) or leads_elsewhere or wants_json(request):
            return response
        said = [
            {"text": str(message), "state": STATE_OF_LEVEL.get(message.level_tag, "idle")}
            for message in messages.get_messages(request)
        ]
        if said and isinstance(response, HttpResponse):
            trigger_client_event(response, "lbp:messages", {"messages": said})
        return response


class RefusalMiddleware:
    """An action's refusal that a view did not show itself: as a page, or as a fragment's message, with its status.
    And words for who opens an address that only takes a form."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code == 405 and request.method == "GET" and not request.path.startswith("/api/"):
            # Somebody opened, or reloaded, the address of a form: Django's own answer is a blank page.
            page = render(request, "errors/405.html", {"status": 405}, status=405)
            page.headers["Allow"] = response.headers["Allow"]
            return page
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        if not isinstance(error, Refused):
            return None
        return refusal_page(request, error)


def wants_json(request: HttpRequest) -> bool:
    """Scripts of the pages (autosave) ask for JSON; what they show is not HTML of the server."""
    return request.headers.get("Accept", "").startswith("application/json")


def refusal_page(request: HttpRequest, error: Refused) -> HttpResponse:
    if wants_json(request):
        return _refusal_json(error)
    if getattr(request, "htmx", None):
        return _refusal_fragment(request, error)
    context = {"refusal": error, "typed": _typed(request), "back": _page_before(request)}
    return render(request, "errors/refused.html", context, status=error.status)


def _refusal_fragment(request: HttpRequest, error: Refused) -> HttpResponse:
    response = render(request, "components/refusal.html", {"refusal": error}, status=error.status)
    response.headers["HX-Retarget"] = "#refusal"
    response.headers["HX-Reswap"] = "innerHTML"
    return response


def _refusal_json(error: Refused) -> HttpResponse:
    body: dict[str, Any] = {**error.details, "status": error.status, "rule": error.rule, "detail": str(error.message)}
    if isinstance(error, Invalid):
        body["errors"] = {field: [str(word) for word in words] for field, words in error.errors.items()}
    return JsonResponse(body, status=error.status, content_type="application/problem+json", encoder=LazyWords)


class LazyWords(DjangoJSONEncoder):
    """Details may hold words that are translated when they are read."""

    def default(self, o: Any) -> Any:
        return str(o) if isinstance(o, Promise) else super().default(o)


class TooLarge(Refused):
    """More was sent than is taken at once (413)."""

    status = 413
    rule = "too_large"


class LengthUnknown(Refused):
    """The request does not say how long it is (411)."""

    status = 411
    rule = "length_required"


class UploadLimitMiddleware:
    """What says that it is too large is refused before a byte of it is read. Stands above whatever reads the body."""

    SLACK = 4 * 1024 * 1024  # the other fields and the borders between the parts

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        refusal = self.refusal_of(request)
        if refusal is None:
            return self.get_response(request)
        response = unread_refusal(request, refusal)
        response.headers["Connection"] = "close"
        return response

    def refusal_of(self, request: HttpRequest) -> Refused | None:
        length = request.META.get("CONTENT_LENGTH") or ""
        if not length and "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
            return LengthUnknown(_("Send the request with its length (Content-Length), not in chunks."))
        if length.isdecimal() and int(length) > settings.LBP_MAX_UPLOAD + self.SLACK:
            return too_large_upload()
        return None


def too_large_upload() -> TooLarge:
    return TooLarge(
        _(
            "Together the files are too large: at most %(limit)s MiB in one upload. Send them in parts, "
            "or use the command import_documents, which has no such limit."
        )
        % {"limit": settings.LBP_MAX_UPLOAD // (1024 * 1024)}
    )


def unread_refusal(request: HttpRequest, error: Refused) -> HttpResponse:
    """Like `refusal_page`, for a request whose body is not to be read."""
    if request.path.startswith("/api/"):
        return problem(error.status, str(error.message), rule=error.rule)
    if request.headers.get("HX-Request") == "true":
        return _refusal_fragment(request, error)
    context = {"refusal": error, "typed": [], "back": _page_before(request)}
    return render(request, "errors/refused.html", context, status=error.status)


SECRETS = frozenset({"csrfmiddlewaretoken", "_once", "next"})


def _typed(request: HttpRequest) -> list[tuple[str, str]]:
    """What somebody wrote into the refused form, so that the answer can give it back. Never a password."""
    if request.method != "POST":
        return []
    return [
        (name, text)
        for name, texts in request.POST.lists()
        if name not in SECRETS and "password" not in name
        for text in texts
        if " " in text.strip() or len(text) > 20
    ]


def _page_before(request: HttpRequest) -> str:
    """The page of this site that sent the form."""
    before = request.META.get("HTTP_REFERER", "")
    safe = url_has_allowed_host_and_scheme(before, {request.get_host()}, require_https=request.is_secure())
    return before if safe else "/"


SECOND_CLICK_WAITS = timedelta(seconds=10)


class OnceMiddleware:
    """Double click, back button, resend: a form posted twice with the same `_once` value has one effect."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        person = request.user
        if request.method != "POST" or request.path.startswith("/api/") or not isinstance(person, User):
            return self.get_response(request)
        key = request.POST.get("_once", "")
        if not key:
            return self.get_response(request)
        try:
            mark = idempotency.fingerprint(request)
            begun = idempotency.begin(person=person, key=f"page:{key}", mark=mark, wait=SECOND_CLICK_WAITS)
        except Refused as refusal:
            return refusal_page(request, refusal)
        if begun.replay is not None:
            return begun.replay
        try:
            response = self.get_response(request)
        except BaseException:
            idempotency.abandon(begun)
            raise
        idempotency.finish(begun, response)
        return response
