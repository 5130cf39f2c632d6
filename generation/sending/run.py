"""The calls of one run, each to its end: sent, sent again where nothing happened, repaired, settled."""

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError
from django.utils import timezone

from core import history
from core.refusals import Conflict
from generation import llm
from generation.limiting import Wait
from generation.models import Call, Run
from generation.queries import UNFINISHED, queued_calls
from generation.sending.beginning import begin, put_off
from generation.sending.doors import Door, Hall
from generation.sending.requests import Prepared, Requests, Texts
from generation.sending.rows import rows, urgent_rows
from generation.settling import Attempt, finish_if_complete, finish_runs_with, read, settle_failure, settle_reply
from generation.workflow import Purpose, RunState

logger = logging.getLogger(__name__)

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
Value = TypeVar("Value")


class RunSending:
    """One sending of one run. `patience`: how many seconds to wait for a call that may be sent later; None: for all."""

    def __init__(self, run_id: int, hall: Hall, texts: Texts, *, patience: float | None) -> None:
        self.run_id = run_id
        self.hall = hall
        self.texts = texts
        self.patience = patience
        self.run: Run | None = None
        self.calls: list[Call] = []

    async def load(self) -> int:
        """Start the run and find what it has to send. Returns how many calls that is."""
        await rows(self._load)
        return len(self.calls)

    def _load(self) -> None:
        run = Run.objects.select_related("document_version").get(pk=self.run_id)
        if run.state not in UNFINISHED or run.cancel_asked_at is not None:
            return
        if run.state == RunState.QUEUED:
            _start(run)
        self.run, self.calls = run, queued_calls(run)

    async def send(self) -> bool:
        """True when the run is finished afterwards. An error in one call must not hide the others' results: its lease
        runs out and it becomes unknown."""
        if self.run is not None:
            self.requests = Requests(self.run, self.texts)
            ended = await asyncio.gather(*(self._send(call) for call in self.calls), return_exceptions=True)
            errors = [error for error in ended if isinstance(error, BaseException)]
            for error in errors:
                logger.error("a call of run %s was left to its lease (%s)", self.run_id, type(error).__name__)
            if errors:
                raise errors[0]
            await rows(finish_if_complete, self.run)
        return await rows(_is_finished, self.run_id)

    async def _send(self, call: Call) -> None:
        """One call to its end, its repair after it."""
        current: Call | None = call
        while current is not None:
            await self._until_due(current.next_attempt_at)
            if self.hall.closing.is_set() or not _is_due(current.next_attempt_at):
                return
            current = await self._attempt(current)

    async def _until_due(self, at: datetime | None) -> None:
        wait = (at - timezone.now()).total_seconds() if at else 0.0
        if wait > 0 and (self.patience is None or wait <= self.patience):
            await self.hall.sleep(wait)

    async def _attempt(self, call: Call) -> Call | None:
        """One attempt. Returns what is to be sent next: this call again, its repair, or nothing."""
        door, weight = self.hall.doors[call.model.provider], self.requests.weight(call)
        async with door.entrance:
            left = await self._leave(call, door, weight)
        follows = None
        if left is not None:
            try:
                follows = await self._exchange(*left)
            finally:
                door.take_back(weight)
        if follows is None:
            # This run itself is asked when all its calls are through.
            await rows(finish_runs_with, call, but=self._sent_run)
        return follows

    async def _leave(self, call: Call, door: Door, weight: int) -> tuple[Attempt, Prepared] | None:
        """At the door, until the call is committed as `calling`, or is found not to be sent by us, or not now."""
        since = time.monotonic()
        while not self.hall.closing.is_set():
            if door.shut_seconds:
                await rows(put_off, call, door.shut_seconds)
                return None
            ticket = door.queue.take()
            left: tuple[Attempt, Prepared] | Wait | None = None
            try:
                left = await self._ask(call, door, weight)
            finally:
                if not isinstance(left, Wait):
                    door.queue.leave(ticket)
            if not isinstance(left, Wait):
                return left
            if door.is_too_long(left, since=since, patience=self.patience):
                door.shut(left)
            else:
                await door.wait(left, ticket)
            door.queue.drop(ticket)
        return None

    async def _ask(self, call: Call, door: Door, weight: int) -> tuple[Attempt, Prepared] | Wait | None:
        """Whoever asks takes a place outside meanwhile, and gives it back when nothing has left."""
        if self.hall.has_no_room_for(weight):
            return Wait(for_all=True)
        door.let_out(weight)
        begun = None
        try:
            await llm.load()
            prepared = await self.requests.prepare(call)
            begun = await urgent_rows(begin, call, self._sent_run, prepared, out_here=door.out - 1)
            return (begun, prepared) if isinstance(begun, Attempt) else begun
        finally:
            if not isinstance(begun, Attempt):
                door.give_back(weight)

    async def _exchange(self, attempt: Attempt, prepared: Prepared) -> Call | None:
        began = time.monotonic()
        try:
            reply = await llm.complete(prepared.request)
        except llm.Failure as failure:
            again = await rows(settle_failure, attempt, failure)
            return attempt.call if again is not None else None
        latency = timedelta(seconds=time.monotonic() - began)
        # Only drafts quote the text. Reading takes time and no rows: beside the thread that serves them.
        text = await self.texts.whole(attempt.run) if attempt.run.purpose == Purpose.DRAFTING else ""
        verdict = await asyncio.to_thread(read, attempt, reply, text)
        return await _stubbornly(settle_reply, attempt, reply, verdict, latency=latency)

    @property
    def _sent_run(self) -> Run:
        assert self.run is not None
        return self.run


async def _stubbornly(function: Callable[..., Value], *args: Any, **more: Any) -> Value:
    """A reply has been paid: a database that is away for half a minute does not lose it."""
    for seconds in PAUSES:
        try:
            return await rows(function, *args, **more)
        except (OperationalError, InterfaceError) as error:
            logger.warning("the database did not take a reply (%s); again in %s s", type(error).__name__, seconds)
            await asyncio.sleep(seconds)
    return await rows(function, *args, **more)


def _start(run: Run) -> None:
    try:
        history.advance(run, "start", by=None)
    except Conflict:
        run.refresh_from_db(fields=["state"])


def _is_due(at: datetime | None) -> bool:
    return at is None or at <= timezone.now()


def _is_finished(run_id: int) -> bool:
    return Run.objects.filter(pk=run_id, state=RunState.FINISHED).exists()
