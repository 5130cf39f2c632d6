"""Expert audit of a submission: approve, or send back to its annotator with written feedback."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import claims
from annotation.guards import lock, require_approved, require_expert, require_state, words
from annotation.models import Sample, Submission
from annotation.workflow import AuditOutcome, ClaimEnd, Job, SampleState
from core import history
from core.models import User
from core.text import clean_text

AUDIT = frozenset({SampleState.IN_AUDIT})


def can_approve_sample(user: User, sample: Sample) -> bool:
    held = claims.live_claims().filter(sample=sample, holder=user, job=Job.JUDGES)
    return user.is_expert and not sample.is_blocked and sample.state in AUDIT and held.exists()


can_reject_sample = can_approve_sample


@transaction.atomic
def approve_sample(*, sample: Sample, by: User, feedback: str = "") -> Submission:
    """The submitted question stands: its annotator standardizes it."""
    return _decide(sample, AuditOutcome.APPROVED, "approve", clean_text(feedback).strip(), by)


@transaction.atomic
def reject_sample(*, sample: Sample, feedback: str, by: User) -> Submission:
    """Back to its annotator, who revises and submits again, any number of times."""
    require_expert(by)
    feedback = words("feedback", feedback, _("Write what is wrong, so that the annotator can mend it."))
    return _decide(sample, AuditOutcome.REJECTED, "reject", feedback, by)


def _decide(sample: Sample, outcome: str, move: str, feedback: str, by: User) -> Submission:
    require_expert(by)
    lock(sample)
    require_approved(sample)
    require_state(sample, AUDIT)
    claims.require_claim(sample, by, Job.JUDGES)
    submission = sample.submissions.filter(outcome="").latest("number")
    submission.outcome, submission.feedback = outcome, feedback
    submission.audited_at, submission.audited_by = timezone.now(), by
    submission.save(update_fields=["outcome", "feedback", "audited_at", "audited_by"])
    history.advance(sample, move, by=by, reason=feedback, submission=submission.number)
    claims.end_claim(sample, ClaimEnd.FINISHED, by=by)
    return submission
