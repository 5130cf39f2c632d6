import pytest

from annotation.models import Participation
from annotation.workflow import Job
from core.models import User
from core.refusals import Conflict, NotAllowed, RuleBroken
from review import actions
from review.queries import cases_offered_to
from review.workflow import CaseState
from tests.factories import make_annotator, make_case, make_expert, make_lead, make_review

pytestmark = pytest.mark.django_db


def test_two_people_review_a_case_and_the_third_is_told_kindly() -> None:
    case = make_case()
    first, second, third = make_annotator(), make_expert(), make_annotator()
    assert [actions.take_seat(case=case, by=person).seat for person in (first, second)] == [1, 2]
    with pytest.raises(Conflict, match="Two colleagues") as told:
        actions.take_seat(case=case, by=third)
    assert told.value.rule == "seats_taken"
    assert case.reviews.count() == 2
    assert not Participation.objects.filter(sample=case.sample, person=third).exists()


def test_taking_a_seat_twice_gives_the_same_review() -> None:
    case, person = make_case(), make_annotator()
    assert actions.take_seat(case=case, by=person) == actions.take_seat(case=case, by=person)
    assert case.reviews.count() == 1


def test_who_verified_or_audited_a_sample_does_not_review_it() -> None:
    case = make_case()
    for part in case.sample.participations.all():
        assert part.job in {Job.VERIFIES, Job.JUDGES}
        with pytest.raises(NotAllowed):
            actions.take_seat(case=case, by=part.person)
        assert not actions.can_take_seat(part.person, case)
    assert not case.reviews.exists()


def test_leads_do_not_review() -> None:
    case, lead = make_case(), make_lead()
    with pytest.raises(NotAllowed):
        actions.take_seat(case=case, by=lead)
    with pytest.raises(NotAllowed):
        actions.next_review(by=lead)
    assert not cases_offered_to(lead).exists()


@pytest.mark.parametrize("state", [state for state in CaseState if state != CaseState.OPEN])
def test_only_an_open_case_has_seats(state: str) -> None:
    case = make_case(state=state)
    with pytest.raises(Conflict):
        actions.take_seat(case=case, by=make_annotator())


def test_a_withdrawn_approval_keeps_the_seats_empty() -> None:
    case, person = make_case(), make_annotator()
    version = case.sample.document_version
    version.state = "withdrawn" if "withdrawn" in type(version).lifecycle.states.values else "rejected"
    version.save()
    assert not actions.can_take_seat(person, case)
    with pytest.raises(RuleBroken) as told:
        actions.take_seat(case=case, by=person)
    assert told.value.rule == "document_not_approved"


def test_an_earlier_reviewer_serves_again_only_when_nobody_new_is_left() -> None:
    case, earlier, fresh = make_case(), make_annotator(), make_annotator()
    Participation.objects.create(sample=case.sample, person=earlier, job=Job.REVIEWS)
    User.objects.exclude(pk__in=[earlier.pk, fresh.pk]).exclude(
        pk__in=case.sample.participations.values("person")
    ).update(is_active=False)

    assert not actions.can_take_seat(earlier, case)
    with pytest.raises(NotAllowed) as told:
        actions.take_seat(case=case, by=earlier)
    assert told.value.rule == "reviewed_before"

    assert actions.take_seat(case=case, by=fresh).reviewed_before is False
    assert actions.can_take_seat(earlier, case)
    assert actions.take_seat(case=case, by=earlier).reviewed_before is True


def test_the_next_review_is_the_oldest_case_that_is_not_ones_own_already() -> None:
    old, new = make_case(), make_case()
    person = make_annotator()
    first = actions.next_review(by=person)
    second = actions.next_review(by=person)
    assert first is not None
    assert second is not None
    assert [first.case, second.case] == [old, new]
    assert actions.next_review(by=person) is None


def test_the_second_reviewer_is_offered_the_same_case_after_the_first_has_submitted() -> None:
    case, second = make_case(), make_annotator()
    make_review(case, make_annotator(), submitted=True)
    review = actions.next_review(by=second)
    assert review is not None
    assert review.case == case
