"""The files: their form, their bytes, what they hold and what they never hold."""

import hashlib
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from annotation.models import Sample
from annotation.workflow import SampleState
from benchmark.record import FIELDS
from benchmark.taxonomy import Language
from core.models import User
from core.refusals import RuleBroken
from documents.models import Document, DocumentText, DocumentVersion
from release import card, exporting, formats
from release.exporting import write_files
from release.models import Release
from tests.release.parts import make_ready_sample, released, restandardize, written

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_lengths")]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_json_file_is_an_array_of_objects_with_the_fields_in_order(tmp_path: Path) -> None:
    sample = make_ready_sample(language=Language.CHINESE, difficulty="Hard")
    written(tmp_path / "out")
    raw = (tmp_path / "out" / "longbench_pro.json").read_bytes()
    (row,) = json.loads(raw)
    assert list(row) == list(FIELDS)
    assert row["id"] == sample.public_id
    assert row["context"] == DocumentText.objects.get().text
    assert (row["language"], row["token_length"], row["difficulty"]) == ("Chinese", "8k", "Hard")
    assert (row["secondary_task"], row["primary_task"]) == (sample.task.name, sample.task.primary.name)
    assert row["answer"] == sample.standardizations.get().answer
    assert "金盏号".encode() in raw
    assert b"\\u" not in raw


def test_json_jsonl_and_parquet_hold_the_same(tmp_path: Path) -> None:
    for language in (Language.ENGLISH, Language.CHINESE):
        make_ready_sample(language=language)
    written(tmp_path / "out")
    rows = json.loads((tmp_path / "out" / formats.JSON_FILE).read_text(encoding="utf-8"))
    lines = (tmp_path / "out" / formats.JSONL_FILE).read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    assert [json.loads(line) for line in lines] == rows
    table = pq.read_table(tmp_path / "out" / formats.PARQUET_FILE)
    assert table.to_pylist() == rows
    assert table.column_names == list(FIELDS)
    metadata = pq.ParquetFile(tmp_path / "out" / formats.PARQUET_FILE).metadata
    assert {metadata.row_group(0).column(place).compression for place in range(len(FIELDS))} == {"ZSTD"}


def test_chinese_stays_readable_and_jsonl_has_no_byte_order_mark(tmp_path: Path) -> None:
    make_ready_sample(language=Language.CHINESE, answer=["中文，测试", "苍鹭号", "燕鸥号"])
    written(tmp_path / "out")
    raw = (tmp_path / "out" / formats.JSONL_FILE).read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf")
    assert "中文，测试".encode() in raw


@pytest.mark.parametrize("answer", [["=1+1", "@x", "-2"], ["42", "true", "null"], ["1", "2.50", "3e5"]])
def test_answers_that_look_like_formulas_or_numbers_are_the_same_strings_everywhere(
    tmp_path: Path, answer: list[str]
) -> None:
    make_ready_sample(answer=["Marigold", "Heron", "Tern"])
    make_ready_sample(answer=answer)
    written(tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / formats.PARQUET_FILE)
    rows = json.loads((tmp_path / "out" / formats.JSON_FILE).read_text(encoding="utf-8"))
    assert answer in table.column("answer").to_pylist()
    assert answer in [row["answer"] for row in rows]
    assert str(table.schema.field("answer").type).startswith("list<")


def test_t42_datasets_loads_parquet_and_jsonl(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the package `datasets` is not installed")
    make_ready_sample(answer=["42", "7", "9"])
    make_ready_sample(answer=['"42"', "a", "b"], language=Language.CHINESE)
    written(tmp_path / "out")
    cache = str(tmp_path / "cache")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=cache)["test"]
    jsonl = str(tmp_path / "out" / formats.JSONL_FILE)
    assert list(loaded) == list(datasets.load_dataset("json", data_files=jsonl, cache_dir=cache)["train"])
    assert sorted(row["answer"][0] for row in loaded) == ['"42"', "42"]


def test_a_release_written_again_is_the_same_byte_for_byte_also_after_later_edits(tmp_path: Path) -> None:
    sample = make_ready_sample()
    make_ready_sample(language=Language.CHINESE)
    release = written(tmp_path / "first")
    Sample.objects.filter(pk=sample.pk).update(state=SampleState.RETURNED, round=3)
    sample.standardizations.update(question_nonthinking="something else", answer=["other"])
    Document.objects.update(title="another title", licence="another licence")
    again = Release.objects.get(pk=release.pk)
    write_files(again, tmp_path / "second")
    assert bytes_of(tmp_path / "first") == bytes_of(tmp_path / "second")
    assert set(bytes_of(tmp_path / "first")) == set(formats.FILES)


def test_the_manifest_names_every_file_with_size_and_checksum(tmp_path: Path) -> None:
    make_ready_sample()
    release = written(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / formats.MANIFEST_FILE).read_text())
    assert [row["name"] for row in manifest["files"]] == list(formats.CONTENT_FILES)
    for row in manifest["files"]:
        raw = (tmp_path / "out" / row["name"]).read_bytes()
        assert (row["bytes"], row["sha256"]) == (len(raw), hashlib.sha256(raw).hexdigest())
    assert (manifest["version"], manifest["counts"]["samples"]) == ("1.0", 1)
    assert release.manifest == manifest


def test_a_filled_folder_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    make_ready_sample()
    release = released()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(RuleBroken) as refused:
        write_files(release, tmp_path / "out")
    assert refused.value.rule == "folder_not_empty"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    write_files(release, tmp_path / "empty")
    assert len(list((tmp_path / "empty").iterdir())) == 7


