"""Task C: the five models answer the question as it now reads; one wrong answer makes it challenging."""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import claims
from annotation.guards import reason_given, require_step, require_version
from annotation.models import Candidate, Challenge, Overrule
from annotation.queries import ChallengeResults, ModelAnswer, challenge_results, is_stale
from annotation.verifying import end, write_verdict
from annotation.workflow import CandidateState, Step, Verdict
from core import history
from core.models import User
from core.refusals import Conflict, Invalid, RuleBroken
from generation.actions import start_challenge
from generation.models import RunCall


def _at_task_c(candidate: Candidate, by: User) -> None:
    claims.candidate_desk(candidate, by)
    require_step(candidate, {CandidateState.TASK_C})


def can_challenge_candidate(user: User, candidate: Candidate) -> bool:
    return candidate.state == CandidateState.TASK_C and claims.holds_desk(user, candidate.sample)


@transaction.atomic
def challenge_candidate(*, candidate: Candidate, version: int, by: User) -> Challenge:
    """Ask the models. A version is asked once: asking again gives the challenge that is there."""
    _at_task_c(candidate, by)
    require_version(candidate, version)
    existing = candidate.challenges.filter(candidate_version=version).first()
    if existing is not None:
        return existing
    run = start_challenge(
        document_version=candidate.sample.document_version,
        task=candidate.sample.task,
        question=candidate.question,
        options=candidate.options,
        elements=candidate.elements,
        answer=candidate.answer,
        by=by,
    )
    challenge = Challenge.objects.create(candidate=candidate, candidate_version=version, run=run, asked_by=by)
    history.record("challenge", candidate, by=by, version=version, run=run.pk)
    return challenge


def can_overrule_answer(user: User, challenge: Challenge) -> bool:
    return can_challenge_candidate(user, challenge.candidate) and not is_stale(challenge, challenge.candidate)


@transaction.atomic
def overrule_answer(*, challenge: Challenge, run_call: RunCall, right: bool, reason: str, by: User) -> Overrule:
    """The annotator's own decision on one scored answer, with the reason."""
    candidate = challenge.candidate
    _at_task_c(candidate, by)
    if is_stale(challenge, candidate):
        raise Conflict(
            _("These answers are to an earlier version of the question."), rule="challenge_stale", state=candidate.state
        )
    if run_call.run_id != challenge.run_id or run_call.right is None:
        raise Invalid({"run_call": _("There is no scored answer to overrule.")})
    overrule, _made = Overrule.objects.update_or_create(
        challenge=challenge, run_call=run_call, defaults={"right": right, "reason": reason_given(reason), "by": by}
    )
    history.record("overrule", candidate, by=by, reason=reason, run_call=run_call.pk, right=right)
    return overrule


def can_judge_task_c(user: User, candidate: Candidate) -> bool:
    return can_challenge_candidate(user, candidate)


@transaction.atomic
def judge_task_c(*, candidate: Candidate, version: int, verdict: str, reason: str, by: User) -> Candidate:
    """`challenging` as soon as a model is wrong, `valuable` (with the reason) when all are right, or `discard`."""
    _at_task_c(candidate, by)
    require_version(candidate, version)
    if verdict == Verdict.DISCARD:
        end(candidate, reason=reason, by=by)
        return candidate
    if verdict not in {Verdict.CHALLENGING, Verdict.VALUABLE}:
        raise Invalid({"verdict": _("This verdict does not belong to this step.")})
    results = _answers_in(candidate)
    if verdict == Verdict.CHALLENGING:
        _require_a_wrong_answer(results)
    else:
        _require_all_right(results)
        reason = reason_given(reason)
    write_verdict(candidate, Step.TASK_C, verdict, by=by, reason=reason)
    return history.advance(candidate, "pass_task_c", by=by, reason=reason, verdict=verdict, version=version)


def _answers_in(candidate: Candidate) -> ChallengeResults:
    """The answers to the candidate as it now reads. The first wrong one decides: it need not wait for the others."""
    results = challenge_results(candidate)
    if results is None:
        raise RuleBroken(_("The models have not been asked yet."), rule="challenge_needed")
    if results.stale:
        raise RuleBroken(_("The answers are older than the last edit. Ask the models again."), rule="challenge_stale")
    if not results.is_finished and not results.wrong:
        raise RuleBroken(
            _("Answers are still missing: %(models)s.") % {"models": _names(results.waiting)}, rule="answers_missing"
        )
    return results


def _require_a_wrong_answer(results: ChallengeResults) -> None:
    if results.wrong:
        return
    if results.failed:
        raise RuleBroken(
            _("No answer is wrong so far, and these models gave none: %(models)s. A lead can send them again.")
            % {"models": _names(results.failed)},
            rule="answers_missing",
        )
    raise RuleBroken(
        _("All models are right: the question is not challenging. Discard it, or keep it as highly valuable."),
        rule="not_challenging",
    )


def _require_all_right(results: ChallengeResults) -> None:
    if results.wrong:
        raise RuleBroken(_("A model is wrong, so the question passes as challenging."), rule="is_challenging")
    if not results.all_right:
        raise RuleBroken(
            _("Not all answers are in: %(models)s. A lead can send them again.") % {"models": _names(results.failed)},
            rule="answers_missing",
        )


def _names(answers: Iterable[ModelAnswer]) -> str:
    return ", ".join(answer.model.name for answer in answers)
