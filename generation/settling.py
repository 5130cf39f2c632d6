"""What becomes of a call once its request has ended: reply stored and read, or failure sorted; then its runs finished.

A worker may only settle the attempt it sent: when the lease ran out meanwhile, the call belongs to somebody else, and
the late reply is noted and thrown away.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils import timezone

from core import history
from core.refusals import Conflict
from core.text import clean_text
from documents.workflow import VersionState
from generation import budgeting
from generation.estimating import cost_of
from generation.evidence import find_quote
from generation.llm import Failure, FailureKind, Fate, Reply
from generation.models import Call, Draft, LanguageModel, Run, RunCall
from generation.planning import make_repair
from generation.queries import UNFINISHED, has_open_calls, locked_with_document, unfinished_runs, unfinished_runs_with
from generation.replies import DraftReading, DraftText, Outcome, SolutionStep, read_answer_reply, read_drafts
from generation.scoring import score_answer, score_answers
from generation.workflow import CallState, Purpose

FIRST_WAIT_SECONDS = 2.0
LONGEST_WAIT_SECONDS = 120.0
WITHDRAWN = "document_withdrawn"
LOST = "worker_lost"
# A reply came, and cannot be used: what it cost nobody said.
MAY_BE_BILLED = frozenset({FailureKind.UNREADABLE})


@dataclass(frozen=True)
class Attempt:
    """One sending of one call: `sent_at` is its mark, by which a late worker is told from the present one."""

    call: Call
    run: Run
    sent_at: datetime
    number: int
    # What a budget holds back for it; None where the price is unknown.
    held: Decimal | None = None


@dataclass(frozen=True)
class Verdict:
    """What a reply is worth: the move it makes, what was read with the places of its quotes, whether to ask again."""

    move: str
    error_class: str = ""
    error: str = ""
    faults: tuple[dict[str, Any], ...] = ()
    drafts: tuple[DraftText, ...] = ()
    ask_again: bool = False
    solutions: tuple[list[dict[str, Any]], ...] = ()


# --- replies ---------------------------------------------------------------------------------------------------------


def read(attempt: Attempt, reply: Reply, text: str) -> Verdict:
    """Read a reply, and find in the document what its drafts quote. Pure: takes time and touches no row."""
    verdict = _read(attempt, reply)
    return replace(verdict, solutions=tuple(_with_places(draft, text) for draft in verdict.drafts))


def settle_reply(attempt: Attempt, reply: Reply, verdict: Verdict, *, latency: timedelta) -> Call | None:
    """Store a reply as it was read. Returns the repair call that is to be sent next, if there is one."""
    call = attempt.call
    cost = cost_of(call.model, reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.tokens_cached)
    repair = None
    with transaction.atomic():
        approved = _is_ours(attempt)
        if approved is None:
            _note_late(attempt, cost=cost, released=True)
            return None
        if not approved:
            # The approval went while the request was out: what came back is kept and used for nothing.
            words = "The document's approval was withdrawn while the call was out; the reply is not used."
            verdict = Verdict("fail", WITHDRAWN, words)
        fields = _stored(reply, verdict, latency)
        _move(call, verdict.move, {**fields, **budgeting.settled(attempt.held, cost)}, error_class=verdict.error_class)
        if verdict.drafts:
            _keep_drafts(call, verdict)
        if verdict.ask_again:
            repair = make_repair(attempt.run, call)
        budgeting.count(held=attempt.held, cost=cost)
    if verdict.move == "succeed":
        score_answer(attempt.run, call)
    return repair if repair is not None and repair.state == CallState.QUEUED else None


def _read(attempt: Attempt, reply: Reply) -> Verdict:
    if attempt.run.purpose != Purpose.DRAFTING:
        reading = read_answer_reply(reply.content, reply.finish_reason, reply.reasoning)
        if reading.fault is None:
            return Verdict("succeed")
        return Verdict("fail", reading.fault.kind, str(reading.fault), (_as_row(reading.fault),))
    drafts = read_drafts(
        content=reply.content,
        finish_reason=reply.finish_reason,
        reasoning=reply.reasoning,
        language=attempt.run.language,
        task=attempt.run.task_code,
    )
    return _verdict_on(drafts, is_repair=attempt.call.repairs_id is not None)


def _verdict_on(reading: DraftReading, *, is_repair: bool) -> Verdict:
    faults = tuple(_as_row(fault) for fault in reading.faults)
    if reading.outcome == Outcome.SUCCEEDED:
        return Verdict("succeed", drafts=reading.drafts, faults=faults)
    first = reading.faults[0] if reading.faults else None
    kind, words = (first.kind.value, str(first)) if first else ("wrong_count", "not three drafts")
    if reading.outcome == Outcome.PARTIAL:
        return Verdict("succeed_partly", kind, words, faults, reading.drafts)
    again = reading.outcome == Outcome.REPAIRABLE and not is_repair
    return Verdict("fail", kind, words, faults, ask_again=again)


def _as_row(fault: Any) -> dict[str, Any]:
    return {"kind": str(fault.kind.value), "detail": clean_text(fault.detail), "draft": fault.draft}


def _stored(reply: Reply, verdict: Verdict, latency: timedelta) -> dict[str, Any]:
    return {
        "answered_at": timezone.now(),
        "latency_ms": int(latency.total_seconds() * 1000),
        "raw": clean_text(reply.content or ""),
        "reasoning": clean_text(reply.reasoning),
        "finish_reason": clean_text(reply.finish_reason)[:40],
        "served_model": clean_text(reply.served_model)[:200],
        # As with the cost: of all attempts that were answered, or the one would not follow from the other.
        "tokens_in": Coalesce(F("tokens_in"), 0) + reply.usage.tokens_in,
        "tokens_cached": F("tokens_cached") + reply.usage.tokens_cached,
        "tokens_out": Coalesce(F("tokens_out"), 0) + reply.usage.tokens_out,
        "tokens_estimated": reply.usage.estimated,
        "error_class": verdict.error_class,
        "error": clean_text(verdict.error),
        "faults": list(verdict.faults),
        "lease_until": None,
        "next_attempt_at": None,
    }


# --- drafts ----------------------------------------------------------------------------------------------------------


def _with_places(draft: DraftText, text: str) -> list[dict[str, Any]]:
    return [_with_place(step, text) for step in draft.solution]


def _with_place(step: SolutionStep, text: str) -> dict[str, Any]:
    found = find_quote(text, step.quote)
    return {
        "step": step.step,
        "quote": step.quote,
        "kind": found.kind.value,
        "start": found.start,
        "end": found.end,
        "score": found.score,
    }


def _keep_drafts(call: Call, verdict: Verdict) -> None:
    """Drafts of an earlier attempt stay: people may have worked on them. New ones are numbered after them."""
    last = Draft.objects.filter(call=call).aggregate(last=Max("position"))["last"] or 0
    Draft.objects.bulk_create(
        Draft(
            call=call,
            position=last + draft.position,
            question=draft.question,
            elements=draft.elements,
            options=list(draft.options),
            answer=list(draft.answer),
            rationale=draft.rationale,
            solution=solution,
        )
        for draft, solution in zip(verdict.drafts, verdict.solutions, strict=True)
    )


# --- failures --------------------------------------------------------------------------------------------------------


def settle_failure(attempt: Attempt, failure: Failure) -> datetime | None:
    """Sort a failure by the table of generation.llm. Returns when the call may be sent again, if it may."""
    call = attempt.call
    again = failure.fate is Fate.RETRY and attempt.number < settings.LBP_CALL_ATTEMPTS
    move = {Fate.UNKNOWN: "lose", Fate.FINAL: "fail", Fate.RETRY: "wait_for_retry" if again else "fail"}[failure.fate]
    at = timezone.now() + timedelta(seconds=_wait(attempt.number, failure)) if again else None
    free = failure.fate is not Fate.UNKNOWN and failure.kind not in MAY_BE_BILLED
    with transaction.atomic():
        if _is_ours(attempt) is None:
            _note_late(attempt, cost=None, released=free)
            return None
        fields = {
            "error_class": failure.kind.value,
            "error": failure.words,
            "lease_until": None,
            "next_attempt_at": at,
            **(budgeting.settled(attempt.held, None) if free else {}),
        }
        _move(call, move, fields, error_class=failure.kind.value, status=failure.status)
        if failure.pauses_the_model:
            pause(call.model, failure)
        if free:
            budgeting.count(held=attempt.held)
    return at


def _wait(number: int, failure: Failure) -> float:
    """What the provider asks for; else twice as long each time, a little spread so that calls do not return as one."""
    if failure.retry_after is not None:
        return failure.retry_after
    grown: float = min(FIRST_WAIT_SECONDS * 2 ** (number - 1), LONGEST_WAIT_SECONDS)
    return grown * random.uniform(1.0, 1.25)  # noqa: S311 -- spreads, protects nothing


def pause(model: LanguageModel, failure: Failure) -> None:
    """Once, with one line in the history, however many calls were refused at the same time."""
    paused = LanguageModel.objects.filter(pk=model.pk, paused_at=None)
    if paused.update(paused_at=timezone.now(), paused_because=failure.kind.value):
        history.record("pause_model", model, by=None, reason=failure.words, error_class=failure.kind.value)


def take_up_lost_call(call: Call) -> None:
    """The worker died, or was away beyond its lease: nobody knows whether the call was billed."""
    with transaction.atomic():
        words = "The worker was lost while the call was out; it may have been billed."
        fields = {"error_class": LOST, "error": words, "lease_until": None}
        history.advance(call, "lose", by=None, also=fields, error_class=LOST)


# --- common to both --------------------------------------------------------------------------------------------------


def _is_ours(attempt: Attempt) -> bool | None:
    """Locks the call and its document version, so that a decision on it waits for this transaction or this one for the
    decision. None when the call belongs to somebody else by now; else whether the document is still approved."""
    mine = Call.objects.filter(pk=attempt.call.pk, state=CallState.CALLING, sent_at=attempt.sent_at)
    call = locked_with_document(mine)
    return None if call is None else call.document_version.state == VersionState.APPROVED


def _note_late(attempt: Attempt, *, cost: Decimal | None, released: bool) -> None:
    """The call belongs to somebody else by now. The money is accounted for: what was held back for this attempt gives
    way to what it cost, unless a lead has settled that before. (A worker whose own commit was not confirmed finds its
    call settled, and is not late.)"""
    known = ("state", "sent_at", "settled_at")
    state, sent_at, settled_at = Call.objects.select_for_update().values_list(*known).get(pk=attempt.call.pk)
    by_a_lead = settled_at is not None and settled_at >= attempt.sent_at
    if sent_at == attempt.sent_at and state not in {CallState.UNKNOWN, CallState.QUEUED} and not by_a_lead:
        return
    said = {} if cost is None else {"cost_usd": str(cost)}
    history.record("late_reply", attempt.call, by=None, sent_at=attempt.sent_at.isoformat(), **said)
    if released and not by_a_lead:
        fields = budgeting.settled(attempt.held, cost)
        if fields:
            Call.objects.filter(pk=attempt.call.pk).update(**fields)
        budgeting.count(held=attempt.held, cost=cost)


def _move(call: Call, move: str, fields: Mapping[str, Any], **line: Any) -> None:
    """The call's row is locked, by `_is_ours`: it is out."""
    history.advance(call, move, by=None, also=fields, locked_in=CallState.CALLING, **line)
    for name, value in fields.items():
        if not isinstance(value, Combinable):
            setattr(call, name, value)


