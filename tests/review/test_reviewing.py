from typing import Any

import pytest

from core.history import history_of
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from review import actions
from review.models import ReviewCase
from review.queries import predicted_elements
from review.workflow import CaseState, ReviewState
from tests.factories import (
    make_annotator,
    make_answers,
    make_case,
    make_model,
    make_standardized_sample,
)
from tests.review.words import ISSUE, clean_marks, save, submit

pytestmark = pytest.mark.django_db


def test_predicted_elements_are_those_the_answer_lacks_the_most_given_first() -> None:
    case = make_case(
        answers=[
            (["Marigold", "gull ", "Tern"], False),
            (["Swan", "  MARIGOLD"], False),
            (["Gull", "Heron"], False),
        ]
    )
    found = [(predicted.element, len(predicted.models)) for predicted in predicted_elements(case)]
    assert found == [("gull ", 2), ("Swan", 1)]


def test_a_summary_is_one_predicted_element_however_many_lines_it_has() -> None:
    sample = make_standardized_sample(task_code="T4.1", state="in_review")
    case = make_case(sample, answers=[(["One line.", "And another."], False), (["Short."], False)])
    assert [predicted.element for predicted in predicted_elements(case)] == ["One line.\nAnd another.", "Short."]


def test_a_draft_may_have_gaps_and_survives() -> None:
    case, person = make_case(), make_annotator()
    review = actions.take_seat(case=case, by=person)
    actions.save_review(
        review=review,
        version=1,
        marks=[{"mark": "unsure", "note": "half a thought"}],
        recall=[],
        additions=["Petrel", "  "],
        issues=[{"kind": "question", "note": ""}],
        by=person,
    )
    review = actions.take_seat(case=case, by=person)
    assert review.state == ReviewState.DRAFT
    assert review.version == 2
    assert review.marks[0] == {"mark": "unsure", "note": "half a thought"}
    assert [mark["mark"] for mark in review.marks[1:]] == ["", ""]
    assert review.recall == [{"element": "Gull", "mark": "", "note": ""}]
    assert review.additions == ["Petrel"]
    assert review.issues == [{"kind": "question", "note": ""}]


def test_a_stale_version_is_refused_with_both_texts_and_overwrites_nothing() -> None:
    review = actions.take_seat(case=make_case(), by=make_annotator())
    save(review, additions=["Petrel"])
    with pytest.raises(Conflict) as told:
        actions.save_review(
            review=review, version=1, by=review.reviewer, **clean_marks(review.case, additions=["Albatross"])
        )
    assert told.value.rule == "stale_version"
    assert told.value.details["current"]["additions"] == ["Petrel"]
    assert told.value.details["sent"]["additions"] == ["Albatross"]
    review.refresh_from_db()
    assert review.additions == ["Petrel"]


def test_submitting_another_version_than_the_one_seen_is_refused() -> None:
    review = save(actions.take_seat(case=make_case(), by=make_annotator()))
    with pytest.raises(Conflict) as told:
        actions.submit_review(review=review, version=review.version - 1, by=review.reviewer)
    assert told.value.rule == "stale_version"


def test_nobody_saves_or_submits_anothers_review() -> None:
    review = save(actions.take_seat(case=make_case(), by=make_annotator()))
    other = make_annotator()
    with pytest.raises(NotAllowed):
        actions.save_review(review=review, version=review.version, by=other, **clean_marks(review.case))
    with pytest.raises(NotAllowed):
        actions.submit_review(review=review, version=review.version, by=other)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("marks", [{"mark": "perhaps"}]),
        ("marks", ["correct"]),
        ("marks", [{"mark": "correct"}] * 9),
        ("recall", [{"element": "never predicted", "mark": "missing"}]),
        ("recall", [{"element": "Gull", "mark": "correct"}]),
        ("additions", [3]),
        ("additions", "Petrel"),
        ("additions", ["x" * 5000]),
        ("issues", [{"kind": "weather", "note": "rain"}]),
    ],
)
def test_a_value_of_another_shape_is_refused_at_its_field(field: str, value: Any) -> None:
    review = actions.take_seat(case=make_case(), by=make_annotator())
    with pytest.raises(Invalid) as told:
        save(review, **{field: value})
    assert list(told.value.errors) == [field]


