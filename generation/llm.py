"""The one door to models. Nothing else imports LiteLLM, and it is imported when the first request leaves, never before.

`complete` makes exactly one HTTP request or none: no retry, no redirect, no callback. It ends within the request's own
deadline. It returns a `Reply`, whatever the reply is worth (generation.replies reads it), or raises a `Failure` from
the table below. A failure carries our own words and the provider's status: what a provider writes may repeat the key
and the prompt, so it is looked at here and then forgotten.
"""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from enum import StrEnum
from functools import cache
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

CONNECT_SECONDS = 20.0
MOST_CONNECTIONS = 100_000
LONGEST_RETRY_AFTER = 24 * 3600.0
KEY_NAME = re.compile(r"^[A-Z][A-Z0-9_]{0,79}$")

# Reached at an address that LiteLLM knows, or at one a lead gives. Providers that find credentials on the machine by
# themselves (cloud accounts) are left out on purpose.
KNOWN_PROVIDERS = frozenset(
    {
        "anthropic",
        "deepinfra",
        "deepseek",
        "fireworks_ai",
        "gemini",
        "minimax",
        "mistral",
        "nebius",
        "novita",
        "openai",
        "vercel_ai_gateway",
        "zai",
    }
)
# Servers with the same interface as OpenAI's; they live at an address of the operator's list.
COMPATIBLE_PROVIDERS = frozenset({"hosted_vllm"})
DEMO = "demo"


class Fate(StrEnum):
    """What a failure means for the call: nothing happened and it may be sent again, it is over, or nobody can know."""

    RETRY = "retry"
    FINAL = "final"
    UNKNOWN = "unknown"


class FailureKind(StrEnum):
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    REFUSED_CONNECTION = "refused_connection"
    GATEWAY_PAGE = "gateway_page"
    DEADLINE = "deadline"
    CONNECTION_LOST = "connection_lost"
    UNEXPECTED = "unexpected"
    CONTEXT = "context"
    BAD_REQUEST = "bad_request"
    REFUSED = "refused"
    AUTH = "auth"
    NO_CREDIT = "no_credit"
    NOT_FOUND = "not_found"
    REDIRECTED = "redirected"
    UNREADABLE = "unreadable"
    NOT_SENT = "not_sent"


_TABLE: Mapping[FailureKind, tuple[Fate, str]] = {
    FailureKind.RATE_LIMITED: (Fate.RETRY, "The provider asks to wait: too many requests."),
    FailureKind.SERVER_ERROR: (Fate.RETRY, "The provider failed."),
    FailureKind.REFUSED_CONNECTION: (Fate.RETRY, "The provider could not be reached; nothing was sent."),
    FailureKind.GATEWAY_PAGE: (Fate.RETRY, "A web page came instead of a reply."),
    FailureKind.DEADLINE: (Fate.UNKNOWN, "No reply within the deadline; it may have been billed."),
    FailureKind.CONNECTION_LOST: (Fate.UNKNOWN, "The connection was lost before the reply; it may have been billed."),
    FailureKind.UNEXPECTED: (Fate.UNKNOWN, "Something unforeseen happened after the request; it may have been billed."),
    FailureKind.CONTEXT: (Fate.FINAL, "The input is too long for this model."),
    FailureKind.BAD_REQUEST: (Fate.FINAL, "The provider refused the request as malformed."),
    FailureKind.REFUSED: (Fate.FINAL, "The provider's filter refused the request."),
    FailureKind.AUTH: (Fate.FINAL, "The provider refused the key."),
    FailureKind.NO_CREDIT: (Fate.FINAL, "The account at the provider has no credit."),
    FailureKind.NOT_FOUND: (Fate.FINAL, "The provider does not know this model or address."),
    FailureKind.REDIRECTED: (Fate.FINAL, "The address redirects elsewhere; redirects are not followed."),
    FailureKind.UNREADABLE: (Fate.FINAL, "What came back cannot be read as a reply."),
    FailureKind.NOT_SENT: (Fate.FINAL, "The request was not sent."),
}
# One bad key must not become a storm of refused requests.
PAUSES_THE_MODEL = frozenset({FailureKind.AUTH, FailureKind.NO_CREDIT})


