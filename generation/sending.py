"""Sends the calls of a run, all on one event loop, each at most once.

A call is committed as `calling`, with a lease, before its request leaves (invariant 8), in the transaction that
checks the document's approval (invariant 1). Whoever loses that move leaves the call alone, so any number of workers
may send the same run. Rows are read and written in the calling thread, between the awaits, on its one connection.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, TypeVar

from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.db import connections, transaction
from django.utils import timezone

from core import history
from core.refusals import Conflict
from documents.queries import text_of
from documents.tokenizing import decode, encode
from generation import llm
from generation.models import Call, LanguageModel, Run
from generation.prompts import (
    DRAFT_SCHEMA,
    Message,
    Truncated,
    answer_messages,
    drafting_messages,
    repair_messages,
    truncate_middle,
)
from generation.queries import UNFINISHED, lost_calls, queued_calls, ready_runs, unfinished_runs
from generation.settling import (
    Attempt,
    finish_if_complete,
    finish_runs_with,
    is_approved,
    settle_failure,
    settle_reply,
    take_up_lost_call,
)
from generation.workflow import CallState, Kind, Purpose, RunState

logger = logging.getLogger(__name__)

# Beyond the deadline, for storing the reply; after that the call counts as lost.
LEASE_MARGIN = timedelta(seconds=120)
# A worker waits this long for a call that may be sent again; what has to wait longer is left to the reconciler.
PATIENCE_SECONDS = 60.0

Value = TypeVar("Value")


# --- outer names -----------------------------------------------------------------------------------------------------


def send_run(run_id: int, *, patience: float | None = PATIENCE_SECONDS) -> bool:
    """Send what the run has to send; True when the run is finished afterwards. Safe to run twice, also at once.

    `patience`: how long to wait for calls that may be sent again later; None waits for all of them.
    """
    run = Run.objects.select_related("document_version").get(pk=run_id)
    if run.state not in UNFINISHED:
        return bool(run.is_finished)
    if run.state == RunState.QUEUED:
        _start(run)
    calls = queued_calls(run)
    if calls:
        _in_own_loop(_Sending(run, patience), calls)
    finish_if_complete(run)
    return Run.objects.filter(pk=run.pk, state=RunState.FINISHED).exists()


def work_off() -> int:
    """In process, without a broker: every queued run to its end. Returns how many runs were finished."""
    take_up_lost()
    finished, seen = 0, set[int]()
    while runs := list(unfinished_runs().exclude(pk__in=seen).values_list("pk", flat=True)):
        for run_id in runs:
            seen.add(run_id)
            finished += send_run(run_id, patience=None)
    return finished


def take_up_lost() -> int:
    """Calls whose lease ran out become unknown and wait for a lead. Returns how many there were."""
    lost = 0
    for call in lost_calls(now=timezone.now()).defer("raw", "reasoning", "prompt"):
        try:
            take_up_lost_call(call)
        except Conflict:
            continue
        lost += 1
        finish_runs_with(call)
    return lost


def ready_run_ids() -> list[int]:
    """Runs that a worker should be hurried to: what the broker lost, and what had to wait."""
    return list(ready_runs(now=timezone.now()).values_list("pk", flat=True))


# --- the loop --------------------------------------------------------------------------------------------------------


def _start(run: Run) -> None:
    try:
        history.advance(run, "start", by=None)
    except Conflict:
        run.refresh_from_db(fields=["state"])


def _in_own_loop(sending: "_Sending", calls: list[Call]) -> None:
    """Run the loop beside this thread, which goes on serving the rows. Where this thread already has a loop (a
    browser test), a thread of its own does both."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        async_to_sync(sending.send_all)(calls)
        return

    def apart() -> None:
        try:
            async_to_sync(sending.send_all)(calls)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(apart).result()


async def _rows(function: Callable[..., Value], *args: Any, **more: Any) -> Value:
    """Work with rows in the thread that owns the connection."""
    return await sync_to_async(function, thread_sensitive=True)(*args, **more)


