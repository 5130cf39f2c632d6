from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from core.models import Event
from review import actions
from review.models import AnswerReview, ReviewCase
from review.workflow import CaseState, ReviewState
from tests.factories import make_annotator, make_case, make_expert, make_lead, make_standardized_sample
from tests.review.words import ISSUE, submit
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db


def whole_form(version: int = 1, /, **changes: Any) -> dict[str, Any]:
    """The form of `make_case`, every row judged: three elements, one prediction."""
    return {
        "version": version,
        "mark-1": "correct",
        "mark-2": "correct",
        "mark-3": "correct",
        "predicted": ["Gull"],
        "recall-1": "unreasonable",
        "addition": [""],
        "do": "submit",
        **changes,
    }


def test_a_reviewer_begins_saves_and_submits_with_plain_forms() -> None:
    case, person = make_case(), make_annotator()
    client = client_of(person)
    assert case.sample.label in client.get(reverse("review:review_list")).text
    page = reverse("review:case_review", args=[case.pk])
    assert "Begin the review" in client.get(page).text
    assert client.post(reverse("review:case_begin", args=[case.pk])).headers["Location"] == page
    assert client.post(page, {"version": 1, "mark-1": "unsure", "do": "save"}).headers["Location"] == page
    assert AnswerReview.objects.get().marks[0]["mark"] == "unsure"
    assert client.post(page, whole_form(2)).headers["Location"] == reverse("review:review_list")
    review = AnswerReview.objects.get()
    assert review.state == ReviewState.SUBMITTED
    assert review.found_issue is False
    assert "Submitted and frozen" in client.get(page).text


def test_an_unfinished_review_is_not_submitted_and_keeps_what_was_typed() -> None:
    case, person = make_case(), make_annotator()
    actions.take_seat(case=case, by=person)
    client = client_of(person)
    page = reverse("review:case_review", args=[case.pk])
    answer = client.post(page, whole_form(1, **{"mark-2": "", "addition": ["Petrel"]}))
    assert answer.status_code == 422
    assert "Not judged yet: element 2." in answer.text
    assert 'value="Petrel"' in answer.text


def test_an_issue_without_a_note_is_told_at_its_field() -> None:
    case, person = make_case(), make_annotator()
    actions.take_seat(case=case, by=person)
    answer = client_of(person).post(reverse("review:case_review", args=[case.pk]), whole_form(issue=["answer"]))
    assert answer.status_code == 400
    assert 'name="issue-answer"' in answer.text
    assert 'aria-describedby="issue_errors"' in answer.text


def test_a_stale_form_shows_both_texts() -> None:
    case, person = make_case(), make_annotator()
    actions.take_seat(case=case, by=person)
    client = client_of(person)
    page = reverse("review:case_review", args=[case.pk])
    client.post(page, whole_form(1, do="save", addition=["Albatross"]))
    answer = client.post(page, whole_form(1, do="save", addition=["Petrel"]))
    assert answer.status_code == 409
    assert "Albatross" in answer.text
    assert 'value="Petrel"' in answer.text
    assert client.post(page, whole_form(2, do="save", addition=["Petrel"])).status_code == 302


def test_autosave_answers_the_new_version_and_refuses_a_stale_one_with_both_texts() -> None:
    case, person = make_case(), make_annotator()
    actions.take_seat(case=case, by=person)
    client = client_of(person)
    url = reverse("review:case_save", args=[case.pk])
    assert client.post(url, whole_form(1)).json() == {"version": 2}
    assert client.post(url, whole_form(1)).json() == {"version": 2}, "the same text twice is no conflict"
    problem = client.post(url, whole_form(1, **{"mark-1": "unsure"}))
    assert problem.status_code == 409
    assert problem.json()["current"]["marks"][0]["mark"] == "correct"
    assert problem.json()["sent"]["marks"][0]["mark"] == "unsure"
    assert client_of(make_annotator()).post(url, whole_form(2)).status_code == 404


def test_the_same_review_sent_twice_is_submitted_once_and_answered_alike() -> None:
    case, person = make_case(), make_annotator()
    actions.take_seat(case=case, by=person)
    client = client_of(person)
    page = reverse("review:case_review", args=[case.pk])
    answers = [client.post(page, whole_form(1)) for _click in range(2)]
    assert [answer.headers["Location"] for answer in answers] == [reverse("review:review_list")] * 2
    assert Event.objects.filter(action="review.submit").count() == 1
    assert client.post(page, whole_form(1, addition=["Petrel"])).status_code == 409


def test_the_third_to_begin_is_told_kindly() -> None:
    case = make_case()
    for _place in range(2):
        actions.take_seat(case=case, by=make_annotator())
    answer = client_of(make_annotator()).post(reverse("review:case_begin", args=[case.pk]))
    assert answer.status_code == 409
    assert "Two colleagues" in answer.text


