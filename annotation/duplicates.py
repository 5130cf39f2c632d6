"""Discarding candidates that ask what another one asks: several at once, with one reason, all of them or none."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.guards import reason_given
from annotation.models import Candidate
from annotation.verifying import discard_candidate
from core.models import User
from core.refusals import Invalid


@transaction.atomic
def discard_candidates(*, candidates: Sequence[Candidate], reason: str, by: User) -> list[Candidate]:
    """Each as `discard_candidate` would: its rules, its verdict, its line in the audit trail."""
    if not candidates:
        raise Invalid({"candidates": _("Choose at least one candidate.")})
    if len({candidate.sample_id for candidate in candidates}) > 1:
        raise Invalid({"candidates": _("These candidates belong to different samples.")})
    reason = reason_given(reason)
    return [discard_candidate(candidate=candidate, reason=reason, by=by) for candidate in candidates]
