"""The shell's script in a real browser: keys that rest, failures that are said, text that is never lost."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from playwright.sync_api import APIResponse, Browser, BrowserContext, Dialog, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from core.models import User
from tests.browsing import signed_in
from tests.factories import make_annotator

pytestmark = [
    pytest.mark.browser,
    pytest.mark.urls("tests.core.urls"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def person() -> User:
    return make_annotator("ada")


@pytest.fixture
def context(browser: Browser, live_server: LiveServer, person: User) -> Iterator[BrowserContext]:
    with signed_in(browser, live_server, person) as context:
        yield context


@pytest.fixture
def desk(context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda line: faults.append(line.text) if "Content Security Policy" in line.text else None)
    page.goto("/desk/")
    yield page
    assert faults == []


def out(page: Page) -> str:
    return page.inner_text("#out")


def test_a_key_presses_its_button(desk: Page, effects: list[str]) -> None:
    desk.keyboard.press("y")
    expect(desk.locator("#out")).to_have_text("effect 1")


@pytest.mark.parametrize("field", ["#text", "#note-text"])
def test_keys_rest_while_one_types(desk: Page, effects: list[str], field: str) -> None:
    desk.focus(field)
    desk.keyboard.type("yyy ?")
    desk.wait_for_timeout(100)
    assert (desk.input_value(field), out(desk)) == ("yyy ?", "")
    assert not desk.locator("#keys").is_visible()


@pytest.mark.parametrize(
    "event",
    [
        {"key": "y", "isComposing": True},
        {"key": "y", "keyCode": 229},
        {"key": "y", "ctrlKey": True},
        {"key": "y", "altKey": True},
        {"key": "y", "metaKey": True},
        {"key": "Enter", "isComposing": True},
        {"key": "Enter", "keyCode": 229},
        {"key": ",", "ctrlKey": True},
        {"key": ".", "ctrlKey": True},
    ],
    ids=lambda event: "+".join(event),
)
def test_keys_rest_while_chinese_is_composed_and_with_modifiers(
    desk: Page, effects: list[str], event: dict[str, object]
) -> None:
    """T-19, T-21."""
    send = "event => document.body.dispatchEvent(new KeyboardEvent('keydown', {bubbles: true, ...event}))"
    desk.evaluate(send, event)
    desk.wait_for_timeout(150)
    assert effects == []
    desk.evaluate(send, {"key": "y"})
    expect(desk.locator("#out")).to_have_text("effect 1")


def test_keys_rest_while_a_sheet_is_open(desk: Page, effects: list[str]) -> None:
    desk.keyboard.press("?")
    expect(desk.locator("#keys")).to_be_visible()
    desk.keyboard.press("y")
    desk.wait_for_timeout(150)
    desk.keyboard.press("Escape")
    expect(desk.locator("#keys")).to_be_hidden()
    assert effects == []


def test_keys_rest_for_who_switched_them_off(desk: Page, person: User, effects: list[str]) -> None:
    User.objects.filter(pk=person.pk).update(shortcuts=False)
    desk.reload()
    desk.keyboard.press("y")
    desk.wait_for_timeout(150)
    assert effects == []


def test_a_closed_button_says_why_and_does_nothing(desk: Page) -> None:
    desk.keyboard.press("x")
    expect(desk.locator("#said")).to_have_text("You edited the answer, so this is closed.")


def test_the_theme_is_kept_for_the_person(desk: Page, person: User) -> None:
    with desk.expect_response("**/preferences/theme/"):
        desk.keyboard.press("t")
    expect(desk.locator("html")).to_have_attribute("data-theme", "dark")
    person.refresh_from_db()
    assert person.theme == "dark"


def test_a_message_of_a_fragment_is_shown(desk: Page, effects: list[str]) -> None:
    desk.keyboard.press("y")
    expect(desk.locator("#toasts .toast")).to_contain_text("Saved.")


def test_a_crash_is_said_and_the_text_stays(desk: Page) -> None:
    desk.fill("#text", "crash here")
    desk.click("#verdict button")
    expect(desk.locator("#refusal")).to_contain_text("Something went wrong on the server")
    assert desk.input_value("#text") == "crash here"


def test_a_lost_connection_is_said_and_sending_again_has_one_effect(
    desk: Page, context: BrowserContext, effects: list[str]
) -> None:
    desk.fill("#text", "my reason")
    context.set_offline(True)
    desk.click("#verdict button")
    expect(desk.locator("#refusal")).to_contain_text("No connection")
    context.set_offline(False)
    kept = desk.input_value("#verdict [name=_once]")
    desk.click("#verdict button")
    expect(desk.locator("#out")).to_have_text("effect 1")
    assert desk.input_value("#text") == "my reason"
    expect(desk.locator("#verdict [name=_once]")).not_to_have_value(kept)


def test_an_answer_lost_on_the_way_does_not_double_the_effect(desk: Page, effects: list[str]) -> None:
    lost: list[APIResponse] = []

    def lose(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch())
        route.abort()

    desk.route("**/act/", lose)
    desk.fill("#text", "my reason")
    desk.click("#verdict button")
    expect(desk.locator("#refusal")).to_contain_text("Your text is still here")
    desk.click("#verdict button")
    expect(desk.locator("#out")).to_have_text("effect 1")
    assert effects == ["my reason"]


def test_after_a_lost_log_in_the_typed_text_is_offered_again(
    desk: Page, context: BrowserContext, effects: list[str]
) -> None:
    """T-56: the whole log-in page and never a part of it, then back to the place."""
    desk.fill("#text", "what I had written")
    context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    desk.click("#verdict button")
    desk.wait_for_url("**/account/login/?next=/desk/")
    desk.fill("#id_login", "ada")
    desk.fill("#id_password", "a long pass phrase")
    desk.click("main button")
    desk.wait_for_url("**/desk/")
    desk.click("text=Put it back")
    assert desk.input_value("#text") == "what I had written"
    assert effects == []


def test_a_stale_page_takes_the_token_of_now_and_goes_on(
    desk: Page, context: BrowserContext, effects: list[str]
) -> None:
    """T-57: as after another log-in in another tab: said in place, the text stays, sending again works."""
    context.clear_cookies(name="csrftoken")
    desk.fill("#text", "my reason")
    desk.click("#verdict button")
    expect(desk.locator("#refusal")).to_contain_text("before you last signed in")
    desk.click("#verdict button")
    expect(desk.locator("#out")).to_have_text("effect 1")
    assert effects == ["my reason"]


def test_leaving_with_unsent_text_asks_first(desk: Page) -> None:
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    desk.on("dialog", leave)
    desk.focus("#text")
    desk.keyboard.type("unsent")
    desk.goto("/guidelines/")
    assert asked == ["beforeunload"]


# Autosave ----------------------------------------------------------------------------------------------
def test_typing_is_saved_after_a_pause_in_one_go(desk: Page, effects: list[str]) -> None:
    desk.focus("#note-text")
    desk.keyboard.type("a thought", delay=20)
    expect(desk.locator(".save")).to_contain_text("Saved")
    assert effects == ["a thought"]
    assert desk.input_value("#note [name=version]") == "2"
    assert desk.evaluate("Object.keys(localStorage).filter(name => name.startsWith('lbp:draft')).length") == 0


def test_what_could_not_be_saved_is_kept_offered_and_saved_later(
    desk: Page, context: BrowserContext, effects: list[str]
) -> None:
    context.set_offline(True)
    desk.focus("#note-text")
    desk.keyboard.type("a thought")
    expect(desk.locator(".save")).to_contain_text("Not saved, kept in this browser. Retry in")
    desk.on("dialog", lambda dialog: dialog.accept())
    context.set_offline(False)
    expect(desk.locator(".save")).to_contain_text("Saved")
    assert effects == ["a thought"]


def test_a_draft_of_a_closed_page_is_offered_on_return(desk: Page, context: BrowserContext, effects: list[str]) -> None:
    desk.route("**/save/", lambda route: route.abort())
    desk.on("dialog", lambda dialog: dialog.accept())
    desk.focus("#note-text")
    desk.keyboard.type("a thought")
    expect(desk.locator(".save")).to_contain_text("Not saved")
    desk.goto("/guidelines/")
    desk.unroute("**/save/")
    desk.goto("/desk/")
    assert desk.input_value("#note-text") == ""
    desk.click("text=Put it back")
    expect(desk.locator(".save")).to_contain_text("Saved")
    assert effects == ["a thought"]


def test_a_conflict_is_said_and_nothing_is_tried_again(desk: Page, effects: list[str]) -> None:
    desk.focus("#note-text")
    desk.keyboard.type("conflict")
    expect(desk.locator(".save")).to_contain_text("Somebody was faster.")
    assert desk.input_value("#note-text") == "conflict"
    desk.on("dialog", lambda dialog: dialog.accept())


def test_a_wrong_field_is_told_at_the_field_and_mended(desk: Page, effects: list[str]) -> None:
    desk.focus("#note-text")
    desk.keyboard.type("wrong")
    expect(desk.locator("#note .field__error")).to_have_text("Name the place.")
    desk.fill("#note-text", "right")
    expect(desk.locator(".save")).to_contain_text("Saved")
    expect(desk.locator("#note .field__error")).to_have_count(0)
    assert effects == ["right"]


def test_a_verdict_waits_for_the_text_and_takes_its_version_along(desk: Page, effects: list[str]) -> None:
    desk.focus("#note-text")
    desk.keyboard.type("a thought")
    with desk.expect_request("**/act/") as sent:
        desk.click("#verdict button")
    expect(desk.locator("#out")).to_have_text("effect 2")
    assert effects[0] == "a thought"
    assert "version=2" in (sent.value.post_data or "")


def test_rows_are_walked_and_the_search_field_is_reached_by_key(context: BrowserContext) -> None:
    page = context.new_page()
    page.goto("/desk/rows/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") == "second"
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.textContent") == "first"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"


@pytest.mark.parametrize("path", ["/guidelines/", "/preferences/", "/account/password/change/", "/desk/", "/nothing"])
def test_pages_break_no_rule_of_the_policy(context: BrowserContext, path: str) -> None:
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda line: faults.append(line.text) if "Content Security Policy" in line.text else None)
    page.goto(path)
    page.wait_for_timeout(100)
    assert faults == []


def test_a_form_sent_while_it_is_being_saved_goes_with_the_version_after_the_save(desk: Page) -> None:
    held: list[Route] = []
    desk.route("**/save/", lambda route: route.continue_() if held else held.append(route))
    desk.focus("#note-text")
    desk.keyboard.type("a note")
    desk.keyboard.press("Tab")
    desk.wait_for_timeout(300)
    assert len(held) == 1, "the save is on its way"
    desk.evaluate("document.getElementById('note').requestSubmit()")
    with desk.expect_navigation():
        held[0].continue_()
    assert desk.locator("body").inner_text() == '{"version": 3}'
