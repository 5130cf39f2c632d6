"""Stage 2, steps 1 to 6: the order, the verdicts, edits and what they reopen."""

from typing import Any

import pytest

from annotation import actions
from annotation.models import CandidateEdit, Overrule, StepVerdict
from annotation.queries import challenge_results
from annotation.workflow import CandidateState, ClaimEnd, SampleState, Step, Verdict
from core.guidelines import GUIDELINES_VERSION
from core.history import history_of
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from generation.workflow import RunState
from tests.annotation.scenes import (
    ALL_FOUR,
    ALL_SEVEN,
    answer_run,
    bring,
    candidate_at,
    challenged,
    claimed_sample,
    first_candidate,
    passed_sample,
    submitted_sample,
)
from tests.factories import make_annotator, make_expert, make_lead, make_sample

pytestmark = pytest.mark.django_db
C = CandidateState


def judge_a(candidate: Any, by: Any, verdict: str = Verdict.COMPLIANT, **more: Any) -> Any:
    given = {"version": candidate.version, "checks": ALL_FOUR, **more}
    return actions.judge_task_a(candidate=candidate, verdict=verdict, by=by, **given)


def judge_b(candidate: Any, by: Any, verdict: str = Verdict.CORRECT, **more: Any) -> Any:
    given = {"version": candidate.version, "checks": ALL_FOUR, **more}
    return actions.judge_task_b(candidate=candidate, verdict=verdict, by=by, **given)


def judge_c(candidate: Any, by: Any, verdict: str = Verdict.CHALLENGING, reason: str = "") -> Any:
    return actions.judge_task_c(candidate=candidate, version=candidate.version, verdict=verdict, reason=reason, by=by)


def edit(candidate: Any, by: Any, **parts: Any) -> Any:
    return actions.edit_candidate(candidate=candidate, version=candidate.version, by=by, **parts)


# The order -----------------------------------------------------------------------------------------------------


def test_a_candidate_passes_by_reading_task_a_task_b_and_task_c() -> None:
    candidate, _annotator = candidate_at(C.PASSED)
    moves = [event.action.removeprefix("annotation.") for event in history_of(candidate)]
    assert moves == ["read", "pass_task_a", "pass_task_b", "challenge", "pass_task_c"]
    verdicts = list(candidate.verdicts.values_list("step", "verdict", "guidelines_version", "candidate_version"))
    assert verdicts == [
        (step, verdict, GUIDELINES_VERSION, 1)
        for step, verdict in [("task_a", "compliant"), ("task_b", "correct"), ("task_c", "challenging")]
    ]


STEPS = {
    C.READ: lambda candidate, by: actions.read_candidate(candidate=candidate, by=by),
    C.TASK_A: judge_a,
    C.TASK_B: judge_b,
    C.TASK_C: judge_c,
}


@pytest.mark.parametrize("state", list(C))
@pytest.mark.parametrize("step", list(STEPS))
def test_a_step_is_open_only_when_the_one_before_is_done(state: CandidateState, step: CandidateState) -> None:
    candidate, annotator = candidate_at(C.READ if state == C.DISCARDED else state)
    if state == C.DISCARDED:
        actions.discard_candidate(candidate=candidate, reason="Trivial.", by=annotator)
    if state == step == C.TASK_C:
        challenged(candidate, annotator)
    if state == step:
        assert STEPS[step](candidate, annotator).state != state
        return
    with pytest.raises(Conflict) as refused:
        STEPS[step](candidate, annotator)
    assert (refused.value.rule, refused.value.details["state"]) == ("step_not_open", state)
    candidate.refresh_from_db()
    assert candidate.state == state


def test_no_step_is_taken_without_the_claim() -> None:
    sample = make_sample()
    with pytest.raises(Conflict) as refused:
        actions.read_candidate(candidate=first_candidate(sample), by=make_annotator())
    assert refused.value.rule == "claim_needed"


def test_the_desk_is_closed_while_the_sample_is_in_audit() -> None:
    sample, annotator = submitted_sample()
    with pytest.raises(Conflict) as refused:
        actions.discard_candidate(candidate=first_candidate(sample), reason="Late.", by=annotator)
    assert refused.value.details["state"] == SampleState.IN_AUDIT


