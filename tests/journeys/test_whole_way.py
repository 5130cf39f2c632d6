"""One document on its whole way through the product: from a file to a release that proves itself sound."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Locator, Page, expect

from documents.tokenizing import count_tokens
from generation.demo import standardized_parts
from leading.demo_texts import chronicle_paragraphs, fit, reference_paragraphs
from tests.journeys.conftest import Product, SignIn

pytestmark = pytest.mark.browser

FOUND = "The first element is counted from the wrong line of the chronicle."
WAIT_SECONDS = 60


@dataclass(frozen=True)
class Way:
    """What is taken along: a text, the secondary task it is paired with, and the release it ends in."""

    language: str
    title: str
    task: str
    version: str

    @property
    def text(self) -> str:
        chinese = self.language == "Chinese"
        paragraphs = chronicle_paragraphs(seed=99) if chinese else reference_paragraphs("formatstrings")
        return fit(paragraphs, wanted=8 * 1024, count=count_tokens)


CHINESE = Way("Chinese", "临港航务纪要（九十九）", "T6.3", "journey-1")
ENGLISH = Way("English", "The language reference, from format strings", "T8.2", "journey-2")


@dataclass(frozen=True)
class Approved:
    """The question as the expert read it."""

    question: str
    elements: str
    options: list[str]
    answer: list[str]


def button(page: Page | Locator, name: str) -> Locator:
    """By its words alone; many names end with their key."""
    return page.get_by_role("button", name=re.compile(rf"^{re.escape(name)}( \w)?$"))


def reload_until(page: Page, wanted: Callable[[], Locator]) -> Locator:
    """What the worker brings: look again until it is there."""
    end = time.monotonic() + WAIT_SECONDS
    while not wanted().first.is_visible():
        assert time.monotonic() < end, page.locator("main").inner_text()
        page.wait_for_timeout(500)
        page.reload()
    return wanted().first


def row_of(page: Page, text: str) -> Locator:
    return page.locator("tr").filter(has_text=text)


# A way is minutes of two processors: each language goes it on one of the databases.
@pytest.mark.parametrize(
    "way",
    [
        pytest.param(CHINESE, marks=pytest.mark.postgres, id=CHINESE.language),
        pytest.param(ENGLISH, marks=pytest.mark.once, id=ENGLISH.language),
    ],
)
def test_a_document_goes_the_whole_way_from_a_file_to_a_sound_release(
    way: Way, product: Product, sign_in: SignIn, tmp_path: Path
) -> None:
    lead, annotator = sign_in("lead"), sign_in("annotator1")
    document = bring_in(lead, way, tmp_path)
    clear(annotator, document)
    sample = plan_and_draft(lead, way)
    verify_until_one_is_challenging(annotator, sample)
    select_and_submit(annotator)
    approved = audit(sign_in("expert1"), sample)
    standardize(annotator, sample, way, approved)
    label = sample_label(lead, sample)
    review_blind(sign_in("annotator2"), sign_in("annotator3"), label)
    adjudicate(sign_in("expert2"), label)
    folder = release(lead, label, way, tmp_path)

    records = json.loads((folder / "longbench_pro.json").read_text(encoding="utf-8"))
    [record] = [record for record in records if record["context"] == way.text]
    assert (record["language"], record["token_length"], record["answer"]) == (way.language, "8k", approved.answer)
    verified = product.command("verify_release", str(folder))
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "is a sound release" in verified.stdout
    held = product.command("check_invariants")
    assert held.returncode == 0, held.stdout + held.stderr


def bring_in(lead: Page, way: Way, folder: Path) -> str:
    """Without a file the page says so at the field and keeps what was typed; with one the batch's page follows the
    worker until the text stands in its bucket."""
    lead.goto("/documents/import/")
    lead.get_by_label("Domain").fill("literature")
    lead.get_by_label("Title").fill(way.title)
    button(lead, "Bring in").click()
    files = lead.locator(".field").filter(has=lead.get_by_label("Files", exact=True))
    expect(files.locator(".field__error")).to_contain_text("Choose files, or paste a text below.")
    expect(lead.get_by_label("Title")).to_have_value(way.title)
    expect(lead.get_by_label("Domain")).to_have_value("literature")

    file = folder / "chronicle.txt"
    file.write_text(way.text, encoding="utf-8")
    lead.get_by_label("Files", exact=True).set_input_files(file)
    button(lead, "Bring in").click()
    expect(lead).to_have_url(re.compile(r"/documents/batches/\d+/$"))
    taken = row_of(lead, "chronicle.txt")
    expect(taken).to_contain_text("8k")
    taken.get_by_role("link").first.click()
    expect(lead.locator(".facts").first).to_contain_text(way.language)
    return lead.url


def clear(annotator: Page, document: str) -> None:
    annotator.goto(document)
    button(annotator, "Approve").click()
    annotator.goto(document)
    expect(annotator.locator(".dock")).to_contain_text("approved")


def plan_and_draft(lead: Page, way: Way) -> str:
    """The sample's address, when the worker has brought its fifteen candidates."""
    lead.goto("/samples/")
    lead.get_by_label("Document", exact=True).first.select_option(label=f"{way.title} · {way.language} · 8k")
    lead.locator("form.plan").get_by_label("Secondary task").select_option(way.task)
    button(lead, "Plan").click()
    lead.goto("/samples/")
    planned = row_of(lead, way.title)
    button(planned, "Draft").click()
    expect(lead.locator("#toasts")).to_contain_text("The models are drafting")
    drafted = reload_until(lead, lambda: row_of(lead, way.title).filter(has_text="0 · 0 · 15"))
    drafted.get_by_role("link").first.click()
    expect(lead.locator("h1")).to_be_visible()
    return lead.url


