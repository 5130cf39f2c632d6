"""Runs are cancelled, and what waits for a paused model is given up."""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from core import history
from core.models import User
from core.refusals import Conflict, NotAllowed, RuleBroken
from generation.actions.resending import leads_or_starter
from generation.models import Call, LanguageModel, Run
from generation.queries import UNFINISHED, queued_of, queued_only_for
from generation.settling import finish_runs_with_all

CHUNK = 200


def can_cancel_run(user: User, run: Run) -> bool:
    return run.state in UNFINISHED and (user.is_lead or user.pk == run.created_by_id)


def cancel_run(*, run: Run, by: User) -> Run:
    """Nothing more is sent. Calls that are out come back and are kept; calls another run waits for stay queued."""
    leads_or_starter(by, run)
    with transaction.atomic():
        history.advance(run, "cancel", by=by)
        _cancel(list(queued_only_for(run)), by=by)
    return run


def cancel_runs(*, runs: Iterable[Run], by: User) -> int:
    """Cancel each of them that is under way, each by itself. Returns how many were."""
    if not by.is_lead:
        raise NotAllowed(_("Only a lead cancels many runs at once."))
    cancelled = 0
    for run in runs:
        if can_cancel_run(by, run):
            cancelled += _was_cancelled(run, by=by)
    return cancelled


def _was_cancelled(run: Run, *, by: User) -> bool:
    try:
        cancel_run(run=run, by=by)
    except Conflict:
        return False
    return True


def can_give_up_queue(user: User, model: LanguageModel) -> bool:
    return user.is_lead and model.paused_at is not None


def give_up_queue(*, model: LanguageModel, by: User) -> int:
    """Cancel what waits for a paused model, so that the runs finish with what the other models gave. Returns how many
    calls there were; they can be sent again later (`retry_calls`)."""
    if not by.is_lead:
        raise NotAllowed(_("Only a lead changes the models."))
    if not LanguageModel.objects.filter(pk=model.pk).exclude(paused_at=None).exists():
        raise RuleBroken(_("Pause the model first; what waits for it is sent otherwise."), rule="not_paused")
    given_up = 0
    while calls := list(queued_of(model)[:CHUNK]):
        with transaction.atomic():
            cancelled = _cancel(calls, by=by)
        finish_runs_with_all(cancelled)
        given_up += len(cancelled)
        if not cancelled:
            break
    history.record("give_up_queue", model, by=by, calls=given_up)
    return given_up


def _cancel(calls: list[Call], *, by: User) -> list[Call]:
    cancelled = history.advance_all(calls, "cancel", by=by)
    Call.objects.filter(pk__in=[call.pk for call in cancelled]).update(error_class="", error="", next_attempt_at=None)
    return cancelled
