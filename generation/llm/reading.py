"""Reading what came back: text, thoughts, and the figures that are paid for."""

from collections.abc import Mapping
from typing import Any

from generation.llm.terms import Reply, Request, Usage
from generation.llm.wire import Exchange


def read_reply(response: Any, exchange: Exchange, request: Request) -> Reply:
    """As LiteLLM read it; the figures as the provider gave them, where it speaks OpenAI's language: LiteLLM fills in
    what is missing without saying so."""
    choices = getattr(response, "choices", None) or []
    choice = choices[0] if choices else None
    message = getattr(choice, "message", None)
    content = getattr(message, "content", None)
    reasoning = getattr(message, "reasoning_content", None) or ""
    body = exchange.openai_body
    usage = getattr(response, "usage", None)
    given = (
        (getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None))
        if body is None
        else _figures(body)
    )
    served = (body or {}).get("model") or getattr(response, "model", "") or ""
    return Reply(
        content=content if isinstance(content, str) else None,
        reasoning=str(reasoning),
        finish_reason=str(getattr(choice, "finish_reason", "") or ""),
        served_model=str(served)[:200],
        usage=_usage(given[0], given[1], request, f"{content or ''}{reasoning}"),
    )


def _figures(body: Mapping[str, Any]) -> tuple[object, object]:
    usage = body.get("usage")
    return (usage.get("prompt_tokens"), usage.get("completion_tokens")) if isinstance(usage, dict) else (None, None)


def salvage(exchange: Exchange, request: Request) -> Reply | None:
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


def _usage(tokens_in: object, tokens_out: object, request: Request, replied: str) -> Usage:
    """The provider's figures where they are whole positive numbers; otherwise an estimate that says so."""
    given_in, given_out = _count(tokens_in, least=1), _count(tokens_out, least=1 if replied.strip() else 0)
    if given_in is not None and given_out is not None:
        return Usage(given_in, given_out)
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
