"""The audit trail as leads read it."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import history
from core.models import Event, User
from tests.factories import make_annotator, make_lead, make_model, make_sample

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead() -> User:
    return make_lead("leda")


@pytest.fixture
def page(lead: User) -> Client:
    client = Client()
    client.force_login(lead)
    return client


@pytest.fixture
def lines() -> list[Event]:
    anna, model = make_annotator("anna"), make_model()
    sample = make_sample()
    made = [
        history.record("try_model", model, by=anna, reason="=1+1 <b>bold</b>"),
        history.record("pause_model", model, by=None),
        history.record("take_over", sample, by=anna, reason="ill"),
    ]
    Event.objects.bulk_create(
        [Event(action="core.old", subject_type="user", subject_id=1, by=anna, at=timezone.now() - timedelta(days=9))]
    )
    return made


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({}, 4),
        ({"person": "anna"}, 3),
        ({"person": "-"}, 1),
        ({"person": "nobody"}, 0),
        ({"action": "try_model"}, 1),
        ({"action": "generation.try_model"}, 1),
        ({"subject_type": "languagemodel"}, 2),
        ({"subject_type": "sample", "person": "anna"}, 1),
        ({"day": "old"}, 1),
    ],
)
def test_the_trail_is_narrowed_alike_on_the_page_and_for_programs(
    asked: dict[str, str], count: int, page: Client, lines: list[Event]
) -> None:
    if "day" in asked:
        asked = {"day": str((timezone.now() - timedelta(days=9)).date())}
    assert page.get("/trail/", asked).context["page_obj"].paginator.count == count
    assert page.get("/api/v1/trail/", asked).json()["count"] == count


def test_one_record_is_found_by_its_number(page: Client, lines: list[Event]) -> None:
    asked = {"subject_type": "sample", "subject_id": str(lines[2].subject_id)}
    assert [one.event for one in page.get("/trail/", asked).context["shown"]] == [lines[2]]


def test_what_was_typed_is_text(page: Client, lines: list[Event]) -> None:
    html = page.get("/trail/").content.decode()
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<b>bold" not in html


def test_a_file_has_the_filtered_lines_oldest_first_and_no_formula(page: Client, lines: list[Event]) -> None:
    answer: Any = page.get("/trail/", {"format": "csv", "subject_type": "languagemodel"})
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    assert [int(row["id"]) for row in rows] == [lines[0].pk, lines[1].pk]
    assert rows[0]["reason"].startswith("'=")
    assert (rows[0]["by"], rows[1]["by"]) == ("anna", "")


def test_a_wrong_day_is_said(page: Client, lines: list[Event]) -> None:
    assert page.get("/trail/", {"day": "yesterday"}).status_code == 400
    assert page.get("/trail/", {"day": "yesterday", "format": "csv"}).status_code == 400
    assert page.get("/api/v1/trail/", {"day": "yesterday"}).status_code == 400


def test_the_page_asks_the_same_number_of_questions_however_many_lines(page: Client, lines: list[Event]) -> None:
    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            page.get("/trail/")
        return len(asked)

    before = count()
    for number in range(40):
        history.record("try_model", make_model(), by=make_annotator(f"a{number}"))
    assert count() == before
