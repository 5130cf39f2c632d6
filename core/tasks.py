"""What is done from time to time, whoever is at work."""

from celery import shared_task

from core import sealing


@shared_task(name="core.seal_trail", ignore_result=True, soft_time_limit=120, time_limit=150)
def seal_trail() -> None:
    sealing.seal_trail()
