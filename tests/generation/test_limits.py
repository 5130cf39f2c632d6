"""Limits per provider hold over everything that is sent to it, and whoever has to wait holds nothing meanwhile."""

import itertools
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone
from pytest_django.fixtures import Settings

from benchmark.taxonomy import secondary_task
from core import history
from core.models import Event
from core.refusals import Conflict, Invalid, NotAllowed
from generation import actions, limiting, sending
from generation.models import Call, ProviderLimit, Run
from generation.sending import doors
from generation.workflow import CallState
from tests.factories import make_annotator, make_call, make_lead, make_run, make_version
from tests.fakes.openai_server import Ok, OpenAIServer, rate_limited
from tests.generation.conftest import model_at

pytestmark = pytest.mark.django_db

TASK = secondary_task("T1.2")
RIGHT = Ok("[Answer]\nMarigold\nHeron\nTern")


@pytest.fixture
def short_minute(monkeypatch: pytest.MonkeyPatch) -> float:
    monkeypatch.setattr(limiting, "WINDOW", timedelta(seconds=0.8))
    return 0.8


def answers(count: int, **more: Any) -> Run:
    given: dict[str, Any] = {
        "document_version": make_version(tokens=1000),
        "task": TASK,
        "prompt": "Which ships?",
        "prompt_thinking": "Which ships? Think.",
        "answer": ["Marigold", "Heron", "Tern"],
        "runs_per_model": count,
        "by": None,
    }
    return actions.start_difficulty(**{**given, **more})


def limit(server: OpenAIServer, **limits: int) -> ProviderLimit:
    return ProviderLimit.objects.create(provider=f"openai {server.host}", **limits)


def most_left_in_a_window() -> int:
    """By the history's times: when a request arrives depends on how busy the machine is."""
    left = sorted(Event.objects.filter(action="generation.send").values_list("at", flat=True))
    return max(sum(1 for other in left if at <= other < at + limiting.WINDOW) for at in left)


def most_at_once(server: OpenAIServer, seconds: float) -> int:
    times = [received.at for received in server.received()]
    return max(sum(1 for other in times if start <= other < start + seconds) for start in times)


def test_no_more_calls_are_out_than_a_provider_allows_however_many_models_it_has(server: OpenAIServer) -> None:
    for name in ("alpha", "beta"):
        model_at(server, name)
        server.script(name, Ok(RIGHT.content, seconds=0.1))
    limit(server, calls_in_flight=2)
    answers(4)
    sending.work_off()
    assert Call.objects.filter(state=CallState.SUCCEEDED).count() == 8
    # The ledger has arrivals only; an answer takes 0.1 s.
    assert most_at_once(server, 0.1) <= 2


def test_no_more_requests_leave_in_a_minute_than_a_provider_allows_those_sent_again_included(
    server: OpenAIServer, short_minute: float
) -> None:
    model_at(server)
    server.script("alpha", rate_limited(), RIGHT)
    limit(server, requests_per_minute=3)
    answers(5)
    sending.work_off()
    assert len(server.received()) == 6
    assert most_left_in_a_window() <= 3
    assert Call.objects.filter(state=CallState.SUCCEEDED).count() == 5


def test_no_more_tokens_go_in_in_a_minute_than_a_provider_allows_but_one_request_alone_may(
    server: OpenAIServer, short_minute: float
) -> None:
    model_at(server)
    server.script("alpha", RIGHT)
    held = limit(server, tokens_per_minute=2500)
    answers(4)
    sending.work_off()
    assert most_left_in_a_window() <= 2
    last = Event.objects.filter(action="generation.send").latest("id").pk
    held.tokens_per_minute = 10
    held.save()
    answers(2)
    sending.work_off()
    times = Event.objects.filter(action="generation.send", pk__gte=last).order_by("id").values_list("at", flat=True)
    assert len(times) == 3
    assert all(later - earlier >= limiting.WINDOW for earlier, later in itertools.pairwise(times))


def test_another_provider_is_not_held_up(server: OpenAIServer, short_minute: float) -> None:
    model_at(server)
    model_at(server, "beta", litellm_id="hosted_vllm/beta")
    server.script("alpha", RIGHT)
    server.script("beta", RIGHT)
    limit(server, requests_per_minute=1)
    answers(2)
    sending.work_off()
    first, second = server.received("beta")
    assert second.at - first.at < short_minute


def test_a_wait_beyond_the_workers_patience_is_left_to_the_reconciler(
    server: OpenAIServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doors, "LOOK_AGAIN_SECONDS", 0.01)
    model = model_at(server)
    elsewhere = make_call(
        make_run(make_version(), purpose="challenge", task_code="T1.2"),
        model,
        state=CallState.CALLING,
        provider=model.provider,
        lease_until=timezone.now() + timedelta(minutes=1),
    )
    limit(server, calls_in_flight=1)
    run = answers(3)
    assert sending.send_run(run.pk, patience=0.05) is False
    assert server.received() == []
    assert sending.ready_run_ids() == []
    waiting = run.calls.all()
    assert all(call.next_attempt_at and call.next_attempt_at > timezone.now() for call in waiting)
    Call.objects.filter(pk=elsewhere.pk).update(lease_until=timezone.now())
    run.calls.update(next_attempt_at=timezone.now())
    assert sending.send_run(run.pk) is True
    assert len(server.received()) == 3


def test_a_limit_is_set_by_a_lead_and_never_over_another_ones_change(server: OpenAIServer) -> None:
    model, lead = model_at(server), make_lead()
    with pytest.raises(NotAllowed):
        actions.set_provider_limit(provider=model.provider, version=0, by=make_annotator(), calls_in_flight=1)
    with pytest.raises(Invalid):
        actions.set_provider_limit(provider=model.provider, version=0, by=lead, calls_in_flight=0)
    held = actions.set_provider_limit(provider=model.provider, version=0, by=lead, calls_in_flight=7)
    with pytest.raises(Conflict):
        actions.set_provider_limit(provider=model.provider, version=0, by=lead, calls_in_flight=9)
    actions.set_provider_limit(provider=model.provider, version=held.version, by=lead, requests_per_minute=60)
    held.refresh_from_db()
    assert (held.calls_in_flight, held.requests_per_minute, held.version) == (None, 60, 2)
    changed = history.history_of(held).latest("id").data["changed"]
    assert changed == {"calls_in_flight": [7, None], "requests_per_minute": [None, 60]}


def test_texts_in_memory_are_bounded_whatever_the_limits_allow(server: OpenAIServer, settings: Settings) -> None:
    settings.LBP_TOKENS_IN_FLIGHT = 2000
    model_at(server)
    server.script("alpha", Ok(RIGHT.content, seconds=0.1))
    answers(4)
    sending.work_off()
    assert most_at_once(server, 0.1) <= 2


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_limits_hold_over_many_workers(
    server: OpenAIServer, short_minute: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doors, "LOOK_AGAIN_SECONDS", 0.05)
    model_at(server)
    server.script("alpha", RIGHT)
    limit(server, requests_per_minute=8, calls_in_flight=4)
    runs = [answers(4) for _number in range(8)]
    gate, errors = threading.Barrier(8), []

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
    assert Call.objects.filter(state=CallState.SUCCEEDED).count() == len(server.received()) == 32
    assert most_left_in_a_window() <= 8
