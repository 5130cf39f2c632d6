"""Who is given a case: by language, task and load; and how a seat goes back."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Participation
from annotation.workflow import Job
from core.history import history_of
from core.models import BenchmarkSettings, Event, User
from core.refusals import Conflict, NotAllowed, RuleBroken
from review import actions, seating
from review.models import AnswerReview, ReviewCase
from review.queries import Work, cases_offered_to, waiting_reason
from review.workflow import CaseState, ReviewState
from tests.factories import make_annotator, make_case, make_expert, make_lead, make_standardized_sample
from tests.review.words import save, submit

pytestmark = pytest.mark.django_db


class Works:
    """What people work on, written into their accounts."""

    def __setitem__(self, person: User, work: Work) -> None:
        person.work_languages, person.work_tasks = sorted(work.languages), sorted(work.tasks)
        person.save()


@pytest.fixture
def work() -> Works:
    return Works()


def only(languages: str = "", tasks: str = "") -> Work:
    return Work(frozenset(languages.split()), frozenset(tasks.split()))


def chinese_case() -> ReviewCase:
    return make_case(make_standardized_sample(state="in_review", language="Chinese"))


def idle(review: AnswerReview) -> None:
    long_ago = timezone.now() - timedelta(minutes=BenchmarkSettings.load().claim_idle_minutes + 1)
    AnswerReview.objects.filter(pk=review.pk).update(saved_at=long_ago)


def people_of(case: ReviewCase) -> set[int]:
    return set(case.sample.participations.values_list("person", flat=True))


def leave_only(*people: User) -> None:
    User.objects.exclude(pk__in=[person.pk for person in people]).exclude(role="lead").update(is_active=False)


# Language, task, load ----------------------------------------------------------------------------------------------


def test_a_case_is_offered_to_those_who_work_on_its_language_and_task(work: Works) -> None:
    english, chinese = make_case(), chinese_case()
    reader, sorter, anyone = make_annotator(), make_annotator(), make_annotator()
    work[reader], work[sorter] = only("Chinese"), only(tasks="T2.1 T2.2")
    assert list(cases_offered_to(reader)) == [chinese]
    assert list(cases_offered_to(sorter)) == []
    assert list(cases_offered_to(anyone)) == [english, chinese]
    assert actions.next_review(by=sorter) is None
    taken = actions.next_review(by=reader)
    assert taken is not None
    assert taken.case == chinese
    for person, case in ((reader, english), (sorter, chinese)):
        with pytest.raises(NotAllowed) as told:
            actions.take_seat(case=case, by=person)
        assert told.value.rule == "not_your_work"
    assert english.reviews.count() == 0


def test_who_does_not_work_on_the_language_is_nobody_new(work: Works) -> None:
    """An earlier reviewer need not wait for people who could not judge the answer."""
    case, earlier, other = chinese_case(), make_annotator(), make_annotator()
    Participation.objects.create(sample=case.sample, person=earlier, job=Job.REVIEWS)
    leave_only(earlier, other)
    assert not actions.can_take_seat(earlier, case)
    work[other] = only("English")
    assert actions.can_take_seat(earlier, case)
    assert actions.take_seat(case=case, by=earlier).reviewed_before is True


def test_a_case_is_given_to_the_suited_with_the_least_on_their_desk(work: Works) -> None:
    case = chinese_case()
    busy, free, other_task, idle_one = (make_annotator() for _place in range(4))
    for _case in range(2):
        actions.take_seat(case=make_case(), by=busy)
    actions.take_seat(case=make_case(), by=free)
    work[other_task] = only(tasks="T9.1")
    leave_only(busy, free, other_task, idle_one)
    lead = make_lead()
    made = actions.assign_reviewers(case=case, by=lead)
    assert [review.reviewer for review in made] == [idle_one, free]
    assert [review.seat for review in made] == [1, 2]
    assigned = Event.objects.filter(action="review.assign_reviewer")
    assert [(event.by, event.data["load"]) for event in assigned] == [(lead, 0), (lead, 1)]
    with pytest.raises(Conflict) as told:
        actions.assign_reviewers(case=case, by=lead)
    assert told.value.rule == "seats_taken"
    assert case.reviews.count() == 2


def test_nobody_of_the_sample_and_nobody_fully_loaded_is_assigned() -> None:
    case, full, lead = make_case(), make_annotator(), make_lead()
    actions.take_seat(case=make_case(), by=full)
    leave_only(full, *User.objects.filter(pk__in=people_of(case)))
    BenchmarkSettings.load()
    BenchmarkSettings.objects.update(claims_per_person=1)
    assert seating.suited(case) == []
    with pytest.raises(RuleBroken) as told:
        actions.assign_reviewers(case=case, by=lead)
    assert told.value.rule == "nobody_left"
    assert case.reviews.count() == 0


def make_case_again(case: ReviewCase) -> ReviewCase:
    return ReviewCase.objects.select_related("sample__document", "sample__document_version").get(pk=case.pk)


def test_nobody_begins_more_reviews_than_one_may_hold() -> None:
    BenchmarkSettings.load()
    BenchmarkSettings.objects.update(claims_per_person=2)
    cases, person = [make_case() for _place in range(3)], make_annotator()
    for case in cases[:2]:
        actions.take_seat(case=case, by=person)
    for ask in (lambda: actions.take_seat(case=cases[2], by=person), lambda: actions.next_review(by=person)):
        with pytest.raises(RuleBroken) as told:
            ask()
        assert told.value.rule == "too_many_reviews"
    submit(cases[0], person)
    assert actions.take_seat(case=cases[2], by=person).seat == 1


def test_only_a_lead_assigns_frees_and_sends_again() -> None:
    case, person = make_case(), make_annotator()
    review = actions.take_seat(case=case, by=person)
    for other in (person, make_annotator(), make_expert()):
        for ask in (
            lambda other=other: actions.assign_reviewers(case=case, by=other),
            lambda other=other: actions.free_seat(review=review, reason="ill", by=other),
            lambda other=other: actions.send_predictions_again(case=case, by=other),
        ):
            with pytest.raises(NotAllowed):
                ask()


# Seats that go back ------------------------------------------------------------------------------------------------


def test_a_seat_that_nobody_works_at_lapses_when_somebody_wants_it_and_its_words_are_kept() -> None:
    """T-24, T-25: two are kept, the third is told kindly and keeps every word."""
    case = make_case()
    gone, second, third = make_annotator(), make_annotator(), make_annotator()
    left = save(actions.take_seat(case=case, by=gone), additions=["Petrel"])
    submit(case, second)
    assert not actions.can_take_seat(third, case)
    idle(left)
    assert actions.can_take_seat(third, case)
    taken = actions.take_seat(case=case, by=third)
    assert taken.seat == left.seat
    left.refresh_from_db()
    assert (left.state, left.additions) == (ReviewState.RELEASED, ["Petrel"])
    assert [event.data["how"] for event in history_of(left) if event.action == "review.release"] == ["lapsed"]

    left = save(left, additions=["Petrel", "Albatross"])
    with pytest.raises(Conflict, match="Two colleagues") as told:
        actions.submit_review(review=left, version=left.version, by=gone)
    assert told.value.rule == "seats_taken"
    left.refresh_from_db()
    assert (left.state, left.additions) == (ReviewState.RELEASED, ["Petrel", "Albatross"])
    assert case.reviews.exclude(state=ReviewState.RELEASED).count() == 2


def test_a_submitted_review_never_loses_its_seat() -> None:
    case = make_case()
    review = submit(case, make_annotator())
    idle(review)
    actions.take_seat(case=case, by=make_annotator())
    with pytest.raises(Conflict):
        actions.take_seat(case=case, by=make_annotator())
    with pytest.raises(Conflict):
        actions.free_seat(review=review, reason="ill", by=make_lead())
    review.refresh_from_db()
    assert review.state == ReviewState.SUBMITTED


def test_who_is_deactivated_leaves_the_seat_and_the_lead_reads_who() -> None:
    """T-31."""
    case, gone = make_case(), make_annotator("greta")
    review = actions.take_seat(case=case, by=gone)
    other = actions.take_seat(case=case, by=make_annotator())
    User.objects.filter(pk__in=[gone.pk, other.reviewer_id]).update(is_active=False)
    page = Client()
    page.force_login(make_lead())
    assert "Idle or gone: greta" in page.get("/reviews/").text
    for _place in range(2):
        submit(case, make_annotator())
    case.refresh_from_db()
    assert case.state == CaseState.ACCEPTED
    review.refresh_from_db()
    assert review.state == ReviewState.RELEASED


def test_a_dispute_is_decided_though_both_reviewers_are_gone() -> None:
    """T-31."""
    case = make_case()
    for _place in range(2):
        submit(case, make_annotator(), additions=["Petrel"])
    User.objects.filter(answer_reviews__case=case).update(is_active=False)
    expert = make_expert()
    actions.take_case(case=case, by=expert)
    assert actions.adjudicate_case(case=case, outcome="no_issue", by=expert).outcome == "no_issue"


def test_a_review_is_given_back_and_taken_up_again_with_its_words() -> None:
    case, person = make_case(), make_annotator()
    review = save(actions.take_seat(case=case, by=person), additions=["Petrel"])
    actions.give_back_seat(review=review, by=person)
    assert list(cases_offered_to(person)) == [case]
    again = actions.take_seat(case=case, by=person)
    assert (again.pk, again.state, again.additions) == (review.pk, ReviewState.DRAFT, ["Petrel"])
    assert case.reviews.count() == 1
    with pytest.raises(NotAllowed):
        actions.give_back_seat(review=again, by=make_annotator())


def test_a_given_back_review_that_is_submitted_takes_a_free_seat_again() -> None:
    case, person = make_case(), make_annotator()
    review = save(actions.take_seat(case=case, by=person))
    actions.give_back_seat(review=review, by=person)
    review = save(review)
    assert actions.submit_review(review=review, version=review.version, by=person).state == ReviewState.SUBMITTED


def test_a_given_back_review_is_not_written_on_after_the_decision() -> None:
    case, person = make_case(), make_annotator()
    review = save(actions.take_seat(case=case, by=person))
    actions.give_back_seat(review=review, by=person)
    for _place in range(2):
        submit(case, make_annotator())
    with pytest.raises(Conflict):
        save(review, additions=["Petrel"])
    page = Client()
    page.force_login(person)
    answer = page.get(f"/cases/{case.pk}/review/")
    assert "given back before it was submitted" in answer.text
    assert "<fieldset" in answer.text
    assert "disabled" in answer.text


def test_a_lead_frees_a_seat_on_the_page_and_says_why() -> None:
    case, person, lead = make_case(), make_annotator(), make_lead()
    review = actions.take_seat(case=case, by=person)
    client = Client()
    client.force_login(lead)
    address = f"/cases/{case.pk}/free-seat/{review.pk}/"
    assert address in client.get(f"/cases/{case.pk}/adjudicate/").text
    assert client.post(address, {"reason": " "}).status_code == 422
    assert client.post(address, {"reason": "ill"}).status_code == 302
    review.refresh_from_db()
    assert review.state == ReviewState.RELEASED
    freed = history_of(review).get(action="review.release")
    assert (freed.by, freed.reason) == (lead, "ill")


@pytest.mark.parametrize(
    ("fresh", "earlier", "words"),
    [
        (2, 0, "Reviewers wanted: 2."),
        (1, 1, "New people left: 1, so earlier reviewers may serve again."),
        (0, 1, "Nobody is left who may"),
    ],
)
def test_a_lead_reads_whether_enough_people_are_left(fresh: int, earlier: int, words: str) -> None:
    case = make_case()
    free = [make_annotator() for _place in range(fresh)]
    served = [make_annotator() for _place in range(earlier)]
    for person in served:
        Participation.objects.create(sample=case.sample, person=person, job=Job.REVIEWS)
    leave_only(*free, *served)
    assert words in waiting_reason(make_case_again(case))


def test_a_program_that_comes_third_has_its_words_sent_back(client: Client) -> None:
    """T-25."""
    case, third = make_case(), make_annotator()
    for _place in range(2):
        actions.take_seat(case=case, by=make_annotator())
    client.force_login(third)
    body: dict[str, Any] = {"additions": ["Petrel"], "submit": True}
    answer = client.post(f"/api/v1/cases/{case.pk}/review/", body, content_type="application/json")
    assert answer.status_code == 409
    assert answer.json()["rule"] == "seats_taken"
    assert "Two colleagues" in answer.json()["detail"]
    assert answer.json()["sent"]["additions"] == ["Petrel"]


def test_a_program_whose_seat_lapsed_keeps_its_words(client: Client) -> None:
    case, late = make_case(), make_annotator()
    review = actions.take_seat(case=case, by=late)
    actions.give_back_seat(review=review, by=late)
    for _place in range(2):
        actions.take_seat(case=case, by=make_annotator())
    client.force_login(late)
    body: dict[str, Any] = {"additions": ["Petrel"], "submit": True}
    answer = client.post(f"/api/v1/cases/{case.pk}/review/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["rule"]) == (409, "seats_taken")
    review.refresh_from_db()
    assert review.additions == ["Petrel"]


def test_a_program_assigns_frees_and_gives_back(client: Client) -> None:
    case, lead = make_case(), make_lead()
    make_annotator(), make_annotator()
    client.force_login(lead)
    made = client.post(f"/api/v1/cases/{case.pk}/assign/").json()
    assert len(made) == 2
    freed = {"review": made[0]["id"], "reason": "ill"}
    answer = client.post(f"/api/v1/cases/{case.pk}/free_seat/", freed, content_type="application/json")
    assert answer.status_code == 200
    client.force_login(User.objects.get(pk=made[1]["reviewer"]))
    assert client.post(f"/api/v1/cases/{case.pk}/give_back/").json()["state"] == "released"
    assert not case.reviews.exclude(state=ReviewState.RELEASED).exists()
