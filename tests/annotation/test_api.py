"""The API: the same rules, and an order that no sequence of calls gets around."""

from typing import Any

import pytest
from django.urls import get_resolver
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from annotation.models import Candidate, StepVerdict
from annotation.queries import challenge_results
from annotation.workflow import CandidateState, SampleState, Step
from core.models import User
from documents.workflow import VersionState
from tests.annotation.scenes import answer_run, approved_sample, candidate_at, challenged, claimed_sample, passed_sample
from tests.factories import make_annotator, make_expert, make_lead, make_sample, make_version

pytestmark = pytest.mark.django_db
C = CandidateState


def api(person: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(person)
    return client


def do(client: APIClient, resource: str, pk: int, action: str, **body: Any) -> Any:
    return client.post(f"/api/v1/{resource}/{pk}/{action}/", body, format="json")


BODIES: dict[str, dict[str, Any]] = {
    "read": {},
    "task_a": {"verdict": "compliant", "checks": [True] * 4},
    "task_b": {"verdict": "correct", "checks": [True] * 4},
    "challenge": {},
    "task_c": {"verdict": "challenging"},
}
OPENS = {"read": C.READ, "task_a": C.TASK_A, "task_b": C.TASK_B, "challenge": C.TASK_C, "task_c": C.TASK_C}


@pytest.mark.parametrize("state", [C.READ, C.TASK_A, C.TASK_B, C.TASK_C, C.PASSED])
@pytest.mark.parametrize("action", list(BODIES))
def test_no_call_takes_a_step_out_of_its_order(state: str, action: str) -> None:
    candidate, annotator = candidate_at(state)
    if (state, action) == (C.TASK_C, "task_c"):
        challenged(candidate, annotator)
    answer = do(api(annotator), "candidates", candidate.pk, action, version=1, **BODIES[action])
    if OPENS[action] == state:
        assert answer.status_code in (200, 202), answer.json()
        return
    assert (answer.status_code, answer.json()["rule"], answer.json()["state"]) == (409, "step_not_open", state)
    candidate.refresh_from_db()
    assert candidate.state == state


@pytest.mark.parametrize("make_other", [make_annotator, make_expert, make_lead])
@pytest.mark.parametrize("action", [*BODIES, "edit", "discard"])
def test_no_call_of_another_person_changes_a_candidate(action: str, make_other: Any) -> None:
    candidate, _annotator = candidate_at(C.TASK_A)
    body = {**BODIES.get(action, {}), "version": 1, "question": "Mine?", "reason": "Mine."}
    answer = do(api(make_other()), "candidates", candidate.pk, action, **body)
    assert answer.status_code in (403, 409)
    candidate.refresh_from_db()
    assert (candidate.state, candidate.version) == (C.TASK_A, 1)


def test_a_sample_walks_to_standardization_by_the_api_alone() -> None:
    lead, annotator, expert = make_lead(), make_annotator(), make_expert()
    made = api(lead).post("/api/v1/samples/", {"document": make_version().document_id, "secondary_task": "T1.2"})
    assert made.status_code == 201
    assert made.json()["state"] == "planned"
    sample, client = make_sample(candidates=1), api(annotator)
    candidate = Candidate.objects.get()
    assert do(client, "samples", sample.pk, "claim").json()["claimed_by"] == annotator.username
    for action in ("read", "task_a"):
        assert do(client, "candidates", candidate.pk, action, version=1, **BODIES[action]).status_code == 200
    edited = do(client, "candidates", candidate.pk, "edit", version=1, answer=["Marigold", "Heron"]).json()
    assert (edited["version"], edited["state"]) == (2, "task_b")
    judged = {"version": 2, "verdict": "minor_edit", "checks": [True] * 4}
    assert do(client, "candidates", candidate.pk, "task_b", **judged).status_code == 200
    assert do(client, "candidates", candidate.pk, "challenge", version=2).status_code == 202
    challenge = challenge_results(Candidate.objects.get())
    assert challenge is not None
    challenge.challenge.run.run_calls.all().delete()
    answer_run(challenge.challenge.run, [(["Heron"], False)] * 5)
    shown = client.get(f"/api/v1/candidates/{candidate.pk}/").json()
    assert [one["right"] for one in shown["challenge"]["answers"]] == [False] * 5
    wrong = shown["challenge"]["answers"][0]["run_call"]
    overruled = do(client, "candidates", candidate.pk, "overrule", run_call=wrong, right=True, reason="Same name.")
    assert overruled.json()["answers"][0]["overruled"] == "Same name."
    assert (
        do(client, "candidates", candidate.pk, "task_c", version=2, verdict="challenging").json()["state"] == "passed"
    )
    assert do(client, "samples", sample.pk, "select", candidate=candidate.pk).json()["chosen"] == candidate.pk
    short = do(client, "samples", sample.pk, "submit", checklist=[True] * 6)
    assert (short.status_code, short.json()["rule"]) == (422, "checklist_needed")
    assert do(client, "samples", sample.pk, "submit", checklist=[True] * 7).json()["answer"] == ["Marigold", "Heron"]
    do(api(expert), "samples", sample.pk, "claim")
    assert do(api(expert), "samples", sample.pk, "approve").json()["outcome"] == "approved"
    parts = {
        "task_description": "Which ships paid a late fee?",
        "elements": "the ship names",
        "example": ["Marigold"],
        "complete": True,
    }
    refused = do(client, "samples", sample.pk, "standardize", version=0, **parts)
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["example"])
    done = do(client, "samples", sample.pk, "standardize", version=0, **{**parts, "example": ["Gull", "Swan"]})
    assert done.status_code == 200
    assert done.json()["question_thinking"].endswith("[Answer]\nGull\nSwan")
    sample.refresh_from_db()
    assert sample.state == SampleState.AWAITING_PREDICTIONS


