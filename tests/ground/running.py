"""Commands of the product, run as a person would: in processes of their own, on a data folder of their own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0


def environment(folder: Path, **more: str) -> dict[str, str]:
    """A bare machine's: no database, no Redis, no keys, whatever this machine has."""
    plain = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "PORT", "SECRET_KEY", "ALLOWED_HOSTS"}
        and not name.startswith(("LBP_", "PYTEST_"))
    }
    return {**plain, "LBP_DATA_DIR": str(folder), **more}


def manage(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(folder, **more),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@dataclass
class Serving:
    """A `manage.py serve` that runs. `output` is what it has said so far."""

    process: subprocess.Popen[str]
    output: list[str] = field(default_factory=list)
    lines: Queue[str] = field(default_factory=Queue)

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output.append(line)
            self.lines.put(line)

    def wait_for(self, words: str) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                line = self.lines.get(timeout=0.2)
            except Empty:
                assert self.process.poll() is None, "".join(self.output)
                continue
            if words in line:
                return line.strip()
        raise AssertionError(f"{words!r} was not said:\n{''.join(self.output)}")

    def end(self, number: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        code = self.process.wait(timeout=PATIENCE)
        time.sleep(0.1)
        return code, "".join(self.output)

    def family(self) -> dict[int, str]:
        """Every process that stems from this one, with its command line."""
        return descendants(self.process.pid)


@contextmanager
def serving(folder: Path, **more: str) -> Iterator[Serving]:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env=environment(folder, **{"PORT": "0", "PYTHONUNBUFFERED": "1", **more}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    running = Serving(process)
    Thread(target=running.read, daemon=True).start()
    try:
        yield running
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=PATIENCE)


def descendants(pid: int) -> dict[int, str]:
    parents: dict[int, list[int]] = {}
    commands: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                stat = (folder / "stat").read_text()
                commands[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(folder.name))
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        for child in parents.get(waiting.pop(), []):
            found[child] = commands[child]
            waiting.append(child)
    return found


def alive(pids: dict[int, str]) -> dict[int, str]:
    """Those that still run (a zombie does not)."""
    left = {}
    for pid, command in pids.items():
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":
            left[pid] = command
    return left


def wait_until_none_is_left(pids: dict[int, str], *, within: float = 60.0) -> dict[int, str]:
    end = time.monotonic() + within
    while alive(pids) and time.monotonic() < end:
        time.sleep(0.1)
    return alive(pids)
