"""`make run`: what it starts, it ends."""

import os
import signal
import socket
import sys
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.ground.running import Serving, manage, serving, wait_until_none_is_left

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
    pytest.mark.xdist_group("serving"),
]

ADDRESS = "http://127.0.0.1:"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One data folder for all: made once, as by `make setup`."""
    made = tmp_path_factory.mktemp("data")
    done = manage(made, "prepare")
    assert done.returncode == 0, done.stderr
    return made


def status(running: Serving, path: str) -> int:
    port = int(running.wait_for(ADDRESS).rpartition(":")[2])
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path)
    return connection.getresponse().status


def test_it_answers_and_ctrl_c_ends_everything_it_started(folder: Path) -> None:
    with serving(folder) as running:
        assert status(running, "/healthz") == 200
        family = running.family()
        commands = " ".join(family.values())
        assert "gunicorn" in commands
        assert "celery" in commands
        code, output = running.end(signal.SIGINT)
    assert code == 0, output
    assert "Stopped." in output
    assert not wait_until_none_is_left(family)


@pytest.mark.parametrize(
    ("name", "word"), [pytest.param("worker", " worker ", marks=pytest.mark.bench), ("clock", " beat ")]
)
def test_a_child_that_is_killed_ends_everything_with_a_message(folder: Path, name: str, word: str) -> None:
    with serving(folder) as running:
        running.wait_for(ADDRESS)
        family = running.family()
        os.kill(min(pid for pid, command in family.items() if word in command), signal.SIGKILL)
        code, output = running.ended()
    assert code == 1
    assert f"The {name} process was killed by signal 9." in output
    assert not wait_until_none_is_left(family)


@pytest.mark.bench
def test_children_do_not_outlive_a_killed_supervisor(folder: Path) -> None:
    with serving(folder) as running:
        running.wait_for(ADDRESS)
        family = running.family()
        assert family
        running.end(signal.SIGKILL)
    assert not wait_until_none_is_left(family)


def test_a_taken_port_is_told_in_words(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = manage(folder, "serve", PORT=str(port))
    assert done.returncode == 1
    assert f"Port {port} cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_no_number_is_told_in_words(folder: Path) -> None:
    done = manage(folder, "serve", PORT="web")
    assert done.returncode == 1
    assert "PORT must be a number" in done.stderr


def test_a_second_one_on_the_same_data_is_refused(folder: Path) -> None:
    with serving(folder) as running:
        running.wait_for(ADDRESS)
        done = manage(folder, "serve", PORT="0")
        assert done.returncode == 1
        assert "It runs already" in done.stderr
        code, _ = running.end(signal.SIGTERM)
    assert code == 0