@pytest.mark.parametrize("name", ["question_nonthinking", "question_thinking", "answer"])
@pytest.mark.parametrize("path", ["standardize", "standardize/preview"])
def test_a_body_cannot_set_the_prompts_or_the_answer(name: str, path: str) -> None:
    sample, annotator, _expert = approved_sample()
    parts = {"task_description": "a", "elements": "b", "example": ["c"]}
    given = "typed" if name.startswith("question") else ["typed"]
    refused = do(api(annotator), "samples", sample.pk, path, version=0, **{**parts, name: given})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, [name])
    assert "never given" in refused.json()["detail"]
    assert not sample.standardizations.exists()


@pytest.mark.parametrize("checks", [[True] * 3, "yes", [True, True, True, "maybe"], None])
def test_a_bad_body_is_refused_at_its_field(checks: Any) -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    answer = do(api(annotator), "candidates", candidate.pk, "task_a", version=1, verdict="compliant", checks=checks)
    assert answer.status_code == 400
    assert any(name.startswith("checks") for name in answer.json()["errors"])


def test_the_same_key_has_one_effect() -> None:
    candidate, annotator = candidate_at(C.READ)
    client = api(annotator)
    path, headers = f"/api/v1/candidates/{candidate.pk}/read/", {"Idempotency-Key": "once"}
    first, second = client.post(path, headers=headers), client.post(path, headers=headers)
    assert (first.status_code, second.status_code, first.content) == (200, 200, second.content)


def test_lists_are_filtered_and_carry_no_text_of_the_document() -> None:
    sample, annotator = claimed_sample()
    text = sample.document_version.body.text[:40]
    client = api(annotator)
    for query in (
        "language=English",
        "bucket=8k",
        "secondary_task=T1.2",
        f"secondary_task={sample.task.name}",
        "mine=true",
    ):
        answer = client.get(f"/api/v1/samples/?{query}")
        assert [row["id"] for row in answer.json()["results"]] == [sample.pk]
        assert text not in answer.content.decode()
    assert client.get("/api/v1/samples/?state=accepted").json()["count"] == 0
    assert client.get(f"/api/v1/candidates/?sample={sample.pk}&state=read").json()["count"] == 3


