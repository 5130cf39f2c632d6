"""Real workers, a real broker and a model server in processes of their own, around the test's own database."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0
# Short, so that a lost call is told soon.
DEADLINE, MARGIN, ROUND = 8.0, 2.0, 1.0


def say(words: str) -> None:
    """Past pytest's capture: the figures are what a bench is for."""
    os.write(1, f"\n    {words}".encode())


def free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


def until(holds: Callable[[], Any], *, within: float = PATIENCE, step: float = 0.1) -> Any:
    end = time.monotonic() + within
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(step)
    raise AssertionError(f"did not come about within {within} s: {holds}")


def database_url() -> str:
    """The test database, for other processes."""
    given = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{given['NAME']}"
    password = f":{given['PASSWORD']}" if given["PASSWORD"] else ""
    return f"postgres://{given['USER']}{password}@{given['HOST']}:{given['PORT']}/{given['NAME']}"


@dataclass
class Workshop:
    """One bench's folder and processes. `environment` is what every process gets."""

    folder: Path
    environment: dict[str, str]

    def start(self, name: str, *command: str, **more: str) -> subprocess.Popen[bytes]:
        """In a group of its own, so that it can be killed whole."""
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, *command],
                cwd=ROOT,
                env={**self.environment, **more},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def worker(self, *, pool: str = "threads", threads: int = 4, **more: str) -> "Worker":
        command = ["-m", "celery", "--app", "config", "worker", "--pool", pool, "--concurrency", str(threads)]
        command += ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
        command += ["--include", "tests.generation.failpoints"]
        command += ["--hostname", f"w{free_port()}@%h"]
        command += ["--beat", "--schedule", str(self.folder / "beat")]
        return Worker(self.start("worker", *command, **more))

    def log(self, name: str = "worker") -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


@dataclass
class Worker:
    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill_group(self) -> None:
        os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()

    def children(self) -> list[int]:
        found = subprocess.run(
            ["ps", "--ppid", str(self.pid), "-o", "pid="], capture_output=True, text=True, check=False
        )
        return [int(line) for line in found.stdout.split()]

    def stop(self, within: float = 30.0) -> float:
        """Politely; how many seconds it took."""
        began = time.monotonic()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(within)
            except subprocess.TimeoutExpired:
                self.kill_group()
                raise
        return time.monotonic() - began

    def end(self) -> None:
        if self.process.poll() is None:
            self.kill_group()

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mb(self) -> float:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        return 0.0


@contextmanager
def redis_server(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """One that keeps nothing: what it forgets, the rows remember."""
    process = subprocess.Popen(
        ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        until(lambda: listens(port), within=20)
        yield process
    finally:
        process.kill()
        process.wait()


def listens(port: int) -> bool:
    with socket.socket() as door:
        return door.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def workshop(folder: Path, *, redis: bool = True, **more: str) -> Iterator[Workshop]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LBP_", "PYTEST_", "REDIS_URL", "DATABASE_URL"))
    }
    port = free_port()
    environment = {
        **kept,
        "DJANGO_SETTINGS_MODULE": "config.settings.development",
        "DATABASE_URL": database_url(),
        "LBP_DATA_DIR": str(folder),
        "LBP_PANEL": "real",
        "LBP_DEMO": "0",
        "LBP_KEY_LOCAL": "sk-canary-key-7f3a9d",
        "LBP_CALL_DEADLINE_SECONDS": str(DEADLINE),
        "LBP_LEASE_MARGIN_SECONDS": str(MARGIN),
        "LBP_RECONCILE_SECONDS": str(ROUND),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        **({"REDIS_URL": f"redis://127.0.0.1:{port}/11"} if redis else {}),
        **more,
    }
    made = Workshop(folder, environment)
    if not redis:
        yield made
        return
    with redis_server(folder, port):
        yield made


@contextmanager
def scripted_server(made: Workshop, *arguments: str, module: str = "openai_server") -> Iterator[str]:
    """`host:port` of a model server in a process of its own; its ledger is `ledger.jsonl` in the folder."""
    port = free_port()
    made.environment["LBP_MODEL_HOSTS"] = f"127.0.0.1:{port}"
    process = made.start("server", "-m", f"tests.fakes.{module}", str(port), *arguments)
    try:
        until(lambda: listens(port), within=30)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def figures(host: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://{host}/figures", timeout=30) as answer:
        return dict(json.load(answer))


def ledger(made: Workshop) -> list[Mapping[str, Any]]:
    path = made.folder / "ledger.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def asked(made: Workshop) -> Counter[tuple[str, str]]:
    """How often each question reached the server, by model and the last line but none of the prompt."""
    return Counter((entry["body"]["model"], question_in(entry["body"])) for entry in ledger(made))


def question_in(body: Mapping[str, Any]) -> str:
    """The question of a challenge, which stands after the document and four newlines."""
    return str(body["messages"][-1]["content"]).rpartition("\n\n\n\n")[2]
