# ruff: noqa: S608 -- SQL with numbers of our own rows
"""The audit trail is sealed, and whatever is done to it behind the program's back is named."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client

from core import history, sealing
from core.models import Event, TrailSeal
from core.tasks import seal_trail
from tests.conftest import unprotected
from tests.factories import make_annotator, make_lead

pytestmark = pytest.mark.django_db


def settle() -> list[TrailSeal]:
    """Twice: what was noted the first time is sealed the second time."""
    return [*sealing.seal_trail(), *sealing.seal_trail()]


@pytest.fixture
def sealed() -> list[Event]:
    person = make_annotator()
    for number in range(6):
        history.record("try_model", person, by=person, reason=f"Nummer {number} 第{number}", n=number, nested=[1.5, {}])
    settle()
    return list(Event.objects.order_by("id"))


def faults() -> list[str]:
    return [str(fault) for fault in sealing.verify()]


def test_a_trail_that_nobody_touched_holds(sealed: list[Event]) -> None:
    assert TrailSeal.objects.get().count == len(sealed) == 6
    assert (faults(), sealing.unsealed()) == ([], 0)


def tampered(what: str, sealed: list[Event]) -> str:
    """By SQL, as somebody with the database's password would; which lines are wrong then."""
    first, second = sealed[2].pk, sealed[4].pk
    statements: dict[str, tuple[list[str], str]] = {
        "reason": ([f"UPDATE core_event SET reason = 'other' WHERE id = {first}"], f"line {first}: changed"),
        "person": ([f"UPDATE core_event SET by_id = NULL WHERE id = {first}"], f"line {first}: changed"),
        "removed": ([f"DELETE FROM core_event WHERE id = {first}"], f"line {first}: removed"),
        "swapped": (
            [
                f"UPDATE core_event SET id = -1 WHERE id = {first}",
                f"UPDATE core_event SET id = {first} WHERE id = {second}",
                f"UPDATE core_event SET id = {second} WHERE id = -1",
            ],
            f"line {first}: changed, line {second}: changed",
        ),
        "seal": (["UPDATE core_trailseal SET last_id = last_id + 1"], "seal 1: seal_changed"),
    }
    with unprotected(), connection.cursor() as cursor:
        for statement in statements[what][0]:
            cursor.execute(statement)
    return statements[what][1]


@pytest.mark.parametrize("what", ["reason", "person", "removed", "swapped", "seal"])
def test_what_was_done_behind_the_programs_back_is_named(what: str, sealed: list[Event]) -> None:
    expected = tampered(what, sealed)
    assert ", ".join(faults()) == expected
    told = StringIO()
    with pytest.raises(SystemExit) as left:
        call_command("verify_audit", stdout=told)
    assert left.value.code == 1
    assert told.getvalue().splitlines()[: expected.count(",") + 1] == expected.split(", ")


def test_a_line_put_between_two_sealed_ones_is_named() -> None:
    person = make_annotator()
    one = history.record("try_model", person, by=person)
    with transaction.atomic():
        lost = history.record("try_model", person, by=person)
        transaction.set_rollback(False)
    with unprotected():
        Event.objects.filter(pk=lost.pk).delete()
    history.record("try_model", person, by=person)
    settle()
    assert faults() == []
    Event.objects.create(pk=lost.pk, action="core.x", subject_type="user", subject_id=person.pk, by=one.by)
    assert faults() == [f"line {lost.pk}: inserted"]


def test_a_seal_that_was_taken_out_or_written_anew_is_named(sealed: list[Event]) -> None:
    person = make_annotator()
    for _batch in range(2):
        history.record("try_model", person, by=person)
        settle()
    second = TrailSeal.objects.get(number=2)
    with unprotected():
        TrailSeal.objects.filter(pk=second.pk).delete()
    assert faults() == ["seal 2: seal_missing", f"line {second.last_id}: inserted"]


def test_whoever_writes_the_whole_rest_anew_is_found_by_a_seal_noted_elsewhere(sealed: list[Event]) -> None:
    noted = TrailSeal.objects.get().digest
    with unprotected():
        TrailSeal.objects.all().delete()
        Event.objects.filter(pk=sealed[0].pk).update(reason="other")
    settle()
    assert faults() == []
    told = StringIO()
    with pytest.raises(SystemExit):
        call_command("verify_audit", "--seal", noted, stdout=told)
    assert "seal_missing" in told.getvalue()


