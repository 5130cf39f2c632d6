"""A page that renews itself in a real browser: focus, marked text, ticks, open details and scrolling stay."""

import re
import shutil

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from generation.models import Call, Run
from generation.workflow import CallState, Purpose, RunState
from tests.factories import make_call, make_lead, make_model, make_run, make_version

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MARK = """() => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector('#now-h'));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


def test_a_page_that_renews_itself_leaves_the_reader_where_they_are(
    live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    model, client = make_model("Heron"), Client()
    runs = [
        make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2", state=RunState.RUNNING)
        for _number in range(30)
    ]
    for run in runs:
        make_call(run, model, state=CallState.QUEUED)
    client.force_login(make_lead())
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = browser.new_context(base_url=live_server.url, viewport={"width": 1366, "height": 768})
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto("/runs/")
        box = page.locator(f'input[name="ids"][value="{runs[10].pk}"]')
        box.check()
        box.focus()
        page.locator("#id_purpose").select_option("challenge")
        box.focus()
        page.evaluate("scrollTo(0, 300)")
        page.evaluate(MARK)
        # Meanwhile a new run begins above, the first ends below, and a call fails.
        fresh = make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2", state=RunState.RUNNING)
        Run.objects.filter(pk=runs[0].pk).update(state=RunState.FINISHED)
        Call.objects.filter(runs=runs[0]).update(state=CallState.FAILED, error_class="context")
        expect(page.locator(f"#run-{fresh.pk}")).to_be_attached(timeout=10_000)
        expect(page.locator(".tally")).to_contain_text(re.compile(r"1\s+failed"))
        assert page.evaluate("document.activeElement.value") == str(runs[10].pk)
        assert page.evaluate("getSelection().toString()") == "Calls now"
        assert page.evaluate("scrollY") >= 300
        assert page.locator("tbody input:checked").evaluate_all("all => all.map(box => box.value)") == [
            str(runs[10].pk)
        ]
        assert page.locator("#id_purpose").input_value() == "challenge"
        expect(page.locator("[data-chosen]")).to_have_text("1 chosen")
        expect(page.locator("button[data-needs]")).to_be_enabled()
        # When nothing is under way any more, the asking ends.
        Run.objects.update(state=RunState.FINISHED)
        Call.objects.update(state=CallState.SUCCEEDED)
        expect(page.locator("[hx-trigger='every 3s']")).to_have_count(0, timeout=10_000)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.wait_for_timeout(3500)
        assert (asked, errors) == ([], [])
        browser.close()
