"""Forty cases as people meet them: two blind reviews by keyboard, adjudication, and all three ways back to a second
round with its audit, standardization, fresh predictions and fresh pair, each person in a browser of their own.
Everything before the first review comes from the simulation; the models are the simulated panel."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import zip_longest
from typing import Any

import pytest
from django.core.management import call_command
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Candidate, Participation, Sample
from annotation.workflow import Job, SampleState
from benchmark.taxonomy import SECONDARY_TASKS, Language, Metric, SecondaryTask
from core.models import BenchmarkSettings, User
from core.workflow import Role
from documents.models import Document, DocumentVersion
from documents.workflow import VersionState
from generation.demo import standardized_parts
from leading import jobs
from leading.simulating import Simulation
from review.models import AnswerReview, ReviewCase
from review.queries import DECIDED, new_people
from review.workflow import CaseState, ReviewState
from tests.browsing import signed_in
from tests.review.test_browser import settled

pytestmark = [pytest.mark.browser, pytest.mark.bench, pytest.mark.django_db(transaction=True)]

CASES = 40
CLEAN, UPHELD, DOCUMENT, QUESTION, ANSWER = "clean", "no_issue", "document", "question", "answer"
# What becomes of the cases, in turn: four times each way back, in either language.
WAYS = (CLEAN, UPHELD, DOCUMENT, CLEAN, UPHELD, QUESTION, CLEAN, UPHELD, ANSWER, UPHELD)
KEY_OF = {UPHELD: "1", DOCUMENT: "2", QUESTION: "3", ANSWER: "4"}
KIND_KEY = {DOCUMENT: "1", QUESTION: "2", ANSWER: "3", UPHELD: "3"}
DOUBT = "Canary: the passage can be read both ways."
REASON = "Settle in the text what the last element rests on."
AGAIN = {Language.ENGLISH: " Count only what the text itself says.", Language.CHINESE: "只依据文中所写。"}
APPENDED = {Language.ENGLISH: "This volume was read once more.\n", Language.CHINESE: "本卷又读过一遍。\n"}
MOST_STEPS = 12


class Town:
    """Everybody there is, each signed in in a browser context of their own; what any page complained of; how long each
    kind of work took, in seconds."""

    def __init__(self, browser: Browser, server: LiveServer, stack: ExitStack) -> None:
        self.browser, self.server, self.stack = browser, server, stack
        self.pages: dict[int, Page] = {}
        self.faults: list[str] = []
        self.took: dict[str, list[float]] = defaultdict(list)
        self.work: Counter[int] = Counter()

    def page(self, person: User) -> Page:
        if person.pk not in self.pages:
            context = self.stack.enter_context(signed_in(self.browser, self.server, person))
            page = context.new_page()
            page.on("pageerror", lambda error: self.faults.append(f"{person}: {error}"))
            page.on("console", lambda line: self._hear(person, line.text) if line.type == "error" else None)
            page.on("response", lambda answer: self._look(person, answer.status, answer.url))
            self.pages[person.pk] = page
        return self.pages[person.pk]

    def _hear(self, person: User, words: str) -> None:
        if "status of" not in words and words != "undefined" and "Status Error Code" not in words:
            self.faults.append(f"{person}: {words}")

    def _look(self, person: User, status: int, url: str) -> None:
        if status >= 400:
            self.faults.append(f"{person}: {status} {url}")

    def lead(self) -> User:
        return User.objects.filter(role=Role.LEAD).order_by("pk")[0]

    def fresh(self, case: ReviewCase, count: int) -> list[User]:
        """People without a part in the sample, those with the least done first."""
        held = {part.person_id: part.job for part in case.sample.participations.all()}
        workers = list(User.objects.filter(role__in=[Role.ANNOTATOR, Role.EXPERT], is_active=True).order_by("pk"))
        people = sorted(new_people(case.sample, workers, held), key=lambda one: (self.work[one.pk], one.pk))[:count]
        self.work.update(person.pk for person in people)
        return people

    def judge(self, sample: Sample) -> User:
        """In turn the expert who audited it, and one who has nothing to do with it."""
        jobs_held = dict(sample.participations.values_list("person", "job"))
        experts = list(User.objects.filter(role=Role.EXPERT).order_by("pk"))
        strangers = [expert for expert in experts if expert.pk not in jobs_held]
        auditors = [expert for expert in experts if jobs_held.get(expert.pk) == Job.JUDGES]
        return (strangers or auditors)[0] if sample.pk % 2 else auditors[0]


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 -- the bench reports


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def write_note(page: Page, key: str, words: str) -> None:
    page.keyboard.press(key)
    expect(page.locator("main :is(input, textarea):focus")).to_have_count(1)
    page.keyboard.type(words)
    page.keyboard.press("Escape")


def button(page: Page | Locator, key: str) -> Locator:
    return page.locator(f"main [data-key={key}]:visible").first


# Before the first review -------------------------------------------------------------------------------------------


def pairs() -> Iterator[tuple[Document, SecondaryTask]]:
    """Documents of the smallest bucket and tasks, the languages in turn; summaries and multiple choice come first."""
    first = {Metric.SUMMARY: 0, Metric.ACCURACY: 1}
    tasks = sorted(SECONDARY_TASKS, key=lambda task: first.get(task.metric, 2))
    documents = Document.objects.filter(latest__state=VersionState.APPROVED).exclude(latest__bucket="")
    for bucket in ("8k", "16k", "32k"):
        of_language = [
            [
                (document, task)
                for document in documents.filter(latest__bucket=bucket, language=language).order_by("pk")
                for task in tasks
            ]
            for language in Language
        ]
        for row in zip_longest(*of_language):
            yield from (pair for pair in row if pair)


def waiting_samples(simulation: Simulation) -> list[Sample]:
    """Forty that wait for their reviewers, half of them in either language."""
    found: dict[Language, list[Sample]] = {language: [] for language in Language}
    for document, task in pairs():
        mine = found[Language(document.language)]
        if len(mine) == CASES // 2:
            continue
        sample = simulation.new_sample(iter([(document, task)]))
        if simulation.advance_to(sample, SampleState.IN_REVIEW):
            mine.append(sample)
            simulation.say(f"{sample.label} {sample.task_code} waits")
        if all(len(samples) == CASES // 2 for samples in found.values()):
            break
    together = [sample for row in zip(*found.values(), strict=True) for sample in row]
    # Ten ways and two languages: each second ten begins with the other language, so that each way meets both.
    tens = [together[at : at + 10] for at in range(0, CASES, 10)]
    return [sample for place, ten in enumerate(tens) for sample in (swapped(ten) if place % 2 else ten)]


def swapped(samples: list[Sample]) -> list[Sample]:
    return [sample for one, other in zip(samples[::2], samples[1::2], strict=True) for sample in (other, one)]


# The pages ---------------------------------------------------------------------------------------------------------


def review(town: Town, case: ReviewCase, person: User, *, doubt: str = "") -> None:
    """Begin, judge every row by one key, note, submit. `doubt`: the way that the case is to go."""
    began, page = time.monotonic(), town.page(person)
    page.goto(f"/cases/{case.pk}/review/")
    expect(button(page, "y")).to_be_focused()
    press(page, "y")
    expect(page.locator("#review")).to_be_visible()
    assert page.evaluate("document.activeElement !== document.body")
    assert DOUBT not in page.content()
    marks, predicted = page.locator("[data-row=mark]").count(), page.locator("[data-row=recall]").count()
    assert marks == len(case.standardization.answer)
    press(page, "c " * (marks - 1))
    if doubt:
        write_note(page, "w", DOUBT)
    press(page, "i" if doubt else "c")
    press(page, "u " * predicted)
    if doubt:
        write_note(page, KIND_KEY[doubt], DOUBT)
    expect(page.locator("[data-progress]")).to_contain_text(f"{marks + predicted} of {marks + predicted} judged")
    expect(page.locator("[data-submit]")).to_contain_text("with an issue" if doubt else "no issue")
    press(page, "y")
    expect(page.locator("#toasts")).to_contain_text("frozen")
    town.took["review"].append(time.monotonic() - began)


def adjudicate(town: Town, case: ReviewCase, expert: User, way: str) -> None:
    began, page = time.monotonic(), town.page(expert)
    names = [review.reviewer.name for review in case.reviews.all()]
    page.goto(f"/cases/{case.pk}/adjudicate/")
    assert DOUBT not in page.content()
    expect(button(page, "y")).to_be_focused()
    press(page, "y")
    expect(page.locator("#decide")).to_be_visible()
    expect(page.locator("main .col")).to_contain_text(DOUBT)
    shown = page.locator("main .col").inner_text()
    assert [name for name in names if name in shown] == []
    total = page.locator("[data-row]").count()
    for done in range(total):
        row = page.locator("[data-row][aria-current=true]")
        of_answer = row.get_attribute("data-row") == "decide"
        doubted = way == ANSWER and row.get_attribute("data-element") == case.standardization.answer[-1]
        press(page, ("i" if doubted else "c") if of_answer else "u")
        expect(page.locator("[data-decided]")).to_contain_text(f"{done + 1} of {total}")
    press(page, KEY_OF[way])
    write_note(page, "w", REASON)
    # On another machine everything ticked and typed is there again.
    expect(page.locator("[data-save-for=decide]")).to_have_attribute("data-state", "saved")
    settled(page)
    page.goto(f"/cases/{case.pk}/adjudicate/")
    expect(page.locator("#reason")).to_have_value(REASON)
    expect(page.locator("[data-decided]")).to_contain_text(f"{total} of {total}")
    press(page, "y")
    expect(page.locator("#toasts")).to_contain_text("Decided")
    town.took["adjudication"].append(time.monotonic() - began)


def revise_document(town: Town, sample: Sample) -> None:
    """The lead writes a new version, somebody clears it, the lead lets the sample adopt it."""
    lead, number = town.page(town.lead()), sample.document_id
    lead.goto(f"/documents/{number}/revise/")
    text = lead.locator("[name=text]")
    text.fill(text.input_value() + APPENDED[Language(sample.language)])
    lead.locator("[name=reason]").fill(REASON)
    lead.locator("main form [data-ctrl-enter]").click()
    expect(lead).not_to_have_url(f"{town.server.url}/documents/{number}/revise/")
    jobs.work_off()
    clearing = town.page(User.objects.get(username="annotator6"))
    clearing.goto(f"/documents/{number}/")
    clearing.locator("button[value=approve]").click()
    clearing.goto(f"/documents/{number}/")
    expect(clearing.locator("button[value=approve]")).to_have_count(0)
    newest = DocumentVersion.objects.filter(document=number).latest("number")
    assert newest.state == VersionState.APPROVED
    lead.goto(f"/samples/{sample.pk}/")
    lead.get_by_role("button", name="Adopt the revised document").click()
    expect(lead.get_by_role("button", name="Adopt the revised document")).to_have_count(0)


def edit(page: Page, sample: Sample, candidate: Candidate, way: str) -> None:
    """What was ordered, as far as the task allows it: a shorter answer must still be one."""
    field, key = ("question", "q") if way == QUESTION else ("answer", "a")
    if way == QUESTION:
        page.keyboard.press(key)
        page.locator("textarea[name=question]").fill(candidate.question + AGAIN[Language(sample.language)])
    else:
        shorter = candidate.answer[:-1]
        if way != ANSWER or sample.task.metric is Metric.SUMMARY or len(shorter) < sample.task.min_elements:
            return
        page.keyboard.press(key)
        page.locator("#answer-part [name=answer]").first.wait_for(state="attached")
        page.locator("#answer-part .lines input").last.press("Alt+Delete")
    page.locator(f"#{field}-part [data-done]").click()
    expect(page.locator(f"#{field}-part [data-done]")).to_have_count(0)


def verify_again(town: Town, sample: Sample, way: str) -> None:
    """The annotator at the desk, from the step that was opened to the submission."""
    assert sample.annotator is not None
    assert sample.chosen is not None
    began, page = time.monotonic(), town.page(sample.annotator)
    page.goto(f"/samples/{sample.pk}/")
    page.get_by_role("button", name="Claim and open").click()
    page.wait_for_selector("[data-ready]")
    page.goto(f"/samples/{sample.pk}/verify/?candidate={sample.chosen.position}")
    page.wait_for_selector("[data-ready]")
    expect(page.locator("#pane")).to_contain_text(REASON)
    edit(page, sample, sample.chosen, way)
    dock = page.locator("#dock")
    for _step in range(MOST_STEPS):
        step = dock.get_attribute("data-step")
        if step == "ended":
            town.took["verification"].append(time.monotonic() - began)
            return
        one_step(page, dock, step or "")
        expect(dock).not_to_have_attribute("data-step", step or "")
    pytest.fail(f"{sample.label} is stuck at {dock.get_attribute('data-step')}: {dock.inner_text()}")


def one_step(page: Page, dock: Locator, step: str) -> None:
    if step in {"task_a", "task_b", "submit"}:
        for check in dock.get_by_role("checkbox").all():
            check.check()
        dock.locator("button[data-pass]").click()
    elif step == "task_c":
        challenge(page, dock)
    else:
        dock.locator("[data-key=y]:visible").click()


def challenge(page: Page, dock: Locator) -> None:
    if dock.locator("form[id^=ask-]").count():
        dock.locator("[data-key=y]:visible").click()
        expect(dock.locator("form[id^=judge-]")).to_be_visible()
        jobs.work_off()
    expect(dock.locator("#why")).to_contain_text(" 0 still answering", timeout=60_000)
    if dock.locator("button[value=challenging]").get_attribute("aria-disabled") != "true":
        dock.locator("button[value=challenging]").click()
        return
    dock.locator("[data-target='#valuable']").click()
    page.locator("#valuable-why").fill("It joins two distant passages.")
    page.locator("#valuable button[value=valuable]").click()


def audit_again(town: Town, sample: Sample) -> None:
    began = time.monotonic()
    auditor = sample.submissions.order_by("number")[0].audited_by
    assert auditor is not None
    page = town.page(auditor)
    page.goto(f"/samples/{sample.pk}/")
    page.get_by_role("button", name="Claim and open").click()
    approve = page.locator("form[id^=approve-] [data-key=y]")
    expect(approve).to_be_focused()
    press(page, "y")
    expect(approve).to_have_count(0)
    town.took["audit"].append(time.monotonic() - began)


def standardize_again(town: Town, sample: Sample) -> None:
    assert sample.annotator is not None
    approved = sample.submissions.latest("number")
    began, page = time.monotonic(), town.page(sample.annotator)
    page.goto(f"/samples/{sample.pk}/")
    opening = page.get_by_role("button", name="Claim and open")
    opening.or_(page.get_by_role("link", name="Open", exact=True)).first.click()
    parts = standardized_parts(
        question=approved.question,
        elements=approved.elements,
        options=approved.options,
        answer=approved.answer,
        language=sample.language,
        task=sample.task_code,
    )
    form = page.locator("form[data-standardize]")
    for name in ("task_description", "elements", "supplementary"):
        form.locator(f"[name={name}]").fill(getattr(parts, name))
    form.locator("[name=example]").fill("\n".join(parts.example))
    expect(page.locator("#prompt-thinking")).to_contain_text(parts.task_description[-20:])
    expect(page.locator("#previewed [data-severity=error]")).to_have_count(0)
    page.locator("[data-complete]").click()
    expect(page.locator("[data-complete]")).to_have_count(0)
    town.took["standardization"].append(time.monotonic() - began)


# The whole ---------------------------------------------------------------------------------------------------------


def first_round(town: Town, case: ReviewCase, way: str) -> None:
    one, other = town.fresh(case, 2)
    doubts = {one: "" if way == CLEAN else way}
    for person in (one, other) if case.pk % 3 else (other, one):
        review(town, case, person, doubt=doubts.get(person, ""))
    case.refresh_from_db()
    assert case.state == (CaseState.ACCEPTED if way == CLEAN else CaseState.DISPUTED)
    if way != CLEAN:
        adjudicate(town, case, town.judge(case.sample), way)


def second_round(town: Town, sample: Sample, way: str) -> None:
    if way == DOCUMENT:
        revise_document(town, sample)
        sample.refresh_from_db()
    assert sample.state == SampleState.RETURNED, sample.state
    verify_again(town, sample, way)
    audit_again(town, sample)
    standardize_again(town, sample)
    jobs.work_off()
    first, second = ReviewCase.objects.filter(sample=sample).order_by("round")
    assert second.state == CaseState.OPEN
    assert second.prediction_run_id not in {None, first.prediction_run_id}
    fresh = town.fresh(second, 2)
    assert not {person.pk for person in fresh} & set(first.reviews.values_list("reviewer", flat=True))
    for person in fresh:
        review(town, second, person)


def look_at_rounds(town: Town, sample: Sample, way: str) -> None:
    """Both rounds are on the page of the last one, with what changed."""
    page = town.page(town.lead())
    page.goto(f"/cases/{ReviewCase.objects.filter(sample=sample).latest('round').pk}/adjudicate/")
    rounds = page.locator(".rounds > li")
    expect(rounds).to_have_count(2)
    expect(rounds.first).to_contain_text(REASON)
    if way == QUESTION:
        expect(rounds.last.locator("ins").first).to_be_visible()
    page.goto("/agreement/")
    expect(page.locator("table.agree").first).to_be_visible()


def held_by(sample: Sample) -> dict[str, set[int]]:
    held: dict[str, set[int]] = defaultdict(set)
    for part in Participation.objects.filter(sample=sample):
        held[part.job].add(part.person_id)
    return held


def check(sample: Sample, way: str) -> None:
    """Accepted at last; each round has two reviewers, never who verified, audited or adjudicated."""
    sample.refresh_from_db()
    assert sample.state == SampleState.ACCEPTED, (sample.label, sample.state)
    cases = list(ReviewCase.objects.filter(sample=sample).order_by("round"))
    assert len(cases) == (1 if way in {CLEAN, UPHELD} else 2)
    seen: set[int] = set()
    for case in cases:
        reviewers = set(AnswerReview.objects.filter(case=case, state=ReviewState.SUBMITTED).values_list("reviewer"))
        assert len(reviewers) == case.reviews.count() == 2, case.pk
        assert not seen & {pk for (pk,) in reviewers}
        seen |= {pk for (pk,) in reviewers}
        assert case.state in DECIDED
    held = held_by(sample)
    assert held[Job.REVIEWS] == seen
    assert not seen & (held[Job.VERIFIES] | held[Job.JUDGES])


def test_forty_cases_are_reviewed_adjudicated_and_reconstructed_in_the_browser(
    browser: Browser, live_server: LiveServer, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    ways = [WAYS[place % len(WAYS)] for place in range(CASES)]
    met: dict[str, set[Any]] = defaultdict(set)
    with capsys.disabled(), ExitStack() as stack:
        simulation = Simulation(seed=6, say=say)
        simulation.prepare()
        BenchmarkSettings.load()
        BenchmarkSettings.objects.update(claims_per_person=50)
        samples = waiting_samples(simulation)
        assert len(samples) == CASES
        say(f"{CASES} samples wait for reviewers after {time.monotonic() - began:.0f} s")
        town = Town(browser, live_server, stack)
        for number, (sample, way) in enumerate(zip(samples, ways, strict=True), 1):
            case = ReviewCase.objects.select_related("sample", "standardization").get(sample=sample)
            first_round(town, case, way)
            sample.refresh_from_db()
            if way in {DOCUMENT, QUESTION, ANSWER}:
                second_round(town, sample, way)
                look_at_rounds(town, sample, way)
            check(sample, way)
            met[way] |= {sample.language}
            met["tasks"] |= {sample.task_code}
            met["metrics"] |= {(sample.task.metric, sample.language)}
            say(f"{number} {sample.label} {sample.task_code} {sample.language} {way}")
        for kind, seconds in sorted(town.took.items()):
            middle = sorted(seconds)[len(seconds) // 2]
            say(f"{kind}: {len(seconds)}, median {middle:.1f} s, longest {max(seconds):.1f} s")
        say(f"{len(met['tasks'])} tasks, faults: {town.faults}")
    assert all(len(met[way]) == len(Language) for way in WAYS)
    assert {(metric, language) for metric in (Metric.SUMMARY, Metric.ACCURACY) for language in Language} <= met[
        "metrics"
    ]
    assert town.faults == []
    call_command("check_invariants")