# Verdicts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", range(4))
def test_a_step_is_passed_only_with_all_four_checks(missing: int) -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    checks = [place != missing for place in range(4)]
    with pytest.raises(RuleBroken) as refused:
        judge_a(candidate, annotator, checks=checks)
    assert refused.value.rule == "checks_needed"


@pytest.mark.parametrize("checks", [[], [True] * 3, [True] * 5, ["true"] * 4])
def test_a_step_has_four_checks(checks: list[Any]) -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    with pytest.raises(Invalid) as refused:
        judge_a(candidate, annotator, checks=checks)
    assert "checks" in refused.value.errors


@pytest.mark.parametrize("verdict", ["correct", "challenging", "valuable", "", "pass"])
def test_a_verdict_of_another_step_is_refused(verdict: str) -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    with pytest.raises(Invalid):
        judge_a(candidate, annotator, verdict)


def test_a_minor_edit_is_a_verdict_only_after_an_edit_in_that_step() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    with pytest.raises(RuleBroken) as refused:
        judge_a(candidate, annotator, Verdict.MINOR_EDIT)
    assert refused.value.rule == "not_edited"
    edit(candidate, annotator, question="Which ships paid late, largest fee first?")
    with pytest.raises(RuleBroken) as refused:
        judge_a(candidate, annotator, Verdict.COMPLIANT)
    assert refused.value.rule == "edited_in_step"
    assert judge_a(candidate, annotator, Verdict.MINOR_EDIT).state == C.TASK_B


def test_an_edit_of_an_earlier_step_does_not_count_in_the_next() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    edit(candidate, annotator, question="Which ships paid late, largest fee first?")
    judge_a(candidate, annotator, Verdict.MINOR_EDIT)
    assert judge_b(candidate, annotator, Verdict.CORRECT).state == C.TASK_C


def test_an_edit_that_was_taken_back_is_no_edit() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    first = candidate.question
    edit(candidate, annotator, question="Something else?")
    edit(candidate, annotator, question=first)
    assert judge_a(candidate, annotator, Verdict.COMPLIANT).state == C.TASK_B


def test_a_discard_needs_a_reason_and_ends_the_candidate_at_its_step() -> None:
    candidate, annotator = candidate_at(C.TASK_B)
    with pytest.raises(Invalid) as refused:
        judge_b(candidate, annotator, Verdict.DISCARD)
    assert "reason" in refused.value.errors
    judge_b(candidate, annotator, Verdict.DISCARD, reason="The third step is invented.", checks=[True, False] * 2)
    assert (candidate.state, candidate.discarded_at_step) == (C.DISCARDED, Step.TASK_B)
    assert candidate.discard_reason == "The third step is invented."
    assert candidate.verdicts.get(step=Step.TASK_B).checks == [True, False, True, False]


@pytest.mark.parametrize("state", [C.READ, C.TASK_A, C.TASK_B, C.TASK_C, C.PASSED])
def test_a_candidate_can_be_discarded_at_any_step(state: str) -> None:
    candidate, annotator = candidate_at(state)
    actions.discard_candidate(candidate=candidate, reason="Trivial.", by=annotator)
    step = Step.TASK_C if state == C.PASSED else state
    assert (candidate.state, candidate.discarded_at_step) == (C.DISCARDED, step)
    assert candidate.verdicts.get(step=step, voided_at=None).verdict == Verdict.DISCARD


# Edits ---------------------------------------------------------------------------------------------------------


def test_an_edit_is_kept_with_both_texts_and_the_draft_stays_as_the_model_gave_it() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    edit(candidate, annotator, answer=["Marigold", "Heron"])
    kept = CandidateEdit.objects.get()
    assert (kept.version, kept.by) == (2, annotator)
    assert kept.before["answer"] == ["Marigold", "Heron", "Tern"]
    assert kept.after["answer"] == ["Marigold", "Heron"]
    candidate.draft.refresh_from_db()
    assert candidate.draft.answer == ["Marigold", "Heron", "Tern"]


def test_an_edit_that_changes_nothing_makes_no_version() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    edit(candidate, annotator, question=f"  {candidate.question}\r\n")
    assert (candidate.version, candidate.state) == (1, C.TASK_C)


