"""What the worker does: one row by its id. Running twice, also at once, is harmless."""

from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down

from core.jobs import hurry
from generation import cancelling, sending, trying

# The reconciler says it again by then.
STALE_SECONDS = 60.0


@shared_task(name="generation.send_run")
def send_run(run_id: int, then: dict[str, Any] | None = None) -> None:
    """Send a run's calls. `then`: the message that hurries whoever waits for the run, sent when it has finished."""
    sending.take_in(run_id, then)


@shared_task(name="generation.send_ready")
def send_ready() -> None:
    """Send what waits in any run and may be sent now."""
    sending.take_in(None)


@shared_task(name="generation.cancel_asked")
def cancel_asked() -> None:
    """Cancel the runs of which that was asked, until none is left."""
    cancelling.work_off()


@shared_task(name="generation.send_trial")
def send_trial(trial_id: int) -> None:
    trying.send_trial(trial_id)


@shared_task(name="generation.take_up_lost")
def take_up_lost() -> None:
    """For the reconciler: what a dead worker left, and what no message reached."""
    sending.take_up_lost()
    trying.take_up_lost()
    for trial_id in trying.waiting_trials():
        hurry(send_trial, trial_id)
    if cancelling.is_anything_asked():
        hurry(cancel_asked.si().set(expires=STALE_SECONDS))
    if sending.is_anything_ready():
        hurry(send_ready.si().set(expires=STALE_SECONDS))


@worker_shutting_down.connect
def _close(**more: Any) -> None:
    """What is out comes back; what waits stays queued for the next worker."""
    sending.close()
