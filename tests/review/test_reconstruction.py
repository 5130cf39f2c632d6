"""All three ways back, in both languages, walked whole by programs: dispute, order, revision, audit, standardization,
fresh predictions, fresh reviewers, acceptance. Earlier rounds stay as they were."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Candidate, Sample, StepVerdict
from annotation.workflow import CandidateState, Job, SampleState, Step, Verdict
from benchmark.taxonomy import Language
from core.guidelines import GUIDELINES_VERSION
from core.models import BenchmarkSettings, User
from generation import sending
from generation.models import LanguageModel
from generation.panels import ensure_panel
from review import opening
from review.models import ReviewCase
from review.queries import predicted_elements
from review.rounds import rounds
from review.workflow import CaseState
from tests.factories import make_annotator, make_case, make_expert, make_lead, make_standardized_sample
from tests.review.words import ISSUE, clean_marks, submit

pytestmark = pytest.mark.django_db

WORDS = {
    Language.ENGLISH: {
        "question": "Which ships paid a late fee, largest fee first?",
        "again": "Which ships paid a late fee in May, largest fee first?",
        "elements": "the ship names in order of the fee",
        "answer": ["Marigold", "Heron", "Tern"],
        "revised": ["Marigold", "Heron"],
        "example": ["Gull", "Swan"],
        "addition": "On the last day the fees were read out in the harbour office.\n",
        "reason": "The Tern paid in June, so it does not belong.",
    },
    Language.CHINESE: {
        "question": "哪些船缴纳了滞纳金？按金额从大到小排列。",
        "again": "五月有哪些船缴纳了滞纳金？按金额从大到小排列。",
        "elements": "按金额排列的船名",
        "answer": ["金盏号", "苍鹭号", "燕鸥号"],
        "revised": ["金盏号", "苍鹭号"],
        "example": ["海鸥号", "天鹅号"],
        "addition": "最后一日，港务所宣读了各船的滞纳金。\n",
        "reason": "燕鸥号在六月缴纳，不应列入。",
    },
}


def post(
    person: User, path: str, body: dict[str, Any] | None = None, *, expect: tuple[int, ...] = (200, 201, 202)
) -> Any:
    client = Client()
    client.force_login(person)
    answer = client.post(f"/api/v1/{path}", body or {}, content_type="application/json")
    assert answer.status_code in expect, (path, answer.content.decode())
    return answer.json()


def get(person: User, path: str) -> Any:
    client = Client()
    client.force_login(person)
    return client.get(f"/api/v1/{path}").json()


@dataclass
class Round:
    sample: Sample
    annotator: User
    auditor: User
    lead: User
    words: dict[str, Any]


@pytest.fixture
def panel() -> None:
    """The five simulated models answer; those that stand behind the factories' rows are not asked."""
    ensure_panel("demo")
    BenchmarkSettings.load()
    BenchmarkSettings.objects.update(targets=[2], tolerance_percent=99)


def disputed(language: Language) -> tuple[ReviewCase, Round]:
    words = WORDS[language]
    annotator, auditor = make_annotator(), make_expert()
    before = set(LanguageModel.objects.values_list("pk", flat=True))
    sample = make_standardized_sample(state="in_review", language=language, annotator=annotator, expert=auditor)
    case = make_case(sample)
    LanguageModel.objects.exclude(pk__in=before).update(active=False)
    assert sample.chosen is not None
    Candidate.objects.filter(pk=sample.chosen.pk).update(
        question=words["question"], elements=words["elements"], answer=words["answer"]
    )
    # The factory passes a candidate without its verdicts; the answer's way back starts from the one on the question.
    StepVerdict.objects.create(
        candidate=sample.chosen,
        candidate_version=sample.chosen.version,
        step=Step.TASK_A,
        verdict=Verdict.COMPLIANT,
        checks=[True] * 4,
        by=annotator,
        guidelines_version=GUIDELINES_VERSION,
    )
    submit(case, make_annotator(), **ISSUE)
    submit(case, make_annotator())
    case.refresh_from_db()
    assert case.state == CaseState.DISPUTED
    return case, Round(sample, annotator, auditor, make_lead(), words)


