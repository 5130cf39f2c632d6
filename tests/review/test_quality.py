import csv
import io
from collections import Counter
from typing import Any

import pytest
from django.test import Client

from annotation.models import Sample
from annotation.workflow import Job, SampleState
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from review import actions, sampling
from review.agreement import fleiss_interval, fleiss_kappa
from review.auditing import results
from review.models import AuditedSample, QualityAudit
from review.queries import audited_offered_to, scores_visible_to
from tests.factories import make_annotator, make_case, make_expert, make_lead, make_standardized_sample, make_version

pytestmark = pytest.mark.django_db

CHECKS = dict.fromkeys(actions.ATTRIBUTES, True)


def scores(value: Any = 1, **others: Any) -> dict[str, Any]:
    return {
        dimension: {"score": others.get(dimension, value), "why": "because"}
        for dimension in ("task_alignment", "context_requirement", "authenticity", "answer_correctness")
    }


def accepted(**more: Any) -> Sample:
    sample = make_standardized_sample(state=SampleState.ACCEPTED, **more)
    make_case(sample, state="accepted")
    return sample


@pytest.fixture
def audited() -> AuditedSample:
    accepted()
    return actions.draw_audit(size=1, seed=1, by=make_lead()).samples.get()


def test_a_draw_is_uniform_over_task_language_and_bucket() -> None:
    for bucket, count in (("8k", 6), ("16k", 2), ("32k", 2)):
        for _place in range(count):
            accepted(version=make_version(bucket=bucket))
    drawn = actions.draw_audit(size=6, seed=7, by=make_lead()).samples.all()
    assert Counter(row.sample.bucket for row in drawn) == {"8k": 2, "16k": 2, "32k": 2}


def test_the_same_seed_draws_the_same_samples_and_another_seed_others() -> None:
    samples = [accepted() for _place in range(12)]
    first = sampling.draw(samples, size=5, seed=3)
    assert sampling.draw(list(reversed(samples)), size=5, seed=3) == first
    assert any(sampling.draw(samples, size=5, seed=seed) != first for seed in range(4, 8))
    assert len(set(first)) == 5


def test_only_accepted_samples_of_approved_documents_are_drawn() -> None:
    good, blocked = accepted(), accepted()
    make_standardized_sample(state=SampleState.IN_REVIEW)
    type(blocked.document_version).objects.filter(pk=blocked.document_version_id).update(state="rejected")
    audit = actions.draw_audit(size=300, seed=1, by=make_lead())
    assert [row.sample for row in audit.samples.all()] == [good]


def test_drawing_is_a_leads_and_needs_an_accepted_sample_and_a_size() -> None:
    with pytest.raises(NotAllowed):
        actions.draw_audit(size=1, seed=1, by=make_expert())
    with pytest.raises(RuleBroken) as told:
        actions.draw_audit(size=1, seed=1, by=make_lead())
    assert told.value.rule == "nothing_to_draw"
    with pytest.raises(Invalid) as wrong:
        actions.draw_audit(size=0, seed=2**70, by=make_lead())
    assert set(wrong.value.errors) == {"size", "seed"}
    assert not QualityAudit.objects.exists()


def test_three_experts_score_a_sample_and_the_fourth_is_told(audited: AuditedSample) -> None:
    for _place in range(3):
        actions.score_audited(audited=audited, scores=scores(), attributes=CHECKS, by=make_expert())
    with pytest.raises(Conflict) as told:
        actions.score_audited(audited=audited, scores=scores(), attributes=CHECKS, by=make_expert())
    assert told.value.rule == "seats_taken"
    assert audited.scores.count() == 3


def test_scores_are_final(audited: AuditedSample) -> None:
    expert = make_expert()
    actions.score_audited(audited=audited, scores=scores(), attributes=CHECKS, by=expert)
    with pytest.raises(Conflict) as told:
        actions.score_audited(audited=audited, scores=scores(0), attributes=CHECKS, by=expert)
    assert told.value.rule == "scored_already"


def test_only_experts_without_a_part_in_making_the_sample_score_it(audited: AuditedSample) -> None:
    auditor = audited.sample.participations.get(job=Job.JUDGES).person
    for person in (make_annotator(), make_lead(), auditor):
        assert not actions.can_score_audited(person, audited)
        with pytest.raises(NotAllowed):
            actions.score_audited(audited=audited, scores=scores(), attributes=CHECKS, by=person)


