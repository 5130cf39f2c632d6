"""Every page of the product in Chinese, in a real browser: no string is left in English."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.factories import make_lead
from tests.journeys.conftest import PASSWORD, Product

pytestmark = [pytest.mark.browser, pytest.mark.once]

# No pages: files, and answers for machines.
NO_PAGES = re.compile(
    r"^(api/|healthz|.*download/$|.*\.csv$|.*/trim/measure$|documents/versions/.*/(text|outline|position)$)"
)
VISITORS_PAGES = [
    "account/login/",
    "account/signup/",
    "account/inactive/",
    "account/password/reset/",
    "account/password/reset/done/",
    "account/password/reset/key/1-none/",
    "account/password/reset/key/done/",
    "account/confirm-email/none/",
    "account/2fa/authenticate/",
    "invitation/none/",
    "reset/none/",
    "no-such-page/",
]
FORMS = [
    "/documents/import/",
    "/people/",
    "/people/invite/",
    "/preferences/",
    "/account/password/change/",
    "/account/email/",
    "/models/new/",
]
# Those beside a person's name act at once on somebody who works in other tests.
EMPTY_FORMS = "main form[method=post]:not([action^='/people/'])"

# What stays in Latin letters in Chinese: proper names, units, formats, identifiers.
NAMES = (
    r"LongBench Pro|LBP_PANEL|LBP_MODEL_HOSTS|LBP|Qwen3|OpenAI|openai|LiteLLM|Booking|NDCG@k|NDCG|SubEM|F1|ROUGE-L"
    r"|vLLM|Ollama|SGLang|(?:Pairwise )?Accuracy|SHA-?\d*"
    r"|CSV|JSONL?|HTML|PDF|DOCX|EPUB|Parquet|Markdown|import_documents|API|URL|UTC|UTF|ZIP|zip|tar|gz|GBK|Shift-JIS|EUC-\w+|ISO|Windows|TOTP|ID"
    r"|Email|[Tt]okens?|k|KB|MB|MiB|zstd|Fleiss"
)
# An address, a file name, a key of the keyboard, and any word with a digit, @ or _ in it (S-0001, T1.1, 64k).
SHAPES = (
    r"\S+@\S+\.\w+|https?://\S+|\b[\w./-]+\.(?:txt|jsonl?|csv|zip|parquet|md)\b"
    r"|\b(?:Ctrl|Shift|Alt|Enter|Esc|Tab|Page Up|Page Down)\b"
)
MARKS = r"[A-Za-z]*[-_.]?\d[\w.+-]*"
LEAVE_OUT = re.compile(rf"(?<![A-Za-z])(?:{NAMES})(?![A-Za-z])|{SHAPES}|{MARKS}|\{{\w+\}}|%\(\w+\)s")
WORD = re.compile(r"[A-Za-z]{2,}")

COLLECT = """() => {
  const found = [];
  const silent = 'script, style, template, code, kbd, [translate=no], [data-mark], .reader__text';
  const mine = (element) => {
    if (element.closest(silent)) return false;
    const spoken = element.closest('[lang]');
    return !spoken || spoken.lang.toLowerCase().startsWith('zh');
  };
  const say = (element, text) => {
    if (/[A-Za-z]{2}/.test(text) && mine(element)) found.push([text.trim(), element.outerHTML.slice(0, 160)]);
  };
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!parent.closest('textarea')) say(parent, walker.currentNode.data);  // what is typed is nobody's string
  }
  for (const element of document.querySelectorAll('*')) {
    for (const {name, value} of [...element.attributes]) {
      const spoken = ['title', 'aria-label', 'placeholder', 'alt', 'aria-description'].includes(name)
        || name.startsWith('data-word') || (element.id === 'words' && name.startsWith('data-'))
        || (name === 'value' && ['submit', 'button', 'reset'].includes(element.type) && element.tagName === 'INPUT');
      if (spoken && element.dir !== 'auto') say(element, value);
    }
  }
  const fragment = !document.querySelector('main');
  return {lang: fragment ? 'zh' : document.documentElement.lang, texts: found};
}"""

# What lies in the database: one of each state, and who is bound to it.
DRAW = """
from annotation import actions as annotating
from annotation.models import Sample
from core.models import User
from documents.models import Document
from generation import actions as generating
from generation.models import LanguageModel
from review import actions
lead = User.objects.get(username="lead")
actions.draw_audit(size=1, seed=1, by=lead)
document = Document.objects.filter(latest__state="approved").exclude(latest__bucket="").first()
taken = set(Sample.objects.filter(document=document).values_list("task_code", flat=True))
for code in [code for code in ("T1.1", "T1.2", "T2.1", "T2.2") if code not in taken][:2]:
    annotating.create_sample(document=document, task_code=code, by=lead)
