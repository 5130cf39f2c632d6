"""What users of such tools reported about counts and exports: rows T-35, T-38, T-39, T-41 and T-42.

T-40 and T-43 are in test_importing.
"""

import json
from pathlib import Path

import pyarrow.json
import pyarrow.parquet
import pytest
from django.test import Client

from annotation.workflow import SampleState
from benchmark.taxonomy import Language
from documents import actions as clearing
from leading import actions as leading_actions
from leading import queries as counting
from release import building, exporting, formats
from release.models import Release
from release.workflow import ReleaseState
from tests.factories import make_lead, make_standardized_sample
from tests.release.parts import make_ready_sample, released, written
from tests.release.test_pages import body, rows_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_lengths")]
ODD = ["=1+1", "@x", "-2"]


@pytest.fixture
def page(client: Client) -> Client:
    client.force_login(make_lead())
    return client


def accepted_everywhere(page: Client) -> tuple[int, ...]:
    """The number of accepted samples as the release page, its CSV, the coverage, the list and the API have it."""
    html = page.get("/releases/").content.decode()
    said = page.get("/releases/").context["report"].verdicts
    assert f"{len(said)} accepted" in html
    stages = {one["state"]: one["count"] for one in page.get("/api/v1/progress/").json()["stages"]}
    return (
        len(said),
        len(rows_of(body(page.get("/releases/?format=csv")))),
        sum(cell.done for cell in counting.cells()),
        stages[SampleState.ACCEPTED],
        page.get("/samples/?state=accepted").context["page_obj"].paginator.count,
        page.get("/api/v1/samples/?state=accepted").json()["count"],
    )


def test_t35_counts_are_the_same_on_every_page_and_follow_every_change(page: Client) -> None:
    assert set(accepted_everywhere(page)) == {0}
    sample = make_ready_sample()
    make_ready_sample()
    make_standardized_sample(state=SampleState.IN_REVIEW)
    assert set(accepted_everywhere(page)) == {2}
    context = page.get("/releases/").context
    assert (context["ready"], context["left_out_count"]) == (2, 0)
    clearing.reject_version(version=sample.document_version, flags=["other"], note="no licence", by=make_lead())
    context = page.get("/releases/").context
    assert (context["ready"], context["left_out_count"]) == (1, 1)
    assert set(accepted_everywhere(page)) == {2}
    release = released()
    api = page.get(f"/api/v1/releases/{release.pk}/").json()
    shown = page.get("/releases/1.0/").context
    assert release.total == api["total"] == api["statistics"]["samples"] == api["manifest"]["counts"]["samples"] == 1
    assert shown["left_out_count"] == len(api["left_out"]) == api["manifest"]["counts"]["left_out"] == 1
    assert len(rows_of(body(page.get("/releases/1.0/?format=csv")))) == 1


def test_t35_a_target_of_a_single_cell_counts_on_every_page(page: Client) -> None:
    make_ready_sample()
    lead = make_lead()
    leading_actions.set_cell_target(task_code="T1.2", language="English", bucket="8k", target=3, by=lead)
    of_release = sum(bar.target for bar in page.get("/releases/").context["plot"])
    assert of_release == sum(cell.target for cell in counting.cells()) == 302
    assert released().statistics["balance"]["target"] == 302


def test_t38_chinese_is_read_by_excel_and_jsonl_has_no_mark(page: Client, tmp_path: Path) -> None:
    make_ready_sample(language=Language.CHINESE, answer=["中文，测试", "苍鹭号", "燕鸥号"])
    written(tmp_path / "out")
    for path in ("/releases/?format=csv", "/releases/1.0/?format=csv"):
        raw = body(page.get(path))
        assert raw.startswith(b"\xef\xbb\xbf")
        assert "中文，测试" in rows_of(raw)[0]["answer"]
    for name in (formats.JSONL_FILE, formats.JSON_FILE):
        raw = (tmp_path / "out" / name).read_bytes()
        assert not raw.startswith(b"\xef\xbb\xbf")
        assert "中文，测试".encode() in raw