class Failure(Exception):
    """No reply. `words` is ours and safe to store; `status` is the provider's, if it answered at all."""

    def __init__(
        self, kind: FailureKind, *, status: int | None = None, words: str = "", retry_after: float | None = None
    ) -> None:
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.words = " ".join(part for part in (_TABLE[kind][1], words, f"(HTTP {status})" if status else "") if part)
        super().__init__(self.words)

    @property
    def fate(self) -> Fate:
        return _TABLE[self.kind][0]

    @property
    def pauses_the_model(self) -> bool:
        return self.kind in PAUSES_THE_MODEL


@dataclass(frozen=True)
class Request:
    """Everything one request needs. `thinking` switches thinking on where a model can do both; None leaves it alone."""

    model: str
    messages: Sequence[Mapping[str, str]] = field(repr=False)
    deadline: float
    api_base: str = ""
    key_variable: str = ""
    max_tokens: int | None = None
    temperature: float | None = None
    thinking: bool | None = None
    schema: Mapping[str, Any] | None = field(default=None, repr=False)
    seed: int | None = None

    @property
    def provider(self) -> str:
        return provider_of(self.model)


@dataclass(frozen=True)
class Usage:
    tokens_in: int
    tokens_out: int
    estimated: bool = False
    # Of the tokens in, those that the provider read from its cache.
    tokens_cached: int = 0


@dataclass(frozen=True)
class Reply:
    content: str | None = field(repr=False)
    reasoning: str = field(repr=False)
    finish_reason: str
    served_model: str
    usage: Usage


def provider_of(model: str) -> str:
    """The part before the first slash; a bare id is OpenAI's."""
    return model.partition("/")[0] if "/" in model else "openai"


# --- what may be reached, and with which key -------------------------------------------------------------------------


def address_fault(api_base: str) -> str:
    """Why this address may not be used; empty when it may. Only the operator's list decides."""
    try:
        parts = urlsplit(api_base)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "not_an_address"
    if parts.scheme not in {"http", "https"} or not host or parts.username or parts.password:
        return "not_an_address"
    allowed = {entry.strip().lower() for entry in settings.LBP_MODEL_HOSTS}
    return "" if host in allowed or f"{host}:{port}" in allowed else "host_not_allowed"


def is_key_variable(name: str) -> bool:
    return bool(KEY_NAME.match(name)) and name.startswith(settings.LBP_KEY_PREFIX) and name != settings.LBP_KEY_PREFIX


def _check(request: Request) -> str:
    """The key to send, after everything that can be refused before a request was refused."""
    if request.provider == DEMO:
        return "none"
    if request.provider not in KNOWN_PROVIDERS | COMPATIBLE_PROVIDERS:
        raise Failure(FailureKind.NOT_SENT, words="This provider is not on the list.")
    if not request.api_base and request.provider in COMPATIBLE_PROVIDERS:
        raise Failure(FailureKind.NOT_SENT, words="This provider needs an address.")
    if request.api_base and address_fault(request.api_base):
        raise Failure(FailureKind.NOT_SENT, words="The address is not on the operator's list (LBP_MODEL_HOSTS).")
    if not request.key_variable:
        # A word of our own, or LiteLLM would look for a key of this machine and send that.
        return "no-key"
    if not is_key_variable(request.key_variable):
        raise Failure(FailureKind.NOT_SENT, words=f"The key's variable must begin with {settings.LBP_KEY_PREFIX}.")
    key = os.environ.get(request.key_variable, "")
    if not key:
        raise Failure(FailureKind.AUTH, words=f"The variable {request.key_variable} is not set; nothing was sent.")
    return key


# --- the request -----------------------------------------------------------------------------------------------------


async def complete(request: Request) -> Reply:
    """Send one request and return its reply. Raises `Failure`, and nothing else that stems from the provider."""
    key = _check(request)
    litellm = _litellm()
    exchange = _Exchange()
    token = _exchange.set(exchange)
    try:
        async with asyncio.timeout(request.deadline):
            response = await litellm.acompletion(**_arguments(request, key))
    except TimeoutError:
        raise Failure(FailureKind.DEADLINE) from None
    except Exception as error:
        # Never chained: the text and the frames of the error may hold the key and the document.
        salvaged = _salvage(exchange, request)
        if salvaged is not None:
            return salvaged
        raise _classify(exchange, type(error).__name__, demo=request.provider == DEMO) from None
    finally:
        _exchange.reset(token)
    if exchange.is_page:
        raise Failure(FailureKind.GATEWAY_PAGE, status=exchange.status)
    return _reply(response, exchange, request)


