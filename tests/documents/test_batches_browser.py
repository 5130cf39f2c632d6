"""The report of a batch in a real browser: whatever a file is called, the page keeps its width."""

import shutil

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from documents import actions, batches
from tests.documents.test_batches import sent
from tests.factories import make_lead

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]


def test_a_long_name_in_a_reason_does_not_push_the_names_together(
    live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    lead = make_lead()
    batch = actions.start_batch(files=sent(**{"n" * 240: b"The log.", "short_name__txt": b"The log."}), by=lead)
    batches.work_off()
    client = Client()
    client.force_login(lead)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(base_url=live_server.url, viewport={"width": 1366, "height": 768})
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        page = context.new_page()
        page.goto(f"/documents/batches/{batch.pk}/?outcome=refused")
        assert page.evaluate("document.documentElement.scrollWidth") == 1366
        cell = page.locator(".reports__path").bounding_box()
        assert cell is not None
        assert cell["width"] > 120
        browser.close()


def test_a_lost_connection_is_said_in_the_bar_and_goes_when_an_answer_comes(
    live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page asks by itself: nothing was typed, nothing is covered, and it recovers without a reload."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    lead = make_lead()
    batch = actions.start_batch(files=sent(a__txt=b"The log."), by=lead)
    client = Client()
    client.force_login(lead)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(base_url=live_server.url, viewport={"width": 1366, "height": 768})
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        page = context.new_page()
        page.goto(f"/documents/batches/{batch.pk}/")
        lost = page.locator(".top #lost")
        address = f"**/documents/batches/{batch.pk}/"
        for gone in (lambda route: route.abort(), lambda route: route.fulfill(status=502, body="")):
            page.route(address, gone)
            expect(lost).to_have_text("Connection lost; trying again")
            assert page.locator("#refusal").inner_text() == ""
            page.unroute(address)
            expect(lost).to_have_count(0)
        batches.work_off()
        expect(page.locator("#batch [role=status]").first).to_have_text("finished")
        browser.close()
