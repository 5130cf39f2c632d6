"""The queue of documents that wait for compliance: what comes next, and who looks at what just now.

Who looks is a hint that lives in the cache, so that two people who clear at once are offered different documents. It
binds nobody: what counts is what a decision finds when it is made (`documents.actions.compliance`).
"""

from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Q

from core.models import User
from documents.models import Document, DocumentVersion
from documents.workflow import VersionState

# Whoever opened a document longer ago is taken to have gone.
LOOKS_SECONDS = 600
# So far ahead is looked for a document that nobody looks at.
AHEAD = 20


@dataclass(frozen=True)
class Queue:
    """`position` is this document's among those that wait, from 1; 0 when it does not wait. `next_up` is another one
    that waits, one that nobody looks at if there is such. `others` look at this document now."""

    waiting: int
    position: int
    next_up: Document | None
    others: tuple[str, ...]


def queue_at(document: Document, person: User) -> Queue:
    """Three queries and one look into the cache, however long the queue."""
    pending = Document.objects.in_state(VersionState.PENDING).order_by("pk")
    counts = pending.aggregate(
        waiting=Count("pk"),
        before=Count("pk", filter=Q(pk__lt=document.pk)),
        here=Count("pk", filter=Q(pk=document.pk)),
    )
    behind = list(pending.filter(pk__gt=document.pk)[:AHEAD])
    ahead = behind + ([] if len(behind) == AHEAD else list(pending.filter(pk__lt=document.pk)[: AHEAD - len(behind)]))
    looked_at = cache.get_many([_key(other.latest_id) for other in [document, *ahead]])
    free = [one for one in ahead if not _others(looked_at, one.latest_id, person)]
    return Queue(
        waiting=counts["waiting"],
        position=counts["before"] + 1 if counts["here"] else 0,
        next_up=next(iter(free or ahead), None),
        others=tuple(_others(looked_at, document.latest_id, person)),
    )


def note_looking(version: DocumentVersion, person: User) -> None:
    """This person looks at this version now, and no longer at the one before: skipping leaves nothing behind."""
    own = f"looks-person-{person.pk}"
    before = cache.get(own)
    if before is not None and before != version.pk:
        _let_go(before, person)
    cache.set(own, version.pk, LOOKS_SECONDS)
    looking = cache.get(_key(version.pk), {})
    cache.set(_key(version.pk), {**looking, person.pk: person.name}, LOOKS_SECONDS)


def _let_go(version: int, person: User) -> None:
    others = {pk: name for pk, name in cache.get(_key(version), {}).items() if pk != person.pk}
    if others:
        cache.set(_key(version), others, LOOKS_SECONDS)
    else:
        cache.delete(_key(version))


def forget_looking(version: DocumentVersion) -> None:
    cache.delete(_key(version.pk))


def _key(version: int | None) -> str:
    return f"looks-at-version-{version}"


def _others(looked_at: dict[str, Any], version: int | None, person: User) -> list[str]:
    return [name for pk, name in looked_at.get(_key(version), {}).items() if pk != person.pk]
