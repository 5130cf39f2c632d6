"""Editing at the desk in a real browser: saved while one types, never lost, never in the way of the keyboard."""

import re
import time
from collections.abc import Iterator

import pytest
from django.core.cache import cache
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotation import actions
from annotation.models import Candidate
from annotation.workflow import CandidateState, Verdict
from core.models import User
from tests.annotation.scenes import ALL_FOUR, candidate_at, challenged
from tests.browsing import signed_in
from tests.factories import make_annotator, make_lead

pytestmark = [pytest.mark.browser, pytest.mark.once, pytest.mark.django_db(transaction=True)]
C = CandidateState
PASTE = """text => {
    const begun = performance.now();
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
    return performance.now() - begun;
}"""
SAVED = re.compile("Saved")


@pytest.fixture
def ada() -> User:
    return make_annotator("ada")


@pytest.fixture
def context(browser: Browser, live_server: LiveServer, ada: User) -> Iterator[BrowserContext]:
    cache.clear()
    with signed_in(browser, live_server, ada) as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield context


FAULTS: list[str] = []


@pytest.fixture(autouse=True)
def _no_script_fails() -> Iterator[None]:
    FAULTS.clear()
    yield
    assert FAULTS == []


def open_desk(context: BrowserContext, candidate: Candidate) -> Page:
    page = context.new_page()
    page.on("pageerror", lambda error: FAULTS.append(str(error)))
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"/samples/{candidate.sample_id}/verify/?candidate={candidate.position}")
    expect(page.locator("[data-reader][data-ready=yes]")).to_be_visible()
    return page


def now(candidate: Candidate) -> Candidate:
    return Candidate.objects.get(pk=candidate.pk)


PENDING = "[...document.querySelectorAll('form[data-edit]')].some(form => form.autosaving.changed())"


def save(page: Page) -> None:
    """Until nothing is left to be saved."""
    until = time.monotonic() + 20
    while page.evaluate(PENDING):
        assert time.monotonic() < until, page.locator("#save").inner_text()
        page.wait_for_timeout(50)
    expect(page.locator("#save")).to_have_text(SAVED)


def test_a_question_is_edited_in_place_and_saved_without_touching_its_field(context: BrowserContext, ada: User) -> None:
    """T-14, T-20, T-21: what is saved is what every page shows; keys rest while one types."""
    candidate, _ada = candidate_at(C.TASK_A, ada)
    page = open_desk(context, candidate)
    page.keyboard.press("1")
    page.keyboard.press("q")
    field = page.get_by_label("Question", exact=True)
    expect(field).to_be_focused()
    page.evaluate("field = document.activeElement; field.mine = true")
    page.keyboard.type(" 1 n d y x z ?", delay=5)
    page.keyboard.press("Control+,")
    page.keyboard.press("Control+.")
    page.keyboard.press("Delete")
    save(page)
    wanted = f"{candidate.question} 1 n d y x z ?"
    assert now(candidate).question == wanted
    assert page.evaluate("document.activeElement === field && field.mine && field.selectionEnd === field.value.length")
    expect(page.locator("#question-part [data-live] ins")).to_have_text([" 1 n d y x z ?"])
    expect(page.locator("#dock [value=minor_edit]")).to_be_visible()
    expect(page.locator("#dock [name=checks][data-key='1']")).to_be_checked()
    page.keyboard.press("Control+z")
    assert field.input_value() != wanted
    page.keyboard.type("!")
    save(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-part-link=question]")).to_be_focused()
    text = now(candidate).question
    page.reload()
    expect(page.locator("#question-part .no-diff")).to_have_text(text, use_inner_text=False)
    assert now(candidate).edits.count() == 1


