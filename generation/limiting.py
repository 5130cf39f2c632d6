"""What a provider allows: calls at once, requests and input tokens in any minute, over all workers together.

Asked in the transaction that moves a call to `calling`. It locks the provider's row, so that of two calls that want the
last place one comes second, and counts rows: the calls that are out, and the lines of the history for what was sent
in the last minute (a call that was sent twice stands there twice). A provider without a row is bounded in each process
alone, by LBP_CALLS_IN_FLIGHT.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, IntegerField, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone

from core.models import Event
from generation.models import Call, ProviderLimit
from generation.workflow import CallState

# A minute by our clock and one second: what left at its beginning may have arrived a little later.
WINDOW = timedelta(seconds=61)
SENDINGS = ("generation.send", "generation.send_trial")


@dataclass(frozen=True)
class Wait:
    """A call may not leave now. `seconds`: when to ask again; None: when a call has come back, nobody knows when.
    `for_all`: any provider's call can make room, not this one's alone."""

    seconds: float | None = None
    for_all: bool = False


def wait_for(provider: str, *, tokens: int, out_here: int) -> Wait | None:
    """What has to be waited for before a request of so many tokens may leave; None: nothing. `out_here`: how many of
    the provider's calls this process has out."""
    limit = ProviderLimit.objects.select_for_update().filter(provider=provider).first()
    if limit is None:
        return Wait() if out_here >= max(1, settings.LBP_CALLS_IN_FLIGHT) else None
    now = timezone.now()
    if limit.calls_in_flight is not None and in_flight(provider, now=now) >= limit.calls_in_flight:
        return Wait()
    if limit.requests_per_minute is None and limit.tokens_per_minute is None:
        return None
    seconds = _wait_in_window(limit, tokens, now)
    return Wait(seconds) if seconds > 0 else None


def in_flight(provider: str, *, now: datetime) -> int:
    """The calls that are out. One whose lease ran out holds no place: its worker is gone."""
    return Call.objects.filter(provider=provider, state=CallState.CALLING, lease_until__gt=now).count()


def _wait_in_window(limit: ProviderLimit, tokens: int, now: datetime) -> float:
    sent = _sent_since(limit.provider, now - WINDOW)
    requests, used = sent.aggregate(requests=Count("id"), used=Sum("tokens")).values()
    if not _is_over(limit, requests, used or 0, tokens):
        return 0.0
    used = used or 0
    for at, given in sent.values_list("at", "tokens").order_by("at"):
        requests, used = requests - 1, used - (given or 0)
        if not _is_over(limit, requests, used, tokens):
            return max(0.01, (at + WINDOW - now).total_seconds())
    return 0.0


def _is_over(limit: ProviderLimit, requests: int, used: int, tokens: int) -> bool:
    """Whether one more request is too much. One that alone is larger than the limit may leave when nothing else has."""
    if limit.requests_per_minute is not None and requests >= limit.requests_per_minute:
        return True
    return limit.tokens_per_minute is not None and used > 0 and used + tokens > limit.tokens_per_minute


def _sent_since(provider: str, since: datetime) -> QuerySet[Any]:
    sent = Event.objects.filter(at__gt=since, action__in=SENDINGS, data__provider=provider).order_by()
    return sent.annotate(tokens=Cast(KeyTextTransform("tokens", "data"), IntegerField()))
