"""Counts come from one module; pages and API show the same."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.actions import claim_sample, release_claim
from annotation.workflow import SampleState
from core.models import BenchmarkSettings, User
from core.refusals import Invalid
from leading import actions, queries
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

pytestmark = pytest.mark.django_db


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


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
    client = signed_in(make_lead())
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
    groups = signed_in(person).get("/").context["groups"]
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
    client = signed_in(person)

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
    assert "set a cell’s target" in signed_in(lead).get("/").content.decode().replace("&#x27;", "’")


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
    offered = signed_in(make_annotator()).get("/").context["groups"]
    verifier = case.sample.annotator
    assert verifier is not None
    assert [item.label for group in offered for item in group.items] == [case.sample.label]
    assert signed_in(verifier).get("/").context["groups"] == []
