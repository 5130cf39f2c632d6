"""Seals over the audit trail: who changes, removes or adds a line of it behind the program's back is found out.

A seal holds the hash of each line of its batch, and one over these and the seal before it. Lines are sealed by a job,
never by those who write them, so that writers do not queue behind one chain. What a later seal does not show is a trail
rewritten from some line to its end, seals and all: note the newest seal elsewhere (`verify_audit` prints it).

PostgreSQL gives out numbers before it commits, so a line may appear behind lines of higher numbers. A batch ends
therefore at a number that was noted earlier, and is sealed once every transaction that wrote lines then has ended: each
holds a lock on the table from before it takes a number to its end.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from core.models import Event, TrailHorizon, TrailSeal

LARGEST_BATCH = 5000
# Above it a float does not tell neighbours apart, and each database writes such a number in its own way.
EXACT = 2**53
FIELDS = (*("id", "at", "by_id", "action", "subject_type", "subject_id", "from_state", "to_state", "reason", "data"),)


# Lines as bytes ------------------------------------------------------------------------------------------
def line_of(event: Event) -> dict[str, Any]:
    """The line as it is exported; what the seals are made of."""
    line = {name: getattr(event, name) for name in FIELDS}
    return {**line, "at": event.at.astimezone(UTC).isoformat(timespec="microseconds")}


def digest_of(line: Mapping[str, Any]) -> str:
    """The same on every database."""
    values = [_canonical(line[name]) for name in FIELDS]
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return float(value) if type(value) is int and abs(value) > EXACT else value


def _seal_digest(number: int, previous: str, lines: Mapping[str, str]) -> str:
    text = json.dumps([number, previous, sorted((int(pk), digest) for pk, digest in lines.items())])
    return hashlib.sha256(text.encode()).hexdigest()


# Sealing -------------------------------------------------------------------------------------------------
def seal_trail() -> list[TrailSeal]:
    """Seal what has settled, and note how far the trail reaches now, for the next time."""
    made: list[TrailSeal] = []
    with transaction.atomic():
        TrailHorizon.objects.get_or_create(pk=1)
        horizon = TrailHorizon.objects.select_for_update().get(pk=1)
        if not set(horizon.writers) & set(_writers()):
            made = list(_seal_to(horizon.last_id))
            # In this order: who has taken a number up to the newest is a writer still, or has ended.
            horizon.last_id = _newest()
            horizon.writers, horizon.noted_at = _writers(), timezone.now()
            horizon.save()
        if connection.vendor != "postgresql":  # one writer at a time: what is there is all there is
            made += _seal_to(horizon.last_id)
    return made


def _newest() -> int:
    return Event.objects.aggregate(newest=Max("id"))["newest"] or 0


def _writers() -> list[str]:
    """The other transactions that are writing lines now."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND granted "
            "AND mode = 'RowExclusiveLock' AND relation = %s::regclass AND pid IS DISTINCT FROM pg_backend_pid() "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            [Event._meta.db_table],
        )
        return [row[0] for row in cursor.fetchall()]


def _seal_to(last_id: int) -> Iterator[TrailSeal]:
    while True:
        before = TrailSeal.objects.order_by("-number").first()
        since = before.last_id if before else 0
        batch = list(Event.objects.filter(id__gt=since, id__lte=last_id).order_by("id")[:LARGEST_BATCH])
        if not batch:
            return
        lines = {str(event.pk): digest_of(line_of(event)) for event in batch}
        number, previous = (before.number + 1, before.digest) if before else (1, "")
        yield TrailSeal.objects.create(
            number=number,
            first_id=batch[0].pk,
            last_id=batch[-1].pk,
            count=len(batch),
            lines=lines,
            previous=previous,
            digest=_seal_digest(number, previous, lines),
        )


# Verifying -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Fault:
    """`what` is a stable word: changed, removed, inserted, reordered; of seals: seal_changed, seal_missing."""

    what: str
    number: int

    def __str__(self) -> str:
        return f"{'seal' if self.what.startswith('seal') else 'line'} {self.number}: {self.what}"


def verify(lines: Iterable[Mapping[str, Any]] | None = None, *, whole: bool = True) -> Iterator[Fault]:
    """Hold the trail, or an exported file of it, against the seals. `whole`: no line may be missing from the file
    between its first and its last one."""
    yield from _faults_of_seals()
    if lines is None:
        yield from _faults_of_rows()
    else:
        yield from _faults_of_file(lines, whole)


def _faults_of_seals() -> Iterator[Fault]:
    previous, number, last_id = "", 0, 0
    for seal in TrailSeal.objects.order_by("number").iterator(chunk_size=20):
        for missing in range(number + 1, seal.number):
            yield Fault("seal_missing", missing)
        ids = [int(pk) for pk in seal.lines]
        fits = (len(ids), min(ids, default=0), max(ids, default=0)) == (seal.count, seal.first_id, seal.last_id)
        chained = seal.number != number + 1 or seal.previous == previous
        if not (fits and chained and seal.first_id > last_id) or seal.digest != _seal_digest(
            seal.number, seal.previous, seal.lines
        ):
            yield Fault("seal_changed", seal.number)
        previous, number, last_id = seal.digest, seal.number, seal.last_id


def _faults_of_rows() -> Iterator[Fault]:
    since = 0
    for seal in TrailSeal.objects.order_by("number").iterator(chunk_size=20):
        rows = Event.objects.filter(id__gt=since, id__lte=seal.last_id).order_by("id")
        yield from _compared({row.pk: digest_of(line_of(row)) for row in rows}, seal.lines)
        since = max(since, seal.last_id)


def _compared(found: Mapping[int, str], sealed: Mapping[str, str]) -> Iterator[Fault]:
    known = {int(pk): digest for pk, digest in sealed.items()}
    for pk in sorted(found.keys() | known.keys()):
        if pk not in known:
            yield Fault("inserted", pk)
        elif pk not in found:
            yield Fault("removed", pk)
        elif found[pk] != known[pk]:
            yield Fault("changed", pk)


def _faults_of_file(lines: Iterable[Mapping[str, Any]], whole: bool) -> Iterator[Fault]:
    found: dict[int, str] = {}
    last = 0
    for line in lines:
        pk = int(line["id"])
        if pk <= last:
            yield Fault("reordered", pk)
        last = max(last, pk)
        found[pk] = digest_of(line)
    if not found:
        return
    first = min(found)
    for seal in TrailSeal.objects.filter(last_id__gte=first, first_id__lte=last).order_by("number"):
        sealed = {pk: digest for pk, digest in seal.lines.items() if first <= int(pk) <= last}
        of_seal = {pk: digest for pk, digest in found.items() if pk <= seal.last_id}
        found = {pk: digest for pk, digest in found.items() if pk > seal.last_id}
        for fault in _compared(of_seal, sealed):
            if whole or fault.what != "removed":
                yield fault


def unsealed() -> int:
    """How many lines no seal covers yet."""
    last = TrailSeal.objects.aggregate(last=Max("last_id"))["last"] or 0
    return Event.objects.filter(id__gt=last).count()
