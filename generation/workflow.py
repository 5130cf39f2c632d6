"""Runs and calls, as data. A call is committed as `calling` before the request leaves (invariant 8)."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from core.workflow import Lifecycle


class Purpose(TextChoices):
    DRAFTING = "drafting", _("drafting")
    CHALLENGE = "challenge", _("challenge")
    PREDICTION = "prediction", _("predictions")
    DIFFICULTY = "difficulty", _("difficulty")


class Kind(TextChoices):
    """How a model is asked: thinking and mixed models get the non-thinking prompt, instruct models either."""

    THINKING = "thinking", _("thinking")
    MIXED = "mixed", _("mixed")
    INSTRUCT = "instruct", _("instruct")


class RunState(TextChoices):
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    FINISHED = "finished", _("finished")
    CANCELLED = "cancelled", _("cancelled")


class CallState(TextChoices):
    QUEUED = "queued", _("queued")
    CALLING = "calling", _("calling")
    SUCCEEDED = "succeeded", _("answered")
    PARTIAL = "partial", _("partly usable")
    FAILED = "failed", _("failed")
    UNKNOWN = "unknown", _("unknown")
    CANCELLED = "cancelled", _("cancelled")


# How a state looks: pass, fail, warn, now or idle.
RUN_TONES = {
    RunState.QUEUED: "idle",
    RunState.RUNNING: "now",
    RunState.FINISHED: "pass",
    RunState.CANCELLED: "idle",
}
CALL_TONES = {
    CallState.QUEUED: "idle",
    CallState.CALLING: "now",
    CallState.SUCCEEDED: "pass",
    CallState.PARTIAL: "warn",
    CallState.FAILED: "fail",
    CallState.UNKNOWN: "warn",
    CallState.CANCELLED: "idle",
}

RUN_LIFECYCLE = Lifecycle(
    RunState,
    [
        ("start", RunState.QUEUED, RunState.RUNNING),
        ("finish", [RunState.QUEUED, RunState.RUNNING], RunState.FINISHED),
        ("cancel", [RunState.QUEUED, RunState.RUNNING], RunState.CANCELLED),
        # one failed or unknown call was sent again
        ("resume", [RunState.FINISHED, RunState.CANCELLED], RunState.QUEUED),
    ],
)

CALL_LIFECYCLE = Lifecycle(
    CallState,
    [
        ("send", CallState.QUEUED, CallState.CALLING),
        ("succeed", CallState.CALLING, CallState.SUCCEEDED),
        ("succeed_partly", CallState.CALLING, CallState.PARTIAL),
        ("fail", [CallState.QUEUED, CallState.CALLING], CallState.FAILED),
        # a definite failure within the policy's limit: nothing was billed, it may be sent again by itself
        ("wait_for_retry", CallState.CALLING, CallState.QUEUED),
        ("lose", CallState.CALLING, CallState.UNKNOWN),
        ("cancel", CallState.QUEUED, CallState.CANCELLED),
        # by a lead only
        (
            "resend",
            [
                CallState.FAILED,
                CallState.UNKNOWN,
                CallState.CANCELLED,
                CallState.PARTIAL,
            ],
            CallState.QUEUED,
        ),
    ],
)

FINAL_CALL_STATES = frozenset(
    {
        CallState.SUCCEEDED,
        CallState.PARTIAL,
        CallState.FAILED,
        CallState.UNKNOWN,
        CallState.CANCELLED,
    }
)
