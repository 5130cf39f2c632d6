"""How far a parser has come in a long file: said by the child on its standard error, heard by whoever listens."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# So often at most; a file that is read faster says nothing.
EVERY_SECONDS = 0.5
# A parser that a file took over may say anything: more than this is not kept.
LONGEST = 64
_SAID = re.compile(rb"(\d{1,6}) (\d{1,6})\n")

Listener = Callable[[int, int], None]
_listener: ContextVar[Listener | None] = ContextVar("progress of a parser", default=None)


class Teller:
    """In the child."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def tell(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._said >= EVERY_SECONDS:
            self._said = now
            print(done, total, file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """In the parent: whatever this thread has parsed meanwhile is told to the listener as (done, total)."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def heard(words: bytes) -> bytes:
    """Tell the listener of the last whole line. Returns what is not yet whole."""
    found = _SAID.findall(words)
    listener = _listener.get()
    if found and listener is not None:
        done, total = map(int, found[-1])
        listener(min(done, total), total)
    return words.rpartition(b"\n")[2][-LONGEST:]
