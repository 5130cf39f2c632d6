import logging
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Claim
from annotation.workflow import Job, SampleState
from core.history import history_of
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed
from review import actions, opening
from review.models import ReviewCase
from review.queries import names_are_hidden, reviews_visible_to
from review.workflow import CaseState
from tests.factories import make_annotator, make_case, make_expert, make_lead, make_standardization
from tests.review.words import ISSUE, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def disputed() -> ReviewCase:
    case = make_case()
    submit(case, make_annotator(), **ISSUE)
    submit(case, make_annotator())
    case.refresh_from_db()
    return case


def test_no_issue_accepts_the_sample_and_needs_no_reason(disputed: ReviewCase) -> None:
    decision = actions.adjudicate_case(case=disputed, outcome="no_issue", step="", reason="", by=make_expert())
    disputed.refresh_from_db()
    disputed.sample.refresh_from_db()
    assert decision.outcome == "no_issue"
    assert disputed.state == CaseState.ADJUDICATED
    assert disputed.sample.state == SampleState.ACCEPTED


@pytest.mark.parametrize("step", ["document", "question", "answer"])
def test_reconstruction_sends_the_sample_back_with_step_and_reason(disputed: ReviewCase, step: str) -> None:
    expert = make_expert()
    actions.adjudicate_case(
        case=disputed, outcome="reconstruct", step=step, reason="“Heron” is a bird here.", by=expert
    )
    sample = disputed.sample
    sample.refresh_from_db()
    assert sample.state == (SampleState.AWAITING_DOCUMENT if step == "document" else SampleState.RETURNED)
    assert sample.reconstruction_step == step
    assert sample.reconstruction_reason == "“Heron” is a bird here."
    assert sample.round == 2


@pytest.mark.parametrize("step", ["document", "question", "answer"])
def test_a_reconstructed_sample_gets_a_new_case_and_fresh_reviewers(disputed: ReviewCase, step: str) -> None:
    actions.adjudicate_case(case=disputed, outcome="reconstruct", step=step, reason="Say it exactly.", by=make_expert())
    sample = disputed.sample
    sample.refresh_from_db()
    assert sample.annotator is not None
    make_standardization(sample, by=sample.annotator)
    type(sample).objects.filter(pk=sample.pk).update(state=SampleState.AWAITING_PREDICTIONS)
    opening.work_off()
    second = ReviewCase.objects.get(sample=sample, round=2)
    assert second.standardization != disputed.standardization

    ReviewCase.objects.filter(pk=second.pk).update(state=CaseState.OPEN)
    fresh = make_annotator()
    for earlier in [review.reviewer for review in disputed.reviews.all()]:
        with pytest.raises(NotAllowed) as told:
            actions.take_seat(case=second, by=earlier)
        assert told.value.rule == "reviewed_before"
    assert actions.take_seat(case=second, by=fresh).reviewed_before is False
    assert disputed.reviews.count() == 2


@pytest.mark.parametrize(
    ("outcome", "step", "reason", "field"),
    [
        ("", "", "", "outcome"),
        ("perhaps", "", "", "outcome"),
        ("no_issue", "answer", "why", "step"),
        ("reconstruct", "", "why", "step"),
        ("reconstruct", "everything", "why", "step"),
        ("reconstruct", "answer", "  ", "reason"),
    ],
)
def test_a_decision_says_all_it_must(disputed: ReviewCase, outcome: str, step: str, reason: str, field: str) -> None:
    with pytest.raises(Invalid) as told:
        actions.adjudicate_case(case=disputed, outcome=outcome, step=step, reason=reason, by=make_expert())
    assert field in told.value.errors


def test_annotators_and_leads_do_not_adjudicate(disputed: ReviewCase) -> None:
    for person in (make_annotator(), make_lead()):
        assert not actions.can_adjudicate_case(person, disputed)
        with pytest.raises(NotAllowed):
            actions.adjudicate_case(case=disputed, outcome="no_issue", step="", reason="", by=person)


def test_an_expert_who_reviewed_or_verified_the_sample_does_not_adjudicate_it() -> None:
    case, reviewer = make_case(), make_expert()
    submit(case, reviewer, **ISSUE)
    submit(case, make_annotator())
    case.refresh_from_db()
    verifier = case.sample.participations.get(job=Job.VERIFIES).person
    type(verifier).objects.filter(pk=verifier.pk).update(role="expert")
    verifier.refresh_from_db()
    for person in (reviewer, verifier):
        assert not actions.can_adjudicate_case(person, case)
        with pytest.raises(NotAllowed) as told:
            actions.adjudicate_case(case=case, outcome="no_issue", step="", reason="", by=person)
        assert told.value.rule == "two_jobs_on_one_sample"


def test_the_auditor_may_adjudicate_the_same_sample(disputed: ReviewCase) -> None:
    auditor = disputed.sample.participations.get(job=Job.JUDGES).person
    assert actions.can_adjudicate_case(auditor, disputed)
    actions.adjudicate_case(case=disputed, outcome="no_issue", step="", reason="", by=auditor)


def test_a_case_that_another_expert_has_taken_is_not_decided_meanwhile(disputed: ReviewCase) -> None:
    actions.take_case(case=disputed, by=make_expert())
    with pytest.raises(Conflict):
        actions.adjudicate_case(case=disputed, outcome="no_issue", step="", reason="", by=make_expert())


