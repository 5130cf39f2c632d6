"""Counts come from one module; pages and API show the same."""

import csv
import io
import random
from collections import Counter
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.actions import claim_sample, release_claim
from annotation.models import Sample
from annotation.workflow import SampleState
from benchmark.taxonomy import Language
from core import history
from core.models import BenchmarkSettings
from core.refusals import Invalid
from documents.models import DocumentVersion
from leading import actions, planning, queries
from tests.factories import (
    make_annotator,
    make_case,
    make_claim,
    make_expert,
    make_lead,
    make_sample,
    make_submission,
    make_version,
)
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db


def test_the_grid_has_every_cell_and_counts_accepted_and_under_way() -> None:
    make_sample(state=SampleState.ACCEPTED, task_code="T1.2")
    make_sample(state=SampleState.IN_AUDIT, task_code="T1.2")
    make_sample(state=SampleState.EXHAUSTED, task_code="T1.2")
    cells = queries.cells()
    assert len(cells) == 300
    cell = next(cell for cell in cells if (cell.task.code, cell.language, cell.bucket) == ("T1.2", "English", "8k"))
    assert (cell.done, cell.under_way, cell.missing) == (1, 1, 4)


def test_a_cell_target_of_its_own_wins_over_the_general_one() -> None:
    actions.set_cell_target(task_code="T1.2", language="English", bucket="8k", target=2, by=make_lead())
    cell = next(
        cell for cell in queries.cells() if (cell.task.code, cell.language, cell.bucket) == ("T1.2", "English", "8k")
    )
    assert cell.target == 2


def test_page_and_api_agree_on_the_funnel() -> None:
    make_sample(state=SampleState.IN_AUDIT)
    make_sample(state=SampleState.IN_AUDIT)
    client = client_of(make_lead())
    answer = client.get("/api/v1/progress/").json()
    by_state = {stage["state"]: stage["count"] for stage in answer["stages"]}
    page = client.get(reverse("leading:progress"))
    assert by_state["in_audit"] == 2
    assert {stage.state: stage.count for stage in page.context["funnel"]} == by_state


def test_the_work_list_shows_returned_work_first_and_why_each_is_mine() -> None:
    person = make_annotator()
    claimed = make_sample()
    make_claim(claimed, person)
    returned = make_sample(state=SampleState.RETURNED, annotator=person)
    groups = client_of(person).get("/").context["groups"]
    assert [item.label for item in groups[0].items] == [returned.label, claimed.label]


def test_work_of_others_is_not_offered_to_a_person_with_another_job_on_the_sample() -> None:
    annotator, expert = make_annotator(), make_expert()
    sample = make_sample(state=SampleState.IN_AUDIT)
    make_submission(sample, by=expert)
    assert sample not in queries.audits_for(expert)
    assert sample in queries.audits_for(make_expert())
    assert sample not in queries.free_samples(annotator)


