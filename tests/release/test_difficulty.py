"""All labels at once: another ladder over the same answers, and the challenges beside the labels."""

import csv
import io

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotation.models import Sample
from annotation.workflow import SampleState
from benchmark.difficulty import Tier
from generation.models import Call
from release import ladder
from release.models import DifficultyLabel
from tests.annotation.scenes import passed_sample
from tests.factories import make_annotator, make_lead, make_standardization, make_standardized_sample
from tests.release.parts import difficulty_run, rights

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client: Client) -> Client:
    client.force_login(make_lead())
    return client


def labelled(difficulty: str, right: tuple[int, int, int], sample: Sample | None = None) -> DifficultyLabel:
    sample = sample or make_standardized_sample(state=SampleState.ACCEPTED)
    return DifficultyLabel.objects.create(
        sample=sample,
        standardization=sample.standardizations.latest("number"),
        run=difficulty_run(sample, rights(*right)),
        difficulty=difficulty,
    )


def test_another_ladder_reads_the_same_answers_and_changes_nothing() -> None:
    labelled("Extreme", (1, 5, 5)), labelled("Hard", (2, 1, 5)), labelled("Easy", (5, 5, 5))
    calls = Call.objects.count()
    assert [row.tried for row in ladder.labelled(ladder.Rule())] == ["Extreme", "Hard", "Easy"]
    strict = ladder.Rule({Tier.HIGH: 0, Tier.MID: 1, Tier.LOW: 1})
    rows = ladder.labelled(strict)
    assert [row.tried for row in rows] == ["Easy", "Hard", "Easy"]
    assert [row.moved for row in rows] == [True, False, False]
    assert {bar.difficulty: (bar.now, bar.tried) for bar in ladder.spread(rows) if bar.now or bar.tried} == {
        "Easy": (1, 2),
        "Hard": (1, 1),
        "Extreme": (1, 0),
    }
    assert list(DifficultyLabel.objects.order_by("pk").values_list("difficulty", flat=True)) == [
        "Extreme",
        "Hard",
        "Easy",
    ]
    assert Call.objects.count() == calls


def test_a_panel_without_a_model_is_read_without_it_and_without_a_tier_it_waits() -> None:
    labelled("Hard", (2, 1, 5))
    (row,) = ladder.labelled(ladder.Rule())
    right = next(result.model for result in row.results if result.tier is Tier.HIGH and result.verdict)
    assert ladder.labelled(ladder.Rule(without=frozenset({right})))[0].tried == "Extreme"
    tier = frozenset(result.model for result in row.results if result.tier is Tier.HIGH)
    assert ladder.labelled(ladder.Rule(without=tier))[0].tried == ""


def test_a_label_of_other_prompts_is_not_among_them() -> None:
    made = labelled("Easy", (5, 5, 5))
    current = made.sample.standardizations.latest("number")
    current.pk, current.number, current.completed_at, current.completed_by = None, current.number + 1, None, None
    current.save()
    assert ladder.labelled(ladder.Rule()) == []


def test_labels_stand_beside_what_the_challenge_found_overrules_counted_in() -> None:
    sample, candidate, annotator = passed_sample()
    challenge = candidate.challenges.get()
    right = challenge.run.run_calls.filter(right=True).first()
    assert right is not None
    challenge.overrules.create(run_call=right, right=False, reason="It names another ship.", by=annotator)
    Sample.objects.filter(pk=sample.pk).update(state=SampleState.ACCEPTED)
    make_standardization(sample, by=annotator)
    labelled("Hard", (2, 1, 5), sample)
    labelled("Easy", (5, 5, 5))
    lines = ladder.confusion(ladder.labelled(ladder.Rule()))
    assert [(line.wrong, line.counts["Hard"], line.counts["Easy"], line.total) for line in lines] == [
        (2, 1, 0, 1),
        (None, 0, 1, 1),
    ]


def test_the_page_shows_the_trial_lists_what_moves_and_writes_a_table(
    page: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    labelled("Extreme", (1, 5, 5)), labelled("Hard", (2, 1, 5))
    text = page.get("/releases/-/difficulty/").content.decode()
    assert "2 labels with their answers" in text
    assert "would change" not in text
    text = page.get("/releases/-/difficulty/?high=0&moved=1").content.decode()
    assert "1 would change" in text
    refused = page.get("/releases/-/difficulty/?high=9&without=nobody").content.decode()
    assert "less than or equal to 4" in refused
    assert "nobody is not one of the available choices" in refused
    answer = page.get("/releases/-/difficulty/?format=csv")
    body = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    rows = list(csv.reader(io.StringIO(body.removeprefix("\ufeff"))))
    assert rows[0][:5] == ["sample", "secondary_task", "language", "token_length", "difficulty"]
    assert [row[4] for row in rows[1:]] == ["Extreme", "Hard"]
    for _more in range(3):
        labelled("Easy", (5, 5, 5))
    with django_assert_max_num_queries(14):
        page.get("/releases/-/difficulty/")


def test_a_label_shows_the_ladder_with_its_fifteen_answers(page: Client) -> None:
    made = labelled("Hard", (2, 1, 5))
    text = page.get(f"/releases/-/difficulty/{made.pk}/").content.decode()
    assert text.count('data-state="pass"') >= 8
    assert "2 of 5 right" in text
    assert "1 of 5 right" in text
    assert "decided above" in text
    assert page.get("/releases/-/difficulty/999999/").status_code == 404


def test_only_leads_see_it(client: Client) -> None:
    client.force_login(make_annotator())
    assert client.get("/releases/-/difficulty/").status_code == 403
    assert client.get("/releases/-/difficulty/1/").status_code == 403
