"""What the expert says at its part, what the annotator does about it, and a submission taken back."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from rest_framework.test import APIClient

from annotation import actions
from annotation.auditing import Remark
from annotation.exchange import turns_of
from annotation.models import AuditRemark, Candidate, Claim, Sample, Submission
from annotation.workflow import CandidateState, Job, SampleState
from core.history import history_of
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from tests.annotation.scenes import ALL_FOUR, ALL_SEVEN, bring, sample_in_audit, submitted_sample
from tests.annotation.test_claims import let_lapse
from tests.factories import make_annotator, make_expert, make_lead
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db

SAID = [
    Remark("answer", "The Heron paid nine, not ten.", 2),
    Remark("question", "Which year is meant?"),
    Remark("answer", "The order is by fee."),
    Remark("grounds", "Step 2 quotes nothing."),
    Remark("general", "Nearly there."),
]


def returned(*remarks: Remark) -> tuple[Sample, User, User]:
    sample, annotator, expert = sample_in_audit()
    actions.reject_sample(sample=sample, remarks=remarks or SAID, by=expert)
    return sample, annotator, expert


def program(person: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(person)
    return client


# Remarks -----------------------------------------------------------------------------------------------------------


def test_a_rejection_keeps_every_remark_in_the_order_of_the_parts() -> None:
    sample, _annotator, expert = returned()
    kept = list(AuditRemark.objects.values_list("position", "part", "element", "by"))
    assert kept == [
        (1, "question", None, expert.pk),
        (2, "answer", None, expert.pk),
        (3, "answer", 2, expert.pk),
        (4, "grounds", None, expert.pk),
        (5, "general", None, expert.pk),
    ]
    event = history_of(sample).get(action="annotation.reject")
    assert event.reason.splitlines()[2] == "answer 2: The Heron paid nine, not ten."


@pytest.mark.parametrize(
    ("remarks", "field"),
    [
        ([], "feedback"),
        ([Remark("question", "  ")], "feedback"),
        ([Remark("title", "Nice.")], "remarks.0.part"),
        ([Remark("question", "So?"), Remark("answer", "No.", 4)], "remarks.1.element"),
        ([Remark("question", "No.", 1)], "remarks.0.element"),
        ([Remark("general", "x" * 5001)], "remarks.0.text"),
        ([Remark("general", "No.")] * 51, "remarks"),
    ],
)
def test_a_rejection_that_says_nothing_or_points_nowhere_is_refused_at_its_place(
    remarks: list[Remark], field: str
) -> None:
    sample, _annotator, expert = sample_in_audit()
    with pytest.raises(Invalid) as refused:
        actions.reject_sample(sample=sample, remarks=remarks, by=expert)
    assert list(refused.value.errors) == [field]
    sample.refresh_from_db()
    assert sample.state == SampleState.IN_AUDIT


def test_feedback_without_a_part_is_a_remark_in_general() -> None:
    sample, _annotator, expert = sample_in_audit()
    actions.reject_sample(sample=sample, feedback="Item 2 is not quoted.", by=expert)
    remark = AuditRemark.objects.get()
    assert (remark.part, remark.text, sample.submissions.get().feedback) == ("general", remark.text, remark.text)


def test_the_database_keeps_elements_to_the_answer() -> None:
    sample, _annotator, expert = returned()
    with pytest.raises(IntegrityError), transaction.atomic():
        AuditRemark.objects.create(
            submission=sample.submissions.get(), position=9, part="question", element=1, text="No.", by=expert
        )


def test_what_an_expert_types_is_kept_for_them_alone_until_they_decide() -> None:
    sample, annotator, expert = sample_in_audit()
    actions.save_remarks(sample=sample, remarks=SAID[:2], by=expert)
    actions.save_remarks(sample=sample, remarks=SAID[:1], by=expert)
    assert AuditRemark.objects.get().text == SAID[0].text
    assert SAID[0].text in client_of(expert).get(f"/samples/{sample.pk}/audit/").content.decode()
    for person in (annotator, make_expert(), make_lead()):
        for address in (f"/samples/{sample.pk}/audit/", f"/samples/{sample.pk}/", f"/samples/{sample.pk}/verify/"):
            assert SAID[0].text not in client_of(person).get(address).content.decode()
        assert SAID[0].text not in program(person).get(f"/api/v1/samples/{sample.pk}/exchange/").content.decode()
    actions.approve_sample(sample=sample, by=expert)
    assert not AuditRemark.objects.exists()


def test_a_draft_of_another_expert_does_not_become_the_decision() -> None:
    sample, _annotator, first = sample_in_audit()
    actions.save_remarks(sample=sample, remarks=SAID[:1], by=first)
    let_lapse(Claim.objects.get(ended_at=None))
    second = make_expert()
    actions.claim_for_judging(sample=sample, by=second)
    actions.save_remarks(sample=sample, remarks=SAID[1:2], by=second)
    actions.reject_sample(sample=sample, remarks=SAID[1:2], by=second)
    assert AuditRemark.objects.get().by == second


# At the annotator's desk ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "word"), [("en", "Dealt with"), ("zh-hans", "已处理")])
def test_each_remark_stands_beside_its_part_and_is_ticked_there(language: str, word: str) -> None:
    sample, annotator, _expert = returned()
    client = client_of(annotator, language)
    client.post(f"/samples/{sample.pk}/claim")
    text = client.get(f"/samples/{sample.pk}/verify/").content.decode()
    assert text.count(word) == len(SAID)
    places = [text.index(one.text) for one in (SAID[4], SAID[1], SAID[2], SAID[0], SAID[3])]
    assert places == sorted(places)
    remark = AuditRemark.objects.get(part="grounds")
    answer = client.post(
        f"/remarks/{remark.pk}/answer", {"dealt": "yes", "reply": "Quoted now."}, headers={"HX-Request": "true"}
    )
    assert answer.status_code == 200
    assert 'value="Quoted now."' in answer.content.decode()
    remark.refresh_from_db()
    assert (remark.dealt_by, remark.reply) == (annotator, "Quoted now.")
    assert client.post(f"/remarks/{remark.pk}/answer", {"reply": "Quoted now."}).status_code == 302
    remark.refresh_from_db()
    assert (remark.dealt_at, remark.reply) == (None, "Quoted now.")


def test_only_who_holds_the_returned_sample_answers_a_remark() -> None:
    sample, annotator, expert = returned()
    remark = AuditRemark.objects.all()[0]
    for person in (annotator, make_annotator(), expert):
        with pytest.raises(Conflict):
            actions.answer_remark(remark=remark, dealt=True, by=person)
    with pytest.raises(NotAllowed):
        actions.answer_remark(remark=remark, dealt=True, by=make_lead())
    actions.claim_sample(sample=sample, by=annotator)
    assert actions.answer_remark(remark=remark, dealt=True, by=annotator).dealt_at


def submit_again(sample: Sample, annotator: User, question: str) -> Sample:
    if not Claim.objects.filter(sample=sample, holder=annotator, ended_at=None).exists():
        actions.claim_sample(sample=sample, by=annotator)
    candidate = Candidate.objects.select_related("sample").get(pk=sample.chosen_id or 0)
    edited = actions.edit_candidate(candidate=candidate, version=candidate.version, question=question, by=annotator)
    if edited.state == CandidateState.TASK_A:
        actions.judge_task_a(
            candidate=candidate, version=candidate.version, verdict="minor_edit", checks=ALL_FOUR, by=annotator
        )
    bring(candidate, CandidateState.PASSED, annotator)
    sample = Sample.objects.get(pk=sample.pk)
    actions.submit_sample(sample=sample, checklist=ALL_SEVEN, by=annotator)
    return sample


def test_the_expert_sees_what_changed_and_what_was_done_about_each_remark() -> None:
    sample, annotator, expert = returned()
    actions.claim_sample(sample=sample, by=annotator)
    remark = AuditRemark.objects.get(part="question")
    actions.answer_remark(remark=remark, dealt=True, reply="The year stands there now.", by=annotator)
    sample = submit_again(sample, annotator, "Which ships paid a late fee in that year, largest fee first? Take 1.")
    with pytest.raises(Conflict):
        actions.answer_remark(remark=remark, dealt=False, by=annotator)
    actions.claim_for_judging(sample=sample, by=expert)
    text = client_of(expert).get(f"/samples/{sample.pk}/audit/").content.decode()
    assert "Since submission 1" in text
    assert "<ins> in that year</ins>" in text or "<ins>in that year </ins>" in text
    assert "The year stands there now." in text
    first, second = turns_of(sample)
    assert [change.part for change in second.changes] == ["question"]
    assert (len(first.remarks), first.open_remarks, second.remarks) == (5, 4, ())
    actions.reject_sample(sample=sample, remarks=SAID[:1], by=expert)
    rows = program(annotator).get(f"/api/v1/samples/{sample.pk}/exchange/").json()
    assert [len(row["submission"]["remarks"]) for row in rows] == [5, 1]
    assert rows[0]["submission"]["remarks"][0]["reply"] == "The year stands there now."
    assert [row["submission"]["number"] for row in rows] == [1, 2]
    actions.claim_sample(sample=sample, by=annotator)
    with pytest.raises(Conflict) as refused:
        actions.answer_remark(remark=remark, dealt=False, by=annotator)
    assert refused.value.rule == "remark_closed"


def test_the_audit_page_shows_everything_the_annotator_did() -> None:
    sample, annotator, expert = returned()
    actions.claim_sample(sample=sample, by=annotator)
    other = sample.candidates.order_by("position")[1]
    actions.discard_candidate(candidate=other, reason="Nobody could check it.", by=annotator)
    sample = submit_again(sample, annotator, "Which ships paid a fee, largest first?")
    actions.tell_time(sample=sample, beat="b1", seconds={"task_a": 50.0}, by=annotator)
    actions.claim_for_judging(sample=sample, by=expert)
    text = client_of(expert).get(f"/samples/{sample.pk}/audit/").content.decode()
    for words in (
        "Nobody could check it.",
        "no longer counts",
        "version 2",
        "Discarded candidates",
        "Checklist",
    ):
        assert words in text, words
    assert "Task A 50 s" in text
    shown = program(expert).get(f"/api/v1/samples/{sample.pk}/audit/").json()
    assert [row["reason"] for row in shown["discarded"]] == ["Nobody could check it."]
    assert [row["version"] for row in shown["edits"]] == [2]
    assert [row["void"] for row in shown["verdicts"]].count(True) == 3
    assert shown["time"] == [{"person": annotator.username, "step": "task_a", "seconds": 50.0}]
    assert program(make_annotator()).get(f"/api/v1/samples/{sample.pk}/audit/").status_code == 403


def test_the_dialog_sends_its_rows_and_gives_them_back_when_refused() -> None:
    sample, _annotator, expert = sample_in_audit()
    client = client_of(expert)
    rows = {"part": ["question", "answer", "answer"], "element": ["", "2", "9"], "text": ["Which?", "", "Not there."]}
    refused = client.post(f"/samples/{sample.pk}/reject", rows)
    assert refused.status_code == 400
    text = refused.content.decode()
    assert "Not there.</textarea>" in text
    assert "Which?</textarea>" in text
    assert "data-opens" in text
    assert client.post(f"/samples/{sample.pk}/remarks", {**rows, "element": ["", "2", "1"]}).json() == {}
    assert AuditRemark.objects.count() == 2
    assert client.post(f"/samples/{sample.pk}/reject", {**rows, "element": ["", "2", "1"]}).status_code == 302
    assert list(AuditRemark.objects.values_list("part", "element")) == [("question", None), ("answer", 1)]


def test_the_api_takes_remarks_and_answers_them() -> None:
    sample, annotator, expert = sample_in_audit()
    body: dict[str, Any] = {"remarks": [{"part": "answer", "element": 1, "text": "Why?"}, {"part": "x", "text": "y"}]}
    refused = program(expert).post(f"/api/v1/samples/{sample.pk}/reject/", body, format="json")
    assert refused.status_code == 400
    assert "remarks.1.part" in refused.json()["errors"]
    del body["remarks"][1]
    assert program(expert).post(f"/api/v1/samples/{sample.pk}/save_remarks/", body, format="json").status_code == 204
    done = program(expert).post(f"/api/v1/samples/{sample.pk}/reject/", {**body, "feedback": "So."}, format="json")
    remark = done.json()["remarks"][0]
    assert (remark["part"], remark["element"], remark["dealt"]) == ("answer", 1, False)
    client = program(annotator)
    client.post(f"/api/v1/samples/{sample.pk}/claim/")
    answer = {"remark": remark["id"], "dealt": True, "reply": "It stands there."}
    answered = client.post(f"/api/v1/samples/{sample.pk}/answer_remark/", answer, format="json")
    assert (answered.status_code, answered.json()["dealt"]) == (200, True)


def test_a_reviewer_never_reads_the_exchange() -> None:
    sample, _annotator, _expert = returned()
    reviewer = make_annotator()
    actions.join_sample(sample=sample, person=reviewer, job=Job.REVIEWS)
    for name in ("exchange", "audit"):
        assert program(reviewer).get(f"/api/v1/samples/{sample.pk}/{name}/").status_code == 403


# Taken back ----------------------------------------------------------------------------------------------------------


def test_a_submission_is_taken_back_corrected_and_submitted_again_while_nobody_has_begun_its_audit() -> None:
    """T-22: a way back to one's own item after it was sent, and logged."""
    sample, annotator = submitted_sample()
    client = client_of(annotator)
    assert "Take it back" in client.get(f"/samples/{sample.pk}/").content.decode()
    answer = client.post(f"/samples/{sample.pk}/withdraw")
    assert answer["Location"] == f"/samples/{sample.pk}/verify/"
    sample.refresh_from_db()
    assert sample.state == SampleState.RETURNED
    assert Claim.objects.get(ended_at=None).holder == annotator
    taken = Submission.objects.get()
    assert (taken.outcome, taken.audited_by) == ("withdrawn", None)
    event = history_of(sample).get(action="annotation.withdraw_submission")
    assert (event.by, event.from_state, event.to_state) == (annotator, "in_audit", "returned")
    sample = submit_again(sample, annotator, "Which ships paid a fee, largest first?")
    assert [turn.submission.outcome for turn in turns_of(sample)] == ["withdrawn", ""]
    expert = make_expert()
    actions.claim_for_judging(sample=sample, by=expert)
    assert actions.approve_sample(sample=sample, by=expert).number == 2


