"""Runs are cancelled: one at once, very many in the background. What was asked for stands in the rows: from then on
nothing of such a run is sent, and whoever comes by (the request itself, the worker, the reconciler) does the rest."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from core import history
from core.models import User
from core.refusals import Conflict
from generation.models import Call, Run
from generation.queries import UNFINISHED, queued_only_for

AT_A_TIME = 50


def cancel(run: Run, *, by: User | None) -> None:
    """Nothing more is sent. Calls that are out come back and are kept; calls another run waits for stay queued."""
    with transaction.atomic():
        history.advance(run, "cancel", by=by)
        cancel_calls(list(queued_only_for(run)), by=by)


def cancel_calls(calls: Sequence[Call], *, by: User | None) -> list[Call]:
    cancelled = history.advance_all(calls, "cancel", by=by)
    Call.objects.filter(pk__in=[call.pk for call in cancelled]).update(error_class="", error="", next_attempt_at=None)
    return cancelled


def ask(runs: QuerySet[Run], *, by: User) -> int:
    """By one statement, for any number of runs. Returns how many were under way."""
    wanted = Run.objects.filter(pk__in=runs.order_by().values("pk"), state__in=UNFINISHED, cancel_asked_at=None)
    return wanted.update(cancel_asked_at=timezone.now(), cancel_asked_by=by)


def asked() -> QuerySet[Run]:
    """Those that are still to be cancelled."""
    return Run.objects.filter(state__in=UNFINISHED, cancel_asked_at__isnull=False)


def is_anything_asked() -> bool:
    return asked().exists()


def work_off(*, seconds: float | None = None) -> int:
    """Cancel what was asked for, each run by itself, for so long at most. Returns how many were."""
    done, began = 0, time.monotonic()
    while runs := list(asked().select_related("cancel_asked_by").defer("prompt", "prompt_thinking")[:AT_A_TIME]):
        for run in runs:
            if seconds is not None and time.monotonic() - began >= seconds:
                return done
            done += _was_cancelled(run)
    return done


def _was_cancelled(run: Run) -> bool:
    try:
        cancel(run, by=run.cancel_asked_by)
    except Conflict:
        return False
    return True


@dataclass(frozen=True)
class Progress:
    """Of the runs that were to be cancelled together, how many are. `total` 0: nothing is being cancelled."""

    total: int = 0
    left: int = 0

    @property
    def done(self) -> int:
        return self.total - self.left


def progress() -> Progress:
    waiting = asked().order_by().values_list("cancel_asked_at", flat=True)
    left = len(times := list(waiting))
    if not left:
        return Progress()
    return Progress(Run.objects.filter(cancel_asked_at__in=set(times)).count(), left)