def _arguments(request: Request, key: str) -> dict[str, Any]:
    import httpx  # noqa: PLC0415 -- only where requests are made

    arguments: dict[str, Any] = {
        "model": request.model,
        "messages": [dict(message) for message in request.messages],
        "api_key": key,
        "timeout": httpx.Timeout(request.deadline + 30, connect=min(CONNECT_SECONDS, request.deadline + 30)),
        "max_retries": 0,
        "stream": False,
        "caching": False,
    }
    if request.api_base:
        arguments["api_base"] = request.api_base
    if request.max_tokens is not None:
        arguments["max_tokens"] = request.max_tokens
    if request.temperature is not None:
        arguments["temperature"] = request.temperature
    if request.seed is not None:
        arguments["seed"] = request.seed
    if request.thinking is not None and request.provider != DEMO:
        arguments.update(_thinking(request))
    if request.schema is not None:
        arguments.update(_response_format(request))
    return arguments


def _thinking(request: Request) -> dict[str, Any]:
    """How thinking is switched on or off at this provider."""
    if request.provider == "anthropic":
        if not request.thinking:
            return {}
        budget = max(1024, (request.max_tokens or 32768) - 4096)
        return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    if request.provider in {"deepseek", "zai"}:
        return {"thinking": {"type": "enabled" if request.thinking else "disabled"}}
    return {"extra_body": {"chat_template_kwargs": {"enable_thinking": request.thinking}}}


def _response_format(request: Request) -> dict[str, Any]:
    """The schema where the model takes one, plain JSON mode where it takes that, otherwise nothing."""
    litellm = _litellm()
    schema = {
        "type": "json_schema",
        "json_schema": {"name": "drafts", "schema": dict(request.schema or {}), "strict": False},
    }
    if request.provider == DEMO or request.api_base:
        return {"response_format": schema}
    if litellm.supports_response_schema(model=request.model):
        return {"response_format": schema}
    if "response_format" in (litellm.get_supported_openai_params(model=request.model) or []):
        return {"response_format": {"type": "json_object"}}
    return {}


# --- reading what came back ------------------------------------------------------------------------------------------


def _reply(response: Any, exchange: "_Exchange", request: Request) -> Reply:
    """As LiteLLM read it; the figures as the provider gave them, where it speaks OpenAI's language: LiteLLM fills in
    what is missing without saying so."""
    choices = getattr(response, "choices", None) or []
    choice = choices[0] if choices else None
    message = getattr(choice, "message", None)
    content = getattr(message, "content", None)
    reasoning = getattr(message, "reasoning_content", None) or ""
    body = exchange.openai_body
    usage = getattr(response, "usage", None)
    given: tuple[object, object, object] = (
        (getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None), _cached(usage))
        if body is None
        else _figures(body)
    )
    served = (body or {}).get("model") or getattr(response, "model", "") or ""
    return Reply(
        content=content if isinstance(content, str) else None,
        reasoning=str(reasoning),
        finish_reason=str(getattr(choice, "finish_reason", "") or ""),
        served_model=str(served)[:200],
        usage=_usage(*given, request, f"{content or ''}{reasoning}"),
    )


def _figures(body: Mapping[str, Any]) -> tuple[object, object, object]:
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return None, None, None
    return usage.get("prompt_tokens"), usage.get("completion_tokens"), _cached(usage)


def _cached(usage: object) -> object:
    """How many of the tokens in came from the provider's cache: in OpenAI's place, where LiteLLM puts Gemini's and
    Anthropic's figure too; or under DeepSeek's or Anthropic's own name."""

    def part(of: object, name: str) -> object:
        return of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)

    named = (part(usage, "prompt_cache_hit_tokens"), part(usage, "cache_read_input_tokens"))
    found = (part(part(usage, "prompt_tokens_details"), "cached_tokens"), *named)
    return next((value for value in found if value is not None), None)


def _salvage(exchange: "_Exchange", request: Request) -> Reply | None:
    """A reply in OpenAI's form over which LiteLLM stumbled: a paid reply must not be lost to an odd field beside it."""
    body = exchange.openai_body
    if body is None:
        return None
    choice = body["choices"][0] if body["choices"] else {}
    message = choice.get("message") if isinstance(choice, dict) else None
    if body["choices"] and not isinstance(message, dict):
        return None
    message = message or {}
    content = message.get("content")
    reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
    return Reply(
        content=content if isinstance(content, str) else None,
        reasoning=reasoning if isinstance(reasoning, str) else "",
        finish_reason=str(choice.get("finish_reason") or ""),
        served_model=str(body.get("model") or "")[:200],
        usage=_usage(*_figures(body), request, f"{content or ''}{reasoning}"),
    )


