"""Where an annotation test begins: a claimed sample, a candidate at a step, a challenge with answers."""

from collections.abc import Sequence

from annotation import actions
from annotation.models import Candidate, Challenge, Sample
from annotation.workflow import CandidateState, SampleState, Verdict
from core.models import User
from generation.models import Run
from generation.workflow import CallState, RunState
from tests.factories import make_annotator, make_call, make_claim, make_expert, make_model, make_sample

ALL_FOUR = [True] * 4
ALL_SEVEN = [True] * 7
RIGHT = (["Marigold", "Heron", "Tern"], True)
WRONG = (["Marigold", "Gull"], False)


def claimed_sample(annotator: User | None = None, *, candidates: int = 3, **more: object) -> tuple[Sample, User]:
    annotator = annotator or make_annotator()
    sample = make_sample(annotator=annotator, candidates=candidates, **more)  # type: ignore[arg-type]
    make_claim(sample, annotator)
    return sample, annotator


def first_candidate(sample: Sample) -> Candidate:
    return sample.candidates.select_related("sample").order_by("position")[0]


def candidate_at(
    state: str, annotator: User | None = None, *, wrong: int = 1, **more: object
) -> tuple[Candidate, User]:
    """A candidate brought to a step by the actions themselves."""
    sample, annotator = claimed_sample(annotator, **more)  # type: ignore[arg-type]
    return bring(first_candidate(sample), state, annotator, wrong=wrong), annotator


def bring(candidate: Candidate, state: str, by: User, *, wrong: int = 1) -> Candidate:
    order = list(CandidateState)
    while candidate.state != state and order.index(CandidateState(candidate.state)) < order.index(
        CandidateState(state)
    ):
        _one_step(candidate, by, wrong)
    return candidate


def _one_step(candidate: Candidate, by: User, wrong: int) -> None:
    version = candidate.version
    match candidate.state:
        case CandidateState.READ:
            actions.read_candidate(candidate=candidate, by=by)
        case CandidateState.TASK_A:
            actions.judge_task_a(
                candidate=candidate, version=version, verdict=Verdict.COMPLIANT, checks=ALL_FOUR, by=by
            )
        case CandidateState.TASK_B:
            actions.judge_task_b(candidate=candidate, version=version, verdict=Verdict.CORRECT, checks=ALL_FOUR, by=by)
        case CandidateState.TASK_C:
            challenged(candidate, by, wrong=wrong)
            actions.judge_task_c(
                candidate=candidate,
                version=version,
                verdict=Verdict.CHALLENGING if wrong else Verdict.VALUABLE,
                reason="It joins two distant paragraphs.",
                by=by,
            )


def challenged(candidate: Candidate, by: User, *, wrong: int = 1, waiting: int = 0, failed: int = 0) -> Challenge:
    """Asked of five models: `waiting` still out, `failed` without answer, `wrong` wrong, the rest right."""
    challenge = actions.challenge_candidate(candidate=candidate, version=candidate.version, by=by)
    challenge.run.run_calls.all().delete()
    answers = [WRONG] * wrong + [RIGHT] * (5 - wrong - waiting - failed)
    answer_run(challenge.run, answers, waiting=waiting, failed=failed)
    return challenge


def answer_run(run: Run, answers: Sequence[tuple[list[str], bool]], *, waiting: int = 0, failed: int = 0) -> None:
    for elements, right in answers:
        make_call(run, make_model(), elements=elements, score=float(right), right=right)
    for _i in range(failed):
        make_call(run, make_model(), state=CallState.FAILED)
    for _i in range(waiting):
        make_call(run, make_model(), state=CallState.QUEUED)
    run.state = RunState.RUNNING if waiting else RunState.FINISHED
    run.save()


def passed_sample(annotator: User | None = None, **more: object) -> tuple[Sample, Candidate, User]:
    """One candidate passed and selected, the sample still claimed."""
    candidate, annotator = candidate_at(CandidateState.PASSED, annotator, **more)  # type: ignore[arg-type]
    sample = candidate.sample
    actions.select_candidate(sample=sample, candidate=candidate, by=annotator)
    return sample, candidate, annotator


def submitted_sample(annotator: User | None = None, **more: object) -> tuple[Sample, User]:
    sample, _candidate, annotator = passed_sample(annotator, **more)
    actions.submit_sample(sample=sample, checklist=ALL_SEVEN, by=annotator)
    return sample, annotator


def sample_in_audit(**more: object) -> tuple[Sample, User, User]:
    """Submitted, and claimed by the expert."""
    sample, annotator = submitted_sample(**more)  # type: ignore[arg-type]
    expert = make_expert()
    actions.claim_for_judging(sample=sample, by=expert)
    return sample, annotator, expert


def approved_sample(**more: object) -> tuple[Sample, User, User]:
    sample, annotator, expert = sample_in_audit(**more)
    actions.approve_sample(sample=sample, by=expert)
    assert sample.state == SampleState.IN_STANDARDIZATION
    return sample, annotator, expert
