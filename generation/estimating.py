"""What calls are expected to come to, before anything is made or sent: from token counts alone, no text is loaded.

The tokens in are the document's stored count, cut to the model's allowance, and the prompt's. The tokens out are what
the same model gave for the same purpose so far, on average; as long as there are too few answers, a stated figure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from django.db.models import Avg, Count

from generation.llm import rough_tokens
from generation.models import Call, LanguageModel
from generation.prompts import drafting_messages
from generation.queries import ANSWERED, panel, without_price
from generation.workflow import Kind, Purpose

ENOUGH_ANSWERS = 5
# The question with its requirement, where it is not there yet.
PROMPT_TOKENS = 300
# Three drafts with their solutions, an answer of a few elements; thinking comes on top.
DRAFTING_TOKENS = 2_000
ANSWER_TOKENS = 150
THOUGHT_TOKENS = 4_000
MILLION = 1_000_000
USD = Decimal("0.00000001")

# What models gave so far: by model id and purpose.
Usual = Mapping[tuple[int, str], int]


@dataclass(frozen=True)
class Expected:
    """What one call should come to. `usd` is None where the model has no price."""

    tokens_in: int
    tokens_out: int
    usd: Decimal | None


@dataclass(frozen=True)
class Estimate:
    """What many calls should come to. `usd` is the sum over the models that have a price; `unpriced` names the rest."""

    calls: int
    tokens_in: int
    tokens_out: int
    usd: Decimal
    unpriced: tuple[str, ...] = ()


def estimate(
    purpose: str,
    samples: Iterable[tuple[int, str, str]],
    *,
    runs_per_model: int = 1,
    models: Sequence[LanguageModel] | None = None,
) -> Estimate:
    """What a run of `purpose` on each sample, given as (document tokens, language, task code), should come to.

    Two queries for any number of samples (the panel, and what its models gave so far); repairs are not foreseen.
    `models`: those that are asked, when not the whole panel of the purpose.
    """
    asked = panel(purpose) if models is None else models
    usual = usual_tokens_out(asked)
    calls, tokens_in, tokens_out, usd = 0, 0, 0, Decimal(0)
    for tokens, language, task_code in samples:
        prompt = prompt_tokens(purpose, language, task_code)
        for model in asked:
            one = expected_cost(model, purpose, document_tokens=tokens, prompt_tokens=prompt, usual=usual)
            calls += runs_per_model
            tokens_in += one.tokens_in * runs_per_model
            tokens_out += one.tokens_out * runs_per_model
            usd += (one.usd or Decimal(0)) * runs_per_model
    return Estimate(calls, tokens_in, tokens_out, usd, tuple(model.name for model in without_price(asked)))


def expected_cost(
    model: LanguageModel,
    purpose: str,
    *,
    document_tokens: int,
    prompt_tokens: int = PROMPT_TOKENS,
    usual: Usual | None = None,
) -> Expected:
    """What one call should come to. `usual`: what `usual_tokens_out` found; without it the stated figures stand."""
    tokens_in = min(document_tokens, model.truncate_input_to_tokens) + prompt_tokens
    tokens_out = (usual or {}).get((model.pk, purpose)) or _stated_tokens_out(model, purpose)
    return Expected(tokens_in, tokens_out, cost_of(model, tokens_in, tokens_out))


def cost_of(model: LanguageModel, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> Decimal | None:
    """By our own prices, exact; None when there is none: an unknown price is never taken for zero. `tokens_cached` are
    part of `tokens_in`; without a price of their own they cost what the others cost."""
    if model.is_simulated:
        return Decimal(0)
    if model.usd_per_million_input is None or model.usd_per_million_output is None:
        return None
    cached = min(max(tokens_cached, 0), tokens_in)
    cached_price = model.usd_per_million_cached
    if cached_price is None:
        cached_price = model.usd_per_million_input
    total = (tokens_in - cached) * model.usd_per_million_input + cached * cached_price
    return ((total + tokens_out * model.usd_per_million_output) / MILLION).quantize(USD)


def usual_tokens_out(models: Sequence[LanguageModel]) -> Usual:
    """The mean of what each model gave for each purpose, by (model id, purpose), where it answered often enough."""
    answered = Call.objects.filter(state__in=ANSWERED, model__in=[model.pk for model in models], tokens_out__gt=0)
    rows = answered.order_by().values("model_id", "purpose").annotate(mean=Avg("tokens_out"), count=Count("id"))
    return {(row["model_id"], row["purpose"]): round(row["mean"]) for row in rows if row["count"] >= ENOUGH_ANSWERS}


@lru_cache(maxsize=256)
def prompt_tokens(purpose: str, language: str, task_code: str) -> int:
    """About how many tokens stand around the document. The tokenizer is not loaded for it."""
    if purpose != Purpose.DRAFTING:
        return PROMPT_TOKENS
    messages = drafting_messages(language=language, task=task_code, document_text="")
    return sum(rough_tokens(message["content"]) for message in messages)


def _stated_tokens_out(model: LanguageModel, purpose: str) -> int:
    plain = DRAFTING_TOKENS if purpose == Purpose.DRAFTING else ANSWER_TOKENS
    limit = model.max_output_nonthinking if model.kind == Kind.INSTRUCT else model.max_output_thinking
    if purpose in {Purpose.DRAFTING, Purpose.DIFFICULTY}:
        limit = model.max_output_thinking
    wanted = plain if model.kind == Kind.INSTRUCT and purpose != Purpose.DIFFICULTY else plain + THOUGHT_TOKENS
    return wanted if limit is None else min(wanted, limit)