@pytest.mark.parametrize("value", [None, 2, 0.25, "1", True])
def test_a_score_is_nought_half_or_one(audited: AuditedSample, value: Any) -> None:
    with pytest.raises(Invalid) as told:
        actions.score_audited(audited=audited, scores=scores(authenticity=value), attributes=CHECKS, by=make_expert())
    assert list(told.value.errors) == ["authenticity"]


def test_every_score_is_explained_and_every_attribute_checked(audited: AuditedSample) -> None:
    unexplained = scores()
    unexplained["authenticity"]["why"] = "  "
    with pytest.raises(Invalid) as told:
        actions.score_audited(audited=audited, scores=unexplained, attributes=CHECKS, by=make_expert())
    assert list(told.value.errors) == ["authenticity"]
    with pytest.raises(Invalid) as told:
        actions.score_audited(
            audited=audited, scores=scores(), attributes={**CHECKS, "answer": "yes"}, by=make_expert()
        )
    assert list(told.value.errors) == ["answer"]


def test_others_scores_are_hidden_until_all_three_are_in(audited: AuditedSample) -> None:
    experts: list[User] = [make_expert() for _place in range(3)]
    lead = make_lead()
    for expert in experts[:2]:
        actions.score_audited(audited=audited, scores=scores(), attributes=CHECKS, by=expert)
    assert [score.scorer for score in scores_visible_to(experts[0])] == [experts[0]]
    assert not scores_visible_to(experts[2]).exists()
    assert scores_visible_to(lead).count() == 2
    assert results(audited.audit).scored == 0
    assert audited_offered_to(experts[2]).get() == audited

    actions.score_audited(audited=audited, scores=scores(), attributes=CHECKS, by=experts[2])
    assert scores_visible_to(experts[0]).count() == 3
    assert not scores_visible_to(make_annotator()).exists()


def test_results_report_mean_deviation_kappa_and_the_computed_difficulty() -> None:
    for _place in range(2):
        accepted()
    audit = actions.draw_audit(size=2, seed=1, by=make_lead())
    first, second = audit.samples.all()
    experts = [make_expert() for _place in range(3)]
    for expert, value in zip(experts, (1, 1, 0.5), strict=True):
        actions.score_audited(audited=first, scores=scores(authenticity=value), attributes=CHECKS, by=expert)
    for expert in experts:
        actions.score_audited(
            audited=second, scores=scores(authenticity=0), attributes={**CHECKS, "answer": False}, by=expert
        )
    found = results(audit)
    rows = {row.dimension: row for row in found.rows}
    assert found.scored == 2
    # means of the two samples: 2.5 / 3 and 0
    assert rows["authenticity"].mean == pytest.approx(2.5 / 6)
    assert rows["authenticity"].deviation == pytest.approx(2.5 / 6)
    # counts (0, 1, 2) and (3, 0, 0): P = 2/3, Pe = (9 + 1 + 4) / 36
    assert rows["authenticity"].kappa == pytest.approx((2 / 3 - 14 / 36) / (1 - 14 / 36))
    assert rows["task_alignment"].mean == 1
    assert rows["task_alignment"].kappa is None
    # four of the five predictions were right
    assert rows["difficulty"].mean == 0
    assert {row.attribute: (row.right, row.asked) for row in found.attributes}["answer"] == (3, 6)


def test_the_difficulty_score_waits_for_five_answers(audited: AuditedSample) -> None:
    run = audited.standardization.case.prediction_run
    assert run is not None
    last = run.run_calls.last()
    assert last is not None
    type(last.call).objects.filter(pk=last.call_id).update(state="failed")
    for _place in range(3):
        actions.score_audited(audited=audited, scores=scores(), attributes=CHECKS, by=make_expert())
    rows = {row.dimension: row for row in results(audited.audit).rows}
    assert rows["difficulty"].mean is None


