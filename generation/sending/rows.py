"""Rows are read and written between the awaits, outside the loop's thread.

By default in the one thread that entered the loop, on its one connection: whoever calls sees what it sees itself. A
worker's loop has a few threads of its own, so that one call's commit does not wait for another's. What is urgent goes
first there: a place that has become free at a provider is filled before the replies that came with it are written.
"""

import asyncio
import contextvars
import itertools
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from queue import PriorityQueue
from threading import Barrier, local
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.db import connection, connections

ROW_THREADS = 4
CHECK_SECONDS = 10.0

Value = TypeVar("Value")

_pool: contextvars.ContextVar["RowThreads | None"] = contextvars.ContextVar("row threads", default=None)
_checked = local()


class RowThreads:
    """A few threads, and one line of work before them: what is urgent in front."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(max_workers=count, thread_name_prefix="rows")
        self._line: PriorityQueue[tuple[int, int, Future[Any], Callable[[], Any]]] = PriorityQueue()
        self._numbers = itertools.count()

    def submit(self, work: Callable[[], Value], *, urgent: bool = False) -> "Future[Value]":
        done: Future[Value] = Future()
        self._line.put((0 if urgent else 1, next(self._numbers), done, work))
        self._pool.submit(self._take_one)
        return done

    def _take_one(self) -> None:
        """For each piece of work one turn of a thread; which piece it is, the line says."""
        _rank, _number, done, work = self._line.get_nowait()
        if not done.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(result)

    def shutdown(self) -> None:
        self._pool.shutdown()


async def rows(function: Callable[..., Value], *args: Any, **more: Any) -> Value:
    return await _rows(function, args, more, urgent=False)


async def urgent_rows(function: Callable[..., Value], *args: Any, **more: Any) -> Value:
    return await _rows(function, args, more, urgent=True)


async def _rows(function: Callable[..., Value], args: Any, more: Any, *, urgent: bool) -> Value:
    pool = _pool.get()
    if pool is None:
        return await sync_to_async(_on_a_good_connection, thread_sensitive=True)(function, *args, **more)
    return await asyncio.wrap_future(pool.submit(lambda: _on_a_good_connection(function, *args, **more), urgent=urgent))


@asynccontextmanager
async def row_threads() -> AsyncIterator[None]:
    """Around a worker's loop. SQLite has one writer at a time: there one thread does."""
    pool = RowThreads(1 if connection.vendor == "sqlite" else ROW_THREADS)
    token = _pool.set(pool)
    try:
        yield
    finally:
        _pool.reset(token)
        together = Barrier(pool.count)
        ended = [asyncio.wrap_future(pool.submit(lambda: _close(together))) for _thread in range(pool.count)]
        await asyncio.gather(*ended)
        pool.shutdown()


def _close(together: Barrier) -> None:
    """Each thread closes its own connection: none takes the place of another."""
    together.wait()
    connections.close_all()


def _on_a_good_connection(function: Callable[..., Value], *args: Any, **more: Any) -> Value:
    """The loop may live for days: a connection that the database has closed meanwhile, or that is old, is renewed."""
    now = time.monotonic()
    failed = connection.connection is not None and connection.errors_occurred
    if not connection.in_atomic_block and (failed or now - getattr(_checked, "at", 0.0) > CHECK_SECONDS):
        connection.close_if_unusable_or_obsolete()
        _checked.at = now
    return function(*args, **more)
