"""Leads word the guidelines; verdicts name the version; everybody is told what changed since they read them."""

from typing import Any

import pytest
from django.db import transaction
from django.utils import translation

from core import actions, guidelines
from core.models import Event, GuidelinesVersion, User
from core.refusals import Conflict, Invalid, NotAllowed
from tests.factories import make_annotator, make_expert, make_lead
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db
KEY = "task_a.fits_task"


def save(by: User, text: str = "It fits the task <b>well</b>", *, based_on: int = 0, **more: Any) -> GuidelinesVersion:
    texts = more.pop("texts", {KEY: {"en": text}})
    return actions.save_guidelines(texts=texts, note=more.pop("note", "clearer"), based_on=based_on, by=by)


def test_the_system_begins_with_the_wording_of_the_code() -> None:
    assert guidelines.current_version() == guidelines.GUIDELINES_VERSION
    assert str(guidelines.TASK_A_CHECKS[0].text).startswith("The question fits the secondary task")
    with translation.override("zh-hans"):
        assert not str(guidelines.TASK_A_CHECKS[0].text).isascii()


def test_a_lead_words_a_criterion_and_adds_guidance_in_each_language() -> None:
    lead = make_lead()
    save(
        lead,
        texts={KEY: {"en": "It fits.", "zh-hans": "符合。"}, "task_a.guidance": {"en": "Look twice.\nThen go on."}},
    )
    assert guidelines.current_version() == "2026-1.1"
    assert (str(guidelines.TASK_A_CHECKS[0].text), guidelines.TASK_A.guidance) == (
        "It fits.",
        "Look twice.\nThen go on.",
    )
    with translation.override("zh-hans"):
        assert (str(guidelines.TASK_A_CHECKS[0].text), guidelines.TASK_A.guidance) == ("符合。", "")
    save(lead, texts={KEY: {"en": " "}}, based_on=1)
    assert str(guidelines.TASK_A_CHECKS[0].text).startswith("The question fits")
    assert GuidelinesVersion.objects.get(number=2).texts[KEY] == {"zh-hans": "符合。"}
    event = Event.objects.filter(action="core.save_guidelines").latest("id")
    assert (event.by, event.reason, event.data) == (lead, "clearer", {"version": "2026-1.2", "keys": [KEY]})


@pytest.mark.parametrize("make", [make_annotator, make_expert])
def test_only_a_lead_changes_them(make: Any) -> None:
    with pytest.raises(NotAllowed):
        save(make())
    assert client_of(make()).post("/guidelines/edit/", {}).status_code == 403


@pytest.mark.parametrize(
    ("texts", "note", "field"),
    [
        ({"task_a.no_such": {"en": "x"}}, "n", "task_a.no_such"),
        ({KEY: {"fr": "x"}}, "n", KEY),
        ({KEY: {"en": "x" * 601}}, "n", KEY),
        ({KEY: {"en": "x"}}, "  ", "note"),
        ({KEY: {}}, "n", "texts"),
    ],
)
def test_what_is_wrong_is_named(texts: Any, note: str, field: str) -> None:
    with pytest.raises(Invalid) as told:
        save(make_lead(), texts=texts, note=note)
    assert set(told.value.errors) == {field}


def test_nobody_overwrites_what_they_did_not_see() -> None:
    lead = make_lead()
    save(lead)
    with pytest.raises(Conflict) as told:
        save(lead, "other")
    assert told.value.details["version"] == 1
    answer = client_of(lead).post("/guidelines/edit/", {f"{KEY}:en": "typed", "note": "n", "based_on": "0"})
    assert (answer.status_code, "typed" in answer.content.decode()) == (409, True)


def test_a_version_cannot_be_changed() -> None:
    save(make_lead())
    with pytest.raises(Exception, match="append-only"), transaction.atomic():
        GuidelinesVersion.objects.update(note="")


def test_the_page_saves_and_shows_what_was_typed_as_text() -> None:
    lead = client_of(make_lead())
    text = "Fits <script>alert(1)</script>"
    form = {f"{KEY}:en": text, "quality.guidance:en": "Read <b>all</b>.", "note": "why", "based_on": "0"}
    assert lead.get("/guidelines/edit/").status_code == 200
    assert lead.post("/guidelines/edit/", form).headers["Location"] == "/guidelines/"
    html = client_of(make_annotator()).get("/guidelines/").content.decode()
    assert "version 2026-1.1" in html
    assert "<script>alert" not in html
    assert "Fits &lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "Read &lt;b&gt;all&lt;/b&gt;." in html


def test_everybody_is_shown_what_changed_since_they_last_read() -> None:
    lead, person = make_lead(), make_annotator()
    client = client_of(person)
    assert 'id="since-read"' not in client.get("/guidelines/").content.decode()
    save(lead)
    assert "It fits the task" in client.get("/guidelines/").content.decode().partition('id="since-read"')[2]
    assert client.post("/guidelines/read/").status_code == 302
    assert 'id="since-read"' not in client.get("/guidelines/").content.decode()
    save(lead, texts={KEY: {"zh-hans": "符合"}}, based_on=1)
    assert 'id="since-read"' not in client.get("/guidelines/").content.decode()
    save(lead, "Another", based_on=2)
    html = client.get("/guidelines/").content.decode()
    assert "from=1&amp;to=3" in html
    assert 'id="since-read"' in client_of(make_expert()).get("/guidelines/").content.decode()


def test_any_two_versions_are_compared() -> None:
    lead = make_lead()
    save(lead, "The question fits")
    save(lead, "The question fits well", based_on=1)
    client = client_of(make_annotator())
    assert "<ins> well</ins>" in client.get("/guidelines/versions/").content.decode()
    whole = client.get("/guidelines/versions/", {"from": "0", "to": "2"}).content.decode()
    assert ("<del>" in whole, "clearer" in whole) == (True, True)
    back = client.get("/guidelines/versions/", {"from": "2", "to": "1"}).content.decode()
    assert "<del> well</del>" in back
    assert client.get("/guidelines/versions/", {"from": "x", "to": "99999999999"}).status_code == 200


def test_a_page_reads_the_wording_once(django_assert_num_queries: Any) -> None:
    save(make_lead())
    guidelines.begin_request()
    try:
        with django_assert_num_queries(1):
            assert [str(one.text) for one in (*guidelines.CHECKLIST, *guidelines.NEVER, *guidelines.TASK_A_CHECKS)]
            assert guidelines.current_version() == "2026-1.1"
    finally:
        guidelines.end_request()


def test_programs_read_and_change_them_too() -> None:
    lead = client_of(make_lead())
    answer = lead.get("/api/v1/guidelines/").json()
    assert (answer["version"], answer["number"], answer["read"]) == ("2026-1", 0, 0)
    assert set(answer["texts"][KEY]) == {"en", "zh-hans"}
    body = {"texts": {KEY: {"en": "It fits."}}, "note": "n", "based_on": 0}
    made = lead.post("/api/v1/guidelines/", body, content_type="application/json")
    assert (made.status_code, made.json()["texts"][KEY]["en"]) == (201, "It fits.")
    stale = lead.post("/api/v1/guidelines/", body, content_type="application/json")
    assert (stale.status_code, stale.json()["rule"]) == (409, "stale_version")
    assert lead.post("/api/v1/guidelines/read/").json()["read"] == 1