def test_t39_no_cell_runs_as_a_formula_and_the_files_hold_what_was_typed(page: Client, tmp_path: Path) -> None:
    make_ready_sample(answer=ODD)
    written(tmp_path / "out")
    for path in ("/releases/?format=csv", "/releases/1.0/?format=csv"):
        cells = [cell for row in rows_of(body(page.get(path))) for cell in row.values()]
        assert "'=1+1\n@x\n-2" in cells
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)
    (line,) = (tmp_path / "out" / formats.JSONL_FILE).read_bytes().splitlines()
    (item,) = json.loads((tmp_path / "out" / formats.JSON_FILE).read_bytes())
    (row,) = pyarrow.parquet.read_table(tmp_path / "out" / formats.PARQUET_FILE).to_pylist()
    assert json.loads(line)["answer"] == item["answer"] == row["answer"] == ODD


def test_t41_a_release_is_made_behind_the_page_which_shows_how_far_it_is(
    page: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _sample in range(3):
        make_ready_sample()
    monkeypatch.setattr(exporting, "BATCH_ITEMS", 1)
    answer = page.post("/releases/", {"version": "1.0", "allow_incomplete": "on"})
    release = Release.objects.get()
    assert (answer.headers["Location"], release.state, release.total) == ("/releases/1.0/", ReleaseState.BUILDING, 0)
    seen = []
    note = building._note

    def look(release: Release, written: int) -> None:
        note(release, written)
        html = page.get("/releases/1.0/state/").content.decode()
        seen.append((written, f'value="{written}"' in html or f">{written}" in html or str(written) in html))

    monkeypatch.setattr(building, "_note", look)
    building.work_off()
    assert seen == [(1, True), (2, True), (3, True)]
    assert page.get("/releases/1.0/state/").headers["HX-Refresh"] == "true"
    assert "/releases/1.0/download/" in page.get("/releases/1.0/").content.decode()


def test_a_cancelled_release_leaves_no_files_and_can_be_tried_again(
    page: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _sample in range(3):
        make_ready_sample()
    monkeypatch.setattr(exporting, "BATCH_ITEMS", 1)
    page.post("/releases/", {"version": "1.0", "allow_incomplete": "on"})
    assert "/releases/1.0/cancel/" in page.get("/releases/1.0/").content.decode()
    note = building._note

    def cancel(release: Release, written: int) -> None:
        if written == 2:
            assert page.post("/releases/1.0/cancel/").status_code == 302
        note(release, written)

    with monkeypatch.context() as patched:
        patched.setattr(building, "_note", cancel)
        building.work_off()
    release = Release.objects.get()
    assert (release.state, release.error) == (ReleaseState.CANCELLED, "")
    assert not list(building.stored_folder(release).parent.iterdir())
    html = page.get("/releases/1.0/").content.decode()
    assert "was cancelled" in html
    assert "/download/" not in html
    assert page.post("/releases/1.0/cancel/").status_code == 409
    page.post("/releases/1.0/retry/")
    building.work_off()
    release.refresh_from_db()
    assert (release.state, release.total) == (ReleaseState.FROZEN, 3)


def test_t42_every_field_has_one_type_in_every_row(tmp_path: Path) -> None:
    make_ready_sample(answer=["42", "43", "44"])
    make_ready_sample(answer=['"42"', "true", "null"])
    make_ready_sample(answer=["a", "b", "4.2e1"])
    written(tmp_path / "out")
    jsonl, parquet = tmp_path / "out" / formats.JSONL_FILE, tmp_path / "out" / formats.PARQUET_FILE
    read = pyarrow.json.read_json(jsonl)
    types = pyarrow.parquet.read_schema(parquet)
    assert [(field.name, str(field.type)) for field in read.schema] == [
        (field.name, str(field.type).replace("element", "item")) for field in types
    ]
    assert read.to_pylist() == pyarrow.parquet.read_table(parquet).to_pylist()
