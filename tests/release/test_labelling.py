"""Difficulty labels: the ladder over real runs, missing models by name, labels that a change voids."""

from typing import Any

import pytest

from annotation.models import Sample
from annotation.workflow import SampleState
from core.history import history_of
from core.models import BenchmarkSettings
from core.refusals import NotAllowed, RuleBroken
from documents.workflow import VersionState
from generation.models import LanguageModel, Run
from generation.workflow import RunState
from release import actions, labelling, queries
from tests.factories import make_annotator, make_lead, make_run, make_standardization, make_standardized_sample
from tests.release.parts import answer, difficulty_run, panel_of_fifteen, rights

pytestmark = pytest.mark.django_db


class Started:
    """Stands where runs are started: keeps what was asked for, and gives a run that the test fills."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.runs: list[Run] = []

    def __call__(self, **asked: Any) -> Run:
        self.asked.append(asked)
        run = make_run(
            asked["document_version"], purpose="difficulty", task_code=asked["task"].code, state=RunState.RUNNING
        )
        self.runs.append(run)
        return run

    def finish(self, right: list[bool | None], models: Any = ()) -> Run:
        run = self.runs[-1]
        answer(run, right, models)
        Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED)
        return run


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    stand_in = Started()
    monkeypatch.setattr(labelling, "start_difficulty", stand_in)
    return stand_in


@pytest.fixture
def sample() -> Sample:
    return make_standardized_sample(state=SampleState.ACCEPTED)


def test_labelling_asks_with_both_prompts_the_answer_and_the_runs_that_are_set(
    started: Started, sample: Sample
) -> None:
    settings = BenchmarkSettings.load()
    settings.difficulty_runs = 3
    settings.save()
    lead = make_lead()
    actions.label_samples(samples=[sample], by=lead)
    assert labelling.work_off() == 1
    made, asked = sample.standardizations.get(), started.asked[0]
    assert (asked["prompt"], asked["prompt_thinking"]) == (made.question_nonthinking, made.question_thinking)
    assert (asked["answer"], asked["runs_per_model"], asked["by"]) == (made.answer, 3, lead)
    assert (asked["document_version"], asked["task"]) == (sample.document_version, sample.task)


@pytest.mark.parametrize(
    ("right", "difficulty"),
    [
        ((1, 5, 5), "Extreme"),
        ((2, 1, 5), "Hard"),
        ((2, 2, 1), "Moderate"),
        ((2, 2, 2), "Easy"),
        ((0, 0, 0), "Extreme"),
    ],
)
def test_the_label_is_read_from_the_ladder_and_keeps_its_evidence(
    started: Started, sample: Sample, right: tuple[int, int, int], difficulty: str
) -> None:
    actions.label_samples(samples=[sample], by=make_lead())
    labelling.work_off()
    run = started.finish(rights(*right))
    assert labelling.work_off() == 1
    label = queries.current_label(sample)
    assert label is not None
    assert (label.difficulty, label.missing, label.run) == (difficulty, [], run)
    assert label.right == dict(zip(["high", "mid", "low"], right, strict=True))
    assert label.labelled_at is not None
    assert [event.action for event in history_of(sample)] == ["annotation.ask_for_label", "annotation.label"]
    assert labelling.work_off() == 0


def test_models_without_an_answer_are_named_and_a_resent_call_completes_the_label(
    started: Started, sample: Sample
) -> None:
    models = panel_of_fifteen()
    right = rights(5, 5, 5)
    right[7] = None
    actions.label_samples(samples=[sample], by=make_lead())
    labelling.work_off()
    run = started.finish(right, models)
    assert labelling.work_off() == 1
    label = queries.current_label(sample)
    assert label is not None
    assert (label.difficulty, label.missing) == ("", [models[7].name])
    assert labelling.work_off() == 0, "nothing new came in"
    run.run_calls.filter(call__model=models[7]).update(score=0.0, right=False)
    assert labelling.work_off() == 1
    label.refresh_from_db()
    assert (label.difficulty, label.missing) == ("Easy", [])


def test_a_tier_that_decides_labels_while_models_of_lower_tiers_are_missing(started: Started, sample: Sample) -> None:
    right = rights(1, 5, 5)
    right[14] = None
    actions.label_samples(samples=[sample], by=make_lead())
    labelling.work_off()
    started.finish(right)
    labelling.work_off()
    label = queries.current_label(sample)
    assert label is not None
    assert (label.difficulty, label.missing) == ("Extreme", [])


def test_the_majority_of_several_runs_counts(started: Started, sample: Sample) -> None:
    models = panel_of_fifteen()
    actions.label_samples(samples=[sample], by=make_lead())
    labelling.work_off()
    for _repetition in range(2):
        answer(started.runs[-1], rights(5, 5, 5), models)
    started.finish(rights(0, 0, 0), models)
    labelling.work_off()
    label = queries.current_label(sample)
    assert label is not None
    assert label.difficulty == "Easy"


def test_a_new_standardization_voids_the_label_by_itself(started: Started, sample: Sample) -> None:
    actions.label_samples(samples=[sample], by=make_lead())
    labelling.work_off()
    started.finish(rights(5, 5, 5))
    labelling.work_off()
    assert queries.current_label(sample) is not None
    assert sample.annotator is not None
    Sample.objects.filter(pk=sample.pk).update(round=2)
    sample.refresh_from_db()
    assert queries.current_label(sample) is None, "its round has no prompts yet"
    make_standardization(sample, by=sample.annotator, completed=False)
    assert queries.current_label(sample) is None, "a draft is nothing to be labelled"
    sample.standardizations.filter(number=2).delete()
    make_standardization(sample, by=sample.annotator)
    assert queries.current_label(sample) is None
    labels = actions.label_samples(samples=[sample], by=make_lead())
    assert [label.standardization.number for label in labels] == [2]


def test_blocked_samples_are_refused_by_name_and_nothing_is_asked(sample: Sample) -> None:
    blocked = make_standardized_sample(state=SampleState.ACCEPTED)
    blocked.document_version.state = VersionState.REJECTED
    blocked.document_version.save()
    with pytest.raises(RuleBroken, match=blocked.label) as refused:
        actions.label_samples(samples=[sample, blocked], by=make_lead())
    assert refused.value.rule == "document_not_approved"
    assert sample.difficulty_labels.count() == 0


def test_a_document_blocked_meanwhile_is_not_sent(started: Started, sample: Sample) -> None:
    actions.label_samples(samples=[sample], by=make_lead())
    sample.document_version.state = VersionState.REJECTED
    sample.document_version.save()
    assert labelling.work_off() == 0
    assert started.asked == []


def test_only_accepted_samples_are_labelled(sample: Sample) -> None:
    other = make_standardized_sample(state=SampleState.IN_REVIEW)
    with pytest.raises(RuleBroken, match=other.label):
        actions.label_samples(samples=[other], by=make_lead())


def test_only_leads_ask_for_labels(sample: Sample) -> None:
    with pytest.raises(NotAllowed):
        actions.label_samples(samples=[sample], by=make_annotator())


def test_asking_twice_starts_one_run(started: Started, sample: Sample) -> None:
    for _time in range(2):
        actions.label_samples(samples=[sample], by=make_lead())
        labelling.work_off()
    assert len(started.asked) == 1


def test_a_cancelled_run_can_be_asked_for_again(started: Started, sample: Sample) -> None:
    actions.label_samples(samples=[sample], by=make_lead())
    labelling.work_off()
    Run.objects.update(state=RunState.CANCELLED)
    assert [found.pk for found in queries.unlabelled()] == [sample.pk]
    actions.label_samples(samples=[sample], by=make_lead())
    labelling.work_off()
    assert len(started.asked) == 2
    assert sample.difficulty_labels.get().run == started.runs[-1]


def test_why_a_run_could_not_be_started_stands_beside_the_label(
    monkeypatch: pytest.MonkeyPatch, sample: Sample
) -> None:
    def refuse(**asked: Any) -> Run:
        raise RuleBroken("These models have no price.", rule="unknown_price")

    monkeypatch.setattr(labelling, "start_difficulty", refuse)
    actions.label_samples(samples=[sample], by=make_lead())
    assert labelling.work_off() == 0
    assert sample.difficulty_labels.get().refusal == "These models have no price."


def test_the_estimate_counts_calls_and_never_takes_an_unknown_price_for_zero(settings: Any, sample: Sample) -> None:
    settings.LBP_PANEL = "demo"
    LanguageModel.objects.update(active=False)
    models = panel_of_fifteen()
    known = labelling.estimate(3)
    assert (known.samples, known.calls, known.tokens_in) == (1, 15 * 3, sample.document_version.tokens * 15 * 3)
    models[0].usd_per_million_input = None
    models[0].save()
    assert labelling.estimate(1).usd is None


def test_a_label_of_another_sample_is_not_touched(started: Started, sample: Sample) -> None:
    other = make_standardized_sample(state=SampleState.ACCEPTED)
    run = difficulty_run(other, rights(0, 0, 0))
    actions.label_samples(samples=[sample], by=make_lead())
    labelling.work_off()
    assert run.difficulty_labels.count() == 0
    assert other.difficulty_labels.count() == 0