def sample_label(page: Page, sample: str) -> str:
    page.goto(sample)
    return page.locator("h1").inner_text()


def verify_until_one_is_challenging(annotator: Page, sample: str) -> None:
    annotator.goto(sample)
    button(annotator, "Claim and open").click()
    expect(annotator.locator("#candidates li")).to_have_count(15)
    expect(annotator.locator("#candidates .tools")).to_contain_text("simulated")
    dock = annotator.locator("#dock")
    for _candidate in range(15):
        read_and_judge(annotator, dock)
        if dock.get_by_text("At least one is wrong").is_visible():
            button(dock, "Challenging").click()
            expect(annotator.locator("#candidates [data-row] [title=passed]")).to_have_count(1)
            return
        discard(annotator, dock)
    pytest.fail("no candidate was challenging")


def read_and_judge(annotator: Page, dock: Locator) -> None:
    expect(dock).to_have_attribute("data-step", "read")
    button(dock, "Read, open Task A").click()
    for step, verdict, following in (("task_a", "Compliant", "task_b"), ("task_b", "Correct", "task_c")):
        expect(dock).to_have_attribute("data-step", step)
        expect(button(dock, verdict)).to_have_attribute("aria-disabled", "true")
        checks = dock.get_by_role("checkbox")
        expect(checks).to_have_count(4)
        for check in checks.all():
            check.check()
        button(dock, verdict).click()
        expect(dock).to_have_attribute("data-step", following)
    button(dock, "Ask the models").click()
    expect(annotator.locator("#challenge .answers > tbody > tr:not(.overrow)")).to_have_count(5)
    expect(dock).to_contain_text(" 0 still answering", timeout=WAIT_SECONDS * 1000)


def discard(annotator: Page, dock: Locator) -> None:
    address = annotator.locator("#candidates [aria-current=true]").get_attribute("href")
    button(dock, "Discard…").click()
    dialog = annotator.get_by_role("dialog", name="Discard this candidate")
    dialog.get_by_label("In your own words").fill("All five models answer it; it does not discriminate.")
    button(dialog, "Discard").click()
    expect(annotator.locator(f"#candidates [aria-current=true]:not([href='{address}'])")).to_be_visible()


def select_and_submit(annotator: Page) -> None:
    steps = annotator.get_by_role("list", name="Steps")
    steps.get_by_role("link", name="Select").click()
    expect(annotator.get_by_role("heading", name="Select the best candidate")).to_be_visible()
    annotator.get_by_role("radio").first.check()
    button(annotator, "Select").click()
    expect(annotator.locator("#candidates")).to_contain_text("selected")
    if not annotator.get_by_role("heading", name="Submit to expert audit").is_visible():
        steps.get_by_role("link", name="Submit").click()
    for item in annotator.locator(".dock").get_by_role("checkbox").all():
        item.check()
    annotator.get_by_label("Note to the expert").fill("Counted twice along the chronicle.")
    button(annotator, "Submit").click()
    expect(annotator.get_by_role("heading", name="Submitted to expert audit")).to_be_visible()


def audit(expert: Page, sample: str) -> Approved:
    expert.goto(sample)
    button(expert, "Claim and open").click()
    pane = expert.get_by_role("region", name="Expert audit")
    expect(pane).to_contain_text("Counted twice along the chronicle.")
    read = Approved(
        question=pane.locator(".ask .said").first.inner_text(),
        elements=pane.locator(".phrase .said").first.inner_text(),
        options=pane.locator("ul.options li").all_inner_texts(),
        answer=pane.locator("ol.inline").first.locator("li").all_inner_texts(),
    )
    button(expert, "Approve").click()
    expect(button(expert, "Approve")).to_have_count(0)
    return read


