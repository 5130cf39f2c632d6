"""Taking back one's own last verdict or discard: the step opens again, nothing is deleted, the order still holds."""

from typing import Any

import pytest

from annotation import actions
from annotation.models import Sample, StepVerdict
from annotation.queries import challenge_results
from annotation.workflow import CandidateState, SampleState, Step, Verdict
from core.history import history_of
from core.refusals import Conflict, NotAllowed, RuleBroken
from documents.workflow import VersionState
from tests.annotation.scenes import ALL_FOUR, ALL_SEVEN, bring, candidate_at, claimed_sample, passed_sample
from tests.annotation.test_api import api, do
from tests.annotation.test_pages import HTMX, client_of, page, post
from tests.factories import make_annotator, make_expert, make_lead

pytestmark = pytest.mark.django_db
C = CandidateState


def take_back(candidate: Any, by: Any, **more: Any) -> Any:
    assert actions.can_take_back_verdict(by, candidate)
    return actions.take_back_verdict(candidate=candidate, by=by, **more)


@pytest.mark.parametrize(("state", "before"), [(C.TASK_B, C.TASK_A), (C.TASK_C, C.TASK_B), (C.PASSED, C.TASK_C)])
def test_the_last_verdict_is_taken_back_voided_and_never_deleted(state: str, before: CandidateState) -> None:
    candidate, annotator = candidate_at(state)
    given = candidate.verdicts.count()
    take_back(candidate, annotator)
    assert candidate.state == before
    assert candidate.verdicts.count() == given
    assert candidate.verdicts.get(step=before).voided_at is not None
    event = history_of(candidate).last()
    assert event is not None
    assert (event.action, event.by, event.to_state) == (f"annotation.take_back_{before}", annotator, before)
    assert bring(candidate, C.PASSED, annotator).state == C.PASSED


def test_the_models_answers_to_an_unchanged_candidate_stay_fresh() -> None:
    candidate, annotator = candidate_at(C.PASSED)
    take_back(candidate, annotator)
    results = challenge_results(candidate)
    assert results is not None
    assert not results.stale
    actions.judge_task_c(candidate=candidate, version=1, verdict=Verdict.CHALLENGING, reason="", by=annotator)
    assert candidate.state == C.PASSED


@pytest.mark.parametrize("state", [C.READ, C.TASK_A, C.TASK_B, C.TASK_C, C.PASSED])
def test_a_discard_is_taken_back_to_the_step_it_ended_at(state: str) -> None:
    candidate, annotator = candidate_at(state)
    actions.discard_candidate(candidate=candidate, reason="Too fast.", by=annotator)
    take_back(candidate, annotator)
    assert candidate.state == (C.TASK_C if state == C.PASSED else state)
    candidate.refresh_from_db()
    assert (candidate.discarded_at_step, candidate.discard_reason) == ("", "")
    assert candidate.verdicts.get(verdict=Verdict.DISCARD).reason == "Too fast."
    assert bring(candidate, C.PASSED, annotator).state == C.PASSED


def test_an_edit_counts_again_when_the_verdict_on_it_is_taken_back() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    actions.edit_candidate(candidate=candidate, version=1, question="Which ships paid late?", by=annotator)
    given: dict[str, Any] = {"candidate": candidate, "version": 2, "checks": ALL_FOUR, "by": annotator}
    actions.judge_task_a(verdict=Verdict.MINOR_EDIT, **given)
    take_back(candidate, annotator)
    with pytest.raises(RuleBroken):
        actions.judge_task_a(verdict=Verdict.COMPLIANT, **given)
    assert actions.judge_task_a(verdict=Verdict.MINOR_EDIT, **given).state == C.TASK_B


@pytest.mark.parametrize("state", [C.READ, C.TASK_A])
def test_without_a_verdict_there_is_nothing_to_take_back(state: str) -> None:
    candidate, annotator = candidate_at(state)
    assert not actions.can_take_back_verdict(annotator, candidate)
    with pytest.raises(Conflict) as refused:
        actions.take_back_verdict(candidate=candidate, by=annotator)
    assert refused.value.rule == "nothing_to_take_back"


def test_asked_twice_for_one_verdict_only_that_one_is_taken_back() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    last = candidate.verdicts.get(step=Step.TASK_B)
    take_back(candidate, annotator, verdict=last.pk)
    with pytest.raises(Conflict) as refused:
        actions.take_back_verdict(candidate=candidate, by=annotator, verdict=last.pk)
    assert refused.value.rule == "nothing_to_take_back"
    candidate.refresh_from_db()
    assert candidate.state == C.TASK_B


@pytest.mark.parametrize("make_other", [make_annotator, make_expert, make_lead])
def test_nobody_takes_back_at_a_desk_that_they_do_not_hold(make_other: Any) -> None:
    candidate, _annotator = candidate_at(C.TASK_B)
    other = make_other()
    assert not actions.can_take_back_verdict(other, candidate)
    with pytest.raises((Conflict, NotAllowed)):
        actions.take_back_verdict(candidate=candidate, by=other)


