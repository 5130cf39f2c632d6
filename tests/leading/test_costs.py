"""What calls cost: four tables that agree to the last cent, with the estimate beside it; unknown is never zero."""

import csv
import io
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Challenge
from generation.models import Call, LanguageModel, ModelTrial, Run
from generation.workflow import CallState, Purpose
from leading import costs
from tests.factories import make_annotator, make_call, make_lead, make_model, make_run, make_sample, make_version

pytestmark = pytest.mark.django_db

CENT = Decimal("0.01")


def paid(run: Run, model: LanguageModel, usd: Any = CENT, expected: Any = CENT, **more: Any) -> Call:
    now = timezone.now()
    given = {"cost_usd": usd, "expected_usd": expected, "tokens_in": 100, "tokens_out": 10, **more}
    return make_call(run, model, **{"answered_at": now, "sent_at": now, **given})


@pytest.fixture
def page(client: Client) -> Client:
    client.force_login(make_lead())
    return client


def test_the_four_tables_agree_with_the_sum_over_all_calls() -> None:
    heron, gull = make_model("Heron"), make_model("Gull")
    sample = make_sample(candidates=1)
    challenge = make_run(sample.document_version, purpose=Purpose.CHALLENGE, task_code=sample.task_code)
    candidate = sample.candidates.get()
    Challenge.objects.create(candidate=candidate, candidate_version=1, run=challenge, asked_by=make_annotator())
    paid(challenge, heron, Decimal(2), Decimal(1))
    shared = paid(challenge, gull, Decimal(3), Decimal(4))
    elsewhere = make_run(make_version(), purpose=Purpose.PREDICTION, task_code="T1.1")
    elsewhere.run_calls.create(call=shared)
    paid(elsewhere, heron, Decimal(5), Decimal(5), sent_at=timezone.now() - timedelta(days=2))
    whole = costs.total()
    assert whole.spent == 10
    for find in (costs.by_model, costs.by_stage, costs.by_day, costs.by_sample):
        assert sum(row.spent for row in find()) == 10, find
    by_sample = {row.label: row.spent for row in costs.by_sample()}
    assert by_sample == {sample.label: 5, "": 5}
    assert [row.key for row in costs.by_sample()][-1] == ""
    assert len([row for row in costs.by_day() if row.spent]) == 2
    assert {row.label: row.spent for row in costs.by_model() if row.spent} == {"Heron": 7, "Gull": 3}


def test_an_earlier_drafting_that_the_sample_no_longer_names_is_still_its() -> None:
    sample = make_sample(candidates=0)
    earlier = make_run(sample.document_version, purpose=Purpose.DRAFTING, task_code=sample.task_code)
    paid(earlier, make_model(), Decimal(1))
    assert [(row.label, row.spent) for row in costs.by_sample()] == [(sample.label, 1)]


def test_the_difference_compares_only_what_is_known_on_both_sides() -> None:
    run, model = make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.1"), make_model()
    paid(run, model, Decimal(3), Decimal(2))
    paid(run, model, None, Decimal(100))
    paid(run, model, Decimal(100), None)
    row = costs.total()
    assert (row.difference, row.unpriced, row.unforeseen) == (50, 1, 1)
    Call.objects.update(expected_usd=None)
    assert costs.total().difference is None


