"""The page of runs: what happens now, what failed, what it costs, and sending again with the figures first."""

import html
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from core.models import Event, User
from core.refusals import NotAllowed
from generation import actions, cancelling, listing, overview, sending
from generation.models import Call, LanguageModel, Run, Spending
from generation.tasks import cancel_asked
from generation.templatetags.generation_parts import dollars, money
from generation.workflow import CallState, Purpose, RunState
from tests.factories import make_annotator, make_call, make_lead, make_model, make_run, make_version

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead() -> User:
    return make_lead()


@pytest.fixture
def page(client: Client, lead: User) -> Client:
    client.force_login(lead)
    return client


def a_run(**more: Any) -> Run:
    return make_run(make_version(), purpose=more.pop("purpose", Purpose.CHALLENGE), task_code="T1.2", **more)


def failed(run: Run, model: LanguageModel, **more: Any) -> Call:
    given = {"state": CallState.FAILED, "error_class": "server_error", "expected_usd": Decimal("0.25"), **more}
    return make_call(run, model, **given)


def words(response: Any) -> str:
    return " ".join(response.content.decode().split())


# --- what happens now ------------------------------------------------------------------------------------------------


def test_the_figures_count_each_call_once_and_leave_out_what_was_repaired() -> None:
    run, model = a_run(), make_model()
    first = failed(run, model, error_class="not_json")
    repair = make_call(run, model, repairs=first)
    another = a_run()
    another.run_calls.create(call=repair)
    failed(run, model)
    make_call(run, model, state=CallState.UNKNOWN)
    held = make_model(paused_at=timezone.now(), paused_because="auth")
    make_call(run, held, state=CallState.QUEUED)
    counted = overview.tally()
    assert (counted.failed, counted.unknown, counted.succeeded, counted.queued, counted.held) == (1, 1, 1, 1, 1)
    assert counted.to_come == 0
    assert [(one.error_class, one.calls) for one in listing.troubles()] == [("server_error", 1), ("", 1)]


def test_the_list_behind_a_count_of_failures_has_as_many_calls(page: Client) -> None:
    run, model = a_run(), make_model()
    make_call(run, model, repairs=failed(run, model))
    failed(run, model)
    shown = page.get(reverse("generation:run_list")).content.decode()
    (address,) = re.findall(r'<td class="num"><a href="([^"]+)">1</a>', shown)
    assert page.get(html.unescape(address)).context["page_obj"].paginator.count == 1


def test_the_time_left_is_measured_and_unknown_while_too_few_have_ended() -> None:
    now = timezone.now()
    run, model = a_run(state=RunState.RUNNING, created_at=now - timedelta(minutes=2)), make_model()
    for _number in range(30):
        make_call(run, model, state=CallState.QUEUED)
    assert overview.pace(overview.tally(), now=now).seconds_left is None
    for _number in range(10):
        make_call(run, model)
    measured = overview.pace(overview.tally(), now=now)
    assert (measured.total, measured.ended, measured.per_minute) == (40, 10, pytest.approx(5))
    assert measured.minutes_left == 6
    Call.objects.filter(state=CallState.SUCCEEDED).update(state_since=now - timedelta(hours=1))
    assert overview.pace(overview.tally(), now=now).seconds_left is None


def test_the_page_says_what_is_paused_what_is_used_up_and_that_the_time_is_unknown(page: Client) -> None:
    run = a_run(state=RunState.RUNNING)
    make_call(run, make_model(), state=CallState.QUEUED)
    LanguageModel.objects.create(
        name="Dear", tier="high", kind="instruct", litellm_id="openai/dear", context_tokens=1,
        truncate_input_to_tokens=1, paused_at=timezone.now(), paused_because="auth",
    )  # fmt: skip
    Spending.objects.update_or_create(pk=1, defaults={"budget_usd": 5, "spent_usd": 4, "reserved_usd": 1})
    text = words(page.get(reverse("generation:run_list")))
    assert "1 model is paused; its calls wait:" in text
    assert "The provider refused the key" in text
    assert "What is left of the budget is held back" in text
    assert "The budget is used up" not in text
    assert "time left unknown" in text
    assert "$ 5.00" in text


def test_five_paused_models_are_one_banner(page: Client) -> None:
    for number in range(5):
        make_model(f"Gull-{number}", paused_at=timezone.now(), paused_because="auth")
    text = words(page.get(reverse("generation:run_list")))
    assert text.count('data-state="warn" id="paused"') == 1
    assert "5 models are paused; their calls wait:" in text
    assert all(f"Gull-{number}" in text for number in range(5))


