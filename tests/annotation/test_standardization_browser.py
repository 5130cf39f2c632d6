"""The standardization page as somebody works on it: prompts follow the typing, repairs by key, saving by itself, two
tabs, a closed tab, a sample handed over. One browser, few pages."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotation import actions
from annotation.models import Sample
from annotation.workflow import SampleState
from tests.annotation.scenes import approved_sample
from tests.browsing import PATIENCE_MS, signed_in
from tests.factories import make_annotator, make_lead

pytestmark = [pytest.mark.browser, pytest.mark.once, pytest.mark.django_db(transaction=True)]


def begin(page: Page, sample: Sample) -> None:
    page.goto(f"/samples/{sample.pk}/standardize/")
    expect(page.locator("#sum")).to_have_text(re.compile("All checks hold"))


def part(page: Page, name: str) -> Any:
    return page.locator(f'[name="{name}"]')


def saved(page: Page, sample: Sample, **parts: str) -> None:
    """Wait until the server holds these parts, and the page says so. What the page alone says may be of the save
    before: the next one begins a moment after the typing."""
    wait_until(page, lambda: stored(sample, *parts) == parts)
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    expect(page.locator("#saved")).to_contain_text("Saved")


def wait_until(page: Page, holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_MS / 1000
    while not holds():
        assert time.monotonic() < until, page.locator("#saved").inner_text()
        page.wait_for_timeout(50)


def stored(sample: Sample, *names: str) -> dict[str, str]:
    draft = sample.standardizations.first()
    return {name: getattr(draft, name) for name in names} if draft else {}


def test_a_form_is_filled_mended_saved_and_completed_by_keys(browser: Browser, live_server: LiveServer) -> None:
    sample, annotator, _expert = approved_sample()
    with signed_in(browser, live_server, annotator) as context:
        page = context.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        begin(page, sample)
        heights = "[document.documentElement.scrollHeight, innerHeight]"
        assert page.evaluate(heights) == [768, 768]
        expect(page.locator("#first")).to_be_hidden()
        reader, work = (page.locator(one).bounding_box() for one in (".reader", ".std > .col"))
        assert reader is not None
        assert work is not None
        assert (round(reader["width"]), round(reader["x"] + reader["width"] + 1)) == (560, round(work["x"]))

        # Keys: a part is one key away, and letters typed there only type.
        page.keyboard.press("1")
        expect(part(page, "task_description")).to_be_focused()
        page.keyboard.press("End")
        page.keyboard.type(" Which paid，in 1 x 2 y?")
        thinking = page.locator("#prompt-thinking")
        expect(thinking).to_contain_text("Which paid，in 1 x 2 y? Think step by step.")
        expect(thinking.locator('mark[data-state="fail"]')).to_have_text("，")
        expect(page.locator("#prompt-nonthinking .differs").first).to_contain_text("Output")
        expect(part(page, "task_description")).to_be_focused()
        description = part(page, "task_description").input_value()
        assert description.endswith("Which paid，in 1 x 2 y?")
        saved(page, sample, task_description=description)
        expect(page.locator("[data-complete]")).to_have_attribute("aria-disabled", "true")

        # The finding stands at its field; j goes to it and Enter mends it.
        expect(page.locator("#at-task_description")).to_contain_text("Full-width")
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(part(page, "task_description")).to_be_focused()
        expect(part(page, "task_description")).to_have_value(re.compile(r"Which paid, in 1 x 2 y\?$"))
        expect(page.locator("#sum")).to_have_text("All checks hold.")

        # The answer is no example; the made-up one is put in by a click.
        part(page, "example").fill("💩 Heron\nHeron")
        expect(page.locator("#at-example")).to_contain_text("is element 2 of the answer")
        page.locator("#at-example button").first.click()
        expect(page.locator("#sum")).to_have_text("All checks hold.")
        expect(part(page, "example")).not_to_have_value(re.compile("Heron"))

        # The sheet names the keys; the versions tell what changed.
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.locator("#keys")).to_contain_text("next, previous finding")
        page.keyboard.press("Escape")
        page.keyboard.press("v")
        expect(page.locator("#versions-listed")).to_contain_text("Standardization 1")
        page.keyboard.press("Escape")
        page.keyboard.press("a")
        expect(page.locator("#answer")).to_contain_text("each word begins with a capital letter")
        expect(page.locator("#answer")).to_contain_text("1.0 to the non-thinking and 1.0 to the thinking prompt")
        page.keyboard.press("Escape")

        # Completing takes along what was typed last, before it saved itself.
        part(page, "supplementary").fill("Only ships of the log count.")
        expect(page.locator("#prompt-thinking")).to_contain_text("Only ships of the log count.")
        page.locator("[data-complete]").click()
        expect(page).not_to_have_url(re.compile("standardize"))
        sample.refresh_from_db()
        assert sample.state == SampleState.AWAITING_PREDICTIONS
        done = sample.standardizations.get()
        assert done.supplementary == "Only ships of the log count."
        assert page.evaluate("Object.keys(localStorage).filter(name => name.startsWith('lbp:draft'))") == []
        assert faults == []


def test_an_answer_to_an_older_text_never_overwrites_a_newer_one(browser: Browser, live_server: LiveServer) -> None:
    sample, annotator, _expert = approved_sample()
    with signed_in(browser, live_server, annotator) as context:
        page = context.new_page()
        begin(page, sample)
        held: list[Route] = []

        def hold_the_first(route: Route) -> None:
            if held:
                route.continue_()
            else:
                held.append(route)

        page.route("**/standardize/preview", hold_the_first)
        part(page, "elements").fill("the first wording")
        wait_until(page, lambda: bool(held))
        part(page, "elements").fill("the second wording")
        expect(page.locator("#prompt-nonthinking")).to_contain_text("the second wording")
        held[0].continue_()
        page.wait_for_timeout(400)
        expect(page.locator("#prompt-nonthinking")).to_contain_text("the second wording")


def test_two_tabs_a_killed_tab_and_a_sample_handed_over_lose_no_text(browser: Browser, live_server: LiveServer) -> None:
    """T-14, T-15 and T-16 of the reports of users, and I-04."""
    sample, annotator, _expert = approved_sample()
    with signed_in(browser, live_server, annotator) as context:
        first, second = context.new_page(), context.new_page()
        begin(first, sample)
        begin(second, sample)
        part(first, "elements").fill("what the first tab says")
        saved(first, sample, elements="what the first tab says")

        # The second tab is told, sees both texts, and nothing is overwritten until somebody chooses.
        part(second, "elements").fill("what the second tab says")
        conflict = second.locator("#conflict")
        expect(conflict).to_contain_text("Nothing is overwritten")
        expect(conflict.locator("del")).to_contain_text("first")
        expect(conflict.locator("ins")).to_contain_text("second")
        assert sample.standardizations.get().elements == "what the first tab says"
        expect(part(second, "elements")).to_have_value("what the second tab says")
        assert second.evaluate("[scrollX, document.body.scrollLeft]") == [0, 0]
        conflict.get_by_role("button", name="Save my text over it").click()
        saved(second, sample, elements="what the second tab says")

        # The first tab, which is behind now, takes the saved draft.
        part(first, "elements").fill("what the first tab says now")
        first.locator("#conflict").get_by_role("button", name="Take the saved draft").click()
        expect(part(first, "elements")).to_have_value("what the second tab says")
        assert sample.standardizations.get().elements == "what the second tab says"
        first.close()

        # The line is cut and the tab killed: the text is offered again.
        context.set_offline(True)
        part(second, "supplementary").fill("x" * 300)
        expect(second.locator("#saved")).to_have_attribute("data-state", "failed")
        second.close(run_before_unload=False)
        context.set_offline(False)
        again = context.new_page()
        again.goto(f"/samples/{sample.pk}/standardize/")
        # Unless the dying tab got it through after all, which the browser's line being cut does not always prevent.
        if sample.standardizations.get().supplementary != "x" * 300:
            again.get_by_role("button", name="Put it back").click()
        expect(part(again, "supplementary")).to_have_value("x" * 300)
        saved(again, sample, supplementary="x" * 300)

        # Handed to somebody else meanwhile: refused with words, the text stays on the page and in the browser.
        actions.take_over_sample(sample=sample, holder=make_annotator(), reason="On leave.", by=make_lead())
        part(again, "supplementary").fill("typed too late")
        expect(again.locator("#saved")).to_contain_text("Not saved, kept in this browser")
        expect(again.locator("#refusal")).to_contain_text("standardized by its annotator")
        expect(part(again, "supplementary")).to_have_value("typed too late")
        kept = again.evaluate("JSON.stringify(localStorage)")
        assert "typed too late" in kept
