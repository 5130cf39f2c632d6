from typing import Any

import pytest
from django.test import Client

from annotation.workflow import SampleState
from core.models import Event, User
from review import actions
from review.models import ReviewCase
from review.workflow import CaseState
from tests.factories import make_annotator, make_case, make_expert, make_lead, make_standardized_sample
from tests.review.words import ISSUE, clean_marks, submit

pytestmark = pytest.mark.django_db


def post(person: User, path: str, body: dict[str, Any]) -> Any:
    client = Client()
    client.force_login(person)
    return client.post(f"/api/v1/{path}", body, content_type="application/json")


def get(person: User, path: str) -> Any:
    client = Client()
    client.force_login(person)
    return client.get(f"/api/v1/{path}")


def disputed() -> ReviewCase:
    case = make_case()
    submit(case, make_annotator(), **ISSUE)
    submit(case, make_annotator())
    case.refresh_from_db()
    return case


def test_a_program_reviews_in_one_post_and_reads_its_review_again() -> None:
    case, person = make_case(), make_annotator()
    detail = get(person, f"cases/{case.pk}/").json()
    assert detail["answer"] == case.standardization.answer
    assert [row["element"] for row in detail["predicted_elements"]] == ["Gull"]
    answer = post(person, f"cases/{case.pk}/review/", {**clean_marks(case), "submit": True})
    assert answer.status_code == 200
    assert answer.json()["state"] == "submitted"
    assert get(person, f"cases/{case.pk}/review/").json() == answer.json()
    assert [row["id"] for row in get(person, "reviews/").json()["results"]] == [answer.json()["id"]]


def test_of_three_programs_that_submit_two_are_kept_and_the_third_is_told() -> None:
    case = make_case()
    people = [make_annotator() for _place in range(3)]
    first = actions.take_seat(case=case, by=people[0])
    body = {**clean_marks(case), "submit": True}
    answers = [post(person, f"cases/{case.pk}/review/", body) for person in people[1:]]
    answers.append(post(people[0], f"cases/{case.pk}/review/", {**body, "version": first.version}))
    assert [answer.status_code for answer in answers] == [200, 409, 200]
    assert answers[1].json()["rule"] == "seats_taken"
    case.refresh_from_db()
    assert case.state == CaseState.ACCEPTED


def test_a_review_that_cannot_be_kept_takes_no_seat() -> None:
    case = make_case()
    body = {"recall": [{"element": "never predicted", "mark": "missing"}]}
    answer = post(make_annotator(), f"cases/{case.pk}/review/", body)
    assert answer.status_code == 400
    assert "recall" in answer.json()["errors"]
    assert not case.reviews.exists()


def test_an_unfinished_review_is_refused_with_what_is_open() -> None:
    case = make_case()
    answer = post(make_annotator(), f"cases/{case.pk}/review/", {"submit": True})
    assert answer.status_code == 422
    assert answer.json()["rule"] == "review_incomplete"
    assert "prediction 1" in answer.json()["open"]


def test_the_judging_expert_reads_both_reviews_only_after_taking_the_case() -> None:
    case, expert = disputed(), make_expert()
    assert get(expert, "reviews/").json()["count"] == 0
    assert post(expert, f"cases/{case.pk}/take/", {}).status_code == 200
    assert get(expert, f"reviews/?case={case.pk}").json()["count"] == 2
    body = {"outcome": "reconstruct", "step": "answer", "reason": "Heron is missing."}
    assert post(expert, f"cases/{case.pk}/adjudicate/", body).json()["state"] == "adjudicated"
    case.sample.refresh_from_db()
    assert case.sample.state == SampleState.RETURNED


def test_an_annotator_cannot_adjudicate_by_calling_the_endpoint() -> None:
    case = disputed()
    assert post(make_annotator(), f"cases/{case.pk}/adjudicate/", {"outcome": "no_issue"}).status_code == 404
    reviewer = case.reviews.all()[0].reviewer
    assert post(reviewer, f"cases/{case.pk}/adjudicate/", {"outcome": "no_issue"}).status_code == 403
    case.refresh_from_db()
    assert case.state == CaseState.DISPUTED


def test_a_leads_look_at_one_undecided_review_is_written_down() -> None:
    lead, review = make_lead(), actions.take_seat(case=make_case(), by=make_annotator())
    assert get(lead, "reviews/").json()["count"] == 0
    assert get(lead, f"reviews/{review.pk}/").status_code == 200
    assert Event.objects.get(action="review.look_at_reviews").by == lead


def test_cases_are_filtered_by_language_bucket_task_and_state() -> None:
    lead, case = make_lead(), make_case()
    chinese = make_case(make_standardized_sample(state=SampleState.IN_REVIEW, language="Chinese"))
    for query, found in (
        ("language=Chinese", [chinese.pk]),
        ("bucket=8k&state=open", [case.pk, chinese.pk]),
        ("secondary_task=T1.2", [case.pk, chinese.pk]),
        ("secondary_task=T4.1", []),
    ):
        assert [row["id"] for row in get(lead, f"cases/?{query}").json()["results"]] == found


def test_an_audit_is_drawn_and_scored_by_programs() -> None:
    make_case(make_standardized_sample(state=SampleState.ACCEPTED), state="accepted")
    lead, expert = make_lead(), make_expert()
    assert post(expert, "audits/", {"size": 1, "seed": 3}).status_code == 403
    assert post(lead, "audits/", {"size": 1, "seed": 3}).status_code == 201
    (row,) = get(expert, "audits/").json()["results"]
    names = ("task_alignment", "context_requirement", "authenticity", "answer_correctness")
    body = {
        "scores": {name: {"score": 0.5, "why": "as it says"} for name in names},
        "attributes": dict.fromkeys(actions.ATTRIBUTES, True),
    }
    assert post(expert, f"audits/{row['id']}/score/", {**body, "scores": {}}).status_code == 400
    assert post(expert, f"audits/{row['id']}/score/", body).status_code == 201
    assert [score["scorer"] for score in get(expert, f"audits/{row['id']}/").json()["scores"]] == [expert.pk]
    assert get(make_annotator(), "audits/").json()["count"] == 0
