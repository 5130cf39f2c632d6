"""A release goes into an empty system and comes out again with the same bytes (T-40), whole or not at all (T-43)."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection, transaction

from annotation.models import Sample
from annotation.workflow import SampleState
from benchmark.taxonomy import Language
from core.history import history_of
from core.models import BenchmarkSettings, Event, User
from core.refusals import NotAllowed, RuleBroken
from documents.models import Document, DocumentVersion
from documents.workflow import VersionState
from leading.invariants import violations
from release import actions, formats
from release.models import DifficultyLabel, ImportedSample, ReleaseItem
from release.provenance import moment
from release.verifying import verify
from tests.conftest import unprotected
from tests.factories import make_annotator, make_lead
from tests.release.parts import make_ready_sample, make_text, measured_version, restandardize, written
from tests.release.test_commands import run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_lengths")]
SAME = (formats.JSON_FILE, formats.JSONL_FILE, formats.PARQUET_FILE)


def digests(folder: Path) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in SAME}


def empty_system() -> None:
    """The database with no row but its settings; the transaction of the test brings the rest back."""
    kept = {"django_migrations", "django_content_type", "auth_permission"}
    with transaction.atomic(), unprotected(), connection.cursor() as cursor:
        tables = [name for name in connection.introspection.table_names(cursor) if name not in kept]
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        else:
            cursor.execute("PRAGMA defer_foreign_keys = ON")
        for name in tables:
            cursor.execute(f'DELETE FROM "{name}"')  # noqa: S608 -- names of our own tables
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A release of three samples over two documents, one of them Chinese; the system is empty afterwards."""
    version = measured_version(make_text())
    make_ready_sample(version=version, difficulty="Hard")
    other = make_ready_sample(version=version, task_code="T1.1")
    restandardize(other, task_description="Name the ships by their fees, the highest first.")
    make_ready_sample(language=Language.CHINESE, answer=["中文，测试", "苍鹭号", "=1+1"])
    written(tmp_path / "made")
    empty_system()
    return tmp_path / "made"


def spoil(folder: Path, name: str, change: Callable[[list[bytes]], list[bytes]]) -> Path:
    """A copy with one file changed and the manifest made to fit, so that only its contents are wrong."""
    copy = folder.parent / "spoilt"
    shutil.copytree(folder, copy)
    lines = change((copy / name).read_bytes().splitlines(keepends=True))
    (copy / name).write_bytes(b"".join(lines))
    manifest = json.loads((copy / formats.MANIFEST_FILE).read_bytes())
    manifest["files"] = [formats.describe(copy / one) for one in formats.CONTENT_FILES]
    (copy / formats.MANIFEST_FILE).write_bytes(formats.manifest_bytes(manifest))
    return copy


def test_t40_what_is_imported_is_released_again_to_the_same_bytes(made: Path, tmp_path: Path) -> None:
    lead = make_lead()
    status, out, err = run("import_release", made, "--by", lead.username)
    assert (status, err) == (0, "")
    assert "3 samples imported" in out
    assert run("release", "2.0", "--out", tmp_path / "again", "--allow-incomplete")[0] == 0
    assert digests(tmp_path / "again") == digests(made)
    assert verify(tmp_path / "again") == []
    assert list(violations()) == []

    before, after = (
        [json.loads(line) for line in (folder / formats.PROVENANCE_FILE).read_bytes().splitlines()]
        for folder in (made, tmp_path / "again")
    )
    manifest_sha256 = hashlib.sha256((made / formats.MANIFEST_FILE).read_bytes()).hexdigest()
    for told, kept in zip(before, after, strict=True):
        (origin,) = kept.pop(formats.IMPORTED)
        assert kept == told, "author, times, reviews and audits are told on"
        assert (origin["version"], origin["manifest_sha256"], origin["by"]) == ("1.0", manifest_sha256, lead.pseudonym)


def test_nobodys_decision_is_invented(made: Path) -> None:
    lead = make_lead()
    taken = actions.import_release(folder=made, by=lead)
    sample = Sample.objects.order_by("pk").first()
    assert sample is not None
    assert sample.state == SampleState.ACCEPTED
    line = history_of(sample).get()
    assert (line.action, line.by, line.data["version"]) == ("annotation.import_from_release", lead, "1.0")
    assert line.data["manifest_sha256"] == taken.manifest_sha256
    assert line.data["manifest_sha256"] in line.reason
    version = sample.document_version
    assert version.state == VersionState.APPROVED
    assert not history_of(version).filter(action="documents.approve").exists()
    people = User.objects.exclude(pk=lead.pk)
    told = ImportedSample.objects.get(sample=sample).provenance
    assert told["people"]["verified_by"] in people.values_list("pseudonym", flat=True)
    assert not any(person.is_active or person.has_usable_password() for person in people)
    assert not Event.objects.filter(by__in=people).exists()
    assert sample.annotator is not None
    assert sample.annotator.pseudonym == told["people"]["verified_by"]
    label = DifficultyLabel.objects.get(sample=sample)
    assert (label.run, moment(label.labelled_at)) == (None, told["dates"]["labelled"])
    assert (Document.objects.count(), DocumentVersion.objects.count()) == (2, 2)


def test_the_figures_of_the_release_hold_from_then_on(made: Path) -> None:
    manifest = json.loads((made / formats.MANIFEST_FILE).read_bytes())
    actions.import_release(folder=made, by=None)
    figures = BenchmarkSettings.load()
    assert formats.lengths_to_json(figures.lengths) == manifest["lengths"]
    assert figures.samples_per_cell == manifest["targets"]["per_cell"]


def test_only_an_empty_system_takes_a_release_and_only_a_lead_or_the_operator_gives_it(made: Path) -> None:
    with pytest.raises(NotAllowed):
        actions.import_release(folder=made, by=make_annotator())
    assert run("import_release", made, "--by", "nobody")[0] == 1
    actions.import_release(folder=made, by=None)
    status, _out, err = run("import_release", made)
    assert status == 1
    assert "2 documents, 3 samples" in err
    assert "empty system only" in err


def test_a_folder_that_does_not_verify_is_refused_with_its_faults(made: Path, tmp_path: Path) -> None:
    copy = spoil(made, formats.JSONL_FILE, lambda lines: lines[1:])
    status, out, err = run("import_release", copy)
    assert (status, "not a sound release" in err) == (1, True)
    assert f"{formats.JSON_FILE}:" in out
    assert not Sample.objects.exists()
    assert run("import_release", tmp_path / "nowhere")[0] == 1


def test_t43_a_broken_row_is_named_and_nothing_of_the_others_stays(made: Path) -> None:
    """The release is sound; its third sample asks for what this system cannot hold."""

    def longer(lines: list[bytes]) -> list[bytes]:
        (row,) = [json.loads(lines[2])]
        return [*lines[:2], json.dumps({**row, "source": {**row["source"], "title": " "}}).encode() + b"\n"]

    copy = spoil(made, formats.PROVENANCE_FILE, longer)
    with pytest.raises(RuleBroken) as refused, transaction.atomic():
        actions.import_release(folder=copy, by=None)
    assert refused.value.details["line"] == 3
    assert "longbench_pro.jsonl, line 3 (lbp-" in str(refused.value)
    assert not Sample.objects.exists()
    assert not Document.objects.exists()
    assert not User.objects.exists()
    assert not ReleaseItem.objects.exists()