def test_once_an_expert_has_claimed_the_audit_it_is_not_taken_back() -> None:
    sample, annotator, _expert = sample_in_audit()
    with pytest.raises(Conflict) as refused:
        actions.withdraw_submission(sample=sample, by=annotator)
    assert refused.value.rule == "audit_begun"
    assert "Take it back" not in client_of(annotator).get(f"/samples/{sample.pk}/").content.decode()


@pytest.mark.parametrize("make_other", [make_annotator, make_expert])
def test_only_its_annotator_takes_a_submission_back(make_other: Any) -> None:
    sample, annotator = submitted_sample()
    with pytest.raises(RuleBroken) as refused:
        actions.withdraw_submission(sample=sample, by=make_other())
    assert refused.value.rule == "belongs_to_its_annotator"
    with pytest.raises(NotAllowed):
        actions.withdraw_submission(sample=sample, by=make_lead())
    done = program(annotator).post(f"/api/v1/samples/{sample.pk}/withdraw/")
    assert (done.status_code, done.json()["state"]) == (200, "returned")
    again = program(annotator).post(f"/api/v1/samples/{sample.pk}/withdraw/")
    assert (again.status_code, again.json()["state"]) == (409, "returned")


def test_the_work_list_says_that_one_took_it_back() -> None:
    sample, annotator = submitted_sample()
    actions.withdraw_submission(sample=sample, by=annotator)
    assert "You took the submission back." in client_of(annotator).get("/").content.decode()
