"""Sorting what went wrong by our own table: a library's classes of errors change from release to release."""

import re

from generation.llm.failures import Failure, FailureKind
from generation.llm.wire import Exchange

_TOO_LONG = re.compile(
    r"context[_ ](?:length|window|limit|size)|maximum context|max(?:imum)?[_ ](?:input|prompt|model)[_ ](?:tokens?|len)"
    r"|(?:prompt|input|request|message)s? (?:is|are|was|were)? ?too (?:long|large)|too many (?:input )?tokens"
    r"|(?:tokens?|input|prompt)[^.]{0,60}exceeds?|exceed(?:s|ed)?[^.]{0,60}(?:token|context|input length|limit of)"
    r"|reduce the length|input length|string too long|range of input",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content[_ ](?:filter|policy|management)|safety|moderation|data_inspection", re.IGNORECASE)
_OVER_QUOTA = re.compile(r"insufficient_quota|insufficient[_ ]balance|out of credit|billing", re.IGNORECASE)
_CODE = re.compile(r"^[a-z]+(?:_[a-z]+){1,5}$")


def sort_failure(exchange: Exchange, error_name: str, *, demo: bool) -> Failure:
    """Our own table: by status and body where the provider answered, by what the connection did where it did not."""
    status = exchange.status
    if status is None:
        return _unanswered(exchange, error_name, demo=demo)
    if exchange.is_page and status in {200, 201, 202}:
        return Failure(FailureKind.GATEWAY_PAGE, status=status)
    if 300 <= status < 400:
        return Failure(FailureKind.REDIRECTED, status=status)
    words = _code_of(exchange)
    if status == 429 and _OVER_QUOTA.search(exchange.text):
        return Failure(FailureKind.NO_CREDIT, status=status, words=words)
    if status == 429:
        return Failure(FailureKind.RATE_LIMITED, status=status, words=words, retry_after=exchange.retry_after)
    if status >= 500 or status == 408:
        return Failure(FailureKind.SERVER_ERROR, status=status, words=words, retry_after=exchange.retry_after)
    by_status = {
        401: FailureKind.AUTH,
        402: FailureKind.NO_CREDIT,
        403: FailureKind.AUTH,
        404: FailureKind.NOT_FOUND,
        413: FailureKind.CONTEXT,
    }
    if status in by_status:
        return Failure(by_status[status], status=status, words=words)
    if _TOO_LONG.search(exchange.text):
        return Failure(FailureKind.CONTEXT, status=status, words=words)
    if _FILTERED.search(exchange.text):
        return Failure(FailureKind.REFUSED, status=status, words=words)
    kind = FailureKind.UNREADABLE if status < 400 else FailureKind.BAD_REQUEST
    return Failure(kind, status=status, words=words)


def _unanswered(exchange: Exchange, error_name: str, *, demo: bool) -> Failure:
    if exchange.refused:
        return Failure(FailureKind.REFUSED_CONNECTION)
    if exchange.requests:
        return Failure(FailureKind.CONNECTION_LOST)
    # Nothing left this machine: LiteLLM refused the arguments, or the simulated model does not exist.
    words = (
        f"The request could not be made ({error_name})." if not demo else f"The simulated model failed ({error_name})."
    )
    return Failure(FailureKind.NOT_SENT, words=words)


def _code_of(exchange: Exchange) -> str:
    """The provider's short code, such as context_length_exceeded: letters and underscores can hold no secret."""
    body = exchange.json
    error = body.get("error") if isinstance(body, dict) else None
    codes = [error.get("code"), error.get("type")] if isinstance(error, dict) else []
    found = next((code for code in codes if isinstance(code, str) and len(code) <= 40 and _CODE.match(code)), "")
    return f"[{found}]" if found else ""
