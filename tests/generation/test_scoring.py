"""Each answer is read and scored by the task's own metric, and the run's results show elements, score and verdict."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from numpy.typing import NDArray

from benchmark.taxonomy import SECONDARY_TASKS, Language, Metric, SecondaryTask
from generation.models import Run
from generation.queries import results_of
from generation.scoring import score_answers
from generation.workflow import CallState, Purpose
from tests.factories import make_call, make_lead, make_model, make_run, make_version

pytestmark = pytest.mark.django_db

MARKS = {Language.ENGLISH: "[Answer]", Language.CHINESE: "[答案]"}


class Letters:
    """Texts are as alike as the letters they are made of: quick, and 1 for equal texts."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        return np.array([[text.count(chr(code)) for code in range(97, 123)] + [len(text)] for text in texts], float)


def run_of(task: SecondaryTask, language: Language, reference: Sequence[str], *replies: str, **more: Any) -> Run:
    run = make_run(
        make_version(language=language), purpose=Purpose.PREDICTION, task_code=task.code, reference=list(reference)
    )
    for position, reply in enumerate(replies):
        make_call(run, make_model(position=position), raw=reply, **more)
    return run


def right_replies(task: SecondaryTask, language: Language) -> tuple[list[str], list[str]]:
    """The reference, and replies that hold it: as asked, after thoughts and another mark, in other case and spacing."""
    reference = list(task.example_in(language).answer)
    said = reference[:1] if task.metric is Metric.SUMMARY else reference
    lines, mark = "\n".join(said), MARKS[language]
    return reference, [
        f"{mark}\n{lines}",
        f"I first thought of {mark}\nnothing at all.\n\n{mark}\n{lines}\n",
        f"  {mark}  \n" + "\n".join(f"  {line.upper()}  " for line in said),
        lines,
    ]


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("task", SECONDARY_TASKS, ids=lambda task: task.code)
def test_every_task_knows_a_right_answer_and_a_wrong_one(task: SecondaryTask, language: Language) -> None:
    reference, replies = right_replies(task, language)
    run = run_of(task, language, reference, *replies, f"{MARKS[language]}\nzebra 404", f"{MARKS[language]}\n")
    assert score_answers(run, embedder=Letters()) == len(replies) + 2
    results = results_of(run)
    assert [result.right for result in results] == [True] * len(replies) + [False, False]
    assert all(result.score is not None and 0 <= result.score <= 1 for result in results)
    said = tuple(" ".join(line.split()) for line in (reference[:1] if task.metric is Metric.SUMMARY else reference))
    assert [result.elements for result in results[:2]] == [said, said]
    assert (results[-2].elements, results[-1].elements) == (("zebra 404",), ())
    assert {row.embedder for row in run.run_calls.all()} == {"letters" if task.metric is Metric.SUMMARY else ""}


@pytest.mark.parametrize(
    ("code", "reference", "reply", "expected"),
    [
        (Metric.ACCURACY, ["B"], "[Answer]\nB\nC", 1.0),
        (Metric.ACCURACY, ["B"], "[Answer]\nC\nB", 0.0),
        (Metric.F1, ["a", "b"], "[Answer]\na\nc", 0.5),
        (Metric.SUBEM, ["a", "b"], "[Answer]\nb\nx\ny", 0.5),
        (Metric.PAIRWISE, ["a", "b", "c"], "[Answer]\na\nc\nb", 2 / 3),
        (Metric.NDCG, ["a", "b"], "[Answer]\na", 2 / (2 + 1 / np.log2(3))),
    ],
)
def test_a_partly_right_answer_gets_the_share_its_metric_gives(
    code: Metric, reference: list[str], reply: str, expected: float
) -> None:
    task = next(task for task in SECONDARY_TASKS if task.metric is code)
    run = run_of(task, Language.ENGLISH, reference, reply)
    score_answers(run)
    (result,) = results_of(run)
    assert result.score == pytest.approx(expected, abs=1e-9)
    assert result.right == (expected == 1.0)


@pytest.mark.parametrize("state", [CallState.FAILED, CallState.UNKNOWN, CallState.QUEUED, CallState.CANCELLED])
def test_a_call_without_an_answer_is_not_scored_whatever_it_holds(state: str) -> None:
    run = run_of(SECONDARY_TASKS[0], Language.ENGLISH, ["Heron"], "[Answer]\nHeron", state=state)
    assert score_answers(run) == 0
    (result,) = results_of(run)
    assert (result.score, result.right, result.elements) == (None, None, ())


def test_scoring_twice_writes_once() -> None:
    task = next(task for task in SECONDARY_TASKS if task.metric is Metric.F1)
    run = run_of(task, Language.ENGLISH, ["Heron"], "[Answer]\nHeron")
    assert [score_answers(run), score_answers(run)] == [1, 0]


def test_the_runs_page_shows_elements_score_and_verdict_for_each_model(client: Client) -> None:
    task = next(task for task in SECONDARY_TASKS if task.metric is Metric.F1)
    run = run_of(task, Language.ENGLISH, ["Heron", "Tern"], "[Answer]\nHeron\nTern", "[Answer]\nHeron\nGull")
    score_answers(run)
    client.force_login(make_lead())
    shown = client.get(reverse("generation:run_detail", args=[run.pk])).content.decode()
    for words in (">Heron<", ">Tern<", ">Gull<", "1.00", "0.50", "right", "wrong"):
        assert words in shown