def test_a_drawn_sample_is_replaced_by_one_of_its_cell_and_counts_no_more() -> None:
    lead = make_lead()
    for task in ("T1.1", "T1.2", "T1.2"):
        accepted(task_code=task)
    audit = actions.draw_audit(size=2, seed=1, by=lead)
    old = audit.samples.get(sample__task_code="T1.2")
    for _place in range(3):
        actions.score_audited(audited=old, scores=scores(0), attributes=CHECKS, by=make_expert())
    with pytest.raises(NotAllowed):
        actions.replace_audited(audited=old, reason="Broken.", by=make_expert())
    with pytest.raises(Invalid):
        actions.replace_audited(audited=old, reason=" ", by=lead)
    new = actions.replace_audited(audited=old, reason="Its document is cut off.", by=lead)
    assert (new.sample.task_code, new.position) == ("T1.2", 3)
    assert results(audit).scored == 0
    assert (results(audit).drawn, results(audit).replaced) == (2, 1)
    with pytest.raises(Conflict):
        actions.replace_audited(audited=old, reason="Again.", by=lead)
    with pytest.raises(Conflict):
        actions.score_audited(audited=old, scores=scores(), attributes=CHECKS, by=make_expert())
    assert old not in audited_offered_to(make_expert())
    with pytest.raises(RuleBroken):
        actions.replace_audited(audited=new, reason="None is left.", by=lead)


def test_where_a_cell_is_used_up_the_emptiest_one_gives() -> None:
    lead = make_lead()
    for task in ("T1.1", "T1.1", "T2.1"):
        accepted(task_code=task)
    audit = actions.draw_audit(size=2, seed=1, by=lead)
    old = audit.samples.get(sample__task_code="T2.1")
    assert actions.replace_audited(audited=old, reason="Unclear.", by=lead).sample.task_code == "T1.1"


def test_the_interval_holds_the_kappa_and_is_none_where_nothing_varies() -> None:
    counts = [[0, 1, 2], [3, 0, 0], [0, 0, 3], [0, 3, 0], [1, 2, 0]] * 6
    kappa, interval = fleiss_kappa(counts), fleiss_interval(counts)
    assert kappa is not None
    assert interval is not None
    assert interval[0] < kappa < interval[1]
    assert interval == fleiss_interval(counts)
    assert fleiss_interval([[0, 0, 3]] * 4) is None
    assert fleiss_interval([]) is None


def test_the_overall_score_says_what_it_would_be_without_a_sample_and_lists_are_exported(client: Client) -> None:
    lead = make_lead()
    for _place in range(2):
        accepted()
    audit = actions.draw_audit(size=2, seed=1, by=lead)
    experts = [make_expert() for _place in range(3)]
    for audited, value in zip(audit.samples.all(), (1, 0), strict=True):
        for expert in experts:
            actions.score_audited(audited=audited, scores=scores(value), attributes=CHECKS, by=expert)
    found = results(audit)
    # four scored dimensions, and nought for difficulty: four of the five predictions were right
    assert found.overall == pytest.approx(0.4)
    assert [one.overall_without for one in found.worst] == [pytest.approx(0.8), pytest.approx(0.0)]
    client.force_login(lead)
    page = client.get("/quality/").content.decode()
    assert "0.400" in page
    body = b"".join(client.get("/quality/?format=scores").streaming_content).decode()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(body.removeprefix("\ufeff"))))
    assert len(rows) == 6
    assert {row["expert"] for row in rows} == {expert.pseudonym for expert in experts}
    assert {row["authenticity"] for row in rows} == {"0", "1"}
    body = b"".join(client.get("/quality/?format=results").streaming_content).decode()  # type: ignore[attr-defined]
    table = {row["measure"]: row for row in csv.DictReader(io.StringIO(body.removeprefix("\ufeff")))}
    assert table["overall"]["mean"] == "0.4"
    assert table["answer right"]["mean"] == "1.0"
    client.force_login(make_annotator())
    assert client.get("/quality/?format=scores").status_code == 403


def test_scores_that_are_still_blind_are_in_no_list(client: Client, audited: AuditedSample) -> None:
    expert = make_expert()
    actions.score_audited(audited=audited, scores=scores(), attributes=CHECKS, by=expert)
    client.force_login(make_expert())
    body = b"".join(client.get("/quality/?format=scores").streaming_content).decode()  # type: ignore[attr-defined]
    assert expert.pseudonym not in body
    assert body.count("\n") == 1


def test_a_lead_replaces_on_the_page_and_hears_why_not(client: Client, audited: AuditedSample) -> None:
    lead = make_lead()
    client.force_login(lead)
    answer = client.post(f"/quality/{audited.pk}/replace/", {"reason": "Broken."}, follow=True)
    assert "none is left to stand in" in answer.content.decode()
    accepted()
    answer = client.post(f"/quality/{audited.pk}/replace/", {"reason": "Broken."}, follow=True)
    assert "stands in the place of" in answer.content.decode()
