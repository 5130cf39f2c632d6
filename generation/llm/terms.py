"""What goes through the door and what comes back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from generation.workflow import Structured


@dataclass(frozen=True)
class Request:
    """Everything one request needs. `thinking` switches thinking on where a model can do both; None leaves it alone.
    `structured`: how the model is held to `schema`, one of generation.workflow.Structured.
    """

    model: str
    messages: Sequence[Mapping[str, str]] = field(repr=False)
    deadline: float
    api_base: str = ""
    key_variable: str = ""
    max_tokens: int | None = None
    temperature: float | None = None
    thinking: bool | None = None
    schema: Mapping[str, Any] | None = field(default=None, repr=False)
    structured: str = Structured.AUTO
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
