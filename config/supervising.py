"""Child processes that live and die together: what `manage.py serve` starts, it ends, whatever happens."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType

STEP_SECONDS = 0.1
# A worker finishes the calls it has begun; one that takes longer is cut off, and its calls are told as unknown.
STOP_SECONDS = 30.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1


class Crashed(Exception):
    """A child ended that should not have."""


@dataclass(frozen=True)
class Child:
    name: str
    process: subprocess.Popen[bytes]

    def crash(self) -> str:
        """How it ended, in words; empty while it runs."""
        code = self.process.poll()
        if code is None:
            return ""
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"The {self.name} process {how}."


class Supervisor:
    """Used as a context: leaving it, for any reason, ends every child and what they started."""

    def __init__(self) -> None:
        self.children: list[Child] = []
        self.asked = 0
        self._before: dict[int, object] = {}

    def __enter__(self) -> "Supervisor":
        for number in SIGNALS:
            self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # as signal.signal returned it

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked += 1

    @property
    def is_asked_to_stop(self) -> bool:
        return self.asked > 0

    def start(self, name: str, command: Sequence[str], *, pass_fds: Sequence[int] = ()) -> Child:
        """In a session of its own: Ctrl-C reaches the supervisor alone, which then ends its children in good order."""
        process = subprocess.Popen(  # noqa: S603 -- our own commands
            command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=pass_fds,
            preexec_fn=_death_with_the_parent(),
        )
        child = Child(name, process)
        self.children.append(child)
        return child

    def watch(self, until: Callable[[], bool], *, within: float | None = None) -> bool:
        """True when `until` holds, False when asked to stop or the time is over. Raises Crashed for a lost child."""
        end = None if within is None else time.monotonic() + within
        while not self.is_asked_to_stop and (end is None or time.monotonic() < end):
            for child in self.children:
                if child.crash():
                    raise Crashed(child.crash())
            if until():
                return True
            time.sleep(STEP_SECONDS)
        return False

    def stop(self) -> None:
        """Ask each child to end, wait, then end by force whatever is left in their sessions."""
        asked_before = self.asked
        for child in self.children:
            if not child.crash():
                child.process.terminate()
        end = time.monotonic() + STOP_SECONDS
        while any(not child.crash() for child in self.children):
            # asking a second time means: now
            if time.monotonic() > end or self.asked > max(asked_before, 1):
                break
            time.sleep(STEP_SECONDS)
        for child in self.children:
            _end_session(child.process.pid)
            child.process.wait()
        self.children.clear()


def _end_session(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # nothing is left of it (macOS answers the second way)


def _death_with_the_parent() -> Callable[[], None] | None:
    """On Linux the kernel tells a child that its parent was killed; elsewhere there is no such thing."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def ask_the_kernel() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return ask_the_kernel