def test_a_stale_edit_is_refused_and_nothing_is_overwritten() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    edit(candidate, annotator, question="First hand?")
    with pytest.raises(Conflict) as refused:
        actions.edit_candidate(candidate=candidate, version=1, question="Second hand?", by=annotator)
    assert (refused.value.rule, refused.value.details["version"]) == ("stale_version", 2)
    candidate.refresh_from_db()
    assert candidate.question == "First hand?"


def test_a_verdict_on_another_version_is_refused() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    edit(candidate, annotator, question="First hand?")
    with pytest.raises(Conflict) as refused:
        judge_a(candidate, annotator, Verdict.MINOR_EDIT, version=1)
    assert refused.value.rule == "stale_version"


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ({"question": " \x00 "}, "question"),
        ({"elements": ""}, "elements"),
        ({"elements": "two\nlines"}, "elements"),
        ({"answer": []}, "answer"),
        ({"answer": ["Heron", " "]}, "answer"),
        ({"answer": ["Heron\nTern"]}, "answer"),
        ({"options": ["A. Heron", ""]}, "options"),
    ],
)
def test_an_edit_that_leaves_a_part_unusable_is_refused_at_its_field(parts: dict[str, Any], field: str) -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    with pytest.raises(Invalid) as refused:
        edit(candidate, annotator, **parts)
    assert list(refused.value.errors) == [field]


def test_unstorable_characters_never_reach_the_candidate() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    edit(candidate, annotator, question="a\x00b\ud83d?", answer=["Her\x00on"])
    candidate.refresh_from_db()
    assert (candidate.question, candidate.answer) == ("ab\ufffd?", ["Heron"])


@pytest.mark.parametrize("state", [C.TASK_B, C.TASK_C, C.PASSED])
def test_an_edited_question_reopens_task_a_and_voids_the_verdicts_since(state: str) -> None:
    candidate, annotator = candidate_at(state)
    edit(candidate, annotator, question="Which ships paid?")
    assert candidate.state == C.TASK_A
    assert not candidate.verdicts.filter(voided_at=None).exists()
    assert judge_a(candidate, annotator, Verdict.MINOR_EDIT).state == C.TASK_B
    assert judge_b(candidate, annotator, Verdict.CORRECT).state == C.TASK_C


@pytest.mark.parametrize("part", [{"answer": ["Heron"]}, {"elements": "the ships"}, {"options": ["A. Heron"]}])
@pytest.mark.parametrize("state", [C.TASK_C, C.PASSED])
def test_an_edited_answer_reopens_task_b_and_leaves_task_a(state: str, part: dict[str, Any]) -> None:
    candidate, annotator = candidate_at(state)
    edit(candidate, annotator, **part)
    assert candidate.state == C.TASK_B
    assert list(candidate.verdicts.filter(voided_at=None).values_list("step", flat=True)) == [Step.TASK_A]
    assert judge_b(candidate, annotator, Verdict.MINOR_EDIT).state == C.TASK_C


@pytest.mark.parametrize("state", [C.READ, C.DISCARDED])
def test_an_unread_or_discarded_candidate_is_not_edited(state: str) -> None:
    candidate, annotator = candidate_at(C.READ)
    if state == C.DISCARDED:
        actions.discard_candidate(candidate=candidate, reason="Trivial.", by=annotator)
    with pytest.raises(Conflict):
        edit(candidate, annotator, question="Which?")


# Task C --------------------------------------------------------------------------------------------------------


def test_the_models_are_asked_the_question_as_it_now_reads_and_never_told_the_answer() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    edit(candidate, annotator, question="Which ships paid at all?")
    judge_a(candidate, annotator, Verdict.MINOR_EDIT)
    bring(candidate, C.TASK_C, annotator)
    challenge = actions.challenge_candidate(candidate=candidate, version=2, by=annotator)
    assert "Which ships paid at all?" in challenge.run.prompt
    assert "Marigold" not in challenge.run.prompt
    assert challenge.run.reference == ["Marigold", "Heron", "Tern"]


def test_asking_again_for_the_same_version_gives_the_same_challenge() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    first = actions.challenge_candidate(candidate=candidate, version=1, by=annotator)
    assert actions.challenge_candidate(candidate=candidate, version=1, by=annotator) == first


def test_task_c_needs_the_models_answers() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    with pytest.raises(RuleBroken) as refused:
        judge_c(candidate, annotator)
    assert refused.value.rule == "challenge_needed"


