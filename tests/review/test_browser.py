"""Reviewing and deciding by keyboard alone, in a real browser; and words that are not lost."""

import re
import time
from collections.abc import Iterator

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from core.models import User
from review import actions
from review.models import AnswerReview, ReviewCase
from review.workflow import CaseState, ReviewState
from tests.browsing import PATIENCE_MS, signed_in
from tests.factories import make_annotator, make_case, make_expert
from tests.review.words import save, submit

pytestmark = [pytest.mark.browser, pytest.mark.once, pytest.mark.django_db(transaction=True)]

FITS = "(({scrollHeight: h, scrollWidth: w}) => h <= innerHeight && w <= innerWidth)(document.documentElement)"

FOCUSED = "document.activeElement !== document.body && document.querySelector('main').contains(document.activeElement)"
# What the sheet lists of the page's own keys, without those of reading and of every page.
KEYS = "[...document.querySelectorAll('#keys section:first-child kbd')].map(key => key.textContent).sort().join(' ')"
LISTED = {"begin": "y", "review": "1 2 3 a c f h i j k m u u w y", "take": "y", "judge": "1 2 3 4 c f h i j k m u w y"}


@pytest.fixture
def faults() -> Iterator[list[str]]:
    seen: list[str] = []
    yield seen
    assert seen == []


def opened(browser: Browser, server: LiveServer, person: User, faults: list[str]) -> Iterator[Page]:
    with signed_in(browser, server, person) as context:
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if "Content Security Policy" in line.text else None)
        yield page


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def settled(page: Page) -> None:
    """Until what was typed of a decision is saved. The page's policy forbids what would wait inside it."""
    until = time.monotonic() + PATIENCE_MS / 1000
    while page.evaluate("document.querySelector('#decide').autosaving.pending()"):
        assert time.monotonic() < until
        page.wait_for_timeout(50)


def saved(page: Page) -> None:
    expect(page.locator("[data-save-for=review]")).to_have_attribute("data-state", "saved")
    page.wait_for_timeout(900)
    expect(page.locator("[data-save-for=review]")).to_have_attribute("data-state", "saved")


def test_a_review_is_written_by_keyboard_saved_by_itself_and_frozen(
    browser: Browser, live_server: LiveServer, faults: list[str]
) -> None:
    case, person = make_case(), make_annotator()
    for page in opened(browser, live_server, person, faults):
        page.goto(f"/cases/{case.pk}/review/")
        assert page.evaluate(FOCUSED)
        assert page.evaluate(KEYS) == LISTED["begin"]
        press(page, "y")
        expect(page.locator("#review")).to_be_visible()
        assert page.evaluate(FITS)
        assert page.evaluate(FOCUSED)
        assert page.evaluate(KEYS) == LISTED["review"]
        press(page, "f")
        expect(page.locator("[data-reader-hits]")).to_have_text("1/1")
        press(page, "c i w")
        page.keyboard.type("c i u 1 2 j: only words")
        press(page, "Escape u m k k")
        press(page, "2")
        page.keyboard.type("It may be read in two ways.")
        press(page, "Escape a")
        page.keyboard.type("Petrel")
        press(page, "Enter Escape")
        expect(page.locator("[data-progress]")).to_contain_text("4 of 4 judged")
        expect(page.locator("[data-submit]")).to_contain_text("Submit with an issue")
        saved(page)
        press(page, "?")
        expect(page.locator("#keys")).to_be_visible()
        press(page, "Escape y")
        expect(page.locator("#toasts")).to_contain_text("frozen")
    review = AnswerReview.objects.get(case=case)
    assert review.state == ReviewState.SUBMITTED
    assert [row["mark"] for row in review.marks] == ["correct", "incorrect", "unsure"]
    assert "c i u 1 2 j: only words" in [row["note"] for row in review.marks]
    assert [row["mark"] for row in review.recall] == ["missing"]
    assert review.additions == ["Petrel"]
    assert review.issues == [{"kind": "question", "note": "It may be read in two ways."}]


