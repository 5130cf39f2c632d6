"""One event loop per process for all runs that are sent there, however many tasks bring them.

The first task that comes enters the loop and serves it until nothing is left; those that come meanwhile leave their run
with it and are done. So a worker with a few threads, or one, has thousands of calls out. When the worker is told to
stop, nothing more leaves, what is out comes back, and the rest stays queued in its rows for the next worker.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from threading import Lock
from typing import Any

from asgiref.sync import async_to_sync
from celery import signature
from django.conf import settings
from django.db import DatabaseError, connections
from django.utils import timezone

from core.jobs import hurry
from generation import llm
from generation.queries import ready_runs
from generation.sending.doors import Hall
from generation.sending.requests import Texts
from generation.sending.rows import row_threads, rows
from generation.sending.run import RunSending

logger = logging.getLogger(__name__)

# A worker waits this long for a call that may be sent again; what has to wait longer is left to the reconciler.
PATIENCE_SECONDS = 60.0
# Calls that wait in memory for their turn, beside those that are out; the other runs wait in their rows.
MOST_OPEN_CALLS = 4000
RUNS_AT_A_TIME = 200

Message = dict[str, Any]


class Host:
    """The loop, and the runs it was brought."""

    def __init__(self, *, threads: bool = False) -> None:
        """`threads`: rows in threads of its own, as in a worker; else in the thread that enters."""
        self.around: Callable[[], AbstractAsyncContextManager[None]] = row_threads if threads else nullcontext
        self.guard = Lock()
        self.brought: deque[tuple[int, Message | None]] = deque()
        self.looks = False
        self.has_ended = False
        self.is_closing = False
        self.runs: dict[int, RunSending] = {}
        self.again: deque[tuple[int, Message | None]] = deque()
        self.open_calls = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    # --- from any thread ---

    def bring(self, run_id: int | None, then: Message | None = None) -> bool:
        """Leave a run here, or (None) say that runs wait in the database. False when the loop has ended."""
        with self.guard:
            if self.has_ended:
                return False
            if run_id is None:
                self.looks = True
            else:
                self.brought.append((run_id, then))
            self._tell()
        return True

    def close(self) -> None:
        with self.guard:
            self.is_closing = True
            self._tell()

    def _tell(self) -> None:
        if self._loop is not None and not self.has_ended:
            self._loop.call_soon_threadsafe(self._news.set)

    # --- in the loop ---

    async def serve(self) -> None:
        self._news, self.hall, self.texts = asyncio.Event(), Hall(), Texts()
        with self.guard:
            self._loop = asyncio.get_running_loop()
        try:
            async with self.around(), llm.session():
                while not self._is_done():
                    self._news.clear()
                    await self._take_in()
                    if self._tasks or self.is_closing:
                        await self._news.wait()
        finally:
            with self.guard:
                self.has_ended = True

    def _is_done(self) -> bool:
        with self.guard:
            if self.is_closing:
                self.hall.close()
            waits = not self.is_closing and (self.brought or self.looks)
            self.has_ended = not waits and not self._tasks
            return self.has_ended

    async def _take_in(self) -> None:
        while not self.is_closing and self.open_calls < MOST_OPEN_CALLS:
            if not self.brought and not await self._look():
                return
            with self.guard:
                run_id, then = self.brought.popleft()
            if run_id in self.runs:
                # Something was queued in it again: looked at once it is through.
                self.again.append((run_id, then))
            else:
                await self._take(run_id, then)

    async def _look(self) -> bool:
        """Bring what waits in the database. False when nothing does."""
        with self.guard:
            looks, self.looks = self.looks, False
        if not looks:
            return False
        try:
            found = await rows(_ready, list(self.runs))
        except DatabaseError as error:
            logger.warning("what waits could not be read (%s); the reconciler asks again", type(error).__name__)
            return False
        with self.guard:
            self.brought.extend((run_id, None) for run_id in found)
            self.looks = self.looks or len(found) == RUNS_AT_A_TIME
        return bool(found)

    async def _take(self, run_id: int, then: Message | None) -> None:
        sending = RunSending(run_id, self.hall, self.texts, patience=PATIENCE_SECONDS)
        try:
            self.open_calls += await sending.load()
        except Exception as error:
            logger.error("run %s could not be read (%s)", run_id, type(error).__name__)
            return
        self.runs[run_id] = sending
        task = asyncio.get_running_loop().create_task(self._send(sending, then))
        self._tasks.add(task)
        task.add_done_callback(self._forget)

    async def _send(self, sending: RunSending, then: Message | None) -> None:
        try:
            if await sending.send() and then:
                await rows(hurry, signature(then))
        except Exception as error:
            logger.error("run %s is left to the reconciler (%s)", sending.run_id, type(error).__name__)
        finally:
            self.open_calls -= len(sending.calls)
            del self.runs[sending.run_id]

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        with self.guard:
            self.brought.extend(self.again)
            self.again.clear()
        self._news.set()


def _ready(known: list[int]) -> list[int]:
    return list(ready_runs(now=timezone.now()).exclude(pk__in=known).values_list("pk", flat=True)[:RUNS_AT_A_TIME])


# --- the one of this process -----------------------------------------------------------------------------------------

_choosing = Lock()
_host: Host | None = None
_closed = False


def take_in(run_id: int | None, then: Message | None = None) -> None:
    """Leave a run (None: those that wait in the database) with the loop of this process; enter it when there is none,
    and return when all that was brought meanwhile is sent."""
    global _host
    with _choosing:
        if _closed or (_host is not None and _host.bring(run_id, then)):
            return
        host = _host = Host(threads=settings.LBP_SEND_MESSAGES)
        host.bring(run_id, then)
    in_own_loop(host.serve())


def close() -> None:
    """The worker stops: see above."""
    global _closed
    with _choosing:
        _closed = True
        if _host is not None:
            _host.close()


def in_own_loop(work: Coroutine[Any, Any, None]) -> None:
    """Run the loop beside this thread, which goes on serving the rows. Where this thread already has a loop (a
    browser test), a thread of its own does both."""

    async def entered() -> None:
        await work

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        async_to_sync(entered)()
        return

    def apart() -> None:
        try:
            async_to_sync(entered)()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(apart).result()
