"""Expert audit, and what answer review sends back."""

import pytest

from annotation import actions
from annotation.models import Candidate, Challenge, Sample
from annotation.workflow import CandidateState, ClaimEnd, SampleState, Step, Verdict
from core.history import history_of
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from documents.workflow import VersionState
from tests.annotation.scenes import ALL_FOUR, ALL_SEVEN, approved_sample, bring, sample_in_audit, submitted_sample
from tests.factories import make_annotator, make_expert, make_lead, make_standardized_sample, make_version

pytestmark = pytest.mark.django_db


def chosen_of(sample: Sample) -> Candidate:
    return Candidate.objects.select_related("sample").get(pk=sample.chosen_id or 0)


def test_an_expert_audits_only_what_they_have_claimed() -> None:
    sample, _annotator = submitted_sample()
    with pytest.raises(Conflict) as refused:
        actions.approve_sample(sample=sample, by=make_expert())
    assert refused.value.rule == "claim_needed"


def test_two_experts_never_audit_at_once() -> None:
    sample, _annotator, _expert = sample_in_audit()
    with pytest.raises(Conflict) as refused:
        actions.claim_for_judging(sample=sample, by=make_expert())
    assert refused.value.rule == "claimed_by_another"


@pytest.mark.parametrize("make_other", [make_annotator, make_lead])
def test_only_an_expert_audits(make_other: object) -> None:
    sample, _annotator = submitted_sample()
    person = make_other()  # type: ignore[operator]
    with pytest.raises(NotAllowed):
        actions.approve_sample(sample=sample, by=person)
    with pytest.raises(NotAllowed):
        actions.reject_sample(sample=sample, feedback="No.", by=person)


def test_approving_records_the_decision_and_opens_standardization() -> None:
    sample, annotator, expert = approved_sample()
    submission = sample.submissions.get()
    assert (submission.outcome, submission.audited_by) == ("approved", expert)
    assert sample.claims.order_by("-pk")[0].ended_how == ClaimEnd.FINISHED
    assert actions.claim_next(by=annotator) == sample


def test_rejecting_needs_written_feedback() -> None:
    sample, _annotator, expert = sample_in_audit()
    with pytest.raises(Invalid) as refused:
        actions.reject_sample(sample=sample, feedback=" ", by=expert)
    assert "feedback" in refused.value.errors


def test_a_rejected_sample_goes_back_and_forth_and_the_whole_exchange_stays() -> None:
    sample, annotator, expert = sample_in_audit()
    for turn in range(1, 4):
        actions.reject_sample(sample=sample, feedback=f"Item {turn} is not quoted.", by=expert)
        assert sample.state == SampleState.RETURNED
        assert actions.claim_next(by=annotator) == sample
        candidate = chosen_of(sample)
        actions.edit_candidate(candidate=candidate, version=turn, question=f"Which ships? Take {turn}.", by=annotator)
        actions.judge_task_a(
            candidate=candidate, version=turn + 1, verdict=Verdict.MINOR_EDIT, checks=ALL_FOUR, by=annotator
        )
        bring(candidate, CandidateState.PASSED, annotator)
        sample = Sample.objects.get(pk=sample.pk)
        actions.submit_sample(sample=sample, checklist=ALL_SEVEN, by=annotator)
        actions.claim_for_judging(sample=sample, by=expert)
    actions.approve_sample(sample=sample, feedback="Good now.", by=expert)
    exchange = list(sample.submissions.values_list("question", "outcome", "feedback"))
    assert [outcome for _question, outcome, _feedback in exchange] == ["rejected"] * 3 + ["approved"]
    assert exchange[1] == ("Which ships? Take 1.", "rejected", "Item 2 is not quoted.")


# What answer review asks of a sample ------------------------------------------------------------------------------


def disputed_sample() -> Sample:
    sample = make_standardized_sample(state=SampleState.IN_ADJUDICATION)
    annotator = sample.annotator
    assert sample.chosen is not None
    assert annotator is not None
    for step, verdict in [("task_a", "compliant"), ("task_b", "correct"), ("task_c", "challenging")]:
        sample.chosen.verdicts.create(
            step=step, verdict=verdict, candidate_version=1, guidelines_version="1", by=annotator
        )
    return sample


