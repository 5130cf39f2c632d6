"""What has no answer is sent again at a lead's word: what certainly failed, and what may have been billed."""

from decimal import Decimal

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from core.models import User
from core.refusals import NotAllowed, RuleBroken
from generation.actions.resending import can_retry_calls, resend_call, retry_calls
from generation.models import Call
from generation.queries import retryable, undecided

# Each of the unknown is a decision of its own, with its line in the history: no more than can be looked at.
MOST_UNKNOWN = 500


def send_again(*, calls: QuerySet[Call], by: User, reason: str = "", none_was_billed: bool = False) -> int:
    """Send those of `calls` again that failed, were cancelled, or may have been billed. The latter need a reason.
    `none_was_billed`: the lead has looked, and what the unknown ones held back is released. Returns how many were
    queued; what was answered, or repaired, is left alone."""
    if not can_retry_calls(by):
        raise NotAllowed(_("Only a lead sends many calls again at once."))
    unknown = list(undecided(calls).order_by("pk").defer("raw", "reasoning", "prompt")[: MOST_UNKNOWN + 1])
    _check(unknown, reason)
    failed = list(retryable(calls).order_by("pk").values_list("pk", flat=True)[:1])
    if not unknown and not failed:
        raise RuleBroken(_("There is no failed, cancelled or unknown call among these."), rule="nothing_failed")
    for call in unknown:
        with transaction.atomic():
            resend_call(call=call, by=by, reason=reason, billed_usd=Decimal(0) if none_was_billed else None)
    return len(unknown) + (retry_calls(calls=calls, by=by) if failed else 0)


def _check(unknown: list[Call], reason: str) -> None:
    if unknown and not reason.strip():
        raise RuleBroken(
            _("Some of these may have been billed already. Say why they are sent again."), rule="reason_missing"
        )
    if len(unknown) > MOST_UNKNOWN:
        raise RuleBroken(
            _("More than %(n)s of these may have been billed already. Choose fewer at once.") % {"n": MOST_UNKNOWN},
            rule="too_many_unknown",
        )
