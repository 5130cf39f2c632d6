"""What the worker does for documents: one batch by its id, or the texts that a new list of names has not seen. Running
twice, also at once, is harmless."""

from celery import shared_task
from django.core.cache import cache

from core.jobs import hurry
from documents import batches, looking

# A turn: other work of the same worker gets its own between two of them.
LOOKING_SECONDS = 10.0
LOOKING = "documents.look_again"


@shared_task(name="documents.take_in")
def take_in(batch_id: int) -> None:
    batches.take_in(batch_id)


@shared_task(name="documents.look_again")
def look_again() -> None:
    """Texts that wait for a decision, looked through for a changed list of names or by changed rules. One worker is
    enough: a second one would look through the same texts."""
    if not cache.add(LOOKING, True, timeout=3 * LOOKING_SECONDS):
        return
    try:
        is_more = looking.catch_up(LOOKING_SECONDS)
    finally:
        cache.delete(LOOKING)
    if is_more:
        hurry(look_again)


@shared_task(name="documents.take_up_lost")
def take_up_lost() -> None:
    """For the reconciler: batches that no message reached or whose worker died, what they left in the store, and texts
    that wait to be looked through again."""
    for batch_id in batches.unfinished():
        hurry(take_in, batch_id)
    batches.sweep()
    if looking.outdated().exists():
        hurry(look_again)