def test_a_sample_travels_through_review_to_acceptance() -> None:
    sample = make_standardized_sample()
    actions.open_review(sample=sample)
    actions.dispute_sample(sample=sample)
    actions.accept_sample(sample=sample, by=make_expert(), reason="Both marks rest on a misreading.")
    assert [event.to_state for event in history_of(sample)] == ["in_review", "in_adjudication", "accepted"]


@pytest.mark.parametrize(("step", "opened"), [("question", CandidateState.TASK_A), ("answer", CandidateState.TASK_B)])
def test_reconstruction_returns_the_sample_with_its_candidate_open_at_the_step(step: str, opened: str) -> None:
    sample, expert = disputed_sample(), make_expert()
    actions.reconstruct_sample(sample=sample, step=step, reason="The Tern paid nothing.", by=expert)
    assert (sample.state, sample.round, sample.reconstruction_step) == (SampleState.RETURNED, 2, step)
    assert sample.chosen is not None
    sample.chosen.refresh_from_db()
    assert sample.chosen.state == opened
    valid = set(sample.chosen.verdicts.filter(voided_at=None).values_list("step", flat=True))
    assert valid == ({Step.TASK_A} if step == "answer" else set())
    assert sample.standardizations.get().round == 1
    assert actions.claim_next(by=sample.annotator) == sample  # type: ignore[arg-type]


def test_a_reconstruction_names_step_and_reason() -> None:
    sample, expert = disputed_sample(), make_expert()
    with pytest.raises(Invalid):
        actions.reconstruct_sample(sample=sample, step="question", reason="", by=expert)
    with pytest.raises(Invalid):
        actions.reconstruct_sample(sample=sample, step="everything", reason="So.", by=expert)


def test_a_document_reconstruction_waits_for_a_newer_cleared_version() -> None:
    sample, lead = disputed_sample(), make_lead()
    actions.reconstruct_sample(sample=sample, step="document", reason="A page is missing.", by=make_expert())
    assert sample.state == SampleState.AWAITING_DOCUMENT
    with pytest.raises(RuleBroken) as refused:
        actions.adopt_document_version(sample=sample, by=lead)
    assert refused.value.rule == "no_newer_version"
    newer = make_version()
    newer.document, newer.number, newer.state = sample.document, 2, VersionState.PENDING
    newer.save()
    sample.document.latest = newer
    sample.document.save()
    with pytest.raises(RuleBroken) as refused:
        actions.adopt_document_version(sample=sample, by=lead)
    assert refused.value.rule == "document_not_approved"
    newer.state = VersionState.APPROVED
    newer.save()
    with pytest.raises(NotAllowed):
        actions.adopt_document_version(sample=sample, by=make_expert())
    actions.adopt_document_version(sample=sample, by=lead)
    assert (sample.state, sample.document_version) == (SampleState.RETURNED, newer)
    chosen = chosen_of(sample)
    assert (chosen.state, chosen.version) == (CandidateState.TASK_A, 2)


def test_answers_given_on_the_old_document_do_not_count_on_the_new_one() -> None:
    sample, annotator, expert = approved_sample()
    Sample.objects.filter(pk=sample.pk).update(state=SampleState.IN_ADJUDICATION)
    actions.reconstruct_sample(sample=sample, step="document", reason="A page is missing.", by=expert)
    newer = make_version()
    newer.document, newer.number = sample.document, 2
    newer.save()
    sample.document.latest = newer
    sample.document.save()
    actions.adopt_document_version(sample=sample, by=make_lead())
    actions.claim_sample(sample=sample, by=annotator)
    candidate = bring(chosen_of(sample), CandidateState.TASK_C, annotator)
    with pytest.raises(RuleBroken) as refused:
        actions.judge_task_c(candidate=candidate, version=2, verdict="challenging", reason="", by=annotator)
    assert refused.value.rule == "challenge_stale"
    actions.challenge_candidate(candidate=candidate, version=2, by=annotator)
    assert Challenge.objects.latest("pk").run.document_version == newer
