"""What the worker does for documents: one batch by its id. Running twice, also at once, is harmless."""

from celery import shared_task

from core.jobs import hurry
from documents import batches


@shared_task(name="documents.take_in")
def take_in(batch_id: int) -> None:
    batches.take_in(batch_id)


@shared_task(name="documents.take_up_lost")
def take_up_lost() -> None:
    """For the reconciler: batches that no message reached or whose worker died, and what they left in the store."""
    for batch_id in batches.unfinished():
        hurry(take_in, batch_id)
    batches.sweep()
