"""What a run asks of which model, and the key under which each question is asked once."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from core import history
from core.models import User
from generation.estimating import Expected, Usual, expected_cost, prompt_tokens, usual_tokens_out
from generation.llm import rough_tokens
from generation.models import Call, LanguageModel, Run, RunCall
from generation.prompts import prompt_hash
from generation.queries import panel
from generation.workflow import CallState, Kind, Purpose


@dataclass(frozen=True)
class Ask:
    """One question to one model. `thinking` is kept with the call; it also chooses the output limit."""

    model: LanguageModel
    prompt: str
    thinking: bool
    number: int


def asks_of(run: Run) -> list[Ask]:
    """Thinking and mixed models get the non-thinking prompt and think; instruct models get the thinking prompt for
    difficulty and the non-thinking prompt otherwise. Drafts are long: every model gets the larger output limit."""
    return [
        Ask(model, _prompt_for(run, model), _thinks(run, model), number)
        for model in panel(run.purpose)
        for number in range(run.first_number, run.first_number + run.runs_per_model)
    ]


def _prompt_for(run: Run, model: LanguageModel) -> str:
    if run.purpose == Purpose.DIFFICULTY and model.kind == Kind.INSTRUCT:
        return run.prompt_thinking
    return run.prompt


def _thinks(run: Run, model: LanguageModel) -> bool:
    return model.kind != Kind.INSTRUCT or run.purpose in {Purpose.DRAFTING, Purpose.DIFFICULTY}


def key_of(run: Run, ask: Ask, *, repairs: Call | None = None) -> str:
    """The same frozen input has the same key, whichever run asks and whenever (invariant 8)."""
    parts = [
        run.purpose,
        run.document_version.sha256,
        prompt_hash(ask.prompt),
        ask.thinking,
        ask.model.name,
        ask.model.litellm_id,
        ask.model.api_base,
        run.prompt_version,
        ask.number,
        repairs.key if repairs else "",
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def make_calls(run: Run, *, by: User | None) -> list[Call]:
    """Make the run's calls, or find those that exist. A stored result is read again; a call that was cancelled before
    it ever left is queued again."""
    asks = asks_of(run)
    usual = usual_tokens_out([ask.model for ask in asks])
    calls = [_make(run, ask, usual=usual) for ask in asks]
    repairs = list(Call.objects.filter(repairs__in=calls))
    link(run, [*calls, *repairs])
    for call in calls:
        if call.state == CallState.CANCELLED:
            history.advance(call, "resend", by=by, reason="asked for again before it was ever sent")
            Call.objects.filter(pk=call.pk).update(error_class="", error="", next_attempt_at=None)
    return calls


def make_repair(run: Run, call: Call) -> Call:
    """The one request to give a malformed reply again, a call of its own."""
    ask = Ask(call.model, call.prompt, call.thinking, call.number)
    repair = _make(run, ask, repairs=call)
    for other in Run.objects.filter(run_calls__call=call):
        link(other, [repair])
    return repair


def link(run: Run, calls: Iterable[Call]) -> None:
    RunCall.objects.bulk_create([RunCall(run=run, call=call) for call in calls], ignore_conflicts=True)


def _make(run: Run, ask: Ask, *, repairs: Call | None = None, usual: Usual | None = None) -> Call:
    expected = _expected(run, ask, repairs, usual)
    call, _made = Call.objects.get_or_create(
        key=key_of(run, ask, repairs=repairs),
        defaults={
            "purpose": run.purpose,
            "model": ask.model,
            "document_version": run.document_version,
            "number": ask.number,
            "prompt": ask.prompt,
            "thinking": ask.thinking,
            "prompt_version": run.prompt_version,
            "prompt_sha256": prompt_hash(ask.prompt),
            "repairs": repairs,
            "expected_tokens_in": expected.tokens_in,
            "expected_tokens_out": expected.tokens_out,
            "expected_usd": expected.usd,
        },
    )
    return call


def _expected(run: Run, ask: Ask, repairs: Call | None, usual: Usual | None) -> Expected:
    """From the document's count; the prompt's, and the reply's that a repair sends back, are near enough."""
    drafts = run.purpose == Purpose.DRAFTING
    prompt = prompt_tokens(run.purpose, run.language, run.task_code) if drafts else rough_tokens(ask.prompt)
    if repairs is not None:
        prompt += rough_tokens(repairs.raw)
    tokens = run.document_version.tokens
    return expected_cost(ask.model, run.purpose, document_tokens=tokens, prompt_tokens=prompt, usual=usual)
