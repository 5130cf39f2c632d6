"""Edits as a page makes them, saving while one types: one stretch is one edit, and the last one is undone."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation import actions
from annotation.models import CandidateEdit
from annotation.workflow import CandidateState, Verdict
from core.history import history_of
from core.refusals import Conflict, Invalid, RuleBroken
from tests.annotation.scenes import ALL_FOUR, bring, candidate_at, challenged, passed_sample
from tests.annotation.test_api import api, do
from tests.factories import make_annotator, make_lead

pytestmark = pytest.mark.django_db
C = CandidateState


def save(candidate: Any, by: Any, **parts: Any) -> Any:
    return actions.edit_candidate(candidate=candidate, version=candidate.version, by=by, **parts)


def type_in(candidate: Any, by: Any, *questions: str) -> None:
    for question in questions:
        save(candidate, by, question=question)


def history(candidate: Any) -> list[tuple[str, str]]:
    return [(edit.before["question"][:5], edit.after["question"]) for edit in candidate.edits.order_by("version")]


def said(candidate: Any) -> list[str]:
    return [event.action.removeprefix("annotation.") for event in history_of(candidate)]


# One stretch, one edit ---------------------------------------------------------------------------------------------


def test_what_is_saved_while_one_types_is_one_edit_and_one_line_of_the_trail() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    type_in(candidate, annotator, "W?", "Wh?", "Who?")
    save(candidate, annotator, answer=["Heron"])
    edit = candidate.edits.get()
    assert (candidate.version, edit.version) == (5, 5)
    assert edit.before["question"] == candidate.draft.question
    assert (edit.after["question"], edit.after["answer"]) == ("Who?", ["Heron"])
    assert said(candidate).count("edit") == 1


def test_a_stretch_that_ends_where_it_began_leaves_no_edit() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    first = candidate.question
    type_in(candidate, annotator, "W?", first)
    assert (candidate.version, candidate.edits.count()) == (3, 0)
    type_in(candidate, annotator, "Who?")
    assert history(candidate) == [(first[:5], "Who?")]


def test_a_verdict_a_challenge_and_a_submission_each_end_the_stretch() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    type_in(candidate, annotator, "One?")
    actions.judge_task_a(candidate=candidate, version=2, verdict=Verdict.MINOR_EDIT, checks=ALL_FOUR, by=annotator)
    type_in(candidate, annotator, "Two?")
    assert candidate.edits.count() == 2
    actions.judge_task_a(candidate=candidate, version=3, verdict=Verdict.MINOR_EDIT, checks=ALL_FOUR, by=annotator)
    bring(candidate, C.TASK_C, annotator)
    challenged(candidate, annotator)
    type_in(candidate, annotator, "Three?")
    assert [after for _before, after in history(candidate)] == ["One?", "Two?", "Three?"]


def test_a_stretch_ends_after_ten_minutes_and_with_another_person() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    type_in(candidate, annotator, "One?")
    CandidateEdit.objects.update(at=timezone.now() - timedelta(minutes=11))
    type_in(candidate, annotator, "Two?")
    other = make_annotator()
    actions.take_over_sample(sample=candidate.sample, holder=other, reason="Ill.", by=make_lead())
    type_in(candidate, other, "Three?")
    assert [after for _before, after in history(candidate)] == ["One?", "Two?", "Three?"]


def test_within_a_stretch_steps_reopen_as_by_any_edit() -> None:
    _sample, candidate, annotator = passed_sample()
    save(candidate, annotator, answer=["Heron"])
    assert candidate.state == C.TASK_B
    type_in(candidate, annotator, "Which?")
    assert (candidate.state, candidate.edits.count()) == (C.TASK_A, 1)
    assert not candidate.verdicts.filter(voided_at=None).exists()


def test_a_save_whose_answer_was_lost_is_sent_again_without_a_conflict() -> None:
    """T-18: the same save twice is one record."""
    candidate, annotator = candidate_at(C.TASK_A)
    for _time in range(2):
        actions.edit_candidate(candidate=candidate, version=1, question="Who?", by=annotator)
    assert (candidate.version, candidate.edits.count()) == (2, 1)
    with pytest.raises(Conflict):
        actions.edit_candidate(candidate=candidate, version=1, question="Whom?", by=annotator)


# Undo --------------------------------------------------------------------------------------------------------------


def test_the_last_edit_is_undone_as_an_edit_and_undone_again_is_done_again() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    first = candidate.question
    assert not actions.can_undo_edit(annotator, candidate)
    type_in(candidate, annotator, "W?", "Who?")
    assert actions.can_undo_edit(annotator, candidate)
    actions.undo_edit(candidate=candidate, version=3, by=annotator)
    assert (candidate.question, candidate.version, candidate.edits.count()) == (first, 4, 2)
    actions.undo_edit(candidate=candidate, version=4, by=annotator)
    assert (candidate.question, candidate.edits.count()) == ("Who?", 3)
    assert said(candidate).count("edit") == 3


def test_typing_after_an_undo_begins_an_edit_of_its_own() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    first = candidate.question
    type_in(candidate, annotator, "Who?")
    actions.undo_edit(candidate=candidate, version=2, by=annotator)
    type_in(candidate, annotator, "Whom?", "Whose?")
    actions.undo_edit(candidate=candidate, version=candidate.version, by=annotator)
    assert candidate.question == first


def test_an_undo_after_a_verdict_reopens_the_step() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    type_in(candidate, annotator, "Who?")
    actions.judge_task_a(candidate=candidate, version=2, verdict=Verdict.MINOR_EDIT, checks=ALL_FOUR, by=annotator)
    actions.undo_edit(candidate=candidate, version=2, by=annotator)
    assert candidate.state == C.TASK_A
    actions.judge_task_a(candidate=candidate, version=3, verdict=Verdict.COMPLIANT, checks=ALL_FOUR, by=annotator)


def test_an_undo_from_an_old_page_or_without_an_edit_is_refused() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    with pytest.raises(RuleBroken) as refused:
        actions.undo_edit(candidate=candidate, version=1, by=annotator)
    assert refused.value.rule == "nothing_to_undo"
    type_in(candidate, annotator, "Who?")
    with pytest.raises(Conflict) as stale:
        actions.undo_edit(candidate=candidate, version=1, by=annotator)
    assert stale.value.rule == "stale_version"


def test_a_program_edits_reads_the_history_and_undoes() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    client = api(annotator)
    do(client, "candidates", candidate.pk, "edit", version=1, question="Who?")
    do(client, "candidates", candidate.pk, "edit", version=2, answer=["Heron"])
    [edit] = client.get(f"/api/v1/candidates/{candidate.pk}/edits/").json()
    assert (edit["version"], edit["by"], edit["after"]["answer"]) == (3, annotator.username, ["Heron"])
    undone = do(client, "candidates", candidate.pk, "undo", version=3)
    assert (undone.status_code, undone.json()["question"]) == (
        200,
        candidate.draft.question,
    )
    assert do(client, "candidates", candidate.pk, "undo", version=3).status_code == 409


@pytest.mark.parametrize(
    ("part", "typed"),
    [("question", "q" * 20_001), ("elements", "e" * 20_001), ("answer", ["a" * 20_001]), ("answer", ["a"] * 2_001)],
)
def test_what_no_page_could_show_is_refused_at_its_field(part: str, typed: object) -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    with pytest.raises(Invalid) as refused:
        save(candidate, annotator, **{part: typed})
    assert list(refused.value.errors) == [part]
    candidate.refresh_from_db()
    assert candidate.version == 1
