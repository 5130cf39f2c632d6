"""A message to the worker is a hint to hurry. The row in the database is the truth: what no message reaches is taken
up by the reconciler (`leading.tasks.reconcile`)."""

import logging
from typing import Any

from celery import Task
from celery.canvas import Signature
from django.conf import settings
from django.db import transaction

logger = logging.getLogger(__name__)


def hurry(task: Task | Signature, *args: Any) -> None:
    """Send `task(*args)` when the current transaction has committed. A broker that is down delays, it never fails."""
    if not settings.LBP_SEND_MESSAGES:
        return
    signature = task if isinstance(task, Signature) else task.si(*args)

    def send() -> None:
        try:
            signature.apply_async(retry=False)
        except Exception as error:
            logger.warning(
                "broker not reached (%s), the reconciler will take it up",
                type(error).__name__,
            )

    transaction.on_commit(send)
