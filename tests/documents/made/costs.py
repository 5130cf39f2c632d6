"""What a test costs in processor time, which says the same on a busy machine: this process and its ended children."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


def spent() -> float:
    """Seconds of processor time so far."""
    usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    before = spent()
    yield
    cost = spent() - before
    assert cost < seconds, f"{cost:.1f} seconds of processor time"
