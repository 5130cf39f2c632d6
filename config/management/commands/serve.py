import fcntl
import os
import socket
import sys
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections

from config.preparing import call_if_there, prepare
from config.supervising import Crashed, Supervisor

HOST = "127.0.0.1"
READY_SECONDS = 60.0


class Command(BaseCommand):
    help = "Run the whole product on this machine: web and worker as children of this process. Ctrl-C ends all."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with Supervisor() as supervisor, _sole_use_of(settings.DATA_DIR), _listening(_port()) as door:
                self.run(supervisor, door)
        except Crashed as crash:
            raise CommandError(f"{crash} Everything was stopped; the reason stands above.") from crash
        except DatabaseError as error:
            reason = str(error).strip().partition("\n")[0]
            raise CommandError(f"The database does not answer as it should: {reason}") from error
        self.stdout.write("Stopped.")

    def run(self, supervisor: Supervisor, door: socket.socket) -> None:
        prepare()
        log_ins = call_if_there("leading.demo", "ensure_demo") if settings.LBP_DEMO else None
        connections.close_all()
        if supervisor.is_asked_to_stop:
            return
        port = door.getsockname()[1]
        supervisor.start("web", web_command(door.fileno()), pass_fds=[door.fileno()])
        supervisor.start("worker", worker_command())
        supervisor.start("clock", clock_command())
        door.close()
        if not supervisor.watch(lambda: _is_healthy(port), within=READY_SECONDS):
            if supervisor.is_asked_to_stop:
                return
            raise CommandError(f"The web process did not answer within {READY_SECONDS:.0f} s. Everything was stopped.")
        self.announce(port, log_ins or ())
        supervisor.watch(lambda: False)
        self.stdout.write("\nStopping web and worker; Ctrl-C once more does not wait for their work ...")
        self.stdout.flush()

    def announce(self, port: int, log_ins: Any) -> None:
        self.stdout.write(f"\nLongBench Pro workbench: http://{HOST}:{port}")
        for line in [log_ins] if isinstance(log_ins, str) else log_ins:
            self.stdout.write(f"  {line}")
        self.stdout.write("Ctrl-C stops it. The data stays.\n")
        self.stdout.flush()


def web_command(door: int) -> list[str]:
    return [
        *(sys.executable, "-m", "gunicorn", "config.wsgi:application"),
        *("--bind", f"fd://{door}", "--worker-class", "gthread", "--threads", "8"),
        *("--workers", os.environ.get("WEB_CONCURRENCY", "2"), "--preload"),
        *("--timeout", "120", "--graceful-timeout", "10", "--log-level", "warning"),
        # gunicorn would put a socket for its own control into the home folder
        "--no-control-socket",
    ]


def clock_command() -> list[str]:
    """Celery's beat, as a child of its own: inside the worker it would be a process whose death nobody notices, and
    with it would end the reconciler, which takes up what a lost message or a dead worker left."""
    return [*(sys.executable, "-m", "celery", "--app", "config", "--quiet", "beat"), *("--loglevel", "WARNING")]


def worker_command() -> list[str]:
    return [
        *(sys.executable, "-m", "celery", "--app", "config", "--quiet", "worker"),
        *("--pool", "threads", "--concurrency", os.environ.get("LBP_WORKER_THREADS", "8")),
        *("--without-gossip", "--without-mingle", "--loglevel", "WARNING"),
    ]


def _port() -> int:
    text = os.environ.get("PORT", "") or "8000"
    if not text.isdecimal() or int(text) > 65535:
        raise CommandError(f"PORT must be a number from 1 to 65535, or 0 for a free one; it is {text!r}.")
    return int(text)


def _listening(port: int) -> socket.socket:
    """Opened here and handed to the web process, so that a taken port is told at once and in words."""
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((HOST, port))
        door.listen()
    except OSError as error:
        door.close()
        raise CommandError(
            f"Port {port} cannot be used ({error.strerror}). Stop what runs there, or choose another: "
            f"PORT={port + 1 if port < 65535 else 8000} make run"
        ) from error
    return door


def _sole_use_of(folder: Path) -> IO[str]:
    """One `serve` per data folder: two clocks and two workers on one embedded queue help nobody."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = (folder / "serve.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise CommandError(
            "It runs already, on the same data. Stop it first, or give this one a folder of its own: LBP_DATA_DIR=..."
        ) from error
    return lock


def _is_healthy(port: int) -> bool:
    connection = HTTPConnection(HOST, port, timeout=2)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
