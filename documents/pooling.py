"""Measuring texts beside whoever reads and stores them: in threads, and in processes once there is much to measure.

Measuring is nearly all the work of taking a text in: tokens, SHA-256, gzip, findings, script and marks. It needs
neither the database nor words for people, so a child process imports this module and little else. Texts go to the
children and figures come back; a child ends when its parent does, however that ends.
"""

import hashlib
import logging
import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import wait
from types import TracebackType

from django.conf import settings
from isal import igzip

from documents.findings import Finding, findings_in
from documents.languages import Characters, characters_in
from documents.passages import Mark, codes_of, marks_of
from documents.tokenizing import count_tokens

logger = logging.getLogger(__name__)

# ISA-L's gzip: smaller than level 1 of Python's own, in less than a third of the time.
GZIP_LEVEL = 2
# Starting a child costs more than a second: below this (characters) nobody would gain from it.
MUCH = 4_000_000
THREADS = 2
IDLE_SECONDS = 60.0


@dataclass(frozen=True)
class Measured:
    """All that is computed from a text alone."""

    gzipped: bytes
    sha256: str
    chars: int
    bytes: int
    tokens: int
    characters: Characters
    findings: tuple[Finding, ...]
    marks: tuple[Mark, ...]


def measure(text: str) -> Measured:
    data = text.encode()
    codes = codes_of(text)
    return Measured(
        sha256=hashlib.sha256(data).hexdigest(),
        chars=len(text),
        bytes=len(data),
        tokens=count_tokens(text),
        gzipped=igzip.compress(data, GZIP_LEVEL, mtime=0),
        characters=characters_in(text, codes),
        findings=tuple(findings_in(text)),
        marks=tuple(marks_of(text, codes)),
    )


class Measuring:
    """Used as a context. `submit` gives a future at once; `result` waits for it, and survives a killed child."""

    def __init__(self, processes: int | None = None) -> None:
        self.processes = settings.LBP_INTAKE_PROCESSES if processes is None else processes
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="measuring")
        self._pool: _Pool | None = None
        self._seen = 0

    @property
    def places(self) -> int:
        """How many texts are worth being under way at once."""
        return 4 * max(THREADS, self.processes) + 4

    def __enter__(self) -> "Measuring":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._threads.shutdown(wait=kind is None, cancel_futures=True)
        if self._pool is not None:
            _give_back(self._pool)

    def submit(self, text: str) -> "Future[Measured]":
        self._seen += len(text)
        if self._pool is None and self.processes > 1 and self._seen > MUCH:
            self._pool = _borrow(self.processes)
        if self._pool is not None and self._pool.is_warm:
            try:
                return self._pool.executor.submit(measure, text)
            except (BrokenProcessPool, RuntimeError):
                self._lose_pool()
        return self._threads.submit(measure, text)

    def result(
        self, future: "Future[Measured]", text: str, *, meanwhile: Callable[[], object], every: float
    ) -> Measured:
        """The future's result. `meanwhile` is called every so many seconds while it is waited for."""
        while True:
            try:
                return future.result(timeout=every)
            except TimeoutError:
                meanwhile()
            except BrokenProcessPool:
                logger.warning("a measuring process was killed; its texts are measured here")
                self._lose_pool()
                return measure(text)

    def warm_up(self) -> None:
        """Start the processes now and wait for them: for measurements of speed."""
        if self.processes > 1 and self._pool is None:
            self._pool = _borrow(self.processes)
            for future in self._pool.started:
                future.result()

    def _lose_pool(self) -> None:
        """Go on in threads. Whoever comes next starts a pool anew."""
        if self._pool is not None:
            _drop(self._pool)
        self._pool, self.processes = None, 1


# The pool: one for all batches of a process, kept for a while --------------------------------------------------------


class _Pool:
    def __init__(self, processes: int) -> None:
        self.processes = processes
        self.users = 0
        self.timer: threading.Timer | None = None
        self.executor = ProcessPoolExecutor(
            processes, mp_context=multiprocessing.get_context("spawn"), initializer=_prepare_child
        )
        self.started = [self.executor.submit(os.getpid) for _each in range(processes)]

    @property
    def is_warm(self) -> bool:
        return all(future.done() for future in self.started)


_lock = threading.Lock()
_pools: list[_Pool] = []


def _borrow(processes: int) -> _Pool:
    with _lock:
        pool = next((pool for pool in _pools if pool.processes == processes), None)
        if pool is None:
            pool = _Pool(processes)
            _pools.append(pool)
        if pool.timer is not None:
            pool.timer.cancel()
            pool.timer = None
        pool.users += 1
        return pool


def _give_back(pool: _Pool) -> None:
    with _lock:
        pool.users -= 1
        if pool.users == 0 and pool in _pools:
            pool.timer = threading.Timer(IDLE_SECONDS, _close_idle, args=(pool,))
            pool.timer.daemon = True
            pool.timer.start()


def _close_idle(pool: _Pool) -> None:
    with _lock:
        if pool.users or pool not in _pools:
            return
        _pools.remove(pool)
    pool.executor.shutdown(wait=False, cancel_futures=True)


def _drop(pool: _Pool) -> None:
    with _lock:
        if pool in _pools:
            _pools.remove(pool)
    pool.executor.shutdown(wait=False, cancel_futures=True)


def _prepare_child() -> None:
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    count_tokens("The tokenizer is loaded before the first text comes.")


def _end_with_the_parent() -> None:
    """However the parent ends, also killed: then its end of this pipe closes."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