def test_the_verdict_of_who_held_the_sample_before_is_not_ones_own() -> None:
    candidate, _annotator = candidate_at(C.TASK_B)
    other = make_annotator()
    actions.take_over_sample(sample=candidate.sample, holder=other, reason="Ill.", by=make_lead())
    assert not actions.can_take_back_verdict(other, candidate)
    with pytest.raises(NotAllowed) as refused:
        actions.take_back_verdict(candidate=candidate, by=other)
    assert refused.value.rule == "verdict_of_another"


def test_nothing_is_taken_back_while_the_sample_is_in_audit() -> None:
    sample, candidate, annotator = passed_sample()
    actions.submit_sample(sample=sample, checklist=ALL_SEVEN, by=annotator)
    with pytest.raises(Conflict):
        actions.take_back_verdict(candidate=candidate, by=annotator)


def test_a_selected_candidate_whose_verdict_is_taken_back_is_not_submitted() -> None:
    sample, candidate, annotator = passed_sample()
    take_back(candidate, annotator)
    with pytest.raises(Conflict) as refused:
        actions.submit_sample(sample=sample, checklist=ALL_SEVEN, by=annotator)
    assert refused.value.rule == "candidate_not_passed"


# The last discard -------------------------------------------------------------------------------------------------


def exhausted(**more: Any) -> tuple[Any, Any, Sample]:
    sample, annotator = claimed_sample(candidates=1, **more)
    candidate = sample.candidates.get()
    actions.discard_candidate(candidate=candidate, reason="Trivial.", by=annotator)
    sample.refresh_from_db()
    assert sample.state == SampleState.EXHAUSTED
    return candidate, annotator, sample


@pytest.mark.parametrize("state", [SampleState.IN_VERIFICATION, SampleState.RETURNED])
def test_taking_back_the_last_discard_brings_the_sample_back_with_its_claim(state: str) -> None:
    candidate, annotator, sample = exhausted(state=state)
    take_back(candidate, annotator)
    sample.refresh_from_db()
    assert (sample.state, candidate.state) == (state, C.READ)
    assert actions.can_read_candidate(annotator, candidate)


def test_an_exhausted_sample_whose_pair_was_planned_anew_stays_exhausted() -> None:
    candidate, annotator, sample = exhausted()
    anew = actions.create_sample(document=sample.document, task_code=sample.task_code, by=make_lead())
    assert not actions.can_take_back_verdict(annotator, candidate)
    with pytest.raises(RuleBroken) as refused:
        actions.take_back_verdict(candidate=candidate, by=annotator)
    assert (refused.value.rule, refused.value.details["sample"]) == ("pair_exists", anew.pk)
    sample.refresh_from_db()
    assert sample.state == SampleState.EXHAUSTED
    assert StepVerdict.objects.get().voided_at is None


def test_a_withdrawn_approval_keeps_an_exhausted_sample_where_it_is() -> None:
    candidate, annotator, sample = exhausted()
    sample.document_version.state = VersionState.REJECTED
    sample.document_version.save()
    with pytest.raises(RuleBroken) as refused:
        actions.take_back_verdict(candidate=candidate, by=annotator)
    assert refused.value.rule == "document_not_approved"


# On the page and by the API ----------------------------------------------------------------------------------------


def test_the_page_offers_z_and_takes_back_the_verdict_that_it_showed() -> None:
    candidate, annotator = candidate_at(C.TASK_B)
    client, last = client_of(annotator), candidate.verdicts.get()
    shown = page(client, "sample_verify", candidate.sample_id)
    assert f'name="verdict" value="{last.pk}"' in shown
    answer = post(client, "candidate_take_back", candidate.pk, {"verdict": last.pk}, **HTMX)
    assert 'data-step="task_a"' in answer.content.decode()
    again = post(client, "candidate_take_back", candidate.pk, {"verdict": last.pk}, **HTMX)
    assert (again.status_code, 'data-rule="nothing_to_take_back"' in again.content.decode()) == (409, True)


def test_the_page_of_an_exhausted_sample_takes_back_the_last_discard() -> None:
    candidate, annotator, sample = exhausted()
    client = client_of(annotator, "zh-hans")
    assert 'data-key="z"' in page(client, "sample_verify", sample.pk)
    answer = post(client, "candidate_take_back", candidate.pk)
    assert answer["Location"] == f"/samples/{sample.pk}/verify/?candidate=1"
    assert 'data-step="read"' in page(client, "sample_verify", sample.pk)


def test_a_program_takes_back_a_discard() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    do(api(annotator), "candidates", candidate.pk, "discard", reason="Trivial.")
    answer = do(api(annotator), "candidates", candidate.pk, "take_back")
    assert (answer.status_code, answer.json()["state"], answer.json()["discard_reason"]) == (200, "task_a", "")
    again = do(api(annotator), "candidates", candidate.pk, "take_back")
    assert (again.status_code, again.json()["rule"]) == (409, "nothing_to_take_back")