def test_every_element_and_every_prediction_is_judged_before_a_review_is_submitted() -> None:
    case, person = make_case(), make_annotator()
    review = save(
        actions.take_seat(case=case, by=person),
        marks=[{"mark": "correct"}, {"mark": ""}, {"mark": "correct"}],
        recall=[],
    )
    with pytest.raises(RuleBroken) as told:
        actions.submit_review(review=review, version=review.version, by=person)
    assert told.value.rule == "review_incomplete"
    assert told.value.details["open"] == ["element 2", "prediction 1"]
    review.refresh_from_db()
    assert review.state == ReviewState.DRAFT


@pytest.mark.parametrize("issue", [{"kind": "", "note": "something"}, {"kind": "answer", "note": " "}])
def test_an_issue_needs_a_kind_and_a_note(issue: dict[str, str]) -> None:
    review = save(actions.take_seat(case=make_case(), by=make_annotator()), issues=[issue])
    with pytest.raises(Invalid) as told:
        actions.submit_review(review=review, version=review.version, by=review.reviewer)
    assert "issues" in told.value.errors


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, False),
        ({"marks": [{"mark": "correct"}, {"mark": "incorrect"}, {"mark": "correct"}]}, True),
        ({"marks": [{"mark": "unsure"}, {"mark": "correct"}, {"mark": "correct"}]}, True),
        ({"recall": [{"element": "gull", "mark": "missing"}]}, True),
        ({"additions": ["Petrel"]}, True),
        (ISSUE, True),
    ],
)
def test_any_doubt_is_an_issue(changes: dict[str, Any], found: bool) -> None:
    assert submit(make_case(), make_annotator(), **changes).found_issue is found


def test_a_submitted_review_is_frozen() -> None:
    review = submit(make_case(), make_annotator())
    with pytest.raises(Conflict) as told:
        save(review)
    assert told.value.rule == "review_frozen"
    with pytest.raises(Conflict):
        actions.submit_review(review=review, version=review.version, by=review.reviewer)


def test_two_reviews_without_issue_accept_the_sample() -> None:
    case = make_case()
    submit(case, make_annotator())
    case.refresh_from_db()
    assert case.state == CaseState.OPEN
    submit(case, make_annotator())
    case.refresh_from_db()
    case.sample.refresh_from_db()
    assert case.state == CaseState.ACCEPTED
    assert case.sample.state == "accepted"


@pytest.mark.parametrize("order", [(ISSUE, {}), ({}, ISSUE), (ISSUE, ISSUE)])
def test_one_issue_is_enough_for_a_dispute(order: tuple[dict[str, Any], dict[str, Any]]) -> None:
    case = make_case()
    for changes in order:
        submit(case, make_annotator(), **changes)
    case.refresh_from_db()
    case.sample.refresh_from_db()
    assert case.state == CaseState.DISPUTED
    assert case.sample.state == "in_adjudication"
    assert [event.action for event in history_of(case)] == ["review.dispute"]


def test_a_late_prediction_must_be_judged_too() -> None:
    case, person = make_case(), make_annotator()
    review = save(actions.take_seat(case=case, by=person))
    assert case.prediction_run is not None
    make_answers(case.prediction_run, [make_model()], [(["Petrel"], False)])
    with pytest.raises(RuleBroken):
        actions.submit_review(review=review, version=review.version, by=person)


def test_the_case_stays_open_while_only_one_review_is_in() -> None:
    case = make_case()
    submit(case, make_annotator(), **ISSUE)
    assert ReviewCase.objects.get(pk=case.pk).state == CaseState.OPEN
    case.sample.refresh_from_db()
    assert case.sample.state == "in_review"
