"""I-26 and I-27 on the real thing: PostgreSQL, Redis and a worker with a talkative log; every fault, then a search."""

import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from django.db import connection
from pytest_django import DjangoDbBlocker

from tests.fakes.openai_server import Answer, HangUp, OpenAIServer, Says, failure, rate_limited, reasoning_only
from tests.generation.asking import RIGHT
from tests.generation.conftest import KEY

ROOT = Path(__file__).resolve().parents[2]
TEXT = "document-canary-9"
ECHO = f"the key {KEY} was sent with {TEXT}"
FAULTS: dict[str, Answer] = {
    "m0": RIGHT,
    "m1": failure(400, ECHO, KEY),
    "m2": rate_limited(),
    "m3": failure(500, ECHO),
    "m4": HangUp(),
    "m5": Says(200, ECHO),
    "m6": reasoning_only(),
    "m7": failure(401, ECHO, KEY),
}
PREPARE = f"""
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("createcachetable", verbosity=0)
from tests.factories import make_model, make_version
from tests.generation.asking import start_challenge, start_drafting
for number in range({len(FAULTS)}):
    make_model(f"m{{number}}", panel="real", litellm_id=f"openai/m{{number}}", api_base=ADDRESS,
               key_variable="LBP_KEY_LOCAL", usd_per_million_input="1", usd_per_million_output="1")
version = make_version("A log with {TEXT} in it.")
start_drafting(document_version=version)
start_challenge(document_version=version)
"""
# A refused key pauses its model, and what that has queued waits for a lead.
LOOK = """
import django; django.setup()
from core.models import User
from generation import actions
from generation.models import LanguageModel, Run
from tests.factories import make_lead
for model in LanguageModel.objects.exclude(paused_at=None):
    actions.resume_model(model=model, by=User.objects.filter(role="lead").first() or make_lead())
print(*sorted(Run.objects.values_list("state", flat=True)))
"""

pytestmark = [pytest.mark.bench, pytest.mark.postgres, pytest.mark.redis]


def script(code: str, environment: Mapping[str, str]) -> str:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def database(django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """The address of a PostgreSQL database of its own."""
    given = connection.settings_dict
    name = f"{given['NAME']}_privacy"
    login = f"{given['USER']}@{given['HOST'] or '127.0.0.1'}:{given['PORT'] or 5432}"
    with psycopg.connect(f"postgres://{login}/postgres", autocommit=True) as admin:
        admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        admin.execute(f'CREATE DATABASE "{name}"')
        yield f"postgres://{login}/{name}"
        admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


class Listening(threading.Thread):
    """Every command that Redis is given, as its MONITOR writes it."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        parts = urlsplit(url)
        self.line = socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 6379))
        self.heard = ""

    def run(self) -> None:
        self.line.sendall(b"MONITOR\r\n")
        while part := self.line.recv(65536):
            self.heard += part.decode("utf-8", "replace")


def dumped(url: str) -> str:
    """All keys and values of the Redis database."""
    client = redis.Redis.from_url(url)
    return repr([(key, client.dump(key)) for key in client.scan_iter()])


def held(database: str) -> dict[str, set[str]]:
    """The tables in which each canary stands."""
    with psycopg.connect(database) as rows:
        tables = [name for (name,) in rows.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
        content = {name: repr(rows.execute(f'TABLE "{name}"').fetchall()) for name in tables}
    return {canary: {name for name in tables if canary in content[name]} for canary in (KEY, TEXT)}


def test_t_secret_t_privacy_on_postgresql_and_redis_with_a_worker(tmp_path: Path, database: str) -> None:
    with OpenAIServer() as server:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings.development",
            "DATABASE_URL": database,
            "LBP_DATA_DIR": str(tmp_path / "data"),
            "LBP_MODEL_HOSTS": server.host,
            "LBP_PANEL": "real",
            "LBP_CALL_ATTEMPTS": "2",
            "LBP_KEY_LOCAL": KEY,
            "LOG_LEVEL": "DEBUG",
            "PYTHONPATH": str(ROOT),
        }
        for name, answer in FAULTS.items():
            server.script(name, answer)
        listening = Listening(environment["REDIS_URL"])
        listening.start()
        script(PREPARE.replace("ADDRESS", repr(server.address)), environment)
        waiting = dumped(environment["REDIS_URL"])
        log = tmp_path / "worker.log"
        _work(environment, log)
        after = dumped(environment["REDIS_URL"])
    assert "generation.send_run" in listening.heard
    assert all(TEXT in received.text for received in server.received())
    assert all(KEY in received.headers["authorization"] for received in server.received())
    assert held(database) == {KEY: set(), TEXT: {"documents_documenttext"}}
    files = [file.read_bytes().decode("utf-8", "replace") for file in (tmp_path / "data").rglob("*") if file.is_file()]
    for canary in (KEY, TEXT):
        places = {
            "waiting": waiting,
            "after": after,
            "commands": listening.heard,
            "log": log.read_text(),
        }
        assert [name for name, said in places.items() if canary in said] == []
        assert not [said for said in files if canary in said]


def _work(environment: Mapping[str, str], log: Path) -> None:
    """A worker until both runs are finished."""
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--concurrency=1", "--loglevel=DEBUG"]
    with log.open("w") as file:
        worker = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=file, stderr=file)
        try:
            until = time.monotonic() + 150
            while time.monotonic() < until and script(LOOK, environment) != "finished finished":
                time.sleep(1)
        finally:
            worker.terminate()
            worker.wait(30)
    assert script(LOOK, environment) == "finished finished", log.read_text()[-3000:]