def test_a_budget_that_is_too_small_is_not_said_to_be_used_up(page: Client) -> None:
    Spending.objects.update_or_create(pk=1, defaults={"budget_usd": 5, "spent_usd": 1, "reserved_usd": 0})
    run, model = a_run(), make_model()
    for _number in range(2):
        failed(run, model, error_class="budget")
    text = words(page.get(reverse("generation:run_list")))
    assert "The budget is too small for 2 calls" in text
    assert "($ 4.00 now)" in text
    assert "The budget is used up" not in text
    assert "A budget had no room for 2 calls" in words(page.get(reverse("generation:run_detail", args=[run.pk])))
    Spending.objects.update(spent_usd=5)
    assert "The budget is used up" in words(page.get(reverse("generation:run_list")))


def test_one_kind_of_failure_is_sent_again_at_all_models_at_once(page: Client) -> None:
    run = a_run()
    for name in ("Heron", "Gull"):
        failed(run, make_model(name))
    failed(run, make_model("Tern"), error_class="context")
    text = words(page.get(reverse("generation:run_list")))
    assert "At all models at once:" in text
    together = reverse("generation:calls_again") + "?state=failed&amp;error_class=server_error"
    assert together in text
    assert f'{reverse("generation:calls_again")}?state=failed&amp;error_class=context"' not in text
    shown = words(page.get(html.unescape(together)))
    assert "Send 2 calls again" in shown
    assert "$ 0.50" in shown


@pytest.mark.parametrize(
    ("usd", "unknown", "shown"),
    [
        (None, 0, "unknown"),
        (Decimal(0), 0, "$ 0.00"),
        (Decimal("0.0213"), 0, "$ 0.0213"),
        (Decimal("0.00001"), 0, "&lt; $ 0.0001"),
        (Decimal("1234.5"), 0, "$ 1,234.50"),
    ],
)
def test_money_that_nobody_knows_is_unknown_and_small_sums_are_not_nothing(
    usd: Decimal | None, unknown: int, shown: str
) -> None:
    assert dollars(usd).replace("<", "&lt;") == shown


def test_a_sum_with_unknown_parts_says_how_many_and_is_never_zero() -> None:
    assert "unknown" in money(Decimal(0), 3)
    assert "0.00" not in money(Decimal(0), 3)
    assert money(Decimal(2), 3).startswith("$ 2.00 ")
    assert "3 of unknown cost" in money(Decimal(2), 3)


def test_runs_and_calls_are_narrowed_by_model_error_task_bucket_day_and_document(page: Client) -> None:
    wanted, other = a_run(), a_run()
    model = make_model("Heron")
    failed(wanted, model, error_class="context", sent_at=timezone.now())
    make_call(other, make_model("Gull"), sent_at=timezone.now() - timedelta(days=3))
    Run.objects.filter(pk=other.pk).update(created_at=timezone.now() - timedelta(days=3))
    today = timezone.localdate().isoformat()
    document = wanted.document_version.document_id
    for query in (
        "model=Heron",
        "error_class=context",
        f"day={today}",
        f"document={document}",
        f"document={document}&secondary_task=T1.2",
    ):
        content = page.get(f"{reverse('generation:run_list')}?{query}").content.decode()
        assert f'id="run-{wanted.pk}"' in content, query
        assert f'id="run-{other.pk}"' not in content, query
        calls = page.get(f"{reverse('generation:call_list')}?{query}")
        assert [call.model.name for call in calls.context["page_obj"]] == ["Heron"], query


def test_the_list_of_calls_takes_as_many_queries_for_many_as_for_few(
    page: Client, django_assert_max_num_queries: Any, django_assert_num_queries: Any
) -> None:
    run, model = a_run(), make_model()
    failed(run, model)
    address = reverse("generation:call_list")
    page.get(address)
    with django_assert_max_num_queries(10) as few:
        page.get(address)
    for _number in range(20):
        failed(run, model)
    with django_assert_num_queries(len(few)):
        page.get(address)


def test_a_run_shows_elements_score_cost_time_tokens_cut_and_faults(page: Client) -> None:
    run = a_run(reference=["Heron"])
    make_call(
        run, make_model("Gull"), raw="[Answer]\nTern", elements=["Tern"], score=0.0, right=False, attempts=2,
        tokens_in=9000, tokens_out=90, tokens_cached=4000, cut_tokens=321, latency_ms=1500, answered_at=timezone.now(),
        cost_usd=Decimal("0.0213"), expected_usd=Decimal("0.03"),
        faults=[{"kind": "not_json", "detail": "", "draft": 2}],
    )  # fmt: skip
    text = words(page.get(reverse("generation:run_detail", args=[run.pk])))
    for shown in ("Tern", "0.00", "wrong", "9,000 + 90", "4,000 from the cache", "321 tokens cut from the middle"):
        assert shown in text
    for shown in ("$ 0.0213", "($ 0.0300)", "1.5", "draft 2: The reply is not JSON.", "0 of 1 right", "Heron"):
        assert shown in text


