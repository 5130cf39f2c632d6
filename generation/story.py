"""What has happened to runs, calls, models and money, in words for the histories on their pages."""

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.models import Event
from generation.workflow import CallState, RunState, trouble_words

WORDS: dict[str, str | Promise] = {
    "start_run": _("the run was started"),
    "start": _("its first call is sent"),
    "finish": _("finished"),
    "resume": _("continued, for a call that is sent again"),
    "cancel": _("cancelled"),
    "send": _("the request left"),
    "succeed": _("an answer came"),
    "succeed_partly": _("an answer came, of which a part can be used"),
    "fail": _("failed"),
    "wait_for_retry": _("failed, and is sent again by itself"),
    "lose": _("nothing came back; it may have been billed"),
    "settle": _("it was settled what it cost"),
    "resend": _("queued to be sent again"),
    "late_reply": _("a reply came too late to be used; it is paid"),
    "add_model": _("added"),
    "edit_model": _("edited"),
    "pause_model": _("paused"),
    "resume_model": _("in use again"),
    "give_up_queue": _("what waited for it was given up"),
    "try_model": _("a test call was asked for"),
    "send_trial": _("a test call left"),
    "set_provider_limit": _("limits were set"),
    "remove_provider_limit": _("limits were taken away"),
    "set_budget": _("the budget was set"),
    "set_run_budget": _("the run's budget was set"),
}
STATES: dict[str, Any] = {
    "call": dict(CallState.choices),
    "run": dict(RunState.choices),
}


def event_in_words(event: Event) -> str:
    """An action that has no words yet stands for itself."""
    verb = event.action.partition(".")[2]
    words = str(WORDS.get(verb, verb))
    if verb == "send" and event.data.get("attempt", 0) > 1:
        words = gettext("the request left, attempt %(n)s") % {"n": event.data["attempt"]}
    if verb in {"fail", "wait_for_retry", "lose"} and event.data.get("error_class"):
        words = f"{words}: {trouble_words(event.data['error_class'])}"
    return words


def state_in_words(event: Event) -> str:
    """The state it moved to, or nothing."""
    return str(STATES.get(event.subject_type, {}).get(event.to_state, event.to_state))
