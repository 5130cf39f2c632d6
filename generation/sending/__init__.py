"""Sends the calls of runs, all of a process on one event loop, each call at most once.

A call is committed as `calling`, with a lease, before its request leaves (invariant 8), in the transaction that checks
the document's approval (invariant 1), the provider's limits and the budgets. Whoever loses that move leaves the call
alone, so any number of workers may send the same run.
"""

from django.utils import timezone

from core.refusals import Conflict
from generation import cancelling, llm
from generation.queries import lost_calls, ready_runs, unfinished_runs
from generation.sending.doors import Hall
from generation.sending.hosting import PATIENCE_SECONDS, close, in_own_loop, take_in
from generation.sending.requests import Texts
from generation.sending.run import RunSending
from generation.settling import finish_runs_with, take_up_lost_call

__all__ = [
    "close",
    "is_anything_ready",
    "ready_run_ids",
    "send_run",
    "take_in",
    "take_up_lost",
    "work_off",
]


def send_run(run_id: int, *, patience: float | None = PATIENCE_SECONDS) -> bool:
    """Send what the run has to send, in a loop of its own; True when the run is finished afterwards. Safe to run
    twice, also at once.

    `patience`: how long to wait for calls that may be sent again later; None waits for all of them.
    """
    finished = False

    async def send() -> None:
        nonlocal finished
        async with llm.session():
            sending = RunSending(run_id, Hall(), Texts(), patience=patience)
            await sending.load()
            finished = await sending.send()

    in_own_loop(send())
    return finished


def work_off() -> int:
    """In process, without a broker: every queued run as far as it comes. Returns how many runs were finished."""
    take_up_lost()
    cancelling.work_off()
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
    """Runs that have something to send now: what the broker lost, and what had to wait."""
    return list(ready_runs(now=timezone.now()).values_list("pk", flat=True))


def is_anything_ready() -> bool:
    return ready_runs(now=timezone.now()).exists()
