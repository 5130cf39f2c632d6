"""Budgets are hard stops; what was held back and what was spent are the sums over the calls, whatever happens."""

import threading
from decimal import Decimal
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone
from pytest_django.fixtures import Settings

from benchmark.taxonomy import secondary_task
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from generation import actions, budgeting, sending
from generation.estimating import cost_of, estimate, expected_cost
from generation.models import Call, LanguageModel, Run, Spending
from generation.sending import doors
from generation.workflow import CallState, Purpose
from leading.invariants import money_adds_up
from tests.factories import make_annotator, make_call, make_lead, make_model, make_run, make_version
from tests.fakes.openai_server import Hang, Ok, OpenAIServer, failure, server_error
from tests.generation.conftest import model_at

pytestmark = pytest.mark.django_db

TASK = secondary_task("T1.2")
RIGHT = Ok("[Answer]\nMarigold\nHeron\nTern")
COST = (1000 * Decimal("1.25") + 10 * Decimal(10)) / 1_000_000


def answers(count: int = 5, **more: Any) -> Run:
    """`count` calls to each model, on one document of 1,000 tokens."""
    given: dict[str, Any] = {
        "document_version": more.pop("version", None) or make_version(tokens=1000),
        "task": TASK,
        "prompt": "Which ships?",
        "prompt_thinking": "Which ships? Think.",
        "answer": ["Marigold", "Heron", "Tern"],
        "runs_per_model": count,
        "by": None,
    }
    return actions.start_difficulty(**{**given, **more})


def budget(amount: str | None) -> None:
    actions.set_budget(
        by=make_lead(), budget_usd=None if amount is None else Decimal(amount), version=budgeting.spending().version
    )


def total() -> Spending:
    return budgeting.spending()


def most(model: LanguageModel, run: Run) -> Decimal:
    """About the most that a call of `answers` can cost; the question is a few tokens."""
    amount = budgeting.most_of(model, tokens_in=1005, output_limit=model.max_output_thinking)
    assert amount is not None
    return amount


def test_what_answers_cost_is_spent_and_nothing_stays_held_back(server: OpenAIServer) -> None:
    model_at(server)
    server.script("alpha", server_error(), RIGHT)
    answers(3)
    sending.work_off()
    assert (total().spent_usd, total().reserved_usd) == (3 * COST, 0)
    assert list(money_adds_up()) == []
    assert set(Call.objects.values_list("reserved_usd", flat=True)) == {None}


def test_a_budget_stops_what_it_has_no_room_for_and_a_lead_sends_it_later(
    server: OpenAIServer, settings: Settings
) -> None:
    settings.LBP_CALLS_IN_FLIGHT = 1
    model = model_at(server)
    server.script("alpha", RIGHT)
    run = answers(5)
    budget(str(most(model, run) + COST * 2))
    sending.work_off()
    states = sorted(Call.objects.values_list("state", "error_class"))
    assert states == [("failed", "budget")] * 2 + [("succeeded", "")] * 3
    refused = Call.objects.filter(error_class="budget").values_list("error", flat=True)
    assert all(f"can cost up to ${most(model, run):.4f}" in words for words in refused)
    assert total().spent_usd == 3 * COST
    assert len(server.received()) == 3
    lead = make_lead()
    assert actions.retry_calls(calls=Call.objects.filter(error_class="budget"), by=lead) == 2
    budget(None)
    sending.work_off()
    assert Call.objects.filter(state=CallState.SUCCEEDED).count() == 5
    assert list(money_adds_up()) == []
    with pytest.raises(RuleBroken):
        actions.retry_calls(calls=Call.objects.filter(error_class="budget"), by=lead)


def test_a_run_has_a_budget_of_its_own(server: OpenAIServer, settings: Settings) -> None:
    settings.LBP_CALLS_IN_FLIGHT = 1
    model = model_at(server)
    server.script("alpha", RIGHT)
    narrow, wide = answers(3), answers(3)
    actions.set_run_budget(run=narrow, by=make_lead(), budget_usd=most(model, narrow) + COST / 2)
    sending.work_off()
    assert sorted(narrow.calls.values_list("state", flat=True)) == ["failed", "failed", "succeeded"]
    assert set(wide.calls.values_list("state", flat=True)) == {"succeeded"}