def test_untrusted_text_is_never_markup() -> None:
    evil = "<script>alert(1)</script>"
    case = make_case(answers=[([evil], False)])
    person = make_annotator()
    actions.take_seat(case=case, by=person)
    page = client_of(person).get(reverse("review:case_review", args=[case.pk])).text
    assert evil not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_elements_link_to_their_places_in_code_points() -> None:
    case, person = make_case(), make_annotator()
    actions.take_seat(case=case, by=person)
    page = client_of(person).get(reverse("review:case_review", args=[case.pk])).text
    text = case.sample.document_version.body.text
    start = text.index("Marigold")
    assert f'data-mark="evidence" data-start="{start}" data-end="{start + 8}"' in page


def test_a_summary_shows_references_and_model_summaries_side_by_side() -> None:
    sample = make_standardized_sample(task_code="T4.1", state="in_review")
    case = make_case(sample, answers=[(["A short one."], False), (["Another."], False)])
    person = make_annotator()
    actions.take_seat(case=case, by=person)
    page = client_of(person).get(reverse("review:case_review", args=[case.pk])).text
    assert page.count('class="summary"') == len(case.standardization.answer) + 2


def disputed() -> ReviewCase:
    case = make_case()
    submit(case, make_annotator(), **ISSUE)
    submit(case, make_annotator())
    case.refresh_from_db()
    return case


def test_the_expert_takes_the_case_sees_both_reviews_and_decides() -> None:
    case, expert = disputed(), make_expert()
    client = client_of(expert)
    page = reverse("review:case_adjudicate", args=[case.pk])
    assert case.sample.label in client.get(reverse("review:review_list")).text
    assert "It may be read in two ways." not in client.get(page).text
    assert client.post(reverse("review:case_take", args=[case.pk])).headers["Location"] == page
    shown = client.get(page).text
    assert "It may be read in two ways." in shown
    names = [review.reviewer.name for review in case.reviews.all()]
    assert not any(name in shown for name in names), "whose review is whose is told when the case is decided"
    assert "Review A" in shown

    refused = client.post(page, {"decision": "question", "reason": " "})
    assert refused.status_code == 400
    assert 'aria-describedby="reason_errors"' in refused.text
    assert client.post(page, {"decision": "question", "reason": "Say which fee."}).status_code == 302
    case.refresh_from_db()
    assert case.state == CaseState.ADJUDICATED
    decided = client.get(page).text
    assert "Say which fee." in decided
    assert all(name in decided for name in names)


def test_reviewers_see_their_own_review_after_the_decision_and_not_the_other() -> None:
    case = disputed()
    clean = case.reviews.get(found_issue=False).reviewer
    client = client_of(clean)
    answer = client.get(reverse("review:case_adjudicate", args=[case.pk]), follow=True)
    assert answer.redirect_chain[-1][0] == reverse("review:case_review", args=[case.pk])
    assert "It may be read in two ways." not in answer.text


def test_a_leads_look_at_an_undecided_case_is_written_down() -> None:
    case, lead = make_case(), make_lead()
    submit(case, make_annotator(), **ISSUE)
    page = client_of(lead).get(reverse("review:case_review", args=[case.pk]), follow=True).text
    assert "It may be read in two ways." in page
    assert Event.objects.get(action="review.look_at_reviews").by == lead

    decided = disputed()
    client_of(lead).get(reverse("review:case_adjudicate", args=[decided.pk]))
    assert Event.objects.filter(action="review.look_at_reviews").count() == 1


def test_a_lead_sees_why_a_case_waits() -> None:
    case = make_case(state=CaseState.AWAITING_PREDICTIONS)
    assert case.prediction_run is not None
    for use in case.prediction_run.run_calls.all():
        type(use.call).objects.filter(pk=use.call_id).update(state="failed")
    page = client_of(make_lead()).get(reverse("review:review_list")).text
    assert "No answer came from" in page


def test_lists_take_a_constant_number_of_queries(django_assert_max_num_queries: Any) -> None:
    person, lead = make_annotator(), make_lead()
    for _place in range(12):
        make_case()
    for who in (person, lead):
        client = client_of(who)
        with django_assert_max_num_queries(22):
            client.get(reverse("review:review_list"))


def test_a_seed_that_is_too_large_is_said_at_the_seed() -> None:
    client = Client()
    client.force_login(make_lead())
    answer = client.post("/quality/", {"size": "3", "seed": str(2**70)})
    assert answer.status_code == 400
    assert list(answer.context["form"].errors) == ["seed"]
    assert str(2**70) in answer.content.decode()
