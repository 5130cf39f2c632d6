"""The steps of one candidate in their order: read, Task A, Task B. Task C is in challenging.py."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation import claims
from annotation.editing import edited_in_step
from annotation.guards import reason_given, require_step, require_version
from annotation.models import Candidate, Sample, StepVerdict
from annotation.workflow import OPEN_STEPS, CandidateState, ClaimEnd, Step, Verdict
from core import history
from core.guidelines import current_version
from core.models import User
from core.refusals import Invalid, RuleBroken
from core.text import clean_text

CHECKS = 4
NO_CANDIDATE_LEFT = gettext_noop("No candidate is left.")  # kept in English, told in the reader's language


@dataclass(frozen=True)
class Judgement:
    """How a step of four checks is judged: the state that opens it, its plain pass, and the move that ends it."""

    step: Step
    opens: CandidateState
    plain: Verdict
    move: str


TASK_A = Judgement(Step.TASK_A, CandidateState.TASK_A, Verdict.COMPLIANT, "pass_task_a")
TASK_B = Judgement(Step.TASK_B, CandidateState.TASK_B, Verdict.CORRECT, "pass_task_b")
JUDGEMENTS = {judgement.step: judgement for judgement in (TASK_A, TASK_B)}


def can_read_candidate(user: User, candidate: Candidate) -> bool:
    return candidate.state == CandidateState.READ and claims.holds_desk(user, candidate.sample)


@transaction.atomic
def read_candidate(*, candidate: Candidate, by: User) -> Candidate:
    """Question, answer, rationale and solution were read beside the document: Task A opens."""
    _at_step(candidate, by, CandidateState.READ)
    return history.advance(candidate, "read", by=by)


def can_judge_task_a(user: User, candidate: Candidate) -> bool:
    return candidate.state == CandidateState.TASK_A and claims.holds_desk(user, candidate.sample)


def judge_task_a(
    *, candidate: Candidate, version: int, verdict: str, checks: Sequence[bool], by: User, reason: str = ""
) -> Candidate:
    """Compliance, judged from the rationale: compliant, minor_edit or discard."""
    return _judge(TASK_A, candidate, version, verdict, checks, by, reason)


def can_judge_task_b(user: User, candidate: Candidate) -> bool:
    return candidate.state == CandidateState.TASK_B and claims.holds_desk(user, candidate.sample)


def judge_task_b(
    *, candidate: Candidate, version: int, verdict: str, checks: Sequence[bool], by: User, reason: str = ""
) -> Candidate:
    """The answer, judged from the solution against the document: correct, minor_edit or discard."""
    return _judge(TASK_B, candidate, version, verdict, checks, by, reason)


@transaction.atomic
def _judge(
    judgement: Judgement,
    candidate: Candidate,
    version: int,
    verdict: str,
    checks: Sequence[bool],
    by: User,
    reason: str,
) -> Candidate:
    """A passing verdict takes all four checks. After an edit in this step it is a minor edit, without one it is not."""
    _at_step(candidate, by, judgement.opens)
    require_version(candidate, version)
    if verdict == Verdict.DISCARD:
        end(candidate, reason=reason, by=by, checks=_as_checks(checks))
        return candidate
    if verdict not in {judgement.plain, Verdict.MINOR_EDIT}:
        raise Invalid({"verdict": _("This verdict does not belong to this step.")})
    if not all(_as_checks(checks)):
        raise RuleBroken(_("A candidate passes this step only with all four checks ticked."), rule="checks_needed")
    _refuse_the_wrong_pass(candidate, verdict)
    write_verdict(candidate, judgement.step, verdict, by=by, checks=_as_checks(checks), reason=reason)
    return history.advance(candidate, judgement.move, by=by, verdict=verdict, version=candidate.version)


def _refuse_the_wrong_pass(candidate: Candidate, verdict: str) -> None:
    edited = edited_in_step(candidate)
    if verdict == Verdict.MINOR_EDIT and not edited:
        raise RuleBroken(_("Nothing was edited in this step, so no edit fixed it."), rule="not_edited")
    if verdict != Verdict.MINOR_EDIT and edited:
        raise RuleBroken(
            _("The candidate was edited in this step: pass it as fixed by a minor edit."), rule="edited_in_step"
        )


def _as_checks(checks: Sequence[bool]) -> list[bool]:
    if len(checks) != CHECKS or not all(isinstance(check, bool) for check in checks):
        raise Invalid({"checks": _("This step has four checks, each true or false.")})
    return list(checks)


def _at_step(candidate: Candidate, by: User, state: CandidateState) -> None:
    claims.candidate_desk(candidate, by)
    require_step(candidate, {state})


def write_verdict(
    candidate: Candidate, step: str, verdict: str, *, by: User, checks: Sequence[bool] = (), reason: str = ""
) -> StepVerdict:
    return StepVerdict.objects.create(
        candidate=candidate,
        step=step,
        verdict=verdict,
        checks=list(checks),
        reason=clean_text(reason).strip(),
        candidate_version=candidate.version,
        guidelines_version=current_version(),
        by=by,
    )


# Discarding ----------------------------------------------------------------------------------------------------


def can_discard_candidate(user: User, candidate: Candidate) -> bool:
    return candidate.state != CandidateState.DISCARDED and claims.holds_desk(user, candidate.sample)


@transaction.atomic
def discard_candidate(*, candidate: Candidate, reason: str, by: User) -> Candidate:
    """End the candidate at the step it stands at. With the last one gone the sample is exhausted."""
    claims.candidate_desk(candidate, by)
    require_step(candidate, {*OPEN_STEPS, CandidateState.PASSED})
    end(candidate, reason=reason, by=by)
    return candidate


def end(candidate: Candidate, *, reason: str, by: User, checks: Sequence[bool] = ()) -> None:
    reason = reason_given(reason)
    step = Step.TASK_C if candidate.state == CandidateState.PASSED else Step(candidate.state)
    StepVerdict.objects.filter(candidate=candidate, step=step, voided_at=None).update(voided_at=timezone.now())
    write_verdict(candidate, step, Verdict.DISCARD, by=by, checks=checks, reason=reason)
    candidate.discarded_at_step, candidate.discard_reason = step, reason
    candidate.save(update_fields=["discarded_at_step", "discard_reason"])
    history.advance(candidate, "discard", by=by, reason=reason, step=step)
    sample = candidate.sample
    if sample.chosen_id == candidate.pk:
        sample.chosen = None
        sample.save(update_fields=["chosen"])
    if not _candidates_left(sample):
        _exhaust_sample(sample, by)


def _exhaust_sample(sample: Sample, by: User) -> None:
    history.advance(sample, "exhaust", by=by, reason=NO_CANDIDATE_LEFT)
    claims.end_claim(sample, ClaimEnd.FINISHED, by=by)


def can_exhaust_sample(user: User, sample: Sample) -> bool:
    return claims.holds_desk(user, sample) and not _candidates_left(sample)


@transaction.atomic
def exhaust_sample(*, sample: Sample, by: User) -> Sample:
    """End a sample none of whose candidates passed. Discarding the last one does this by itself."""
    claims.desk(sample, by)
    if _candidates_left(sample):
        raise RuleBroken(_("There are candidates left to judge or to select."), rule="candidates_left")
    _exhaust_sample(sample, by)
    return sample


def _candidates_left(sample: Sample) -> bool:
    return sample.candidates.exclude(state=CandidateState.DISCARDED).exists()