annotating.draft_samples(samples=list(Sample.objects.filter(state="planned")[:1]), by=lead)
for model in LanguageModel.objects.all()[:2]:
    generating.try_model(model=model, by=lead)
generating.pause_model(model=model, by=lead)
generating.set_budget(by=lead, budget_usd=10, version=1)
"""

IDS = """
import json
from annotation.models import Candidate, DraftingBatch, Sample
from core.models import User
from documents.models import Document, DocumentVersion, ImportBatch
from generation.models import Call, LanguageModel, ModelTrial, Run
from release.models import Release
from review.models import AnswerReview, AuditedSample, ReviewCase
def each(model, field):
    return [model.objects.filter(**{field: value}).order_by("pk").values_list("pk", flat=True)[0]
            for value in sorted(set(model.objects.values_list(field, flat=True)))]
def first_of(rows, key):
    return list({key(row): row for row in rows[::-1]}.values())
samples = first_of(Sample.objects.exclude(annotator=None).select_related("annotator"), lambda sample: sample.state)
reviews = AnswerReview.objects.select_related("case", "reviewer")
reviews = first_of(reviews, lambda review: (review.case.state, review.state))
print("IDS" + json.dumps({
    "documents/versions": each(DocumentVersion, "state"), "documents": each(Document, "latest__state"),
    "documents/batches": each(ImportBatch, "state"), "runs/calls": each(Call, "state"),
    "runs": each(Run, "state"), "quality": list(AuditedSample.objects.values_list("pk", flat=True)[:2]),
    "samples/draftings": list(DraftingBatch.objects.values_list("pk", flat=True)),
    "models/trials": list(ModelTrial.objects.values_list("pk", flat=True)[:2]),
    "models": list(LanguageModel.objects.values_list("pk", flat=True)[:1]),
    "samples": each(Sample, "state"), "candidates": each(Candidate, "state"),
    "people": each(User, "role"),
    "cases": each(ReviewCase, "state"), "releases": list(Release.objects.values_list("version", flat=True)[:2]),
    "annotators": [[sample.annotator.username, sample.pk] for sample in samples],
    "names": [*User.objects.values_list("username", flat=True), *map(str, User.objects.all()),
              *[person.name for person in User.objects.all()], *Sample.objects.values_list("public_id", flat=True),
              *LanguageModel.objects.values_list("name", flat=True), *Document.objects.values_list("title", flat=True),
              *Release.objects.values_list("version", flat=True)],
    "reviewers": [[review.reviewer.username, review.case_id] for review in reviews],
}))
"""


@dataclass(frozen=True)
class Visit:
    person: str
    path: str


def routes(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, path)
        elif isinstance(pattern, URLPattern) and "(?P" not in path and not NO_PAGES.match(path):
            yield path


def filled(route: str, ids: dict[str, Any]) -> list[str]:
    """The route with every id there is for it; `<int:pk>` stands behind the words that say whose."""
    if "<" not in route:
        return [route]
    before, _bracket, after = route.partition("<")
    return [f"{before}{pk}{after.partition('>')[2]}" for pk in ids.get(before.strip("/"), [])]


def visits(ids: dict[str, Any]) -> list[Visit]:
    """Everything as the lead; lists as the others; desks as those who work there."""
    everything = sorted(set(routes(get_resolver())))
    planned = [Visit("lead", path) for route in everything for path in filled(route, ids)]
    plain = [route for route in everything if "<" not in route]
    planned += [Visit(person, path) for person in ("expert1", "annotator1") for path in plain]
    planned += [Visit(person, f"samples/{pk}/{part}") for person, pk in ids["annotators"] for part in ("", "verify/")]
    planned += [Visit(person, f"cases/{pk}/{part}/") for person, pk in ids["reviewers"] for part in ("begin", "review")]
    planned += [Visit("expert1", f"cases/{pk}/adjudicate/") for pk in ids["cases"]]
    planned += [Visit("expert5", f"quality/{pk}/") for pk in ids["quality"]]
    planned.append(Visit("lead", "no-such-page/"))
    return sorted(set(planned), key=lambda visit: (visit.person, visit.path))


def untranslated(page: Page, known: re.Pattern[str]) -> list[tuple[str, str]]:
    found = page.evaluate(COLLECT)
    wrong = [] if found["lang"].lower().startswith("zh") else [(f"lang={found['lang']}", "html")]
    for text, element in found["texts"]:
        if WORD.search(LEAVE_OUT.sub(" ", known.sub(" ", text))):
            wrong.append((text[:120], element))
    return wrong


def into_chinese(page: Page) -> None:
    page.locator("header button[name=language]").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")


def enter(context: BrowserContext, name: str) -> Page:
    page = context.new_page()
    page.goto("/account/login/")
    page.locator("[name=login]").fill(name)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("main form button").first.click()
    expect(page).not_to_have_url(re.compile("login"))
    if page.locator("header button[name=language][value=zh-hans]").count():
        into_chinese(page)
    return page


@pytest.fixture(scope="module")
def ids(product: Product) -> dict[str, Any]:
    simulated = product.command("simulate", "--samples", "1", "--seed", "5")
    assert simulated.returncode == 0, simulated.stdout + simulated.stderr
    released = product.command("release", "first", "--allow-incomplete")
    assert released.returncode == 0, released.stdout + released.stderr
    answer = product.command("shell", "-c", DRAW + IDS)
    found: dict[str, Any] = json.loads(answer.stdout.split("IDS", 1)[1].splitlines()[0])
    return found


def names(ids: dict[str, Any]) -> re.Pattern[str]:
    return re.compile("|".join(sorted(map(re.escape, ids["names"]), key=len, reverse=True)))


@dataclass
class Findings:
    """What a walk through the pages met: words left in English, pages that broke, pages seen."""

    left: Counter[tuple[str, str]] = field(default_factory=Counter)
    where: dict[tuple[str, str], str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    seen: int = 0

    def look_at(self, page: Page, place: str, known: re.Pattern[str]) -> None:
        self.seen += 1
        for wrong in untranslated(page, known):
            self.left[wrong] += 1
            self.where.setdefault(wrong, place)

    def report(self) -> str:
        lines = [f"{n}x {self.where[wrong]}: {wrong[0]!r} in {wrong[1]}" for wrong, n in self.left.most_common()]
        return "\n".join(["", *self.broken, *lines])


def walk(page: Page, person: str, paths: list[str], known: re.Pattern[str], findings: Findings) -> None:
    """Opens each path, but for those that only take forms (405)."""
    is_page: dict[str, bool] = {}
    for path in paths:
        kind = re.sub(r"\d+", "#", path)
        if kind not in is_page:
            is_page[kind] = page.request.get("/" + path, max_redirects=0).status != 405
        if not is_page[kind]:
            continue
        try:
            response = page.goto("/" + path, wait_until="domcontentloaded")
        except Error as error:
            findings.broken.append(f"{person} /{path}: {error.message.splitlines()[0]}")
            continue
        if response is None or response.status >= 500:
            findings.broken.append(f"{person} /{path}: {response and response.status}")
        findings.look_at(page, f"{person} /{path}", known)


def walk_all(browser: Browser, address: str, ids: dict[str, Any]) -> Findings:
    findings = Findings()
    planned = visits(ids)
    for person in sorted({visit.person for visit in planned}):
        context = browser.new_context(base_url=address, locale="en-GB")
        page = enter(context, person)
        walk(page, person, [visit.path for visit in planned if visit.person == person], names(ids), findings)
        context.close()
    return findings


@pytest.mark.bench
def test_no_page_shows_an_untranslated_string(browser: Browser, product: Product, ids: dict[str, Any]) -> None:
    findings = walk_all(browser, product.address, ids)
    assert findings.seen > 100
    assert not findings.broken, findings.report()
    assert not findings.left, findings.report()


def test_what_a_visitor_sees_and_a_refused_form_says_is_chinese(browser: Browser, live_server: LiveServer) -> None:
    lead = make_lead("lead")
    lead.set_password(PASSWORD)
    lead.save()
    known, findings = names({"names": [lead.email, lead.username]}), Findings()
    context = browser.new_context(base_url=live_server.url, locale="en-GB")
    page = context.new_page()
    page.goto("/account/login/")
    into_chinese(page)
    walk(page, "nobody", VISITORS_PAGES, known, findings)
    page.goto("/account/login/")
    page.locator("[name=login]").fill("lead")
    page.locator("[name=password]").fill("wrong")
    with page.expect_navigation():
        page.locator("main form button").first.click()
    expect(page.locator("[name=password]")).to_be_visible()
    findings.look_at(page, "a wrong password", known)
    context.close()
    errors = 0
    context = browser.new_context(base_url=live_server.url, locale="en-GB")
    page = enter(context, lead.username)
    for path in FORMS:
        page.goto(path)
        for form in range(page.locator(EMPTY_FORMS).count()):
            page.goto(path)
            sent = page.locator(EMPTY_FORMS).nth(form)
            with page.expect_navigation(wait_until="domcontentloaded"):
                sent.evaluate("form => { form.noValidate = true; HTMLFormElement.prototype.submit.call(form) }")
            errors += page.locator("main [aria-invalid=true]").count()
            findings.look_at(page, f"{path} form {form}", known)
    page.goto("about:blank")
    context.close()
    assert errors >= len(FORMS)
    assert not findings.left, findings.report()