# --- sending again ---------------------------------------------------------------------------------------------------


def test_sending_again_says_how_many_and_what_they_should_cost_before_anything_is_sent(page: Client) -> None:
    run = a_run()
    heron, gull = make_model("Heron"), make_model("Gull")
    for model in (heron, heron, gull):
        failed(run, model)
    make_call(run, heron)
    failed(run, gull, error_class="context", expected_usd=None)
    shown = page.get(f"{reverse('generation:calls_again')}?state=failed&error_class=server_error")
    assert [(row.model, row.calls) for row in shown.context["chosen"].models] == [("Gull", 1), ("Heron", 2)]
    assert "$ 0.7500" in words(shown)
    assert Call.objects.filter(state=CallState.QUEUED).count() == 0
    of_one_model = page.get(f"{reverse('generation:calls_again')}?state=failed&model=Gull")
    assert of_one_model.context["chosen"].count == 2
    assert "1 of unknown cost" in words(of_one_model)


def test_a_leads_word_sends_exactly_what_was_shown(page: Client) -> None:
    run, model = a_run(), make_model()
    call, other = failed(run, model), failed(run, model, error_class="context")
    address = reverse("generation:calls_again")
    given = {"state": "failed", "error_class": "server_error", "confirmed": 1}
    assert page.post(address, given).status_code == 302
    states = dict(Call.objects.values_list("pk", "state"))
    assert (states[call.pk], states[other.pk]) == (CallState.QUEUED, CallState.FAILED)


def test_more_calls_than_were_shown_are_shown_anew_and_nothing_is_sent(page: Client) -> None:
    run, model = a_run(), make_model()
    for _number in range(3):
        failed(run, model)
    answer = page.post(reverse("generation:calls_again"), {"state": "failed", "confirmed": 2})
    assert answer.status_code == 400
    assert "Meanwhile there are more calls" in words(answer)
    assert 'name="confirmed" value="3"' in words(answer)
    assert not Call.objects.filter(state=CallState.QUEUED).exists()


def test_what_may_have_been_billed_goes_again_only_with_a_reason_and_a_warning(page: Client) -> None:
    run, model = a_run(), make_model()
    calls = [make_call(run, model, state=CallState.UNKNOWN, expected_usd=Decimal(1)) for _number in range(2)]
    address, ids = reverse("generation:calls_again"), [call.pk for call in calls]
    assert "may have been billed already" in words(page.get(address, {"ids": ids}))
    refused = page.post(address, {"ids": ids, "confirmed": 2, "reason": " "})
    assert refused.status_code == 400
    assert not Call.objects.filter(state=CallState.QUEUED).exists()
    assert page.post(address, {"ids": ids, "confirmed": 2, "reason": "Not in the provider's log."}).status_code == 302
    assert Call.objects.filter(state=CallState.QUEUED).count() == 2
    assert Event.objects.filter(action="generation.resend", reason="Not in the provider's log.").count() == 2


def test_a_runs_button_leaves_the_unknown_alone(page: Client) -> None:
    run, model = a_run(), make_model()
    failed(run, model)
    make_call(run, model, state=CallState.UNKNOWN)
    text = page.get(reverse("generation:run_detail", args=[run.pk])).content.decode()
    assert f"?run={run.pk}&amp;known=1" in text
    shown = page.get(f"{reverse('generation:calls_again')}?run={run.pk}&known=1")
    assert (shown.context["chosen"].count, shown.context["chosen"].unknown) == (1, 0)


def test_nothing_answered_is_ever_meant(page: Client) -> None:
    run, model = a_run(), make_model()
    call = make_call(run, model)
    address = reverse("generation:calls_again")
    assert "Nothing to send again" in words(page.get(address, {"ids": [call.pk]}))
    assert page.post(address, {"ids": [call.pk], "confirmed": 1}).status_code == 400


# --- stopping, money -------------------------------------------------------------------------------------------------


def test_runs_are_cancelled_ticked_or_all_that_fit_after_their_calls_were_named(page: Client) -> None:
    model = make_model()
    runs = [a_run(state=RunState.QUEUED, purpose=purpose) for purpose in (Purpose.DRAFTING, Purpose.CHALLENGE)]
    for run in runs:
        make_call(run, model, state=CallState.QUEUED)
    done = a_run()
    address = reverse("generation:runs_cancel")
    shown = page.get(address, {"ids": [str(runs[0].pk), str(done.pk)]})
    assert (shown.context["count"], shown.context["tally"]["queued"]) == (1, 1)
    assert page.get(address, {"all": "1", "purpose": "challenge"}).context["count"] == 1
    assert page.post(address, {"all": 1, "purpose": "challenge"}).status_code == 302
    assert [Run.objects.get(pk=run.pk).state for run in runs] == [RunState.QUEUED, RunState.CANCELLED]
    assert page.post(address, {"ids": [runs[0].pk]}).status_code == 302
    assert Run.objects.get(pk=runs[0].pk).state == RunState.CANCELLED


