"""Pace, forecast, time and outcomes: what the pages of progress say of histories that are known."""

import csv
import io
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.models import ActiveTime, Sample, Submission
from annotation.workflow import CandidateState, SampleState, TimedStep
from generation.models import Call
from generation.workflow import Purpose
from leading import effort, outcomes, pace, plots, queries
from leading.actions import set_cell_targets
from leading.pace import reckon
from release.models import ImportedSample, ReleaseImport
from review.models import Adjudication
from review.workflow import CaseState
from tests.factories import (
    make_annotator,
    make_call,
    make_case,
    make_expert,
    make_lead,
    make_model,
    make_review,
    make_run,
    make_sample,
    make_standardized_sample,
    make_submission,
    make_version,
)

pytestmark = pytest.mark.django_db

NOW = date(2026, 11, 30)


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(make_lead())
    return client


def rows_of(page: Client, url: str, name: str) -> list[dict[str, str]]:
    file = page.get(reverse(url), {"csv": name})
    assert f'filename="{name}.csv"' in file.headers["Content-Disposition"]
    assert file.streaming
    return list(csv.DictReader(io.StringIO(file.getvalue().decode("utf-8-sig"))))


def accepted(days_ago: int, *, count: int = 1) -> list[Sample]:
    """Each in a cell of its own task, as far as tasks go."""
    moment = timezone.now() - timedelta(days=days_ago)
    return [make_sample(state=SampleState.ACCEPTED, state_since=moment, candidates=0) for _number in range(count)]


# Forecast --------------------------------------------------------------------------------------------------------


def reckoned(per_day: dict[int, int]) -> pace.Forecast:
    """From acceptances so many days ago."""
    here = Counter({NOW - timedelta(days=ago): count for ago, count in per_day.items()})
    return reckon(queries.cells(), here, here, NOW)


def test_the_date_is_what_is_missing_at_the_pace_of_the_last_days() -> None:
    found = reckoned(dict.fromkeys(range(28), 10))
    assert (found.missing, found.counted, found.per_week) == (1500, 280, 70)
    assert found.finish == NOW + timedelta(days=150)
    # 280 more or less 1.96 times its root, 32.8.
    assert (found.earliest, found.latest) == (NOW + timedelta(days=135), NOW + timedelta(days=170))


def test_what_came_before_the_last_28_days_is_no_pace() -> None:
    found = reckoned({**dict.fromkeys(range(28), 10), **dict.fromkeys(range(28, 90), 100)})
    assert (found.counted, found.span) == (280, 28)


@pytest.mark.parametrize(
    ("per_day", "words"),
    [
        ({}, "no sample has been accepted"),
        ({0: 20, 3: 30}, "less than 7 days ago"),
        ({10: 4}, "4 samples were accepted in the last 11 days"),
        ({40: 900}, "0 samples were accepted in the last 28 days"),
    ],
)
def test_without_enough_to_go_by_there_is_no_date_but_a_reason(per_day: dict[int, int], words: str) -> None:
    found = reckoned(per_day)
    assert found.finish is None
    assert words in found.why_not


def test_few_acceptances_leave_the_end_open_and_fewer_still_give_no_date() -> None:
    found = reckoned({27: 8, 1: 8})
    assert found.finish is not None
    assert found.earliest is not None
    assert found.earliest < found.finish
    assert found.latest is None
    assert "more than ten years" in reckoned({27: 5}).why_not


def test_when_nothing_is_missing_that_is_said_in_place_of_a_date(page: Client) -> None:
    set_cell_targets(targets={cell.key: 0 for cell in queries.cells()}, by=make_lead())
    accepted(20, count=6)
    found = pace.forecast(queries.cells())
    assert (found.finish, found.missing) == (None, 0)
    assert "every cell holds its target" in page.get(reverse("leading:progress")).content.decode()


def test_a_surplus_stands_for_no_other_cell() -> None:
    accepted(20, count=8)
    found = pace.forecast(queries.cells())
    assert (found.accepted, found.missing) == (8, 1495)


def test_what_came_with_a_release_of_another_system_is_held_but_is_no_pace() -> None:
    accepted(20, count=5)
    (alien,) = accepted(10)
    brought = ReleaseImport.objects.create(version="1.0", manifest={}, manifest_sha256="0" * 64)
    ImportedSample.objects.create(release_import=brought, sample=alien, provenance={})
    found = pace.forecast(queries.cells())
    assert (found.accepted, found.accepted_here, found.counted) == (6, 5, 5)
    assert pace.throughput().total(pace.Work.ACCEPTED) == 5
    assert found.curve[-1].accepted == 6


