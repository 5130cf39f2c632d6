"""The pages, as plain forms and as fragments, in both languages."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation import actions
from annotation.models import Candidate, Sample
from annotation.workflow import CandidateState, Job, SampleState
from benchmark.taxonomy import Language
from tests.annotation.scenes import (
    approved_sample,
    bring,
    candidate_at,
    challenged,
    claimed_sample,
    passed_sample,
    sample_in_audit,
)
from tests.factories import make_annotator, make_expert, make_lead, make_sample, make_version
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db
C = CandidateState
HTMX: dict[str, Any] = {"headers": {"HX-Request": "true", "HX-Target": "pane"}}


def page(client: Client, name: str, pk: int, query: str = "", **more: Any) -> str:
    response = client.get(reverse(f"annotation:{name}", args=[pk]) + query, **more)
    assert response.status_code == 200
    return response.content.decode()


def post(client: Client, name: str, pk: int, data: dict[str, Any] | None = None, **more: Any) -> Any:
    return client.post(reverse(f"annotation:{name}", args=[pk]), data or {}, **more)


# The list --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make_person", [make_annotator, make_expert, make_lead])
def test_everybody_sees_the_list_in_both_languages(make_person: Any) -> None:
    make_sample(), make_sample(language=Language.CHINESE)
    person = make_person()
    for language, word in [("en", "Secondary task"), ("zh-hans", "二级任务")]:
        shown = client_of(person, language).get("/samples/")
        assert word in shown.content.decode()


def test_the_list_asks_the_database_as_often_for_many_samples_as_for_few(django_assert_max_num_queries: Any) -> None:
    client = client_of(make_lead())
    make_sample()
    client.get("/samples/")
    with django_assert_max_num_queries(20) as few:
        client.get("/samples/")
    for _i in range(12):
        claimed_sample()
    with django_assert_max_num_queries(len(few)):
        client.get("/samples/")


def test_the_list_is_narrowed_by_language_task_state_and_mine() -> None:
    sample, annotator = claimed_sample()
    other = make_sample(language=Language.CHINESE, task_code="T2.1", state=SampleState.ACCEPTED)
    client = client_of(annotator)
    for query in (
        "language=English",
        "secondary_task=T1.2",
        "state=in_verification",
        "mine=true",
        "bucket=8k&mine=true",
    ):
        text = client.get(f"/samples/?{query}").content.decode()
        assert sample.label in text
        assert (other.label in text) is False


def test_a_lead_plans_a_sample_on_the_page_and_a_refusal_keeps_what_was_chosen() -> None:
    client, version = client_of(make_lead()), make_version()
    given = {"document": version.document_id, "secondary_task": "T1.1"}
    assert client.post("/samples/", given).status_code == 302
    again = client.post("/samples/", given)
    assert again.status_code == 400
    assert Sample.objects.get().label in again.content.decode()
    assert f'value="{version.document_id}" selected' in again.content.decode()


def test_next_leads_to_the_desk() -> None:
    sample, annotator = make_sample(), make_annotator()
    answer = client_of(annotator).post("/samples/next")
    assert answer["Location"] == f"/samples/{sample.pk}/verify/"
    assert actions.can_release_claim(annotator, sample)


# The desk --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [C.READ, C.TASK_A, C.TASK_B, C.TASK_C, C.PASSED])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_desk_shows_every_step_in_both_languages(state: str, language: str) -> None:
    candidate, annotator = candidate_at(state)
    if state == C.TASK_C:
        challenged(candidate, annotator)
    text = page(client_of(annotator, language), "sample_verify", candidate.sample_id, "?candidate=1")
    assert candidate.question in text
    assert 'class="reader"' in text
    assert f'data-step="{state}"' in text
    assert ("Discard" in text) is (language == "en")


def test_a_fragment_brings_the_pane_and_what_changed_of_the_list_but_not_the_document() -> None:
    candidate, annotator = candidate_at(C.READ)
    client = client_of(annotator)
    answer = post(client, "candidate_read", candidate.pk, **HTMX)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert 'id="pane"' in text
    assert f'<li id="row-{candidate.pk}" hx-swap-oob="renew"' in text
    assert 'id="candidates"' not in text
    assert 'class="reader"' not in text
    assert 'data-step="task_a"' in text
    discarded = post(client, "candidate_discard", candidate.pk, {"reason": "Not this task"}, **HTMX).content.decode()
    assert 'id="candidates"' in discarded


def test_the_whole_verification_goes_by_plain_forms() -> None:
    sample, annotator = claimed_sample(candidates=1)
    client, pk = client_of(annotator), Candidate.objects.get().pk
    four = ["1", "2", "3", "4"]
    post(client, "candidate_read", pk)
    post(client, "candidate_edit", pk, {"part": "question", "version": 1, "question": "Which ships paid at all?"})
    post(client, "candidate_task_a", pk, {"version": 2, "verdict": "minor_edit", "checks": four})
    post(client, "candidate_task_b", pk, {"version": 2, "verdict": "correct", "checks": four})
    post(client, "candidate_challenge", pk, {"version": 2})
    challenged(Candidate.objects.get(), annotator)
    post(client, "candidate_task_c", pk, {"version": 2, "verdict": "challenging"})
    assert post(client, "sample_select", sample.pk, {"candidate": pk})["Location"].endswith("?panel=submit")
    from core.guidelines import CHECKLIST  # noqa: PLC0415

    post(client, "sample_submit", sample.pk, {"checklist": [item.code for item in CHECKLIST], "note": "See page 2."})
    sample.refresh_from_db()
    assert sample.state == SampleState.IN_AUDIT
    assert sample.submissions.get().question == "Which ships paid at all?"


def test_a_missing_check_is_refused_with_the_rule_and_changes_nothing() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    answer = post(
        client_of(annotator),
        "candidate_task_a",
        candidate.pk,
        {"version": 1, "verdict": "compliant", "checks": ["1", "2", "4"]},
        **HTMX,
    )
    assert answer.status_code == 422
    assert 'data-rule="checks_needed"' in answer.content.decode()


def test_a_stale_edit_shows_both_texts_and_keeps_the_typed_one() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    actions.edit_candidate(candidate=candidate, version=1, question="The first hand wrote this?", by=annotator)
    for more in ({}, HTMX):
        answer = post(
            client_of(annotator),
            "candidate_edit",
            candidate.pk,
            {"part": "question", "version": 1, "question": "The second hand wrote this?"},
            **more,
        )
        text = answer.content.decode()
        assert answer.status_code == 409
        assert "The first hand wrote this?" in text
        assert "The second hand wrote this?" in text
        assert 'name="version" value="2"' in text


def test_an_empty_answer_is_refused_at_its_field_and_the_rest_of_the_form_stays() -> None:
    candidate, annotator = candidate_at(C.TASK_B)
    answer = post(
        client_of(annotator),
        "candidate_edit",
        candidate.pk,
        {"part": "answer", "version": 1, "answer": "", "elements": "the ships, typed anew"},
    )
    text = answer.content.decode()
    assert answer.status_code == 400
    assert "The answer has no element." in text
    assert "the ships, typed anew" in text


def test_the_desk_shows_what_was_changed_in_the_draft() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    actions.edit_candidate(candidate=candidate, version=1, answer=["Marigold", "Gannet"], by=annotator)
    text = page(client_of(annotator), "sample_verify", candidate.sample_id)
    assert "<del>Tern</del>" in text
    assert "<ins>Gannet</ins>" in text


def test_the_list_asks_again_only_while_answers_are_missing() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenge = challenged(candidate, annotator, wrong=1, waiting=2)
    client = client_of(annotator)
    query = "?candidate=1&answers=yes"
    waiting = page(client, "sample_glance", candidate.sample_id, query, **HTMX)
    assert "every 2s" in waiting
    assert 'id="challenge" hx-swap-oob="renew"' in waiting
    challenge.run.run_calls.filter(right=None).delete()
    finished = page(client, "sample_glance", candidate.sample_id, query, **HTMX)
    assert "every 2s" not in finished
    assert 'id="dock" hx-swap-oob="renew"' in finished
    assert 'value="Trivial"' in finished
    assert 'id="dock"' not in page(client, "sample_glance", candidate.sample_id, "?candidate=1", **HTMX)


def test_markup_in_a_draft_is_text_on_the_page() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    actions.edit_candidate(candidate=candidate, version=1, question="<script>alert(1)</script>?", by=annotator)
    text = page(client_of(annotator), "sample_verify", candidate.sample_id)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_after_a_discard_the_next_open_candidate_opens() -> None:
    sample, annotator = claimed_sample()
    first = sample.candidates.order_by("position")[0]
    answer = post(
        client_of(annotator), "candidate_discard", first.pk, {"kind": "Trivial", "reason": "One word."}, **HTMX
    )
    assert answer["HX-Push-Url"].endswith("?candidate=2")
    first.refresh_from_db()
    assert first.discard_reason == "Trivial. One word."


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_last_discard_says_so_and_leads_to_the_next_sample(language: str) -> None:
    sample, annotator = claimed_sample(candidates=1)
    client = client_of(annotator, language)
    answer = post(client, "candidate_discard", Candidate.objects.get().pk, {"kind": "Trivial"}, **HTMX)
    assert answer["HX-Push-Url"] == f"/samples/{sample.pk}/verify/"
    shown = answer.content.decode()
    assert ("No candidate is left" in shown) is (language == "en")
    assert f'action="{reverse("annotation:sample_next")}"' in shown
    assert 'data-key="g"' in shown
    assert reverse("annotation:candidate_take_back", args=[Candidate.objects.get().pk]) in shown


def test_others_only_read_at_the_desk() -> None:
    sample, _annotator = claimed_sample()
    for person in (make_annotator(), make_lead()):
        text = page(client_of(person), "sample_verify", sample.pk)
        assert reverse("annotation:candidate_read", args=[sample.candidates.all()[0].pk]) not in text


def test_a_reviewer_never_sees_the_trail_of_the_sample() -> None:
    sample, _annotator = claimed_sample(state=SampleState.IN_REVIEW)
    reviewer = make_annotator()
    actions.join_sample(sample=sample, person=reviewer, job=Job.REVIEWS)
    client = client_of(reviewer)
    assert client.get(reverse("annotation:sample_verify", args=[sample.pk])).status_code == 403
    assert client.get(reverse("annotation:sample_audit", args=[sample.pk])).status_code == 403
    assert client.get(f"/api/v1/candidates/?sample={sample.pk}").json()["count"] == 0


def test_simulated_models_are_labelled_wherever_their_output_is_shown() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenged(candidate, annotator)
    client = client_of(annotator)
    assert page(client, "sample_verify", candidate.sample_id).count("tag--sim") == 6
    bring(candidate, C.PASSED, annotator)
    assert "tag--sim" in page(client, "sample_verify", candidate.sample_id, "?panel=select")


# Audit and standardization -------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_expert_sees_submission_verdicts_and_challenge_and_returns_it(language: str) -> None:
    sample, _annotator, expert = sample_in_audit()
    client = client_of(expert, language)
    text = page(client, "sample_audit", sample.pk)
    assert sample.submissions.get().question in text
    assert text.count('class="proof"') >= 1
    refused = post(client, "sample_reject", sample.pk, {"feedback": " "})
    assert refused.status_code == 400
    assert "field__error" in refused.content.decode()
    post(client, "sample_reject", sample.pk, {"feedback": "Item 2 is not quoted."})
    sample.refresh_from_db()
    assert sample.state == SampleState.RETURNED


def test_the_feedback_stands_beside_the_returned_question() -> None:
    sample, annotator, expert = sample_in_audit()
    actions.reject_sample(sample=sample, feedback="Item 2 is not quoted.", by=expert)
    assert "Item 2 is not quoted." in page(client_of(annotator), "sample_verify", sample.pk)


def test_the_story_of_a_sample_is_told_in_words() -> None:
    sample, _annotator, expert = sample_in_audit()
    actions.reject_sample(sample=sample, feedback="Item 2 is not quoted.", by=expert)
    text = page(client_of(make_lead()), "sample_detail", sample.pk)
    for words in (
        "passed Task A",
        "asked the models to answer",
        "submitted it to expert audit",
        "Item 2 is not quoted.",
    ):
        assert words in text


PARTS = {
    "task_description": "Which ships paid a late fee, largest fee first?",
    "elements": "the ship names in order of the fee",
    "supplementary": "",
    "example": "Gull\nSwan",
}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_standardization_page_shows_both_prompts(language: str) -> None:
    sample, annotator, _expert = approved_sample()
    text = page(client_of(annotator, language), "sample_standardize", sample.pk)
    assert "[Answer]" in text
    assert "&lt;Your thinking process&gt;" in text


def test_the_preview_follows_what_is_typed_and_saves_nothing() -> None:
    sample, annotator, _expert = approved_sample()
    client = client_of(annotator)
    answer = post(client, "standardize_preview", sample.pk, {**PARTS, "example": "Marigold"}, **HTMX)
    text = answer.content.decode()
    assert 'data-field="example" data-severity="error"' in text
    assert not sample.standardizations.exists()


def test_the_fixed_text_cannot_be_sent_along() -> None:
    sample, annotator, _expert = approved_sample()
    given = {**PARTS, "version": 0, "question_nonthinking": "typed", "complete": "no"}
    post(client_of(annotator), "standardize_save", sample.pk, given)
    assert "typed" not in sample.standardizations.get().question_nonthinking


def test_completing_is_refused_with_the_typed_text_kept_and_then_done() -> None:
    sample, annotator, _expert = approved_sample()
    client = client_of(annotator)
    refused = post(
        client, "standardize_save", sample.pk, {**PARTS, "example": "Marigold", "version": 0, "complete": "yes"}
    )
    assert refused.status_code == 422
    assert "Marigold</textarea>" in refused.content.decode()
    assert not sample.standardizations.exists()
    post(client, "standardize_save", sample.pk, {**PARTS, "version": 0, "complete": "yes"})
    sample.refresh_from_db()
    assert sample.state == SampleState.AWAITING_PREDICTIONS


def test_a_stale_draft_shows_both_texts() -> None:
    sample, annotator, _expert = approved_sample()
    client = client_of(annotator)
    post(client, "standardize_save", sample.pk, {**PARTS, "version": 0, "complete": "no"})
    stale = post(
        client, "standardize_save", sample.pk, {**PARTS, "elements": "my own words", "version": 9, "complete": "no"}
    )
    assert stale.status_code == 409
    assert "my own words" in stale.content.decode()
    assert 'name="version" id="version" value="1"' in stale.content.decode()


def test_passed_sample_offers_select_and_submit() -> None:
    sample, candidate, annotator = passed_sample()
    client = client_of(annotator)
    assert candidate.question in page(client, "sample_verify", sample.pk, "?panel=select")
    assert 'name="checklist"' in page(client, "sample_verify", sample.pk, "?panel=submit")
