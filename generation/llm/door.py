"""One request, one reply or one failure."""

import asyncio

from generation.llm.access import host_of, key_for
from generation.llm.arguments import arguments_of
from generation.llm.failures import Failure, FailureKind
from generation.llm.library import litellm
from generation.llm.reading import read_body, read_reply
from generation.llm.sorting import sort_failure
from generation.llm.terms import Reply, Request
from generation.llm.wire import Exchange, under_way


async def load() -> None:
    """Before the first request of a process, so that the seconds it takes are nobody's deadline and nobody's lease."""
    await asyncio.to_thread(litellm)


async def complete(request: Request) -> Reply:
    """Send one request and return its reply. Raises `Failure`, and nothing else that stems from the provider."""
    key = key_for(request)
    library = litellm()  # the first import takes seconds that are not the request's
    exchange = Exchange(host=host_of(request))
    token = under_way.set(exchange)
    try:
        async with asyncio.timeout(request.deadline):
            response = await library.acompletion(**arguments_of(request, key))
    except Exception as error:
        # Never chained: the text and the frames of the error may hold the key and the document.
        return _after(error, exchange, request)
    finally:
        under_way.reset(token)
    if exchange.is_page:
        raise Failure(FailureKind.GATEWAY_PAGE, status=exchange.status)
    return read_reply(response, exchange, request)


def _after(error: Exception, exchange: Exchange, request: Request) -> Reply:
    """The whole reply where it had come in spite of the error; otherwise the failure that the error is."""
    reply = read_body(exchange, request)
    if reply is not None:
        return reply
    if isinstance(error, Failure):
        raise error
    if isinstance(error, TimeoutError) and exchange.status is None:
        raise Failure(FailureKind.DEADLINE) from None
    raise sort_failure(exchange, type(error).__name__, request) from None
