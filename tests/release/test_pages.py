"""Pages and API of releases."""

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Sample
from annotation.workflow import SampleState
from benchmark.taxonomy import Language
from core.models import User
from documents.workflow import VersionState
from release import building, formats
from release.models import DifficultyLabel, Release
from release.verifying import verify
from release.workflow import ReleaseState
from tests.factories import make_annotator, make_expert, make_lead, make_standardized_sample
from tests.release.parts import make_ready_sample, released

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_lengths")]

LIST = "/releases/"


@pytest.fixture
def lead() -> User:
    return make_lead()


@pytest.fixture
def page(client: Client, lead: User) -> Client:
    client.force_login(lead)
    return client


def body(response: Any) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


@pytest.mark.parametrize("make", [make_annotator, make_expert])
@pytest.mark.parametrize("path", ["", "1.0/", "1.0/state/", "1.0/download/", "-/labels/", "?format=csv"])
def test_releases_are_for_leads(client: Client, make: Any, path: str) -> None:
    make_ready_sample()
    released()
    client.force_login(make())
    assert client.get(LIST + path).status_code == 403
    for prefix in ("/api/v1/releases/", f"/api/v1/releases/{Release.objects.get().pk}/"):
        assert client.get(prefix).status_code == 403


def test_the_page_shows_what_is_left_out_and_why(page: Client) -> None:
    make_ready_sample()
    failing = make_ready_sample()
    failing.difficulty_labels.all().delete()
    html = page.get(LIST).content.decode()
    assert "1 sample would go in" in html
    assert failing.label in html
    assert "No difficulty label of prompts and answer as they are now." in html
    assert "299 of 300 cells are below their target" in html
    assert "Chinese" in html


def test_an_empty_product_has_a_page_with_words(page: Client) -> None:
    html = page.get(LIST).content.decode()
    assert "No sample is accepted yet" in html
    assert "No release yet" in html


def test_a_release_is_made_from_the_form(page: Client, lead: User) -> None:
    make_ready_sample()
    answer = page.post(LIST, {"version": "1.0", "allow_incomplete": "on"})
    assert answer.headers["Location"] == "/releases/1.0/"
    release = Release.objects.get()
    assert (release.state, release.made_by, release.allow_incomplete) == (ReleaseState.BUILDING, lead, True)
    assert 'hx-trigger="every 2s"' in page.get("/releases/1.0/").content.decode()
    assert page.get("/releases/1.0/state/").status_code == 200
    building.work_off()
    assert page.get("/releases/1.0/state/").headers["HX-Refresh"] == "true"
    html = page.get("/releases/1.0/").content.decode()
    assert "hx-trigger" not in html.partition("<main")[2]
    for name in formats.FILES:
        assert name in html
    for row in Release.objects.get().manifest["files"]:
        assert row["sha256"] in html


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"version": "1/0", "allow_incomplete": "on"}, "up to 40 letters"),
        ({"version": "1.0"}, "299 of 300 cells hold fewer"),
        ({"version": ""}, "required"),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_what_was_typed_is_kept(
    page: Client, typed: dict[str, str], words: str
) -> None:
    make_ready_sample()
    answer = page.post(LIST, typed)
    html = answer.content.decode()
    assert answer.status_code == 400
    assert words in html
    assert f'value="{typed["version"]}"' in html or not typed["version"]
    assert not Release.objects.exists()


def test_an_empty_release_is_refused_on_the_page_with_the_reason(page: Client) -> None:
    answer = page.post(LIST, {"version": "1.0", "allow_incomplete": "on"})
    assert answer.status_code == 400
    assert "so a release would be empty" in answer.content.decode()


def test_all_unlabelled_samples_are_labelled_with_one_button_but_not_blocked_ones(page: Client) -> None:
    sample = make_standardized_sample(state=SampleState.ACCEPTED)
    blocked = make_standardized_sample(state=SampleState.ACCEPTED)
    blocked.document_version.state = VersionState.REJECTED
    blocked.document_version.save()
    html = page.get(LIST).content.decode()
    assert "Label all" in html
    assert "the document is not approved" in html
    assert page.post("/releases/-/label/").status_code == 302
    assert [label.sample for label in DifficultyLabel.objects.all()] == [sample]
    html = page.get("/releases/-/labels/").content.decode()
    assert 'hx-trigger="every 3s"' in html
    assert "waits for the worker" in html
    DifficultyLabel.objects.update(missing=["model-x"])
    html = page.get("/releases/-/labels/").content.decode()
    assert "hx-trigger" not in html.partition("<main")[2]
    assert "waits for model-x" in html


def test_the_download_is_a_zip_whose_files_are_the_release(page: Client, tmp_path: Path) -> None:
    make_ready_sample(language=Language.CHINESE)
    release = released()
    answer = page.get("/releases/1.0/download/")
    assert answer.streaming
    assert answer.headers["Content-Disposition"] == 'attachment; filename="longbench_pro-1.0.zip"'
    raw = body(answer)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path)
    assert verify(tmp_path / "longbench_pro-1.0") == []
    for path in building.stored_folder(release).iterdir():
        path.unlink()
    building.stored_folder(release).rmdir()
    assert body(page.get("/releases/1.0/download/")) == raw, "lost files are written again"


