"""What every API operation shares: pages, problem details (RFC 9457), and one effect per Idempotency-Key."""

from collections.abc import Collection
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, JsonResponse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler
from rest_framework.viewsets import GenericViewSet

from core import idempotency
from core.filtering import refuse_unknown
from core.models import User
from core.refusals import Invalid, Refused

PROBLEM = "application/problem+json"


class Replay(Exception):
    """The stored answer to the same request."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__("replayed")
        self.response = response


class ProblemSerializer(serializers.Serializer[dict[str, Any]]):
    """Problem details. `rule` names what was broken, `errors` maps fields to messages, `state` is the state now."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    rule = serializers.CharField(required=False)
    errors = serializers.DictField(  # type: ignore[assignment]  # the field is named so
        child=serializers.ListField(child=serializers.CharField()), required=False
    )
    state = serializers.CharField(required=False)


TITLES = {
    400: gettext_lazy("Invalid request"),
    401: gettext_lazy("Not signed in"),
    403: gettext_lazy("Not allowed"),
    404: gettext_lazy("Not found"),
    405: gettext_lazy("Method not allowed"),
    409: gettext_lazy("Conflict"),
    411: gettext_lazy("Length required"),
    413: gettext_lazy("Too large"),
    415: gettext_lazy("Unsupported media type"),
    422: gettext_lazy("A rule of the pipeline forbids this"),
    429: gettext_lazy("Too many requests"),
}


def problem(status: int, detail: str, *, headers: dict[str, str] | None = None, **more: Any) -> JsonResponse:
    body = {
        "type": "about:blank",
        "title": str(TITLES.get(status, _("Problem"))),
        "status": status,
        "detail": detail,
    }
    body.update({name: value for name, value in more.items() if value})
    return JsonResponse(
        body,
        status=status,
        content_type=PROBLEM,
        headers=headers,
        json_dumps_params={"ensure_ascii": False},
    )


def _flat(detail: Any, name: str = "") -> dict[str, list[str]]:
    if isinstance(detail, dict):
        flat: dict[str, list[str]] = {}
        for key, value in detail.items():
            flat.update(_flat(value, f"{name}.{key}" if name else str(key)))
        return flat
    if isinstance(detail, list) and any(isinstance(item, dict | list) for item in detail):
        flat = {}
        for position, value in enumerate(detail):
            if value:
                flat.update(_flat(value, f"{name}.{position}" if name else str(position)))
        return flat
    return {name or "detail": [str(item) for item in (detail if isinstance(detail, list) else [detail])]}


def as_problem(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """Every error of the API as problem details. None for what nobody foresaw: that is a 500 and is logged."""
    if isinstance(error, Replay):
        return error.response
    if isinstance(error, Invalid):
        errors = {field: [str(word) for word in words] for field, words in error.errors.items()}
        return problem(error.status, str(error.message), rule=error.rule, errors=errors)
    if isinstance(error, Refused):
        return problem(error.status, str(error.message), rule=error.rule, **error.details)
    if isinstance(error, exceptions.ValidationError):
        errors = _flat(error.detail)
        return problem(400, next(iter(errors.values()))[0], rule="invalid", errors=errors)
    if isinstance(error, Http404):
        error = exceptions.NotFound()
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if not isinstance(error, exceptions.APIException):
        return None
    answered = exception_handler(error, context)
    headers = {
        name: answered.headers[name]
        for name in ("WWW-Authenticate", "Retry-After")
        if answered and name in answered.headers
    }
    return problem(
        error.status_code,
        str(error.detail),
        headers=headers,
        rule=str(error.default_code),
    )


class OnceMixin(APIView):
    """POST takes `Idempotency-Key`."""

    _begun: idempotency.Begun | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        key = request.headers.get("Idempotency-Key", "")
        if request.method == "POST" and key and isinstance(request.user, User):
            mark = idempotency.fingerprint(request._request)
            begun = idempotency.begin(person=request.user, key=f"api:{key}", mark=mark)
            if begun.replay is not None:
                raise Replay(begun.replay)
            self._begun = begun

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        if self._begun is not None:
            begun, self._begun = self._begun, None
            if isinstance(response, Response):
                response.add_post_render_callback(lambda rendered: idempotency.finish(begun, rendered))
            else:
                idempotency.finish(begun, response)
        return response

    def handle_exception(self, exc: Exception) -> Response:
        try:
            return super().handle_exception(exc)
        except Exception:
            if self._begun is not None:
                idempotency.abandon(self._begun)
            raise


class ViewSet(OnceMixin, GenericViewSet[Any]):
    """The base of every resource. `person` is the signed-in user. `parameters`: what a list takes in its address that
    filters nothing (a view set with filters names none: `core.filtering` knows them)."""

    parameters: Collection[str] = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if self.action == "list" and not self.filter_backends:
            refuse_unknown(request, self.parameters)

    def perform_authentication(self, request: Request) -> None:
        """A program speaks the language that it asks for, else its person's (the middleware knows no tokens)."""
        super().perform_authentication(request)
        chosen = getattr(request.user, "language", "")
        if request.auth is not None and chosen and "Accept-Language" not in request.headers:
            translation.activate(chosen)

    @property
    def person(self) -> User:
        user = self.request.user
        assert isinstance(user, User)
        return user