def test_a_lead_sets_the_budget_of_all_calls_and_of_one_run(page: Client) -> None:
    address = reverse("generation:budget")
    version = Spending.objects.get_or_create(pk=1)[0].version
    assert page.post(address, {"budget_usd": "-1", "version": version}).status_code == 400
    assert page.post(address, {"budget_usd": "12.5", "version": version}).status_code == 302
    assert Spending.objects.get().budget_usd == Decimal("12.5")
    stale = page.post(address, {"budget_usd": "99", "version": version})
    assert stale.status_code == 409
    assert 'value="99"' in stale.content.decode()
    assert "Saved now: 12.5" in words(stale)
    assert "12.5" in words(page.get(address))
    run = a_run()
    own = reverse("generation:run_budget", args=[run.pk])
    assert page.post(own, {"budget_usd": "a lot"}).status_code == 400
    assert page.post(own, {"budget_usd": "2"}).status_code == 302
    assert Run.objects.get().budget_usd == 2


@pytest.mark.parametrize("name", ["run_list", "call_list", "calls_again", "runs_cancel", "budget", "run_preview"])
def test_these_pages_are_for_leads(client: Client, name: str) -> None:
    client.force_login(make_annotator())
    assert client.get(reverse(f"generation:{name}")).status_code == 403


def test_very_many_runs_are_cancelled_in_the_background_and_the_page_shows_how_far(
    page: Client, monkeypatch: pytest.MonkeyPatch, lead: User
) -> None:
    monkeypatch.setattr("generation.actions.stopping.AT_ONCE_SECONDS", 0.0)
    runs = [a_run(state=RunState.RUNNING) for _number in range(4)]
    for run in runs:
        make_call(run, make_model(), state=CallState.QUEUED)
    done = actions.cancel_runs(runs=Run.objects.all(), by=lead)
    assert (done.cancelled, done.left) == (0, 4)
    # Nothing of them is sent from now on, whoever comes first.
    assert not sending.is_anything_ready()
    cancelling.cancel(runs[0], by=lead)
    text = words(page.get(reverse("generation:run_list")))
    assert "1 of 4 runs are cancelled. Nothing more of the others is sent." in text
    cancel_asked()
    assert set(Run.objects.values_list("state", flat=True)) == {RunState.CANCELLED}
    assert set(Call.objects.values_list("state", flat=True)) == {CallState.CANCELLED}
    assert Event.objects.filter(action="generation.cancel", subject_type="run", by=lead).count() == 4
    assert "runs are cancelled" not in words(page.get(reverse("generation:run_list")))
    actions.retry_calls(calls=Call.objects.all(), by=lead)
    assert sending.is_anything_ready()


# --- the API ---------------------------------------------------------------------------------------------------------


def test_programs_send_again_cancel_and_set_budgets_under_the_same_rules(page: Client) -> None:
    run, model = a_run(), make_model("Heron")
    failed(run, model)
    unknown = make_call(run, model, state=CallState.UNKNOWN)

    def post(path: str, body: Any) -> Any:
        return page.post(f"/api/v1/{path}", body, content_type="application/json")

    assert post("calls/retry/", {}).status_code == 400
    assert post("calls/retry/", {"model": "Heron"}).json()["rule"] == "reason_missing"
    assert post("calls/retry/", {"state": "failed", "model": "Heron"}).json() == {"queued": 1}
    assert post("calls/retry/", {"ids": [unknown.pk], "reason": "Looked it up."}).json() == {"queued": 1}
    assert post("runs/retry/", {"ids": [run.pk]}).json()["rule"] == "nothing_failed"
    assert post("runs/cancel/", {"ids": [run.pk]}).json() == {"cancelled": 1, "left": 0}
    assert post(f"runs/{run.pk}/budget/", {"budget_usd": "3"}).json()["budget_usd"] == "3.0000"
    before = page.get("/api/v1/budget/").json()
    assert before["left_usd"] is None
    after = post("budget/", {"budget_usd": "10", "version": before["version"]}).json()
    assert (after["budget_usd"], after["left_usd"]) == ("10.0000", "10.00000000")
    assert post("budget/", {"budget_usd": "11", "version": before["version"]}).status_code == 409


def test_sending_again_is_refused_to_everybody_else() -> None:
    failed(a_run(), make_model())
    with pytest.raises(NotAllowed):
        actions.send_again(calls=Call.objects.all(), by=make_annotator())
