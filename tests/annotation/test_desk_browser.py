"""The desk in a real browser: keys, focus, what is kept, results that come in, back, the claim, and every size."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation import actions
from annotation.models import Candidate, Claim, StepVerdict
from annotation.workflow import CandidateState, SampleState, Step
from generation.models import RunCall
from generation.workflow import CallState, RunState
from tests.annotation.desk_scene import Fifteen, fifteen
from tests.browsing import signed_in
from tests.factories import make_annotator, make_sample

pytestmark = [pytest.mark.browser, pytest.mark.once, pytest.mark.django_db(transaction=True)]
C = CandidateState


@pytest.fixture
def made() -> Fifteen:
    return fifteen(make_annotator("ada"))


@pytest.fixture
def context(browser: Browser, live_server: LiveServer, made: Fifteen) -> Iterator[BrowserContext]:
    with signed_in(browser, live_server, made.annotator) as context:
        yield context


Open = Callable[..., Page]

CONTROLS = "main :is(button, a[href], input:not([type=hidden]), textarea, select, summary)"
FAULTS = (
    """() => {
  const faults = [];
  const all = query => [...document.querySelectorAll(query)];
  const shown = el => el.checkVisibility({ visibilityProperty: true });
  const twice = (what, list) => {
    for (const one of new Set(list.filter((one, at) => list.indexOf(one) !== at))) faults.push(`${what} twice: ${one}`);
  };
  const named = el => [
    el.getAttribute("aria-label"), el.labels?.[0]?.textContent, el.textContent, el.title, el.placeholder,
    ...[...el.querySelectorAll("[aria-label]")].map(one => one.getAttribute("aria-label")),
  ].some(text => text?.trim());
  twice("id", all("[id]").map(el => el.id));
  for (const el of all("CONTROLS")) {
    if (!shown(el) || el.closest(".reader")) continue;
    const fault = what => faults.push(`${what}: ${el.outerHTML.slice(0, 90)}`);
    const whole = el.matches("input") && el.closest("label") || el;
    const { width, height } = whole.getBoundingClientRect();
    if (!named(el)) fault("nameless");
    if (getComputedStyle(el).display !== "inline" && (height < 22 || width < 22)) fault(`small, ${width} x ${height}`);
    if (!el.dataset.key) continue;
    if (el.getAttribute("aria-keyshortcuts")?.split(" ")[0] !== el.dataset.key) fault("key not told");
    if (!whole.querySelector("kbd")) fault("key not written");
  }
  for (const el of all("main :is([aria-describedby], [aria-labelledby])")) {
    const ids = `${el.getAttribute("aria-describedby") || ""} ${el.getAttribute("aria-labelledby") || ""}`;
    for (const id of ids.trim().split(/ +/)) if (!document.getElementById(id)) faults.push(`points nowhere: ${id}`);
  }
  const keyed = all("main [data-key]").filter(el => shown(el) && !el.closest("dialog"));
  twice("key", keyed.map(el => el.dataset.key));
  if (all("h1").length !== 1) faults.push("not one h1");
  return faults;
}"""
).replace("CONTROLS", CONTROLS)


@pytest.fixture
def desk(context: BrowserContext, made: Fifteen) -> Iterator[Open]:
    """`desk("?candidate=4")`: the page, when its text is whole. Faults and broken policies fail the test."""
    faults: list[str] = []

    def go(query: str = "") -> Page:
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if is_fault(line) else None)
        page.goto(f"/samples/{made.sample.pk}/verify/{query}")
        page.wait_for_selector("[data-ready]")
        return page

    yield go
    assert faults == []


def is_fault(line: Any) -> bool:
    """A refused form is answered with 409 or 422 by intent; Chromium notes that, and nothing is wrong."""
    refused = re.search(r"(?:status of|Status Error Code) (?:400|409|422)", line.text)
    # htmx notes a request that gave way to a newer one, with nothing to say about it
    gave_way = line.text == "undefined" or re.match(r"htmx:(?:afterRequest|sendAbort)\b", line.text)
    return line.type == "error" and not refused and not gave_way


def focus(page: Page) -> str:
    """Where the keyboard is: pane, list, or what else."""
    where: str = page.evaluate(
        """() => {
          const here = document.activeElement;
          if (!here || here === document.body) return "body";
          return here.closest("#pane") ? "pane" : here.closest("#candidates") ? "list" : here.outerHTML.slice(0, 80);
        }"""
    )
    return where


def at_step(page: Page, step: str) -> None:
    expect(page.locator("#dock")).to_have_attribute("data-step", step)
    assert focus(page) in {"pane", "list"}


def opened(page: Page, position: int) -> None:
    current = page.locator("#candidates [aria-current=true]")
    expect(current).to_have_count(1)
    expect(current).to_have_attribute("href", re.compile(rf"/verify/\?candidate={position}$"))


def test_a_candidate_goes_the_whole_way_by_keys_alone(desk: Open, made: Fifteen) -> None:
    """From reading to the submitted sample without a mouse, the focus always where the next decision is."""
    page = desk("?candidate=4")
    at_step(page, "read")
    page.keyboard.press("y")
    at_step(page, "task_a")
    page.keyboard.press("y")
    expect(page.locator("#said")).to_have_text("Still to tick: 1, 2, 3, 4. Or discard it.")
    for check in "134":
        page.keyboard.press(check)
    expect(page.locator("#why")).to_have_text("Still to tick: 2. Or discard it.")
    page.keyboard.press("2")
    page.keyboard.press("y")
    at_step(page, "task_b")
    expect(page.locator("#said")).to_have_text("Task A done, Task B open.")
    for check in "1234":
        page.keyboard.press(check)
    page.keyboard.press("y")
    at_step(page, "task_c")
    page.keyboard.press("y")
    expect(page.locator("#challenge .answers > tbody > tr")).not_to_have_count(0)
    answer(made.candidate(4), wrong=2)
    expect(page.locator("#dock")).to_contain_text("At least one is wrong")
    page.keyboard.press("v")
    expect(page.locator("#challenge .overrule[open] input.input")).to_be_focused()
    page.keyboard.type("1 n d x y")  # T-20: single letters are text here
    page.keyboard.press("Escape")
    assert made.candidate(4).state == C.TASK_C
    page.keyboard.press("y")
    at_step(page, "passed")
    page.keyboard.press("y")
    expect(page.locator("#pane")).to_have_attribute("data-panel", "submit")
    assert focus(page) == "pane"
    page.locator("#id_note").fill("Counted twice.")
    page.keyboard.press("Escape")
    for item in "1234567":
        page.keyboard.press(item)
    waiting = make_sample(language="English")
    page.keyboard.press("y")
    expect(page.locator("#pane")).to_contain_text("Submitted to expert audit")
    made.sample.refresh_from_db()
    assert made.sample.state == SampleState.IN_AUDIT
    assert focus(page) == "pane"
    page.wait_for_function("() => !Object.keys(localStorage).some(name => name.includes(':submit-'))")
    expect(page.locator("#kept")).to_have_count(0)  # what arrived is not offered as lost
    page.keyboard.press("g")
    page.wait_for_url(f"**/samples/{waiting.pk}/verify/")


def answer(candidate: Candidate, *, wrong: int) -> None:
    """The models' replies to the candidate's challenge come in."""
    challenge = candidate.challenges.latest("pk")
    for number, run_call in enumerate(RunCall.objects.filter(run=challenge.run).select_related("call")):
        run_call.right, run_call.score = number >= wrong, float(number >= wrong)
        run_call.elements = candidate.answer if number >= wrong else ["Gull"]
        run_call.call.state = CallState.SUCCEEDED
        run_call.call.save()
        run_call.save()
    challenge.run.state = RunState.FINISHED
    challenge.run.save()


def test_a_discard_goes_on_and_is_taken_back_by_one_key(desk: Open, made: Fifteen) -> None:
    page = desk("?candidate=4")
    page.keyboard.press("x")
    dialog = page.get_by_role("dialog", name="Discard this candidate")
    expect(dialog).to_be_visible()
    page.keyboard.press("j")  # keys of the page rest below a dialog
    page.keyboard.press("x")
    expect(dialog.locator("[data-refused]")).to_contain_text("Say why.")
    page.keyboard.press("5")
    dialog.get_by_label("In your own words").fill("One look is enough.")
    page.keyboard.press("Control+Enter")
    opened(page, 5)
    at_step(page, "read")
    gone = made.candidate(4)
    assert gone.discard_reason == "Trivial. One look is enough."
    expect(page.locator("#toasts")).to_contain_text("Discarded.")
    page.keyboard.press("z")
    opened(page, 4)
    at_step(page, "read")
    assert made.candidate(4).state == C.READ
    expect(page.locator("#toasts [data-key=z]")).to_have_count(0)


def test_a_half_typed_reason_and_ticks_survive_going_away_and_a_reload(desk: Open, made: Fifteen) -> None:
    page = desk("?candidate=2")
    page.keyboard.press("1")
    page.keyboard.press("3")
    page.keyboard.press("x")
    page.locator("#discard-why").fill("The list leaves out the ferry")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    opened(page, 3)
    page.keyboard.press("k")
    opened(page, 2)
    page.reload()
    page.wait_for_selector("[data-ready]")
    assert page.locator("#dock [name=checks]:checked").count() == 2
    page.keyboard.press("x")
    expect(page.locator("#discard-why")).to_have_value("The list leaves out the ferry")
    StepVerdict.objects.filter(candidate=made.candidate(2), step=Step.TASK_A).update(voided_at=timezone.now())
    Candidate.objects.filter(pk=made.candidate(2).pk).update(state=C.DISCARDED)
    page.keyboard.press("Control+Enter")
    refused = page.locator("dialog[open] [data-refused]")
    expect(refused).to_contain_text("This step is not open")
    expect(page.locator("#discard-why")).to_have_value("The list leaves out the ferry")
    refused.get_by_role("link", name="Show how it stands").click()
    at_step(page, "discarded")
    expect(page.locator(f"#row-{made.candidate(2).pk} .cand")).to_have_class("cand gone")


def test_keys_rest_while_one_types_composes_or_holds_a_modifier(desk: Open, made: Fifteen) -> None:
    """T-20 at the desk; T-19 and T-21 for its keys."""
    page = desk("?candidate=4")
    before = page.url
    page.locator("[data-reader-find]").focus()
    page.keyboard.type("jkyx?cfiwhz")
    assert page.input_value("[data-reader-find]") == "jkyx?cfiwhz"
    page.keyboard.press("Escape")
    send = "event => document.body.dispatchEvent(new KeyboardEvent('keydown', {bubbles: true, ...event}))"
    for key in "jkyxcfiz":
        for held in ("ctrlKey", "altKey", "metaKey", "isComposing"):
            page.evaluate(send, {"key": key, held: True})
        page.evaluate(send, {"key": key, "keyCode": 229})
    page.wait_for_timeout(200)
    assert page.url == before
    assert page.locator("dialog[open]").count() == 0
    assert made.candidate(4).state == C.READ


def test_the_list_walks_filters_groups_and_compares(desk: Open, made: Fifteen) -> None:
    page = desk("?candidate=2")
    page.keyboard.press("f")
    expect(page.locator("#candidates li:visible")).to_have_count(8)
    page.keyboard.press("j")
    opened(page, 4)  # the discarded third is passed over
    page.keyboard.press("=")
    opened(page, 8)
    page.keyboard.press("f")
    expect(page.locator("#candidates li:visible")).to_have_count(15)
    page.keyboard.press("c")
    pane = page.locator("#pane")
    expect(pane).to_have_attribute("data-panel", "compare")
    expect(pane.locator("thead")).to_contain_text("Claude-4-Sonnet 2")
    expect(pane.locator("thead")).to_contain_text("Gemini-2.5-Pro 2")
    page.keyboard.press("j")
    expect(pane.locator("thead")).to_contain_text("GPT-5 1")
    assert focus(page) == "pane"
    page.keyboard.press("3")
    expect(pane.locator("thead")).to_contain_text("Gemini-2.5-Pro 1")
    width = page.locator(".reader").bounding_box()
    assert width
    assert width["width"] > 380
    page.keyboard.press("m")  # the right one has passed: selected from here
    expect(pane).to_have_attribute("data-panel", "submit")
    made.sample.refresh_from_db()
    assert made.sample.chosen_id == made.candidate(1).pk


def test_a_neighbour_fetched_ahead_is_shown_as_it_stands(desk: Open, made: Fifteen) -> None:
    """Looking at a candidate fetches its neighbours; what was decided meanwhile throws them away."""
    page = desk("?candidate=4")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/verify/?candidate=" in request.url else None)
    page.keyboard.press("j")
    opened(page, 5)
    page.wait_for_timeout(1500)
    before = len(asked)
    page.keyboard.press("j")
    opened(page, 6)
    at_step(page, "discarded")
    assert page.url.endswith("?candidate=6")
    assert not [url for url in asked[before:] if url.endswith("candidate=6")]
    page.go_back()
    opened(page, 5)
    page.wait_for_timeout(1500)
    page.keyboard.press("y")
    at_step(page, "task_a")
    page.keyboard.press("k")
    opened(page, 4)
    page.keyboard.press("j")
    opened(page, 5)
    at_step(page, "task_a")


def test_keys_pressed_faster_than_the_server_answers_leave_the_page_true(desk: Open, made: Fifteen) -> None:
    """The page shows what the server holds, whichever answer came last."""
    page = desk("?candidate=4")
    for keys in ("jy", "yj", "kyk", "jjj"):
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_function("() => !document.querySelector('.htmx-request')")
        page.wait_for_timeout(700)
        current = page.locator("#candidates [aria-current=true]")
        expect(current).to_have_count(1)
        shown = int(page.locator("#pane > [name=candidate]").get_attribute("value") or 0)
        opened(page, shown)
        expect(page.locator("#dock")).to_have_attribute("data-step", made.candidate(shown).state)


def test_results_of_another_candidate_are_told_quietly(desk: Open, made: Fifteen) -> None:
    page = desk("?candidate=4")
    page.keyboard.press("x")
    page.locator("#discard-why").fill("half a reason")
    answer(made.candidate(8), wrong=2)
    expect(page.locator("#toasts")).to_contain_text("Claude-4-Sonnet 2: 2 of 5 wrong", timeout=15_000)
    expect(page.locator("#discard-why")).to_be_focused()
    expect(page.locator("#discard-why")).to_have_value("half a reason")
    expect(page.locator(f"#row-{made.candidate(8).pk}")).to_contain_text("2 of 5 wrong")
    expect(page.locator("#asks")).to_have_count(0)


def test_answers_to_the_open_candidate_never_take_the_focus(desk: Open, made: Fifteen) -> None:
    page = desk("?candidate=8")
    expect(page.locator("#dock")).to_contain_text("3 still answering")
    page.keyboard.press("1")
    field = page.locator("#challenge .overrule[open] input.input")
    field.fill("the gloss says the same")
    answer(made.candidate(8), wrong=2)
    expect(page.locator("#dock")).to_contain_text("0 still answering", timeout=15_000)
    expect(page.locator("#challenge .overrule[open] input.input")).to_have_value("the gloss says the same")
    assert page.evaluate("document.activeElement.name") == "reason"
    page.keyboard.press("Escape")
    page.keyboard.press("y")
    at_step(page, "passed")


def test_back_shows_the_candidate_before_and_leaves_the_document_alone(desk: Open, made: Fifteen) -> None:
    page = desk("?candidate=4")
    page.evaluate("document.querySelector('.reader__text').dataset.same = 'yes'")
    page.keyboard.press("j")
    opened(page, 5)
    page.keyboard.press("y")
    at_step(page, "task_a")
    verdicts = StepVerdict.objects.count()
    page.go_back()
    page.go_back()
    opened(page, 4)
    assert page.locator(".reader__text[data-same]").count() == 1
    assert focus(page) == "pane"
    page.go_forward()
    opened(page, 5)
    at_step(page, "task_a")
    assert StepVerdict.objects.count() == verdicts


def test_a_claim_that_lapses_closes_the_desk_and_is_taken_again(desk: Open, made: Fifteen) -> None:
    Claim.objects.update(lapses_at=timezone.now() + timedelta(seconds=6))
    page = desk("?candidate=2")
    expect(page.locator("#claim .save")).to_have_attribute("data-state", "warn")
    expect(page.locator("#toasts")).to_contain_text("Your claim has lapsed", timeout=25_000)
    again = page.locator("#dock").get_by_role("button", name="Claim again")
    expect(again).to_be_visible()
    page.locator("#toasts .toast").get_by_role("button", name="Close").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#toasts .toast")).to_have_count(0)
    assert focus(page) == "pane"  # a note that goes takes no focus along
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    assert focus(page) == "pane"
    page.keyboard.press("y")
    expect(again).to_have_count(0)
    at_step(page, "task_b")
    opened(page, 2)
    assert actions.can_release_claim(made.annotator, made.sample)


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1920, 1080), (1024, 768)])
def test_the_desk_fits_its_window(desk: Open, width: int, height: int) -> None:
    page = desk("?candidate=2")
    page.set_viewport_size({"width": width, "height": height})
    for key in ("", "h", "w", "c", "i"):
        if key:
            page.keyboard.press(key)
            page.wait_for_timeout(250)
        size = page.evaluate("[document.scrollingElement.scrollWidth, document.scrollingElement.scrollHeight]")
        assert size[0] <= width, key
        assert size[1] <= height or width < 1088, key
        if width < 1088:
            page.locator("#pane").evaluate("pane => pane.scrollIntoView()")
            dock = page.locator("#dock").bounding_box()
            assert dock
            assert dock["y"] + dock["height"] <= height + 1  # it sticks to the window's foot
    if width >= 1366:
        page.goto(page.url.split("?")[0] + "?candidate=2")
        last = page.locator("#candidates li").last.bounding_box()
        foot = page.locator("#candidates .foot").bounding_box()
        assert last
        assert foot
        assert last["y"] + last["height"] <= foot["y"]  # fifteen at a glance


def test_every_control_has_a_name_a_size_and_its_key(desk: Open) -> None:
    """Checks of axe's kind, made by hand: names, targets, ids, labels, and keys that are written on their buttons."""
    page = desk("?candidate=2")
    queries = [
        "?candidate=2",
        "?candidate=4",
        "?candidate=8",
        "?candidate=3",
        "?panel=select",
        "?candidate=1&panel=compare",
    ]
    for query in queries:
        page.goto(page.url.split("?")[0] + query)
        page.wait_for_selector("[data-ready]")
        assert page.evaluate(FAULTS) == [], query
    written = page.locator("#keys kbd").all_inner_texts()
    used = page.evaluate("[...document.querySelectorAll('main [data-key]')].map(el => el.dataset.key)")
    assert set(used) - set(written) - set("23456789") == set()
