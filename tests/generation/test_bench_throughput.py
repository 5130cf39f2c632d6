"""How many calls one worker process has out at once, and what they cost it (performance.md, E). `make bench`.

LBP_BENCH_LATENCY=60    seconds that the model takes
"""

import os
from pathlib import Path

import pytest
from django.db.models import Max, Min
from pytest_django.fixtures import Settings

from generation import actions
from generation.models import Call
from generation.workflow import CallState
from tests.factories import make_model, make_version
from tests.generation.workshop import Workshop, figures, say, scripted_server, until, workshop

pytestmark = [pytest.mark.bench, pytest.mark.django_db(transaction=True)]

LATENCY = float(os.environ.get("LBP_BENCH_LATENCY", "60"))
WAVES = int(os.environ.get("LBP_BENCH_WAVES", "5"))
LEAST_EFFICIENCY = 0.9
MOST_CPU_MS = 20.0
MOST_MB = 500.0


@pytest.fixture(autouse=True)
def _real_panel(settings: Settings) -> None:
    settings.LBP_PANEL = "real"


def models_at(host: str, count: int) -> None:
    for number in range(count):
        make_model(
            f"slow-{number}",
            panel="real",
            litellm_id=f"openai/slow-{number}",
            api_base=f"http://{host}/v1",
            key_variable="LBP_KEY_LOCAL",
            usd_per_million_input="1.25",
            usd_per_million_output="10",
            truncate_input_to_tokens=400_000,
            context_tokens=500_000,
        )


def ask(version: object, question: str) -> None:
    from benchmark.taxonomy import secondary_task  # noqa: PLC0415

    actions.start_challenge(
        document_version=version,  # type: ignore[arg-type]
        task=secondary_task("T1.2"),
        question=question,
        options=[],
        elements="the ship names",
        answer=["Heron"],
        by=None,
    )


def work(made: Workshop, host: str, calls: int, latency: float, at_once: int) -> dict[str, float]:
    """Let one worker answer everything that is queued. Returns what it took."""
    worker = made.worker(threads=4)
    try:
        until(lambda: figures(host)["requests"] > 0, within=90)
        before = worker.cpu_seconds()
        done = Call.objects.filter(state=CallState.SUCCEEDED)
        until(lambda: done.count() == calls, within=latency * (calls / at_once) * 3 + 120, step=1.0)
        cpu, peak = worker.cpu_seconds() - before, worker.peak_mb()
    finally:
        worker.end()
    times = Call.objects.aggregate(first=Min("sent_at"), last=Max("answered_at"))
    real = (times["last"] - times["first"]).total_seconds()
    ideal = latency * calls / at_once
    took = {
        "real": real,
        "efficiency": ideal / real,
        "cpu_ms": cpu * 1000 / calls,
        "peak_mb": peak,
        "most_open": figures(host)["most_open"],
    }
    say(
        f"{calls} calls, {at_once} at once, {latency:.0f} s each: {real:.1f} s, efficiency {took['efficiency']:.3f}, "
        f"{took['cpu_ms']:.1f} ms CPU a call, peak {peak:.0f} MB, {took['most_open']:.0f} open at once"
    )
    return took


def test_a_thousand_small_calls_are_out_at_once_in_one_worker_process(tmp_path: Path) -> None:
    calls, at_once = 1000 * WAVES, 1000
    with workshop(
        tmp_path, LBP_CALLS_IN_FLIGHT=str(at_once), LBP_CALL_DEADLINE_SECONDS="600", LBP_RECONCILE_SECONDS="15"
    ) as made:
        with scripted_server(made, str(LATENCY), module="slow_server") as host:
            models_at(host, 10)
            version = make_version()
            for number in range(calls // 10):
                ask(version, f"Which ships paid fee number {number}?")
            took = work(made, host, calls, LATENCY, at_once)
        assert "Task was destroyed" not in made.log()
    assert took["most_open"] >= 0.98 * at_once
    assert took["efficiency"] >= LEAST_EFFICIENCY


def test_a_hundred_calls_of_256k_tokens_are_out_at_once_in_little_memory(tmp_path: Path) -> None:
    words = " ".join(f"word{number % 997}" for number in range(128 * 1024))
    calls, latency = 600, min(LATENCY, 10.0)
    with (
        workshop(
            tmp_path, LBP_CALLS_IN_FLIGHT="100", LBP_CALL_DEADLINE_SECONDS="600", LBP_RECONCILE_SECONDS="15"
        ) as made,
        scripted_server(made, str(latency), module="slow_server") as host,
    ):
        models_at(host, 5)
        for number in range(calls // 5):
            version = make_version(f"Log {number}. {words}"[:1_240_000], tokens=262_144)
            ask(version, f"Which ships paid fee number {number}?")
        took = work(made, host, calls, latency, 100)
    assert took["most_open"] >= 95
    assert took["cpu_ms"] <= MOST_CPU_MS
    assert took["peak_mb"] <= MOST_MB