def test_test_calls_are_named_beside_the_sums_which_they_are_not_in(page: Client) -> None:
    model = make_model()
    paid(make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.1"), model, Decimal(3))
    for usd in (Decimal("0.25"), None):
        ModelTrial.objects.create(
            model=model, asked_by=make_lead(), sent_at=timezone.now(), answer="Heron", tokens_in=9, cost_usd=usd
        )
    assert costs.total().spent == 3
    assert costs.trials() == costs.Trials(count=2, spent=Decimal("0.25"), unpriced=1)
    assert "Test calls" in page.get(reverse("leading:costs")).content.decode()


def test_what_nobody_knows_is_shown_as_unknown_and_left_empty_in_the_file(page: Client) -> None:
    run, model = make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.1"), make_model("Dear")
    paid(run, model, None, None)
    make_call(run, model, state=CallState.UNKNOWN)
    text = " ".join(page.get(reverse("leading:costs")).content.decode().split())
    table = text.split('aria-labelledby="by-model"')[1].split("</table>")[0]
    assert "0.00" not in table
    assert 'title="2 of unknown cost">unknown' in table
    file = page.get(reverse("leading:costs"), {"csv": "model"})
    (row,) = list(csv.DictReader(io.StringIO(file.getvalue().decode("utf-8-sig"))))
    assert (row["model"], row["calls"], row["spent_usd"], row["unpriced"], row["expected_usd"]) == (
        "Dear",
        "2",
        "",
        "2",
        "",
    )


@pytest.mark.parametrize("name", ["model", "stage", "day", "sample"])
def test_each_table_is_a_file_that_a_spreadsheet_reads(page: Client, name: str) -> None:
    run = make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.1")
    paid(run, make_model("=1+1"), Decimal("1.5"), Decimal(1))
    file = page.get(reverse("leading:costs"), {"csv": name})
    assert f"costs-by-{name}.csv" in file.headers["Content-Disposition"]
    (row,) = list(csv.DictReader(io.StringIO(file.getvalue().decode("utf-8-sig"))))
    assert (Decimal(row["spent_usd"]), Decimal(row["expected_usd"]), row["difference_percent"]) == (
        Decimal("1.5"),
        Decimal(1),
        "50.00",
    )
    assert not row[name].startswith("=")


def test_the_page_takes_as_many_queries_for_many_calls_as_for_few(
    page: Client, django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    model = make_model()
    paid(make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.1"), model)
    with django_assert_max_num_queries(16) as few:
        page.get(reverse("leading:costs"))
    for _number in range(5):
        paid(make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.1"), model)
    with django_assert_num_queries(len(few)):
        page.get(reverse("leading:costs"))


def test_costs_are_for_leads(client: Client) -> None:
    client.force_login(make_annotator())
    assert client.get(reverse("leading:costs")).status_code == 403


def test_each_paid_attempt_is_held_against_an_estimate_of_its_own(page: Client) -> None:
    run, model = make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.1"), make_model()
    paid(run, model, Decimal(3), Decimal(1), paid_attempts=3)
    paid(run, model, Decimal(1), Decimal(1))
    row = costs.total()
    assert (row.difference, row.difference_once, row.again) == (0, 100, 2)
    text = page.get(reverse("leading:costs")).content.decode()
    assert "+100.0% with repetitions" in text
    assert "2 attempts paid again" in text


def test_programs_read_the_costs_by_everything_that_the_page_sums_up(page: Client, client: Client) -> None:
    sample = make_sample(candidates=0)
    run = make_run(sample.document_version, purpose=Purpose.DRAFTING, task_code=sample.task_code)
    paid(run, make_model("Heron"), Decimal(2), Decimal(1))
    keys = {}
    for by in ("model", "stage", "sample", "day"):
        answer = page.get("/api/v1/costs/", {"by": by}).json()
        assert answer["by"] == by
        assert answer["total"]["spent_usd"] == answer["rows"][0]["spent_usd"] == "2.00000000"
        assert answer["rows"][0]["difference_percent"] == 100
        keys[by] = answer["rows"][0]["key"]
    assert (keys["model"], keys["stage"], keys["sample"]) == ("Heron", "drafting", str(sample.pk))
    assert page.get("/api/v1/costs/").json()["by"] == "model"
    assert page.get("/api/v1/costs/", {"by": "mood"}).status_code == 400
    assert page.get("/api/v1/costs/", {"model": "Heron"}).json()["rule"] == "unknown_filter"
    client.force_login(make_annotator())
    assert client.get("/api/v1/costs/").status_code == 403
