"""Background work: load one row, make one call."""

from celery import shared_task

from annotation import receiving
from annotation.models import Sample


@shared_task(name="annotation.receive_drafts")
def receive_drafts(sample_id: int) -> None:
    receiving.receive(Sample.objects.get(pk=sample_id))