def test_while_none_is_wrong_task_c_waits_for_the_answers_on_their_way_and_names_the_models() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenge = challenged(candidate, annotator, wrong=0, waiting=1)
    late = challenge.run.run_calls.order_by("pk").last()
    assert late is not None
    with pytest.raises(RuleBroken, match=late.call.model.name) as refused:
        judge_c(candidate, annotator)
    assert refused.value.rule == "answers_missing"


def test_one_wrong_answer_is_enough_while_others_are_on_their_way() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenged(candidate, annotator, wrong=1, waiting=2)
    with pytest.raises(RuleBroken) as refused:
        judge_c(candidate, annotator, Verdict.VALUABLE, "Worth it.")
    assert refused.value.rule == "is_challenging"
    assert judge_c(candidate, annotator).state == C.PASSED


def test_one_wrong_answer_makes_a_question_challenging_also_when_a_model_failed() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenged(candidate, annotator, wrong=1, failed=1)
    assert judge_c(candidate, annotator).state == C.PASSED


def test_all_right_is_not_challenging_but_may_be_kept_as_valuable_with_the_reason() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenged(candidate, annotator, wrong=0)
    with pytest.raises(RuleBroken) as refused:
        judge_c(candidate, annotator)
    assert refused.value.rule == "not_challenging"
    with pytest.raises(Invalid) as invalid:
        judge_c(candidate, annotator, Verdict.VALUABLE)
    assert "reason" in invalid.value.errors
    judge_c(candidate, annotator, Verdict.VALUABLE, "It joins two distant paragraphs.")
    assert candidate.verdicts.get(step=Step.TASK_C).reason == "It joins two distant paragraphs."


@pytest.mark.parametrize("verdict", [Verdict.VALUABLE, Verdict.CHALLENGING])
def test_all_right_means_all_five(verdict: str) -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenged(candidate, annotator, wrong=0, failed=1)
    with pytest.raises(RuleBroken) as refused:
        judge_c(candidate, annotator, verdict, "Worth it.")
    assert refused.value.rule == "answers_missing"


def test_a_challenging_question_is_not_kept_as_valuable() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenged(candidate, annotator, wrong=1)
    with pytest.raises(RuleBroken) as refused:
        judge_c(candidate, annotator, Verdict.VALUABLE, "Worth it.")
    assert refused.value.rule == "is_challenging"


def test_an_overrule_with_its_reason_counts_in_place_of_the_score() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenge = challenged(candidate, annotator, wrong=1)
    wrong = challenge.run.run_calls.get(right=False)
    with pytest.raises(Invalid):
        actions.overrule_answer(challenge=challenge, run_call=wrong, right=True, reason="", by=annotator)
    actions.overrule_answer(challenge=challenge, run_call=wrong, right=True, reason="Same name.", by=annotator)
    results = challenge_results(candidate)
    assert results is not None
    assert results.all_right
    with pytest.raises(RuleBroken):
        judge_c(candidate, annotator)
    wrong.refresh_from_db()
    assert wrong.right is False
    assert Overrule.objects.get().reason == "Same name."


def test_an_answer_without_a_score_or_of_another_challenge_is_not_overruled() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenge = challenged(candidate, annotator, wrong=1, failed=1)
    failed = challenge.run.run_calls.get(right=None)
    other, other_annotator = candidate_at(C.TASK_C)
    foreign = challenged(other, other_annotator).run.run_calls.first()
    for run_call in (failed, foreign):
        assert run_call is not None
        with pytest.raises(Invalid):
            actions.overrule_answer(challenge=challenge, run_call=run_call, right=True, reason="So.", by=annotator)


def test_no_candidate_passes_on_answers_older_than_its_last_edit() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenge = challenged(candidate, annotator, wrong=2)
    edit(candidate, annotator, answer=["Marigold", "Heron"])
    judge_b(candidate, annotator, Verdict.MINOR_EDIT)
    with pytest.raises(RuleBroken) as refused:
        judge_c(candidate, annotator)
    assert refused.value.rule == "challenge_stale"
    first = challenge.run.run_calls.first()
    assert first is not None
    with pytest.raises(Conflict):
        actions.overrule_answer(challenge=challenge, run_call=first, right=False, reason="So.", by=annotator)
    fresh = actions.challenge_candidate(candidate=candidate, version=2, by=annotator)
    assert fresh != challenge
    fresh.run.run_calls.all().delete()
    answer_run(fresh.run, [(["Heron"], False)] * 5)
    assert judge_c(candidate, annotator).state == C.PASSED