def test_a_release_that_is_being_made_has_nothing_to_download(page: Client) -> None:
    make_ready_sample()
    page.post(LIST, {"version": "1.0", "allow_incomplete": "on"})
    assert page.get("/releases/1.0/download/").status_code == 422


def test_withdrawing_asks_for_a_reason_and_shows_it(page: Client) -> None:
    make_ready_sample()
    released()
    answer = page.post("/releases/1.0/withdraw/", {"reason": " "})
    assert answer.status_code == 400
    page.post("/releases/1.0/withdraw/", {"reason": "<b>Two answers</b> are wrong."})
    html = page.get("/releases/1.0/").content.decode()
    assert "&lt;b&gt;Two answers&lt;/b&gt; are wrong." in html
    assert page.get("/releases/1.0/download/").status_code == 200


def test_a_failed_release_says_why_and_can_be_tried_again(page: Client, lead: User) -> None:
    make_ready_sample()
    release = Release.objects.create(
        version="1.0",
        made_by=lead,
        allow_incomplete=True,
        state=ReleaseState.FAILED,
        error="The disk is full.",
        manifest={"targets": {"per_cell": 1, "exceptions": []}},
    )
    assert "The disk is full." in page.get("/releases/1.0/").content.decode()
    page.post("/releases/1.0/retry/")
    building.work_off()
    release.refresh_from_db()
    assert release.state == ReleaseState.FROZEN


def rows_of(raw: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline="")))


def test_csv_opens_right_in_a_spreadsheet_and_runs_nothing(page: Client) -> None:
    make_ready_sample(answer=["=1+1", "@x", "-2"])
    make_ready_sample(language=Language.CHINESE, answer=["中文，测试", "苍鹭号", "燕鸥号"])
    released()
    for path in (f"{LIST}?format=csv", "/releases/1.0/?format=csv"):
        raw = body(page.get(path))
        assert raw.startswith(b"\xef\xbb\xbf")
        answers = [row["answer"] for row in rows_of(raw)]
        assert "'=1+1\n@x\n-2" in answers
        assert any("中文，测试" in answer for answer in answers)
        assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows_of(raw) for cell in row.values())
    (folder,) = building.stored_folder(Release.objects.get()).parent.iterdir()
    assert ["=1+1", "@x", "-2"] in [
        json.loads(line)["answer"] for line in (folder / formats.JSONL_FILE).read_bytes().splitlines()
    ]


def test_the_number_of_queries_does_not_grow_with_the_samples(page: Client) -> None:
    def queries() -> list[str]:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert page.get(LIST).status_code == 200
        return [row["sql"] for row in captured.captured_queries]

    make_ready_sample()
    queries()
    few = queries()
    for _sample in range(4):
        make_ready_sample()
    many = queries()
    assert len(many) == len(few)
    assert not any("documents_documenttext" in sql for sql in many)


def test_pages_are_in_chinese_too(page: Client, lead: User) -> None:
    lead.language = "zh-hans"
    lead.save()
    make_ready_sample()
    failing = make_ready_sample()
    failing.difficulty_labels.all().delete()
    released()
    html = page.get(LIST).content.decode()
    assert "就绪检查" in html
    assert "当前的提示与答案还没有难度标签。" in html
    assert failing.task.name_in(Language.CHINESE) in html
    html = page.get("/releases/1.0/").content.decode()
    for words in ("下载全部文件", "极难", "局部", "来自模拟模型", failing.task.primary.name_in(Language.CHINESE)):
        assert words in html


# API ---------------------------------------------------------------------------------------------------------------


def test_programs_make_read_download_and_withdraw_by_the_same_rules(page: Client) -> None:
    make_ready_sample()
    failing = make_ready_sample()
    Sample.objects.get(pk=failing.pk).difficulty_labels.all().delete()

    def post(path: str, **given: Any) -> Any:
        return page.post(f"/api/v1/releases/{path}", json.dumps(given), content_type="application/json")

    refused = post("", version="1.0")
    assert (refused.status_code, refused.json()["rule"]) == (422, "targets_unmet")
    assert refused.json()["cells"]
    assert "version" in post("", version="a b", allow_incomplete=True).json()["errors"]
    made = post("", version="1.0", allow_incomplete=True)
    assert (made.status_code, made.json()["state"]) == (201, "building")
    pk = made.json()["id"]
    building.work_off()
    found = page.get(f"/api/v1/releases/{pk}/").json()
    assert (found["state"], found["total"]) == ("frozen", 1)
    assert [(row["id"], row["reasons"][0]["check"]) for row in found["left_out"]] == [(failing.public_id, "no_label")]
    listed = page.get("/api/v1/releases/?state=frozen").json()["results"]
    assert [row["version"] for row in listed] == ["1.0"]
    assert "manifest" not in listed[0]
    with zipfile.ZipFile(io.BytesIO(body(page.get(f"/api/v1/releases/{pk}/download/")))) as archive:
        assert len(archive.namelist()) == len(formats.FILES)
    assert post(f"{pk}/withdraw/", reason="").status_code == 400
    assert post(f"{pk}/withdraw/", reason="wrong").json()["state"] == "withdrawn"
    assert post(f"{pk}/withdraw/", reason="wrong").status_code == 409


def test_the_addresses_are_the_outer_ones() -> None:
    assert reverse("release:release_list") == "/releases/"
    assert reverse("release:release_detail", args=["1.0"]) == "/releases/1.0/"