def order(case: ReviewCase, way: Round, step: str) -> dict[str, Any]:
    expert = make_expert()
    post(expert, f"cases/{case.pk}/take/")
    reviews = get(expert, f"reviews/?case={case.pk}")["results"]
    assert [review["reviewer"] for review in reviews] == [None, None], "names are hidden until it is decided"
    body: dict[str, Any] = {"outcome": "reconstruct", "step": step, "reason": way.words["reason"]}
    if step == "answer":
        doubted = case.standardization.answer[-1]
        body |= {"marks": [{"element": doubted, "mark": "incorrect"}], "proposal": way.words["revised"]}
    post(expert, f"cases/{case.pk}/adjudicate/", body)
    decided = get(expert, f"cases/{case.pk}/")["adjudication"]
    assert (decided["step"], decided["reason"], decided["proposal"]) == (step, body["reason"], body.get("proposal", []))
    names = {review["reviewer"] for review in get(expert, f"reviews/?case={case.pk}")["results"]}
    assert names == set(case.reviews.values_list("reviewer", flat=True))
    way.sample.refresh_from_db()
    assert way.sample.round == 2
    assert way.words["reason"] in way.sample.reconstruction_reason
    if step == "answer":
        assert all(element in way.sample.reconstruction_reason for element in way.words["revised"])
    return decided


def revise_document(way: Round) -> None:
    """The lead writes a new version; it is measured, cleared by a person, and only then adopted."""
    sample = way.sample
    assert sample.state == SampleState.AWAITING_DOCUMENT
    post(way.lead, f"samples/{sample.pk}/adopt_document/", expect=(422,))
    text = sample.document_version.body.text + way.words["addition"]
    client = Client()
    client.force_login(way.lead)
    form = {"text": text, "reason": way.words["reason"], "based_on": sample.document_version.number}
    answer = client.post(reverse("documents:document_revise", args=[sample.document_id]), form)
    assert answer.status_code == 302, answer.content.decode()
    assert post(way.lead, f"samples/{sample.pk}/adopt_document/", expect=(422,))["rule"] == "document_not_approved"
    sample.document.refresh_from_db()
    newest = sample.document.latest
    assert newest is not None
    assert newest.tokens > 0
    assert newest.bucket == "2k"
    post(make_annotator(), f"documents/{sample.document_id}/approve/", {"version": newest.number})
    post(way.lead, f"samples/{sample.pk}/adopt_document/")
    sample.refresh_from_db()
    assert sample.document_version == newest


def verify_again(way: Round, step: str) -> None:
    sample, by = way.sample, way.annotator
    assert sample.state == SampleState.RETURNED
    post(by, f"samples/{sample.pk}/claim/")
    assert sample.chosen is not None
    candidate = Candidate.objects.get(pk=sample.chosen.pk)
    assert candidate.state == (CandidateState.TASK_B if step == "answer" else CandidateState.TASK_A)
    edits = {"question": {"question": way.words["again"]}, "answer": {"answer": way.words["revised"]}}
    if step in edits:
        post(by, f"candidates/{candidate.pk}/edit/", {"version": candidate.version, **edits[step]})
    candidate.refresh_from_db()
    seen = {"version": candidate.version}
    if candidate.state == CandidateState.TASK_A:
        judged = {**seen, "verdict": verdict(step == "question", "compliant"), "checks": [True] * 4}
        post(by, f"candidates/{candidate.pk}/task_a/", judged)
    judged = {**seen, "verdict": verdict(step == "answer", "correct"), "checks": [True] * 4}
    post(by, f"candidates/{candidate.pk}/task_b/", judged)
    post(by, f"candidates/{candidate.pk}/challenge/", seen)
    sending.work_off()
    right = post(
        by, f"candidates/{candidate.pk}/task_c/", {**seen, "verdict": "challenging"}, expect=(200, 201, 202, 422)
    )
    if "rule" in right:
        valuable = {**seen, "verdict": "valuable", "reason": "It joins two distant paragraphs."}
        post(by, f"candidates/{candidate.pk}/task_c/", valuable)
    post(by, f"samples/{sample.pk}/select/", {"candidate": candidate.pk}, expect=(200, 409, 422))
    post(by, f"samples/{sample.pk}/submit/", {"checklist": [True] * 7})


