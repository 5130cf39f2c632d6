"""Background work: load one row, make one call."""

from celery import shared_task

from annotation import drafting, receiving
from annotation.models import Sample
from core.jobs import hurry


@shared_task(name="annotation.receive_drafts")
def receive_drafts(sample_id: int) -> None:
    receiving.receive(Sample.objects.get(pk=sample_id))


@shared_task(name=drafting.START)
def start_drafting_batch(batch_id: int) -> None:
    drafting.start_waiting(batch_id)


@shared_task(name="annotation.take_up_drafting")
def take_up_drafting() -> None:
    """For the reconciler: batches that no message reached, or whose worker died."""
    for batch_id in drafting.unfinished_batches():
        hurry(start_drafting_batch, batch_id)
