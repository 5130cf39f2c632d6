"""The worker's door: each task takes up one row and may be run twice, or twice at a time."""

from celery import shared_task

from release import building, labelling
from release.models import Release


@shared_task(name=labelling.TASK, ignore_result=True)
def work_off_labels() -> None:
    labelling.work_off()


@shared_task(name=building.TASK, ignore_result=True)
def build_release(release_id: int) -> None:
    building.build(Release.objects.get(pk=release_id))
