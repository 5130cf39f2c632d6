"""The page of models: panels by tier, adding, copying, limits, pausing, and a test call, in words."""

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from core.models import User
from generation import tasks
from generation.models import LanguageModel, ModelTrial, ProviderLimit
from generation.panels import ensure_panel
from generation.workflow import CallState, Purpose
from tests.factories import make_annotator, make_call, make_lead, make_model, make_run, make_version
from tests.fakes.openai_server import Ok, OpenAIServer, failure
from tests.generation.conftest import KEY, model_at

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead() -> User:
    return make_lead()


@pytest.fixture
def page(client: Client, lead: User) -> Client:
    client.force_login(lead)
    return client


def words(response: Any) -> str:
    return " ".join(response.content.decode().split())


def new_model(**changes: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "name": "Own server",
        "tier": "mid",
        "kind": "instruct",
        "litellm_id": "openai/qwen3",
        "api_base": "http://models.example:8000/v1",
        "context_tokens": 32_768,
        "truncate_input_to_tokens": 30_000,
        "structured": "auto",
        "usd_per_million_input": 0,
        "usd_per_million_output": 0,
        **changes,
    }


def test_the_panel_in_use_stands_by_tier_and_the_other_one_below(page: Client, settings: Settings) -> None:
    ensure_panel("demo")
    ensure_panel("real")
    settings.LBP_PANEL = "real"
    shown = page.get(reverse("generation:model_list"))
    assert [(group.tier, len(group.lines)) for group in shown.context["groups"]] == [
        ("high", 5),
        ("mid", 5),
        ("low", 5),
    ]
    assert len(shown.context["others"]) == 15
    text = words(shown)
    for part in ("LBP_KEY_GEMINI", "gemini/gemini-2.5-pro", "1.25 + 10", "1,048,576", "15 simulated models"):
        assert part in text


def test_the_page_takes_as_many_queries_for_many_models_as_for_few(
    page: Client, django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    make_model("a")
    address = reverse("generation:model_list")
    with django_assert_max_num_queries(12) as few:
        page.get(address)
    ensure_panel("demo")
    with django_assert_num_queries(len(few)):
        page.get(address)


def test_what_is_wrong_with_a_model_is_said_in_words(page: Client, settings: Settings) -> None:
    settings.LBP_PANEL = "real"
    make_model("Poor", panel="real", litellm_id="openai/poor", usd_per_million_input=None)
    make_model("Cool", panel="real", litellm_id="deepseek/cool", kind="thinking", temperature=0.2)
    text = words(page.get(reverse("generation:model_list")))
    assert "No price: it cannot be run." in text
    assert "A thinking model needs a temperature of 0.5 or more, or none." in text


def test_it_says_who_paused_a_model_why_and_what_waits(page: Client, lead: User) -> None:
    model = make_model("Heron")
    run = make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2")
    make_call(run, model, state=CallState.QUEUED)
    make_call(run, model, state=CallState.UNKNOWN)
    page.post(reverse("generation:model_pause", args=[model.pk]), {"reason": "too dear", "from": "edit"})
    text = words(page.get(reverse("generation:model_list")))
    for part in ("too dear", lead.name, "1 waiting", "1 unknown", "Give up its queue"):
        assert part in text
    assert page.post(reverse("generation:model_give_up", args=[model.pk])).status_code == 302
    assert run.calls.filter(state=CallState.CANCELLED).count() == 1


# --- adding ----------------------------------------------------------------------------------------------------------


def test_a_server_of_ones_own_is_added_by_its_address_and_answers(page: Client, server: OpenAIServer) -> None:
    server.script("qwen3", Ok("lighthouse"))
    assert page.post(reverse("generation:model_add"), new_model(api_base=server.address)).status_code == 302
    model = LanguageModel.objects.get(name="Own server")
    assert (model.panel, model.active, model.provider) == ("real", False, f"openai {server.host}")
    page.post(reverse("generation:model_try", args=[model.pk]))
    tasks.send_trial(ModelTrial.objects.get().pk)
    assert "it answers" in words(page.get(reverse("generation:model_edit", args=[model.pk])))
    assert server.received("qwen3")[0].path == "/v1/chat/completions"


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("name", {"name": " "}),
        ("name", {"name": "HERON"}),
        ("api_base", {"api_base": "http://elsewhere.example/v1"}),
        ("key_variable", {"key_variable": "SECRET_KEY"}),
        ("usd_per_million_cached", {"usd_per_million_cached": "-1"}),
        ("structured", {"structured": "maybe"}),
    ],
)
def test_a_new_model_is_refused_at_the_field_that_is_wrong(
    page: Client, settings: Settings, field: str, changes: dict[str, str]
) -> None:
    settings.LBP_MODEL_HOSTS = ["models.example:8000"]
    make_model("Heron")
    answer = page.post(reverse("generation:model_add"), new_model(**changes))
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, [field])
    given = {name: value for name, value in new_model(**changes).items() if name != "version"}
    from_program = page.post("/api/v1/models/", given, content_type="application/json")
    assert from_program.status_code == 400
    assert field in from_program.json()["errors"]
    assert LanguageModel.objects.count() == 1


def test_a_copy_begins_with_the_others_settings_without_its_name(page: Client) -> None:
    model = make_model("Heron", temperature=0.7, usd_per_million_input=Decimal("1.5"))
    form = page.get(reverse("generation:model_add"), {"copy": model.pk}).context["form"]
    assert (form["name"].value(), form["temperature"].value(), form["active"].value()) == ("", 0.7, False)
    assert form["usd_per_million_input"].value() == "1.5"
    assert page.get(reverse("generation:model_add"), {"copy": "x"}).status_code == 200


