import pytest

from generation.models import Run
from generation.workflow import CallState, RunState
from review import opening
from review.models import ReviewCase
from review.workflow import CaseState
from tests.factories import make_call, make_model, make_standardized_sample

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


def test_a_case_opens_when_its_predictions_are_in_even_when_some_failed() -> None:
    case = begin()
    assert case.prediction_run is not None
    finish(case.prediction_run, answered=1, failed=4)
    assert opening.work_off() == 1
    case.refresh_from_db()
    case.sample.refresh_from_db()
    assert case.state == CaseState.OPEN
    assert case.opened_at is not None
    assert case.sample.state == "in_review"
    assert opening.work_off() == 0


def test_a_case_waits_while_its_run_is_under_way() -> None:
    case = begin()
    opening.work_off()
    case.refresh_from_db()
    assert case.state == CaseState.AWAITING_PREDICTIONS


def test_a_case_without_a_single_answer_waits() -> None:
    case = begin()
    assert case.prediction_run is not None
    finish(case.prediction_run, answered=0, failed=5)
    assert opening.work_off() == 0
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
