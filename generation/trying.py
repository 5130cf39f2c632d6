"""The trial of a model: one small request without any document, sent at most once, like every call."""

import time
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from core import history
from core.text import clean_text
from generation import budgeting, llm
from generation.estimating import cost_of
from generation.models import LanguageModel, ModelTrial
from generation.workflow import Kind, Trouble

WORD = "lighthouse"
MESSAGES = [{"role": "user", "content": f"Reply with the word {WORD} and nothing else."}]
# Enough for a short thought; a model that thinks longer is cut off, and has answered all the same.
MOST_OUTPUT = 2048
LONGEST_ANSWER = 2000


def send_trial(trial_id: int) -> None:
    """Send it, unless it was sent already, and keep what came back."""
    trial = ModelTrial.objects.select_related("model").get(pk=trial_id)
    request = _request(trial.model)
    async_to_sync(llm.load)()
    if not _begin(trial, request):
        return
    began = time.monotonic()
    try:
        reply = _complete(request)
    except llm.Failure as failure:
        _end(trial, {"error_class": failure.kind.value, "error": failure.words})
        return
    _end(trial, _result(trial.model, reply, time.monotonic() - began))


def waiting_trials() -> list[int]:
    """Those that no message reached."""
    return list(ModelTrial.objects.filter(sent_at=None, ended_at=None).values_list("pk", flat=True))


def take_up_lost() -> int:
    """Trials whose worker did not come back. Whether they were billed nobody knows; it is next to nothing."""
    longest = settings.LBP_CALL_DEADLINE_SECONDS + settings.LBP_LEASE_MARGIN_SECONDS
    lost = ModelTrial.objects.filter(ended_at=None, sent_at__lt=timezone.now() - timedelta(seconds=longest))
    words = "The worker was lost while the trial was out; it may have been billed."
    return lost.update(ended_at=timezone.now(), error_class=Trouble.WORKER_LOST.value, error=words)


def _request(model: LanguageModel) -> llm.Request:
    limit = model.max_output_thinking if model.kind == Kind.THINKING else model.max_output_nonthinking
    return llm.Request(
        model=model.litellm_id,
        messages=MESSAGES,
        deadline=settings.LBP_CALL_DEADLINE_SECONDS,
        api_base=model.api_base,
        key_variable=model.key_variable,
        max_tokens=min(limit or MOST_OUTPUT, MOST_OUTPUT),
        temperature=model.temperature,
        thinking=False if model.kind == Kind.MIXED else None,
        seed=1 if model.is_simulated else None,
    )


@async_to_sync
async def _complete(request: llm.Request) -> llm.Reply:
    async with llm.session():
        return await llm.complete(request)


def _begin(trial: ModelTrial, request: llm.Request) -> bool:
    """Committed before the request. False when it was sent before, or a budget forbids it."""
    tokens = sum(llm.rough_tokens(message["content"]) for message in MESSAGES)
    most = budgeting.most_of(trial.model, tokens_in=tokens, output_limit=request.max_tokens)
    with transaction.atomic():
        if not ModelTrial.objects.filter(pk=trial.pk, sent_at=None, ended_at=None).update(sent_at=timezone.now()):
            return False
        provider = trial.model.provider
        history.record("send_trial", trial.model, by=None, trial=trial.pk, provider=provider, tokens=tokens)
        if not _fits(most):
            _end(trial, {"error_class": Trouble.BUDGET.value, "error": "A budget does not allow it; nothing was sent."})
            ModelTrial.objects.filter(pk=trial.pk).update(sent_at=None)
            return False
    return True


def _fits(most: Decimal | None) -> bool:
    """It is too small to hold anything back for."""
    if most == budgeting.NOTHING:
        return True
    total = budgeting.spending()
    if total.budget_usd is None:
        return True
    return most is not None and total.spent_usd + total.reserved_usd + most <= total.budget_usd


def _result(model: LanguageModel, reply: llm.Reply, seconds: float) -> dict[str, Any]:
    answer, usage = clean_text(reply.content or "").strip()[:LONGEST_ANSWER], reply.usage
    trouble = "" if answer else (Trouble.NO_ANSWER_BUDGET if reply.reasoning else Trouble.EMPTY).value
    return {
        "answer": answer,
        "error_class": trouble,
        "served_model": clean_text(reply.served_model)[:200],
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "cost_usd": cost_of(model, usage.tokens_in, usage.tokens_out, usage.tokens_cached),
        "latency_ms": int(seconds * 1000),
    }


@transaction.atomic
def _end(trial: ModelTrial, fields: Mapping[str, Any]) -> None:
    """Once. A reply after the trial was given up is paid all the same: its figures are kept, its end stays."""
    ModelTrial.objects.filter(pk=trial.pk, ended_at=None).update(ended_at=timezone.now(), **fields)
    cost = fields.get("cost_usd")
    if cost is not None:
        ModelTrial.objects.filter(pk=trial.pk).update(cost_usd=cost)
        budgeting.count(cost=cost)
