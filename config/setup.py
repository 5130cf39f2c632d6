"""Makes `.venv` and installs the locked dependencies. Runs before anything is installed: standard library only.

    python3 config/setup.py [--dev]

Every lock is hash-checked. A stamp with the lock's own hash lies in `.venv`, so that the next start skips all this.
`uv` is used when it can be had, for speed; plain pip does the same. A `.venv` that is a link is a developer's own and
is left as it is.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCKS = ROOT / "requirements"
OLDEST = (3, 11)
NEWER = ("python3.14", "python3.13", "python3.12", "python3.11")


def main() -> int:
    if sys.version_info < OLDEST:
        return use_a_newer_python()
    if VENV.is_symlink():
        return 0 if PYTHON.exists() else fail(".venv is a link to nothing. Remove it and start again.")
    lock = LOCKS / ("dev.txt" if "--dev" in sys.argv[1:] else "base.txt")
    if PYTHON.exists() and is_stamped(lock):
        return 0
    if not PYTHON.exists() and not make_environment():
        return fail(
            "Python could not make a virtual environment. On Debian and Ubuntu its module comes as a package of its "
            "own: apt-get install python3-venv"
        )
    say(f"Installing the dependencies ({lock.name}); this happens once ...")
    if not install(lock):
        return fail(
            "The dependencies could not be installed; the reason is above. This needs a Python package index within "
            "reach, once. Nothing else was changed: start again when it is there."
        )
    stamp(lock)
    return 0


def use_a_newer_python() -> int:
    """`python3` is too old on some machines that have a newer one beside it."""
    for name in NEWER:
        path = shutil.which(name)
        if path:
            return subprocess.call([path, *sys.argv])  # noqa: S603 -- a Python of this machine
    found = ".".join(str(part) for part in sys.version_info[:2])
    return fail(f"Python 3.11 or newer is needed, this is {found}. With another one: make run PYTHON=/path/to/python3")


def make_environment() -> bool:
    """A fresh `.venv`; what is left of a broken one goes first."""
    say("Making the virtual environment .venv ...")
    if VENV.exists():
        shutil.rmtree(VENV)
    if done([sys.executable, "-m", "venv", str(VENV)], quiet=True):
        return True
    uv = shutil.which("uv")
    return bool(uv) and done([str(uv), "venv", "--clear", "--seed", "--python", sys.executable, str(VENV)])


def install(lock: Path) -> bool:
    """By uv if it is there or can be had, else by pip. The hashes are required either way."""
    uv = shutil.which("uv") or uv_of_the_environment()
    if uv and done([uv, "pip", "install", "--python", str(PYTHON), "--quiet", *hashed(lock)], more=index_of_pip()):
        return True
    if uv:
        say("uv did not succeed; trying pip ...")
    return done([*pip(), "install", "--quiet", *hashed(lock)])


def uv_of_the_environment() -> str:
    uv = VENV / "bin" / "uv"
    if not uv.exists():
        done([*pip(), "install", "--quiet", *hashed(LOCKS / "uv.txt")], quiet=True)
    return str(uv) if uv.exists() else ""


def index_of_pip() -> dict[str, str]:
    """uv does not read pip's configuration: a machine whose packages come from a mirror says so there."""
    if os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("UV_INDEX_URL"):
        return {}
    asked = subprocess.run([*pip(), "config", "list"], capture_output=True, text=True, check=False)  # noqa: S603
    for line in asked.stdout.splitlines():
        name, _, value = line.partition("=")
        if name in {"global.index-url", "user.index-url", ":env:.index-url"}:
            return {"UV_DEFAULT_INDEX": value.strip("'\"")}
    return {}


def hashed(lock: Path) -> list[str]:
    return ["--require-hashes", "-r", str(lock)]


def pip() -> list[str]:
    return [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input"]


def done(command: list[str], *, quiet: bool = False, more: dict[str, str] | None = None) -> bool:
    """Run a command; True when it succeeded. `quiet` keeps its words to itself: there is another way to try."""
    into = subprocess.DEVNULL if quiet else None
    try:
        code = subprocess.call(command, stdout=into, stderr=into, env={**os.environ, **(more or {})})  # noqa: S603
    except OSError:
        return False
    return code == 0


def stamp_of(lock: Path) -> Path:
    return VENV / f"installed-{lock.stem}"


def mark_of(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


def is_stamped(lock: Path) -> bool:
    path = stamp_of(lock)
    return path.exists() and path.read_text() == mark_of(lock)


def stamp(lock: Path) -> None:
    """The dev lock holds every line of the base lock, so that it stands for both."""
    for name in {lock.name, "base.txt"}:
        stamp_of(LOCKS / name).write_text(mark_of(LOCKS / name))


def say(words: str) -> None:
    print(words, flush=True)  # noqa: T201 -- a command line's voice


def fail(words: str) -> int:
    print(words, file=sys.stderr, flush=True)  # noqa: T201
    return 1


if __name__ == "__main__":
    sys.exit(main())
