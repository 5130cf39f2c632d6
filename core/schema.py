"""What the OpenAPI schema says that holds for every operation: signing in, refusals, and the key of a repeated POST."""

from http import HTTPStatus
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

PROBLEM_TYPE = "application/problem+json"
METHODS = ("get", "post", "put", "patch", "delete")
# Status -> when it is answered. Read by people who write programs: in English, as the rest of the schema.
ALWAYS = {
    400: "What is wrong, and in which field.",
    401: "No valid token, and nobody signed in.",
    403: "Not for this role or person, or for this token.",
    404: "There is nothing at this address, or nothing for this person.",
    429: "Too many requests in one minute.",
}
WHEN_WRITING = {
    409: "The record moved, or somebody was faster; `state` is the state now.",
    413: "Too large.",
    415: "The body is of a media type that is not taken.",
    422: "A rule of the pipeline forbids it; `rule` names it.",
}
# A GET may be refused by a rule as well: where there is nothing yet to be shown.
WHEN_READING = {code: WHEN_WRITING[code] for code in (409, 422)}
REPEATED = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "At most 100 characters. The same request sent again under the same key has one effect and gets the "
    "first answer; another request under the same key is refused (422).",
    "schema": {"type": "string", "maxLength": 100},
}


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "core.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


def with_what_every_operation_shares(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """A hook of drf-spectacular. The operations themselves describe what is theirs: the body and the good answer."""
    parts = result["components"]["schemas"]
    for operations in result["paths"].values():
        for method in METHODS:
            if method in operations:
                _share(operations[method], parts, writes=method != "get")
    return result


def _share(operation: dict[str, Any], parts: dict[str, Any], *, writes: bool) -> None:
    for code, words in {**ALWAYS, **(WHEN_WRITING if writes else WHEN_READING)}.items():
        answer: dict[str, Any] = {"description": f"{HTTPStatus(code).phrase}. {words}"}
        if "Problem" in parts:
            answer["content"] = {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        if code == HTTPStatus.TOO_MANY_REQUESTS:
            answer["headers"] = {"Retry-After": {"description": "seconds", "schema": {"type": "integer", "minimum": 1}}}
        operation["responses"][str(code)] = answer
    operation["responses"] = dict(sorted(operation["responses"].items()))
    if writes:
        operation.setdefault("parameters", []).append(REPEATED)
