"""Clearing documents without a mouse, in a real browser: stepping, deciding, and keys that rest."""

import re
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.core.cache import cache
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from core.models import User
from documents.models import DocumentVersion
from documents.workflow import VersionState
from tests.browsing import signed_in
from tests.factories import make_annotator, make_version

TEXT = "Write to a@example.org.\n" + "Nothing here.\n" * 200 + "Or call 13812345678.\nCopyright 2020 A House\n"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def context(browser: Browser, live_server: LiveServer) -> Iterator[BrowserContext]:
    cache.clear()
    with signed_in(browser, live_server, make_annotator("ada")) as context:
        yield context


@pytest.fixture
def versions() -> list[DocumentVersion]:
    return [make_version(f"{TEXT}Volume {number}.\n", state=VersionState.PENDING) for number in (1, 2)]


@pytest.fixture
def page(context: BrowserContext, versions: list[DocumentVersion]) -> Iterator[Page]:
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda line: faults.append(line.text) if "Content Security Policy" in line.text else None)
    page.goto(f"/documents/{versions[0].document_id}/")
    expect(page.locator("[data-reader][data-ready=yes]")).to_be_visible()
    yield page
    assert faults == []


def current(page: Page) -> str:
    return page.locator("a.finding[aria-current] strong").inner_text()


def state_of(version: DocumentVersion) -> str:
    return DocumentVersion.objects.values_list("state", flat=True).get(pk=version.pk)


def test_findings_are_stepped_through_by_either_pair_of_keys_and_marked_in_the_text(page: Page) -> None:
    hits = []
    for key in ("n", "j", "n", "k", "p"):
        page.keyboard.press(key)
        expect(page.locator("a.finding[aria-current]")).to_have_count(1)
        hits.append(current(page))
    mail, phone, line = "a@example.org", "13812345678", "Copyright 2020 A House"
    assert hits == [mail, phone, line, phone, mail]
    painted = page.evaluate("[...CSS.highlights.get('finding-now')].map(range => range.startOffset)")
    assert painted == [TEXT.index(mail)]


def test_a_kind_is_shown_by_itself_while_the_note_stays(page: Page) -> None:
    page.fill("#id_note", "half a thought")
    page.get_by_role("link", name="Telephone number").click()
    expect(page.locator("a.finding")).to_have_count(1)
    expect(page.locator("[data-reader-count]")).to_have_text("–/1")
    assert page.input_value("#id_note") == "half a thought"


def test_approving_by_key_opens_the_next_and_skipping_comes_back(page: Page, versions: list[DocumentVersion]) -> None:
    first, second = versions
    page.keyboard.press("g")
    expect(page).to_have_url(re.compile(f"/documents/{second.document_id}/$"))
    expect(page.get_by_text("2 of 2 waiting")).to_be_visible()
    page.keyboard.press("y")
    expect(page).to_have_url(re.compile(f"/documents/{first.document_id}/$"))
    assert (state_of(first), state_of(second)) == (VersionState.PENDING, VersionState.APPROVED)


def test_rejecting_by_keys_alone(page: Page, versions: list[DocumentVersion]) -> None:
    page.keyboard.press("1")
    page.locator("#id_note").focus()
    page.keyboard.type("xyn a letter of hers")
    page.keyboard.press("Escape")
    page.keyboard.press("x")
    expect(page).to_have_url(re.compile(f"/documents/{versions[1].document_id}/$"))
    version = DocumentVersion.objects.get(pk=versions[0].pk)
    assert (version.state, version.flags, version.note) == ("rejected", ["privacy"], "xyn a letter of hers")


