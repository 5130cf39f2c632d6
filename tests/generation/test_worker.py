"""A real worker, a real broker, a database in a file: a queued run finishes, and what comes after it is hurried."""

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PREPARE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("createcachetable", verbosity=0)
from benchmark.taxonomy import secondary_task
from generation import actions
from generation.panels import ensure_panel
from generation.tasks import take_up_lost
from tests.factories import make_lead, make_version
ensure_panel("demo")
run = actions.start_challenge(
    document_version=make_version(), task=secondary_task("T1.2"), question="Which ships paid a late fee?",
    options=[], elements="the ship names", answer=["Marigold"], by=make_lead(), then=take_up_lost.si(),
)
"""
LOOK = """
import django; django.setup()
from generation.models import Run
run = Run.objects.get()
print(run.state, *sorted(set(run.calls.values_list("state", flat=True))), run.run_calls.filter(score=None).count())
"""


def script(code: str, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout.strip()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    return {
        **kept,
        "DJANGO_SETTINGS_MODULE": "config.settings.development",
        "LBP_DATA_DIR": str(tmp_path),
        "LBP_PANEL": "demo",
        "PYTHONPATH": str(ROOT),
    }


@pytest.mark.bench
def test_a_worker_finishes_a_queued_run_and_hurries_what_waits_for_it(
    environment: dict[str, str], tmp_path: Path
) -> None:
    script(PREPARE, environment)
    assert script(LOOK, environment) == "queued queued 5"
    log = tmp_path / "worker.log"
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--concurrency=1", "--loglevel=INFO"]
    with log.open("w") as file:
        worker = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=file, stderr=file)
        try:
            until = time.monotonic() + 90
            while time.monotonic() < until and "generation.take_up_lost" not in _done(log):
                time.sleep(0.5)
        finally:
            worker.terminate()
            worker.wait(30)
    assert script(LOOK, environment) == "finished succeeded 0"
    assert _done(log) == ["generation.send_run", "generation.take_up_lost"]


def _done(log: Path) -> list[str]:
    """The tasks that the worker's log says have succeeded, in order."""
    lines = log.read_text(encoding="utf-8").splitlines()
    return [line.split("Task ")[1].split("[")[0] for line in lines if " succeeded in " in line]