def test_words_survive_a_second_window_and_a_lapsed_session(
    browser: Browser, live_server: LiveServer, faults: list[str]
) -> None:
    case, person = make_case(), make_annotator()
    review = actions.take_seat(case=case, by=person)
    for page in opened(browser, live_server, person, faults):
        page.goto(f"/cases/{case.pk}/review/")
        save(review, additions=["Albatross"])
        page.locator("[name=issue-answer]").fill("Typed in the first window.")
        page.get_by_role("button", name="Show both texts").click()
        expect(page.locator(".stored")).to_contain_text("Albatross")
        expect(page.locator("[name=issue-answer]")).to_have_value("Typed in the first window.")

        page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
        page.locator("[name=issue-answer]").fill("Typed after the session ended.")
        expect(page).to_have_url(re.compile("/login/"))
        page.locator("input[name=login]").fill(person.username)
        page.locator("input[name=password]").fill("a long pass phrase")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(rf"/cases/{case.pk}/review/"))
        page.get_by_role("button", name="Put it back").first.click()
        expect(page.locator("[name=issue-answer]")).to_have_value("Typed after the session ended.")


def test_an_expert_decides_by_keyboard_and_the_proposal_follows(
    browser: Browser, live_server: LiveServer, faults: list[str]
) -> None:
    case, expert = make_case(), make_expert()
    doubt = [{"mark": "correct"}, {"mark": "incorrect", "note": "a bird"}, {"mark": "correct"}]
    submit(case, make_annotator(), marks=doubt)
    submit(case, make_annotator(), recall=[{"element": "Gull", "mark": "missing"}])
    for page in opened(browser, live_server, expert, faults):
        page.goto(f"/cases/{case.pk}/adjudicate/")
        assert page.evaluate(KEYS) == LISTED["take"]
        press(page, "y")
        expect(page.locator("#decide")).to_be_visible()
        assert page.evaluate(FITS)
        assert page.evaluate(FOCUSED)
        assert page.evaluate(KEYS) == LISTED["judge"]
        rows = page.locator("[data-row]")
        expect(rows.nth(0)).to_contain_text("Heron")
        expect(rows.nth(1)).to_contain_text("Gull")
        press(page, "i m c c 4")
        expect(page.locator("[data-decided]")).to_have_text("4 of 4 elements decided")
        expect(page.locator("#proposal")).to_have_value("Marigold\nTern\nGull")
        press(page, "w")
        page.keyboard.type("“Heron” is a bird here.")
        press(page, "Escape")
        settled(page)

    # On another machine everything is there; what a second window saved meanwhile is shown and not overwritten.
    for page in opened(browser, live_server, expert, faults):
        page.goto(f"/cases/{case.pk}/adjudicate/")
        expect(page.locator("[data-decided]")).to_have_text("4 of 4 elements decided")
        expect(page.locator("#proposal")).to_have_value("Marigold\nTern\nGull")
        expect(page.locator("#reason")).to_have_value("“Heron” is a bird here.")
        second = page.context.new_page()
        second.goto(f"/cases/{case.pk}/adjudicate/")
        second.locator("#reason").fill("Typed in the second window.")
        settled(second)
        second.close()
        press(page, "w")
        page.keyboard.press("End")
        page.keyboard.type(" So it goes.")
        page.get_by_role("button", name="Show both texts").click()
        expect(page.locator(".stored")).to_contain_text("Typed in the second window.")
        expect(page.locator("#reason")).to_have_value("“Heron” is a bird here. So it goes.")
        press(page, "y")
        expect(page.locator("#toasts")).to_contain_text("Decided")
    case.refresh_from_db()
    assert case.state == CaseState.ADJUDICATED
    decided = ReviewCase.objects.get(pk=case.pk).adjudication
    assert decided.proposal == ["Marigold", "Tern", "Gull"]
    assert [row["mark"] for row in decided.marks] == ["correct", "incorrect", "correct", "missing"]