def test_the_day_that_a_lead_names_is_held_against_the_forecast(page: Client) -> None:
    accepted(20, count=10)
    by = pace.today() + timedelta(days=10)
    shown = page.get(reverse("leading:progress"), {"by": by.isoformat()})
    due, expected = shown.context["due"], shown.context["expected"]
    assert (due.days, due.per_week) == (10, expected.missing * 7 / 10)
    assert due.late == (expected.finish - by).days > 0
    assert "days late" in shown.content.decode()
    assert "That day has passed" in page.get(reverse("leading:progress"), {"by": "2020-01-01"}).content.decode()
    assert page.get(reverse("leading:progress"), {"by": "soon"}).status_code == 200


def test_every_point_of_the_plot_lies_within_it() -> None:
    for per_day in ({20: 9}, dict.fromkeys(range(28), 10), {27: 8, 1: 8}, {0: 1}):
        curve = plots.curve_of(reckoned(per_day))
        assert curve is not None
        for path in (curve.line, curve.ahead, curve.area):
            for pair in path.split():
                x, y = map(float, pair.split(","))
                assert 0 <= x <= plots.WIDTH
                assert 0 <= y <= plots.HEIGHT
    assert plots.curve_of(reckoned({})) is None


# Pace ------------------------------------------------------------------------------------------------------------


def test_work_is_counted_by_day_and_person(page: Client) -> None:
    ada, expert = make_annotator("ada"), make_expert("erin")
    for _number in range(2):
        make_standardized_sample(annotator=ada, expert=expert)
    case = make_case()
    make_review(case, ada, submitted=True)
    make_review(case, make_annotator(), seat=2)
    Submission.objects.filter(sample=Sample.objects.order_by("pk")[0]).update(
        submitted_at=timezone.now() - timedelta(days=3)
    )
    done = pace.throughput()
    assert (done.total("submitted"), done.by_day["submitted"][-4], done.by_day["submitted"][-1]) == (3, 1, 2)
    people = {person.name: person.counts for person in done.people}
    assert people["ada"] == {
        **{"cleared": 0, "submitted": 2, "audited": 0, "standardized": 2, "reviewed": 1, "adjudicated": 0}
    }
    assert people["erin"]["audited"] == 2
    days = rows_of(page, "leading:progress_work", "throughput")
    assert len(days) == 28
    assert sum(int(row["submitted"]) for row in days) == 3
    names = {row["person"]: row for row in rows_of(page, "leading:progress_work", "people")}
    assert (names["ada"]["submitted"], names["ada"]["all"]) == ("2", "5")


def test_what_was_done_before_the_span_is_not_in_it(page: Client) -> None:
    make_standardized_sample()
    Submission.objects.update(submitted_at=timezone.now() - timedelta(days=20))
    assert page.get(reverse("leading:progress_work"), {"days": "7"}).context["done"].total("submitted") == 0
    assert page.get(reverse("leading:progress_work"), {"days": "28"}).context["done"].total("submitted") == 1
    assert page.get(reverse("leading:progress_work"), {"days": "1000000"}).context["span"] == 28
    told = {days: page.get("/api/v1/progress/", {"days": days}).json()["throughput"]["by_day"] for days in ("7", "28")}
    assert {days: sum(counts["submitted"]) for days, counts in told.items()} == {"7": 0, "28": 1}
    assert page.get("/api/v1/progress/", {"days": "8"}).status_code == 400


def test_active_time_is_the_mean_over_samples_of_all_their_people_together(page: Client) -> None:
    short, long_one = make_sample(), make_sample(version=make_version(bucket="256k"))
    for sample, person, seconds in (
        (short, make_annotator(), 60),
        (short, make_annotator(), 30),
        (long_one, make_annotator(), 600),
    ):
        ActiveTime.objects.create(sample=sample, person=person, step=TimedStep.REVIEW, seconds=seconds)
    found = effort.effort()
    step = next(one for one in found.steps if one.step == TimedStep.REVIEW)
    assert [time.mean for time in step.times] == [90, None, None, None, None, 600]
    assert (step.whole.mean, step.whole.samples) == (345, 2)
    rows = rows_of(page, "leading:progress_work", "active-time")
    assert [(row["step"], row["bucket"], row["seconds_per_sample"]) for row in rows] == [
        ("review", "8k", "90.0"),
        ("review", "256k", "600.0"),
    ]


# Outcomes --------------------------------------------------------------------------------------------------------


