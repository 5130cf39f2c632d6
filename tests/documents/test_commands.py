import json
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from documents.models import Document
from tests.factories import make_version

pytestmark = pytest.mark.django_db


def run(*arguments: object) -> tuple[int, list[dict[str, object]]]:
    out = StringIO()
    code = 0
    try:
        call_command(*[str(argument) for argument in arguments], stdout=out, stderr=StringIO())
    except SystemExit as ended:
        code = int(ended.code or 0)
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


def test_files_folders_archives_and_lines_go_in_and_each_is_reported(tmp_path: Path) -> None:
    known = make_version("Known already.\n", title="The first")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("苍鹭号载盐入港，燕鸥号北上。")
    (tmp_path / "folder" / "b.txt").write_text("Known already.\n")
    (tmp_path / "lines.jsonl").write_text('{"text": "Line one.", "title": "One", "domain": "law"}\n{"text": 7}\n')
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("inner.txt", "From an archive.")
    code, lines = run(
        "import_documents",
        tmp_path / "folder",
        tmp_path / "lines.jsonl",
        tmp_path / "all.zip",
        "--domain=history",
        "--licence=CC0",
        "--json",
    )
    assert code == 1
    assert [set(line) for line in lines] == [{"path", "status", "reason", "id", "tokens", "bucket"}] * 5
    assert [(Path(str(line["path"])).name, line["status"]) for line in lines] == [
        ("a.txt", "flagged"),
        ("b.txt", "refused"),
        ("lines.jsonl:1", "flagged"),
        ("lines.jsonl:2", "refused"),
        ("inner.txt", "flagged"),
    ]
    assert known.document.title in str(lines[1]["reason"])
    assert Document.objects.get(title="One").domain == "law"
    inner = Document.objects.get(title="inner")
    assert (inner.domain, inner.licence, inner.language, inner.imported_by) == ("history", "CC0", "English", None)


def test_all_taken_ends_with_0(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The Heron.")
    code, lines = run("import_documents", tmp_path / "a.txt", "--json", "--language=English", "--multi")
    assert (code, lines[0]["bucket"]) == (0, None)
    assert Document.objects.get().multi


@pytest.mark.parametrize("wrong", ["--language=Klingon", "--encoding=nonsense"])
def test_bad_usage_ends_with_2(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("import_documents", str(tmp_path), wrong)
    assert caught.value.returncode == 2


def test_tokens_are_counted_with_bucket_or_distance(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("one two three")
    (tmp_path / "eight.txt").write_text("one " * 8192)
    code, lines = run("count_tokens", tmp_path / "short.txt", tmp_path / "eight.txt", "--json")
    assert code == 0
    assert [(line["tokens"], line["bucket"]) for line in lines] == [(3, None), (8193, "8k")]
    assert "8k" in str(lines[0]["reason"])
    assert run("count_tokens", tmp_path / "missing.txt", "--json")[0] == 1
