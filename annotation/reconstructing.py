"""What answer review and adjudication ask of a sample. Upper apps call these; who may ask is theirs to check."""

from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from annotation import claims
from annotation.editing import Wording, reopen, write
from annotation.guards import lock, reason_given, require_approved, require_lead, require_state
from annotation.models import Candidate, Sample
from annotation.workflow import CandidateState, ClaimEnd, ReconstructionStep, SampleState, Step
from core import history
from core.models import User
from core.refusals import Invalid, RuleBroken
from core.text import clean_text

PAST_TASK_A = frozenset({CandidateState.TASK_B, CandidateState.TASK_C, CandidateState.PASSED})


@transaction.atomic
def open_review(*, sample: Sample) -> Sample:
    """The predictions are in."""
    require_approved(lock(sample))
    return history.advance(sample, "open_review", by=None)


@transaction.atomic
def accept_sample(*, sample: Sample, by: User | None, reason: str = "") -> Sample:
    """Both reviews found nothing, or the expert decided that there is no issue."""
    require_approved(lock(sample))
    history.advance(sample, "accept", by=by, reason=clean_text(reason).strip())
    claims.end_claim(sample, ClaimEnd.FINISHED, by=by)
    return sample


@transaction.atomic
def dispute_sample(*, sample: Sample) -> Sample:
    """A review found an issue: an expert decides."""
    require_approved(lock(sample))
    return history.advance(sample, "dispute", by=None)


@transaction.atomic
def reconstruct_sample(*, sample: Sample, step: str, reason: str, by: User, proposal: Sequence[str] = ()) -> Sample:
    """Send the sample back: the question to Task A, the answer to Task B, the document to a new version first.

    A new round begins; everything of the rounds before stays readable. `proposal`: the elements that the expert would
    have, which the annotator reads with the reason and starts from; nothing is written into the answer.
    """
    require_approved(lock(sample))
    require_state(sample, {SampleState.IN_ADJUDICATION})
    if step not in ReconstructionStep.values:
        raise Invalid({"step": _("Choose document, question or answer.")})
    reason = reason_given(reason)
    sample.round += 1
    sample.reconstruction_step, sample.reconstruction_reason = step, _with_proposal(reason, proposal)
    sample.save(update_fields=["round", "reconstruction_step", "reconstruction_reason"])
    move = "await_document" if step == ReconstructionStep.DOCUMENT else "reconstruct"
    history.advance(sample, move, by=by, reason=reason, step=step, round=sample.round)
    claims.end_claim(sample, ClaimEnd.FINISHED, by=by)
    if sample.chosen is not None and step != ReconstructionStep.DOCUMENT:
        opened = Step.TASK_A if step == ReconstructionStep.QUESTION else Step.TASK_B
        reopen(sample.chosen, opened, by=by, reason=reason)
    return sample


def _with_proposal(reason: str, proposal: Sequence[str]) -> str:
    if not proposal:
        return reason
    return "\n".join([reason, "", _("Proposed answer:"), *proposal])


# A revised document --------------------------------------------------------------------------------------------


def can_adopt_document_version(user: User, sample: Sample) -> bool:
    return user.is_lead and sample.state == SampleState.AWAITING_DOCUMENT


@transaction.atomic
def adopt_document_version(*, sample: Sample, by: User) -> Sample:
    """Pin the document's newer version, once it is approved and has a bucket, and judge everything again on it."""
    require_lead(by)
    lock(sample)
    require_state(sample, {SampleState.AWAITING_DOCUMENT})
    newest = sample.document.latest
    if newest is None or newest.number <= sample.document_version.number:
        raise RuleBroken(_("The document has no newer version yet."), rule="no_newer_version")
    if not newest.is_approved:
        raise RuleBroken(
            _("Version %(number)s is not approved yet.") % {"number": newest.number}, rule="document_not_approved"
        )
    if not newest.bucket:
        raise RuleBroken(
            _("Version %(number)s is in no bucket.") % {"number": newest.number}, rule="document_without_bucket"
        )
    sample.document_version = newest
    sample.save(update_fields=["document_version"])
    history.advance(sample, "adopt_document", by=by, version=newest.number)
    _judge_again(sample.candidates.filter(~Q(state=CandidateState.DISCARDED)), by)
    return sample


def _judge_again(candidates: Iterable[Candidate], by: User) -> None:
    """No verdict and no model's answer on the old text counts on the new one, so each candidate gets a new version."""
    for candidate in candidates:
        write(candidate, Wording.of(candidate), by=by)
        if candidate.state in PAST_TASK_A:
            reopen(candidate, Step.TASK_A, by=by)
