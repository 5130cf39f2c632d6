"""The wire: exactly one request leaves for each `complete`, and what happens to it is watched here."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from django.utils import timezone

# What libraries add to a request from variables of the machine that nobody named here.
OF_THE_MACHINE = ("OpenAI-Organization", "OpenAI-Project")
LONGEST_RETRY_AFTER = 24 * 3600.0
PIECE_BYTES = 256 * 1024


@dataclass
class Exchange:
    """What happened on the wire during one `complete`. Lives as long as it; nothing of it is stored."""

    host: str = ""
    requests: int = 0
    refused: bool = False
    strayed_to: str = ""
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
    def error(self) -> Any:
        """What the provider calls the error, also inside a stream's first event; None when it names none."""
        text = self.body.strip()
        try:
            body = json.loads(text.removeprefix(b"data:").split(b"\n", 1)[0] if text.startswith(b"data:") else text)
        except ValueError:
            return None
        body = body[0] if isinstance(body, list) and body else body
        return body.get("error") if isinstance(body, dict) else None

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


under_way: ContextVar[Exchange | None] = ContextVar("under_way", default=None)
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


def _let_go(request: Any) -> None:
    """A hundred bodies that nobody will read again are 120 MB while their answers are awaited: each is let go piece by
    piece as it is sent, also by the request, which outlives it. Its length stays in its headers."""
    import httpx  # noqa: PLC0415

    class Passing(httpx.AsyncByteStream):
        def __init__(self, body: bytes) -> None:
            self.body = body

        async def __aiter__(self) -> AsyncIterator[bytes]:
            body, self.body = self.body, b""
            for at in range(0, len(body), PIECE_BYTES):
                yield body[at : at + PIECE_BYTES]

    if "Content-Length" not in request.headers or not hasattr(request, "_content"):
        return
    body = vars(request).pop("_content")
    if body:
        request.stream = Passing(body)
    else:
        request._content = body


@asynccontextmanager
async def session() -> AsyncIterator[None]:
    """Around all requests of one event loop: connections are shared within it and closed at its end."""
    loop = asyncio.get_running_loop()
    try:
        yield
    finally:
        for transport in _transports.pop(loop, []):
            await transport.aclose()


def guard_transports() -> None:
    """Every asynchronous client of LiteLLM gets its transport from one function; ours stands around what it gives."""
    import httpx  # noqa: PLC0415
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler  # noqa: PLC0415

    class Guard(httpx.AsyncBaseTransport):
        """Counts, watches, and ends everything that is not the one answer to the one request."""

        def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
            self.inner = inner

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            exchange = under_way.get()
            if exchange is None or exchange.requests:
                raise httpx.RequestError("Only one request may leave, and only from complete().")
            if request.url.host.lower() != exchange.host:
                exchange.strayed_to = request.url.host
                raise httpx.RequestError("The request would leave for another host.")
            exchange.requests += 1
            for name in OF_THE_MACHINE:
                request.headers.pop(name, None)
            _let_go(request)
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
