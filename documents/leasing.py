"""Whose a batch is: one worker's at a time, for as long as it shows signs of life.

A lease is short, so that a batch goes on soon after its worker was killed, and is renewed while the work goes on: with
every text, and from a thread of its own while one takes long (a parser has a minute for its file). Nobody who lost it
can store anything more: each change asks for the lease that it was given.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import DatabaseError, connection, connections, transaction
from django.db.models import Q
from django.utils import timezone

from core import history
from documents.models import ImportBatch
from documents.workflow import BatchState

logger = logging.getLogger(__name__)

# Whoever shows no sign of life for so long has died. The reconciler looks every 15 s: at most 27 s are waited.
LEASE = timedelta(seconds=12)
BEAT_SECONDS = 3.0
UNFINISHED = (BatchState.WAITING, BatchState.RUNNING)


class Lost(Exception):
    """The batch was cancelled, or somebody else holds it by now."""


@dataclass
class Held:
    """A batch whose lease is ours until `until`, which is also the proof that it still is. `alone` keeps the thread
    that works and the thread that shows its life from renewing it at once."""

    batch: ImportBatch
    until: datetime
    alone: threading.RLock = field(default_factory=threading.RLock)
    renewed: float = field(default_factory=time.monotonic)

    def renew(self, **changes: object) -> None:
        with self.alone:
            until = timezone.now() + LEASE
            ours = ImportBatch.objects.filter(pk=self.batch.pk, state=BatchState.RUNNING, leased_until=self.until)
            if not ours.update(leased_until=until, **changes):
                raise Lost
            self.until, self.renewed = until, time.monotonic()

    @contextmanager
    def storing(self) -> Iterator[None]:
        """A transaction that renews the lease: nobody else renews it before this one has committed."""
        with self.alone, transaction.atomic():
            yield

    def give_back(self) -> None:
        """Nobody has to wait for the lease to end."""
        with self.alone:
            ImportBatch.objects.filter(pk=self.batch.pk, leased_until=self.until).update(leased_until=None)


def free(now: datetime) -> Q:
    return Q(leased_until=None) | Q(leased_until__lt=now)


def unfinished() -> list[int]:
    """Batches that nobody is working on."""
    waiting = ImportBatch.objects.filter(free(timezone.now()), state__in=UNFINISHED)
    return list(waiting.order_by("pk").values_list("pk", flat=True))


def hold(batch_id: int) -> Held | None:
    """Take the lease, and note it in the batch's history. None when it has ended or somebody else holds it."""
    now = timezone.now()
    until = now + LEASE
    with transaction.atomic():
        if not ImportBatch.objects.filter(free(now), pk=batch_id, state__in=UNFINISHED).update(leased_until=until):
            return None
        batch = ImportBatch.objects.select_related("made_by").get(pk=batch_id)
        if batch.state == BatchState.WAITING:
            history.advance(batch, "start", by=None)
            ImportBatch.objects.filter(pk=batch_id).update(started_at=now)
        else:
            history.record("resume_batch", batch, by=None)
    return Held(batch, until)


@contextmanager
def beating(held: Held) -> Iterator[None]:
    """Renew the lease in the background whenever the work itself has not for BEAT_SECONDS."""
    if connection.in_atomic_block:
        # Nobody else sees a lease inside an open transaction, and the one writer of SQLite is busy.
        yield
        return
    done = threading.Event()
    heart = threading.Thread(target=_beat, args=(held, done), name=f"batch {held.batch.pk} lives", daemon=True)
    heart.start()
    try:
        yield
    finally:
        done.set()
        heart.join()


def _beat(held: Held, done: threading.Event) -> None:
    try:
        while not done.wait(BEAT_SECONDS / 3):
            with held.alone:
                if not done.is_set() and time.monotonic() - held.renewed >= BEAT_SECONDS:
                    _renew(held)
    except Lost:
        # Whoever does the work finds out with its next text.
        pass
    finally:
        connections.close_all()


def _renew(held: Held) -> None:
    try:
        held.renew()
    except DatabaseError as error:
        logger.warning("the lease of batch %s was not renewed (%s)", held.batch.pk, type(error).__name__)