# --- runs ------------------------------------------------------------------------------------------------------------


def finish_runs_with(call: Call, *, but: Run | None = None) -> int:
    """Every unfinished run that reads this call may be complete now; `but`: one that is asked later anyway."""
    if but is not None and set(RunCall.objects.filter(call=call.pk).values_list("run_id", flat=True)) <= {but.pk}:
        # Nearly every call is its run's alone, and each asks: one small question instead of a large one.
        return 0
    runs = unfinished_runs_with(call)
    return sum(finish_if_complete(run) for run in (runs if but is None else runs.exclude(pk=but.pk)))


def finish_runs_with_all(calls: Iterable[Call]) -> int:
    """`finish_runs_with` for many calls; each run is asked once."""
    runs = unfinished_runs().filter(run_calls__call__in=[call.pk for call in calls]).distinct()
    return sum(finish_if_complete(run) for run in runs)


def finish_if_complete(run: Run) -> bool:
    """Score what is unscored, then finish. Asked after each call's own commit: whoever commits last sees all the
    others, so the last of two finishers finds the run complete, and only one of them makes the move."""
    if has_open_calls(run):
        return False
    score_answers(run)
    with transaction.atomic():
        held = Run.objects.select_for_update().filter(pk=run.pk, state__in=UNFINISHED).values_list("pk", flat=True)
        if not held or has_open_calls(run):
            return False
        try:
            history.advance(run, "finish", by=None)
        except Conflict:
            return False
        Run.objects.filter(pk=run.pk).update(finished_at=timezone.now())
    return True