def test_a_call_waits_for_those_that_are_out_before_a_budget_refuses_it(server: OpenAIServer) -> None:
    model = model_at(server)
    server.script("alpha", Ok(RIGHT.content, seconds=0.05))
    run = answers(4)
    budget(str(most(model, run) * 2))
    sending.work_off()
    assert set(Call.objects.values_list("state", flat=True)) == {"succeeded"}


def test_what_may_have_been_billed_stays_held_back(server: OpenAIServer, settings: Settings) -> None:
    settings.LBP_CALL_DEADLINE_SECONDS = 0.3
    model = model_at(server)
    server.script("alpha", Hang(5), RIGHT)
    run = answers(1)
    sending.work_off()
    call = Call.objects.get()
    held = call.reserved_usd
    assert call.state == CallState.UNKNOWN
    assert held == total().reserved_usd
    assert held is not None
    assert abs(held - most(model, run)) < Decimal("0.0001")
    settings.LBP_CALL_DEADLINE_SECONDS = 10.0
    actions.resend_call(call=call, by=make_lead(), reason="It is worth it.")
    sending.work_off()
    call.refresh_from_db()
    assert (call.state, call.cost_usd, call.reserved_usd) == (CallState.SUCCEEDED, COST, held)
    assert list(money_adds_up()) == []


def test_a_late_reply_says_what_it_was_and_gives_back_the_rest(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from asgiref.sync import sync_to_async  # noqa: PLC0415

    from generation import llm  # noqa: PLC0415

    model_at(server)
    server.script("alpha", RIGHT)
    answers(1)
    complete = llm.complete

    async def slow(request: Any) -> Any:
        reply = await complete(request)

        def lose() -> None:
            Call.objects.update(lease_until=timezone.now())
            sending.take_up_lost()

        await sync_to_async(lose)()
        return reply

    monkeypatch.setattr(llm, "complete", slow)
    sending.work_off()
    call = Call.objects.get()
    assert (call.state, call.cost_usd, call.reserved_usd) == (CallState.UNKNOWN, COST, None)
    assert (total().spent_usd, total().reserved_usd) == (COST, 0)


def test_a_refused_key_costs_nothing(server: OpenAIServer) -> None:
    model_at(server)
    server.script("alpha", failure(401, "revoked"))
    answers(1)
    sending.work_off()
    assert (total().spent_usd, total().reserved_usd) == (0, 0)


def test_simulated_models_cost_nothing_and_no_budget_holds_them_back() -> None:
    make_model("demo-Orchid-L")
    LanguageModel.objects.update(litellm_id="demo/orchid-large")
    budget("0")
    model = LanguageModel.objects.get()
    assert budgeting.most_of(model, tokens_in=1000, output_limit=None) == 0
    run = make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2", budget_usd=0)
    call = make_call(run, model, state=CallState.QUEUED)
    assert budgeting.room_in_run(run, Decimal(0)) is budgeting.Room.FREE
    assert budgeting.hold_back(call, Decimal(0)) is budgeting.Room.FREE


def test_an_unknown_price_has_no_room_in_any_budget() -> None:
    model = make_model("unpriced", litellm_id="openai/x", usd_per_million_input=None)
    run = make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2")
    call = make_call(run, model, state=CallState.QUEUED)
    assert budgeting.hold_back(call, None) is budgeting.Room.FREE
    budget("1000000")
    assert budgeting.hold_back(call, None) is budgeting.Room.NEVER
    run.budget_usd = Decimal(1)
    run.save()
    assert budgeting.room_in_run(run, None) is budgeting.Room.NEVER


def test_t49_cached_tokens_have_a_price_of_their_own_or_the_full_one(server: OpenAIServer) -> None:
    usage = {"prompt_tokens": 100_000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 90_000}}
    model = model_at(server, usd_per_million_cached="0.125")
    server.script("alpha", Ok(RIGHT.content, usage=usage))
    answers(1)
    sending.work_off()
    call = Call.objects.get()
    assert call.tokens_cached == 90_000
    assert call.cost_usd == Decimal("0.02385")
    model.usd_per_million_cached = None
    assert cost_of(model, 100_000, 10, 90_000) == cost_of(model, 100_000, 10) == Decimal("0.1251")
    model.usd_per_million_input = None
    assert cost_of(model, 100_000, 10, 90_000) is None


