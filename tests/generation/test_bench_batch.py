"""A batch of 100 samples through drafting, with every fault mixed in and a worker killed twice: what the runs page
shows, the server's ledger and the invariants agree to the last call."""

import hashlib
import os
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from django.db.models import Count, Sum
from django.db.models.functions import Coalesce
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from annotation.actions import draft_sample
from annotation.models import Candidate, Sample
from annotation.workflow import SampleState
from core.models import Event, User
from generation import actions
from generation.budgeting import spending
from generation.listing import RunLine
from generation.models import Call, Draft, LanguageModel, Run
from generation.panels import ensure_panel
from generation.workflow import CallState, RunState
from leading.invariants import violations
from tests.factories import make_lead, make_model, make_version
from tests.generation.workshop import Workshop, ledger, say, scripted_server, until, workshop

pytestmark = [pytest.mark.bench, pytest.mark.django_db(transaction=True)]

SAMPLES = int(os.environ.get("LBP_BENCH_SAMPLES", "100"))
KILLS = 2


def planned(count: int) -> list[Sample]:
    return [
        Sample.objects.create(
            document=version.document,
            document_version=version,
            task_code="T1.2",
            state=SampleState.PLANNED,
        )
        for version in (make_version(tokens=1000 + number) for number in range(count))
    ]


def none_is_left() -> bool:
    return not Run.objects.exclude(state=RunState.FINISHED).exists()


def drafted() -> bool:
    return not Sample.objects.filter(state=SampleState.DRAFTING).exists()


def run_the_batch(made: Workshop, lead: User) -> int:
    """Two kills on the way, and a lead who resumes what a refused key has paused. Returns how often that was."""
    ended = Call.objects.exclude(state__in=[CallState.QUEUED, CallState.CALLING])
    worker, killed, resumed = made.worker(), 0, 0
    began = time.monotonic()
    try:
        while not none_is_left():
            assert time.monotonic() - began < 900, made.log()[-3000:]
            if killed < KILLS and ended.count() > (killed + 1) * SAMPLES * 5 // 3:
                worker.kill_group()
                killed += 1
                worker = made.worker()
            for model in LanguageModel.objects.exclude(paused_at=None):
                time.sleep(1)
                actions.resume_model(model=model, by=lead)
                resumed += 1
            time.sleep(0.2)
        until(drafted, within=120)
    finally:
        worker.end()
    assert killed == KILLS
    return resumed


def the_page_agrees(lead: User) -> None:
    """The list of runs, read page by page as a lead sees it, against the calls."""
    client = Client()
    client.force_login(lead)
    shown: list[RunLine] = []
    number = 1
    while True:
        context = client.get(reverse("generation:run_list"), {"page": number}).context
        shown.extend(context["lines"])
        if not context["page_obj"].has_next():
            break
        number += 1
    assert len(shown) == SAMPLES
    counts = Counter(Call.objects.values_list("state", flat=True))
    tally = context["tally"]
    for state in CallState.values:
        assert sum(line.states.get(state, 0) for line in shown) == counts[state], state
        if state != CallState.FAILED:
            assert getattr(tally, state) == counts[state], state
    assert tally.failed == sum(line.failed for line in shown)
    assert sum(line.total for line in shown) == sum(line.ended for line in shown) == Call.objects.count()
    cost = Call.objects.aggregate(cost=Coalesce(Sum("cost_usd"), Decimal(0)))["cost"]
    assert sum(line.cost.usd for line in shown) == cost == spending().spent_usd


def the_history_agrees() -> None:
    sent = Counter(Event.objects.filter(action="generation.send").values_list("subject_id", flat=True))
    assert {call.pk: call.attempts for call in Call.objects.all() if call.attempts} == dict(sent)


def the_samples_have_what_was_drafted() -> None:
    for sample in Sample.objects.annotate(count=Count("candidates")):
        assert sample.count == Draft.objects.filter(call__runs=sample.drafting_run_id).count()
        # One for which no model gave a valid draft goes back to be drafted again.
        assert sample.state == (SampleState.IN_VERIFICATION if sample.count else SampleState.PLANNED)
    assert Candidate.objects.count() == Draft.objects.count()


def the_ledger_agrees(made: Workshop) -> None:
    """Every request stands for one attempt of one call; an attempt without a request is one that a kill cut short."""
    requests: Counter[tuple[str, str, bool]] = Counter()
    for entry in ledger(made):
        messages = entry["body"]["messages"]
        document = messages[1]["content"].split('">\n', 1)[1].rpartition("\n</document id=")[0]
        digest = hashlib.sha256(document.encode()).hexdigest()
        requests[entry["body"]["model"], digest, len(messages) > 2] += 1
    cut_short = 0
    for call in Call.objects.select_related("model", "document_version"):
        name = call.model.litellm_id.rpartition("/")[2]
        arrived = requests.pop((name, call.document_version.sha256, call.repairs_id is not None), 0)
        lost = call.error_class == "worker_lost"
        assert arrived in ({call.attempts, call.attempts - 1} if lost else {call.attempts}), call.pk
        cut_short += call.attempts - arrived
    assert not requests, "requests that no call accounts for"
    say(f"{len(ledger(made))} requests, {cut_short} attempts cut short before their request left")


def tell() -> None:
    states = Counter(Call.objects.values_list("state", flat=True))
    troubles = Counter(Call.objects.exclude(error_class="").values_list("error_class", flat=True))
    money = spending()
    say(f"{Call.objects.count()} calls of {SAMPLES} samples: {dict(states)}; {dict(troubles)}")
    say(f"spent {money.spent_usd}, possibly spent {money.reserved_usd}, {Draft.objects.count()} drafts")


def test_a_batch_on_a_server_with_every_fault(tmp_path: Path, settings: Settings) -> None:
    settings.LBP_PANEL = "real"
    ledger_file = str(tmp_path / "ledger.jsonl")
    with (
        workshop(tmp_path) as made,
        scripted_server(made, ledger_file, "0", "tests.generation.faulty:prepare") as host,
    ):
        for number in range(5):
            make_model(
                f"local-{number}",
                panel="real",
                litellm_id=f"openai/local-{number}",
                api_base=f"http://{host}/v1",
                key_variable="LBP_KEY_LOCAL",
                usd_per_million_input="1.25",
                usd_per_million_output="10",
            )
        lead = make_lead()
        for sample in planned(SAMPLES):
            draft_sample(sample=sample, by=lead)
        resumed = run_the_batch(made, lead)
        tell()
        assert resumed >= 1
        the_page_agrees(lead)
        the_history_agrees()
        the_samples_have_what_was_drafted()
        the_ledger_agrees(made)
        assert [str(violation) for violation in violations()] == []


def test_a_batch_on_the_simulated_panel(tmp_path: Path, settings: Settings) -> None:
    settings.LBP_PANEL = "demo"
    ensure_panel("demo")
    with workshop(tmp_path, LBP_PANEL="demo") as made:
        lead = make_lead()
        for sample in planned(SAMPLES):
            draft_sample(sample=sample, by=lead)
        run_the_batch(made, lead)
        tell()
        assert spending().spent_usd == spending().reserved_usd == 0
        the_page_agrees(lead)
        the_history_agrees()
        the_samples_have_what_was_drafted()
        assert [str(violation) for violation in violations()] == []