def test_a_model_is_taken_out_of_use_and_asked_no_more(page: Client) -> None:
    model = make_model("Heron", litellm_id="demo/heron")
    answer = page.post(f"/api/v1/models/{model.pk}/edit/", {"version": 1, "active": False}, "application/json")
    assert answer.json()["active"] is False
    LanguageModel.objects.update(paused_at=timezone.now(), paused_because="auth", drafting=True)
    shown = words(page.get(reverse("generation:model_list")))
    assert "not in use" in shown
    assert "one of the five" not in shown


# --- limits, trials --------------------------------------------------------------------------------------------------


def test_limits_are_edited_in_place_and_refused_in_words(page: Client, server: OpenAIServer) -> None:
    provider = model_at(server).provider
    address = reverse("generation:provider_limit")
    assert provider in words(page.get(reverse("generation:model_list")))
    given = {"provider": provider, "version": 0, "calls_in_flight": 4, "requests_per_minute": ""}
    assert page.post(address, given).status_code == 302
    held = ProviderLimit.objects.get()
    assert (held.calls_in_flight, held.requests_per_minute, held.version) == (4, None, 1)
    refused = page.post(address, {**given, "version": 1, "calls_in_flight": 0})
    assert refused.status_code == 400
    assert "field__error" in refused.content.decode()
    stale = page.post(address, {**given, "calls_in_flight": 9})
    assert stale.status_code == 409
    assert 'name="calls_in_flight" value="9"' in stale.content.decode()
    assert "Saved now: 4" in words(stale)
    program = {"provider": provider, "version": 1, "tokens_per_minute": 1000}
    assert page.post("/api/v1/limits/", program, "application/json").json()["tokens_per_minute"] == 1000


def test_a_test_call_renews_itself_until_it_has_ended_and_says_what_to_do(page: Client, server: OpenAIServer) -> None:
    model = model_at(server)
    server.script("alpha", failure(401, f"{KEY} is wrong"))
    begun = page.post(reverse("generation:model_try", args=[model.pk]), headers={"HX-Request": "true"})
    assert "every 1s" in words(begun)
    trial = ModelTrial.objects.get()
    address = reverse("generation:trial_detail", args=[trial.pk])
    assert "every 1s" in words(page.get(address, headers={"HX-Request": "true"}))
    tasks.send_trial(trial.pk)
    ended = words(page.get(address, headers={"HX-Request": "true"}))
    assert "every" not in ended
    assert "Set LBP_KEY_LOCAL in the worker&#x27;s environment" in ended
    assert KEY not in ended
    assert page.get(f"/api/v1/trials/{trial.pk}/").json()["error_class"] == "auth"


def test_an_answer_is_shown_as_text_with_what_it_cost(page: Client, server: OpenAIServer) -> None:
    model = model_at(server)
    server.script("alpha", Ok("<b>lighthouse</b>", body={"model": "alpha-2"}))
    assert page.post(f"/api/v1/models/{model.pk}/trial/").status_code == 202
    tasks.send_trial(ModelTrial.objects.get().pk)
    text = words(page.get(reverse("generation:trial_detail", args=[ModelTrial.objects.get().pk])))
    for part in ("&lt;b&gt;lighthouse", "alpha-2", "1,000 + 10", "$ 0.0014"):
        assert part in text


@pytest.mark.parametrize("name", ["model_list", "model_add"])
def test_these_pages_are_for_leads(client: Client, name: str) -> None:
    client.force_login(make_annotator())
    assert client.get(reverse(f"generation:{name}")).status_code == 403
    assert client.post("/api/v1/models/", {}, "application/json").status_code == 403


def test_a_paused_model_is_resumed_from_the_page_of_runs(page: Client) -> None:
    model = make_model("Heron", paused_at=timezone.now(), paused_because="auth")
    answer = page.post(reverse("generation:model_resume", args=[model.pk]), {"from": "runs"})
    assert answer.headers["Location"] == reverse("generation:run_list")


def test_limits_lead_to_the_field_that_is_wrong_and_can_be_removed(page: Client, server: OpenAIServer) -> None:
    provider = model_at(server).provider
    address, program = reverse("generation:provider_limit"), "/api/v1/limits/"
    given = {"provider": provider, "version": 0, "requests_per_minute": -3}
    shown = page.post(address, given).content.decode()
    assert 'href="#id_requests_per_minute"' in shown
    assert 'id="id_requests_per_minute"' in shown
    assert shown.count('aria-invalid="true"') == 1
    unknown = page.post(program, {"provider": "nowhere", "calls_in_flight": 4, "version": 0}, "application/json")
    assert (unknown.status_code, list(unknown.json()["errors"])) == (400, ["provider"])
    assert provider in unknown.json()["detail"]
    assert "nowhere" not in ProviderLimit.objects.values_list("provider", flat=True)
    made = page.post(program, {"provider": provider, "calls_in_flight": 4, "version": 0}, "application/json").json()
    assert page.delete(f"{program}{made['id']}/").status_code == 204
    assert page.delete(f"{program}{made['id']}/").status_code == 404
    assert not ProviderLimit.objects.exists()
    page.post(address, {**given, "requests_per_minute": 3})
    assert page.post(address, {"provider": provider, "version": 9, "do": "remove"}).status_code == 409
    assert page.post(address, {"provider": provider, "version": 1, "do": "remove"}).status_code == 302
    assert not ProviderLimit.objects.exists()


def test_a_second_click_on_the_test_call_shows_the_one_that_is_out(page: Client, server: OpenAIServer) -> None:
    model = model_at(server)
    address = reverse("generation:model_try", args=[model.pk])
    for _click in range(2):
        answer = page.post(address, headers={"HX-Request": "true"})
        assert answer.status_code == 200
        assert "A worker takes it up in a moment." in answer.content.decode()
    assert model.trials.count() == 1
