"""A decision as it is typed: kept on the server, one draft for each expert, and no word of it lost."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Claim
from core.models import Event, User
from core.refusals import Conflict, Invalid, NotAllowed
from review import actions
from review.models import DecisionDraft, ReviewCase
from tests.factories import make_annotator, make_case, make_expert
from tests.review.words import ISSUE, submit
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> ReviewCase:
    case = make_case()
    submit(case, make_annotator(), **ISSUE)
    submit(case, make_annotator())
    case.refresh_from_db()
    return case


@pytest.fixture
def expert(case: ReviewCase) -> User:
    expert = make_expert()
    actions.take_case(case=case, by=expert)
    return expert


def form(version: int, **more: Any) -> dict[str, Any]:
    """The page's form with one element decided; rows are numbered as on the page."""
    decided = {"row": ["2", "4"], "element": ["Heron", "Gull"], "decided-2": "incorrect", "decided-4": ""}
    return {"version": version, **decided, "decision": "answer", "reason": "“Heron” is", "proposal": "Marigold", **more}


def address(case: ReviewCase) -> str:
    return reverse("review:case_adjudicate", args=[case.pk])


def test_a_decision_saves_itself_and_is_read_again_on_another_machine(case: ReviewCase, expert: User) -> None:
    here, there = client_of(expert), client_of(expert)
    answer = here.post(f"{address(case)}draft/", form(0))
    assert (answer.status_code, answer.json()) == (200, {"version": 1})
    page = there.get(address(case))
    assert page.context["decision"].choice == "answer"
    assert page.context["proposal"] == "Marigold"
    assert {row.row.element: row.decided.mark for row in page.context["rows"]}["Heron"] == "incorrect"
    assert "“Heron” is</textarea>" in page.text
    assert 'name="version" value="1"' in page.text

    decided = there.post(address(case), form(1, reason="“Heron” is a bird here."))
    assert decided.headers["Location"] == reverse("review:review_list")
    assert not DecisionDraft.objects.filter(case=case).exists()
    again = there.post(address(case), form(1, reason="“Heron” is a bird here."))
    assert again.headers["Location"] == reverse("review:review_list"), "a double click has one effect"
    assert Event.objects.filter(action="review.adjudicate").count() == 1


def test_what_was_saved_in_another_window_is_shown_and_not_overwritten(case: ReviewCase, expert: User) -> None:
    client = client_of(expert)
    client.post(f"{address(case)}draft/", form(0))
    late = client.post(f"{address(case)}draft/", form(0, reason="Typed in the second window."))
    assert late.status_code == 409
    assert late.json()["rule"] == "stale_version"
    assert late.json()["current"]["reason"] == "“Heron” is"
    assert late.json()["sent"]["reason"] == "Typed in the second window."
    same = client.post(f"{address(case)}draft/", form(0))
    assert (same.status_code, same.json()) == (200, {"version": 1}), "the same text twice is no conflict"

    for do in ({"do": "save"}, {}):
        page = client.post(address(case), form(0, reason="Typed in the second window.", **do))
        assert page.status_code == 409
        assert "“Heron” is" in page.text
        assert "Typed in the second window.</textarea>" in page.text
    assert 'name="version" value="1"' in page.text
    kept = client.post(address(case), form(1, reason="Typed in the second window.", do="save"))
    assert kept.headers["Location"] == address(case)
    assert DecisionDraft.objects.get(case=case).reason == "Typed in the second window."


def test_a_draft_may_have_gaps_but_keeps_its_shape(case: ReviewCase, expert: User) -> None:
    draft = actions.save_decision(case=case, version=0, choice="question", by=expert)
    assert (draft.version, draft.reason, draft.marks) == (1, "", [])
    for wrong in (
        {"choice": "perhaps"},
        {"reason": "x" * 5000},
        {"marks": [{"element": "never given", "mark": "missing"}]},
        {"proposal": "\n".join(["x"] * 300)},
    ):
        with pytest.raises(Invalid):
            actions.save_decision(case=case, version=1, by=expert, **wrong)
    answer = client_of(expert).post(f"{address(case)}draft/", form(1, reason="x" * 5000))
    assert answer.status_code == 400
    draft.refresh_from_db()
    assert draft.version == 1


def test_each_expert_has_a_draft_of_their_own_and_who_lost_the_case_loses_no_word(
    case: ReviewCase, expert: User
) -> None:
    actions.save_decision(case=case, version=0, reason="The first expert's words.", by=expert)
    Claim.objects.filter(holder=expert).update(lapses_at=timezone.now() - timedelta(minutes=1))
    other = make_expert()
    with pytest.raises(NotAllowed) as told:
        actions.save_decision(case=case, version=0, reason="Not taken.", by=other)
    assert told.value.rule == "case_not_taken"
    actions.take_case(case=case, by=other)
    assert "The first expert's words." not in client_of(other).get(address(case)).text
    late = actions.save_decision(case=case, version=1, reason="Typed too late.", by=expert)
    assert late.reason == "Typed too late."
    assert "Typed too late." not in client_of(other).get(address(case)).text
    assert Claim.objects.get(sample=case.sample, ended_at=None).holder == other
    actions.adjudicate_case(case=case, outcome="no_issue", by=other)
    with pytest.raises(Conflict):
        actions.save_decision(case=case, version=2, by=expert)
    assert DecisionDraft.objects.get(case=case).reason == "Typed too late."


def test_a_lapsed_claim_is_taken_again_by_typing(case: ReviewCase, expert: User) -> None:
    Claim.objects.filter(holder=expert).update(lapses_at=timezone.now() - timedelta(minutes=1))
    actions.save_decision(case=case, version=0, reason="After lunch.", by=expert)
    assert Claim.objects.get(sample=case.sample, ended_at=None, lapses_at__gt=timezone.now()).holder == expert


def test_reviewers_and_annotators_draft_no_decision(case: ReviewCase, expert: User) -> None:
    for person in (case.reviews.all()[0].reviewer, make_annotator()):
        with pytest.raises(NotAllowed):
            actions.save_decision(case=case, version=0, by=person)
        assert client_of(person).post(f"{address(case)}draft/", form(0)).status_code in {403, 404}


def test_a_program_keeps_and_reads_its_decision_by_the_same_rules(case: ReviewCase, expert: User) -> None:
    client, address = client_of(expert), f"/api/v1/cases/{case.pk}/decision/"
    body = {"version": 0, "choice": "question", "marks": [{"element": "Heron", "mark": "incorrect"}]}
    assert client.post(address, body, content_type="application/json").json()["version"] == 1
    assert client.get(address).json()["marks"] == body["marks"]
    late = client.post(address, {**body, "choice": "answer"}, content_type="application/json")
    assert (late.status_code, late.json()["rule"]) == (409, "stale_version")
    assert client_of(make_expert()).get(address).status_code == 404
