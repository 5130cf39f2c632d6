"""Pairing, drafting, and the drafts that come in."""

import pytest

from annotation import actions, receiving
from annotation.models import Candidate, Sample
from annotation.tasks import receive_drafts
from annotation.workflow import CandidateState, SampleState
from core.history import history_of
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from documents.workflow import VersionState
from generation.models import Call, Draft, Run
from generation.panels import ensure_panel
from generation.workflow import CallState, RunState
from tests.factories import make_annotator, make_call, make_expert, make_lead, make_model, make_sample, make_version

pytestmark = pytest.mark.django_db


def test_a_lead_pairs_a_cleared_document_with_a_task_by_code_or_name() -> None:
    lead = make_lead()
    sample = actions.create_sample(document=make_version().document, task_code="T3.1", by=lead)
    named = actions.create_sample(document=make_version().document, task_code=f" {sample.task.name} ", by=lead)
    assert (sample.state, sample.created_by, sample.task_code) == (SampleState.PLANNED, lead, "T3.1")
    assert named.task_code == "T3.1"


@pytest.mark.parametrize("make_other", [make_annotator, make_expert])
def test_only_a_lead_plans_and_drafts(make_other: object) -> None:
    person = make_other()  # type: ignore[operator]
    with pytest.raises(NotAllowed):
        actions.create_sample(document=make_version().document, task_code="T1.1", by=person)
    with pytest.raises(NotAllowed):
        actions.draft_sample(sample=make_sample(state=SampleState.PLANNED), by=person)


def test_an_unknown_task_is_refused_at_its_field() -> None:
    with pytest.raises(Invalid) as refused:
        actions.create_sample(document=make_version().document, task_code="T99", by=make_lead())
    assert "secondary_task" in refused.value.errors


@pytest.mark.parametrize(
    ("version", "rule"),
    [
        ({"state": VersionState.PENDING}, "document_not_approved"),
        ({"state": VersionState.REJECTED}, "document_not_approved"),
        ({"bucket": ""}, "document_without_bucket"),
    ],
)
def test_a_document_carries_samples_only_when_it_is_cleared_and_bucketed(version: dict[str, str], rule: str) -> None:
    with pytest.raises(RuleBroken) as refused:
        actions.create_sample(document=make_version(**version).document, task_code="T1.1", by=make_lead())
    assert refused.value.rule == rule


def test_a_pair_exists_once_and_an_exhausted_sample_does_not_count() -> None:
    lead, document = make_lead(), make_version().document
    first = actions.create_sample(document=document, task_code="T1.1", by=lead)
    with pytest.raises(RuleBroken, match=first.label) as refused:
        actions.create_sample(document=document, task_code="T1.1", by=lead)
    assert (refused.value.rule, refused.value.details["sample"]) == ("pair_exists", first.pk)
    Sample.objects.update(state=SampleState.EXHAUSTED)
    assert actions.create_sample(document=document, task_code="T1.1", by=lead).pk
    assert actions.create_sample(document=document, task_code="T1.2", by=lead).pk


def drafting_sample() -> Sample:
    ensure_panel("demo")
    lead = make_lead()
    sample = actions.create_sample(document=make_version().document, task_code="T1.2", by=lead)
    return actions.draft_sample(sample=sample, by=lead)


def finish(run: Run, *, replies: int, drafts_each: int = 3) -> None:
    """The run's calls answered by hand: `replies` usable ones, the rest failed."""
    run.run_calls.all().delete()
    for place in range(5):
        call = make_call(run, make_model(), state=CallState.SUCCEEDED if place < replies else CallState.FAILED)
        if place < replies:
            add_drafts(call, drafts_each)
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED)


def add_drafts(call: Call, count: int) -> None:
    for position in range(1, count + 1):
        Draft.objects.create(
            call=call,
            position=position,
            question=f"Which ships? {position}",
            elements="the ships",
            answer=["Heron"],
            rationale="It is said.",
        )


def run_of(sample: Sample) -> Run:
    assert sample.drafting_run is not None
    return sample.drafting_run


def test_drafting_puts_the_run_on_its_way_once() -> None:
    sample = drafting_sample()
    assert (sample.state, run_of(sample).task_code) == (SampleState.DRAFTING, "T1.2")
    with pytest.raises(Conflict):
        actions.draft_sample(sample=sample, by=make_lead())


def test_a_second_sample_of_the_pair_never_reuses_the_firsts_drafts() -> None:
    first = drafting_sample()
    Sample.objects.update(state=SampleState.EXHAUSTED)
    lead = make_lead()
    second = actions.create_sample(document=first.document, task_code="T1.2", by=lead)
    actions.draft_sample(sample=second, by=lead)
    assert (run_of(first).first_number, run_of(second).first_number) == (1, 2)


def test_nothing_is_received_before_the_run_has_ended() -> None:
    sample = drafting_sample()
    assert receiving.work_off() == 0
    sample.refresh_from_db()
    assert sample.state == SampleState.DRAFTING


def test_finished_drafting_gives_candidates_to_read_and_a_failed_model_leaves_the_others() -> None:
    sample = drafting_sample()
    finish(run_of(sample), replies=4)
    assert receiving.work_off() == 1
    sample.refresh_from_db()
    assert sample.state == SampleState.IN_VERIFICATION
    assert list(sample.candidates.values_list("position", flat=True)) == list(range(1, 13))
    assert set(sample.candidates.values_list("state", flat=True)) == {CandidateState.READ}


def test_receiving_twice_makes_nothing_twice() -> None:
    sample = drafting_sample()
    finish(run_of(sample), replies=5)
    receive_drafts(sample.pk)
    receive_drafts(sample.pk)
    assert receiving.work_off() == 0
    assert Candidate.objects.count() == 15


def test_late_drafts_of_a_model_sent_again_join_the_others() -> None:
    sample = drafting_sample()
    run = run_of(sample)
    finish(run, replies=4)
    receiving.work_off()
    failed = run.run_calls.get(call__state=CallState.FAILED).call
    failed.state = CallState.SUCCEEDED
    failed.save()
    add_drafts(failed, 3)
    assert receiving.work_off() == 1
    assert sample.candidates.count() == 15
    assert history_of(sample).filter(action="annotation.receive_late_drafts").exists()


def test_a_run_without_one_valid_draft_sends_the_sample_back_to_be_drafted_again() -> None:
    sample = drafting_sample()
    finish(run_of(sample), replies=0)
    assert receiving.work_off() == 1
    sample.refresh_from_db()
    assert sample.state == SampleState.PLANNED
    again = actions.draft_sample(sample=sample, by=make_lead())
    assert run_of(again).first_number == 2
