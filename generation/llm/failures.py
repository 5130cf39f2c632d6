"""What can come of a request that brought no reply, and what that means for the call."""

from collections.abc import Mapping
from enum import StrEnum


class Fate(StrEnum):
    """What a failure means for the call: nothing happened and it may be sent again, it is over, or nobody can know."""

    RETRY = "retry"
    FINAL = "final"
    UNKNOWN = "unknown"


class FailureKind(StrEnum):
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    REFUSED_CONNECTION = "refused_connection"
    GATEWAY_PAGE = "gateway_page"
    DEADLINE = "deadline"
    CONNECTION_LOST = "connection_lost"
    UNEXPECTED = "unexpected"
    CONTEXT = "context"
    BAD_REQUEST = "bad_request"
    FORM_REFUSED = "form_refused"
    REFUSED = "refused"
    AUTH = "auth"
    NO_CREDIT = "no_credit"
    NOT_FOUND = "not_found"
    REDIRECTED = "redirected"
    UNREADABLE = "unreadable"
    NOT_SENT = "not_sent"


_TABLE: Mapping[FailureKind, tuple[Fate, str]] = {
    FailureKind.RATE_LIMITED: (Fate.RETRY, "The provider asks to wait: too many requests."),
    FailureKind.SERVER_ERROR: (Fate.RETRY, "The provider failed."),
    FailureKind.REFUSED_CONNECTION: (Fate.RETRY, "The provider could not be reached; nothing was sent."),
    FailureKind.GATEWAY_PAGE: (Fate.RETRY, "A web page came instead of a reply."),
    FailureKind.DEADLINE: (Fate.UNKNOWN, "No reply within the deadline; it may have been billed."),
    FailureKind.CONNECTION_LOST: (Fate.UNKNOWN, "The connection was lost before the reply; it may have been billed."),
    FailureKind.UNEXPECTED: (Fate.UNKNOWN, "Something unforeseen happened after the request; it may have been billed."),
    FailureKind.CONTEXT: (Fate.FINAL, "The input is too long for this model."),
    FailureKind.BAD_REQUEST: (Fate.FINAL, "The provider refused the request as malformed."),
    FailureKind.FORM_REFUSED: (
        Fate.FINAL,
        "The server refuses the form of reply that is asked for (response_format): set the model to plain JSON, or to "
        "words only.",
    ),
    FailureKind.REFUSED: (Fate.FINAL, "The provider's filter refused the request."),
    FailureKind.AUTH: (Fate.FINAL, "The provider refused the key."),
    FailureKind.NO_CREDIT: (Fate.FINAL, "The account at the provider has no credit."),
    FailureKind.NOT_FOUND: (Fate.FINAL, "The provider does not know this model or address."),
    FailureKind.REDIRECTED: (Fate.FINAL, "The address redirects elsewhere; redirects are not followed."),
    FailureKind.UNREADABLE: (Fate.FINAL, "What came back cannot be read as a reply."),
    FailureKind.NOT_SENT: (Fate.FINAL, "The request was not sent."),
}
# One bad key must not become a storm of refused requests.
PAUSES_THE_MODEL = frozenset({FailureKind.AUTH, FailureKind.NO_CREDIT})


class Failure(Exception):
    """No reply. `words` is ours and safe to store; `status` is the provider's, if it answered at all."""

    def __init__(
        self, kind: FailureKind, *, status: int | None = None, words: str = "", retry_after: float | None = None
    ) -> None:
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.words = " ".join(part for part in (_TABLE[kind][1], words, f"(HTTP {status})" if status else "") if part)
        super().__init__(self.words)

    @property
    def fate(self) -> Fate:
        return _TABLE[self.kind][0]

    @property
    def pauses_the_model(self) -> bool:
        return self.kind in PAUSES_THE_MODEL
