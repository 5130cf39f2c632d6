"""Rows are read and written between the awaits, outside the loop's thread.

By default in the one thread that entered the loop, on its one connection: whoever calls sees what it sees itself. A
worker's loop has a few threads of its own, so that one call's commit does not wait for another's.
"""

import asyncio
import contextvars
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from threading import Barrier, local
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.db import connection, connections

ROW_THREADS = 4
CHECK_SECONDS = 10.0

Value = TypeVar("Value")

_pool: contextvars.ContextVar[ThreadPoolExecutor | None] = contextvars.ContextVar("row threads", default=None)
_checked = local()


async def rows(function: Callable[..., Value], *args: Any, **more: Any) -> Value:
    pool = _pool.get()
    if pool is None:
        return await sync_to_async(_on_a_good_connection, thread_sensitive=True)(function, *args, **more)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(pool, lambda: _on_a_good_connection(function, *args, **more))


@asynccontextmanager
async def row_threads() -> AsyncIterator[None]:
    """Around a worker's loop. SQLite has one writer at a time: there one thread does."""
    count = 1 if connection.vendor == "sqlite" else ROW_THREADS
    pool = ThreadPoolExecutor(max_workers=count, thread_name_prefix="rows")
    token = _pool.set(pool)
    try:
        yield
    finally:
        _pool.reset(token)
        together = Barrier(count)
        ended = [asyncio.get_running_loop().run_in_executor(pool, _close, together) for _thread in range(count)]
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