def _usage(tokens_in: object, tokens_out: object, cached: object, request: Request, replied: str) -> Usage:
    """The provider's figures where they are whole positive numbers; otherwise an estimate that says so."""
    given_in, given_out = _count(tokens_in, least=1), _count(tokens_out, least=1 if replied.strip() else 0)
    if given_in is not None and given_out is not None:
        return Usage(given_in, given_out, tokens_cached=min(_count(cached, least=0) or 0, given_in))
    sent = sum(rough_tokens(str(message.get("content", ""))) for message in request.messages)
    return Usage(
        given_in if given_in is not None else sent,
        given_out if given_out is not None else rough_tokens(replied),
        estimated=True,
    )


def _count(value: object, *, least: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if least <= value <= 100_000_000 else None


def rough_tokens(text: str) -> int:
    """About four bytes of Latin script, or one and a half Chinese characters, make a token."""
    wide = (len(text.encode("utf-8", "surrogatepass")) - len(text)) // 2
    return round(wide / 1.5 + max(0, len(text) - wide) / 4)


# --- what went wrong -------------------------------------------------------------------------------------------------

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


def _classify(exchange: "_Exchange", error_name: str, *, demo: bool) -> Failure:
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


def _unanswered(exchange: "_Exchange", error_name: str, *, demo: bool) -> Failure:
    if exchange.refused:
        return Failure(FailureKind.REFUSED_CONNECTION)
    if exchange.requests:
        return Failure(FailureKind.CONNECTION_LOST)
    # Nothing left this machine: LiteLLM refused the arguments, or the simulated model does not exist.
    words = (
        f"The request could not be made ({error_name})." if not demo else f"The simulated model failed ({error_name})."
    )
    return Failure(FailureKind.NOT_SENT, words=words)


def _code_of(exchange: "_Exchange") -> str:
    """The provider's short code, such as context_length_exceeded: letters and underscores can hold no secret."""
    body = exchange.json
    error = body.get("error") if isinstance(body, dict) else None
    codes = [error.get("code"), error.get("type")] if isinstance(error, dict) else []
    found = next((code for code in codes if isinstance(code, str) and len(code) <= 40 and _CODE.match(code)), "")
    return f"[{found}]" if found else ""


# --- one exchange with one server ------------------------------------------------------------------------------------


@dataclass
class _Exchange:
    """What happened on the wire during one `complete`. Lives as long as it; nothing of it is stored."""

    requests: int = 0
    refused: bool = False
    status: int | None = None
    content_type: str = ""
    retry_after: float | None = None
    body: bytes = field(default=b"", repr=False)

    @property
    def text(self) -> str:
        return self.body[:20_000].decode("utf-8", "replace")

    @property
    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def openai_body(self) -> dict[str, Any] | None:
        """The body of a reply in OpenAI's form; None for errors and for providers with a form of their own."""
        body = self.json if self.status == 200 else None
        if not isinstance(body, dict) or not isinstance(body.get("choices"), list) or body.get("error"):
            return None
        return body

    @property
    def is_page(self) -> bool:
        return "html" in self.content_type or self.body[:200].lstrip().lower().startswith((b"<!doctype", b"<html"))


_setting_up = Lock()
_exchange: ContextVar[_Exchange | None] = ContextVar("exchange", default=None)
_transports: dict[asyncio.AbstractEventLoop, list[Any]] = {}


def _retry_after(value: str) -> float | None:
    """Seconds, or an HTTP date."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - timezone.now()).total_seconds()
        except (ValueError, TypeError):
            return None
    return min(max(0.0, seconds), LONGEST_RETRY_AFTER) if seconds == seconds else None


async def load() -> None:
    """Before the first request of a process, so that the seconds it takes are nobody's deadline and nobody's lease."""
    await asyncio.to_thread(_litellm)


@asynccontextmanager
async def session() -> AsyncIterator[None]:
    """Around all requests of one event loop: connections are shared within it and closed at its end."""
    loop = asyncio.get_running_loop()
    try:
        yield
    finally:
        for transport in _transports.pop(loop, []):
            await transport.aclose()


def _litellm() -> Any:
    """LiteLLM, ready. Several threads may ask first at the same time; it is set up once."""
    with _setting_up:
        return _set_up()


@cache
def _set_up() -> Any:
    """LiteLLM, set up to do as little as possible: no network at import, no logging of its own, no callbacks."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_LOG", "CRITICAL")
    # How many connections there are is decided by our own limits.
    os.environ["AIOHTTP_CONNECTOR_LIMIT"] = os.environ["AIOHTTP_CONNECTOR_LIMIT_PER_HOST"] = str(MOST_CONNECTIONS)
    import logging  # noqa: PLC0415
    import warnings  # noqa: PLC0415

    import litellm  # noqa: PLC0415 -- 4 seconds and 200 MB that the web process never pays

    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    # A warning about an odd field would print what is in it.
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.turn_off_message_logging = True
    litellm.drop_params = False
    litellm.num_retries = None
    litellm.cache = None
    litellm.callbacks, litellm.success_callback, litellm.failure_callback = [], [], []
    _guard_transports()
    _end_logging()
    _register_demo(litellm)
    return litellm


