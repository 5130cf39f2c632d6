"""LiteLLM itself, set up to do as little as possible, and the simulated models behind the same door."""

import asyncio
import logging
import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import orjson

from generation.llm.access import DEMO
from generation.llm.wire import guard_transports

MOST_CONNECTIONS = 100_000


_one_at_a_time = threading.Lock()


def litellm() -> Any:
    """The library. Threads that want it first at once wait for one of them to set it up: set up twice, every request
    would pass our watch on the wire twice, and count as lost."""
    with _one_at_a_time:
        return _set_up()


@cache
def _set_up() -> Any:
    """LiteLLM, set up to do as little as possible: no network at import, no logging of its own, no callbacks."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_LOG"] = "CRITICAL"
    # How many connections there are is decided by our own limits.
    os.environ["AIOHTTP_CONNECTOR_LIMIT"] = os.environ["AIOHTTP_CONNECTOR_LIMIT_PER_HOST"] = str(MOST_CONNECTIONS)
    import litellm  # noqa: PLC0415 -- 4 seconds and 200 MB that the web process never pays

    # Below this level they write whole requests and replies.
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "httpcore"):
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
    guard_transports()
    _end_logging()
    _end_reckoning(litellm)
    _write_json_once()
    _register_demo(litellm)
    return litellm


def _end_logging() -> None:
    """Each call would leave a job, with its messages, to a task that outlives the loop; there are no callbacks that it
    could serve. It is closed instead of queued, so no such task begins."""
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER  # noqa: PLC0415

    def drop(async_coroutine: Any) -> None:
        async_coroutine.close()

    setattr(GLOBAL_LOGGING_WORKER, "ensure_initialized_and_enqueue", drop)  # noqa: B010 -- mypy minds the plain form


def _end_reckoning(litellm: Any) -> None:
    """What a call cost and took we reckon ourselves; LiteLLM's own reckoning was two milliseconds of each call."""
    litellm.utils.update_response_metadata = lambda *args, **more: None


def _write_json_once() -> None:
    """A body of 256k tokens takes Python's own writer five times as long, and stands in memory twice meanwhile. What is
    beyond orjson goes the old way."""
    from openai import _base_client  # noqa: PLC0415

    slowly = _base_client.openapi_dumps

    def dumps(body: Any) -> bytes:
        try:
            return orjson.dumps(body)
        except TypeError:
            return slowly(body)

    setattr(_base_client, "openapi_dumps", dumps)  # noqa: B010 -- mypy minds the plain form


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
