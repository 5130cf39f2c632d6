"""What breaks around a worker: the broker, the provider, a message that comes twice or too early."""

import itertools
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.urls import reverse
from pytest_django.fixtures import Settings

from generation.models import Call, Run
from generation.workflow import CallState, RunState
from tests.factories import make_version
from tests.generation.test_bench_kills import ask, hold_against_the_rows, models_at, none_is_left
from tests.generation.workshop import (
    DEADLINE,
    MARGIN,
    Workshop,
    asked,
    free_port,
    ledger,
    listens,
    say,
    scripted_server,
    until,
    workshop,
)

pytestmark = [
    pytest.mark.bench,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="a deployment's: PostgreSQL and Redis"),
]

# Run in a process of its own, with messages: the web process that starts runs.
START = """
import django; django.setup()
import itertools, os
from tests import factories
from tests.generation.test_bench_kills import ask
factories._count = itertools.count(os.getpid() * 1000)
for number in range({first}, {last}):
    ask(factories.make_version(), number)
"""


@pytest.fixture(autouse=True)
def _real_panel(settings: Settings) -> None:
    settings.LBP_PANEL = "real"
    settings.LBP_CALL_DEADLINE_SECONDS, settings.LBP_LEASE_MARGIN_SECONDS = DEADLINE, MARGIN


def start_runs(made: Workshop, first: int, last: int, **more: str) -> None:
    assert made.start("web", "-c", START.format(first=first, last=last), **more).wait(180) == 0, made.log("web")


def redis_at(port: int, folder: Path) -> "subprocess.Popen[bytes]":
    command = ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    until(lambda: listens(port), within=20)
    return process


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310 -- our own address
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def test_a_message_that_the_broker_gives_out_again_asks_no_model_twice(tmp_path: Path) -> None:
    """T-52: visibility time-out 5 s, a call of 15 s, two workers."""
    short: Any = {"DJANGO_SETTINGS_MODULE": "tests.generation.short_visibility"}
    with (
        workshop(tmp_path, LBP_CALL_DEADLINE_SECONDS="60", **short) as made,
        scripted_server(made, str(tmp_path / "ledger.jsonl"), "15") as host,
    ):
        models_at(host, 5)
        workers = [made.worker(), made.worker()]
        try:
            start_runs(made, 0, 2)
            until(none_is_left)
        finally:
            for worker in workers:
                worker.end()
        hold_against_the_rows(made, calls=10)
        assert set(Call.objects.values_list("state", "attempts")) == {(CallState.SUCCEEDED, 1)}


def test_a_broker_that_dies_and_comes_back_empty_delays_and_loses_nothing(tmp_path: Path) -> None:
    """F-06, F-07: the web process goes on answering and starting runs; workers take up again by themselves."""
    port = free_port()
    redis = redis_at(port, tmp_path)
    more = {"REDIS_URL": f"redis://127.0.0.1:{port}/11"}
    with (
        workshop(tmp_path, redis=False, **more) as made,
        scripted_server(made, str(tmp_path / "ledger.jsonl"), "0.5") as host,
    ):
        models_at(host, 5)
        door = free_port()
        web = made.start(
            "gunicorn",
            "-m",
            "gunicorn",
            "config.wsgi:application",
            "--bind",
            f"127.0.0.1:{door}",
            "--threads",
            "4",
            "--no-control-socket",
            "--no-control-socket",
        )
        worker = made.worker()
        try:
            start_runs(made, 0, 2)
            until(none_is_left)
            login = f"http://127.0.0.1:{door}{reverse('account_login')}"
            until(lambda: status_of(login) == 200)
            redis.kill()
            redis.wait()
            assert status_of(login) == 200
            start_runs(made, 2, 6)
            assert Run.objects.filter(state=RunState.QUEUED).count() == 4
            time.sleep(5)
            redis = redis_at(port, tmp_path)
            began = time.monotonic()
            until(none_is_left, within=90)
            say(f"all runs finished {time.monotonic() - began:.1f} s after the broker came back")
        finally:
            worker.end()
            os.killpg(web.pid, signal.SIGKILL)
            redis.kill()
            redis.wait()
        hold_against_the_rows(made, calls=30)
        assert set(Call.objects.values_list("state", flat=True)) == {CallState.SUCCEEDED}


def test_a_provider_that_asks_everybody_to_wait_is_left_alone_for_as_long(tmp_path: Path) -> None:
    """F-11: nothing but 429 with Retry-After, twice for each call."""
    with (
        workshop(tmp_path) as made,
        scripted_server(made, str(tmp_path / "ledger.jsonl"), "0", "tests.generation.faulty:asks_to_wait") as host,
    ):
        models_at(host, 5)
        for number in range(4):
            ask(make_version(), number)
        worker = made.worker()
        try:
            until(none_is_left)
        finally:
            worker.end()
        assert set(Call.objects.values_list("state", "attempts")) == {(CallState.SUCCEEDED, 3)}
        assert set(asked(made).values()) == {3}
        times: dict[str, list[float]] = {}
        for entry in ledger(made):
            times.setdefault(str(entry["body"]), []).append(entry["at"])
        assert min(later - earlier for at in times.values() for earlier, later in itertools.pairwise(at)) >= 6.0


def test_a_provider_that_hangs_or_drips_is_given_up_at_our_own_deadline(tmp_path: Path) -> None:
    """F-14, T-54: the calls become unknown, and the worker goes on."""
    with (
        workshop(tmp_path) as made,
        scripted_server(made, str(tmp_path / "ledger.jsonl"), "0", "tests.generation.faulty:hangs_and_drips") as host,
    ):
        models_at(host, 2)
        runs = [ask(make_version(), number) for number in range(3)]
        worker = made.worker()
        try:
            until(none_is_left)
        finally:
            worker.end()
        assert set(Call.objects.values_list("state", "error_class")) == {(CallState.UNKNOWN, "deadline")}
        for run in runs:
            run.refresh_from_db()
            first = min(call.sent_at for call in run.calls.all() if call.sent_at)
            assert run.finished_at is not None
            assert (run.finished_at - first).total_seconds() < DEADLINE + 10


def test_a_run_that_is_started_in_the_request_that_makes_its_document_is_there_when_its_message_comes(
    tmp_path: Path,
) -> None:
    """T-55: messages are sent when the transaction has committed, under load from four processes."""
    with (
        workshop(tmp_path) as made,
        scripted_server(made, str(tmp_path / "ledger.jsonl"), "0.05") as host,
    ):
        models_at(host, 2)
        worker = made.worker(threads=8)
        try:
            starting = [
                made.start("web", "-c", START.format(first=25 * number, last=25 * number + 25)) for number in range(4)
            ]
            assert [process.wait(180) for process in starting] == [0] * 4, made.log("web")
            until(none_is_left)
        finally:
            worker.end()
        assert "DoesNotExist" not in made.log()
        hold_against_the_rows(made, calls=200)