def test_a_list_is_worked_by_the_keyboard_alone(context: BrowserContext, ada: User) -> None:
    """T-19: the Enter that ends a composition adds and sends nothing."""
    candidate, _ada = candidate_at(C.TASK_B, ada)
    page = open_desk(context, candidate)
    page.keyboard.press("a")
    rows = page.locator("#answer-part .lines input")
    expect(rows.first).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("Gannet")
    for event in ("{isComposing: true}", "{keyCode: 229}"):
        page.evaluate(
            "more => document.activeElement.dispatchEvent(new KeyboardEvent('keydown',"
            " {key: 'Enter', bubbles: true, cancelable: true, ...more}))",
            {"isComposing": True} if "isC" in event else {"keyCode": 229},
        )
    expect(rows).to_have_count(4)
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Alt+ArrowDown")
    expect(page.locator("#said")).to_have_text("Now at place 4.")
    expect(rows.nth(3)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Alt+Delete")
    page.keyboard.press("ArrowUp")
    page.evaluate("document.activeElement.select()")
    page.evaluate(PASTE, "Heron\r\n\r\nGull\nSwan")
    expect(rows).to_have_count(5)
    save(page)
    assert now(candidate).answer == ["Marigold", "Heron", "Gull", "Swan", "Gannet"]
    expect(page.locator("#answer-part .lines__place:visible")).to_have_count(5)
    expect(page.locator("#answer-part [data-hints=answer] li[data-rule=not_in_document]")).not_to_have_count(0)
    many = "\n".join(f"Part {number}" for number in range(400))
    page.get_by_role("button", name="Add a line").click()
    spent = page.evaluate(PASTE, many)
    assert spent < 5_000, "fluent: 100 ms where nothing else runs"
    expect(rows).to_have_count(405)
    with page.expect_response("**/save/answer"):
        page.keyboard.press("Control+Enter")
    expect(page.locator("[data-part-link=answer]")).to_be_focused()
    assert len(now(candidate).answer) == 405


def test_pasted_lines_are_lines_of_their_own_and_can_be_undone(context: BrowserContext, ada: User) -> None:
    candidate, _ada = candidate_at(C.TASK_B, ada)
    page = open_desk(context, candidate)
    page.keyboard.press("a")
    rows = page.locator("#answer-part .lines input")
    expect(rows.first).to_be_focused()
    before = [row.input_value() for row in rows.all()]
    page.keyboard.type("!")
    page.evaluate(PASTE, "Gull\nSwan")
    assert [row.input_value() for row in rows.all()] == [f"{before[0]}!", "Gull", "Swan", *before[1:]]
    page.keyboard.type("?")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    assert [row.input_value() for row in rows.all()] == [f"{before[0]}!", *before[1:]]
    expect(rows.first).to_be_focused()
    page.keyboard.press("Alt+Delete")
    page.keyboard.press("Control+z")
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Control+z")
    assert [row.input_value() for row in rows.all()] == [f"{before[0]}!", *before[1:]]
    save(page)
    assert now(candidate).answer == [f"{before[0]}!", *before[1:]]


def test_an_edit_after_a_verdict_says_before_and_after_what_it_opens(context: BrowserContext, ada: User) -> None:
    candidate, _ada = candidate_at(C.TASK_C, ada)
    challenged(candidate, ada)
    page = open_desk(context, candidate)
    page.keyboard.press("a")
    expect(page.locator("#answer-part [data-effect]")).to_contain_text("opens Task B again")
    page.keyboard.press("End")
    page.keyboard.type(" II")
    expect(page.locator("#said")).to_have_text("Task B open again.")
    expect(page.locator("#dock")).to_have_attribute("data-step", "task_b")
    expect(page.locator("#steps [aria-current=step]")).to_have_text("Task B")
    expect(page.locator("#challenge")).to_contain_text("older than the last edit")
    expect(page.locator("#answer-part .lines input").first).to_be_focused()
    # the verdict waits for what is typed, and goes with its version
    page.keyboard.type("I")
    page.keyboard.press("Escape")
    for key in "1234m":
        page.keyboard.press(key)
    expect(page.locator("#dock")).to_have_attribute("data-step", "task_c")
    assert (now(candidate).answer[0], now(candidate).state) == ("Marigold III", C.TASK_C)
    page.keyboard.press("z")
    expect(page.locator("#dock")).to_have_attribute("data-step", "task_b")
    page.keyboard.press("u")
    expect(page.locator("#undo")).to_contain_text("Marigold III")
    page.keyboard.press("u")
    expect(page.locator("#answer-part ol").first).to_contain_text("Marigold")
    expect(page.locator("#answer-part")).not_to_contain_text("III")
    page.keyboard.press("e")
    expect(page.locator(".edits > li")).to_have_count(2)


def test_text_of_a_killed_tab_is_offered_when_the_candidate_is_opened_again(context: BrowserContext, ada: User) -> None:
    """T-15."""
    candidate, _ada = candidate_at(C.TASK_A, ada)
    page = open_desk(context, candidate)
    page.route("**/save/**", lambda route: route.abort())
    page.keyboard.press("q")
    expect(page.get_by_label("Question", exact=True)).to_be_focused()
    typed = "What three hundred characters would say. " * 8
    page.keyboard.insert_text(typed)
    page.close(run_before_unload=False)
    assert now(candidate).version == 1
    again = open_desk(context, candidate)
    again.get_by_text("Put it back").click()
    save(again)
    assert now(candidate).question.endswith(typed.strip())


def test_a_second_window_is_refused_and_shows_both_texts(context: BrowserContext, ada: User) -> None:
    """T-16."""
    candidate, _ada = candidate_at(C.TASK_A, ada)
    first, second = open_desk(context, candidate), open_desk(context, candidate)
    for page in (first, second):
        page.keyboard.press("q")
        expect(page.get_by_label("Question", exact=True)).to_be_focused()
    first.keyboard.type(" By the first.")
    save(first)
    second.keyboard.type(" By the second.")
    note = second.locator("#question-part .note[role=alert]")
    expect(note).to_contain_text("Nothing was overwritten.")
    expect(note.locator("del")).to_have_text("first")
    expect(note.locator("ins")).to_have_text("second")
    expect(second.locator("#save")).to_contain_text("Not saved")
    assert now(candidate).question.endswith("By the first.")
    assert second.get_by_label("Question", exact=True).input_value().endswith("By the second.")
    note.get_by_role("button", name="Take theirs").click()
    expect(second.get_by_label("Question", exact=True)).to_have_value(re.compile("By the first.$"))
    expect(second.locator("#save")).to_contain_text("Everything is saved.")
    expect(second.locator("#question-part .note")).to_have_count(0)
    second.get_by_role("button", name="Put it back").click()
    save(second)
    assert now(candidate).question.endswith("By the second.")


def test_what_is_refused_or_cannot_be_sent_stays_in_the_field_and_is_said(context: BrowserContext, ada: User) -> None:
    """T-17, T-18: an error at its field; an answer lost on the way is no conflict with oneself."""
    candidate, _ada = candidate_at(C.TASK_A, ada)
    page = open_desk(context, candidate)
    page.keyboard.press("q")
    field = page.get_by_label("Question", exact=True)
    field.fill("")
    expect(page.locator("#question-part .field__error")).to_have_text("The question is empty.")
    expect(page.locator("#save")).to_contain_text("Not saved, kept in this browser.")
    field.fill("Who paid?")
    save(page)
    expect(page.locator("#question-part .field__error")).to_have_count(0)

    lost: list[Route] = []

    def lose(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route)
        route.fetch()
        route.abort()

    page.route("**/save/question", lose)
    field.fill("Who paid late?")
    expect(page.locator("#save")).to_contain_text("Retry in")
    page.keyboard.press("End")
    page.keyboard.type(" And why?")
    save(page)
    expect(page.locator("#question-part .note[role=alert]")).to_have_count(0)
    assert now(candidate).question == "Who paid late? And why?"
    assert now(candidate).edits.count() == 1


def test_a_sample_taken_over_turns_the_editor_read_only_and_keeps_its_text(context: BrowserContext, ada: User) -> None:
    candidate, _ada = candidate_at(C.TASK_A, ada)
    page = open_desk(context, candidate)
    page.keyboard.press("q")
    field = page.get_by_label("Question", exact=True)
    expect(field).to_be_focused()
    actions.take_over_sample(sample=candidate.sample, holder=make_annotator("bob"), reason="Ill.", by=make_lead())
    page.keyboard.type(" Mine.")
    expect(page.locator("#question-part [role=alert]")).to_contain_text("bob has been working on")
    expect(page.locator("#question-part .note[role=alert]")).to_contain_text("You can read and copy your text here")
    expect(field).to_have_js_property("readOnly", True)
    page.get_by_role("button", name="Copy my text").click()
    expect(page.locator("#said")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()").startswith(f"{candidate.question} Mine.")
    expect(page.locator("#claim")).to_contain_text("bob")
    expect(page.locator("#claim [data-time-left]")).to_have_count(0)
    page.reload()
    kept = page.locator("#kept")
    expect(kept).to_contain_text(f"{candidate.question} Mine.")
    expect(page.locator("#dock")).to_contain_text("bob is working on it (since")
    kept.get_by_role("button", name="Copy my text").click()
    expect(page.locator("#said")).to_have_text("Copied.")
    kept.get_by_role("button", name="Drop it").click()
    page.reload()
    expect(page.locator("#dock")).to_contain_text("bob")
    expect(kept).to_have_count(0)
    assert now(candidate).version == 1


def test_going_to_another_candidate_saves_first(context: BrowserContext, ada: User) -> None:
    candidate, _ada = candidate_at(C.TASK_A, ada)
    page = open_desk(context, candidate)
    page.keyboard.press("q")
    expect(page.get_by_label("Question", exact=True)).to_be_focused()
    page.keyboard.type(" And then?")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile(r"candidate=2"))
    assert now(candidate).question.endswith(" And then?")
    actions.judge_task_a(candidate=candidate, version=2, verdict=Verdict.MINOR_EDIT, checks=ALL_FOUR, by=ada)
