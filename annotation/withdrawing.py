"""A submission taken back: its annotator saw something to correct, and no expert has claimed the audit yet."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import claims
from annotation.guards import lock, require_approved, require_stage_worker, require_state
from annotation.models import Sample
from annotation.workflow import AuditOutcome, SampleState
from core import history
from core.models import User
from core.refusals import Conflict, RuleBroken

WAITING = frozenset({SampleState.IN_AUDIT})


def can_withdraw_submission(user: User, sample: Sample) -> bool:
    return (
        user.does_stage_work
        and not sample.is_blocked
        and sample.state in WAITING
        and sample.annotator_id == user.pk
        and not claims.live_claims().filter(sample=sample).exists()
    )


@transaction.atomic
def withdraw_submission(*, sample: Sample, by: User) -> Sample:
    """Back to the desk of the annotator who submitted it, claimed for them. The submission stays readable."""
    require_stage_worker(by)
    lock(sample)
    require_approved(sample)
    require_state(sample, WAITING)
    if sample.annotator_id != by.pk:
        raise RuleBroken(
            _("Only the annotator who submitted %(sample)s takes it back.") % {"sample": sample.label},
            rule="belongs_to_its_annotator",
        )
    if claims.live_claims().filter(sample=sample).exists():
        raise Conflict(
            _("An expert has begun the audit of %(sample)s. You can correct it when it comes back.")
            % {"sample": sample.label},
            rule="audit_begun",
            state=sample.state,
        )
    submission = sample.submissions.filter(outcome="").latest("number")
    submission.remarks.all().delete()  # drafts of an expert whose claim has lapsed
    submission.outcome, submission.withdrawn_at = AuditOutcome.WITHDRAWN, timezone.now()
    submission.save(update_fields=["outcome", "withdrawn_at"])
    history.advance(sample, "withdraw_submission", by=by, submission=submission.number)
    claims.claim_sample(sample=sample, by=by)
    return sample