class _Sending:
    """One sending of one run: the document's text, read once, and a limit in flight for each provider."""

    def __init__(self, run: Run, patience: float | None) -> None:
        self.run = run
        self.patience = patience
        self.cuts: dict[int, Truncated] = {}

    @cached_property
    def text(self) -> str:
        return text_of(self.run.document_version)

    async def send_all(self, calls: list[Call]) -> None:
        self.limits: Mapping[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(max(1, settings.LBP_CALLS_IN_FLIGHT))
        )
        async with llm.session():
            ended = await asyncio.gather(*(self._send(call) for call in calls), return_exceptions=True)
        for error in ended:
            if isinstance(error, BaseException):
                # One call's mishap must not hide the others' results; its lease runs out and it becomes unknown.
                logger.error("a call of run %s was left to its lease (%s)", self.run.pk, type(error).__name__)
        for error in ended:
            if isinstance(error, BaseException):
                raise error

    async def _send(self, call: Call) -> None:
        """One call to its end, its repair after it."""
        current: Call | None = call
        while current is not None:
            await self._until_due(current.next_attempt_at)
            if not self._is_due(current):
                return
            current = await self._attempt(current)

    async def _attempt(self, call: Call) -> Call | None:
        """One attempt. Returns what is to be sent next: this call again, its repair, or nothing."""
        async with self.limits[llm.provider_of(call.model.litellm_id)]:
            prepared = await _rows(self._begin, call)
            if prepared is None:
                await _rows(finish_runs_with, call)
                return None
            attempt, request = prepared
            began = time.monotonic()
            try:
                reply = await llm.complete(request)
            except llm.Failure as failure:
                again = await _rows(settle_failure, attempt, failure)
                follows = call if again is not None else None
            else:
                latency = timedelta(seconds=time.monotonic() - began)
                follows = await _rows(settle_reply, attempt, reply, latency=latency, text=self.text)
        if follows is None:
            await _rows(finish_runs_with, call)
        return follows

    async def _until_due(self, at: datetime | None) -> None:
        wait = (at - timezone.now()).total_seconds() if at else 0.0
        if wait > 0 and (self.patience is None or wait <= self.patience):
            await asyncio.sleep(wait)

    def _is_due(self, call: Call) -> bool:
        return call.next_attempt_at is None or call.next_attempt_at <= timezone.now()

    # --- before the request ---

    def _begin(self, call: Call) -> tuple[Attempt, llm.Request] | None:
        """Commit the call as `calling`, or find that it is not to be sent (now, by us, or at all)."""
        cut = self._cut(call.model)
        request = self._request(call, cut)
        with transaction.atomic():
            approved = is_approved(self.run.document_version_id)
            state = Run.objects.values_list("state", flat=True).get(pk=self.run.pk)
            row = Call.objects.select_for_update().filter(pk=call.pk, state=CallState.QUEUED)
            # Read again: another worker may have tried meanwhile, and now it has to wait.
            attempts, due = row.values_list("attempts", "next_attempt_at").first() or (None, None)
            now = timezone.now()
            if state not in UNFINISHED or attempts is None or (due is not None and due > now):
                return None
            if not approved:
                self._refuse(call, "cancel", "document_not_approved", "The document is not approved; nothing was sent.")
                return None
            if self._is_paused(call.model):
                self._refuse(call, "fail", "model_paused", "The model is paused; nothing was sent.")
                return None
            history.advance(call, "send", by=None, attempt=attempts + 1)
            row.model.objects.filter(pk=call.pk).update(
                attempts=attempts + 1,
                sent_at=now,
                lease_until=now + timedelta(seconds=request.deadline) + LEASE_MARGIN,
                next_attempt_at=None,
                cut_tokens=cut.cut_tokens,
                parameters=_parameters(request),
                error_class="",
                error="",
            )
        call.attempts, call.sent_at = attempts + 1, now
        return Attempt(call, self.run, now, attempts + 1), request

    def _refuse(self, call: Call, move: str, error_class: str, words: str) -> None:
        Call.objects.filter(pk=call.pk).update(error_class=error_class, error=words, next_attempt_at=None)
        history.advance(call, move, by=None, error_class=error_class)

    def _is_paused(self, model: LanguageModel) -> bool:
        return LanguageModel.objects.filter(pk=model.pk).exclude(paused_at=None).exists()

    def _cut(self, model: LanguageModel) -> Truncated:
        allowance = model.truncate_input_to_tokens
        tokens = self.run.document_version.tokens
        if tokens <= allowance:
            return Truncated(self.text, tokens, 0)
        if allowance not in self.cuts:
            self.cuts[allowance] = truncate_middle(self.text, allowance=allowance, encode=encode, decode=decode)
        return self.cuts[allowance]

    def _request(self, call: Call, cut: Truncated) -> llm.Request:
        model, drafting = call.model, self.run.purpose == Purpose.DRAFTING
        return llm.Request(
            model=model.litellm_id,
            messages=self._messages(call, cut.text),
            deadline=settings.LBP_CALL_DEADLINE_SECONDS,
            api_base=model.api_base,
            key_variable=model.key_variable,
            max_tokens=model.max_output_thinking if call.thinking else model.max_output_nonthinking,
            temperature=model.temperature,
            thinking=call.thinking if model.kind == Kind.MIXED else None,
            schema=DRAFT_SCHEMA if drafting else None,
            structured=model.structured,
            # The same call is the same throw of the dice for a simulated model; real ones are not told.
            seed=int(call.key[:8], 16) if model.is_simulated else None,
        )

    def _messages(self, call: Call, text: str) -> list[Message]:
        if self.run.purpose != Purpose.DRAFTING:
            return answer_messages(document_text=text, prompt=call.prompt)
        run = self.run
        asked = drafting_messages(
            language=run.language,
            task=run.task_code,
            document_text=text,
            instructions=call.prompt,
            version=run.prompt_version,
        )
        if call.repairs_id is None:
            return asked
        original = Call.objects.only("raw", "faults").get(pk=call.repairs_id)
        faults = [_fault_sentence(fault) for fault in original.faults]
        return repair_messages(asked, original.raw, faults, run.language, run.prompt_version)


def _fault_sentence(fault: Mapping[str, Any]) -> str:
    where = f"draft {fault['draft']}: " if fault.get("draft") else ""
    return f"{where}{fault['detail']} ({fault['kind']})"


def _parameters(request: llm.Request) -> dict[str, Any]:
    """What was asked for beside the messages, without the variable's content, which is never read here."""
    parameters: dict[str, Any] = {
        "model": request.model,
        "api_base": request.api_base,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "thinking": request.thinking,
        "seed": request.seed,
        "schema": request.schema is not None,
        "structured": request.structured if request.schema is not None else "",
        "deadline": request.deadline,
    }
    return {name: value for name, value in parameters.items() if value not in (None, "", False)}
