"""Runs from their start to their end, with the simulated models, in process."""

import asyncio

import pytest
from django.db import connections

from benchmark.taxonomy import Language, secondary_task
from core.models import Event
from core.refusals import RuleBroken
from documents.workflow import VersionState
from generation import actions, sending
from generation.models import Call, Draft, LanguageModel, Run, RunCall
from generation.panels import ensure_panel
from generation.queries import drafts_of, panel, results_of
from generation.workflow import CallState, Purpose, RunState
from tests.factories import make_lead, make_version

pytestmark = pytest.mark.django_db

TASK = secondary_task("T1.2")


@pytest.fixture(autouse=True)
def _panel() -> None:
    ensure_panel("demo")


def start_challenge(**more: object) -> Run:
    given = {
        "document_version": more.pop("document_version", None) or make_version(),
        "task": TASK,
        "question": "Which ships paid a late fee, largest fee first?",
        "options": [],
        "elements": "the ship names in order of the fee",
        "answer": ["Marigold", "Heron", "Tern"],
        "by": make_lead(),
    }
    return actions.start_challenge(**{**given, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize("language", [Language.ENGLISH, Language.CHINESE])
@pytest.mark.parametrize("code", ["T1.2", "T4.1", "T8.1"])
def test_a_drafting_run_asks_five_models_and_keeps_their_drafts(
    shared_data: object, language: Language, code: str
) -> None:
    name = "en/moby-dick-8k.txt" if language is Language.ENGLISH else "zh/xiyou-ji-8k.txt"
    text = (shared_data / "documents" / name).read_text(encoding="utf-8")  # type: ignore[operator]
    version = make_version(text, language=language)
    run = actions.start_drafting(document_version=version, task=secondary_task(code), by=make_lead())
    assert sending.work_off() == 1
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    assert run.finished_at is not None
    assert set(run.calls.values_list("state", "cost_usd")) == {(CallState.SUCCEEDED, 0)}
    assert drafts_of(run).count() == 15
    assert [draft.call.model.name for draft in drafts_of(run)[::3]] == [m.name for m in panel(Purpose.DRAFTING)]
    quoted = [step for draft in Draft.objects.all() for step in draft.solution if step["quote"]]
    assert quoted
    for step in quoted:
        if step["kind"] == "exact":
            assert text[step["start"] : step["end"]] == step["quote"].strip()


def test_a_challenge_is_answered_by_five_models_and_scored_in_the_house() -> None:
    run = start_challenge()
    sending.work_off()
    results = results_of(run)
    assert len(results) == 5
    assert all(result.score is not None and result.right is not None and result.elements for result in results)


def test_the_same_frozen_input_is_asked_once_and_its_stored_answers_are_read_again() -> None:
    version = make_version()
    first = start_challenge(document_version=version)
    sending.work_off()
    sent = Event.objects.filter(action="generation.send").count()
    second = start_challenge(document_version=version)
    sending.work_off()
    assert Event.objects.filter(action="generation.send").count() == sent == Call.objects.count() == 5
    assert [r.score for r in results_of(second)] == [r.score for r in results_of(first)]


def test_another_question_is_asked_afresh() -> None:
    version = make_version()
    start_challenge(document_version=version)
    start_challenge(document_version=version, question="Which ship sank?")
    assert Call.objects.count() == 10


def test_the_reference_is_no_part_of_the_key() -> None:
    version = make_version()
    first = start_challenge(document_version=version)
    second = start_challenge(document_version=version, answer=["Heron", "Tern"])
    sending.work_off()
    assert Call.objects.count() == 5
    assert RunCall.objects.filter(run__in=[first, second], score=None).count() == 0


def test_difficulty_asks_every_tier_as_often_as_it_is_told() -> None:
    run = actions.start_difficulty(
        document_version=make_version(),
        task=TASK,
        prompt="short form",
        prompt_thinking="thinking form",
        answer=["Marigold", "Heron"],
        runs_per_model=3,
        by=None,
    )
    asked = Call.objects.filter(runs=run)
    assert asked.count() == 45
    assert set(asked.filter(model__kind="instruct").values_list("prompt", "thinking")) == {("thinking form", True)}
    assert set(asked.exclude(model__kind="instruct").values_list("prompt", "thinking")) == {("short form", True)}


@pytest.mark.parametrize("state", [VersionState.PENDING, VersionState.REJECTED])
def test_no_run_starts_on_a_document_that_is_not_approved(state: str) -> None:
    with pytest.raises(RuleBroken) as refused:
        start_challenge(document_version=make_version(state=state))
    assert refused.value.rule == "document_not_approved"
    assert not Run.objects.exists()
    assert not Call.objects.exists()


def test_an_unknown_price_stops_a_run_before_it_starts() -> None:
    LanguageModel.objects.filter(name="demo/heron").update(litellm_id="openai/x", usd_per_million_output=None)
    with pytest.raises(RuleBroken) as refused:
        start_challenge()
    assert refused.value.rule == "unknown_price"
    assert "demo/heron" in str(refused.value)
    assert not Run.objects.exists()


def test_a_withdrawn_approval_stops_queued_calls() -> None:
    version = make_version()
    run = start_challenge(document_version=version)
    version.state = VersionState.REJECTED
    version.save()
    sending.work_off()
    assert set(run.calls.values_list("state", "error_class", "attempts")) == {
        (CallState.CANCELLED, "document_not_approved", 0)
    }


@pytest.mark.django_db(transaction=True)
def test_rows_are_worked_off_from_a_thread_that_already_has_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser test's thread has one."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    ensure_panel("demo")
    run = start_challenge()

    async def browse() -> int:
        try:
            return sending.work_off()
        finally:
            connections.close_all()

    assert asyncio.run(browse()) == 1
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
