"""The worker's sign of life. Only what has gone the whole way, from clock to broker to worker, proves that jobs move:
a worker process that exists, and even one that answers a ping, may have stopped taking up messages."""

import time

from celery import shared_task
from django.core.cache import cache

PULSE = "worker-pulse"


@shared_task(name="config.leave_pulse")
def leave_pulse() -> None:
    cache.set(PULSE, time.time(), timeout=None)


def seconds_since_pulse() -> float | None:
    """None when no worker has ever taken up a message."""
    at = cache.get(PULSE)
    return None if at is None else max(0.0, time.time() - at)
