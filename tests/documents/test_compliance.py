"""Clearing: the queue, decisions on what was seen, findings kept beside a version, and the list of names."""

import html
import re
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from core.models import Event
from core.refusals import Conflict, Invalid, NotAllowed
from documents import actions, looking, queries, tasks
from documents.actions import Seen
from documents.clearing import note_looking, queue_at
from documents.findings import RULES, Kind
from documents.looking import found_in
from documents.models import DocumentText, DocumentVersion, VersionFindings, WatchedNames
from documents.workflow import VersionState
from tests.factories import make_annotator, make_expert, make_lead, make_version
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nobody_looks() -> None:
    cache.clear()


def pending(text: str = "") -> DocumentVersion:
    return make_version(text, state=VersionState.PENDING)


def seen(version: DocumentVersion) -> dict[str, str]:
    return {
        "seen_state": version.state,
        "seen_sha256": version.sha256,
        "seen_latest": str(version.document.latest_id),
    }


def kinds(version: DocumentVersion) -> list[str]:
    return [finding.kind.value for finding in found_in(version)]


# Kept


def test_findings_are_kept_when_a_text_is_stored() -> None:
    lead = make_lead()
    actions.watch_names(names="Ishmael", by=lead)
    version = actions.paste_document(text="Call Ishmael at a@example.org\n", title="Log", by=lead)
    kept = VersionFindings.objects.get(version=version)
    assert kept.places == [["name", 5, 12], ["email", 16, 29]]
    assert kept.names_list == queries.number_of_names_list()


def test_the_page_reads_what_is_kept_and_computes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    version = actions.paste_document(text="Write to a@example.org\n", title="Log", by=None)
    for name in ("findings_in", "names_in"):
        monkeypatch.setattr(f"documents.looking.{name}", lambda *_given: pytest.fail("looked for again"))
    assert kinds(version) == ["email"]
    assert client_of(make_expert()).get(f"/documents/{version.document_id}/").status_code == 200


def test_what_was_never_looked_for_is_looked_for_once() -> None:
    version = pending("Write to a@example.org\n")
    assert kinds(version) == ["email"]
    assert VersionFindings.objects.get(version=version).places == [["email", 9, 22]]


def test_a_new_list_of_names_is_looked_for_when_the_text_is_opened_and_the_rest_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lead, version = make_lead(), pending("Ishmael wrote to 王宁 and a@example.org\n")
    assert kinds(version) == ["email"]
    monkeypatch.setattr("documents.looking.findings_in", lambda *_given: pytest.fail("looked for again"))
    actions.watch_names(names="Ishmael\n王宁", by=lead)
    assert kinds(version) == ["name", "name", "email"]
    actions.watch_names(names="王宁", by=lead)
    assert kinds(version) == ["name", "email"]
    actions.watch_names(names="", by=lead)
    assert kinds(version) == ["email"]


def test_what_older_rules_found_is_looked_for_again_when_the_text_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    version = actions.paste_document(text="Write to a@example.org\n", title="Log", by=None)
    VersionFindings.objects.update(places=[["phone", 0, 5]])
    assert kinds(version) == ["phone"]
    monkeypatch.setattr("documents.looking.RULES", RULES + 1)
    assert kinds(version) == ["email"]
    assert VersionFindings.objects.get().rules == RULES + 1


