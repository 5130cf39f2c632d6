"""Debian's Chromium before a live server: how it starts, who is signed in, when nothing is on its way any more."""

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from core.models import User

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
QUIET_SECONDS = 10.0
# A busy machine is no fault of the product: how fast a page is, the bench measures.
PATIENCE_MS = 20_000
expect.set_options(timeout=PATIENCE_MS)


@contextmanager
def chromium() -> Iterator[Browser]:
    """One for each module: Playwright's loop runs in this thread, so Django takes every query for one inside it."""
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def signed_in(browser: Browser, server: LiveServer, person: User, **options: Any) -> Iterator[BrowserContext]:
    """A browser context of this person."""
    client = Client()
    client.force_login(person)
    given = {"locale": "en-US", "viewport": {"width": 1366, "height": 768}, **options}
    context = browser.new_context(base_url=server.url, **given)
    value = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": server.url}])
    context.set_default_timeout(PATIENCE_MS)
    yield context
    for page in context.pages:
        page.goto("about:blank")  # what is sent on leaving leaves now
    context.close()


class Requests:
    """The requests that the live server's threads are at work on. Emptying the tables must wait for them: on
    PostgreSQL the two would lock each other out."""

    def __init__(self) -> None:
        self._threads: set[int] = set()
        request_started.connect(self._begin)
        request_finished.connect(self._end)

    def _begin(self, **_more: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            self._threads.add(threading.get_ident())

    def _end(self, **_more: Any) -> None:
        self._threads.discard(threading.get_ident())

    def wait(self) -> None:
        """Until none is left; a request that never ends is a fault of its own and is not waited for."""
        until = time.monotonic() + QUIET_SECONDS
        while self._threads and time.monotonic() < until:
            time.sleep(0.01)
        self._threads.clear()