def standardize(annotator: Page, sample: str, way: Way, approved: Approved) -> None:
    annotator.goto(sample)
    button(annotator, "Claim and open").or_(annotator.get_by_role("link", name="Open", exact=True)).first.click()
    expect(annotator).to_have_url(re.compile("/standardize/"))
    parts = standardized_parts(
        question=approved.question,
        elements=approved.elements,
        options=approved.options,
        answer=approved.answer,
        language=way.language,
        task=way.task,
    )
    annotator.get_by_label("1 Task description").fill(parts.task_description)
    annotator.get_by_label("2 Elements phrase").fill(parts.elements)
    annotator.get_by_label(re.compile("^3 Supplementary")).fill(parts.supplementary)
    annotator.get_by_label(re.compile("^4 Example")).fill("\n".join(parts.example))
    expect(annotator.locator("#previewed")).to_contain_text("all hold")
    expect(annotator.locator("#prompt-thinking")).to_contain_text(parts.task_description[:20])
    button(annotator, "Complete").click()
    expect(annotator).not_to_have_url(re.compile("/standardize/save"))
    expect(button(annotator, "Complete")).to_have_count(0)


def review_blind(second: Page, third: Page, label: str) -> None:
    """Annotator 3 finds an issue and says so first; annotator 2, who judges after that, sees nothing of it."""
    begin_review(second, label)
    begin_review(third, label)
    judge(third, first="Incorrect")
    third.get_by_label(re.compile(r"^Note: what is wrong \(answer\)", re.IGNORECASE)).fill(FOUND)
    button(third, "Submit with an issue").click()
    expect(third.locator("body")).to_contain_text("frozen")

    second.reload()
    expect(second.locator("header.top")).to_contain_text("Blind: nothing of the other review is shown")
    content = second.content()
    assert FOUND not in content
    assert "Annotator 3" not in content
    assert "annotator3" not in content
    judge(second, first="Correct")
    button(second, "Submit: no issue").click()
    expect(button(second, "Submit: no issue")).to_have_count(0)


def begin_review(page: Page, label: str) -> None:
    page.goto("/reviews/")
    button(reload_until(page, lambda: row_of(page, label)), "Begin").click()
    expect(page).to_have_url(re.compile(r"/cases/\d+/review/"))
    expect(page.locator("#review .tag--sim").first).to_have_text("simulated")


def judge(page: Page, *, first: str) -> None:
    for place, row in enumerate(page.locator("[data-row=mark]").all()):
        row.get_by_text(first if place == 0 else "Correct", exact=True).click()
    for row in page.locator("[data-row=recall]").all():
        row.get_by_text("Unreasonable", exact=True).click()


def adjudicate(expert: Page, label: str) -> None:
    expert.goto("/reviews/")
    row_of(expert, label).get_by_role("link", name="Adjudicate").click()
    expect(expert.locator("body")).not_to_contain_text(FOUND)
    button(expert, "Take the case").click()
    expect(expert.get_by_role("region", name="Case")).to_contain_text(FOUND)
    expert.get_by_text("No issue, accept").click()
    expert.get_by_label(re.compile("^Exact reason")).fill("Counted again: the answer holds.")
    # What was typed is saved first, then it is sent.
    with expert.expect_navigation():
        button(expert, "Decide").click()
    expert.goto("/reviews/")
    expect(row_of(expert, label).get_by_role("link", name="Adjudicate")).to_have_count(0)


def release(lead: Page, label: str, way: Way, folder: Path) -> Path:
    """The folder with what the lead's download held."""
    lead.goto("/releases/")
    expect(row_of(lead, label)).to_be_visible()
    button(lead, "Label all").click()
    reload_until(lead, lambda: lead.get_by_text("No accepted sample waits for a label."))
    lead.get_by_label("Version").fill(way.version)
    lead.get_by_role("checkbox").check()
    button(lead, "Freeze and write").click()
    expect(lead.get_by_role("heading", name=f"Release {way.version}")).to_be_visible()
    link = reload_until(lead, lambda: lead.get_by_role("link", name="Download all files"))
    with lead.expect_download() as download:
        link.click()
    unpacked = folder / "release"
    with ZipFile(download.value.path()) as bundle:
        bundle.extractall(unpacked)
    return next(unpacked.rglob("manifest.json")).parent
