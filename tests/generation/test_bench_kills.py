"""Workers are killed wherever it hurts; then the server's ledger is held against the rows (reliability.md, T-kill).

LBP_BENCH_DEATHS=3      deaths at each place
LBP_BENCH_KILLS=200     kills at random, over LBP_BENCH_CALLS=600 calls
"""

import os
import random
import signal
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from benchmark.taxonomy import secondary_task
from core.models import Event
from documents.models import DocumentVersion
from generation import actions
from generation.models import Call, Run
from generation.workflow import CallState, RunState
from leading.invariants import violations
from tests.factories import make_lead, make_model, make_version
from tests.generation.workshop import DEADLINE, MARGIN, Workshop, asked, say, scripted_server, until, workshop

pytestmark = [pytest.mark.bench, pytest.mark.django_db(transaction=True)]

DEATHS = int(os.environ.get("LBP_BENCH_DEATHS", "3"))
KILLS = int(os.environ.get("LBP_BENCH_KILLS", "200"))
CALLS = int(os.environ.get("LBP_BENCH_CALLS", "600"))
ENDED = {CallState.SUCCEEDED, CallState.FAILED, CallState.UNKNOWN}

# What a death leaves: the call's state in the end, whether the request had left, and how often the place kills.
QUEUED_AGAIN, NEVER_LEFT, LEFT, KEPT = "queued again", "unknown, never left", "unknown, left", "kept"
OUTCOMES = {
    "before_the_commit_of_calling": QUEUED_AGAIN,
    "after_the_reserve_of_the_budget": QUEUED_AGAIN,
    "between_state_and_line_of_the_sending": QUEUED_AGAIN,
    "after_the_commit_before_http": NEVER_LEFT,
    "during_http": LEFT,
    "after_the_response_before_the_save": LEFT,
    "between_state_and_line_of_the_answer": LEFT,
    "after_the_save": KEPT,
}


@pytest.fixture(autouse=True)
def _real_panel(settings: Settings) -> None:
    settings.LBP_PANEL = "real"


def models_at(host: str, count: int) -> None:
    for number in range(count):
        make_model(
            f"local-{number}",
            panel="real",
            litellm_id=f"openai/local-{number}",
            api_base=f"http://{host}/v1",
            key_variable="LBP_KEY_LOCAL",
            usd_per_million_input="1.25",
            usd_per_million_output="10",
        )


def ask(version: DocumentVersion, number: int) -> Run:
    return actions.start_challenge(
        document_version=version,
        task=secondary_task("T1.2"),
        question=f"Which ships paid fee number {number}?",
        options=[],
        elements="the ship names",
        answer=["Heron"],
        by=None,
    )


def none_is_left() -> bool:
    return not Run.objects.exclude(state=RunState.FINISHED).exists()


def _goes_on(made: Workshop, before: int) -> bool:
    return sum(asked(made).values()) > before or none_is_left()


def hold_against_the_rows(made: Workshop, *, calls: int) -> None:
    """No key was sent twice by itself, none is stuck, what was answered was asked once, and the sums agree."""
    requests = asked(made)
    assert Call.objects.count() == calls
    assert max(requests.values()) == 1, requests.most_common(3)
    assert set(Call.objects.values_list("state", flat=True)) <= ENDED
    assert Call.objects.filter(state=CallState.SUCCEEDED).count() <= sum(requests.values()) <= calls
    for call in Call.objects.filter(state=CallState.SUCCEEDED).select_related("model"):
        assert requests[call.model.litellm_id.rpartition("/")[2], call.prompt] == 1
    assert [str(violation) for violation in violations()] == []


@pytest.mark.parametrize("pool", ["prefork", "threads"])
@pytest.mark.parametrize("place", sorted(OUTCOMES))
def test_a_death_at_each_place_leaves_exactly_what_is_written_down_here(
    tmp_path: Path, settings: Settings, place: str, pool: str
) -> None:
    """prefork: the child dies and its parent starts another; threads: the whole worker dies and is started again."""
    if connection.vendor == "sqlite" and pool == "prefork":
        pytest.skip("the embedded set-up has threads")
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    settings.LBP_CALL_DEADLINE_SECONDS, settings.LBP_LEASE_MARGIN_SECONDS = DEADLINE, MARGIN
    with (
        workshop(tmp_path, redis=connection.vendor != "sqlite") as made,
        scripted_server(made, str(tmp_path / "ledger.jsonl"), "1.0") as host,
    ):
        models_at(host, 1)
        version = make_version()
        more: Any = {"FAILPOINT": place, "FAILPOINT_FOLDER": str(deaths), "FAILPOINT_LIMIT": str(DEATHS)}
        worker = made.worker(pool=pool, threads=2, **more)
        try:
            for number in range(DEATHS + 1):
                run = ask(version, number)
                while not Run.objects.filter(pk=run.pk, state=RunState.FINISHED).exists():
                    if worker.process.poll() is not None:
                        worker = made.worker(pool=pool, threads=2, **more)
                    time.sleep(0.1)
                    assert time.time() - run.created_at.timestamp() < 150, made.log()[-2000:]
        finally:
            worker.end()
        assert len(list(deaths.iterdir())) == DEATHS
        states = list(Call.objects.order_by("id").values_list("state", flat=True))
        outcome, requests = OUTCOMES[place], sum(asked(made).values())
        answered = outcome in {QUEUED_AGAIN, KEPT}
        say(f"{place} ({pool}): {states}, {requests} requests")
        assert states == [CallState.SUCCEEDED if answered else CallState.UNKNOWN] * DEATHS + [CallState.SUCCEEDED]
        assert requests == (1 if outcome == NEVER_LEFT else DEATHS + 1)
        attempts = {str(call.pk): call.attempts for call in Call.objects.all()}
        assert set(attempts.values()) == {1}, "a rolled back sending is no attempt"
        hold_against_the_rows(made, calls=DEATHS + 1)


