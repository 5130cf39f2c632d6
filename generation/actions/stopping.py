"""Runs are cancelled, and what waits for a paused model is given up."""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from core import history
from core.jobs import hurry
from core.models import User
from core.refusals import NotAllowed, RuleBroken
from generation import cancelling
from generation.actions.resending import leads_or_starter
from generation.models import LanguageModel, Run
from generation.queries import UNFINISHED, queued_of
from generation.settling import finish_runs_with_all
from generation.tasks import cancel_asked

CHUNK = 200
# So long a page may take; what is left then is the worker's.
AT_ONCE_SECONDS = 2.0


def can_cancel_run(user: User, run: Run) -> bool:
    return run.state in UNFINISHED and (user.is_lead or user.pk == run.created_by_id)


def cancel_run(*, run: Run, by: User) -> Run:
    """Nothing more is sent. Calls that are out come back and are kept; calls another run waits for stay queued."""
    leads_or_starter(by, run)
    cancelling.cancel(run, by=by)
    return run


@dataclass(frozen=True)
class Stopped:
    """How many runs were cancelled, and how many are still to be: nothing of them is sent meanwhile."""

    cancelled: int
    left: int


def cancel_runs(*, runs: QuerySet[Run], by: User) -> Stopped:
    """Cancel each of them that is under way: for a moment here, the rest in the background."""
    if not by.is_lead:
        raise NotAllowed(_("Only a lead cancels many runs at once."))
    asked = cancelling.ask(runs, by=by)
    cancelling.work_off(seconds=AT_ONCE_SECONDS)
    left = min(asked, cancelling.asked().filter(cancel_asked_by=by).count())
    if left:
        hurry(cancel_asked)
    return Stopped(asked - left, left)


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
            cancelled = cancelling.cancel_calls(calls, by=by)
        finish_runs_with_all(cancelled)
        given_up += len(cancelled)
        if not cancelled:
            break
    history.record("give_up_queue", model, by=by, calls=given_up)
    return given_up
