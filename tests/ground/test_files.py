"""The files that a fresh machine starts from."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


def entries(lock: Path) -> list[str]:
    text = lock.read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_locked_package_is_pinned_and_hashed(lock: Path) -> None:
    assert entries(lock)
    for entry in entries(lock):
        assert re.match(r"[A-Za-z0-9._-]+(\[[\w,-]+\])?==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_names_no_address(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert "index" not in re.sub(r"--hash=\S+", "", text)


def test_the_lock_for_developers_holds_the_lock_for_everybody() -> None:
    base = set(entries(ROOT / "requirements" / "base.txt"))
    assert base <= set(entries(ROOT / "requirements" / "dev.txt"))


def test_there_are_five_entry_points_and_no_more() -> None:
    lines = (ROOT / "Makefile").read_text().splitlines()
    targets = [match[1] for line in lines if (match := re.match(r"([a-z][\w-]*):(?!=)", line))]
    assert sorted(targets) == ["bench", "lint", "run", "setup", "test"]


@pytest.mark.parametrize("target", ["setup", "run", "test", "lint", "bench"])
def test_make_understands_every_entry_point(target: str) -> None:
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "config/setup.py" in done.stdout


def test_every_service_of_a_deployment_has_a_health_check() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert {"web", "worker", "postgres", "redis"} <= set(services)
    for name, service in services.items():
        assert service["healthcheck"]["test"], name


def test_a_deployment_opens_the_web_to_the_outside_and_nothing_else() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["web"]


def test_the_readme_names_every_setting() -> None:
    code = "".join(path.read_text() for path in (ROOT / "config").rglob("*.py"))
    read = set(re.findall(r'env(?:iron)?(?:\.\w+)?[(\[]\s*"([A-Z_]+)"', code)) - {"UV_DEFAULT_INDEX", "UV_INDEX_URL"}
    told = (ROOT / "README.md").read_text()
    assert len(read) > 20
    assert [name for name in sorted(read) if f"`{name}`" not in told] == []


def test_the_readme_names_every_command() -> None:
    told = (ROOT / "README.md").read_text()
    commands = [path.stem for path in ROOT.glob("[a-z]*/management/commands/[a-z]*.py")]
    assert "serve" in commands
    assert [name for name in commands if f"`{name}" not in told] == []
