"""Taking back one's own last verdict or discard: the step is open again, the verdict stays readable as a void one.

Nothing of the candidate's wording moves, so challenge results to it are as fresh as they were.
"""

from collections.abc import Iterable

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import claims
from annotation.guards import lock, require_approved, require_stage_worker
from annotation.models import Candidate, Sample, StepVerdict
from annotation.workflow import AT_THE_DESK, CandidateState, SampleState, Step, Verdict
from core import history
from core.models import Event, User
from core.refusals import Conflict, NotAllowed, RuleBroken

# Where a candidate stands after a step was passed: only from there is the pass taken back.
AFTER: dict[str, CandidateState] = {
    Step.TASK_A: CandidateState.TASK_B,
    Step.TASK_B: CandidateState.TASK_C,
    Step.TASK_C: CandidateState.PASSED,
}


def last_verdict(candidate: Candidate) -> StepVerdict | None:
    """The verdict that brought the candidate to where it stands; None where it stands by no verdict."""
    return last_of(candidate, candidate.verdicts.filter(voided_at=None))


def last_of(candidate: Candidate, valid: Iterable[StepVerdict]) -> StepVerdict | None:
    """The same from the candidate's valid verdicts, where they are at hand."""
    last = max(valid, key=lambda verdict: verdict.pk, default=None)
    if last is None:
        return None
    ended = CandidateState.DISCARDED if last.verdict == Verdict.DISCARD else AFTER.get(last.step)
    return last if candidate.state == ended else None


def can_take_back_verdict(
    user: User, candidate: Candidate, last: StepVerdict | None = None, *, holds: bool | None = None
) -> bool:
    """`last`: the candidate's last verdict, `holds`: whether the person holds the desk, where they are at hand."""
    last, sample = last or last_verdict(candidate), candidate.sample
    if last is None or last.by_id != user.pk:
        return False
    if sample.state != SampleState.EXHAUSTED:
        return claims.holds_desk(user, sample) if holds is None else holds
    return (
        last.verdict == Verdict.DISCARD
        and user.does_stage_work
        and not sample.is_blocked
        and _planned_anew(sample) is None
    )


@transaction.atomic
def take_back_verdict(*, candidate: Candidate, by: User, verdict: int | None = None) -> Candidate:
    """Void one's own last verdict and open its step again; a discard opens the step it ended at.

    A sample that the discard exhausted comes back to the desk and to its annotator, unless its pair was planned anew.
    `verdict`: the one that is meant. When it is not the last any more, nothing happens, so that asking twice has one
    effect.
    """
    sample = candidate.sample
    require_stage_worker(by)
    lock(sample)
    candidate.refresh_from_db()
    candidate.sample = sample
    last = last_verdict(candidate)
    if sample.state != SampleState.EXHAUSTED:
        claims.desk(sample, by)
    # An exhausted sample ended by a discard: nothing else brings it back.
    ended = sample.state == SampleState.EXHAUSTED and last is not None and last.verdict != Verdict.DISCARD
    if last is None or ended or (verdict is not None and verdict != last.pk):
        raise Conflict(
            _("There is no verdict to take back here: the candidate is at “%(state)s”.")
            % {"state": candidate.get_state_display()},
            rule="nothing_to_take_back",
            state=candidate.state,
        )
    if last.by_id != by.pk:
        raise NotAllowed(_("Only who gave a verdict takes it back."), rule="verdict_of_another")
    if sample.state == SampleState.EXHAUSTED:
        _bring_back(sample, by)
    return _open_again(candidate, last, by)


def _open_again(candidate: Candidate, last: StepVerdict, by: User) -> Candidate:
    last.voided_at = timezone.now()
    last.save(update_fields=["voided_at"])
    if last.verdict != Verdict.DISCARD:
        return history.advance(candidate, f"take_back_{last.step}", by=by, verdict=last.pk)
    candidate.discarded_at_step = candidate.discard_reason = ""
    candidate.save(update_fields=["discarded_at_step", "discard_reason"])
    return history.advance(candidate, f"take_back_discard_at_{last.step}", by=by, verdict=last.pk)


def _planned_anew(sample: Sample) -> Sample | None:
    pairs = Sample.objects.filter(document=sample.document_id, task_code=sample.task_code)
    return pairs.exclude(state=SampleState.EXHAUSTED).exclude(pk=sample.pk).first()


def _bring_back(sample: Sample, by: User) -> None:
    """To the state in which it was exhausted, claimed again."""
    require_approved(sample)
    _refuse_a_second(sample)
    was = Event.objects.filter(
        subject_type="sample", subject_id=sample.pk, action="annotation.exhaust", from_state__in=AT_THE_DESK
    )
    state = was.order_by("-pk").values_list("from_state", flat=True).first()
    move = "bring_back_returned" if state == SampleState.RETURNED else "bring_back"
    try:
        with transaction.atomic():
            history.advance(sample, move, by=by)
    except IntegrityError:
        _refuse_a_second(sample)
        raise
    claims.claim_sample(sample=sample, by=by)


def _refuse_a_second(sample: Sample) -> None:
    other = _planned_anew(sample)
    if other is not None:
        raise RuleBroken(
            _("The pair was planned anew as %(other)s, so %(sample)s stays exhausted.")
            % {"other": other.label, "sample": sample.label},
            rule="pair_exists",
            sample=other.pk,
        )
