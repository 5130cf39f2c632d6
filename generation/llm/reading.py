"""Reading what came back: text, thoughts, and the figures that are paid for.

A reply in OpenAI's form is read here, from its own bytes: LiteLLM fills in what is missing without saying so. The
dialects: thoughts in `reasoning_content`, `reasoning` or `reasoning_details`, in parts of a content that is a list, or
in the content itself between <think> and </think>, the first of which some chat templates put into the prompt.
"""

import re
from collections.abc import Mapping
from typing import Any

from generation.llm.terms import Reply, Request, Usage
from generation.llm.wire import Exchange


def read_reply(response: Any, exchange: Exchange, request: Request) -> Reply:
    """From the body where it is OpenAI's, else as LiteLLM translated it."""
    own = read_body(exchange, request)
    if own is not None:
        return own
    choices = getattr(response, "choices", None) or []
    message = getattr(choices[0], "message", None) if choices else None
    content, reasoning = _apart(getattr(message, "content", None), getattr(message, "reasoning_content", None) or "")
    usage = getattr(response, "usage", None)
    return Reply(
        content=content,
        reasoning=reasoning,
        finish_reason=str(getattr(choices[0], "finish_reason", "") or "") if choices else "",
        served_model=str(getattr(response, "model", "") or "")[:200],
        usage=_usage(
            getattr(usage, "prompt_tokens", None),
            getattr(usage, "completion_tokens", None),
            _cached(usage),
            request,
            f"{content or ''}{reasoning}",
        ),
    )


def read_body(exchange: Exchange, request: Request) -> Reply | None:
    """A reply in OpenAI's form, whatever odd fields stand beside it: it is paid, it must not be lost."""
    body = exchange.openai_body
    if body is None:
        return None
    choice = body["choices"][0] if body["choices"] else {"message": {}}
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return None
    content, reasoning = _apart(message.get("content"), _thoughts(message))
    finish_reason = choice.get("finish_reason") or choice.get("native_finish_reason") or ""
    if not content and message.get("refusal"):
        content, finish_reason = None, "refusal"
    return Reply(
        content=content,
        reasoning=reasoning,
        finish_reason=str(finish_reason),
        served_model=str(body.get("model") or "")[:200],
        usage=_usage(*_figures(body), request, f"{content or ''}{reasoning}"),
    )


# --- text and thoughts -----------------------------------------------------------------------------------------------


def _thoughts(message: Mapping[str, Any]) -> str:
    for name in ("reasoning_content", "reasoning"):
        if isinstance(message.get(name), str) and message[name]:
            return str(message[name])
    details = message.get("reasoning_details")
    return _texts(details) if isinstance(details, list) else ""


def _texts(parts: list[Any]) -> str:
    found = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in found if isinstance(text, str))


def _apart(content: object, reasoning: str) -> tuple[str | None, str]:
    """The answer's text, None where there is none, and the thoughts."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict)]
        thought = [part for part in parts if part.get("type") == "thinking"]
        inner = "".join(_texts(part["thinking"]) for part in thought if isinstance(part.get("thinking"), list))
        return _texts([part for part in parts if part not in thought]), reasoning or inner
    if not isinstance(content, str):
        return None, reasoning
    thoughts, answer = _from_tags(content)
    return answer, "\n".join(part for part in (reasoning, thoughts) if part)


_OPENED = re.compile(r"\s*<think(?:ing)?>")
_CLOSED = re.compile(r"</think(?:ing)?>")
_ANSWERS = ("{", "[Answer]", "[答案]", "```")


def _from_tags(content: str) -> tuple[str, str]:
    """Thoughts and answer. Tags count at the beginning only: further on they may be words of the document."""
    opened, closed = _OPENED.match(content), _CLOSED.search(content)
    if opened and not closed:
        return content[opened.end() :].strip(), ""
    if closed is None or (not opened and not _closes_thoughts(content, closed)):
        return "", content
    return content[opened.end() if opened else 0 : closed.start()].strip(), content[closed.end() :].lstrip()


def _closes_thoughts(content: str, closed: re.Match[str]) -> bool:
    """The template opened the thoughts: the mark ends a line, and what stands before it is no answer."""
    alone = content[closed.end() :].lstrip(" \t")[:1] in {"", "\n", "\r"}
    return alone and not content.lstrip().startswith(_ANSWERS) and "<think" not in content[: closed.start()]


# --- figures ---------------------------------------------------------------------------------------------------------


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