@pytest.mark.parametrize(
    "event",
    [
        {"key": "Enter", "isComposing": True},
        {"key": "Enter", "ctrlKey": True, "isComposing": True},
        {"key": "y", "isComposing": True},
        {"key": "x", "keyCode": 229},
        {"key": ",", "ctrlKey": True},
        {"key": ".", "ctrlKey": True},
        {"key": "j", "ctrlKey": True},
    ],
    ids=lambda event: "+".join(map(str, event.values())),
)
@pytest.mark.parametrize("place", ["#id_note", "body"])
def test_what_an_input_method_needs_is_left_to_it(
    page: Page, versions: list[DocumentVersion], place: str, event: dict[str, object]
) -> None:
    """T-20, T-21: nothing is decided and nothing taken, in the note and beside it."""
    taken = page.locator(place).evaluate(
        """(el, event) => {
            if (el.matches("textarea")) el.focus();
            const sent = new KeyboardEvent("keydown", {bubbles: true, cancelable: true, ...event});
            el.dispatchEvent(sent);
            return sent.defaultPrevented;
        }""",
        event,
    )
    page.wait_for_timeout(150)
    assert taken is False
    assert page.locator("a.finding[aria-current]").count() == 0
    assert {state_of(version) for version in versions} == {VersionState.PENDING}


def test_typing_in_the_note_decides_nothing(page: Page, versions: list[DocumentVersion]) -> None:
    page.locator("#id_note").focus()
    page.keyboard.type("yxgjkn123?")
    page.keyboard.press("Enter")
    page.wait_for_timeout(150)
    assert page.input_value("#id_note") == "yxgjkn123?\n"
    assert page.locator("a.finding[aria-current]").count() == 0
    assert {state_of(version) for version in versions} == {VersionState.PENDING}


def test_the_decision_stays_in_view_and_a_long_list_grows_before_its_end(
    context: BrowserContext,
) -> None:
    version = make_version("".join(f"u{number}@example.org\n" for number in range(900)), state=VersionState.PENDING)
    page = context.new_page()
    page.goto(f"/documents/{version.document_id}/")
    expect(page.locator("[data-reader][data-ready=yes]")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Reject")).to_be_in_viewport(ratio=1)
    findings = page.locator("a.finding")
    while (before := findings.count()) < 900:
        findings.last.scroll_into_view_if_needed()
        expect(findings.nth(before)).to_be_attached()
    assert (findings.count(), page.locator("[data-more]").count()) == (900, 0)
    page.keyboard.press("p")
    assert current(page) == "u899@example.org"
    expect(page.get_by_role("button", name="Approve")).to_be_in_viewport(ratio=1)


def test_all_findings_are_marked_in_the_text_and_counted_before_the_list_holds_them(context: BrowserContext) -> None:
    text = "😀\n" + "".join(f"u{number}@example.org or 1381234{number:04}\n" for number in range(300))
    version = make_version(text, state=VersionState.PENDING)
    page = context.new_page()
    page.goto(f"/documents/{version.document_id}/")
    expect(page.locator("[data-reader][data-ready=yes]")).to_be_visible()
    expect(page.locator("[data-reader-count]")).to_have_text("–/600")
    marked = """[...CSS.highlights.get('finding')]
      .map(range => range.startContainer.data.slice(range.startOffset, range.endOffset))"""
    assert page.evaluate(marked)[:301] == [f"u{n}@example.org" for n in range(300)] + ["13812340000"]
    page.keyboard.press("n")
    page.keyboard.press("p")
    expect(page.locator("[data-reader-count]")).to_have_text("1/600")  # not round to the end of what has come
    page.locator("#kind-of-phone").click()
    expect(page.locator("[data-reader-count]")).to_have_text("–/300")
    assert page.evaluate(marked)[0] == "13812340000"
    page.locator("#kind-all").click()
    expect(page.locator("[data-reader-count]")).to_have_text("–/600")


def test_a_note_sent_after_the_log_in_ran_out_is_offered_again(
    page: Page, context: BrowserContext, versions: list[DocumentVersion]
) -> None:
    ada = User.objects.get(username="ada")
    ada.set_password("a long pass phrase")
    ada.save()
    address = page.url
    page.fill("#id_note", "ten minutes of reasons")
    page.locator("[name=flags]").first.check()
    context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.get_by_role("button", name="Reject").click()
    page.fill("#id_login", "ada")
    page.fill("#id_password", "a long pass phrase")
    page.click("main form button")
    page.wait_for_url(address)
    page.click("text=Put it back")
    assert page.input_value("#id_note") == "ten minutes of reasons"
    assert {state_of(version) for version in versions} == {VersionState.PENDING}
