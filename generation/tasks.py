"""What the worker does: one row by its id. Running twice, also at once, is harmless."""

from typing import Any

from celery import shared_task, signature

from core.jobs import hurry
from generation import sending


@shared_task(name="generation.send_run")
def send_run(run_id: int, then: dict[str, Any] | None = None) -> None:
    """Send a run's calls. `then`: the message that hurries whoever waits for the run, sent when it has finished."""
    if sending.send_run(run_id) and then:
        hurry(signature(then))


@shared_task(name="generation.take_up_lost")
def take_up_lost() -> None:
    """For the reconciler: what a dead worker left, and what no message reached."""
    sending.take_up_lost()
    for run_id in sending.ready_run_ids():
        hurry(send_run, run_id)
