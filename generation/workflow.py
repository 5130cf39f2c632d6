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


class Structured(TextChoices):
    """How a model is held to JSON: by what is known of it, by a schema, by plain JSON mode, or by words alone."""

    AUTO = "auto", _("as the provider can")
    SCHEMA = "schema", _("JSON schema")
    OBJECT = "object", _("plain JSON")
    NONE = "none", _("by words only")


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


class Trouble(TextChoices):
    """Why a call has no answer, or not all of one: what the door, the readers and we ourselves say, for people."""

    RATE_LIMITED = "rate_limited", _("The provider asks to wait: too many requests.")
    SERVER_ERROR = "server_error", _("The provider failed.")
    REFUSED_CONNECTION = "refused_connection", _("The provider could not be reached; nothing was sent.")
    GATEWAY_PAGE = "gateway_page", _("A web page came instead of a reply.")
    DEADLINE = "deadline", _("No reply within the deadline; it may have been billed.")
    CONNECTION_LOST = "connection_lost", _("The connection was lost before the reply; it may have been billed.")
    UNEXPECTED = "unexpected", _("Something unforeseen happened after the request; it may have been billed.")
    CONTEXT = "context", _("The input is too long for this model.")
    BAD_REQUEST = "bad_request", _("The provider refused the request as malformed.")
    FORM_REFUSED = (
        "form_refused",
        _("The server refuses the form of reply that is asked for: set the model to plain JSON, or to words only."),
    )
    REFUSED = "refused", _("The model or the provider's filter declined.")
    AUTH = "auth", _("The provider refused the key, or it is not set.")
    NO_CREDIT = "no_credit", _("The account at the provider has no credit.")
    NOT_FOUND = "not_found", _("The provider does not know this model or address.")
    REDIRECTED = "redirected", _("The address redirects elsewhere; redirects are not followed.")
    UNREADABLE = "unreadable", _("What came back cannot be read as a reply.")
    NOT_SENT = "not_sent", _("The request was not sent.")
    WORKER_LOST = "worker_lost", _("The worker was lost while the call was out; it may have been billed.")
    NOT_BILLED = "not_billed", _("There was no reply; a lead says that it was not billed.")
    BILLED = "billed", _("There was no reply; a lead says what was billed.")
    MODEL_PAUSED = "model_paused", _("The model is paused; nothing was sent.")
    DOCUMENT_NOT_APPROVED = "document_not_approved", _("The document is not approved; nothing was sent.")
    DOCUMENT_WITHDRAWN = "document_withdrawn", _("The approval was withdrawn meanwhile; the reply is not used.")
    BUDGET = "budget", _("A budget does not allow it; nothing was sent.")
    EMPTY = "empty", _("The reply is empty.")
    NO_ANSWER_BUDGET = "no_answer_budget", _("The output limit was used up by reasoning; no answer followed.")
    TRUNCATED = "truncated", _("The reply was cut by the output limit.")
    NOT_JSON = "not_json", _("The reply is not JSON.")
    UNESCAPED_QUOTE = "unescaped_quote", _("The reply's JSON is broken by a quotation mark.")
    SEVERAL_OBJECTS = "several_objects", _("The reply holds several JSON objects.")
    ARRAY = "array", _("The reply is a list where an object was asked for.")
    DUPLICATE_KEY = "duplicate_key", _("The reply's JSON names a part twice.")
    WRONG_COUNT = "wrong_count", _("There are not exactly three drafts.")
    MISSING_PART = "missing_part", _("A draft lacks a part.")
    WRONG_TYPE = "wrong_type", _("A part of a draft has the wrong form.")
    TOO_LONG = "too_long", _("A part of a draft is too long.")
    WRONG_LANGUAGE = "wrong_language", _("A draft is not in the document's language.")
    RULE_BROKEN = "rule_broken", _("A draft breaks the task's answer rule.")


def trouble_words(error_class: str) -> str:
    """The words for people, in the language of the page; what is not in the list stands for itself."""
    return str(Trouble(error_class).label) if error_class in Trouble.values else error_class


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
        # by a lead only: what was billed is known, nothing came back
        ("settle", CallState.UNKNOWN, CallState.FAILED),
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

# In a fixed order: an index names them.
ENDED_BY_THEMSELVES = ["failed", "partial", "succeeded", "unknown"]
FINAL_CALL_STATES = frozenset(
    {
        CallState.SUCCEEDED,
        CallState.PARTIAL,
        CallState.FAILED,
        CallState.UNKNOWN,
        CallState.CANCELLED,
    }
)
