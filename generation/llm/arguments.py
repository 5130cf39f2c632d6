"""A request in LiteLLM's words."""

from typing import Any

from generation.llm.access import DEMO
from generation.llm.library import litellm
from generation.llm.terms import Request

CONNECT_SECONDS = 20.0


def arguments_of(request: Request, key: str) -> dict[str, Any]:
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
    schema = {
        "type": "json_schema",
        "json_schema": {"name": "drafts", "schema": dict(request.schema or {}), "strict": False},
    }
    if request.provider == DEMO or request.api_base:
        return {"response_format": schema}
    if litellm().supports_response_schema(model=request.model):
        return {"response_format": schema}
    if "response_format" in (litellm().get_supported_openai_params(model=request.model) or []):
        return {"response_format": {"type": "json_object"}}
    return {}
