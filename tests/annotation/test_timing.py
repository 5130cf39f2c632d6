"""Active time: what a page tells is counted once, and never more than the time that has passed."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from annotation import actions, timing
from annotation.models import ActiveTime, Sample, WorkClock
from annotation.workflow import Job
from core.models import Event, User
from core.refusals import Invalid, NotAllowed
from tests.annotation.scenes import claimed_sample, sample_in_audit
from tests.factories import make_annotator, make_case, make_expert, make_lead

pytestmark = pytest.mark.django_db


def program(person: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(person)
    return client


def last_beat(person: User, *, seconds_ago: float) -> None:
    WorkClock.objects.update_or_create(
        person=person, defaults={"told_at": timezone.now() - timedelta(seconds=seconds_ago)}
    )


def tell(sample: Sample, person: User, beat: str, **seconds: float) -> float:
    return round(actions.tell_time(sample=sample, beat=beat, seconds=seconds, by=person))


def spent(sample: Sample, person: User) -> dict[str, int]:
    rows = ActiveTime.objects.filter(sample=sample, person=person)
    return {row.step: round(row.seconds) for row in rows}


def test_beats_add_up_in_one_row_per_sample_person_and_step() -> None:
    sample, annotator = claimed_sample()
    last_beat(annotator, seconds_ago=100)
    assert tell(sample, annotator, "1", read=20, task_a=10) == 30
    last_beat(annotator, seconds_ago=100)
    assert tell(sample, annotator, "2", task_a=25) == 25
    assert spent(sample, annotator) == {"read": 20, "task_a": 35}
    assert ActiveTime.objects.count() == 2
    assert not Event.objects.filter(action__contains="time").exists()


def test_the_same_beat_counts_once() -> None:
    sample, annotator = claimed_sample()
    last_beat(annotator, seconds_ago=100)
    assert tell(sample, annotator, "1", read=20) == 20
    WorkClock.objects.update(told_at=timezone.now() - timedelta(seconds=100))
    assert tell(sample, annotator, "1", read=20) == 0
    assert spent(sample, annotator) == {"read": 20}


def test_two_windows_of_one_person_count_no_more_than_the_wall_clock() -> None:
    sample, annotator = claimed_sample()
    other, _annotator = claimed_sample(annotator)
    last_beat(annotator, seconds_ago=30)
    assert tell(sample, annotator, "a", read=30) == 30
    assert tell(other, annotator, "b", read=30) == 0
    last_beat(annotator, seconds_ago=10)
    assert tell(other, annotator, "c", read=15, task_a=15) == 10
    assert spent(other, annotator) == {"read": 5, "task_a": 5}


def test_nobody_tells_more_than_has_passed_nor_a_whole_night() -> None:
    sample, annotator = claimed_sample()
    assert tell(sample, annotator, "1", read=5000) == 60
    last_beat(annotator, seconds_ago=12)
    assert tell(sample, annotator, "2", read=5000) == 12
    last_beat(annotator, seconds_ago=50_000)
    assert tell(sample, annotator, "3", read=50_000) == 15 * 60
    last_beat(annotator, seconds_ago=-40)  # a clock that was set back
    assert tell(sample, annotator, "4", read=30) == 0


def test_time_is_counted_for_steps_of_ones_own_work_only() -> None:
    sample, annotator, expert = sample_in_audit()
    with pytest.raises(NotAllowed):
        tell(sample, make_annotator(), "1", read=5)
    for person, step in ((annotator, "audit"), (annotator, "review"), (expert, "task_a"), (annotator, "sleep")):
        with pytest.raises(Invalid):
            tell(sample, person, "2", **{step: 5})
    assert tell(sample, expert, "3", audit=5) == 5
    assert tell(sample, annotator, "4", standardize=5) == 5


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"beat": "1"},
        {"beat": "", "seconds": {"read": 1}},
        {"beat": "x" * 65, "seconds": {"read": 1}},
        {"beat": "1", "seconds": {"read": -1}},
        {"beat": "1", "seconds": {"read": "nan"}},
        {"beat": "1", "seconds": {"read": "inf"}},
        {"beat": "1", "seconds": [1]},
    ],
)
def test_a_bad_beat_is_refused_and_counts_nothing(body: dict[str, Any]) -> None:
    sample, annotator = claimed_sample()
    answer = program(annotator).post(f"/api/v1/samples/{sample.pk}/time/", body, format="json")
    assert answer.status_code == 400
    assert not ActiveTime.objects.exists()


def test_people_see_their_own_time_leads_everybodys_and_nobody_else_anothers() -> None:
    sample, annotator, expert = sample_in_audit()
    tell(sample, annotator, "1", task_a=40)
    tell(sample, expert, "2", audit=20)
    shown = {
        person.username: program(person).get(f"/api/v1/samples/{sample.pk}/time/").json()
        for person in (annotator, expert, make_annotator("outsider"), make_lead("chief"))
    }
    assert [(row["step"], row["seconds"]) for row in shown[annotator.username]] == [("task_a", 40.0)]
    assert [(row["step"], row["seconds"]) for row in shown[expert.username]] == [("audit", 20.0)]
    assert shown["outsider"] == []
    assert {(row["person"], row["step"]) for row in shown["chief"]} == {
        (annotator.username, "task_a"),
        (expert.username, "audit"),
    }


def test_the_time_of_a_review_is_never_told_to_another_reviewer_nor_at_the_audit() -> None:
    case = make_case()
    a, b = make_annotator(), make_annotator()
    for person in (a, b):
        actions.join_sample(sample=case.sample, person=person, job=Job.REVIEWS)
    tell(case.sample, b, "1", review=45)
    assert timing.visible_to(a, case.sample) == []
    for user in (a, make_expert(), make_lead(), case.sample.annotator):
        assert user is not None
        assert timing.shown_at_audit(user, case.sample) == []


def test_figures_get_one_row_per_sample_step_bucket_and_person_in_one_query(django_assert_num_queries: Any) -> None:
    for _i in range(3):
        sample, annotator = claimed_sample()
        tell(sample, annotator, "1", read=10, task_b=20)
    with django_assert_num_queries(1):
        rows = timing.time_rows()
    assert len(rows) == 6
    assert {(row.step, row.bucket, row.language, row.task_code) for row in rows} == {
        ("read", "8k", "English", "T1.2"),
        ("task_b", "8k", "English", "T1.2"),
    }