def _end_logging() -> None:
    """Each call would leave a job, with its messages, to a task that outlives the loop; there are no callbacks that it
    could serve. It is closed instead of queued, so no such task begins."""
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER  # noqa: PLC0415

    def drop(async_coroutine: Any) -> None:
        async_coroutine.close()

    setattr(GLOBAL_LOGGING_WORKER, "ensure_initialized_and_enqueue", drop)  # noqa: B010 -- as above


def _guard_transports() -> None:
    """Every asynchronous client of LiteLLM gets its transport from one function; ours stands around what it gives."""
    import httpx  # noqa: PLC0415
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler  # noqa: PLC0415

    class Guard(httpx.AsyncBaseTransport):
        """Counts, watches, and ends everything that is not the one answer to the one request."""

        def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
            self.inner = inner

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            exchange = _exchange.get()
            if exchange is None or exchange.requests:
                raise httpx.RequestError("Only one request may leave, and only from complete().")
            exchange.requests += 1
            try:
                response = await self.inner.handle_async_request(request)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                exchange.refused = True
                raise
            exchange.content_type = response.headers.get("Content-Type", "").lower()
            exchange.retry_after = _retry_after(response.headers.get("Retry-After", ""))
            if response.is_redirect:
                exchange.status = response.status_code
                await response.aclose()
                raise httpx.RequestError("Redirects are not followed.")
            exchange.body = await response.aread()
            exchange.status = response.status_code
            return response

        async def aclose(self) -> None:
            await self.inner.aclose()

    made = AsyncHTTPHandler.create_async_transport

    def guarded(*args: Any, **more: Any) -> httpx.AsyncBaseTransport:
        guard = Guard(made(*args, **more) or httpx.AsyncHTTPTransport())
        _transports.setdefault(asyncio.get_running_loop(), []).append(guard)
        return guard

    setattr(AsyncHTTPHandler, "create_async_transport", staticmethod(guarded))  # noqa: B010 -- mypy minds the plain form


def _register_demo(litellm: Any) -> None:
    """The simulated models stand behind the same door, as a provider of LiteLLM."""
    from generation import demo  # noqa: PLC0415

    class Demo(litellm.CustomLLM):
        def completion(self, *args: Any, **more: Any) -> Any:
            return _as_response(litellm, _ask_demo(demo, *args, **more))

        async def acompletion(self, *args: Any, **more: Any) -> Any:
            return _as_response(litellm, await asyncio.to_thread(_ask_demo, demo, *args, **more))

    litellm.custom_provider_map = [{"provider": DEMO, "custom_handler": Demo()}]
    litellm.utils.custom_llm_setup()


def _ask_demo(demo: Any, *, model: str, messages: Sequence[Mapping[str, object]], **more: Any) -> tuple[str, Any]:
    given = more.get("optional_params") or {}
    return model, demo.answer(
        model=f"{DEMO}/{model}" if not model.startswith(f"{DEMO}/") else model,
        messages=messages,
        response_format=given.get("response_format"),
        temperature=given.get("temperature"),
        seed=given.get("seed"),
    )


def _as_response(litellm: Any, answered: tuple[str, Any]) -> Any:
    model, reply = answered
    return litellm.ModelResponse(
        model=f"{DEMO}/{model.removeprefix(f'{DEMO}/')}",
        choices=[
            {
                "index": 0,
                "finish_reason": reply.finish_reason,
                "message": {"role": "assistant", "content": reply.content, "reasoning_content": reply.reasoning},
            }
        ],
        usage={
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        },
    )
