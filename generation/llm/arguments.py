"""A request in LiteLLM's words. What is said here of thinking and of form is tried on the wire for every provider."""

from collections.abc import Callable, Mapping
from typing import Any

from generation.llm.access import DEMO
from generation.llm.failures import Failure, FailureKind
from generation.llm.library import litellm
from generation.llm.terms import Request
from generation.workflow import Structured

CONNECT_SECONDS = 20.0
# With these LiteLLM drops `max_retries`, and its client would sleep through Retry-After by itself.
DROP_MAX_RETRIES = frozenset({"deepinfra", "zai"})
# Kept free of thoughts for the answer, and the least that Anthropic takes for thoughts.
ROOM_FOR_THE_ANSWER = 4096
LEAST_BUDGET = 1024
USUAL_OUTPUT = 32_768


def arguments_of(request: Request, key: str) -> dict[str, Any]:
    """Everything for `litellm.acompletion`. Raises Failure (nothing was sent) where the parts contradict each other."""
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
    if request.provider in DROP_MAX_RETRIES:
        arguments["allowed_openai_params"] = ["max_retries"]
    if request.api_base:
        arguments["api_base"] = request.api_base
    for name in ("max_tokens", "temperature", "seed"):
        if getattr(request, name) is not None:
            arguments[name] = getattr(request, name)
    if request.thinking is not None and request.provider != DEMO:
        arguments.update(_thinking(request, on=request.thinking))
    if request.schema is not None:
        arguments.update(_form(request))
    return arguments


# --- thinking --------------------------------------------------------------------------------------------------------


def _by_type(request: Request, on: bool) -> dict[str, Any]:
    return {"thinking": {"type": "enabled" if on else "disabled"}}


def _by_budget(request: Request, on: bool) -> dict[str, Any]:
    """Anthropic and Gemini count thoughts into the output limit."""
    return {"thinking": {"type": "enabled", "budget_tokens": _budget(request)}} if on else _by_type(request, on)


def _gemini(request: Request, on: bool) -> dict[str, Any]:
    return _by_budget(request, on) if on else {"reasoning_effort": "none"}


def _by_effort(request: Request, on: bool) -> dict[str, Any]:
    return {"reasoning_effort": "medium" if on else "none"}


def _vercel(request: Request, on: bool) -> dict[str, Any]:
    return {"extra_body": {"reasoning": {"enabled": on}}}


def _novita(request: Request, on: bool) -> dict[str, Any]:
    return {"extra_body": {"enable_thinking": on}}


def _by_template(request: Request, on: bool) -> dict[str, Any]:
    """vLLM, SGLang and their like: what the model's own chat template reads; Qwen, GLM: the first, DeepSeek: the
    second."""
    return {"extra_body": {"chat_template_kwargs": {"enable_thinking": on, "thinking": on}}}


def _no_switch(request: Request, on: bool) -> dict[str, Any]:
    """The provider has none, or LiteLLM would write words of its own into the prompt (Mistral)."""
    return {}


# Of deepinfra, nebius, novita and vercel_ai_gateway from their documentation alone: nobody has yet seen a model of
# theirs follow its switch (README, Deployment, tells operators).
_SWITCHES: Mapping[str, Callable[[Request, bool], dict[str, Any]]] = {
    "anthropic": _by_budget,
    "deepinfra": _by_template,
    "deepseek": _by_type,
    "fireworks_ai": _by_effort,
    "gemini": _gemini,
    "minimax": _no_switch,
    "mistral": _no_switch,
    "nebius": _by_template,
    "novita": _novita,
    "openai": _by_effort,
    "vercel_ai_gateway": _vercel,
    "zai": _by_type,
}


def _thinking(request: Request, *, on: bool) -> dict[str, Any]:
    """How thinking is switched at this provider; a server at an address of its own reads the chat template's words."""
    if request.api_base and request.provider in {"openai", "hosted_vllm"}:
        return _by_template(request, on)
    return _SWITCHES.get(request.provider, _by_template)(request, on)


def _budget(request: Request) -> int:
    limit = request.max_tokens or USUAL_OUTPUT
    if limit <= LEAST_BUDGET:
        raise Failure(FailureKind.NOT_SENT, words="The output limit leaves no room for thinking and an answer.")
    return max(LEAST_BUDGET, limit - max(ROOM_FOR_THE_ANSWER, limit // 8))


# --- the form of the reply -------------------------------------------------------------------------------------------


def _form(request: Request) -> dict[str, Any]:
    """The schema where the model takes one, plain JSON mode where it takes that, otherwise nothing."""
    mode = _mode(request)
    if mode == Structured.NONE:
        return {}
    form: dict[str, Any] = {"type": "json_object"}
    if mode == Structured.SCHEMA:
        schema = {"name": "drafts", "schema": dict(request.schema or {}), "strict": False}
        form = {"type": "json_schema", "json_schema": schema}
    return {} if _becomes_a_tool(request, form) else {"response_format": form}


def _mode(request: Request) -> Structured:
    """`auto` decided; and a schema lowered to plain JSON where LiteLLM would write it into the messages instead."""
    mode = Structured(request.structured)
    if mode == Structured.AUTO:
        mode = _known(request)
    return Structured.OBJECT if mode == Structured.SCHEMA and request.provider == "zai" else mode


def _known(request: Request) -> Structured:
    if request.provider == DEMO or request.api_base:
        return Structured.SCHEMA
    if litellm().supports_response_schema(model=request.model):
        return Structured.SCHEMA
    known = litellm().get_supported_openai_params(model=request.model) or []
    return Structured.OBJECT if "response_format" in known else Structured.NONE


def _becomes_a_tool(request: Request, form: Mapping[str, Any]) -> bool:
    """Models get no tools: where LiteLLM would make the form one (older models of Anthropic), words must do."""
    if request.provider != "anthropic":
        return False
    name = request.model.partition("/")[2]
    mapped = litellm().get_optional_params(model=name, custom_llm_provider=request.provider, response_format=dict(form))
    return "tools" in mapped
