"""Has a file parsed in a process of its own, and puts what came of it into words."""

import json
import logging
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from documents.formats.answers import REMARKS, Answer, one_line
from documents.formats.progressing import heard
from documents.formats.wording import refusal

ROOT = Path(__file__).resolve().parents[2]
# -I: no environment, no current directory, no user's packages. The root comes last, so that it hides no library.
START = (
    "import sys; sys.path.append(sys.argv[1]); from documents.formats.child import main; sys.exit(main(sys.argv[2:]))"
)
MIB = 1024 * 1024
MAX_ANSWER = 160 * MIB
# After this share of its time a child that can stop by itself does, and says how far it came.
GOOD_ORDER = 0.8
# No return code of a process.
TOO_SLOW = 1000


@dataclass(frozen=True)
class Limits:
    """Of one child: bytes of memory, and seconds both of processor time and by the clock."""

    memory: int = 512 * MIB
    seconds: int = 60


LIMITS = Limits()
# Some builds of Python do not start without it; nothing else of our environment is any business of a parser.
NEEDED = ("LD_LIBRARY_PATH",)

log = logging.getLogger(__name__)


def read_apart(kind: str, data: bytes, *, limits: Limits | None = None) -> Answer:
    """`kind` is one of child.READERS. Raises RuleBroken; no fault of the file or its parser raises anything else."""
    limits = limits or LIMITS
    with tempfile.TemporaryFile() as source:
        source.write(data)
        source.seek(0)
        output, ended = _run(kind, source, limits)
    given = {"seconds": limits.seconds, "mib": limits.memory // MIB}
    if ended != 0:
        log.warning("reading a %s file of %s bytes ended with %s", kind, len(data), ended)
    if ended in (TOO_SLOW, -signal.SIGXCPU, -signal.SIGALRM):
        raise refusal(kind, "limit_time", given)
    if ended == -signal.SIGKILL:
        raise refusal(kind, "limit_memory", given)
    said, text = _understood(output)
    if said is None:
        raise refusal(kind, "damaged", {})
    if said.get("ok") is not True:
        details = said.get("details")
        raise refusal(kind, str(said.get("rule")), {**given, **(details if isinstance(details, dict) else {})})
    forms = said.get("forms")
    title = one_line(str(said.get("title", "")))
    return Answer(text, title, _checked(said.get("remarks")), forms if isinstance(forms, int) else 0)


def _understood(output: bytes) -> tuple[dict[str, Any] | None, str]:
    head, _newline, body = output.partition(b"\n")
    try:
        said = json.loads(head)
        return (said if isinstance(said, dict) else None), body.decode()
    except (ValueError, RecursionError):
        return None, ""


def _checked(remarks: Any) -> list[dict[str, Any]]:
    """Names and numbers only, whatever a parser that a file took over may say."""
    checked = []
    for remark in remarks if isinstance(remarks, list) else []:
        numbers = {name: remark.get(name) for name in ("count", "position", "page")}
        if remark.get("rule") in REMARKS:
            whole = {name: number for name, number in numbers.items() if isinstance(number, int)}
            checked.append({"rule": remark["rule"], "count": 0, **whole})
    return checked


def _run(kind: str, source: Any, limits: Limits) -> tuple[bytes, int]:
    """What the child wrote, and how it ended: its return code, or TOO_SLOW."""
    command = [sys.executable, "-I", "-X", "utf8", "-c", START, str(ROOT)]
    begun = time.monotonic()
    until = begun + limits.seconds
    child = subprocess.Popen(  # noqa: S603 (our own interpreter and words)
        [*command, kind, str(limits.memory), str(limits.seconds), str(begun + GOOD_ORDER * limits.seconds)],
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env={name: os.environ[name] for name in NEEDED if name in os.environ},
        start_new_session=True,
    )
    try:
        output = _listen(child, until)
        return output, child.wait(timeout=max(until - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        return b"", TOO_SLOW
    except OverflowError:
        return b"", 0
    finally:
        _end(child)


def _listen(child: subprocess.Popen[bytes], until: float) -> bytes:
    """All that the child writes until it closes its output; how far it is, is heard meanwhile. Raises TimeoutExpired,
    or OverflowError when it is more than MAX_ANSWER."""
    assert child.stdout is not None
    assert child.stderr is not None
    pieces: list[bytes] = []
    size, said = 0, b""
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        selector.register(child.stderr, selectors.EVENT_READ)
        while ready := selector.select(max(until - time.monotonic(), 0)):
            for key, _events in ready:
                piece = os.read(key.fd, MIB)
                if key.fileobj is child.stderr:
                    if not piece:
                        selector.unregister(child.stderr)
                    said = heard(said + piece)
                    continue
                if not piece:
                    return b"".join(pieces)
                pieces.append(piece)
                size += len(piece)
                if size > MAX_ANSWER:
                    raise OverflowError
    raise subprocess.TimeoutExpired(child.args, until)


def _end(child: subprocess.Popen[bytes]) -> None:
    """The child and all that it may have started are gone when this returns."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    child.stderr.close()
    child.wait()
