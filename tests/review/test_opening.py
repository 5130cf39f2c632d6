import pytest
from django.conf import settings
from django.test import Client

from core.history import history_of
from core.refusals import Conflict, NotAllowed, RuleBroken
from generation.models import Call, LanguageModel, Run
from generation.workflow import CallState, RunState
from review import actions, opening
from review.models import ReviewCase
from review.queries import waiting_reason
from review.workflow import CaseState
from tests.factories import make_annotator, make_call, make_expert, make_lead, make_model, make_standardized_sample

pytestmark = pytest.mark.django_db


def finish(run: Run, *, answered: int, failed: int) -> None:
    for place in range(answered + failed):
        if place < answered:
            make_call(run, make_model(), elements=["Gull"], score=0.0, right=False)
        else:
            make_call(run, make_model(), state=CallState.FAILED, error_class="timeout")
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED)


def begin() -> ReviewCase:
    sample = make_standardized_sample()
    opening.work_off()
    case = ReviewCase.objects.select_related("prediction_run").get(sample=sample)
    # what `start_predictions` itself sends is its own tests' business
    run = Run.objects.create(
        purpose="prediction",
        document_version=sample.document_version,
        language=sample.language,
        task_code=sample.task_code,
        prompt=case.standardization.question_nonthinking,
        prompt_version="test",
        prompt_sha256="0" * 64,
        reference=case.standardization.answer,
    )
    case.prediction_run = run
    case.save()
    return case


def test_a_standardized_sample_gets_its_case_and_asks_for_predictions_on_the_nonthinking_prompt() -> None:
    sample = make_standardized_sample()
    opening.work_off()
    case = ReviewCase.objects.get(sample=sample)
    assert case.state == CaseState.AWAITING_PREDICTIONS
    assert case.standardization == sample.standardizations.get()
    assert case.prediction_run is not None
    assert case.prediction_run.prompt == case.standardization.question_nonthinking
    assert case.prediction_run.reference == case.standardization.answer


def test_working_off_twice_makes_one_case_and_one_run() -> None:
    sample = make_standardized_sample()
    opening.work_off()
    case = ReviewCase.objects.get(sample=sample)
    opening.work_off()
    assert ReviewCase.objects.get(sample=sample).prediction_run == case.prediction_run
    assert Run.objects.filter(purpose="prediction").count() == 1
    assert not opening.ask_for_predictions(sample)


def test_a_case_opens_when_all_five_have_answered() -> None:
    case = begin()
    assert case.prediction_run is not None
    finish(case.prediction_run, answered=5, failed=0)
    assert opening.work_off() == 1
    case.refresh_from_db()
    case.sample.refresh_from_db()
    assert case.state == CaseState.OPEN
    assert case.opened_at is not None
    assert case.sample.state == "in_review"
    assert opening.work_off() == 0


@pytest.mark.parametrize("answered", [0, 1, 4])
def test_a_case_waits_while_one_has_not_answered_and_names_it(answered: int) -> None:
    case = begin()
    assert case.prediction_run is not None
    finish(case.prediction_run, answered=answered, failed=5 - answered)
    assert opening.work_off() == 0
    case.refresh_from_db()
    assert case.state == CaseState.AWAITING_PREDICTIONS
    words = waiting_reason(case)
    lost = [use.call for use in case.prediction_run.run_calls.all() if not use.call.has_answer]
    assert len(lost) == 5 - answered
    assert all(call.model.name in words for call in lost)


def test_a_lead_sends_the_failed_one_again_and_the_case_opens() -> None:
    case, lead = begin(), make_lead()
    run = case.prediction_run
    assert run is not None
    finish(run, answered=4, failed=1)
    LanguageModel.objects.update(panel=settings.LBP_PANEL)
    for person in (make_annotator(), make_expert()):
        with pytest.raises(NotAllowed):
            actions.send_predictions_again(case=case, by=person)
    client = Client()
    client.force_login(lead)
    address = f"/cases/{case.pk}/send-again/"
    assert address in client.get("/reviews/").text
    assert client.post(address).status_code == 302
    run.refresh_from_db()
    assert run.is_under_way
    assert address not in client.get("/reviews/").text
    (again,) = [use.call for use in run.run_calls.all() if not use.call.has_answer]
    assert again.state == CallState.QUEUED
    with pytest.raises(Conflict):
        actions.send_predictions_again(case=case, by=lead)
    Call.objects.filter(pk=again.pk).update(state=CallState.SUCCEEDED)
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED)
    assert opening.work_off() == 1


def test_when_the_failed_one_is_no_longer_in_the_panel_the_panel_of_now_is_asked() -> None:
    case = begin()
    assert case.prediction_run is not None
    finish(case.prediction_run, answered=4, failed=1)
    LanguageModel.objects.filter(calls__state=CallState.FAILED).update(active=False)
    LanguageModel.objects.filter(active=True).update(panel=settings.LBP_PANEL)
    lead = make_lead()
    actions.send_predictions_again(case=case, by=lead)
    first = case.prediction_run
    case.refresh_from_db()
    assert case.prediction_run not in {None, first}
    assert history_of(case).get(by=lead).action == "review.ask_for_predictions"


def test_what_may_have_been_billed_is_sent_again_from_its_own_page_only() -> None:
    case = begin()
    assert case.prediction_run is not None
    finish(case.prediction_run, answered=4, failed=1)
    LanguageModel.objects.update(panel=settings.LBP_PANEL)
    Call.objects.filter(state=CallState.FAILED).update(state=CallState.UNKNOWN)
    case = ReviewCase.objects.get(pk=case.pk)
    assert "Perhaps billed" in waiting_reason(case)
    with pytest.raises(RuleBroken) as told:
        actions.send_predictions_again(case=case, by=make_lead())
    assert told.value.rule == "calls_unknown"


def test_a_case_waits_while_its_run_is_under_way() -> None:
    case = begin()
    opening.work_off()
    case.refresh_from_db()
    assert case.state == CaseState.AWAITING_PREDICTIONS


def test_a_withdrawn_approval_keeps_the_predictions_unasked_until_it_is_given_again() -> None:
    sample = make_standardized_sample()
    version = sample.document_version
    type(version).objects.filter(pk=version.pk).update(state="rejected")
    opening.work_off()
    case = ReviewCase.objects.get(sample=sample)
    assert case.prediction_run is None
    assert opening.work_off() == 0
    type(version).objects.filter(pk=version.pk).update(state="approved")
    opening.work_off()
    case.refresh_from_db()
    assert case.prediction_run is not None