def test_lists_ask_the_database_as_often_for_many_rows_as_for_few(django_assert_max_num_queries: Any) -> None:
    _sample, annotator = claimed_sample()
    client = api(annotator)
    for path in ("/api/v1/samples/", "/api/v1/candidates/"):
        client.get(path)
        with django_assert_max_num_queries(12) as few:
            client.get(path)
        for _i in range(5):
            claimed_sample()
        with django_assert_max_num_queries(len(few)):
            client.get(path)


def test_a_blocked_sample_says_so_to_programs() -> None:
    sample, annotator = claimed_sample()
    sample.document_version.state = VersionState.REJECTED
    sample.document_version.save()
    answer = do(api(annotator), "candidates", Candidate.objects.all()[0].pk, "read")
    assert (answer.status_code, answer.json()["rule"]) == (422, "document_not_approved")
    assert api(annotator).get(f"/api/v1/samples/{sample.pk}/").json()["is_blocked"] is True


def test_a_passed_sample_is_not_submitted_after_a_late_edit() -> None:
    sample, candidate, annotator = passed_sample()
    do(api(annotator), "candidates", candidate.pk, "edit", version=1, question="Which?")
    answer = do(api(annotator), "samples", sample.pk, "submit", checklist=[True] * 7)
    assert (answer.status_code, answer.json()["state"]) == (409, "task_a")


def test_every_route_of_the_resource_is_named_in_the_contract_or_beside_it() -> None:
    names = {"claim", "release-claim", "take-over", "draft", "select", "submit", "approve", "reject", "standardize"}
    resolver = get_resolver()
    assert {f"sample-{name}" for name in names} <= {name for name in resolver.reverse_dict if isinstance(name, str)}


# A random walk -----------------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.sampled_from(
        ["read", "task_a", "task_a_edit", "task_b", "task_b_edit", "challenge", "task_c", "question", "answer"]
    ),
    min_size=5,
    max_size=30,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_whatever_is_called_a_passed_candidate_has_its_verdicts_for_the_text_it_carries(steps: list[str]) -> None:
    StepVerdict.objects.all().delete()
    sample, annotator = claimed_sample(candidates=1)
    pk, client = sample.candidates.get().pk, api(annotator)
    for number, step in enumerate(steps):
        version = Candidate.objects.values_list("version", flat=True).get(pk=pk)
        _call(client, pk, step, version, number)
        _holds(Candidate.objects.select_related("sample").get(pk=pk))


def _call(client: APIClient, pk: int, step: str, version: int, number: int) -> None:
    if step == "question":
        do(client, "candidates", pk, "edit", version=version, question=f"Which ships? {number}")
    elif step == "answer":
        do(client, "candidates", pk, "edit", version=version, answer=[f"Heron {number}"])
    elif step.endswith("_edit"):
        do(
            client,
            "candidates",
            pk,
            step.removesuffix("_edit"),
            version=version,
            verdict="minor_edit",
            checks=[True] * 4,
        )
    else:
        do(client, "candidates", pk, step, version=version, **BODIES[step])
    results = challenge_results(Candidate.objects.select_related("sample").get(pk=pk))
    if results and not results.wrong:
        results.challenge.run.run_calls.all().delete()
        answer_run(results.challenge.run, [(["Gull"], False)] * 5)


def _holds(candidate: Candidate) -> None:
    valid = dict(candidate.verdicts.filter(voided_at=None).values_list("step", "candidate_version"))
    needed = {
        C.READ: set(),
        C.TASK_A: set(),
        C.TASK_B: {Step.TASK_A},
        C.TASK_C: {Step.TASK_A, Step.TASK_B},
        C.PASSED: {Step.TASK_A, Step.TASK_B, Step.TASK_C},
    }[CandidateState(candidate.state)]
    assert set(valid) == needed
    if candidate.state == C.PASSED:
        results = challenge_results(candidate)
        assert valid[Step.TASK_C] == candidate.version
        assert results is not None
        assert not results.stale
    last_question = _last_change(candidate, "question")
    assert valid.get(Step.TASK_A, candidate.version) >= last_question
    assert valid.get(Step.TASK_B, candidate.version) >= max(last_question, _last_change(candidate, "answer"))


def _last_change(candidate: Candidate, part: str) -> int:
    return max((edit.version for edit in candidate.edits.all() if edit.before[part] != edit.after[part]), default=1)
