from celery import shared_task

from review import opening


@shared_task(name=opening.OPEN_CASES)
def open_cases() -> None:
    opening.work_off()