def test_a_case_is_decided_once(disputed: ReviewCase) -> None:
    expert = make_expert()
    actions.adjudicate_case(case=disputed, outcome="no_issue", step="", reason="", by=expert)
    with pytest.raises(Conflict):
        actions.adjudicate_case(case=disputed, outcome="no_issue", step="", reason="", by=expert)


def test_an_undecided_case_is_not_adjudicated() -> None:
    case = make_case()
    submit(case, make_annotator(), **ISSUE)
    with pytest.raises(Conflict):
        actions.adjudicate_case(case=case, outcome="no_issue", step="", reason="", by=make_expert())


# Element by element ------------------------------------------------------------------------------------------------


def test_the_decision_is_kept_element_by_element_with_the_proposal(disputed: ReviewCase) -> None:
    decision = actions.adjudicate_case(
        case=disputed,
        outcome="reconstruct",
        step="answer",
        reason="“Heron” is a bird here.",
        marks=[
            {"element": "gull", "mark": "missing"},
            {"element": "Heron", "mark": "incorrect"},
            {"element": "Tern", "mark": ""},
        ],
        proposal=["Marigold", "  Gull ", ""],
        by=make_expert(),
    )
    assert decision.marks == [{"element": "Heron", "mark": "incorrect"}, {"element": "Gull", "mark": "missing"}]
    assert decision.proposal == ["Marigold", "Gull"]
    assert decision.guidelines_version
    sample = disputed.sample
    sample.refresh_from_db()
    assert sample.reconstruction_reason == "“Heron” is a bird here.\n\nProposed answer:\nMarigold\nGull"
    assert sample.chosen is not None
    assert sample.chosen.answer == ["Marigold", "Heron", "Tern"], "proposed, not written: the annotator revises"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"marks": [{"element": "Heron", "mark": "incorrect"}]}, "outcome"),
        ({"marks": [{"element": "Gull", "mark": "missing"}]}, "outcome"),
        ({"marks": [{"element": "Heron", "mark": "missing"}]}, "marks"),
        ({"marks": [{"element": "never given", "mark": "missing"}]}, "marks"),
        ({"marks": ["Heron"]}, "marks"),
        ({"proposal": ["Marigold"]}, "proposal"),
        ({"proposal": ["one\ntwo"]}, "proposal"),
        ({"reason": "x" * 5000}, "reason"),
    ],
)
def test_a_decision_does_not_contradict_itself(disputed: ReviewCase, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as told:
        actions.adjudicate_case(case=disputed, outcome="no_issue", by=make_expert(), **changes)
    assert list(told.value.errors) == [field]
    disputed.refresh_from_db()
    assert disputed.state == CaseState.DISPUTED


def test_the_order_of_the_reviews_is_drawn_and_recorded_and_names_stay_hidden(disputed: ReviewCase) -> None:
    assert disputed.first_shown in {1, 2}
    (event,) = history_of(disputed).filter(action="review.dispute")
    assert event.data["first_shown"] == disputed.first_shown
    expert, lead = make_expert(), make_lead()
    actions.take_case(case=disputed, by=expert)
    for first in (1, 2):
        ReviewCase.objects.filter(pk=disputed.pk).update(first_shown=first)
        assert [review.seat for review in reviews_visible_to(expert).filter(case=disputed)] == [first, 3 - first]
    assert names_are_hidden(disputed, expert)
    assert not names_are_hidden(disputed, lead)


def reads(person: User, case: ReviewCase) -> bool:
    return reviews_visible_to(person).filter(case=case).exists()


def test_only_the_expert_who_took_the_case_reads_its_reviews(disputed: ReviewCase) -> None:
    """Not its auditor, not another expert, and nobody whose claim has ended."""
    taker, other = make_expert(), make_expert()
    auditor = disputed.sample.participations.get(job=Job.JUDGES).person
    actions.take_case(case=disputed, by=taker)
    readers = [
        person for person in (taker, other, auditor) if reviews_visible_to(person).filter(case=disputed).exists()
    ]
    assert readers == [taker]
    Claim.objects.filter(holder=taker).update(lapses_at=timezone.now() - timedelta(minutes=1))
    assert not reads(taker, disputed)
    actions.adjudicate_case(case=disputed, outcome="no_issue", by=other)
    readers = [
        person for person in (taker, other, auditor) if reviews_visible_to(person).filter(case=disputed).exists()
    ]
    assert readers == [other]


def test_the_attempt_of_an_annotator_to_decide_writes_nothing_and_is_logged(
    disputed: ReviewCase, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T-28."""
    # Whatever an earlier test of this process did to the logs.
    log = logging.getLogger("django.request")
    monkeypatch.setattr(log, "disabled", False)
    monkeypatch.setattr(log, "handlers", [*log.handlers, caplog.handler])
    client = Client()
    client.force_login(disputed.reviews.all()[0].reviewer)
    with caplog.at_level(logging.WARNING, logger="django.request"):
        answer = client.post(f"/api/v1/cases/{disputed.pk}/adjudicate/", {"outcome": "no_issue"})
    assert answer.status_code == 403
    assert any(f"/cases/{disputed.pk}/adjudicate/" in record.getMessage() for record in caplog.records)
    disputed.refresh_from_db()
    assert disputed.state == CaseState.DISPUTED
