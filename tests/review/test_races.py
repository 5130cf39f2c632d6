"""What two people do in the same instant. Row locks are PostgreSQL's, so these run there."""

from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from core.models import Event, User
from core.refusals import Conflict, Refused
from review import actions, opening
from review.models import AnswerReview, ReviewCase
from review.workflow import CaseState
from tests.factories import make_annotator, make_case, make_standardized_sample
from tests.review.words import ISSUE, clean_marks, save

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
]


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    """Run the jobs in threads from one starting shot; a refusal is its result."""
    results: list[Any] = [None] * len(jobs)
    start = Barrier(len(jobs))

    def run(place: int, job: Callable[[], Any]) -> None:
        start.wait()
        try:
            results[place] = job()
        except Refused as refusal:
            results[place] = refusal
        finally:
            connections.close_all()

    threads = [Thread(target=run, args=(place, job)) for place, job in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_of_three_who_sit_down_at_once_two_are_kept_and_the_third_is_told() -> None:
    case = make_case()
    people = [make_annotator() for _place in range(3)]
    results = at_once(*[lambda person=person: actions.take_seat(case=case, by=person) for person in people])
    kept = [result for result in results if isinstance(result, AnswerReview)]
    told = [result for result in results if isinstance(result, Conflict)]
    assert sorted(review.seat for review in kept) == [1, 2]
    assert [refusal.rule for refusal in told] == ["seats_taken"]


def test_of_three_who_submit_at_once_two_are_kept_and_the_third_keeps_his_words() -> None:
    """T-25: one of the two seats had lapsed to a third, and all three submit in the same instant."""
    for _round in range(5):
        case = make_case()
        late, *others = [make_annotator() for _place in range(3)]
        reviews = [save(actions.take_seat(case=case, by=late), additions=["Petrel"])]
        actions.give_back_seat(review=reviews[0], by=late)
        reviews += [save(actions.take_seat(case=case, by=other)) for other in others]
        results = at_once(
            *[
                lambda review=review: actions.submit_review(review=review, version=review.version, by=review.reviewer)
                for review in reviews
            ]
        )
        kept = [result for result in results if isinstance(result, AnswerReview)]
        told = [result for result in results if isinstance(result, Conflict)]
        assert sorted(review.seat for review in kept) == [1, 2]
        assert len(told) == 1
        assert told[0].rule in {"seats_taken", "state_moved"}
        case.refresh_from_db()
        assert case.state == CaseState.ACCEPTED
        assert AnswerReview.objects.get(case=case, reviewer=late).additions == ["Petrel"]


def test_of_three_programs_that_come_at_once_with_whole_reviews_two_are_kept() -> None:
    """T-25."""
    case = make_case()
    people = [make_annotator() for _place in range(3)]
    body = {**clean_marks(case, additions=["Petrel"]), "submit": True}

    def send(person: User) -> Any:
        client = Client()
        client.force_login(person)
        return client.post(f"/api/v1/cases/{case.pk}/review/", body, content_type="application/json")

    answers = at_once(*[lambda person=person: send(person) for person in people])
    assert sorted(answer.status_code for answer in answers) == [200, 200, 409]
    (third,) = [answer.json() for answer in answers if answer.status_code == 409]
    # Told that two were there, or, if both had submitted by then, that the case has moved on: with the words both ways.
    assert third["rule"] in {"seats_taken", "state_moved"}
    assert third["sent"]["additions"] == ["Petrel"]
    assert case.reviews.count() == 2
    case.refresh_from_db()
    assert case.state == CaseState.DISPUTED


@pytest.mark.bench
def test_two_hundred_pairs_that_submit_in_the_same_instant_give_two_hundred_decisions() -> None:
    """I-15."""
    people = [make_annotator() for _place in range(2)]
    for number in range(200):
        case, changes = make_case(), ISSUE if number % 2 else {}
        reviews = [save(actions.take_seat(case=case, by=person), **changes) for person in people]
        at_once(
            *[
                lambda review=review: actions.submit_review(review=review, version=review.version, by=review.reviewer)
                for review in reviews
            ]
        )
    decided = Event.objects.filter(subject_type="reviewcase", action__in=["review.accept", "review.dispute"])
    assert decided.count() == decided.values("subject_id").distinct().count() == 200
    assert ReviewCase.objects.filter(state=CaseState.DISPUTED).count() == 100
    assert ReviewCase.objects.filter(state=CaseState.ACCEPTED).count() == 100


def test_a_lapsed_seat_goes_to_one_of_two_who_want_it_at_once() -> None:
    case = make_case()
    actions.take_seat(case=case, by=make_annotator())
    gone = actions.take_seat(case=case, by=make_annotator())
    User.objects.filter(pk=gone.reviewer_id).update(is_active=False)
    people = [make_annotator() for _place in range(2)]
    results = at_once(*[lambda person=person: actions.take_seat(case=case, by=person) for person in people])
    assert sorted(type(result).__name__ for result in results) == ["AnswerReview", "Conflict"]
    assert case.reviews.exclude(state="released").count() == 2


@pytest.mark.parametrize("changes", [{}, ISSUE])
def test_two_submits_in_the_same_instant_give_exactly_one_decision(changes: dict[str, Any]) -> None:
    for _round in range(10):
        case = make_case()
        reviews = [save(actions.take_seat(case=case, by=make_annotator()), **changes) for _place in range(2)]
        at_once(
            *[
                lambda review=review: actions.submit_review(review=review, version=review.version, by=review.reviewer)
                for review in reviews
            ]
        )
        case.refresh_from_db()
        case.sample.refresh_from_db()
        decided = Event.objects.filter(
            subject_type="reviewcase", subject_id=case.pk, action__in=["review.accept", "review.dispute"]
        )
        assert decided.count() == 1
        assert case.state == (CaseState.DISPUTED if changes else CaseState.ACCEPTED)
        assert case.sample.state == ("in_adjudication" if changes else "accepted")


def test_one_review_submitted_twice_at_once_is_submitted_once() -> None:
    review = save(actions.take_seat(case=make_case(), by=make_annotator()))
    results = at_once(
        *[lambda: actions.submit_review(review=review, version=review.version, by=review.reviewer) for _place in "ab"]
    )
    assert sorted(type(result).__name__ for result in results) == ["AnswerReview", "Conflict"]


def test_two_workers_make_one_case_and_one_run() -> None:
    sample = make_standardized_sample()
    at_once(opening.work_off, opening.work_off, opening.work_off)
    case = ReviewCase.objects.get(sample=sample)
    assert case.prediction_run is not None
    assert type(case.prediction_run).objects.filter(purpose="prediction").count() == 1


def test_ten_who_ask_for_the_next_at_once_share_five_cases_two_by_two() -> None:
    cases = [make_case() for _place in range(5)]
    people = [make_annotator() for _place in range(10)]
    results = at_once(*[lambda person=person: actions.next_review(by=person) for person in people])
    assert all(isinstance(result, AnswerReview) for result in results)
    assert [case.reviews.count() for case in cases] == [2] * 5
