"""The reconciler: rows are the truth, and what no message reached is taken up here."""

import logging

from celery import shared_task
from django.db import DatabaseError

import annotation.receiving
import annotation.tasks
import documents.tasks
import generation.tasks
import release.building
import release.labelling
import review.opening

logger = logging.getLogger(__name__)

ROUND = (
    documents.tasks.take_up_lost,
    generation.tasks.take_up_lost,
    annotation.tasks.take_up_drafting,
    annotation.receiving.work_off,
    review.opening.work_off,
    release.labelling.work_off,
    release.building.take_up_lost,
)


@shared_task(name="leading.reconcile", ignore_result=True, soft_time_limit=120, time_limit=150)
def reconcile() -> None:
    """One round over every stage. A stage that fails is logged and does not hold up the others."""
    for step in ROUND:
        try:
            step()
        except DatabaseError as error:
            logger.warning(
                "%s waits for the next round: %s", getattr(step, "name", step.__module__), type(error).__name__
            )
