"""What users of such tools report (T-26 to T-37), tried on ours: the numbers that no other test of this folder has."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.models import Sample
from annotation.workflow import SampleState
from core.models import BenchmarkSettings
from core.refusals import Conflict
from review import actions
from review.auditing import results
from review.models import AnswerReview
from tests.factories import make_annotator, make_case, make_expert, make_lead
from tests.release.parts import make_ready_sample
from tests.review.test_quality import CHECKS, accepted, scores
from tests.review.words import ISSUE, save, submit
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db


def test_the_second_reviewer_gets_the_same_case_blind_after_the_first_is_done() -> None:
    """T-26."""
    case, first, second = make_case(), make_annotator(), make_annotator()
    submit(case, first, **ISSUE)
    client = client_of(second)
    begun = client.post(reverse("review:review_next"), follow=True)
    assert begun.redirect_chain[-1][0] == reverse("review:case_review", args=[case.pk])
    assert ISSUE["issues"][0]["note"] not in begun.text
    assert first.name not in begun.text
    assert client_of(first).post(reverse("review:review_next"), follow=True).request["PATH_INFO"] == "/reviews/"


@pytest.mark.parametrize("method", ["patch", "put", "delete"])
def test_nobody_changes_or_deletes_what_another_wrote(method: str) -> None:
    """T-29."""
    case = make_case()
    mine = save(actions.take_seat(case=case, by=make_annotator()), additions=["Petrel"])
    stranger = client_of(make_annotator())
    before = AnswerReview.objects.values().get(pk=mine.pk)
    for address in (f"reviews/{mine.pk}", f"cases/{case.pk}", f"cases/{case.pk}/review", f"samples/{case.sample_id}"):
        answer = getattr(stranger, method)(f"/api/v1/{address}/", {"additions": []}, content_type="application/json")
        assert answer.status_code in {403, 404, 405}, address
    assert AnswerReview.objects.values().get(pk=mine.pk) == before
    assert AnswerReview.objects.count() == 1


def test_no_expert_opens_a_case_with_one_review_and_nobody_edits_after_adjudication_began() -> None:
    """T-30."""
    case, expert = make_case(), make_expert()
    first = submit(case, make_annotator(), **ISSUE)
    with pytest.raises(Conflict):
        actions.take_case(case=case, by=expert)
    page = client_of(expert).get(reverse("review:case_adjudicate", args=[case.pk]), follow=True)
    assert ISSUE["issues"][0]["note"] not in page.text
    second = submit(case, make_annotator())
    case.refresh_from_db()
    actions.take_case(case=case, by=expert)
    for review in (first, second):
        with pytest.raises(Conflict) as told:
            save(review, additions=["Typed after the expert had begun."])
        assert told.value.rule == "review_frozen"
        address = f"/api/v1/cases/{case.pk}/review/"
        answer = client_of(review.reviewer).post(address, {"submit": True}, content_type="application/json")
        assert answer.status_code == 409
    assert not AnswerReview.objects.exclude(additions=[]).exists()


def test_what_is_finished_but_not_accepted_is_not_released_and_the_reason_is_said(tmp_path: Path) -> None:
    """T-34."""
    settings = BenchmarkSettings.load()
    settings.unit, settings.samples_per_cell = 8, 0
    settings.save()
    sample = make_ready_sample()
    Sample.objects.filter(pk=sample.pk).update(state=SampleState.IN_ADJUDICATION)
    with pytest.raises(CommandError) as refused:
        call_command("release", "1.0", "--out", str(tmp_path / "none"))
    assert "No sample is accepted yet" in str(refused.value)
    assert not (tmp_path / "none").exists()
    Sample.objects.filter(pk=sample.pk).update(state=SampleState.ACCEPTED)
    said = StringIO()
    call_command("release", "1.0", "--out", str(tmp_path / "one"), stdout=said)
    assert "1 samples" in said.getvalue()


def test_a_sample_with_two_of_three_scores_is_left_out_and_counted() -> None:
    """T-37."""
    for _place in range(2):
        accepted()
    audit = actions.draw_audit(size=2, seed=1, by=make_lead())
    whole, partly = audit.samples.all()
    experts = [make_expert() for _place in range(3)]
    for expert in experts:
        actions.score_audited(audited=whole, scores=scores(), attributes=CHECKS, by=expert)
    for expert in experts[:2]:
        actions.score_audited(audited=partly, scores=scores(0), attributes=CHECKS, by=expert)
    found = results(audit)
    assert (found.drawn, found.scored) == (2, 1)
    assert {row.samples for row in found.rows} == {1}
    assert "1 of 2 drawn samples have all three scores" in client_of(make_lead()).get("/quality/").text
