"""A lead shapes texts in the browser: trimmed by keyboard, cut into parts, joined from ticked rows."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import Product, SignIn

# Its parts are tried one by one in tests/documents.
pytestmark = [pytest.mark.browser, pytest.mark.bench]

SENTENCE = "On day {day} the brig number {number} came into the harbour with salt and left."
TEXT = "\n\n".join(
    "\n\n".join([f"CHAPTER {number}.", *(SENTENCE.format(day=day, number=number) for day in range(30))])
    for number in range(1, 20)
)
ABOUT = re.compile("about")


def test_a_lead_trims_cuts_and_joins(product: Product, sign_in: SignIn, tmp_path: Path) -> None:
    file = tmp_path / "brigs.txt"
    file.write_text(TEXT)
    assert product.command("import_documents", str(file), "--language", "English").returncode == 0
    page = sign_in("lead")
    page.goto("/documents/?q=brigs&bucket=none")
    page.get_by_role("link", name="Trim").click()

    # By its button, then by the keyboard: live at once, exact a moment later, and saved as it was shown.
    page.get_by_role("button", name="8k: target 8,192, from 6,554 to 9,830").click()
    page.get_by_role("slider", name="End").press("ArrowLeft")
    count = page.locator("[data-tokens]")
    expect(count).not_to_have_text(ABOUT)
    expect(page.locator("[data-bucket]")).to_have_text("bucket 8k")
    expect(page.locator("[data-show=dropped_behind]")).not_to_be_empty()
    shown = count.inner_text().removesuffix(" tokens")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.locator("tr[aria-current=true]").filter(has_text="v2")).to_contain_text(shown)

    page.goto("/documents/?q=brigs")
    page.get_by_role("link", name="brigs").click()
    page.get_by_text("Change the text").click()
    page.get_by_role("link", name="Cut into parts").click()
    page.get_by_label("or so many parts").fill("2")
    page.get_by_role("button", name="Propose").last.click()
    expect(page.get_by_role("heading", name="2 parts proposed")).to_be_visible()
    page.get_by_role("button", name="Make them").click()
    expect(page.get_by_text("2 documents were made of it.")).to_be_visible()

    page.goto("/documents/?q=of 2)&sort=document")
    join = page.locator("#documents").get_by_role("button", name="Join")
    expect(join).to_be_disabled()
    page.get_by_label("All rows of this page").check()
    join.click()
    expect(page.locator("[data-tokens]")).not_to_have_text(ABOUT)
    page.locator("[name=headings]").first.fill("The first half")
    page.get_by_role("button", name=re.compile("down$")).first.press("Enter")
    expect(page.locator("[name=headings]").last).to_have_value("The first half")
    page.get_by_label("Title of the whole").fill("Brigs, whole again")
    page.get_by_role("button", name="Join", exact=True).click()
    expect(page.get_by_text("==== 2. The first half ====")).to_be_visible()
    expect(page.get_by_text(re.compile(r"joined: D-\d+ v1 \+ D-\d+ v1")).first).to_be_visible()
