"""Calls that failed, were cancelled or lost are sent again: all of a run, one by a lead, or many of a kind at once."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from core import history
from core.jobs import hurry
from core.models import User
from core.refusals import NotAllowed, RuleBroken
from generation.actions.settling import settle_call
from generation.models import Call, Run
from generation.queries import UNFINISHED, leaf_calls, retryable
from generation.tasks import send_ready, send_run
from generation.workflow import RunState

CHUNK = 200


def can_retry_run(user: User, run: Run) -> bool:
    return user.is_lead or user.pk == run.created_by_id


def retry_run(*, run: Run, by: User) -> Run:
    """Send the failed calls of a run again, and those that were cancelled. What is unknown waits for a lead's word on
    each call; what was answered is never asked again."""
    leads_or_starter(by, run)
    with transaction.atomic():
        run.state = Run.objects.select_for_update().values_list("state", flat=True).get(pk=run.pk)
        calls = list(retryable(leaf_calls(run)).defer("raw", "reasoning", "prompt"))
        if not calls:
            raise RuleBroken(_("No call of this run has failed."), rule="nothing_failed")
        _requeue(calls, by=by)
        _resume(run, by=by)
        hurry(send_run, run.pk)
    return run


def can_retry_calls(user: User) -> bool:
    return user.is_lead


def retry_calls(*, calls: QuerySet[Call], by: User, reason: str = "") -> int:
    """Send many calls again: those of `calls` that failed or were cancelled and that no repair has followed. Unknown
    ones are left out: each of them waits for a lead's word. Returns how many were queued.

    `calls`: any filter, such as `Call.objects.filter(error_class="budget")`. In chunks, each committed by itself.
    """
    if not can_retry_calls(by):
        raise NotAllowed(_("Only a lead sends many calls again at once."))
    queued, last = 0, 0
    wanted = retryable(calls).order_by("pk").defer("raw", "reasoning", "prompt")
    while chunk := list(wanted.filter(pk__gt=last)[:CHUNK]):
        last = chunk[-1].pk
        with transaction.atomic():
            moved = _requeue(chunk, by=by, reason=reason)
            for run in _runs_to_resume(moved):
                _resume(run, by=by)
            hurry(send_ready)
        queued += len(moved)
    if not queued:
        raise RuleBroken(_("There is no failed or cancelled call among these."), rule="nothing_failed")
    return queued


def can_resend_call(user: User, call: Call) -> bool:
    return user.is_lead and call.lifecycle.allows(call.state, "resend") and not hasattr(call, "repaired_by")


def resend_call(*, call: Call, by: User, reason: str, billed_usd: Decimal | None = None) -> Call:
    """A lead sends one call again. An unknown call may have been billed already: the reason says why it is worth it.
    `billed_usd`: what the attempts so far cost, where the lead knows (`settle_call`); None leaves it held back."""
    if not by.is_lead:
        raise NotAllowed(_("Only a lead sends a call again."))
    if not reason.strip():
        raise RuleBroken(_("Say why this call is sent again."), rule="reason_missing")
    if Call.objects.filter(repairs=call).exists():
        raise RuleBroken(_("This call was followed by a repair; send the repair again."), rule="repaired")
    with transaction.atomic():
        if billed_usd is not None:
            settle_call(call=call, by=by, billed_usd=billed_usd, reason=reason)
        history.advance(call, "resend", by=by, reason=reason, **_earlier(call))
        _clean([call])
        for run in _runs_to_resume([call]):
            _resume(run, by=by)
            hurry(send_run, run.pk)
        for run_id in Run.objects.filter(run_calls__call=call, state__in=UNFINISHED).values_list("pk", flat=True):
            hurry(send_run, run_id)
    return call


def _requeue(calls: Sequence[Call], *, by: User, reason: str = "") -> list[Call]:
    moved = history.advance_all(calls, "resend", by=by, reason=reason, data=_earlier)
    _clean(moved)
    return moved


def _earlier(call: Call) -> dict[str, Any]:
    """What the last attempt was, for the history; what it cost stays in the sums."""
    return {"attempts": call.attempts, "error_class": call.error_class, "tokens_out": call.tokens_out}


def _clean(calls: Sequence[Call]) -> None:
    Call.objects.filter(pk__in=[call.pk for call in calls]).update(
        attempts=0, error_class="", error="", faults=[], next_attempt_at=None, lease_until=None
    )


def _runs_to_resume(calls: Sequence[Call]) -> list[Run]:
    """Every finished run that reads one of them, since it now misses a result. A cancelled run is taken up again only
    for a call that nobody else waits for, and then only the newest."""
    rows = list(
        Run.objects.filter(run_calls__call__in=[call.pk for call in calls])
        .order_by("-id")
        .defer("prompt", "prompt_thinking", "reference")
        .annotate(reads=F("run_calls__call"))
    )
    chosen = {run.pk: run for run in rows if run.state == RunState.FINISHED}
    served = {row.reads for row in rows if row.state == RunState.FINISHED or row.state in UNFINISHED}
    for run in rows:
        if run.reads not in served:
            served.add(run.reads)
            chosen[run.pk] = run
    return list(chosen.values())


def _resume(run: Run, *, by: User) -> None:
    if run.state not in UNFINISHED:
        history.advance(run, "resume", by=by)
        Run.objects.filter(pk=run.pk).update(finished_at=None, cancel_asked_at=None, cancel_asked_by=None)
        run.finished_at = run.cancel_asked_at = None


def leads_or_starter(by: User, run: Run) -> None:
    if not (by.is_lead or by.pk == run.created_by_id):
        raise NotAllowed(_("Only a lead, or who started the run, may do this."))
