"""What may have been billed is settled by a lead: what was held back is released, or becomes cost; sums stay true."""

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from pytest_django.fixtures import Settings

from core.models import Event, User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from generation import actions, budgeting, holding, sending
from generation.models import Call, Spending
from generation.templatetags.generation_parts import told
from generation.workflow import CallState, Purpose
from leading.invariants import money_adds_up
from tests.factories import make_annotator, make_call, make_lead, make_model, make_run, make_version
from tests.fakes.openai_server import HangUp, OpenAIServer
from tests.generation.conftest import model_at
from tests.generation.test_money import COST, RIGHT, answers, total

pytestmark = pytest.mark.django_db

WHY = "The provider's log names no such request."


@pytest.fixture
def lead() -> User:
    return make_lead()


@pytest.fixture
def page(client: Client, lead: User) -> Client:
    client.force_login(lead)
    return client


def lost_call(server: OpenAIServer, **more: Any) -> Call:
    """One call whose connection was lost before the reply."""
    model_at(server, **more)
    server.script("alpha", HangUp(), RIGHT)
    answers(1)
    sending.work_off()
    call = Call.objects.get()
    assert call.state == CallState.UNKNOWN
    assert call.reserved_usd == total().reserved_usd > 0
    return call


def test_what_was_not_billed_is_released_and_the_call_has_failed(server: OpenAIServer, lead: User) -> None:
    call = lost_call(server)
    actions.settle_call(call=call, by=lead, billed_usd=Decimal(0), reason=WHY)
    assert (call.state, call.error_class, call.cost_usd, call.reserved_usd) == ("failed", "not_billed", None, None)
    assert (total().spent_usd, total().reserved_usd) == (0, 0)
    assert list(money_adds_up()) == []
    line = Event.objects.get(action="generation.settle")
    assert (line.reason, line.by, line.data["billed_usd"], line.data["error_class"]) == (
        WHY, lead, "0", "connection_lost",
    )  # fmt: skip
    assert actions.retry_calls(calls=Call.objects.all(), by=lead) == 1
    sending.work_off()
    call.refresh_from_db()
    assert (call.state, call.cost_usd, call.paid_attempts) == (CallState.SUCCEEDED, COST, 1)
    assert list(money_adds_up()) == []


def test_what_was_billed_becomes_cost_also_after_the_call_was_answered(server: OpenAIServer, lead: User) -> None:
    call = lost_call(server)
    actions.resend_call(call=call, by=lead, reason="It is worth it.")
    sending.work_off()
    call.refresh_from_db()
    assert call.state == CallState.SUCCEEDED
    assert call.reserved_usd
    assert list(holding.held_by_model()) == [holding.Held("alpha", call.reserved_usd, out=0, doubtful=1)]
    actions.settle_call(call=call, by=lead, billed_usd=Decimal("0.5"), reason=WHY)
    assert (call.state, call.cost_usd, call.reserved_usd) == (CallState.SUCCEEDED, COST + Decimal("0.5"), None)
    assert call.paid_attempts == 2
    assert (total().spent_usd, total().reserved_usd) == (COST + Decimal("0.5"), 0)
    assert list(money_adds_up()) == []
    with pytest.raises(RuleBroken):
        actions.settle_call(call=call, by=lead, billed_usd=Decimal(0), reason=WHY)


def test_it_is_settled_and_sent_again_at_one_word_for_one_call_or_for_many(server: OpenAIServer, lead: User) -> None:
    call = lost_call(server)
    actions.resend_call(call=call, by=lead, reason=WHY, billed_usd=Decimal(0))
    assert (call.state, total().reserved_usd) == (CallState.QUEUED, 0)
    Call.objects.update(state=CallState.UNKNOWN, reserved_usd=Decimal(2))
    Spending.objects.update(reserved_usd=Decimal(2))
    assert actions.send_again(calls=Call.objects.all(), by=lead, reason=WHY, none_was_billed=True) == 1
    assert total().reserved_usd == 0
    sending.work_off()
    assert Call.objects.get().state == CallState.SUCCEEDED
    assert list(money_adds_up()) == []


def test_who_may_say_it_and_when(server: OpenAIServer, lead: User) -> None:
    call = lost_call(server)
    nothing: dict[str, Any] = {"call": call, "billed_usd": Decimal(0)}
    with pytest.raises(NotAllowed):
        actions.settle_call(by=make_annotator(), reason=WHY, **nothing)
    with pytest.raises(RuleBroken):
        actions.settle_call(by=lead, reason=" ", **nothing)
    with pytest.raises(Invalid):
        actions.settle_call(by=lead, reason=WHY, call=call, billed_usd=Decimal(-1))
    Call.objects.update(state=CallState.CALLING)
    with pytest.raises(Conflict):
        actions.settle_call(by=lead, reason=WHY, **nothing)
    assert total().reserved_usd > 0


