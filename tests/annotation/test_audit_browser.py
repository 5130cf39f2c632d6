"""The audit as an expert has it before them: by keyboard alone, with every word kept, and the time they spend on it."""

import json
import time

import pytest
from playwright.sync_api import Browser, Page, Request, expect
from pytest_django.live_server_helper import LiveServer

from annotation import actions, claims
from annotation.models import ActiveTime, AuditRemark, Claim
from annotation.workflow import ClaimEnd, SampleState
from tests.annotation.scenes import sample_in_audit
from tests.browsing import signed_in

pytestmark = [pytest.mark.browser, pytest.mark.once, pytest.mark.django_db(transaction=True)]


def test_an_expert_returns_a_submission_by_keyboard_and_the_annotator_ticks_the_remark(
    browser: Browser, live_server: LiveServer
) -> None:
    sample, annotator, expert = sample_in_audit()
    claim = Claim.objects.get(ended_at=None)
    with signed_in(browser, live_server, expert) as context:
        page = context.new_page()
        page.goto(f"/samples/{sample.pk}/audit/")
        approve = page.get_by_role("button", name="Approve")
        expect(approve).to_be_focused()
        page.keyboard.press("?")
        expect(page.locator("#keys")).to_contain_text("return with remarks")
        page.keyboard.press("Escape")
        expect(approve).to_be_focused()
        page.keyboard.press("x")
        assert page.locator('[data-row="options"]').count() == 0  # the question has none
        page.keyboard.press("1")
        page.keyboard.type("Which year? y x 4")
        with page.expect_response(lambda answer: answer.url.endswith("/remarks")) as kept:
            page.keyboard.press("Control+Enter")
        assert kept.value.status == 200
        assert f'name="claim"\r\n\r\n{claim.pk}' in (kept.value.request.post_data or "")
        # The window dies; what was typed is there again.
        page.close(run_before_unload=False)
        page = context.new_page()
        page.goto(f"/samples/{sample.pk}/audit/")
        page.keyboard.press("x")
        expect(page.locator("#return textarea").first).to_have_value("Which year? y x 4")
        page.keyboard.press("4")
        page.keyboard.type("The Heron is missing.")
        page.keyboard.press("Control+Enter")
        page.locator('[data-row="answer"] select').select_option("2")
        page.locator("#return-h").click()
        page.wait_for_timeout(1200)  # a second of work, so that there is something to tell
        page.keyboard.press("x")
        page.wait_for_url(f"**/samples/{sample.pk}/?from=audit")
        expect(page.get_by_role("button", name="Next sample")).to_be_focused()
    sample.refresh_from_db()
    assert sample.state == SampleState.RETURNED
    assert list(AuditRemark.objects.values_list("part", "element", "text")) == [
        ("question", None, "Which year? y x 4"),
        ("answer", 2, "The Heron is missing."),
    ]
    assert [row.step for row in times_told()] == ["audit"]

    actions.claim_sample(sample=sample, by=annotator)
    with signed_in(browser, live_server, annotator) as context:
        page = context.new_page()
        page.goto(f"/samples/{sample.pk}/verify/")
        remark = page.locator(".remark", has_text="Which year?")
        remark.get_by_role("textbox").fill("It says 1891.")
        with page.expect_response(lambda answer: answer.url.endswith("/answer")):
            page.keyboard.press("Control+Enter")
        expect(remark.get_by_role("textbox")).to_have_value("It says 1891.")
        assert page.evaluate("document.activeElement !== document.body")
        with page.expect_response(lambda answer: answer.url.endswith("/answer")):
            page.keyboard.press(".")
        expect(remark).to_have_attribute("data-state", "pass")
        assert page.evaluate("document.activeElement !== document.body")
    assert AuditRemark.objects.get(part="question").dealt_by == annotator


def times_told() -> list[ActiveTime]:
    """What a page tells on leaving comes a moment after it."""
    until = time.monotonic() + 10
    while time.monotonic() < until and not ActiveTime.objects.exists():
        time.sleep(0.1)
    return list(ActiveTime.objects.all())


def pass_time(page: Page, milliseconds: int) -> None:
    page.clock.run_for(milliseconds)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(200)


def test_a_double_stroke_claims_an_audit_and_approves_nothing(browser: Browser, live_server: LiveServer) -> None:
    sample, _annotator, expert = sample_in_audit()
    claims.end_claim(sample, ClaimEnd.RELEASED, by=expert)
    with signed_in(browser, live_server, expert) as context:
        page = context.new_page()
        page.goto(f"/samples/{sample.pk}/audit/")
        page.keyboard.press("y")
        approve = page.get_by_role("button", name="Approve")
        approve.wait_for()
        # By the page's own clock, so that a slow machine does not make the stroke a late one.
        page.evaluate("performance.now = () => 300")
        page.keyboard.press("y")
        page.keyboard.press("Enter")
        sample.refresh_from_db()
        assert sample.state == SampleState.IN_AUDIT
        page.evaluate("performance.now = () => 1500")
        with page.expect_navigation():
            page.keyboard.press("y")
        sample.refresh_from_db()
        assert sample.state == SampleState.IN_STANDARDIZATION


def test_time_is_not_counted_while_nobody_acts_or_looks(browser: Browser, live_server: LiveServer) -> None:
    sample, _annotator, expert = sample_in_audit()
    with signed_in(browser, live_server, expert) as context:
        page = context.new_page()
        page.clock.install()
        sent: list[float] = []

        def keep(request: Request) -> None:
            if request.url.rstrip("/").endswith("/time"):
                sent.append(sum(json.loads(request.post_data or "{}")["seconds"].values()))

        page.on("request", keep)
        page.goto(f"/samples/{sample.pk}/audit/")
        page.mouse.move(300, 300)
        for _half_minute in range(8):  # four minutes in which nothing is done
            pass_time(page, 31_000)
        idle = sum(sent)
        assert 50 <= idle <= 70  # the minute in which somebody who reads may not have moved
        page.mouse.move(320, 320)
        for _half_minute in range(3):
            pass_time(page, 31_000)
        assert 50 <= sum(sent) - idle <= 70
