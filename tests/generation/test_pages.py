"""Pages and API of runs, calls and models: for leads, by the same actions, and safe against what models write."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from benchmark.taxonomy import secondary_task
from core.models import User
from generation import sending
from generation.models import Call, LanguageModel, Run
from generation.workflow import CallState, Purpose, RunState
from tests.factories import make_annotator, make_call, make_expert, make_lead, make_model, make_run, make_version
from tests.fakes.openai_server import OpenAIServer
from tests.generation.conftest import model_at

pytestmark = pytest.mark.django_db

NASTY = "<script>alert(1)</script> ![x](http://evil.example/p.png) <img src=x onerror=alert(1)>"


@pytest.fixture
def lead() -> User:
    return make_lead()


@pytest.fixture
def page(client: Client, lead: User) -> Client:
    client.force_login(lead)
    return client


def a_run(**more: Any) -> Run:
    run = make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2", reference=["Heron"], **more)
    make_call(run, make_model("demo/osprey"), raw="[Answer]\nHeron", elements=["Heron"], score=1.0, right=True)
    return run


def urls(run: Run) -> list[str]:
    call = run.calls.get()
    return [
        reverse("generation:run_list"),
        reverse("generation:run_detail", args=[run.pk]),
        reverse("generation:call_detail", args=[call.pk]),
        reverse("generation:model_list"),
        reverse("generation:model_edit", args=[call.model_id]),
        f"/api/v1/runs/{run.pk}/",
        "/api/v1/runs/",
        f"/api/v1/calls/{call.pk}/",
        "/api/v1/calls/",
        "/api/v1/models/",
    ]


@pytest.mark.parametrize("make", [make_annotator, make_expert])
def test_only_leads_see_runs_calls_and_models(client: Client, make: Any) -> None:
    run = a_run()
    client.force_login(make())
    assert {url: client.get(url).status_code for url in urls(run)} == dict.fromkeys(urls(run), 403)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_lead_sees_every_page(page: Client, lead: User, language: str) -> None:
    lead.language = language
    lead.save()
    run = a_run()
    for url in urls(run):
        assert page.get(url).status_code == 200, url


def test_simulated_models_are_marked_wherever_their_output_is_shown(page: Client) -> None:
    run = a_run()
    for url in urls(run)[1:5]:
        assert b"tag--sim" in page.get(url).content, url


def test_what_a_model_wrote_is_shown_and_does_nothing(page: Client) -> None:
    run = make_run(make_version(title=NASTY), purpose=Purpose.CHALLENGE, task_code="T1.2", reference=[NASTY])
    call = make_call(
        run,
        make_model(),
        raw=NASTY,
        reasoning=NASTY,
        served_model=NASTY,
        error=NASTY,
        elements=[NASTY],
        score=0.0,
        right=False,
        faults=[{"kind": "refused", "detail": NASTY, "draft": 1}],
    )
    for url in urls(run)[:3]:
        content = page.get(url).content.decode()
        assert "<script>alert" not in content
        assert "<img src=x" not in content
    assert "&lt;script&gt;" in page.get(reverse("generation:call_detail", args=[call.pk])).content.decode()


def test_a_page_polls_itself_only_while_something_is_under_way(page: Client) -> None:
    run = a_run(state=RunState.RUNNING)
    for url in urls(run)[:2]:
        assert b"every 3s" in page.get(url).content
    run.state = RunState.FINISHED
    run.save()
    for url in urls(run)[:2]:
        assert b"every 3s" not in page.get(url).content


def test_the_poll_brings_the_part_and_not_the_page(page: Client) -> None:
    run = a_run(state=RunState.RUNNING)
    content = page.get(reverse("generation:run_detail", args=[run.pk]), headers={"HX-Request": "true"}).content
    assert b'id="run"' in content
    assert b"<html" not in content


def test_the_list_of_runs_takes_as_many_queries_for_many_as_for_few(
    page: Client, django_assert_max_num_queries: Any, django_assert_num_queries: Any
) -> None:
    a_run()
    page.get(reverse("generation:run_list"))  # the settings of the benchmark are made at the first look
    with django_assert_max_num_queries(20) as few:
        page.get(reverse("generation:run_list"))
    for _number in range(10):
        run = make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.2")
        make_call(run, make_model())
    with django_assert_num_queries(len(few)):
        content = page.get(reverse("generation:run_list")).content
    assert content.count(b"R-") >= 11


def test_runs_are_found_by_purpose_state_and_calls(page: Client) -> None:
    wanted = make_run(make_version(), purpose=Purpose.PREDICTION, task_code="T1.2")
    make_call(wanted, make_model(), state=CallState.UNKNOWN)
    other = a_run()
    for query in ("purpose=prediction", "calls=unknown"):
        content = page.get(f"{reverse('generation:run_list')}?{query}").content.decode()
        assert f"R-{wanted.pk}<" in content
        assert f"R-{other.pk}<" not in content
    wanted_ones = {"secondary_task": secondary_task("T1.2").name, "bucket": "8k", "language": "English"}
    found = page.get("/api/v1/runs/", wanted_ones).json()
    assert found["count"] == 2
    assert page.get("/api/v1/runs/?secondary_task=nonsense").json()["count"] == 0


def test_lists_never_carry_document_text_or_replies(page: Client) -> None:
    run = a_run()
    for url in ("/api/v1/runs/", "/api/v1/calls/", reverse("generation:run_list")):
        content = page.get(url).content.decode()
        assert "harbour log of Saint Anne" not in content
        assert "[Answer]" not in content
    assert page.get(f"/api/v1/calls/{run.calls.get().pk}/").json()["raw"] == "[Answer]\nHeron"


def test_a_lead_retries_cancels_and_resends_from_the_pages(page: Client, server: OpenAIServer) -> None:
    model_at(server)
    run = make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2", reference=["Heron"])
    call = make_call(run, LanguageModel.objects.get(), state=CallState.FAILED, error_class="bad_request")
    assert page.post(reverse("generation:run_retry", args=[run.pk])).status_code == 302
    assert Call.objects.get().state == CallState.QUEUED
    assert page.post(reverse("generation:run_cancel", args=[run.pk])).status_code == 302
    assert Call.objects.get().state == CallState.CANCELLED
    address = reverse("generation:call_detail", args=[call.pk])
    refused = page.post(address, {"reason": "  "})
    assert refused.status_code == 400
    assert Call.objects.get().state == CallState.CANCELLED
    assert page.post(address, {"reason": "The lead wants it."}).status_code == 302
    sending.work_off()
    assert Call.objects.get().state == CallState.SUCCEEDED
    assert len(server.received()) == 1


def test_an_unknown_call_is_sent_again_with_a_warning(page: Client) -> None:
    run = make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2")
    call = make_call(run, make_model(), state=CallState.UNKNOWN)
    assert b"paid twice" in page.get(reverse("generation:call_detail", args=[call.pk])).content


# --- models ----------------------------------------------------------------------------------------------------------


def typed(model: LanguageModel, **changes: Any) -> dict[str, Any]:
    values = {
        "version": model.version,
        "tier": model.tier,
        "kind": model.kind,
        "litellm_id": model.litellm_id,
        "api_base": model.api_base,
        "key_variable": model.key_variable,
        "context_tokens": model.context_tokens,
        "truncate_input_to_tokens": model.truncate_input_to_tokens,
        "max_output_nonthinking": model.max_output_nonthinking or "",
        "max_output_thinking": model.max_output_thinking or "",
        "structured": model.structured,
        "temperature": "" if model.temperature is None else model.temperature,
        "usd_per_million_input": model.usd_per_million_input,
        "usd_per_million_output": model.usd_per_million_output,
        "note": model.note,
        "active": "on",
        **changes,
    }
    return {name: value for name, value in values.items() if value is not None}


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("key_variable", {"key_variable": "SECRET_KEY"}),
        ("key_variable", {"key_variable": "LBP_KEY_"}),
        ("api_base", {"api_base": "http://169.254.169.254/latest"}),
        ("api_base", {"api_base": "javascript:alert(1)"}),
        ("api_base", {"litellm_id": "hosted_vllm/x"}),
        ("litellm_id", {"litellm_id": "sagemaker/x"}),
        ("litellm_id", {"litellm_id": "demo/nobody"}),
        ("temperature", {"kind": "thinking", "temperature": "0.2"}),
        ("temperature", {"kind": "mixed", "litellm_id": "anthropic/x", "temperature": "0.7"}),
        ("temperature", {"temperature": "9"}),
        ("max_output_thinking", {"kind": "thinking", "max_output_thinking": "1024"}),
        ("truncate_input_to_tokens", {"truncate_input_to_tokens": "9999999"}),
        ("usd_per_million_input", {"usd_per_million_input": "-1"}),
        ("usd_per_million_input", {"usd_per_million_input": "a lot"}),
        ("tier", {"tier": "huge"}),
        ("litellm_id", {"litellm_id": "openai/"}),
        ("truncate_input_to_tokens", {"truncate_input_to_tokens": "0"}),
    ],
)
def test_what_would_be_refused_later_is_refused_at_its_field_and_the_typed_text_stays(
    page: Client, field: str, changes: dict[str, str]
) -> None:
    model = make_model("alpha", litellm_id="openai/alpha")
    response = page.post(reverse("generation:model_edit", args=[model.pk]), typed(model, note="typed", **changes))
    assert response.status_code == 400
    assert list(response.context["form"].errors) == [field]
    content = response.content.decode()
    assert "field__error" in content
    assert 'value="typed"' in content
    answer = page.post(f"/api/v1/models/{model.pk}/edit/", {"version": 1, **changes}, content_type="application/json")
    assert answer.status_code == 400
    assert field in answer.json()["errors"]
    model.refresh_from_db()
    assert (model.version, model.note) == (1, "")


def test_a_saved_model_is_kept_with_its_history(page: Client, settings: Settings) -> None:
    settings.LBP_MODEL_HOSTS = ["models.example"]
    model = make_model("alpha", litellm_id="openai/alpha")
    changes = {"api_base": "https://models.example/v1", "key_variable": "LBP_KEY_ALPHA", "usd_per_million_input": "2.5"}
    response = page.post(reverse("generation:model_edit", args=[model.pk]), typed(model, **changes))
    assert response.status_code == 302
    model.refresh_from_db()
    assert (model.api_base, model.key_variable, model.version) == (*list(changes.values())[:2], 2)
    stale = page.post(reverse("generation:model_edit", args=[model.pk]), typed(model, version=1, note="late"))
    assert stale.status_code == 409
    shown = stale.content.decode()
    assert 'value="late"' in shown
    assert "Saved now: –" in shown
    assert 'name="version" value="2"' in shown
    history = page.get(reverse("generation:model_edit", args=[model.pk])).content.decode()
    assert "https://models.example/v1" in history


def test_a_paused_model_is_resumed_by_a_lead(page: Client) -> None:
    model = make_model("alpha")
    LanguageModel.objects.update(paused_at=timezone.now(), paused_because="auth")
    assert b"The provider refused the key" in page.get(reverse("generation:model_list")).content
    assert page.post(reverse("generation:model_resume", args=[model.pk])).status_code == 302
    model.refresh_from_db()
    assert model.paused_at is None
    assert page.post(f"/api/v1/models/{model.pk}/resume/").status_code == 409
    assert page.post(f"/api/v1/models/{model.pk}/pause/", {"reason": "too dear"}).json()["paused_because"] == "too dear"


def test_the_api_tells_a_rule_by_its_name(page: Client) -> None:
    run = a_run()
    answer = page.post(f"/api/v1/runs/{run.pk}/retry/")
    assert (answer.status_code, answer.json()["rule"]) == (422, "nothing_failed")
    answer = page.post(f"/api/v1/runs/{run.pk}/cancel/")
    assert (answer.status_code, answer.json()["state"]) == (409, "finished")
    assert page.post(f"/api/v1/calls/{run.calls.get().pk}/resend/", {}).json()["errors"]["reason"]
