"""Notifications: read from the trail, never telling what may not be known, at a cost that does not grow."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation
from rest_framework.test import APIClient

from annotation import actions as annotating
from annotation.workflow import SampleState
from core import history
from core.models import Event, User
from generation.workflow import CallState, Purpose
from leading import actions, notifying
from leading.models import NoticeMark
from review import actions as reviewing
from tests.factories import (
    make_annotator,
    make_call,
    make_case,
    make_claim,
    make_expert,
    make_lead,
    make_model,
    make_run,
    make_sample,
    make_submission,
    make_version,
)
from tests.review.words import clean_marks
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db


def told(person: User) -> list[tuple[str, str, str]]:
    """(who, what, about what), the newest first."""
    notices = notifying.notices_for(person)
    return [(one.by.username if one.by else "", str(one.what), one.subject) for one in notices]


def returned_to(annotator: User, expert: User, feedback: str = "Name the clause.") -> Any:
    sample = make_sample(state=SampleState.IN_AUDIT, annotator=annotator)
    make_submission(sample, by=annotator)
    make_claim(sample, expert, job="judges")
    annotating.reject_sample(sample=sample, feedback=feedback, by=expert)
    return sample


def test_an_annotator_hears_that_work_came_back_from_whom_and_why() -> None:
    annotator, expert = make_annotator(), make_expert()
    sample = returned_to(annotator, expert)
    assert told(annotator) == [(expert.username, "returned it with feedback", sample.label)]
    html = client_of(annotator).get(reverse("leading:notifications")).content.decode()
    assert "Name the clause." in html
    assert reverse("annotation:sample_verify", args=[sample.pk]) in html
    assert told(make_annotator()) == []
    assert told(expert) == []  # nobody hears of their own deeds


def test_who_is_handed_a_sample_hears_it_and_so_does_who_held_it() -> None:
    lead, one, other = make_lead(), make_annotator(), make_annotator()
    sample = make_sample()
    annotating.claim_sample(sample=sample, by=one)
    annotating.take_over_sample(sample=sample, holder=other, reason="on holiday", by=lead)
    assert told(other) == [(lead.username, "handed the sample to you", sample.label)]
    assert told(one) == [(lead.username, "ended your claim", sample.label)]


def test_a_reviewer_hears_of_the_decision_and_not_who_made_it_or_what_the_other_found() -> None:
    case, one, other = make_case(), make_annotator(), make_annotator()
    for person in (one, other):
        review = reviewing.take_seat(case=case, by=person)
        assert told(one) == []  # not that the other sat down
        review = reviewing.save_review(review=review, version=review.version, by=person, **clean_marks(case))
        reviewing.submit_review(review=review, version=review.version, by=person)
        if person is one:
            assert told(one) == told(other) == []
    expected = [("", "accepted a case: neither review found an issue", case.sample.label)]
    assert told(one) == told(other) == expected
    verifier = case.sample.annotator
    assert verifier is not None
    assert [what for _by, what, _subject in told(verifier)] == ["accepted the sample"]


def test_a_person_hears_of_changes_to_their_account() -> None:
    person, lead = make_annotator(), make_lead()
    actions.change_role(person=person, role="expert", by=lead)
    actions.change_work(person=person, languages=["Chinese"], by=lead)
    assert [what for _by, what, _subject in told(person)] == ["changed what you work on", "changed your role"]


def test_a_lead_hears_of_runs_that_failed_until_they_are_mended() -> None:
    lead = make_lead()
    run, good = (make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.1") for _each in range(2))
    call = make_call(run, make_model(), state=CallState.FAILED)
    make_call(good, make_model())
    for one in (run, good):
        history.record("finish", one, by=None)
    assert told(lead) == [("", "ended a run in which calls failed", f"R-{run.pk}")]
    assert reverse("generation:run_detail", args=[run.pk]) in client_of(lead).get("/notifications/").content.decode()
    assert told(make_annotator()) == told(make_expert()) == []
    type(call).objects.filter(pk=call.pk).update(state=CallState.SUCCEEDED)
    assert told(lead) == []


def test_a_lead_hears_who_came_by_an_invitation() -> None:
    lead = make_lead()
    invitation, _token = actions.invite(role="annotator", by=lead)
    mei = actions.accept_invitation(invitation=invitation, name="mei", password="a long pass phrase")
    assert told(lead) == [("mei", "came by an invitation", "mei")]
    assert told(mei) == []


def test_the_bell_counts_what_is_new_until_it_is_read_and_a_mark_never_goes_back() -> None:
    annotator, expert = make_annotator(), make_expert()
    returned_to(annotator, expert)
    client = client_of(annotator)
    count = reverse("leading:notification_count")
    assert ">1<" in client.get(count).content.decode()
    page = client.get(reverse("leading:notifications"))
    assert (page.context["new"], page.context["notices"][0].is_new) == (1, True)
    returned_to(annotator, expert)  # after the page was shown: it stays new
    client.post(reverse("leading:notifications_seen"), {"up_to": page.context["up_to"]})
    assert notifying.count_for(annotator) == 1
    client.post(reverse("leading:notifications_seen"), {"up_to": Event.objects.latest("pk").pk + 10_000})
    assert notifying.count_for(annotator) == 0
    assert client.get(count).content.decode().strip() == ""
    assert NoticeMark.objects.get(person=annotator).seen_up_to == Event.objects.latest("pk").pk
    for nonsense in ("0", "-1", "x", "9" * 40, ""):
        assert client.post(reverse("leading:notifications_seen"), {"up_to": nonsense}).status_code == 302
    assert notifying.count_for(annotator) == 0
    assert len(notifying.notices_for(annotator)) == 2


def test_the_bell_of_a_lost_log_in_stops_asking_and_leads_nobody_away() -> None:
    answer = Client().get(reverse("leading:notification_count"), headers={"HX-Request": "true"})
    assert (answer.status_code, answer.content) == (286, b"")
    assert "HX-Redirect" not in answer.headers


def test_every_page_of_a_signed_in_person_has_the_bell_and_asks_no_query_for_it() -> None:
    html = client_of(make_annotator()).get("/guidelines/").content.decode()
    assert f'hx-get="{reverse("leading:notification_count")}"' in html
    assert "notification" not in Client().get("/account/login/").content.decode().lower()


@pytest.mark.parametrize("role", ["annotator", "expert", "lead"])
def test_notifications_take_a_constant_number_of_queries(role: str, django_assert_max_num_queries: Any) -> None:
    person = {"annotator": make_annotator, "expert": make_expert, "lead": make_lead}[role]()
    client = client_of(person)

    def more() -> None:
        returned_to(make_annotator() if role == "lead" else person, make_expert())
        run = make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.1")
        make_call(run, make_model(), state=CallState.FAILED)
        history.record("finish", run, by=None)

    def count(path: str, most: int) -> int:
        with django_assert_max_num_queries(most) as asked:
            assert client.get(path).status_code == 200
        return len(asked)

    more()
    paths = {reverse("leading:notifications"): 14, reverse("leading:notification_count"): 4}
    few = {path: count(path, most) for path, most in paths.items()}
    for _round in range(4):
        more()
    assert {path: count(path, most) for path, most in paths.items()} == few


def test_the_api_tells_the_same_and_marks_it_read() -> None:
    annotator, expert = make_annotator(), make_expert()
    sample = returned_to(annotator, expert)
    program = APIClient()
    program.force_authenticate(annotator)
    answer = program.get("/api/v1/notifications/").json()
    assert answer["new"] == 1
    notice = answer["notices"][0]
    assert (notice["subject"], notice["by"], notice["reason"]) == (sample.label, expert.username, "Name the clause.")
    marked = program.post("/api/v1/notifications/seen/", {"up_to": notice["number"]}, format="json")
    assert marked.json() == {"seen_up_to": notice["number"]}
    assert program.get("/api/v1/notifications/").json()["new"] == 0
    assert program.post("/api/v1/notifications/seen/", {"up_to": -1}, format="json").status_code == 400


def test_every_notification_is_said_in_chinese_too() -> None:
    with translation.override("zh-hans"):
        words = [str(one) for one in [*notifying.SAID_TO_YOU.values(), *notifying.TO_A_LEAD.values()]]
        assert [one for one in words if one.isascii()] == []
        annotator = make_annotator()
        returned_to(annotator, make_expert())
        assert told(annotator)[0][1] == "附反馈退回"
