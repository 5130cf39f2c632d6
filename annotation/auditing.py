"""Expert audit of a submission: approve, or send it back to its annotator with remarks on the parts they are about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import claims
from annotation.guards import lock, require_approved, require_expert, require_state
from annotation.models import AuditRemark, Sample, Submission
from annotation.workflow import AuditOutcome, ClaimEnd, Job, Part, SampleState
from core import history
from core.models import User
from core.refusals import Conflict, Invalid, Words
from core.text import clean_text

AUDIT = frozenset({SampleState.IN_AUDIT})
MOST_REMARKS = 50
LONGEST_REMARK = 5000


@dataclass(frozen=True)
class Remark:
    """What the expert says about one part; `element` (counted from 1) only of the answer."""

    part: str
    text: str
    element: int | None = None


def can_approve_sample(user: User, sample: Sample) -> bool:
    held = claims.live_claims().filter(sample=sample, holder=user, job=Job.JUDGES)
    return user.is_expert and not sample.is_blocked and sample.state in AUDIT and held.exists()


can_reject_sample = can_approve_sample


@transaction.atomic
def approve_sample(*, sample: Sample, by: User, feedback: str = "") -> Submission:
    """The submitted question stands: its annotator standardizes it."""
    submission = _to_decide(sample, by)
    submission.remarks.all().delete()  # drafts: what was nearly said
    return _decide(sample, submission, AuditOutcome.APPROVED, "approve", clean_text(feedback).strip(), by)


@transaction.atomic
def reject_sample(*, sample: Sample, by: User, remarks: Sequence[Remark] = (), feedback: str = "") -> Submission:
    """Back to its annotator, who revises and submits again, any number of times. At least one remark; `feedback` is
    one in general."""
    submission = _to_decide(sample, by)
    feedback = clean_text(feedback).strip()
    said = [*remarks, *([Remark(Part.GENERAL, feedback)] if feedback else [])]
    given = _cleaned(said, submission)
    if not given:
        raise Invalid({"feedback": _("Write what is wrong, so that the annotator can mend it.")})
    submission.remarks.all().delete()
    _keep(submission, given, by, after=0)
    return _decide(sample, submission, AuditOutcome.REJECTED, "reject", _in_words(given), by, remarks=len(given))


@transaction.atomic
def save_remarks(*, sample: Sample, remarks: Sequence[Remark], by: User) -> None:
    """Keep what the expert has typed so far. Nobody else sees it before the decision, and it decides nothing."""
    submission = _to_decide(sample, by)
    given = _cleaned(remarks, submission)
    submission.remarks.filter(by=by).delete()
    _keep(submission, given, by, after=submission.remarks.aggregate(last=Max("position"))["last"] or 0)


def _keep(submission: Submission, given: Sequence[Remark], by: User, *, after: int) -> None:
    AuditRemark.objects.bulk_create(
        AuditRemark(submission=submission, position=position, part=one.part, element=one.element, text=one.text, by=by)
        for position, one in enumerate(given, after + 1)
    )


def _cleaned(remarks: Sequence[Remark], submission: Submission) -> list[Remark]:
    """In the order of the parts. Without words a remark is none."""
    if len(remarks) > MOST_REMARKS:
        raise Invalid({"remarks": _("At most %(most)s remarks in one decision.") % {"most": MOST_REMARKS}})
    errors: dict[str, Words | list[Words]] = {}
    given: list[Remark] = []
    for place, one in enumerate(remarks):
        text = clean_text(one.text).strip()
        if one.part not in Part.values:
            errors[f"remarks.{place}.part"] = _("A remark is about a part of the submission, or general.")
        if one.element is not None and (
            one.part != Part.ANSWER or not 1 <= one.element <= max(1, len(submission.answer))
        ):
            errors[f"remarks.{place}.element"] = _("The answer has no such element.")
        if len(text) > LONGEST_REMARK:
            errors[f"remarks.{place}.text"] = _("At most %(most)s characters.") % {"most": LONGEST_REMARK}
        if text:
            given.append(Remark(one.part, text, one.element))
    if errors:
        raise Invalid(errors)
    order = Part.values
    return sorted(given, key=lambda one: (order.index(one.part), one.element or 0))


def _in_words(given: Sequence[Remark]) -> str:
    """For the trail, which keeps one text: each remark on a line, with its part unless it is general."""
    return "\n".join(_line(one) for one in given)


def _line(one: Remark) -> str:
    if one.part == Part.GENERAL:
        return one.text
    return f"{one.part}{f' {one.element}' if one.element else ''}: {one.text}"


def _to_decide(sample: Sample, by: User) -> Submission:
    """The guards of every step of the audit, and the submission that waits for its decision."""
    require_expert(by)
    lock(sample)
    require_approved(sample)
    require_state(sample, AUDIT)
    claims.require_claim(sample, by, Job.JUDGES)
    return sample.submissions.filter(outcome="").latest("number")


def _decide(
    sample: Sample, submission: Submission, outcome: str, move: str, feedback: str, by: User, **data: Any
) -> Submission:
    submission.outcome, submission.feedback = outcome, feedback
    submission.audited_at, submission.audited_by = timezone.now(), by
    submission.save(update_fields=["outcome", "feedback", "audited_at", "audited_by"])
    history.advance(sample, move, by=by, reason=feedback, submission=submission.number, **data)
    claims.end_claim(sample, ClaimEnd.FINISHED, by=by)
    return submission


# What the annotator does about it ----------------------------------------------------------------------------------


def last_decided(sample: Sample) -> Submission | None:
    """The submission that an expert decided last."""
    decided = sample.submissions.filter(outcome__in=[AuditOutcome.APPROVED, AuditOutcome.REJECTED])
    return decided.select_related("audited_by").order_by("-number").first()


def can_answer_remark(user: User, remark: AuditRemark, sample: Sample) -> bool:
    return claims.holds_desk(user, sample) and _is_open(remark, sample)


def _is_open(remark: AuditRemark, sample: Sample) -> bool:
    last = last_decided(sample)
    return last is not None and last.outcome == AuditOutcome.REJECTED and last.pk == remark.submission_id


@transaction.atomic
def answer_remark(*, remark: AuditRemark, dealt: bool, by: User, reply: str = "") -> AuditRemark:
    """Tick a remark of the last audit as dealt with (or not), with a reply to the expert if there is something to
    say. It decides nothing: the expert sees both at the next audit."""
    sample = remark.submission.sample
    claims.desk(sample, by)
    remark.refresh_from_db()
    if not _is_open(remark, sample):
        raise Conflict(
            _("This remark belongs to an earlier audit; it stays as it is."), rule="remark_closed", state=sample.state
        )
    reply = clean_text(reply).strip()
    if len(reply) > LONGEST_REMARK:
        raise Invalid({"reply": _("At most %(most)s characters.") % {"most": LONGEST_REMARK}})
    if (remark.dealt_at is not None, remark.reply) == (dealt, reply):
        return remark
    if dealt != (remark.dealt_at is not None):
        remark.dealt_at, remark.dealt_by = (timezone.now(), by) if dealt else (None, None)
    remark.reply = reply
    remark.save(update_fields=["dealt_at", "dealt_by", "reply"])
    history.record("answer_remark", sample, by=by, reason=reply, remark=remark.pk, part=remark.part, dealt=dealt)
    return remark