def test_rejections_and_reconstructions_count_for_person_model_and_task(page: Client) -> None:
    ada, expert = make_annotator("=ada"), make_expert()
    sample = make_standardized_sample(state=SampleState.IN_REVIEW, annotator=ada, expert=expert, task_code="T1.2")
    first = make_submission(sample, by=ada)
    Submission.objects.filter(pk=first.pk).update(
        outcome="rejected", audited_at=timezone.now(), audited_by=expert, number=0
    )
    case = make_case(sample, state=CaseState.ADJUDICATED)
    Adjudication.objects.create(case=case, outcome="reconstruct", step="answer", reason="doubt", decided_by=expert)
    make_case(state=CaseState.ACCEPTED)
    found = outcomes.outcomes()
    assert (found.total.audited, found.total.rejected, found.total.decided, found.total.reconstructed) == (3, 1, 2, 1)
    row = next(one for one in found.by_person if one.label == "=ada")
    assert (row.audited, row.rejection, row.reconstruction) == (2, 0.5, 1.0)
    for rows in (found.by_person, found.by_model, found.by_task):
        assert sum(one.audited for one in rows) == 3
        assert sum(one.decided for one in rows) == 2
    (told, *_rest) = rows_of(page, "leading:progress_outcomes", "outcomes-by-person")
    assert (told["person"], told["rejected_percent"], told["reconstructed_percent"]) == ("'=ada", "50.0", "100.0")


def test_what_was_taken_back_or_waits_was_not_audited() -> None:
    make_submission(make_sample(state=SampleState.IN_AUDIT), by=make_annotator())
    taken_back = make_submission(make_sample(state=SampleState.RETURNED), by=make_annotator())
    Submission.objects.filter(pk=taken_back.pk).update(outcome="withdrawn", withdrawn_at=timezone.now())
    assert outcomes.outcomes().total.audited == 0


def test_candidates_are_counted_by_the_model_that_drafted_them(page: Client) -> None:
    sample = make_standardized_sample(state=SampleState.ACCEPTED)
    assert sample.chosen is not None
    other = sample.candidates.exclude(pk=sample.chosen.pk).order_by("pk")[0]
    other.state = CandidateState.DISCARDED
    other.save()
    found = outcomes.chosen()
    assert found[0].name == sample.chosen.draft.call.model.name
    assert (found[0].chosen, found[0].accepted, found[0].share) == (1, 1, 1.0)
    assert sum(row.candidates for row in found) == 3
    assert sum(row.discarded for row in found) == 1
    assert [row["chosen"] for row in rows_of(page, "leading:progress_outcomes", "chosen")] == ["1", "0", "0"]


def test_the_cost_of_an_accepted_sample_is_all_that_was_spent_by_those_accepted(page: Client) -> None:
    model, run = make_model(), make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.1")
    for usd in ("3", "1", None):
        make_call(run, model, cost_usd=usd and Decimal(usd), answered_at=timezone.now())
    assert page.get(reverse("leading:progress")).context["each"] is None
    accepted(1, count=2)
    assert page.get(reverse("leading:progress")).context["each"] == 2
    answer = page.get("/api/v1/progress/").json()["cost"]
    assert (Decimal(answer["usd_per_accepted_sample"]), answer["unknown"]) == (2, 1)
    rows = rows_of(page, "leading:progress", "costs-per-sample")
    assert [(row["stage"], Decimal(row["spent_usd_per_accepted_sample"])) for row in rows] == [
        ("drafting", Decimal(2)),
        ("all", Decimal(2)),
    ]
    Call.objects.update(cost_usd=None)
    assert page.get(reverse("leading:progress")).context["each"] is None


# All pages -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    ["/progress/", "/progress/work/", "/progress/outcomes/", "/plan/", "/plan/?as=table", "/api/v1/progress/"],
)
def test_a_page_takes_as_many_queries_for_many_samples_as_for_few_and_reads_no_text(
    page: Client, address: str, django_assert_num_queries: DjangoAssertNumQueries, django_assert_max_num_queries: object
) -> None:
    def more() -> None:
        sample = make_standardized_sample(state=SampleState.ACCEPTED)
        person = sample.annotator
        assert person is not None
        ActiveTime.objects.create(sample=sample, person=person, step=TimedStep.READ, seconds=5)
        make_review(make_case(sample, state=CaseState.ACCEPTED), make_annotator(), submitted=True)

    more()
    page.get(address)
    with django_assert_max_num_queries(30) as few:  # type: ignore[operator]  # of pytest-django
        page.get(address)
    for _number in range(3):
        more()
    with django_assert_num_queries(len(few)) as many:
        page.get(address)
    assert not [query["sql"] for query in many if "documents_documenttext" in query["sql"]]


@pytest.mark.parametrize("address", ["/progress/", "/progress/work/", "/progress/outcomes/", "/plan/", "/plan/next/"])
def test_an_empty_benchmark_has_all_its_pages(page: Client, address: str) -> None:
    assert page.get(address).status_code == 200


def test_ages_of_what_waits_add_up_to_its_count() -> None:
    for days in (0, 2, 5, 30):
        make_sample(state=SampleState.IN_AUDIT, state_since=timezone.now() - timedelta(days=days, hours=1))
    stage = next(one for one in queries.funnel() if one.state == "in_audit")
    assert stage.ages == (1, 1, 1, 1)
    assert sum(bar.width for bar in stage.bars) == stage.count == 4
    assert all(sum(one.ages) == one.count for one in queries.funnel() if one.is_waiting)