def test_a_damaged_text_is_not_written_and_leaves_nothing_behind(tmp_path: Path) -> None:
    make_ready_sample()
    release = released()
    DocumentText.objects.update(text="changed behind everybody's back")
    with pytest.raises(RuleBroken) as refused:
        write_files(release, tmp_path / "out")
    assert refused.value.rule == "text_damaged"
    assert [path for path in tmp_path.iterdir() if "out" in path.name] == []


def test_files_that_would_differ_from_the_frozen_ones_are_refused(tmp_path: Path) -> None:
    make_ready_sample()
    release = released()
    release.manifest["files"][0]["sha256"] = "0" * 64
    with pytest.raises(RuleBroken, match=r"longbench_pro\.json would differ"):
        write_files(release, tmp_path / "out")


def test_people_appear_only_as_pseudonyms(tmp_path: Path) -> None:
    sample = make_ready_sample()
    Document.objects.update(title="Letters to jane.doe@example.org", source_url="https://user:secret@host.example/x")
    written(tmp_path / "out")
    everything = b"\n".join(bytes_of(tmp_path / "out").values()).decode("utf-8", "replace")
    for person in User.objects.all():
        assert person.username not in everything
        assert person.email not in everything
    assert "jane.doe" not in everything
    assert "secret" not in everything
    provenance = json.loads((tmp_path / "out" / formats.PROVENANCE_FILE).read_text())
    assert sample.annotator is not None
    assert provenance["people"]["verified_by"] == sample.annotator.pseudonym
    assert provenance["simulated"] is True
    assert {model["purpose"] for model in provenance["models"]} == {"drafting", "prediction", "difficulty"}
    assert len(provenance["reviews"][0]["reviews"]) == 2


def test_provenance_stays_out_of_the_benchmark_file(tmp_path: Path) -> None:
    make_ready_sample()
    written(tmp_path / "out")
    text = (tmp_path / "out" / formats.JSON_FILE).read_text()
    assert "CC0" not in text
    assert User.objects.all()[0].pseudonym not in text


def test_the_card_tells_hubs_where_the_test_split_is(tmp_path: Path) -> None:
    make_ready_sample()
    make_ready_sample(language=Language.CHINESE)
    written(tmp_path / "out", version="1.0-rc.1")
    text = (tmp_path / "out" / formats.CARD_FILE).read_text(encoding="utf-8")
    header = yaml.safe_load(text.split("---\n")[1])
    assert header["language"] == ["en", "zh"]
    assert header["license"] == "cc0-1.0"
    assert header["configs"] == [
        {"config_name": "default", "data_files": [{"split": "test", "path": "longbench_pro.parquet"}]}
    ]
    assert header["size_categories"] == ["n<1K"]
    assert header["pretty_name"] == "LongBench Pro 1.0-rc.1"
    assert "This release is incomplete" in text
    assert "simulated models" in text
    # The offline encoder compared the summaries, not the paper's.
    assert "not comparable with the paper's" in text


def test_the_card_of_the_papers_own_embedder_warns_of_nothing(tmp_path: Path) -> None:
    make_ready_sample()
    written(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / formats.MANIFEST_FILE).read_text(encoding="utf-8"))
    statistics = json.loads((tmp_path / "out" / formats.STATISTICS_FILE).read_text(encoding="utf-8"))
    text = card.text({**manifest, "embedder": "endpoint:Qwen3-Embedding-8B"}, statistics)
    assert "not comparable" not in text


def test_what_people_typed_cannot_break_the_card(tmp_path: Path) -> None:
    make_ready_sample()
    Document.objects.update(domain="a | b\n<script>", licence='mine: "x"\n---\nlicense: mit')
    written(tmp_path / "out")
    text = (tmp_path / "out" / formats.CARD_FILE).read_text(encoding="utf-8")
    assert yaml.safe_load(text.split("---\n")[1])["license"] == "other"
    assert "| a \\| b &lt;script> | 1 |" in text


def test_statistics_count_every_dimension_and_name_what_has_no_sample(tmp_path: Path) -> None:
    version = make_ready_sample().document_version
    other = make_ready_sample(task_code="T1.1", version=version, difficulty="Hard")
    restandardize(other, task_description="Which ships paid anything at all?")
    written(tmp_path / "out")
    statistics = json.loads((tmp_path / "out" / formats.STATISTICS_FILE).read_text())
    assert statistics["samples"] == 2
    assert statistics["counts"]["difficulty"] == {"Easy": 1, "Moderate": 0, "Hard": 1, "Extreme": 0}
    assert statistics["counts"]["language"] == {"English": 2, "Chinese": 0}
    assert statistics["counts"]["domain"] == {"history": 2}
    assert statistics["documents"] == {"distinct": 1, "by_samples_per_document": {"2": 1}}
    assert statistics["without_samples"]["language"] == ["Chinese"]
    assert statistics["without_samples"]["difficulty"] == ["Moderate", "Extreme"]
    assert statistics["balance"]["cells_below_target"] == 298


def test_texts_are_read_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _sample in range(5):
        make_ready_sample()
    monkeypatch.setattr(exporting, "BATCH_ITEMS", 2)
    release = released()
    assert [len(batch) for batch in exporting.batches(release)] == [2, 2, 1]
    written_rows: list[int] = []
    write_files(release, tmp_path / "out", progress=written_rows.append)
    assert written_rows == [2, 4, 5]
    assert pq.ParquetFile(tmp_path / "out" / formats.PARQUET_FILE).num_row_groups == 3


def test_texts_of_a_version_are_those_of_that_version(tmp_path: Path) -> None:
    sample = make_ready_sample()
    release = written(tmp_path / "first")
    DocumentVersion.objects.filter(pk=sample.document_version_id).update(state="rejected")
    write_files(Release.objects.get(pk=release.pk), tmp_path / "second")
    assert bytes_of(tmp_path / "first") == bytes_of(tmp_path / "second")
