"""The three commands: what they print, and how they end."""

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from core.models import BenchmarkSettings
from release import formats
from release.actions import make_release
from release.models import Release
from release.workflow import ReleaseState
from tests.factories import make_lead
from tests.release.parts import make_ready_sample


def run(*args: Any) -> tuple[int, str, str]:
    """Exit status, standard output, standard error."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*[str(arg) for arg in args], stdout=out, stderr=err)
    except CommandError as error:
        return error.returncode, out.getvalue(), str(error)
    except SystemExit as error:
        return int(error.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


@pytest.mark.django_db
@pytest.mark.usefixtures("small_lengths")
class TestRelease:
    def test_it_freezes_writes_into_the_folder_itself_and_says_what_was_left_out(self, tmp_path: Path) -> None:
        make_ready_sample()
        failing = make_ready_sample()
        failing.difficulty_labels.all().delete()
        status, out, _err = run("release", "1.0", "--out", tmp_path / "a" / "b", "--allow-incomplete")
        assert status == 0
        assert {path.name for path in (tmp_path / "a" / "b").iterdir()} == set(formats.FILES)
        assert f"left out: {failing.label} ({failing.public_id}): No difficulty label" in out
        assert "1 samples, 1 left out" in out
        assert "warning: no sample has language Chinese" in out
        assert run("verify_release", tmp_path / "a" / "b")[0] == 0

    def test_unmet_targets_end_with_1_and_make_nothing(self, tmp_path: Path) -> None:
        make_ready_sample()
        status, _out, err = run("release", "1.0", "--out", tmp_path / "out")
        assert status == 1
        assert "299 of 300 cells" in err
        assert not (tmp_path / "out").exists()
        assert not Release.objects.exists()

    def test_met_targets_need_no_allowance(self, tmp_path: Path) -> None:
        settings = BenchmarkSettings.load()
        settings.samples_per_cell = 0
        settings.save()
        make_ready_sample()
        assert run("release", "1.0", "--out", tmp_path / "out")[0] == 0

    def test_an_empty_release_ends_with_1_and_words(self, tmp_path: Path) -> None:
        status, _out, err = run("release", "1.0", "--out", tmp_path / "out", "--allow-incomplete")
        assert (status, "No sample is accepted yet" in err) == (1, True)

    def test_a_filled_folder_is_refused_before_anything_is_frozen(self, tmp_path: Path) -> None:
        make_ready_sample()
        (tmp_path / "mine").write_text("x")
        assert run("release", "1.0", "--out", tmp_path, "--allow-incomplete")[0] == 1
        assert not Release.objects.exists()

    def test_a_frozen_version_is_written_again_byte_for_byte(self, tmp_path: Path) -> None:
        make_ready_sample()
        run("release", "1.0", "--out", tmp_path / "first", "--allow-incomplete")
        make_ready_sample()
        status, out, _err = run("release", "1.0", "--out", tmp_path / "second")
        assert (status, "frozen already" in out) == (0, True)
        for name in formats.FILES:
            assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()

    def test_without_a_folder_the_files_lie_where_the_pages_read_them(self, settings: Any) -> None:
        make_ready_sample()
        assert run("release", "1.0", "--allow-incomplete")[0] == 0
        assert (Path(settings.MEDIA_ROOT) / "releases" / "1.0" / formats.MANIFEST_FILE).is_file()

    def test_a_failed_release_ends_with_1(self) -> None:
        make_ready_sample()
        Release.objects.create(version="1.0", state=ReleaseState.FAILED, error="The disk is full.", made_by=make_lead())
        status, _out, err = run("release", "1.0")
        assert (status, "The disk is full." in err) == (1, True)
        Release.objects.update(state=ReleaseState.CANCELLED, total=1)
        status, _out, err = run("release", "1.0")
        assert (status, "was cancelled" in err) == (1, True)

    @pytest.mark.parametrize("version", ["a/b", ".x"])
    def test_a_name_that_is_none_ends_with_1(self, version: str) -> None:
        make_ready_sample()
        assert run("release", version, "--allow-incomplete")[0] == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("small_lengths")
def test_verify_release_prints_each_fault_and_ends_with_1(tmp_path: Path) -> None:
    make_ready_sample()
    run("release", "1.0", "--out", tmp_path / "out", "--allow-incomplete")
    (tmp_path / "out" / "README.md").unlink()
    status, out, _err = run("verify_release", tmp_path / "out")
    assert (status, out.strip()) == (1, "README.md: The file is missing.")


def test_verify_release_of_no_folder_ends_with_1(tmp_path: Path) -> None:
    assert run("verify_release", tmp_path / "nowhere")[0] == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("small_lengths")
def test_a_release_that_a_worker_is_making_is_waited_for(tmp_path: Path) -> None:
    make_ready_sample()
    made = make_release(version="busy", allow_incomplete=True, by=make_lead())
    Release.objects.filter(pk=made.pk).update(lease_until=timezone.now() + timedelta(seconds=2))
    code, out, _err = run("release", "busy", "--out", tmp_path / "busy", "--allow-incomplete")
    made.refresh_from_db()
    assert (code, made.state) == (0, ReleaseState.FROZEN)
    assert "busy: 1 samples" in out


def write_lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


class TestScore:
    def test_each_line_gets_its_score_and_the_tasks_name(self, tmp_path: Path) -> None:
        rows = [
            {
                "secondary_task": "T1.2",
                "language": "English",
                "answer": ["a", "b"],
                "prediction": "[Answer]\na\nb",
                "n": 1,
            },
            {"metric": "F1", "language": "Chinese", "answer": ["甲", "乙"], "prediction": "[答案]\n甲"},
        ]
        status, out, _err = run("score", write_lines(tmp_path / "in.jsonl", *rows))
        first, second = [json.loads(line) for line in out.splitlines()]
        assert status == 0
        assert (first["score"], first["n"], first["secondary_task"].startswith("T1.2 ")) == (1.0, 1, True)
        assert second["score"] == pytest.approx(2 / 3)
        assert "甲" in out

    def test_public_scores_the_whole_reply_of_a_summary(self, tmp_path: Path) -> None:
        texts = ["The harbour log tells of three ships.", "Three ships came.", "Ships and fees in a harbour."]
        row = {"metric": "Summary", "language": "English", "answer": texts, "prediction": f"[Answer]\n{texts[0]}"}
        path = write_lines(tmp_path / "in.jsonl", row)
        own, public = (json.loads(run("score", path, *more)[1])["score"] for more in ([], ["--public"]))
        assert own == pytest.approx(1.0)
        assert public < own

    def test_a_bad_line_is_named_the_others_are_scored_and_the_end_is_1(self, tmp_path: Path) -> None:
        good = {"metric": "Accuracy", "language": "English", "answer": ["a"], "prediction": "a"}
        path = write_lines(tmp_path / "in.jsonl", "{", {**good, "metric": "BLEU"}, "", good)
        status, out, err = run("score", path)
        assert status == 1
        assert json.loads(out)["score"] == 1.0
        assert [line.split(":")[0] for line in err.splitlines()] == ["line 1", "line 2"]

    def test_a_missing_file_is_bad_usage(self, tmp_path: Path) -> None:
        assert run("score", tmp_path / "none.jsonl")[0] == 2