def test_a_cancelled_challenge_with_no_answer_lets_nothing_pass() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenge = challenged(candidate, annotator, wrong=0, failed=5)
    challenge.run.state = RunState.CANCELLED
    challenge.run.save()
    with pytest.raises(RuleBroken) as refused:
        judge_c(candidate, annotator)
    assert refused.value.rule == "answers_missing"


# Select, submit, exhaust ---------------------------------------------------------------------------------------


def test_only_a_passed_candidate_of_the_sample_is_selected() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    with pytest.raises(Conflict) as refused:
        actions.select_candidate(sample=candidate.sample, candidate=candidate, by=annotator)
    assert refused.value.rule == "candidate_not_passed"
    foreign, _other = candidate_at(C.PASSED)
    with pytest.raises(Invalid):
        actions.select_candidate(sample=candidate.sample, candidate=foreign, by=annotator)


def test_a_sample_is_submitted_only_with_a_selected_candidate() -> None:
    candidate, annotator = candidate_at(C.PASSED)
    with pytest.raises(RuleBroken) as refused:
        actions.submit_sample(sample=candidate.sample, checklist=ALL_SEVEN, by=annotator)
    assert refused.value.rule == "candidate_not_selected"


@pytest.mark.parametrize("checklist", [[], [True] * 6, [True] * 6 + [False], ["true"] * 7, [1] * 7])
def test_submitting_a_sample_needs_the_checklist(checklist: list[Any]) -> None:
    sample, _candidate, annotator = passed_sample()
    with pytest.raises(RuleBroken) as refused:
        actions.submit_sample(sample=sample, checklist=checklist, by=annotator)
    assert refused.value.rule == "checklist_needed"


def test_a_selected_candidate_that_was_edited_since_is_not_submitted() -> None:
    sample, candidate, annotator = passed_sample()
    edit(candidate, annotator, question="Which?")
    with pytest.raises(Conflict) as refused:
        actions.submit_sample(sample=sample, checklist=ALL_SEVEN, by=annotator)
    assert refused.value.rule == "candidate_not_passed"


def test_submitting_freezes_what_was_chosen_and_ends_the_claim() -> None:
    sample, candidate, annotator = passed_sample()
    submission = actions.submit_sample(sample=sample, checklist=ALL_SEVEN, note="The second paragraph.", by=annotator)
    assert sample.state == SampleState.IN_AUDIT
    assert (submission.number, submission.question, submission.answer) == (1, candidate.question, candidate.answer)
    assert sample.claims.get().ended_how == ClaimEnd.FINISHED


def test_a_sample_is_exhausted_when_its_last_candidate_is_discarded() -> None:
    sample, annotator = claimed_sample(candidates=2)
    first, second = sample.candidates.order_by("position")
    actions.discard_candidate(candidate=first, reason="Trivial.", by=annotator)
    assert second.sample.state == SampleState.IN_VERIFICATION
    actions.discard_candidate(candidate=second, reason="Trivial.", by=annotator)
    sample.refresh_from_db()
    assert sample.state == SampleState.EXHAUSTED
    assert sample.claims.get().ended_how == ClaimEnd.FINISHED


def test_a_sample_with_candidates_left_is_not_exhausted() -> None:
    sample, annotator = claimed_sample()
    with pytest.raises(RuleBroken) as refused:
        actions.exhaust_sample(sample=sample, by=annotator)
    assert refused.value.rule == "candidates_left"


def test_discarding_the_selected_candidate_unselects_it() -> None:
    sample, candidate, annotator = passed_sample()
    actions.discard_candidate(candidate=candidate, reason="On second thoughts.", by=annotator)
    sample.refresh_from_db()
    assert sample.chosen is None


@pytest.mark.parametrize("make_other", [make_expert, make_lead])
def test_nobody_but_the_holder_works_at_the_desk(make_other: Any) -> None:
    candidate, _annotator = candidate_at(C.TASK_A)
    with pytest.raises((Conflict, NotAllowed)):
        judge_a(candidate, make_other())
    assert not StepVerdict.objects.exists()
