"""The report of a batch in a real browser: whatever a file is called, the page keeps its width."""

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from documents import actions, batches
from tests.browsing import signed_in
from tests.documents.test_batches import sent
from tests.factories import make_lead

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]


def test_a_long_name_in_a_reason_does_not_push_the_names_together(browser: Browser, live_server: LiveServer) -> None:
    lead = make_lead()
    batch = actions.start_batch(files=sent(**{"n" * 240: b"The log.", "short_name__txt": b"The log."}), by=lead)
    batches.work_off()
    with signed_in(browser, live_server, lead) as context:
        page = context.new_page()
        page.goto(f"/documents/batches/{batch.pk}/?outcome=refused")
        assert page.evaluate("document.documentElement.scrollWidth") == 1366
        cell = page.locator(".reports__path").bounding_box()
        assert cell is not None
        assert cell["width"] > 120


def test_a_lost_connection_is_said_in_the_bar_and_goes_when_an_answer_comes(
    browser: Browser, live_server: LiveServer
) -> None:
    """The page asks by itself: nothing was typed, nothing is covered, and it recovers without a reload."""
    lead = make_lead()
    batch = actions.start_batch(files=sent(a__txt=b"The log."), by=lead)
    with signed_in(browser, live_server, lead) as context:
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
