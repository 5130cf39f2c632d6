"""The audit trail, and the one function that moves a state.

Both write in the transaction of the caller's change: a change and its line commit together or not at all.
"""

from collections.abc import Iterable
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


@transaction.atomic
def advance(subject: Record, move: str, *, by: User | None, reason: str = "", **data: Any) -> Record:
    """Move `subject` along its lifecycle: lock, check, save, record, all in one transaction.

    The given instance is updated in place and returned. Raises Conflict (409) when the record is not in a state from
    which the move starts, with the state it is in now.
    """
    lifecycle = subject.lifecycle
    target = lifecycle.moves[move].target
    model = type(subject)
    state = model._default_manager.select_for_update().values_list("state", flat=True).get(pk=subject.pk)
    if not lifecycle.allows(state, move):
        raise moved_on(subject, state)
    now = timezone.now()
    # Conditional, because SQLite has no row locks: whoever changed the state first has won.
    if not model._default_manager.filter(pk=subject.pk, state=state).update(state=target, state_since=now):
        raise moved_on(
            subject,
            model._default_manager.values_list("state", flat=True).get(pk=subject.pk),
        )
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