def test_leads_alone_set_budgets_and_nobody_over_another_ones_change() -> None:
    lead = make_lead()
    with pytest.raises(NotAllowed):
        actions.set_budget(by=make_annotator(), budget_usd=None, version=1)
    with pytest.raises(Invalid):
        actions.set_budget(by=lead, budget_usd=Decimal(-1), version=1)
    actions.set_budget(by=lead, budget_usd=Decimal(5), version=1)
    with pytest.raises(Conflict):
        actions.set_budget(by=lead, budget_usd=Decimal(6), version=1)
    assert total().budget_usd == 5


# --- estimates -------------------------------------------------------------------------------------------------------


def test_calls_know_what_they_should_come_to(server: OpenAIServer) -> None:
    model = model_at(server, truncate_input_to_tokens=800)
    answers(1)
    call = Call.objects.get()
    assert call.expected_tokens_in is not None
    assert 800 < call.expected_tokens_in < 820
    assert call.expected_usd == cost_of(model, call.expected_tokens_in, call.expected_tokens_out or 0)


def test_an_estimate_takes_two_queries_for_any_number_of_samples(
    server: OpenAIServer, django_assert_num_queries: Any
) -> None:
    model = model_at(server)
    model_at(server, "beta", usd_per_million_output=None)
    samples = [(10_000 + number, "English", "T1.2") for number in range(200)]
    estimate(Purpose.DRAFTING, samples[:1])
    with django_assert_num_queries(2):
        found = estimate(Purpose.DRAFTING, samples)
    one = expected_cost(model, Purpose.DRAFTING, document_tokens=10_000, prompt_tokens=0)
    assert (found.calls, found.unpriced) == (400, ("beta",))
    assert one.usd is not None
    assert found.usd > one.usd * 200


def test_what_a_model_gave_before_is_expected_of_it_again(server: OpenAIServer) -> None:
    model = model_at(server)
    run = make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2")
    for tokens in (700, 800, 900, 1000):
        make_call(run, model, tokens_out=tokens)
    stated = estimate(Purpose.CHALLENGE, [(1000, "English", "T1.2")]).tokens_out
    make_call(run, model, tokens_out=1100)
    assert stated != 900
    assert estimate(Purpose.CHALLENGE, [(1000, "English", "T1.2")]).tokens_out == 900


# --- at once ---------------------------------------------------------------------------------------------------------


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_sixteen_workers_never_spend_more_than_the_budget(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T-cap: the cap is hit in mid-run, and what it forbids was never sent."""
    monkeypatch.setattr(doors, "LOOK_AGAIN_SECONDS", 0.05)
    model = model_at(server)
    server.script("alpha", Ok(RIGHT.content, seconds=0.02))
    runs = [answers(5) for _number in range(16)]
    budget(str(most(model, runs[0]) + COST * 30))
    gate, errors = threading.Barrier(16), []

    def work(run_id: int) -> None:
        try:
            gate.wait()
            sending.send_run(run_id)
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    workers = [threading.Thread(target=work, args=(run.pk,)) for run in runs]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors == []
    answered = Call.objects.filter(state=CallState.SUCCEEDED).count()
    refused = Call.objects.filter(error_class="budget").count()
    money = total()
    assert money.budget_usd is not None
    assert money.spent_usd == answered * COST <= money.budget_usd
    assert money.reserved_usd == 0
    assert len(server.received()) == answered
    assert answered + refused == 80
    assert 30 <= answered <= 31
    assert list(money_adds_up()) == []


def test_a_call_that_was_answered_twice_has_the_tokens_of_both_as_it_has_their_cost(server: OpenAIServer) -> None:
    model_at(server)
    server.script("alpha", Ok("[Answer]\nHer", finish_reason="length"), RIGHT)
    run = answers(1)
    sending.send_run(run.pk)
    call = run.calls.get()
    assert (call.state, call.tokens_in, call.tokens_out, call.cost_usd) == (CallState.FAILED, 1000, 10, COST)
    actions.resend_call(call=call, by=make_lead(), reason="It was cut.")
    sending.send_run(run.pk)
    call.refresh_from_db()
    assert (call.state, call.tokens_in, call.tokens_out, call.cost_usd) == (CallState.SUCCEEDED, 2000, 20, 2 * COST)
    assert list(money_adds_up()) == []
