"""Sorting what went wrong by our own table: a library's classes of errors change from release to release."""

import re

from generation.llm.access import DEMO
from generation.llm.failures import Failure, FailureKind
from generation.llm.terms import Request
from generation.llm.wire import Exchange

_TOO_LONG = re.compile(
    r"context[_ ](?:length|window|limit|size)|maximum context|max(?:imum)?[_ ](?:input|prompt|model)[_ ](?:tokens?|len)"
    r"|(?:prompt|input|request|message)s? (?:is|are|was|were)? ?too (?:long|large)|too many (?:input )?tokens"
    r"|(?:tokens?|input|prompt)[^.]{0,60}exceeds?|exceed(?:s|ed)?[^.]{0,60}(?:token|context|input length|limit of)"
    r"|reduce the length|input length|longer than the model|string too long|range of input",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content[_ ](?:filter|policy|management)|safety|moderation|data_inspection", re.IGNORECASE)
_OVER_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|balance|credit)|credit balance|out of credit|payment required|billing", re.IGNORECASE
)
# A quota by the minute or the day comes back by itself, even where its words name the billing page.
_PACED = re.compile(r'"retryDelay"|per[ _]?(?:minute|day)|rate[_ ]limit', re.IGNORECASE)
_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d{1,5}(?:\.\d+)?)s"')
_FORM = re.compile(
    r"response_format|json_schema|json_object|response_schema|output_format|guided_(?:json|decoding)|structured output",
    re.IGNORECASE,
)
_CODE = re.compile(r"^[a-z]+(?:_[a-z]+){1,5}$")
_BY_STATUS = {
    401: FailureKind.AUTH,
    402: FailureKind.NO_CREDIT,
    403: FailureKind.AUTH,
    404: FailureKind.NOT_FOUND,
    413: FailureKind.CONTEXT,
}


def sort_failure(exchange: Exchange, error_name: str, request: Request) -> Failure:
    """By status and body where the provider answered, by what the connection did where it did not."""
    status = exchange.status
    if status is None:
        return _unanswered(exchange, error_name, request)
    if exchange.is_page and status in {200, 201, 202}:
        return Failure(FailureKind.GATEWAY_PAGE, status=status)
    status = _stated(exchange) or status
    kind = _kind_of(exchange, status, request)
    retry_after = _retry_after(exchange) if kind in {FailureKind.RATE_LIMITED, FailureKind.SERVER_ERROR} else None
    return Failure(kind, status=status, words=_code_of(exchange), retry_after=retry_after)


def _kind_of(exchange: Exchange, status: int, request: Request) -> FailureKind:
    text = "" if exchange.is_page else exchange.text
    if 300 <= status < 400:
        return FailureKind.REDIRECTED
    if status == 429:
        return _of_too_many(text)
    if status == 500 and _TOO_LONG.search(text):
        return FailureKind.CONTEXT  # some servers call it their own failure; sent again it would fail again
    if status >= 500 or status == 408:
        return FailureKind.SERVER_ERROR
    if status == 403 and _FILTERED.search(_code_of(exchange)):
        return FailureKind.REFUSED
    return _BY_STATUS.get(status) or _of_bad_request(text, status, request)


def _of_too_many(text: str) -> FailureKind:
    if re.search(r"request too large", text, re.IGNORECASE):
        return FailureKind.CONTEXT  # larger than what a whole minute allows: waiting is of no use
    over = re.search(r"insufficient[_ ](?:quota|balance|credit)", text, re.IGNORECASE)
    if over or (_OVER_QUOTA.search(text) and not _PACED.search(text)):
        return FailureKind.NO_CREDIT
    return FailureKind.RATE_LIMITED


def _of_bad_request(text: str, status: int, request: Request) -> FailureKind:
    if _TOO_LONG.search(text):
        return FailureKind.CONTEXT
    if request.schema is not None and _FORM.search(text):
        return FailureKind.FORM_REFUSED
    if re.search(r"credit balance|insufficient[_ ](?:balance|credit)", text, re.IGNORECASE):
        return FailureKind.NO_CREDIT
    if _FILTERED.search(text):
        return FailureKind.REFUSED
    return FailureKind.UNREADABLE if status < 400 else FailureKind.BAD_REQUEST


def _unanswered(exchange: Exchange, error_name: str, request: Request) -> Failure:
    if exchange.refused:
        return Failure(FailureKind.REFUSED_CONNECTION)
    if exchange.requests:
        return Failure(FailureKind.CONNECTION_LOST)
    if exchange.strayed_to:
        words = f"It would have left for {exchange.strayed_to[:100]}, not for the provider's host."
        return Failure(FailureKind.NOT_SENT, words=words)
    # Nothing left this machine: LiteLLM refused the arguments, or the simulated model does not exist.
    if request.provider == DEMO:
        return Failure(FailureKind.NOT_SENT, words=f"The simulated model failed ({error_name}).")
    if error_name == "UnsupportedParamsError":
        words = "The model does not take one of its parameters: the temperature, the output limit or the thinking mode."
        return Failure(FailureKind.NOT_SENT, words=words)
    return Failure(FailureKind.NOT_SENT, words=f"The request could not be made ({error_name}).")


def _stated(exchange: Exchange) -> int | None:
    """The status that an error inside a reply with status 200 gives itself."""
    error = exchange.error if exchange.status == 200 else None
    codes = [error.get(name) for name in ("code", "status", "http_code")] if isinstance(error, dict) else []
    return next((code for code in codes if isinstance(code, int) and 400 <= code < 600), None)


def _retry_after(exchange: Exchange) -> float | None:
    """The header, else Google's field in the body, in seconds."""
    delay = _DELAY.search(exchange.text)
    return float(delay.group(1)) if exchange.retry_after is None and delay else exchange.retry_after


def _code_of(exchange: Exchange) -> str:
    """The provider's short code, such as context_length_exceeded: letters and underscores can hold no secret."""
    error = exchange.error
    codes = [error.get("code"), error.get("type")] if isinstance(error, dict) else []
    found = next((code for code in codes if isinstance(code, str) and len(code) <= 40 and _CODE.match(code)), "")
    return f"[{found}]" if found else ""
