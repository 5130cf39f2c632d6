"""The whole product as a user meets it: `manage.py serve` in a folder of its own, and Debian's Chromium."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.browsing import PATIENCE_MS

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "longbench-demo"
READY_SECONDS = 180
_count = count(1)


class Product:
    """A running product: its address, its environment, and its commands."""

    def __init__(self, folder: Path, extra: dict[str, str]) -> None:
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings.development",
            "LBP_DATA_DIR": str(folder),
            "PORT": "0",
            "LBP_RECONCILE_SECONDS": "1",
            "PYTHONUNBUFFERED": "1",
            **extra,
        }
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve"],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._queue: Queue[str] = Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.address = self._await_address()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._queue.put(line)

    def _await_address(self) -> str:
        for _second in range(READY_SECONDS):
            try:
                line = self._queue.get(timeout=1)
            except Empty:
                assert self.process.poll() is None, "".join(self.lines)
                continue
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                return found.group()
        raise AssertionError("no address was printed:\n" + "".join(self.lines))

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise


@contextmanager
def _stores(folder: Path) -> Iterator[dict[str, str]]:
    """Where the product keeps its data: PostgreSQL and Redis of its own when the suite runs there, else the folder."""
    with _database(folder) as database, _redis() as broker:
        yield {"DATABASE_URL": database, "REDIS_URL": broker}


@contextmanager
def _database(folder: Path) -> Iterator[str]:
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        yield f"sqlite:///{folder / 'db.sqlite3'}"
        return
    import psycopg  # noqa: PLC0415 -- only where PostgreSQL is

    name = f"lbp_journey_{os.getpid()}_{next(_count)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def _redis() -> Iterator[str]:
    """A Redis database for each of the suite's processes, so that no worker takes another product's messages."""
    url = os.environ.get("REDIS_URL", "")
    if not url:
        yield ""
        return
    import redis  # noqa: PLC0415 -- only where Redis is

    number = 8 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 8
    own = urlunsplit(urlsplit(url)._replace(path=f"/{number}"))
    client = redis.Redis.from_url(own)
    client.flushdb()
    yield own
    client.flushdb()
    client.close()


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """One per module: a journey finds the demo as it is fresh, and its people in their own language."""
    folder = tmp_path_factory.mktemp("product")
    with _stores(folder) as stores:
        running = Product(folder, stores)
        yield running
        assert running.stop() == 0, "".join(running.lines)


SignIn = Callable[..., Page]


def is_complaint(line: ConsoleMessage) -> bool:
    """A refused form is answered with 400 by intent; Chromium notes that, and nothing is wrong."""
    return line.type == "error" and "status of 400" not in line.text


@pytest.fixture
def sign_in(browser: Browser, product: Product) -> Iterator[SignIn]:
    """`sign_in("expert1")`: a page in a browser context of its own. Console errors and broken policies fail."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def enter(name: str, **options: Any) -> Page:
        settings = {"viewport": {"width": 1366, "height": 768}, "locale": "en-GB", **options}
        context = browser.new_context(base_url=product.address, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda line: complaints.append(f"{name}: {line.text}") if is_complaint(line) else None)
        page.on("pageerror", lambda error: complaints.append(f"{name}: {error}"))
        page.goto("/account/login/")
        page.locator("[name=login]").fill(name)
        page.locator("[name=password]").fill(PASSWORD)
        page.locator("main form button[type=submit], main form button:not([type])").first.click()
        expect(page).not_to_have_url(re.compile("login"))
        return page

    yield enter
    for context in contexts:
        context.close()
    assert complaints == []