def test_a_reply_that_comes_after_the_leads_word_is_noted_and_changes_no_sum(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, lead: User
) -> None:
    from asgiref.sync import sync_to_async  # noqa: PLC0415

    from generation import llm  # noqa: PLC0415

    model_at(server)
    server.script("alpha", RIGHT)
    answers(1)
    complete = llm.complete

    async def slow(request: Any) -> Any:
        reply = await complete(request)

        def lose_and_settle() -> None:
            Call.objects.update(lease_until=timezone.now())
            sending.take_up_lost()
            actions.settle_call(call=Call.objects.get(), by=lead, billed_usd=Decimal("0.2"), reason=WHY)

        await sync_to_async(lose_and_settle)()
        return reply

    monkeypatch.setattr(llm, "complete", slow)
    sending.work_off()
    call = Call.objects.get()
    assert (call.state, call.cost_usd, call.reserved_usd) == ("failed", Decimal("0.2"), None)
    assert (total().spent_usd, total().reserved_usd) == (Decimal("0.2"), 0)
    assert Event.objects.get(action="generation.late_reply").data["cost_usd"] == f"{COST:.8f}"
    assert list(money_adds_up()) == []


def test_the_page_of_a_call_asks_and_a_program_says_the_same(page: Client, server: OpenAIServer) -> None:
    call = lost_call(server)
    own = reverse("generation:call_detail", args=[call.pk])
    assert "are held back for it" in page.get(own).content.decode()
    for given in (
        {"do": "settle", "reason": WHY},
        {"do": "settle", "billed": "open", "reason": WHY},
        {"do": "settle", "billed": "yes", "reason": WHY},
        {"do": "settle", "billed": "no", "amount_usd": "3", "reason": WHY},
        {"do": "settle", "billed": "no", "reason": ""},
    ):
        assert page.post(own, given).status_code == 400, given
    assert total().spent_usd == 0
    assert page.post(own, {"do": "settle", "billed": "yes", "amount_usd": "0.25", "reason": WHY}).status_code == 302
    assert (total().spent_usd, total().reserved_usd) == (Decimal("0.25"), 0)
    shown = page.get(own).content.decode()
    assert "it was settled what it cost" in shown
    assert "generation.settle" not in shown
    assert page.post(own, {"do": "resend", "reason": WHY}).status_code == 302
    Call.objects.update(state=CallState.UNKNOWN, reserved_usd=1)
    Spending.objects.update(reserved_usd=1)
    address = f"/api/v1/calls/{call.pk}/settle/"
    refused = page.post(address, {"billed_usd": "0"}, "application/json")
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["reason"])
    answer = page.post(address, {"billed_usd": "0", "reason": WHY}, "application/json").json()
    assert (answer["state"], answer["reserved_usd"], answer["paid_attempts"]) == ("failed", None, 1)


def test_zero_has_no_sign() -> None:
    run, model = make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2"), make_model()
    make_call(run, model, cost_usd=Decimal("-0.00000000"))
    Spending.objects.create(pk=1, spent_usd=Decimal("-0E-8"))
    Spending.objects.update(reserved_usd=Decimal("-1E-10"))
    assert str(Call.objects.get().cost_usd) == "0E-8"
    assert str(budgeting.spending().reserved_usd) == "0E-8"


# --- limits of output ------------------------------------------------------------------------------------------------


def test_a_model_without_an_output_limit_says_what_it_holds_back_and_which_limit_would_do(
    page: Client, settings: Settings
) -> None:
    settings.LBP_PANEL = "real"
    model = make_model(
        "wide", panel="real", litellm_id="openai/wide", usd_per_million_input="1", usd_per_million_output="10",
        kind="thinking", max_output_thinking=None, context_tokens=400_000, truncate_input_to_tokens=200_000,
    )  # fmt: skip
    model.refresh_from_db()
    run = make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2")
    for _number in range(5):
        make_call(run, model, tokens_out=6_000)
    found = holding.unlimited(model, {(model.pk, "challenge"): 6_000})
    assert found is not None
    assert (found.limit, found.holds, found.would_hold) == (24_576, Decimal("2.2"), Decimal("0.44576"))
    for name, more in (("model_list", []), ("model_edit", [model.pk]), ("budget", [])):
        assert "A limit of 24,576 tokens" in page.get(reverse(f"generation:{name}", args=more)).content.decode()
    model.max_output_thinking = 32_768
    assert holding.unlimited(model, {}) is None


# --- words -----------------------------------------------------------------------------------------------------------


def test_a_providers_english_stands_folded_and_named_on_a_chinese_page(page: Client, lead: User) -> None:
    run = make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2")
    call = make_call(run, make_model(), state=CallState.FAILED, error_class="bad_request", error="max_tokens: too many")
    own = reverse("generation:call_detail", args=[call.pk])
    assert '<details class="own-words">' not in page.get(own).content.decode()
    lead.language = "zh-hans"
    lead.save()
    shown = page.get(own).content.decode()
    assert '<details class="own-words">' in shown
    assert shown.index("own-words") < shown.index("max_tokens: too many")


def test_every_line_of_a_history_has_words(server: OpenAIServer, lead: User) -> None:
    call = lost_call(server)
    actions.settle_call(call=call, by=lead, billed_usd=Decimal(0), reason=WHY)
    for language in ("en", "zh-hans"):
        with translation.override(language):
            for event in Event.objects.filter(action__startswith="generation."):
                assert "_" not in told(event), event.action
                assert told(event) != event.action.partition(".")[2] or language == "en", event.action