def test_the_triggers_guard_the_seals_too(sealed: list[Event]) -> None:
    with pytest.raises(Exception, match="append-only"), transaction.atomic():
        TrailSeal.objects.update(count=1)


def test_a_line_has_the_same_bytes_on_every_database() -> None:
    person = make_annotator()
    event = history.record(
        "try_model", person, by=None, reason="为什么", a=1.0, b=[0.1, 1e300, -0.0], c={"z": 1, "y": "é"}
    )
    line = sealing.line_of(Event.objects.get(pk=event.pk))
    fixed = {
        **line,
        "id": 1,
        "subject_id": 2,
        "at": datetime(2026, 1, 2, tzinfo=UTC).isoformat(timespec="microseconds"),
    }
    assert sealing.digest_of(fixed) == "1454d6276689f26280d337b4f94dcc838564f2481d58efcbda41ec2a5b9f3c33"


def test_a_batch_has_an_end(sealed: list[Event], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "LARGEST_BATCH", 2)
    person = make_annotator()
    for _line in range(5):
        history.record("try_model", person, by=person)
    assert [seal.count for seal in settle()] == [2, 2, 1]
    assert faults() == []


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_line_that_commits_behind_later_ones_is_in_a_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction takes its number first and commits last, while sealing goes on around it. SQLite has
    one writer at a time."""
    person = make_annotator()
    taken, go_on = Signal(), Signal()

    def slow() -> None:
        try:
            with transaction.atomic():
                history.record("try_model", person, by=person, reason="slow")
                taken.set()
                go_on.wait(20)
        finally:
            connection.close()

    thread = Thread(target=slow)
    with transaction.atomic(), connection.cursor() as cursor:
        # The older transaction of the two: it ends first, and nothing that has ended is younger than the slow one.
        cursor.execute("SELECT pg_current_xact_id()")
        thread.start()
        assert taken.wait(20)
        history.record("try_model", person, by=person, reason="fast")
    for _minute in range(4):
        assert sealing.seal_trail() == []
    go_on.set()
    thread.join()
    sealing.seal_trail()
    sealing.seal_trail()
    slow_line, fast_line = Event.objects.get(reason="slow"), Event.objects.get(reason="fast")
    assert slow_line.pk < fast_line.pk
    assert {str(slow_line.pk), str(fast_line.pk)} <= {pk for seal in TrailSeal.objects.all() for pk in seal.lines}
    assert faults() == []


def test_the_clock_seals_and_a_read_only_file_is_held_against_the_seals(sealed: list[Event], tmp_path: Path) -> None:
    seal_trail()
    client = Client()
    client.force_login(make_lead())
    text = b"".join(client.get("/trail/?format=jsonl").streaming_content).decode()  # type: ignore[attr-defined]
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["id"] for row in rows] == [event.pk for event in sealed]
    changes: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
        "": lambda rows: None,
        f"line {rows[1]['id']}: changed": lambda rows: rows[1].update(reason="x"),
        f"line {rows[1]['id']}: removed": lambda rows: rows.pop(1),
        f"line {rows[1]['id']}: reordered": lambda rows: rows.insert(1, rows.pop(2)),
    }
    for expected, change in changes.items():
        copies = [dict(row) for row in rows]
        change(copies)
        file = tmp_path / "trail.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in copies))
        told = StringIO()
        if expected:
            with pytest.raises(SystemExit):
                call_command("verify_audit", "--file", str(file), stdout=told)
        else:
            call_command("verify_audit", "--file", str(file), stdout=told)
        assert told.getvalue().splitlines()[0] == (expected or "0 faults; 0 lines are not sealed yet")
    file.write_text("".join(json.dumps(row) + "\n" for row in rows[::2]))
    call_command("verify_audit", "--file", str(file), "--filtered", stdout=StringIO())
    file.write_text("no line\n")
    with pytest.raises(CommandError):
        call_command("verify_audit", "--file", str(file), stdout=StringIO())
