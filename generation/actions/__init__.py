"""Runs and models: what people and other stages may have done here."""

from generation.actions.adding import add_model, can_add_model
from generation.actions.again import send_again
from generation.actions.limits import (
    can_set_limits,
    remove_provider_limit,
    set_budget,
    set_provider_limit,
    set_run_budget,
)
from generation.actions.models import (
    EDITABLE,
    can_edit_model,
    can_pause_model,
    can_resume_model,
    can_try_model,
    edit_model,
    pause_model,
    resume_model,
    try_model,
)
from generation.actions.resending import (
    can_resend_call,
    can_retry_calls,
    can_retry_run,
    resend_call,
    retry_calls,
    retry_run,
)
from generation.actions.settling import can_settle_call, settle_call
from generation.actions.starting import start_challenge, start_difficulty, start_drafting, start_predictions
from generation.actions.stopping import can_cancel_run, can_give_up_queue, cancel_run, cancel_runs, give_up_queue

__all__ = [
    "EDITABLE",
    "add_model",
    "can_add_model",
    "can_cancel_run",
    "can_edit_model",
    "can_give_up_queue",
    "can_pause_model",
    "can_resend_call",
    "can_resume_model",
    "can_retry_calls",
    "can_retry_run",
    "can_set_limits",
    "can_settle_call",
    "can_try_model",
    "cancel_run",
    "cancel_runs",
    "edit_model",
    "give_up_queue",
    "pause_model",
    "remove_provider_limit",
    "resend_call",
    "resume_model",
    "retry_calls",
    "retry_run",
    "send_again",
    "set_budget",
    "set_provider_limit",
    "set_run_budget",
    "settle_call",
    "start_challenge",
    "start_difficulty",
    "start_drafting",
    "start_predictions",
    "try_model",
]
