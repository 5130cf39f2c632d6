"""Batches: nothing is lost, nothing is stored twice, and everybody sees how it stands."""

import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DataError, connection, connections
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation
from rest_framework.test import APIClient

from core.history import history_of
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed
from documents import actions, batches, leasing, queries
from documents.actions import Facts, Sent
from documents.models import BatchFile, BatchLine, Document, DocumentText, DocumentVersion, ImportBatch
from documents.queries import text_of
from documents.workflow import BatchState
from leading.tasks import reconcile
from tests.factories import make_annotator, make_expert, make_lead, make_version
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]


def sent(**files: bytes) -> list[Sent]:
    return [Sent(name.replace("__", "."), ContentFile(data)) for name, data in files.items()]


def logs(count: int, words: str = "The log of day") -> list[Sent]:
    return [Sent(f"{number}.txt", ContentFile(f"{words} {number}.".encode())) for number in range(count)]


def stored_files() -> list[str]:
    root = Path(default_storage.location) / "batches"  # type: ignore[attr-defined]  # the test's storage is a folder
    return [str(path) for path in root.rglob("*") if path.is_file()]


@pytest.fixture(autouse=True)
def _store_of_its_own(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"


def lines_of(batch: ImportBatch) -> list[tuple[str, str, str]]:
    return list(batch.lines.order_by("file_id", "number").values_list("path", "status", "rule"))


# Taking in


def test_a_batch_waits_with_its_files_and_is_taken_in_by_the_worker() -> None:
    lead = make_lead()
    make_version("Known already.\n")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("inner.txt", "An inner log.")
        packed.writestr("lines.jsonl", '{"text": "A line."}\nno json\n')
    files = sent(
        good__txt=b"The Heron.", broken__txt=b"abc\xff\xfe", again__txt=b"Known already.\n", a__zip=archive.getvalue()
    )
    batch = actions.start_batch(files=files, pasted="A pasted log.", facts=Facts(domain="history"), by=lead)
    assert (batch.state, batch.files.count(), Document.objects.count()) == ("waiting", 5, 1)
    assert all("good" not in name and "broken" not in name for name in stored_files())
    assert len(stored_files()) == 5

    assert batches.work_off() == 1
    batch.refresh_from_db()
    assert lines_of(batch) == [
        ("good.txt", "flagged", ""),
        ("broken.txt", "refused", "encoding"),
        ("again.txt", "refused", "duplicate"),
        ("a.zip/inner.txt", "flagged", ""),
        ("a.zip/lines.jsonl:1", "flagged", ""),
        ("a.zip/lines.jsonl:2", "refused", "jsonl"),
        ("", "flagged", ""),
    ]
    assert (batch.state, batch.accepted, batch.flagged, batch.refused) == ("finished", 0, 4, 3)
    assert batch.bytes_done == batch.bytes_total
    assert batch.finished_at is not None
    assert stored_files() == []
    pasted = Document.objects.get(title="A pasted log.")
    assert (pasted.domain, pasted.imported_by, pasted.versions.get().origin) == ("history", lead, "paste")
    moves = [(event.action, event.by) for event in history_of(batch)]
    assert moves == [("documents.send_batch", lead), ("documents.start", None), ("documents.finish", None)]


def test_a_title_is_a_single_file_s() -> None:
    lead = make_lead()
    actions.start_batch(files=logs(1, "One"), facts=Facts(title="Mine"), by=lead)
    actions.start_batch(files=logs(2, "Two"), facts=Facts(title="Not both"), by=lead)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as packed:
        for name in ("a.txt", "b.txt"):
            packed.addfile(_member(name), io.BytesIO(name.encode()))
    actions.start_batch(files=sent(logs__tgz=archive.getvalue()), facts=Facts(title="Nor these"), by=lead)
    batches.work_off()
    assert sorted(Document.objects.values_list("title", flat=True)) == ["0", "1", "Mine", "a", "b"]


def _member(name: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = len(name)
    return info


def test_one_bad_line_of_thousands_stops_nothing() -> None:
    lines = [json.dumps({"text": f"The log of day {number}."}) for number in range(1, 1001)]
    lines[599] = '{"text": "broken'
    batch = actions.start_batch(files=sent(days__jsonl="\n".join(lines).encode()), by=make_lead())
    batches.work_off()
    batch.refresh_from_db()
    assert (batch.flagged, batch.refused) == (999, 1)
    line = batch.lines.get(status="refused")
    assert line.path == "days.jsonl:600"
    assert line.position is not None
    assert "600" in line.reason


def test_a_fault_of_the_program_is_said_of_its_file_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = batches.text_of_file

    def broken(data: bytes, file_name: str, facts: Facts, encoding: str) -> batches.Text:
        if file_name == "1.txt":
            raise RecursionError("a parser gave up")
        return whole(data, file_name, facts, encoding)

    monkeypatch.setattr(batches, "text_of_file", broken)
    batch = actions.start_batch(files=logs(3), by=make_lead())
    batches.work_off()
    assert [(path, rule) for path, _status, rule in lines_of(batch)] == [
        ("0.txt", ""),
        ("1.txt", "fault"),
        ("2.txt", ""),
    ]


def test_a_file_that_is_gone_from_the_store_is_said_and_the_others_go_in() -> None:
    batch = actions.start_batch(files=logs(3), by=make_lead())
    default_storage.delete(str(batch.files.get(number=2).content.name))
    batches.work_off()
    assert [rule for _path, _status, rule in lines_of(batch)] == ["", "unreadable", ""]


def test_the_report_is_in_the_language_of_whoever_sent_it() -> None:
    lead = make_lead()
    lead.language = "zh-hans"
    lead.save()
    batch = actions.start_batch(files=sent(empty__txt=b""), by=lead)
    batches.work_off()
    assert any(letter > "\u4e00" for letter in batch.lines.get().reason)


def test_without_a_chosen_language_the_report_is_in_that_of_the_page_it_was_sent_from() -> None:
    lead = make_lead()
    for spoken, is_chinese in (("zh-hans", True), ("en", False)):
        with translation.override(spoken):
            batch = actions.start_batch(files=sent(empty__txt=b""), by=lead)
        batches.work_off()
        assert any(letter > "\u4e00" for letter in batch.lines.get().reason) is is_chinese


# Refusals before anything is kept


def test_only_leads_send_and_cancel_batches() -> None:
    for person in (make_annotator(), make_expert()):
        with pytest.raises(NotAllowed):
            actions.start_batch(files=logs(1), by=person)
    batch = actions.start_batch(files=logs(1), by=make_lead())
    with pytest.raises(NotAllowed):
        actions.cancel_batch(batch=batch, by=make_expert())
    client = client_of(make_expert())
    assert client.get("/documents/batches/").status_code == 403
    assert client.get(f"/documents/batches/{batch.pk}/").status_code == 403
    assert client.get(f"/documents/batches/{batch.pk}/report.csv").status_code == 403


@override_settings(LBP_MAX_UPLOAD=1000)
def test_what_cannot_be_kept_is_refused_in_words_and_leaves_nothing() -> None:
    lead = make_lead()
    for files, facts, field in (
        ([], Facts(), "uploads"),
        (sent(a__txt=b"x" * 1001), Facts(), "uploads"),
        (logs(1), Facts(language="Klingon"), "language"),
        (logs(1), Facts(domain="x" * 61), "domain"),
    ):
        with pytest.raises(Invalid) as caught:
            actions.start_batch(files=files, facts=facts, by=lead)
        assert set(caught.value.errors) == {field}
    with pytest.raises(Invalid):
        actions.start_batch(files=logs(1), encoding="nonsense", by=lead)
    assert not ImportBatch.objects.exists()
    assert stored_files() == []


# The same batch twice


def test_the_same_while_it_is_unfinished_is_the_same_batch() -> None:
    lead, other = make_lead(), make_lead()
    first = actions.start_batch(files=logs(2), by=lead)
    assert actions.start_batch(files=logs(2), by=lead) == first
    assert len(stored_files()) == 2
    assert actions.start_batch(files=logs(2), by=other) != first
    assert actions.start_batch(files=logs(2), facts=Facts(domain="law"), by=lead) != first
    batches.work_off()
    again = actions.start_batch(files=logs(2), by=lead)
    assert again != first
    batches.work_off()
    again.refresh_from_db()
    assert (again.refused, Document.objects.count()) == (2, 2)


def at_once(count: int, work: Any) -> list[Any]:
    """`work(number)` in so many threads that begin together; what each returned or raised."""
    barrier = threading.Barrier(count)
    results: list[Any] = [None] * count

    def run(number: int) -> None:
        try:
            barrier.wait()
            results[number] = work(number)
        except Exception as error:
            results[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.django_db(transaction=True)
def test_the_same_batch_sent_by_eight_at_once_is_one_batch() -> None:
    lead = make_lead()
    results = at_once(8, lambda _number: actions.start_batch(files=logs(3), by=lead).pk)
    assert len(set(results)) == 1, results
    assert ImportBatch.objects.count() == 1
    assert len(stored_files()) == 3


@pytest.mark.django_db(transaction=True)
def test_the_same_form_and_the_same_request_sent_at_once_are_one_batch() -> None:
    """B-56."""
    lead = make_lead()
    clients = [client_of(lead) for _each in range(4)]

    def send_form(number: int) -> tuple[int, str]:
        body = {"uploads": [SimpleUploadedFile("a.txt", b"The Heron.")], "_once": "the same"}
        response = clients[number].post("/documents/import/", body)
        return response.status_code, response.headers.get("Location", "")

    answers = at_once(4, send_form)
    assert {status for status, _location in answers} == {302}
    assert len({location for _status, location in answers}) == 1

    def send_request(_number: int) -> tuple[int, Any]:
        client = APIClient()
        client.force_authenticate(lead)
        files = [SimpleUploadedFile("b.txt", b"The Tern.")]
        response = client.post(
            "/api/v1/batches/", {"files": files}, headers={"Idempotency-Key": "one"}, format="multipart"
        )
        return response.status_code, response.json().get("id")

    answers = at_once(4, send_request)
    assert {status for status, _pk in answers} <= {202, 409}
    assert len({pk for status, pk in answers if status == 202}) == 1
    assert ImportBatch.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_two_workers_on_one_batch_store_each_text_once() -> None:
    batch = actions.start_batch(files=logs(30), by=make_lead())
    results = at_once(4, lambda _number: batches.take_in(batch.pk))
    assert results == [None] * 4
    batch.refresh_from_db()
    assert (batch.state, batch.accepted + batch.flagged, batch.refused) == ("finished", 30, 0)
    assert Document.objects.count() == batch.lines.count() == 30


# Stopped on the way


def stop_after(monkeypatch: pytest.MonkeyPatch, count: int, stop: Any, together: int = 1) -> None:
    """`stop()` is called before the texts behind the first `count` are stored, so many by one transaction."""
    taking = batches._take
    seen = []

    def take(*given: Any) -> None:
        seen.append(1)
        if len(seen) == count // together + 1:
            stop()
        taking(*given)

    monkeypatch.setattr(batches, "SLICE", together)
    monkeypatch.setattr(batches, "_take", take)


class Killed(BaseException):
    pass


def killed() -> None:
    raise Killed


def test_what_a_stopped_worker_left_is_taken_up_where_it_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = actions.start_batch(files=logs(10), by=make_lead())
    stop_after(monkeypatch, 4, killed)
    with pytest.raises(Killed):
        batches.take_in(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.lines.count(), Document.objects.count()) == ("running", 4, 4)
    assert batches.unfinished() == [batch.pk]  # the lease was given back
    batches.work_off()
    batch.refresh_from_db()
    assert (batch.state, batch.lines.count(), Document.objects.count(), batch.refused) == ("finished", 10, 10, 0)
    assert "documents.resume_batch" in [event.action for event in history_of(batch)]


@pytest.mark.parametrize("packed", [True, False])
def test_the_bar_does_not_go_back_when_a_batch_goes_on(packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "\n".join(f'{{"text": "Log of day {number}."}}' for number in range(10)).encode()
    files = [Sent("a.jsonl", ContentFile(lines))] if packed else logs(10)
    batch = actions.start_batch(files=files, by=make_lead())
    stop_after(monkeypatch, 6, killed)
    with pytest.raises(Killed):
        batches.take_in(batch.pk)
    batch.refresh_from_db()
    before = batch.bytes_done
    assert before > batch.bytes_total // 4
    stop_after(monkeypatch, 1, killed)
    with pytest.raises(Killed):
        batches.take_in(batch.pk)
    batch.refresh_from_db()
    assert before < batch.bytes_done < batch.bytes_total


def test_a_kill_between_two_slices_loses_and_doubles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = actions.start_batch(files=logs(11), by=make_lead())
    with monkeypatch.context() as patch:
        stop_after(patch, 8, killed, together=4)
        with pytest.raises(Killed):
            batches.take_in(batch.pk)
    batch.refresh_from_db()
    assert (batch.flagged, batch.lines.count(), Document.objects.count()) == (8, 8, 8)
    assert batch.files.filter(is_done=True).count() == 7  # of the eighth nobody has seen the end
    batches.work_off()
    batch.refresh_from_db()
    assert (batch.state, batch.flagged, batch.lines.count(), Document.objects.count()) == ("finished", 11, 11, 11)


def test_a_slice_that_is_killed_before_its_lines_leaves_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = actions.start_batch(files=logs(4), by=make_lead())
    with monkeypatch.context() as patch:
        patch.setattr(batches.Held, "renew", lambda *_given, **_counts: killed())
        with pytest.raises(Killed):
            batches.take_in(batch.pk)
    assert (batch.lines.count(), Document.objects.count(), DocumentVersion.objects.count()) == (0, 0, 0)
    batches.work_off()
    assert (batch.lines.count(), Document.objects.count()) == (4, 4)


def test_refused_texts_of_a_slice_leave_the_others() -> None:
    make_version("Known already.\n")
    files = [
        *sent(one__txt=b"The Heron.", known__txt=b"Known already.\n", two__txt=b"The Tern.", again__txt=b"The Heron."),
        *sent(empty__txt=b"", wrong__jsonl=b'{"text": "A line.", "domain": "%s"}' % (b"x" * 61)),
    ]
    batch = actions.start_batch(files=files, by=make_lead())
    batches.work_off()
    assert lines_of(batch) == [
        ("one.txt", "flagged", ""),
        ("known.txt", "refused", "duplicate"),
        ("two.txt", "flagged", ""),
        ("again.txt", "refused", "duplicate"),
        ("empty.txt", "refused", "empty"),
        ("wrong.jsonl:1", "refused", "invalid"),
    ]
    first = Document.objects.get(title="one")
    assert batch.lines.get(path="again.txt").duplicate_of == first.pk
    assert Document.objects.get(title="two").latest == DocumentVersion.objects.get(document__title="two")


def test_what_the_database_refuses_of_one_text_is_that_text_s_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = DocumentText.objects.create

    def create(**fields: Any) -> DocumentText:
        if "day 2" in fields["text"]:
            raise DataError("a value that no column holds")
        return whole(**fields)

    monkeypatch.setattr(DocumentText.objects, "create", create)
    batch = actions.start_batch(files=logs(5), by=make_lead())
    batches.work_off()
    assert [rule for _path, _status, rule in lines_of(batch)] == ["", "", "fault", "", ""]
    batch.refresh_from_db()
    assert (batch.flagged, batch.refused, Document.objects.count()) == (4, 1, 4)


def test_a_text_that_somebody_stores_at_the_same_moment_is_a_duplicate(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = actions.start_batch(files=logs(3), by=make_lead())
    actions.paste_document(text="The log of day 1.", title="First", by=None)
    # Nobody saw it while the three were read, nor before the slice and the first two by themselves were written.
    whole, blind = queries.first_with, [1, 1, 1]
    monkeypatch.setattr(queries, "first_with", lambda given: {} if blind and blind.pop() else whole(given))
    known, unseen = queries.is_known, [1, 1, 1]
    monkeypatch.setattr(queries, "is_known", lambda sha256: not (unseen and unseen.pop()) and known(sha256))
    batches.work_off()
    assert blind == unseen == []
    assert [rule for _path, _status, rule in lines_of(batch)] == ["", "duplicate", ""]
    assert Document.objects.count() == 3


def test_texts_of_one_slice_that_share_a_passage_name_each_other() -> None:
    passage = " ".join(f"The brig number {number} came in with salt." for number in range(200))
    files = sent(a__txt=f"First. {passage}".encode(), b__txt=f"Second. {passage}".encode())
    actions.start_batch(files=files, by=make_lead())
    batches.work_off()
    first, second = DocumentVersion.objects.order_by("pk")
    assert [remark["rule"] for remark in first.remarks] == []
    (remark,) = [remark for remark in second.remarks if remark["rule"] == "near_duplicate"]
    assert [near["document"] for near in remark["documents"]] == [first.document_id]


def test_the_statements_for_a_text_are_few() -> None:
    counts = []
    for number in (1, 9):
        batch = actions.start_batch(files=logs(8 * number, f"Run {number}"), by=make_lead())
        with CaptureQueriesContext(connection) as captured:
            batches.take_in(batch.pk)
        counts.append(len(captured))
        assert batch.lines.count() == 8 * number
    assert (counts[1] - counts[0]) / 64 <= 7, counts


def test_a_lease_keeps_others_away_until_it_runs_out() -> None:
    batch = actions.start_batch(files=logs(2), by=make_lead())
    ImportBatch.objects.update(state=BatchState.RUNNING, leased_until=timezone.now() + timedelta(minutes=1))
    batches.take_in(batch.pk)
    assert (batches.unfinished(), batch.lines.count()) == ([], 0)
    ImportBatch.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert batches.unfinished() == [batch.pk]
    batches.take_in(batch.pk)
    assert batch.lines.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_text_that_takes_long_keeps_its_lease_as_long_as_its_worker_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leasing, "LEASE", timedelta(seconds=0.15))
    monkeypatch.setattr(leasing, "BEAT_SECONDS", 0.03)
    batch = actions.start_batch(files=logs(1), by=make_lead())
    whole = batches.text_of_file
    seen: list[list[int]] = []

    def slow(data: bytes, file_name: str, facts: Facts, encoding: str) -> batches.Text:
        for _each in range(4):
            time.sleep(0.1)
            seen.append(batches.unfinished())
        return whole(data, file_name, facts, encoding)

    monkeypatch.setattr(batches, "text_of_file", slow)
    batches.take_in(batch.pk)
    batch.refresh_from_db()
    assert (seen, batch.state, batch.lines.count()) == ([[], [], [], []], "finished", 1)


def test_a_batch_goes_on_within_half_a_minute_of_its_worker_s_death(settings: Any) -> None:
    """The lease that nobody renews any more, and the reconciler's next round."""
    batch = actions.start_batch(files=logs(1), by=make_lead())
    assert leasing.hold(batch.pk) is not None  # as it stands when the worker is killed
    batch.refresh_from_db()
    assert batch.leased_until is not None
    round_seconds = settings.CELERY_BEAT_SCHEDULE["take up what the broker lost"]["schedule"]
    assert (batch.leased_until - timezone.now()).total_seconds() + round_seconds < 30
    assert leasing.LEASE.total_seconds() / 3 > leasing.BEAT_SECONDS


def test_who_lost_the_lease_stores_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = actions.start_batch(files=logs(6), by=make_lead())
    stop_after(monkeypatch, 3, lambda: ImportBatch.objects.update(leased_until=timezone.now() + timedelta(hours=1)))
    batches.take_in(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.lines.count(), Document.objects.count()) == ("running", 3, 3)


def test_cancelling_stops_between_two_texts_and_keeps_what_was_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    lead = make_lead()
    batch = actions.start_batch(files=logs(6), by=lead)
    stop_after(monkeypatch, 2, lambda: actions.cancel_batch(batch=ImportBatch.objects.get(), by=lead))
    batches.take_in(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.lines.count(), Document.objects.count()) == ("cancelled", 2, 2)
    assert stored_files() == []
    assert batches.work_off() == 0
    with pytest.raises(Conflict):
        actions.cancel_batch(batch=batch, by=lead)
    event = history_of(batch).last()
    assert event is not None
    assert (event.action, event.by, event.to_state) == ("documents.cancel", lead, "cancelled")


def test_the_reconciler_takes_up_batches_and_sweeps_the_store(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any, settings: Any
) -> None:
    batch = actions.start_batch(files=logs(1), by=make_lead())
    taken: list[tuple[Any, ...]] = []
    monkeypatch.setattr("documents.tasks.hurry", lambda task, *args: taken.append((task.name, *args)))
    reconcile()
    assert taken == [("documents.take_in", batch.pk)]
    # As if the worker had been killed behind the end of the batch.
    monkeypatch.setattr(batches, "forget_files", lambda batch: None)
    batches.work_off()
    assert len(stored_files()) == 1
    reconcile()
    assert stored_files() == []


WORKER = "import django; django.setup(); from documents import batches; batches.take_in({pk})"


@pytest.mark.django_db(transaction=True)
def test_kill_9_at_any_moment_loses_and_doubles_nothing(tmp_path: Path, settings: Any) -> None:
    """Real processes, killed while they work; what the lease would make the next one wait for is shortened."""
    chance = random.Random(9)
    texts = [
        " ".join(chance.choices(["salt", "brig", "mole", "heron", "tern", "ferry"], k=30_000)) for _each in range(40)
    ]
    files = [Sent(f"{number}.txt", ContentFile(text.encode())) for number, text in enumerate(texts)]
    batch = actions.start_batch(files=files, by=make_lead())
    environment = {**os.environ, "DATABASE_URL": database_url(), "LBP_DATA_DIR": str(tmp_path)}
    kills = 0
    for _round in range(20):
        command = [sys.executable, "-c", WORKER.format(pk=batch.pk)]
        process = subprocess.Popen(command, cwd=ROOT, env=environment)
        there = batch.lines.count()
        until = time.monotonic() + 60
        while kills < 3 and process.poll() is None and batch.lines.count() < there + 4 and time.monotonic() < until:
            time.sleep(0.02)
        if kills < 3 and process.poll() is None:
            time.sleep(chance.random() / 10)
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait(timeout=120)
        batch.refresh_from_db()
        if batch.state == BatchState.FINISHED:
            break
        ImportBatch.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert (kills, batch.state, batch.refused) == (3, "finished", 0)
    assert batch.lines.count() == Document.objects.count() == DocumentVersion.objects.count() == len(texts)
    assert sorted(map(text_of, DocumentVersion.objects.all())) == sorted(texts)
    assert batch.accepted + batch.flagged == len(texts)
    assert not BatchFile.objects.exclude(content="").exists()


def database_url() -> str:
    chosen = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{chosen['NAME']}"
    where = f"{chosen['USER']}:{chosen['PASSWORD']}@{chosen['HOST']}:{chosen['PORT'] or 5432}"
    return f"postgres://{where}/{chosen['NAME']}"


# The pages


def test_a_title_that_is_cut_is_said_in_the_report() -> None:
    row = json.dumps({"text": "The Heron.", "title": "T" * 312})
    batch = actions.start_batch(files=sent(a__jsonl=row.encode()), by=make_lead())
    batches.work_off()
    assert Document.objects.get().title == "T" * 300
    assert "title cut after 300 characters (12 left out)" in page_of(batch)


def test_a_report_of_refusals_only_has_no_empty_columns() -> None:
    batch = actions.start_batch(files=sent(a__txt=b"", b__txt=b"The Heron."), by=make_lead())
    batches.work_off()
    assert ">Tokens</th>" in page_of(batch)
    assert ">Tokens</th>" not in page_of(batch, "?outcome=refused")


def test_near_duplicates_are_said_in_one_line() -> None:
    words = " ".join(f"word{number}" for number in range(400))
    files = {f"n{number}__txt": f"{words} {'x' * number}".encode() for number in range(6)}
    batch = actions.start_batch(files=sent(**files), by=make_lead())
    batches.work_off()
    page = page_of(batch)
    assert page.count("shares long passages with") == 5
    assert "and 2 more" in page


def page_of(batch: ImportBatch, query: str = "", person: User | None = None) -> str:
    response = client_of(person or make_lead()).get(f"/documents/batches/{batch.pk}/{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_polls_while_the_batch_is_unfinished_and_says_when_no_worker_runs() -> None:
    """T-09."""
    batch = actions.start_batch(files=logs(2), by=make_lead())
    fresh = page_of(batch)
    assert 'hx-trigger="every 1s"' in fresh
    assert "waiting for the worker" not in fresh
    ImportBatch.objects.update(made_at=timezone.now() - timedelta(seconds=5))
    assert "waiting for the worker" in page_of(batch)
    assert "waiting for the worker" in client_of(make_lead()).get("/documents/batches/").content.decode()
    ImportBatch.objects.update(state=BatchState.RUNNING, leased_until=timezone.now() + timedelta(minutes=1))
    assert "waiting for the worker" not in page_of(batch)
    ImportBatch.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert "waiting for the worker" in page_of(batch)
    batches.work_off()
    done = page_of(batch)
    assert "hx-trigger" not in done.partition('id="batch"')[2].partition(">")[0]
    assert "finished" in done


def test_cancelling_by_the_page_works_without_a_worker() -> None:
    lead = make_lead()
    batch = actions.start_batch(files=logs(2), by=lead)
    client = client_of(lead)
    assert client.post(f"/documents/batches/{batch.pk}/cancel/").status_code == 302
    batch.refresh_from_db()
    assert batch.state == "cancelled"
    assert client.post(f"/documents/batches/{batch.pk}/cancel/").status_code == 409
    assert batches.work_off() == 0
    assert not Document.objects.exists()


def fill(batch: ImportBatch, count: int, status: str = "refused") -> None:
    file, there = batch.files.get(), batch.lines.count()
    BatchLine.objects.bulk_create(
        BatchLine(batch=batch, file=file, number=number, path=f"{number}.txt", status=status, reason="=1+1")
        for number in range(there + 1, there + count + 1)
    )
    ImportBatch.objects.filter(pk=batch.pk).update(state="finished", refused=there + count)


def test_5000_lines_take_as_many_queries_as_50_and_no_text() -> None:
    batch = actions.start_batch(files=logs(1), by=make_lead())
    client = client_of(make_lead())
    client.get("/documents/batches/")
    client.get(f"/documents/batches/{batch.pk}/")
    counts = []
    for more in (50, 4_950):
        fill(batch, more)
        with CaptureQueriesContext(connection) as captured:
            page = client.get(f"/documents/batches/{batch.pk}/").content.decode()
        counts.append(len(captured))
        assert not any(DocumentText._meta.db_table in query["sql"] for query in captured)
    assert counts[0] == counts[1] <= 12
    assert "1 to 100 of 5000" in page or "1 to 100 of 5,000" in page
    with CaptureQueriesContext(connection) as captured:
        client.get("/documents/batches/")
    assert len(captured) <= 8


def test_the_report_is_filtered_by_outcome_and_leads_to_the_documents() -> None:
    lead = make_lead()
    known = make_version("Known already.\n")
    batch = actions.start_batch(files=sent(good__txt=b"The Heron.", again__txt=b"Known already.\n"), by=lead)
    batches.work_off()
    whole, refused = page_of(batch), page_of(batch, "?outcome=refused")
    assert "good.txt" in whole
    assert f'href="/documents/{Document.objects.get(title="good").pk}/"' in whole
    assert "good.txt" not in refused
    assert f'href="/documents/{known.document_id}/"' in refused
    assert "again.txt" in page_of(batch, "?outcome=nonsense")


def test_the_report_as_csv_is_whole_marked_and_runs_no_formula() -> None:
    lead = make_lead()
    files = [Sent("=HYPERLINK(1).txt", ContentFile(b"The Heron.")), *sent(empty__txt=b"")]
    batch = actions.start_batch(files=files, by=lead)
    batches.work_off()
    response = client_of(lead).get(f"/documents/batches/{batch.pk}/report.csv")
    text = b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]  # it streams
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [(row["file"], row["outcome"], row["rule"]) for row in rows] == [
        ("'=HYPERLINK(1).txt", "flagged", ""),
        ("empty.txt", "refused", "empty"),
    ]
    assert rows[0]["document"] == str(Document.objects.get().pk)
    assert rows[0]["tokens"].isdecimal()


def test_hostile_names_stay_text() -> None:
    lead = make_lead()
    name = "<img src=x onerror=alert(1)>\u202e.txt"
    batch = actions.start_batch(files=[Sent(name, ContentFile(b"The Heron."))], by=lead)
    batches.work_off()
    assert "<img src=x" not in page_of(batch)
    assert Document.objects.get().title.startswith("<img")


# The API


def api(person: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(person)
    return client


def test_a_batch_by_the_api() -> None:
    client = api(make_lead())
    files = [SimpleUploadedFile("a.txt", b"The Heron."), SimpleUploadedFile("b.txt", b"")]
    created = client.post("/api/v1/batches/", {"files": files, "domain": "history"}, format="multipart")
    assert created.status_code == 202
    pk = created.json()["id"]
    assert (created.json()["state"], created.json()["bytes_total"]) == ("waiting", 10)
    batches.work_off()
    body = client.get(f"/api/v1/batches/{pk}/").json()
    assert (body["state"], body["flagged"], body["refused"], body["facts"]["domain"]) == ("finished", 1, 1, "history")
    lines = client.get(f"/api/v1/batches/{pk}/lines/").json()
    assert lines["count"] == 2
    assert [(line["path"], line["status"], line["rule"]) for line in lines["results"]] == [
        ("a.txt", "flagged", ""),
        ("b.txt", "refused", "empty"),
    ]
    assert lines["results"][0]["document"] == Document.objects.get().pk
    assert client.get(f"/api/v1/batches/{pk}/lines/?status=refused").json()["count"] == 1
    assert client.get(f"/api/v1/batches/{pk}/lines/?status=odd").status_code == 400
    assert client.post(f"/api/v1/batches/{pk}/cancel/").status_code == 409
    assert client.get("/api/v1/batches/?state=finished").json()["count"] == 1


def test_the_api_s_batches_are_for_leads_and_need_files() -> None:
    assert api(make_expert()).get("/api/v1/batches/").status_code == 403
    assert api(make_lead()).post("/api/v1/batches/", {}, format="multipart").status_code == 400
    waiting = actions.start_batch(files=logs(1), by=make_lead())
    cancelled = api(make_lead()).post(f"/api/v1/batches/{waiting.pk}/cancel/")
    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")


def test_a_cancelled_batch_says_how_much_was_not_taken() -> None:
    lead = make_lead()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(12):
            archive.writestr(f"{number}.txt", f"The log of watch {number}.")
    files = [Sent("watches.zip", ContentFile(packed.getvalue())), *logs(5)]
    batch = actions.start_batch(files=files, by=lead)
    assert batches.untaken(batch) == batches.Untaken(files=6, parts=0)
    first = batch.files.get(number=1)
    BatchLine.objects.create(batch=batch, file=first, number=1, path="0.txt", status="refused")
    actions.cancel_batch(batch=batch, by=lead)
    client = Client()
    client.force_login(lead)
    page = client.get(f"/documents/batches/{batch.pk}/").content.decode()
    assert "5 files were not taken." in page
    assert "Of 1 file only the first texts were taken." in page


def test_a_long_pdf_says_how_many_pages_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the batch can be cancelled in the middle of it."""
    from tests.documents.made import pdf  # noqa: PLC0415

    lead = make_lead()
    data = pdf.of_pages([[f"{number} {line}" for line in range(20)] for number in range(1_500)])
    batch = actions.start_batch(files=[Sent("log.pdf", ContentFile(data))], by=lead)
    pages: list[str] = []
    client = Client()
    client.force_login(lead)
    renew = leasing.Held.renew

    def look(held: leasing.Held, **changes: Any) -> None:
        renew(held, **changes)
        if changes.get("reading"):
            pages.append(client.get(f"/documents/batches/{batch.pk}/").content.decode())
            actions.cancel_batch(batch=ImportBatch.objects.get(), by=lead)

    monkeypatch.setattr(leasing.Held, "renew", look)
    batches.take_in(batch.pk)
    assert len(pages) == 1
    assert "Reading log.pdf: page" in pages[0]
    assert "of 1,500" in pages[0]
    batch.refresh_from_db()
    assert (batch.state, batch.reading, Document.objects.count()) == ("cancelled", {}, 0)


def test_more_files_than_are_taken_at_once_are_refused_in_words_and_nothing_is_kept() -> None:
    client = Client()
    client.force_login(make_lead())
    many = [SimpleUploadedFile(f"{number}.txt", b"x") for number in range(2001)]
    answer = client.post("/documents/import/", {"uploads": many})
    assert answer.status_code == 413
    assert "More than 2000 files at once are too many." in answer.content.decode()
    assert not ImportBatch.objects.exists()
    assert stored_files() == []
