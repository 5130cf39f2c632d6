"""The audit trail, and the one function that moves a state.

Both write in the transaction of the caller's change: a change and its line commit together or not at all.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import Any, TypeVar

from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.models import Event, Stateful, User
from core.refusals import Conflict
from core.text import clean_value

Record = TypeVar("Record", bound=Stateful)


def record(
    action: str,
    subject: models.Model,
    *,
    by: User | None,
    reason: str = "",
    **data: Any,
) -> Event:
    """Write one line: who did what to which record. `by=None` is the system. Never document or model text in `data`."""
    event = line(action, subject, by=by, reason=reason, **data)
    event.save(force_insert=True)
    return event


def line(action: str, subject: models.Model, *, by: User | None, reason: str = "", **data: Any) -> Event:
    """What `record` writes, unwritten: for `record_all`."""
    return Event(
        action=f"{subject._meta.app_label}.{action}",
        by=by,
        subject_type=subject._meta.model_name or "",
        subject_id=subject.pk,
        reason=clean_value(reason),
        data=clean_value(data),
    )


def record_all(lines: Iterable[Event]) -> None:
    """Write many lines by one statement, in their order."""
    Event.objects.bulk_create(lines)


def advance(
    subject: Record,
    move: str,
    *,
    by: User | None,
    reason: str = "",
    also: Mapping[str, Any] | None = None,
    locked_in: str = "",
    **data: Any,
) -> Record:
    """Move `subject` along its lifecycle: lock, check, save, record, all in one transaction.

    The given instance is updated in place and returned. Raises Conflict (409) when the record is not in a state from
    which the move starts, with the state it is in now. `also`: fields that are written with the state. `locked_in`:
    the state, where the caller holds the row's lock and has just read it.
    """
    # A refusal comes before anything is written: inside a transaction no savepoint is needed.
    with nullcontext() if transaction.get_connection().in_atomic_block else transaction.atomic():
        return _advance(subject, move, by, reason, also or {}, locked_in, data)


def _advance(
    subject: Record,
    move: str,
    by: User | None,
    reason: str,
    also: Mapping[str, Any],
    locked_in: str,
    data: Mapping[str, Any],
) -> Record:
    lifecycle = subject.lifecycle
    target = lifecycle.moves[move].target
    rows = type(subject)._default_manager
    state = locked_in or rows.select_for_update().values_list("state", flat=True).get(pk=subject.pk)
    if not lifecycle.allows(state, move):
        raise moved_on(subject, state)
    now = timezone.now()
    # Conditional, because SQLite has no row locks: whoever changed the state first has won.
    if not rows.filter(pk=subject.pk, state=state).update(state=target, state_since=now, **also):
        raise moved_on(subject, rows.values_list("state", flat=True).get(pk=subject.pk))
    subject.state, subject.state_since = target, now
    Event.objects.create(
        action=f"{subject._meta.app_label}.{move}",
        at=now,
        by=by,
        subject_type=subject._meta.model_name or "",
        subject_id=subject.pk,
        from_state=state,
        to_state=target,
        reason=clean_value(reason),
        data=clean_value(data),
    )
    return subject


@transaction.atomic
def advance_all(
    subjects: Iterable[Record],
    move: str,
    *,
    by: User | None,
    reason: str = "",
    data: Callable[[Record], Mapping[str, Any]] = lambda subject: {},
) -> list[Record]:
    """`advance` for many records of one kind, in a fixed number of queries. Those from whose state the move does not
    start are left as they are and out of the returned list. `data`: what the line of each says beside the move."""
    by_pk = {subject.pk: subject for subject in subjects}
    if not by_pk:
        return []
    model = type(next(iter(by_pk.values())))
    lifecycle = model.lifecycle
    target = lifecycle.moves[move].target
    rows = model._default_manager.select_for_update().filter(pk__in=by_pk, state__in=lifecycle.moves[move].sources)
    states = dict(rows.order_by("pk").values_list("pk", "state"))
    now = timezone.now()
    model._default_manager.filter(pk__in=states).update(state=target, state_since=now)
    lines = []
    for pk, state in states.items():
        subject = by_pk[pk]
        lines.append(
            Event(
                action=f"{subject._meta.app_label}.{move}",
                at=now,
                by=by,
                subject_type=subject._meta.model_name or "",
                subject_id=pk,
                from_state=state,
                to_state=target,
                reason=clean_value(reason),
                data=clean_value(dict(data(subject))),
            )
        )
        subject.state, subject.state_since = target, now
    Event.objects.bulk_create(lines)
    return [by_pk[pk] for pk in states]


def moved_on(subject: Stateful, state: str) -> Conflict:
    label = subject.lifecycle.states(state).label
    return Conflict(
        _("This is not possible now: the state is “%(state)s”. Reload to see where it stands.") % {"state": label},
        rule="state_moved",
        state=str(state),
    )


def history_of(subject: models.Model) -> models.QuerySet[Event]:
    return Event.objects.filter(subject_type=subject._meta.model_name, subject_id=subject.pk).select_related("by")


def done_by(person: User) -> models.QuerySet[Event]:
    """What a person did last, newest first."""
    return Event.objects.filter(by=person).order_by("-id")
