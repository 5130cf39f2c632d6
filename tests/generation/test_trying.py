"""A trial asks a model for one word, once, and tells in words what came of it."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from core.models import Event
from core.refusals import Conflict, NotAllowed, RuleBroken
from generation import actions, budgeting, tasks, trying
from generation.models import ModelTrial
from leading.invariants import money_adds_up
from tests.factories import make_annotator, make_lead
from tests.fakes.openai_server import Ok, OpenAIServer, failure, reasoning_only
from tests.generation.conftest import KEY, model_at

pytestmark = pytest.mark.django_db


def test_a_model_that_answers_is_told_with_its_cost_and_the_trial_is_sent_once(server: OpenAIServer) -> None:
    model, lead = model_at(server), make_lead()
    server.script("alpha", Ok("lighthouse"))
    actions.pause_model(model=model, by=lead)
    trial = actions.try_model(model=model, by=lead)
    with pytest.raises(Conflict):
        actions.try_model(model=model, by=lead)
    tasks.send_trial(trial.pk)
    tasks.send_trial(trial.pk)
    trial.refresh_from_db()
    assert (trial.answer, trial.error_class, trial.tokens_in, trial.is_under_way) == ("lighthouse", "", 1000, False)
    assert trial.cost_usd == budgeting.spending().spent_usd == Decimal("0.00135")
    assert trial.latency_ms is not None
    assert len(server.received()) == 1
    assert list(money_adds_up()) == []
    assert Event.objects.filter(action="generation.try_model").count() == 1


def test_what_goes_wrong_is_told_in_words_without_the_key(server: OpenAIServer) -> None:
    model, lead = model_at(server), make_lead()
    server.script("alpha", failure(401, f"key {KEY} revoked"), reasoning_only())
    first = actions.try_model(model=model, by=lead)
    tasks.send_trial(first.pk)
    second = actions.try_model(model=model, by=lead)
    tasks.send_trial(second.pk)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.error_class, second.error_class) == ("auth", "no_answer_budget")
    assert KEY not in first.error
    model.refresh_from_db()
    assert model.paused_at is None


def test_a_trial_whose_worker_died_is_told_as_lost_and_one_that_no_message_reached_is_sent(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, lead = model_at(server), make_lead()
    lost = actions.try_model(model=model, by=lead)
    ModelTrial.objects.update(sent_at=timezone.now() - timedelta(hours=1))
    sent: list[object] = []
    monkeypatch.setattr(tasks, "hurry", lambda task, *args: sent.append((task.name, args)))
    tasks.take_up_lost()
    lost.refresh_from_db()
    assert lost.error_class == "worker_lost"
    waiting = actions.try_model(model=model, by=lead)
    tasks.take_up_lost()
    assert sent == [("generation.send_trial", (waiting.pk,))]
    assert server.received() == []


def test_a_budget_and_a_missing_price_forbid_a_trial(server: OpenAIServer) -> None:
    model, lead = model_at(server), make_lead()
    actions.set_budget(by=lead, budget_usd=Decimal("0.0001"), version=budgeting.spending().version)
    trial = actions.try_model(model=model, by=lead)
    trying.send_trial(trial.pk)
    trial.refresh_from_db()
    assert (trial.error_class, trial.sent_at) == ("budget", None)
    with pytest.raises(RuleBroken):
        actions.try_model(model=model_at(server, "beta", usd_per_million_input=None), by=lead)
    with pytest.raises(NotAllowed):
        actions.try_model(model=model, by=make_annotator())
    assert server.received() == []
