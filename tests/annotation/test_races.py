"""Many people at once. Only PostgreSQL proves anything here: SQLite passes by letting one transaction in at a time."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection, connections
from rest_framework.test import APIClient

from annotation import actions, drafting
from annotation.models import ActiveTime, Claim, DraftingBatch, DraftingLine, Sample
from annotation.queries import samples
from annotation.workflow import DraftingOutcome
from core.models import User
from core.refusals import Conflict, RuleBroken
from generation.models import Call, Run
from generation.panels import ensure_panel
from tests.annotation.scenes import submitted_sample
from tests.factories import make_annotator, make_expert, make_lead, make_sample, make_version

PEOPLE = 20
ON_POSTGRESQL = connection.vendor == "postgresql"
pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not ON_POSTGRESQL, reason="a race on SQLite proves nothing: set DATABASE_URL to PostgreSQL"),
]


def started_by(batch: int, _person: User) -> int:
    return drafting.start_waiting(batch)


def at_once(people: list[User], act: Callable[[User], Any]) -> tuple[list[Any], list[Exception]]:
    """Every person acts in a thread of their own, all released at the same moment."""
    gate, done, refused = threading.Barrier(len(people)), [], []

    def run(person: User) -> None:
        try:
            gate.wait()
            done.append(act(person))
        except Exception as error:
            refused.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done, refused


def test_twenty_people_claim_one_sample_and_one_gets_it() -> None:
    sample, people = make_sample(), [make_annotator() for _i in range(PEOPLE)]
    done, refused = at_once(
        people, lambda person: actions.claim_sample(sample=Sample.objects.get(pk=sample.pk), by=person)
    )
    assert (len(done), len(refused)) == (1, PEOPLE - 1)
    assert all(isinstance(error, Conflict) and error.rule == "claimed_by_another" for error in refused)
    assert Claim.objects.filter(ended_at=None).count() == 1
    assert sample.participations.count() == 1


def test_twenty_people_ask_for_the_next_of_ten_samples_and_each_sample_goes_to_one() -> None:
    for _i in range(10):
        make_sample()
    people = [make_annotator() for _i in range(PEOPLE)]
    done, refused = at_once(people, lambda person: actions.claim_next(by=person))
    given = [sample for sample in done if sample is not None]
    assert refused == []
    assert (len(given), len(set(given))) == (10, 10)


def test_one_person_in_twenty_windows_keeps_to_the_limit_of_claims() -> None:
    person = make_annotator()
    samples = [make_sample() for _i in range(PEOPLE)]
    waiting = iter(samples)
    lock = threading.Lock()

    def claim(_person: User) -> object:
        with lock:
            sample = next(waiting)
        return actions.claim_sample(sample=sample, by=person)

    done, refused = at_once([person] * PEOPLE, claim)
    assert (len(done), len(refused)) == (10, 10)
    assert all(isinstance(error, RuleBroken) and error.rule == "too_many_claims" for error in refused)


def test_twenty_experts_claim_one_audit_and_one_gets_it() -> None:
    sample, _annotator = submitted_sample()
    experts = [make_expert() for _i in range(PEOPLE)]
    act = lambda person: actions.claim_for_judging(sample=Sample.objects.get(pk=sample.pk), by=person)  # noqa: E731
    done, refused = at_once(experts, act)
    assert (len(done), len(refused)) == (1, PEOPLE - 1)


def test_many_samples_sent_to_drafting_at_once_and_worked_off_at_once_are_each_started_once() -> None:
    ensure_panel("demo")
    lead = make_lead()
    document = make_version().document
    for code in ("T1.1", "T1.2", "T2.1", "T2.2"):
        actions.create_sample(document=document, task_code=code, by=lead)
    done, refused = at_once([lead] * 8, lambda person: actions.draft_samples(samples=samples(), by=person))
    assert {type(error) for error in refused} <= {RuleBroken}
    assert done
    assert DraftingLine.objects.count() == 4
    batches = list(DraftingLine.objects.values_list("batch", flat=True).distinct())
    for batch in batches:
        _started, broken = at_once([lead] * 4, partial(started_by, batch))
        assert broken == []
    assert (Run.objects.count(), Call.objects.count()) == (4, 20)
    assert set(DraftingLine.objects.values_list("outcome", flat=True)) == {DraftingOutcome.STARTED}
    assert DraftingBatch.objects.filter(finished_at=None).count() == 0


def asked_by(address: str, person: User) -> Any:
    client = APIClient()
    client.force_authenticate(person)
    return client.post(f"/api/v1/{address}/")


def test_ten_people_who_ask_for_the_next_of_ten_samples_at_once_get_ten_different_ones() -> None:
    """T-23, through the API."""
    for _i in range(10):
        make_sample(candidates=1)
    answers, broken = at_once([make_annotator() for _i in range(10)], partial(asked_by, "samples/next"))
    assert broken == []
    assert [answer.status_code for answer in answers] == [200] * 10
    assert len({answer.json()["id"] for answer in answers}) == 10


def test_many_clients_claim_through_the_api_and_who_comes_late_hears_409() -> None:
    samples = [make_sample(candidates=1) for _i in range(3)]
    people = [make_annotator() for _i in range(15)]
    for sample in samples:
        answers, broken = at_once(people, partial(asked_by, f"samples/{sample.pk}/claim"))
        assert broken == []
        assert sorted(answer.status_code for answer in answers) == [200] + [409] * 14
        refused = [answer.json() for answer in answers if answer.status_code == 409]
        assert {one["rule"] for one in refused} == {"claimed_by_another"}
        holder = Claim.objects.get(sample=sample, ended_at=None).holder.username
        said = {name for name in (person.username for person in people) for one in refused if f"{name} " in str(one)}
        assert said == {holder}
    assert Claim.objects.filter(ended_at=None).count() == 3


def test_the_same_beat_told_by_ten_windows_at_once_counts_once() -> None:
    person, sample = make_annotator(), make_sample(candidates=1)
    actions.claim_sample(sample=sample, by=person)
    told = lambda by: actions.tell_time(sample=sample, beat="one", seconds={"read": 30.0}, by=by)  # noqa: E731
    done, broken = at_once([person] * 10, told)
    assert broken == []
    assert sorted(done) == [0.0] * 9 + [30.0]
    assert ActiveTime.objects.get().seconds == 30.0
