"""Two releases beside each other, on the page and by the API."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core.models import User
from release.comparing import Kind, changes, compare
from release.models import Release
from tests.factories import make_lead
from tests.release.parts import label, make_ready_sample, measured_version, released, restandardize

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_lengths")]


@pytest.fixture
def page(client: Client) -> Client:
    client.force_login(make_lead())
    return client


@pytest.fixture
def two() -> tuple[Release, Release]:
    """The second release lacks a sample, has a new one, and another question, answer and difficulty of a third."""
    removed, changed = make_ready_sample(), make_ready_sample()
    make_ready_sample()
    old = released("1.0")
    removed.difficulty_labels.all().delete()
    changed.difficulty_labels.all().delete()
    restandardize(changed, task_description="<b>Rank</b> the fees.", answer=["Heron", "Marigold", "Tern"])
    label(changed, "Extreme")
    make_ready_sample()
    return old, released("2.0")


def test_added_removed_and_changed_are_told_by_field(two: tuple[Release, Release]) -> None:
    old, new = two
    found = compare(old, new)
    assert (found.counts, found.unchanged) == ({Kind.ADDED: 1, Kind.REMOVED: 1, Kind.CHANGED: 1}, 1)
    fields = ("question_nonthinking", "question_thinking", "answer", "difficulty")
    assert found.by_field == dict.fromkeys(fields, 1)
    assert [(one.kind, one.fields) for one in changes(old, new)] == [
        (Kind.REMOVED, ()),
        (Kind.CHANGED, fields),
        (Kind.ADDED, ()),
    ]
    assert [one.kind for one in compare(new, old).changes] == [Kind.ADDED, Kind.CHANGED, Kind.REMOVED]
    assert compare(old, new, kind="changed", field="language").matching == 0
    assert compare(old, old).changes == []
    later = compare(old, new, start=1, length=1)
    assert (later.matching, [one.kind for one in later.changes]) == (3, [Kind.CHANGED])


def test_another_text_of_the_document_is_a_change_of_the_context(two: tuple[Release, Release]) -> None:
    new = two[1]
    item = new.items.select_related("sample").order_by("position").first()
    assert item is not None
    other = measured_version()
    row = {"release": new, "position": 99, "fields": item.fields, "provenance": {}}
    third = Release.objects.create(version="3.0", total=1)
    type(item).objects.create(**{**row, "release": third, "sample": item.sample, "document_version": other})
    (change,) = [one for one in changes(new, third) if one.kind == Kind.CHANGED]
    assert change.fields == ("context",)
    assert change.after is not None
    assert change.after["context"] == other.sha256


def test_the_page_shows_them_with_filters_in_a_fixed_number_of_queries(
    page: Client, two: tuple[Release, Release]
) -> None:
    with CaptureQueriesContext(connection) as few:
        html = page.get("/releases/2.0/compare/").content.decode()
    assert "2.0 compared with 1.0" in html
    assert "<ins>" in html
    assert "&lt;" in html
    assert "<b>Rank</b>" not in html
    only = page.get("/releases/2.0/compare/?with=1.0&kind=added&page=99").content.decode()
    assert (only.count("/samples/"), html.count("/samples/")) == (only.count("/samples/"), only.count("/samples/") + 2)
    assert "No such change" in page.get("/releases/2.0/compare/?with=1.0&kind=added&field=answer").content.decode()
    for _sample in range(3):
        make_ready_sample()
    released("3.0")
    with CaptureQueriesContext(connection) as many:
        page.get("/releases/3.0/compare/?with=1.0")
    assert len(many) == len(few)
    assert not any("documents_documenttext" in row["sql"] for row in many.captured_queries)
    assert page.get("/releases/2.0/compare/?with=9.9").status_code == 404
    assert "/releases/2.0/compare/" in page.get("/releases/2.0/").content.decode()


def test_one_release_alone_has_nothing_to_compare_with(page: Client) -> None:
    make_ready_sample()
    released("1.0")
    assert "Nothing to compare with" in page.get("/releases/1.0/compare/").content.decode()
    assert "/compare/" not in page.get("/releases/1.0/").content.decode()


def test_programs_get_the_same(page: Client, two: tuple[Release, Release]) -> None:
    old, new = two

    def get(**asked: Any) -> Any:
        return page.get(f"/api/v1/releases/{new.pk}/compare/", asked)

    found = get(**{"with": old.pk, "kind": "changed"}).json()
    assert (found["added"], found["removed"], found["changed"], found["unchanged"]) == (1, 1, 1, 1)
    (change,) = found["changes"]
    assert change["fields_changed"]["difficulty"] == {"before": "Easy", "after": "Extreme"}
    assert "context" not in json.dumps(change)
    for bad in ({}, {"with": new.pk}, {"with": "x"}, {"with": old.pk, "kind": "odd"}, {"with": old.pk, "page": 0}):
        assert get(**bad).status_code == 400
    page.force_login(User.objects.exclude(role="lead").first() or make_lead())
    assert get(**{"with": old.pk}).status_code == 403