def test_a_new_list_of_names_reaches_every_pending_text_in_the_background(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    lead = make_lead()
    waiting = [pending(f"Ishmael wrote to a{number}@example.org\n") for number in range(3)]
    decided = make_version("Ishmael wrote once.\n")
    seen: list[str] = []
    monkeypatch.setattr("documents.tasks.hurry", lambda task, *_args: seen.append(task.name))
    monkeypatch.setattr("documents.actions.compliance.hurry", lambda task, *_args: seen.append(task.name))
    actions.watch_names(names="Ishmael", by=lead)
    tasks.take_up_lost()
    assert seen == ["documents.look_again"] * 2
    assert "3 documents are still to be looked through" in client_of(lead).get("/documents/names/").content.decode()
    tasks.look_again()
    number = queries.number_of_names_list()
    kept = {one.version: one for one in VersionFindings.objects.select_related("version")}
    assert set(kept) == set(waiting)
    assert decided not in kept
    assert {(one.names_list, one.places[0][0], one.places[1][0]) for one in kept.values()} == {
        (number, "name", "email")
    }
    assert not looking.outdated().exists()
    assert "still to be looked through" not in client_of(lead).get("/documents/names/").content.decode()
    tasks.take_up_lost()
    assert len(seen) == 2


def test_looking_again_goes_in_turns_and_by_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        pending(f"Text {number} by a@example.org\n")
    seen: list[str] = []
    monkeypatch.setattr("documents.tasks.hurry", lambda task, *_args: seen.append(task.name))
    monkeypatch.setattr("documents.tasks.LOOKING_SECONDS", -1.0)
    cache.add(tasks.LOOKING, True)
    tasks.look_again()
    assert seen == []
    cache.delete(tasks.LOOKING)
    tasks.look_again()
    assert seen == ["documents.look_again"]
    assert looking.outdated().count() == 3


def test_no_half_read_list_of_texts_stands_open_while_they_are_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite refuses at once to write from a connection that still reads, as soon as anybody else writes."""
    for number in range(5):
        pending(f"Text {number} by a@example.org\n")
    monkeypatch.setattr("documents.looking.AT_ONCE", 2)
    monkeypatch.setattr(QuerySet, "iterator", lambda *_given, **_more: pytest.fail("rows left to be fetched"))
    assert not looking.catch_up(60.0)
    assert not looking.outdated().exists()


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("pass\u200bword 密\u2060码", True),
        ("x = '\u202etxt.exe\u202c'", True),
        ("👩\u200d👩\u200d👧 می\u200cخواهم", False),
    ],
)
def test_invisible_characters_are_shown_and_the_text_stays_as_it_came(text: str, flagged: bool) -> None:
    version = actions.paste_document(text=text, title="Odd", by=None)
    assert queries.text_of(version) == text
    page = html.unescape(client_of(make_expert()).get(f"/documents/{version.document_id}/").content.decode())
    assert ("that nobody sees" in page) is flagged
    assert ("[U+" in page) is flagged


# The list on the page


def test_people_come_first_and_every_kind_has_its_count_and_its_own_list() -> None:
    version = pending("Copyright 2020 A House\nmail a@example.org and b@example.org\nhost 10.1.2.3\n")
    client = client_of(make_annotator())
    listing = client.get(f"/documents/{version.document_id}/").context["listing"]
    assert [one.hit for one in listing.shown] == [
        "a@example.org",
        "b@example.org",
        "10.1.2.3",
        "Copyright 2020 A House",
    ]
    assert [one.heads for one in listing.shown] == [Kind.EMAIL, None, Kind.IP, Kind.COPYRIGHT]
    assert listing.counts == [(Kind.EMAIL, 2), (Kind.IP, 1), (Kind.COPYRIGHT, 1)]
    one_kind = client.get(f"/documents/versions/{version.pk}/findings?kind=ip", headers={"HX-Request": "true"})
    assert re.findall(r'data-start="(\d+)"', one_kind.content.decode()) == [str(queries.text_of(version).index("10.1"))]
    assert client.get(f"/documents/{version.document_id}/?kind=nonsense&from=x").status_code == 200


def test_twenty_thousand_findings_are_all_reached_part_by_part() -> None:
    text = "".join(f"Copyright {1990 + number % 30} House {number}\n" for number in range(20_000))
    version = pending(text)
    client = client_of(make_annotator())
    page = client.get(f"/documents/{version.document_id}/")
    assert len(page.content) < 400_000
    starts: list[str] = []
    address: str | None = f"/documents/versions/{version.pk}/findings"
    while address:
        part = client.get(address, headers={"HX-Request": "true"}).content.decode()
        starts += re.findall(r'data-start="(\d+)"', part)
        more = re.search(r'hx-get="([^"]*from=[^"]*)"', part)
        address = html.unescape(more[1]) if more else None
    assert len(starts) == len(set(starts)) == 20_000


def test_the_page_takes_the_same_queries_however_long_queue_and_list() -> None:
    client, version = client_of(make_expert()), pending("a@example.org\n" * 3)
    address, counts = f"/documents/{version.document_id}/", []
    client.get(address)
    for more in (2, 30):
        for _ in range(more):
            pending()
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200
        counts.append(len(captured))
    # A long queue even saves the look at its beginning.
    assert counts[1] <= counts[0] <= 16
    assert sum(DocumentText._meta.db_table in query["sql"] for query in captured) == 2


# The queue


def test_a_decision_opens_the_next_document_that_waits_and_says_when_there_is_none() -> None:
    first, second = pending(), pending()
    client = client_of(make_annotator())
    page = client.get(f"/documents/{first.document_id}/")
    assert "1 of 2 waiting" in page.content.decode()
    answer = client.post(f"/documents/versions/{first.pk}/decide/", {"decision": "approve", **seen(first)})
    assert answer.headers["Location"] == f"/documents/{second.document_id}/"
    body = {"decision": "reject", "flags": ["privacy"], "note": "a private letter", **seen(second)}
    last = client.post(f"/documents/versions/{second.pk}/decide/", body, follow=True)
    assert last.redirect_chain == [(f"/documents/{second.document_id}/", 302)]
    assert "No other document waits for compliance." in last.content.decode()
    assert "nothing waits for compliance" in last.content.decode()


def test_the_queue_goes_round_and_offers_what_nobody_looks_at() -> None:
    ada, ben = make_annotator(), make_annotator()
    versions = [pending() for _ in range(4)]
    documents = [version.document for version in versions]
    assert queue_at(documents[3], ada).next_up == documents[0]
    note_looking(versions[1], ben)
    assert queue_at(documents[0], ada).next_up == documents[2]
    # One's own look is no reason to be sent elsewhere.
    assert queue_at(documents[0], ben).next_up == documents[1]
    note_looking(versions[0], ben)
    assert queue_at(documents[1], ben).next_up == documents[2]
    assert queue_at(documents[0], ada).next_up == documents[1]
    for version in versions[1:]:
        note_looking(version, make_annotator())
    queue = queue_at(documents[0], ada)
    assert (queue.position, queue.waiting, queue.next_up, queue.others) == (1, 4, documents[1], (ben.name,))


def test_who_looks_is_told_to_the_next_and_forgotten_after_the_decision() -> None:
    version = pending()
    ada, address = make_annotator("ada"), f"/documents/{version.document_id}/"
    ben = client_of(make_annotator("ben"))
    client_of(ada).get(address)
    assert f"{ada.name} is looking at it now." in ben.get(address).content.decode()
    ben.post(f"/documents/versions/{version.pk}/decide/", {"decision": "approve", **seen(version)})
    assert "is looking at it now" not in client_of(make_lead()).get(address).content.decode()


# Decisions on what was seen


def test_approving_what_somebody_rejected_meanwhile_is_refused_and_the_note_stays() -> None:
    version, expert = pending(), make_expert()
    before = seen(version)
    ben = make_annotator("ben")
    actions.reject_version(version=version, flags=["privacy"], note="a letter", by=ben)
    body = {"decision": "approve", "note": "My reasons.", **before}
    answer = client_of(expert).post(f"/documents/versions/{version.pk}/decide/", body)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "My reasons.</textarea>" in page
    assert ben.name in str(answer.context["decision"].non_field_errors())
    assert f'name="seen_state" value="{VersionState.REJECTED}"' in page
    version.refresh_from_db()
    assert version.state == VersionState.REJECTED
    # Told of it, the expert may well overrule.
    assert (
        client_of(expert)
        .post(f"/documents/versions/{version.pk}/decide/", {**body, "seen_state": VersionState.REJECTED})
        .status_code
        == 302
    )


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_an_annotator_who_comes_second_hears_who_was_first_and_keeps_the_note(decision: str) -> None:
    version, ben = pending(), make_annotator("ben")
    before = seen(version)
    actions.approve_version(version=version, by=ben)
    body = {"decision": decision, "flags": ["privacy"], "note": "My reasons.", **before}
    answer = client_of(make_annotator("ada")).post(f"/documents/versions/{version.pk}/decide/", body)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert f"{ben.name} decided meanwhile" in page
    assert "readonly>My reasons.</textarea>" in page


def test_the_address_of_a_decision_leads_to_its_document() -> None:
    version = pending()
    answer = client_of(make_annotator()).get(f"/documents/versions/{version.pk}/decide/")
    assert answer.headers["Location"] == f"/documents/{version.document_id}/"


def test_deciding_on_a_text_that_changed_meanwhile_is_refused() -> None:
    version = actions.paste_document(text="The first.\n", title="Log", by=None)
    before = seen(version)
    actions.revise_document(document=version.document, text="The second.\n", reason="why", by=None)
    body = {"decision": "approve", "note": "kept", **before}
    answer = client_of(make_expert()).post(f"/documents/versions/{version.pk}/decide/", body)
    assert answer.status_code == 409
    assert "changed while you looked" in answer.content.decode()
    assert set(version.document.versions.values_list("state", flat=True)) == {VersionState.PENDING}


def test_an_action_on_another_text_is_refused() -> None:
    version = pending()
    with pytest.raises(Conflict) as refused:
        actions.approve_version(
            version=version, by=make_expert(), seen=Seen(version.state, "0" * 64, version.document.latest_id or 0)
        )
    assert refused.value.rule == "stale_version"


# What changed


def test_a_changed_text_says_so_and_leads_to_the_difference() -> None:
    version = actions.paste_document(text="one\nthe whale\nthree\n", title="Log", by=None)
    actions.approve_version(version=version, by=make_expert())
    actions.revise_document(
        document=version.document, text="one\nthe <b>leviathan</b>\nthree\n", reason="a better word", by=None
    )
    client = client_of(make_annotator())
    page = client.get(f"/documents/{version.document_id}/").content.decode()
    assert "since version 1 was approved" in page
    link = re.search(r'href="(/documents/\d+/changes/\?from=1&amp;to=2)"', page)
    assert link
    changes = client.get(html.unescape(link[1])).content.decode()
    assert "<del>whale</del><ins>&lt;b&gt;leviathan&lt;/b&gt;</ins>" in changes
    assert client.get(f"/documents/{version.document_id}/changes/").content.decode().count("<ins>") == 1
    assert client.get(f"/documents/{version.document_id}/changes/?from=1&to=9").status_code == 404


def test_the_page_tells_who_cleared_what_when_and_why() -> None:
    version = actions.paste_document(text="one\n", title="Log", by=None)
    ada, ben = make_annotator("ada"), make_expert("ben")
    actions.approve_version(version=version, by=ada, note="All in order.")
    actions.reject_version(version=version, flags=["copyright"], note="A claim came in.", by=ben)
    history = client_of(make_lead()).get(f"/documents/{version.document_id}/").context["history"]
    assert [(line.by, line.version, line.what, line.flags, line.reason) for line in history] == [
        (ben, 1, "withdrew the approval", ("copyright",), "A claim came in."),
        (ada, 1, "approved it", (), "All in order."),
        (None, 1, "pasted", (), ""),
    ]


# The list of names


def test_leads_keep_the_list_and_each_change_is_told_without_the_names() -> None:
    lead = make_lead()
    client = client_of(lead)
    answer = client.post("/documents/names/", {"names": "Ishmael\r\n\r\n 王宁 \r\nIshmael", "based_on": "0"})
    assert answer.status_code == 302
    first = queries.watched_names()
    assert first is not None
    assert first.names == "Ishmael\n王宁"
    client.post("/documents/names/", {"names": "Ishmael\nAhab\nQueequeg", "based_on": str(first.pk)})
    assert WatchedNames.objects.count() == 2
    event = Event.objects.filter(action="documents.watch_names").latest("pk")
    assert (event.by, event.data) == (lead, {"names": 3, "added": 2, "removed": 1})
    assert "Ishmael" in client.get("/documents/names/").content.decode()


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_others_learn_that_there_is_a_list_and_cannot_change_it(language: str) -> None:
    actions.watch_names(names="Ishmael", by=make_lead())
    for person in (make_annotator(), make_expert()):
        page = client_of(person, language).get("/documents/names/")
        assert page.status_code == 200
        assert "Ishmael" not in page.content.decode()
        assert "<textarea" not in page.content.decode()
        refused = client_of(person).post("/documents/names/", {"names": "Ahab", "based_on": "1"})
        assert refused.status_code == 403
        with pytest.raises(NotAllowed):
            actions.watch_names(names="Ahab", by=person)
    assert WatchedNames.objects.count() == 1


def test_bad_lines_are_named_and_what_was_typed_stays() -> None:
    client = client_of(make_lead())
    names = "Ishmael\n王\n1984\n" + "x" * 101
    answer = client.post("/documents/names/", {"names": names, "based_on": "0"})
    assert answer.status_code == 400
    errors = answer.context["form"].errors["names"]
    assert [re.search(r"\d+", error)[0] for error in errors] == ["2", "3", "4"]  # type: ignore[index]
    assert "Ishmael\n王\n1984" in answer.content.decode()
    assert not WatchedNames.objects.exists()
    with pytest.raises(Invalid):
        actions.watch_names(names="\n".join(f"Name{letters}" for letters in range(20_001)), by=make_lead())
    with pytest.raises(Invalid):
        actions.watch_names(names="", by=make_lead())


def test_two_leads_never_overwrite_each_other_unseen() -> None:
    actions.watch_names(names="Ishmael", by=make_lead())
    client = client_of(make_lead())
    answer = client.post("/documents/names/", {"names": "Ahab", "based_on": "0"})
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "Ahab</textarea>" in page
    assert f'name="based_on" value="{queries.number_of_names_list()}"' in page
    again = client.post("/documents/names/", {"names": "Ahab", "based_on": str(queries.number_of_names_list())})
    assert again.status_code == 302


def test_a_state_that_was_never_there_is_named_and_no_note_is_spoken_of() -> None:
    version, expert = pending(), make_expert()
    given: dict[str, Any] = {
        "version": version,
        "by": expert,
        "seen": Seen("approved", version.sha256, version.document.latest_id or 0),
    }
    with pytest.raises(Conflict) as refused:
        actions.approve_version(**given)
    now, then = VersionState.PENDING.label, VersionState.APPROVED.label
    assert str(refused.value) == f"The state is “{now}”, not “{then}”. Nothing was changed."
    with pytest.raises(Conflict) as refused:
        actions.approve_version(note="My reasons.", **given)
    assert "Your note is kept." in str(refused.value)
