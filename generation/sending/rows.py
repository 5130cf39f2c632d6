"""Rows are read and written in the one thread that entered the loop, between the awaits, on its one connection."""

from collections.abc import Callable
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.db import connection

Value = TypeVar("Value")


async def rows(function: Callable[..., Value], *args: Any, **more: Any) -> Value:
    return await sync_to_async(_on_a_good_connection, thread_sensitive=True)(function, *args, **more)


def _on_a_good_connection(function: Callable[..., Value], *args: Any, **more: Any) -> Value:
    """The loop may live for days: a connection that the database has closed meanwhile, or that is old, is renewed."""
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()
    return function(*args, **more)