def test_a_death_before_the_message_is_published_loses_nothing(tmp_path: Path, settings: Settings) -> None:
    """The web process dies between its commit and the message: the reconciler finds the row."""
    with workshop(tmp_path) as made, scripted_server(made, str(tmp_path / "ledger.jsonl")) as host:
        models_at(host, 1)
        version = make_version()
        (tmp_path / "deaths").mkdir()
        code = f"""
import django; django.setup()
import tests.generation.failpoints
from tests.generation.test_bench_kills import ask
from documents.models import DocumentVersion
ask(DocumentVersion.objects.get(pk={version.pk}), 1)
"""
        dying = {"FAILPOINT": "before_the_message_is_published", "FAILPOINT_FOLDER": str(tmp_path / "deaths")}
        assert made.start("web", "-c", code, **dying).wait(120) == -signal.SIGKILL
        assert Run.objects.get().state == RunState.QUEUED
        worker = made.worker()
        try:
            until(none_is_left)
        finally:
            worker.end()
        hold_against_the_rows(made, calls=1)
        assert Call.objects.get().state == CallState.SUCCEEDED


def test_workers_killed_at_random_send_nothing_twice_and_leave_nothing_stuck(
    tmp_path: Path, settings: Settings
) -> None:
    """Children and whole workers, 200 kills over 600 calls; a lead then has what is unknown sent again."""
    settings.LBP_CALL_DEADLINE_SECONDS, settings.LBP_LEASE_MARGIN_SECONDS = DEADLINE, MARGIN
    embedded = connection.vendor == "sqlite"
    calls, kills = (CALLS // 5, KILLS // 20) if embedded else (CALLS, KILLS)
    pool = "threads" if embedded else "prefork"
    chance = random.Random(4)
    with (
        workshop(tmp_path, redis=not embedded, LBP_CALLS_IN_FLIGHT="4") as made,
        scripted_server(made, str(tmp_path / "ledger.jsonl"), "0.2") as host,
    ):
        models_at(host, 5)
        version = make_version()
        for number in range(calls // 5):
            ask(version, number)
        (tmp_path / "deaths").mkdir()
        worker = made.worker(pool=pool, threads=2, FAILPOINT_FOLDER=str(tmp_path / "deaths"))
        killed, groups, began = 0, 0, time.monotonic()
        try:
            until(lambda: asked(made), within=90)
            while killed < kills and not none_is_left():
                time.sleep(chance.uniform(0.1, 1.2))
                children = worker.children()
                if embedded or not children or killed % 20 == 19:
                    worker.kill_group()
                    worker = made.worker(pool=pool, threads=2, FAILPOINT_FOLDER=str(tmp_path / "deaths"))
                    groups += 1
                    before = sum(asked(made).values())
                    until(partial(_goes_on, made, before), within=90)
                else:
                    with suppress(ProcessLookupError):  # it may have ended since it was looked for
                        os.kill(chance.choice(children), signal.SIGKILL)
                killed += 1
            last = time.monotonic()
            until(none_is_left, within=300)
            took = time.monotonic() - last
        finally:
            worker.end()
        unknown = Call.objects.filter(state=CallState.UNKNOWN).count()
        say(
            f"{killed} kills ({groups} of whole workers) over {calls} calls in {time.monotonic() - began:.0f} s: "
            f"{sum(asked(made).values())} requests, {unknown} unknown, the rest done {took:.0f} s after the last kill"
        )
        hold_against_the_rows(made, calls=calls)
        assert not Call.objects.filter(state=CallState.FAILED).exists()
        assert Event.objects.filter(action="generation.lose").count() == unknown
        _resend_what_is_unknown(made, calls)


def _resend_what_is_unknown(made: Workshop, calls: int) -> None:
    lead = make_lead()
    for call in Call.objects.filter(state=CallState.UNKNOWN):
        actions.resend_call(call=call, by=lead, reason="The worker was killed on purpose.")
    worker = made.worker(threads=2)
    try:
        until(none_is_left, within=180)
    finally:
        worker.end()
    assert Call.objects.filter(state=CallState.SUCCEEDED).count() == calls
    assert max(asked(made).values()) <= 2
    assert [str(violation) for violation in violations()] == []


def test_what_a_worker_was_told_to_finish_comes_back_before_it_stops(tmp_path: Path, settings: Settings) -> None:
    """F-04, T-53: SIGTERM while 20 calls are out and 20 wait: none becomes unknown, those that wait stay queued."""
    with (
        workshop(tmp_path, LBP_CALLS_IN_FLIGHT="20", LBP_CALL_DEADLINE_SECONDS="20") as made,
        scripted_server(made, str(tmp_path / "ledger.jsonl"), "2.5") as host,
    ):
        models_at(host, 5)
        version = make_version()
        for number in range(8):
            ask(version, number)
        worker = made.worker()
        try:
            until(lambda: Call.objects.filter(state=CallState.CALLING).count() == 20)
            took = worker.stop(within=25)
        finally:
            worker.end()
        say(f"stopped in {took:.1f} s with 20 calls out")
        assert sorted(Call.objects.values_list("state", flat=True)) == ["queued"] * 20 + ["succeeded"] * 20
        worker = made.worker()
        try:
            until(none_is_left)
        finally:
            worker.end()
        hold_against_the_rows(made, calls=40)