def verdict(edited: bool, otherwise: str) -> str:
    return "minor_edit" if edited else otherwise


def audit_and_standardize(way: Round, step: str) -> None:
    sample = way.sample
    post(way.auditor, f"samples/{sample.pk}/claim/")
    post(way.auditor, f"samples/{sample.pk}/approve/")
    post(way.annotator, f"samples/{sample.pk}/claim/")
    parts = {
        "version": 0,
        "task_description": way.words["again" if step == "question" else "question"],
        "elements": way.words["elements"],
        "example": way.words["example"],
        "complete": True,
    }
    post(way.annotator, f"samples/{sample.pk}/standardize/", parts)
    sample.refresh_from_db()
    assert sample.state == SampleState.AWAITING_PREDICTIONS


def predict(way: Round) -> ReviewCase:
    opening.work_off()
    sending.work_off()
    opening.work_off()
    case = ReviewCase.objects.get(sample=way.sample, round=2)
    assert case.state == CaseState.OPEN
    assert case.prediction_run is not None
    assert case.prediction_run.prompt == case.standardization.question_nonthinking
    assert case.prediction_run.run_calls.count() == 5
    return case


@pytest.mark.parametrize("language", [Language.ENGLISH, Language.CHINESE])
@pytest.mark.parametrize("step", ["document", "question", "answer"])
def test_a_disputed_sample_goes_the_whole_way_again(panel: None, step: str, language: Language) -> None:
    """T-33."""
    first, way = disputed(language)
    earlier = {review.pk: get(way.lead, f"reviews/{review.pk}/") for review in first.reviews.all()}
    order(first, way, step)
    if step == "document":
        revise_document(way)
    verify_again(way, step)
    audit_and_standardize(way, step)
    second = predict(way)

    for review in first.reviews.all():
        told = post(review.reviewer, f"cases/{second.pk}/review/", expect=(403,))
        assert told["rule"] == "reviewed_before"
    for _seat in range(2):
        fresh = make_annotator()
        written = post(fresh, f"cases/{second.pk}/review/", {**clean_marks(second), "submit": True})
        assert written["state"] == "submitted"
    second.refresh_from_db()
    way.sample.refresh_from_db()
    assert (second.state, way.sample.state) == (CaseState.ACCEPTED, SampleState.ACCEPTED)
    assert not second.reviews.filter(reviewed_before=True).exists()

    assert {pk: get(way.lead, f"reviews/{pk}/") for pk in earlier} == earlier
    assert [row["round"] for row in get(way.lead, f"cases/?sample={way.sample.pk}")["results"]] == [1, 2]
    _one, two = rounds(list(ReviewCase.objects.filter(sample=way.sample).order_by("round")))
    assert two.other_document == (step == "document")
    assert two.answer_changed == (step == "answer" or language == Language.CHINESE), (
        "the factory's first answer differs"
    )
    client = Client()
    client.force_login(way.lead)
    page = client.get(reverse("review:case_adjudicate", args=[second.pk])).text
    assert reverse("review:case_adjudicate", args=[first.pk]) in page
    assert way.words["reason"] in page


def test_when_nobody_new_is_left_an_earlier_reviewer_serves_again_and_that_is_recorded(panel: None) -> None:
    first, way = disputed(Language.ENGLISH)
    order(first, way, "answer")
    verify_again(way, "answer")
    audit_and_standardize(way, "answer")
    second = predict(way)
    earlier = [review.reviewer for review in first.reviews.order_by("seat")]
    bound = way.sample.participations.exclude(job=Job.REVIEWS).values("person")
    User.objects.exclude(pk__in=[person.pk for person in earlier]).exclude(pk__in=bound).exclude(role="lead").update(
        is_active=False
    )
    client = Client()
    client.force_login(way.lead)
    assert "New people left: 0, so earlier reviewers may serve again." in client.get("/reviews/").text
    for person in earlier:
        post(person, f"cases/{second.pk}/review/", {**clean_marks(second), "submit": True})
    assert list(second.reviews.values_list("reviewed_before", flat=True)) == [True, True]
    assert predicted_elements(second) is not None
