"""The one transaction after which a request leaves: the call is `calling`, with a lease, or it stays where it is."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from core import history
from documents.workflow import VersionState
from generation import budgeting, llm
from generation.budgeting import Room
from generation.limiting import Wait, wait_for
from generation.models import Call, Run
from generation.queries import UNFINISHED, locked_with_document
from generation.sending.requests import Prepared
from generation.settling import Attempt
from generation.workflow import CallState, Trouble


class _NoRoom(Exception):
    def __init__(self, room: Room) -> None:
        self.room = room


def begin(call: Call, run: Run, prepared: Prepared, *, out_here: int) -> Attempt | Wait | None:
    """Commit the call as `calling` and return the attempt; or what it has to wait for; or None, when it is not to be
    sent (now, by us, or at all)."""
    most = budgeting.most_of(call.model, tokens_in=prepared.tokens_in, output_limit=prepared.request.max_tokens)
    try:
        with transaction.atomic():
            return _begin(call, run, prepared, most, out_here)
    except _NoRoom as none:
        if none.room is Room.LATER:
            return Wait(for_all=True)
    with transaction.atomic():
        if Call.objects.select_for_update().filter(pk=call.pk, state=CallState.QUEUED).values_list("pk", flat=True):
            _refuse(call, "fail", Trouble.BUDGET, _beyond_budget(most))
    return None


def _beyond_budget(most: Decimal | None) -> str:
    if most is None:
        return "A budget does not allow it: the model has no price; nothing was sent."
    return f"A budget does not allow it: the call can cost up to ${most:.4f}, and less is left; nothing was sent."


def _begin(call: Call, run: Run, prepared: Prepared, most: Any, out_here: int) -> Attempt | Wait | None:
    state, allowed, stops = Run.objects.values_list("state", "budget_usd", "cancel_asked_at").get(pk=run.pk)
    # A run is locked before its calls, as whoever cancels it does.
    room = Room.FREE if allowed is None else budgeting.room_in_run(run, most)
    found = _locked(call)
    if found is None or state not in UNFINISHED or stops is not None:
        return None
    number, approved = found
    if not approved:
        _refuse(call, "cancel", Trouble.DOCUMENT_NOT_APPROVED, "The document is not approved; nothing was sent.")
        return None
    if room is not Room.FREE:
        raise _NoRoom(room)
    provider = call.model.provider
    if wait := wait_for(provider, tokens=prepared.tokens_in, out_here=out_here):
        return wait
    now = timezone.now()
    sent = {
        "attempts": number,
        "provider": provider,
        "sent_at": now,
        "lease_until": now + timedelta(seconds=prepared.request.deadline + settings.LBP_LEASE_MARGIN_SECONDS),
        "next_attempt_at": None,
        "cut_tokens": prepared.cut_tokens,
        "parameters": _parameters(prepared.request),
        "error_class": "",
        "error": "",
        **({"reserved_usd": budgeting.held_with(most)} if most else {}),
    }
    line: dict[str, Any] = {"attempt": number, "provider": provider, "tokens": prepared.tokens_in}
    history.advance(call, "send", by=None, also=sent, locked_in=CallState.QUEUED, **line)
    # Last, because every other call waits for the total's row.
    if (room := budgeting.hold_back(call, most)) is not Room.FREE:
        raise _NoRoom(room)
    call.attempts, call.sent_at, call.provider = number, now, provider
    return Attempt(call, run, now, number, most)


def _locked(call: Call) -> tuple[int, bool] | None:
    """Locks the call and its document version, whose approval counts now. Returns the attempt's number and whether it
    is approved; None when there is nothing to send: another worker may have tried meanwhile, and now it has to wait;
    somebody cancelled; or its model is paused, and it stays queued until a lead resumes that."""
    queued = Call.objects.filter(pk=call.pk, state=CallState.QUEUED)
    found = locked_with_document(queued, "attempts", "next_attempt_at", "model__paused_at")
    if found is None or found.model.paused_at is not None:
        return None
    if found.next_attempt_at is not None and found.next_attempt_at > timezone.now():
        return None
    return found.attempts + 1, found.document_version.state == VersionState.APPROVED


def _refuse(call: Call, move: str, trouble: Trouble, words: str) -> None:
    Call.objects.filter(pk=call.pk).update(error_class=trouble.value, error=words, next_attempt_at=None)
    history.advance(call, move, by=None, error_class=trouble.value)


def put_off(call: Call, seconds: float) -> None:
    """Leave a call that waits too long to the reconciler."""
    waiting = Call.objects.filter(pk=call.pk, state=CallState.QUEUED, next_attempt_at=None)
    waiting.update(next_attempt_at=timezone.now() + timedelta(seconds=seconds))


def _parameters(request: llm.Request) -> dict[str, Any]:
    """What was asked for beside the messages, without the variable's content, which is never read here."""
    parameters: dict[str, Any] = {
        "model": request.model,
        "api_base": request.api_base,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "thinking": request.thinking,
        "seed": request.seed,
        "schema": request.schema is not None,
        "structured": request.structured if request.schema is not None else "",
        "deadline": request.deadline,
    }
    return {name: value for name, value in parameters.items() if value not in (None, "", False)}