@pytest.mark.parametrize("role", ["annotator", "expert", "lead"])
def test_the_work_list_takes_a_constant_number_of_queries(
    role: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    person = {"annotator": make_annotator, "expert": make_expert, "lead": make_lead}[role]()
    client = client_of(person)

    def count() -> int:
        with django_assert_max_num_queries(60) as captured:
            assert client.get("/").status_code == 200
        return len(captured)

    def more() -> None:
        make_sample()
        make_claim(make_sample(), person)
        make_sample(state=SampleState.RETURNED, annotator=person)
        make_submission(make_sample(state=SampleState.IN_AUDIT), by=make_annotator())

    more()
    count()  # the first request makes the settings' row
    few = count()
    for _round in range(4):
        more()
    assert count() == few


def test_figures_that_would_let_buckets_overlap_are_refused() -> None:
    with pytest.raises(Invalid):
        actions.change_settings(by=make_lead(), tolerance_percent=50)
    assert BenchmarkSettings.load().tolerance_percent == 20


def test_a_changed_tolerance_leaves_samples_where_they_are_and_lists_them() -> None:
    sample = make_sample(version=make_version(tokens=9700))
    free = make_version(tokens=9700)
    actions.change_settings(by=make_lead(), tolerance_percent=10)
    free.refresh_from_db()
    sample.document_version.refresh_from_db()
    assert free.bucket == ""
    assert sample.document_version.bucket == "8k"
    assert queries.out_of_bucket() == [sample]


def test_what_a_person_did_last_is_said_in_words() -> None:
    lead = make_lead()
    actions.set_cell_target(task_code="T1.2", language="English", bucket="8k", target=2, by=lead)
    assert "set a cell’s target" in client_of(lead).get("/").content.decode().replace("&#x27;", "’")


def test_a_lapsed_claim_keeps_nobody_from_the_sample() -> None:
    sample, holder, other = make_sample(), make_annotator(), make_annotator()
    claim = make_claim(sample, holder)
    assert sample not in queries.free_samples(other)
    claim.lapses_at = timezone.now() - timedelta(minutes=1)
    claim.save()
    assert sample in queries.free_samples(other)
    assert sample not in queries.own_samples(holder)


def test_a_released_sample_is_offered_to_the_one_who_released_it_again() -> None:
    sample, person = make_sample(), make_annotator()
    claim_sample(sample=sample, by=person)
    release_claim(sample=sample, by=person)
    assert sample in queries.free_samples(person)


def test_a_case_with_a_free_seat_waits_on_the_work_list_of_who_may_review_it() -> None:
    case = make_case()
    offered = client_of(make_annotator()).get("/").context["groups"]
    verifier = case.sample.annotator
    assert verifier is not None
    assert [item.label for group in offered for item in group.items] == [case.sample.label]
    assert client_of(verifier).get("/").context["groups"] == []


# Counts agree over any history ------------------------------------------------------------------------------------

BUCKETS = ("8k", "16k", "256k")
TASKS = ("T1.1", "T1.2", "T9.1")
# What only moves where another app wants it: an import is of an empty system, the rest belongs to it.
MOVES = [move for move in Sample.lifecycle.moves if move != "import_from_release"]


class History:
    """A benchmark on which anything that may happen happens, by chance: documents come and lose their approval, pairs
    are planned, samples go along every way that their lifecycle has, figures and targets change."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.lead = make_lead()
        self.client = client_of(self.lead)
        for _number in range(3):
            self.bring_document()

    def go(self, steps: int) -> None:
        # A sample moves along most often, as at any benchmark.
        happenings = [self.move] * 8 + [self.plan] * 2 + [self.lose_approval, self.bring_document, self.set_target]
        for _step in range(steps):
            self.chance.choice(happenings)()

    def bring_document(self) -> None:
        make_version(bucket=self.chance.choice(BUCKETS), language=self.chance.choice([*Language]))

    def plan(self) -> None:
        wish = planning.Wish(self.chance.randint(1, 4), task_code=self.chance.choice(TASKS))
        pairs = [planning.Pair(one.source.pk, one.cell.task.code) for one in planning.propose(wish).proposals]
        if pairs:
            planning.make_samples(pairs=pairs, by=self.lead)

    def move(self) -> None:
        samples = list(Sample.objects.order_by("pk"))
        if not samples:
            return self.plan()
        sample = self.chance.choice(samples)
        for _turn in range(self.chance.randint(1, 9)):
            possible = [move for move in MOVES if Sample.lifecycle.allows(sample.state, move)]
            if possible:
                with suppress(IntegrityError), transaction.atomic():  # brought back, where the pair was planned anew
                    history.advance(sample, self.chance.choice(possible), by=None)
        return None

    def lose_approval(self) -> None:
        version = self.chance.choice(list(DocumentVersion.objects.order_by("pk")))
        if version.is_approved:
            history.advance(version, "reject", by=None)
        elif self.chance.random() < 0.5:
            history.advance(version, "approve", by=None)
        elif self.chance.random() < 0.3:
            # Its bucket is none of the benchmark's any more.
            DocumentVersion.objects.filter(pk=version.pk).update(bucket="")

    def set_target(self) -> None:
        cell = self.chance.choice(queries.cells())
        actions.set_cell_targets(targets={cell.key: self.chance.choice([0, 1, 9, None])}, by=self.lead)


def listed(client: Client, **query: str) -> int:
    """How many the page of samples says there are; as many as the API says."""
    page = client.get(reverse("annotation:sample_list"), query)
    api = client.get("/api/v1/samples/", {**query, "page_size": "1"}).json()["count"]
    assert page.context["page_obj"].paginator.count == api, query
    return int(api)


def counts_agree(client: Client) -> None:
    """Every page, list and answer against what one sees who counts the rows by hand."""
    rows = list(Sample.objects.select_related("document", "document_version"))
    by_state = Counter(sample.state for sample in rows)
    live = [sample for sample in rows if sample.state != SampleState.EXHAUSTED]
    blocked = sum(sample.is_blocked for sample in live)
    settings = BenchmarkSettings.load()
    in_grid = [sample for sample in rows if sample.bucket in settings.lengths.names()]
    accepted_in_grid = sum(sample.state == SampleState.ACCEPTED for sample in in_grid)

    work = client.get("/").context
    overview, plan = client.get("/progress/").context, client.get("/plan/").context
    api, api_plan = client.get("/api/v1/progress/").json(), client.get("/api/v1/plan/").json()
    release = client.get("/releases/").context

    # By state: three pages, two lists, one API.
    for funnel in (work["funnel"], overview["funnel"]):
        assert {stage.state: stage.count for stage in funnel if stage.count} == by_state
        assert sum(stage.blocked for stage in funnel) == blocked
    assert {one["state"]: one["count"] for one in api["stages"] if one["count"]} == by_state
    assert listed(client) == len(rows)
    for state in queries.STAGE_ORDER:
        assert listed(client, state=state) == by_state[state]
    assert listed(client, blocked="true") == work["waiting"].blocked == blocked
    assert listed(client, live="true") == len(live)
    under_way = len(live) - by_state[SampleState.ACCEPTED]
    assert listed(client, under_way="true") == under_way
    assert work["waiting"].planned == by_state[SampleState.PLANNED]
    assert work["waiting"].unlabelled == overview["unlabelled"] == api["without_difficulty"]
    assert work["waiting"].awaiting_document == by_state[SampleState.AWAITING_DOCUMENT]

    # By cell: what the grids, the table, the files and both answers say.
    counted = {measure.name: total for measure, total in plan["counted"]}
    assert counted["accepted"] == overview["done"] == overview["sum"] == accepted_in_grid
    assert counted["held"] == counted["accepted"] + counted["under_way"]
    assert overview["outside"] == plan["outside"] == api["in_no_cell"] == len(rows) - len(in_grid)
    assert counted["held"] + counted["exhausted"] + overview["outside"] == len(rows)
    file = client.get("/progress/", {"csv": "progress"}).getvalue().decode("utf-8-sig")
    cells = list(csv.DictReader(io.StringIO(file)))
    for name in ("accepted", "under_way", "blocked", "exhausted", "in_audit"):
        assert sum(int(row[name]) for row in cells) == counted[name], name
    for name in ("accepted", "under_way", "missing", "to_plan", "blocked", "target"):
        told = sum(cell[name] for cell in api["cells"])
        assert told == sum(cell[name] for cell in api_plan["cells"]) == sum(int(row[name]) for row in cells), name
    assert sum(cell["to_plan"] for cell in api["cells"]) == plan["unplanned"] == overview["expected"].unplanned
    assert overview["expected"].missing == api["forecast"]["missing"] == sum(int(row["missing"]) for row in cells)
    sample = next(iter(in_grid), None)
    if sample:
        where = {"secondary_task": sample.task_code, "language": sample.language.value, "bucket": sample.bucket}
        key = (sample.task_code, sample.language.value, sample.bucket)
        (cell,) = [one for one in queries.cells() if one.key == key]
        assert listed(client, **where) == sum(cell.states.values())
        assert listed(client, **where, live="true") == cell.held

    # What can be released is accepted; the targets are those of the plan.
    assert len(release["report"].verdicts) == by_state[SampleState.ACCEPTED]
    squares = [filled for row in release["rows"] for part in row.parts for filled in part]
    assert [filled.target for filled in squares] == [cell["target"] for cell in api["cells"]]
    assert release["ready"] + release["left_out_count"] == by_state[SampleState.ACCEPTED]


@pytest.mark.parametrize("seed", [1, 3])
def test_counts_agree_on_every_page_list_and_answer_whatever_happened(seed: int) -> None:
    past = History(seed)
    for steps in (30, 40):
        past.go(steps)
        counts_agree(past.client)


def test_counts_fall_when_a_sample_ends_or_goes_back() -> None:
    """T-35: created, ended, brought back, sent back, blocked, its approval given again."""
    lead, expert = make_lead(), make_expert()
    client = client_of(lead)
    sample = make_sample(state=SampleState.IN_VERIFICATION, annotator=make_annotator())

    def held() -> tuple[int, int, int]:
        counted = {measure.name: total for measure, total in client.get("/plan/").context["counted"]}
        return counted["under_way"], counted["accepted"], counted["blocked"]

    assert held() == (1, 0, 0)
    assert listed(client, under_way="true") == 1
    for move, counts in (
        ("exhaust", (0, 0, 0)),
        ("bring_back", (1, 0, 0)),
        ("submit", (1, 0, 0)),
        ("reject", (1, 0, 0)),
        ("submit", (1, 0, 0)),
        ("approve", (1, 0, 0)),
        ("reopen", (1, 0, 0)),
    ):
        history.advance(sample, move, by=expert)
        assert held() == counts, move
        assert listed(client, under_way="true") == counts[0], move
    history.advance(sample.document_version, "reject", by=lead)
    assert held() == (1, 0, 1)
    counts_agree(client)
    history.advance(sample.document_version, "approve", by=lead)
    for move in ("submit", "approve", "standardize", "open_review", "accept"):
        history.advance(sample, move, by=expert)
    assert held() == (0, 1, 0)
