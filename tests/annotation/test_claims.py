"""Claims: one person at a time, lapse, limit, take-over; and nobody with two jobs on one sample."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from annotation import actions, claims
from annotation.models import Claim, Participation, Sample
from annotation.workflow import ClaimEnd, Job, SampleState
from benchmark.taxonomy import Language
from core.history import history_of
from core.models import BenchmarkSettings, User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from documents.workflow import VersionState
from tests.annotation.scenes import candidate_at, claimed_sample, first_candidate, sample_in_audit, submitted_sample
from tests.factories import make_annotator, make_claim, make_expert, make_lead, make_sample

pytestmark = pytest.mark.django_db


def let_lapse(claim: Claim) -> None:
    Claim.objects.filter(pk=claim.pk).update(lapses_at=timezone.now() - timedelta(seconds=5))


def test_claiming_makes_the_person_the_samples_annotator() -> None:
    sample, annotator = make_sample(), make_annotator()
    claim = actions.claim_sample(sample=sample, by=annotator)
    assert sample.annotator == annotator
    assert Participation.objects.get(sample=sample).job == Job.VERIFIES
    assert timedelta(hours=3, minutes=59) < claim.lapses_at - timezone.now() <= timedelta(hours=4)


def test_a_claimed_sample_is_refused_to_anybody_else() -> None:
    sample, _annotator = claimed_sample()
    with pytest.raises(Conflict) as refused:
        actions.claim_sample(sample=sample, by=make_annotator())
    assert refused.value.rule == "claimed_by_another"


def test_claiming_again_prolongs_the_own_claim() -> None:
    sample, annotator = claimed_sample()
    Claim.objects.update(lapses_at=timezone.now() + timedelta(minutes=1))
    claim = actions.claim_sample(sample=sample, by=annotator)
    assert Claim.objects.get() == claim
    assert claim.lapses_at > timezone.now() + timedelta(hours=3)


def test_the_database_itself_refuses_a_second_active_claim() -> None:
    sample, _annotator = claimed_sample()
    with pytest.raises(IntegrityError), transaction.atomic():
        make_claim(sample, make_annotator())


def test_any_action_prolongs_the_claim() -> None:
    sample, annotator = claimed_sample()
    Claim.objects.update(lapses_at=timezone.now() + timedelta(minutes=1))
    actions.read_candidate(candidate=first_candidate(sample), by=annotator)
    assert Claim.objects.get().lapses_at > timezone.now() + timedelta(hours=3)


def test_a_lapsed_claim_lets_its_holder_do_nothing_until_they_claim_again() -> None:
    sample, annotator = claimed_sample()
    let_lapse(Claim.objects.get())
    with pytest.raises(Conflict) as refused:
        actions.read_candidate(candidate=first_candidate(sample), by=annotator)
    assert refused.value.rule == "claim_needed"
    actions.claim_sample(sample=sample, by=annotator)
    assert actions.read_candidate(candidate=first_candidate(sample), by=annotator).state == "task_a"


def test_a_lapsed_claim_ends_when_somebody_else_claims_and_what_was_done_stays() -> None:
    sample, annotator = claimed_sample()
    candidate = actions.read_candidate(candidate=first_candidate(sample), by=annotator)
    let_lapse(Claim.objects.get())
    second = make_annotator()
    actions.claim_sample(sample=sample, by=second)
    old, new = Claim.objects.order_by("pk")
    candidate.refresh_from_db()
    assert (old.ended_how, new.holder, candidate.state) == (ClaimEnd.LAPSED, second, "task_a")


def test_the_idle_time_and_the_limit_are_settings() -> None:
    settings = BenchmarkSettings.load()
    settings.claim_idle_minutes, settings.claims_per_person = 10, 1
    settings.save()
    annotator = make_annotator()
    claim = actions.claim_sample(sample=make_sample(), by=annotator)
    assert claim.lapses_at < timezone.now() + timedelta(minutes=11)
    with pytest.raises(RuleBroken) as refused:
        actions.claim_sample(sample=make_sample(), by=annotator)
    assert refused.value.rule == "too_many_claims"


def test_a_lapsed_claim_does_not_count_to_the_limit() -> None:
    BenchmarkSettings.load()
    BenchmarkSettings.objects.update(claims_per_person=1)
    _sample, annotator = claimed_sample()
    let_lapse(Claim.objects.get())
    assert actions.claim_sample(sample=make_sample(), by=annotator).pk


def test_a_released_sample_can_be_claimed_by_another() -> None:
    sample, annotator = claimed_sample()
    actions.release_claim(sample=sample, by=annotator)
    assert actions.claim_sample(sample=sample, by=make_annotator()).pk
    assert Claim.objects.order_by("pk")[0].ended_how == ClaimEnd.RELEASED


def test_only_the_holder_releases_a_claim() -> None:
    sample, _annotator = claimed_sample()
    with pytest.raises(Conflict):
        actions.release_claim(sample=sample, by=make_annotator())


def test_a_lead_does_no_stage_work() -> None:
    lead, sample = make_lead(), make_sample()
    with pytest.raises(NotAllowed):
        actions.claim_sample(sample=sample, by=lead)
    with pytest.raises(NotAllowed):
        actions.claim_next(by=lead)
    with pytest.raises(NotAllowed):
        actions.read_candidate(candidate=first_candidate(sample), by=lead)


@pytest.mark.parametrize(
    "state", [SampleState.PLANNED, SampleState.DRAFTING, SampleState.IN_REVIEW, SampleState.ACCEPTED]
)
def test_a_sample_that_waits_for_nobody_is_not_claimed(state: str) -> None:
    with pytest.raises(Conflict) as refused:
        actions.claim_sample(sample=make_sample(state=state), by=make_annotator())
    assert refused.value.details["state"] == state


# Next ----------------------------------------------------------------------------------------------------------


def test_next_gives_the_own_returned_sample_first_then_the_oldest() -> None:
    annotator = make_annotator()
    oldest, newer = make_sample(), make_sample()
    returned = make_sample(state=SampleState.RETURNED, annotator=annotator)
    given = [actions.claim_next(by=annotator) for _i in range(4)]
    assert given == [returned, oldest, newer, None]


def test_next_never_gives_another_persons_returned_sample() -> None:
    make_sample(state=SampleState.RETURNED, annotator=make_annotator())
    assert actions.claim_next(by=make_annotator()) is None


def test_next_never_gives_a_sample_on_which_the_person_has_another_job() -> None:
    sample, expert = make_sample(), make_expert()
    actions.join_sample(sample=sample, person=expert, job=Job.JUDGES)
    assert actions.claim_next(by=expert) is None


def test_next_passes_over_blocked_samples() -> None:
    sample = make_sample()
    sample.document_version.state = VersionState.REJECTED
    sample.document_version.save()
    assert actions.claim_next(by=make_annotator()) is None


def test_a_returned_sample_is_refused_to_anybody_but_its_annotator() -> None:
    sample = make_sample(state=SampleState.RETURNED, annotator=make_annotator())
    with pytest.raises(RuleBroken) as refused:
        actions.claim_sample(sample=sample, by=make_annotator())
    assert refused.value.rule == "belongs_to_its_annotator"


def test_next_gives_the_own_unfinished_work_before_what_is_new() -> None:
    annotator = make_annotator()
    make_sample()
    begun = make_sample(annotator=annotator)
    to_standardize = make_sample(state=SampleState.IN_STANDARDIZATION, annotator=annotator)
    assert [actions.claim_next(by=annotator) for _i in range(2)] == [to_standardize, begun]


def test_next_gives_samples_of_the_persons_languages_and_tasks_and_whatever_they_have_begun() -> None:
    annotator = make_annotator()
    annotator.work_languages, annotator.work_tasks = ["Chinese"], ["T1.2", "T2.1"]
    annotator.save()
    make_sample()
    make_sample(language=Language.CHINESE, task_code="T3.1")
    fits = make_sample(language=Language.CHINESE, task_code="T2.1")
    returned = make_sample(state=SampleState.RETURNED, annotator=annotator)
    assert [actions.claim_next(by=annotator) for _i in range(3)] == [returned, fits, None]
    assert actions.claim_next(by=make_annotator()) is not None


def test_next_gives_an_expert_the_audits_of_others_before_new_samples() -> None:
    free, (submitted, _annotator) = make_sample(), submitted_sample()
    expert = make_expert()
    assert [actions.claim_next(by=expert) for _i in range(3)] == [submitted, free, None]


def test_when_the_browser_was_closed_the_next_person_gets_the_sample_after_the_lease() -> None:
    """T-24: the lease ends by the database's clock, and nobody hears that nothing waits while work is left."""
    first, second = make_annotator(), make_annotator()
    sample = make_sample()
    assert actions.claim_next(by=first) == sample
    assert actions.claim_next(by=second) is None  # it is being worked on
    let_lapse(Claim.objects.get())
    assert actions.claim_next(by=second) == sample
    assert sample.claims.order_by("pk")[0].ended_how == ClaimEnd.LAPSED


@pytest.mark.parametrize("hours", [-6, 6])
def test_a_web_process_with_a_wrong_clock_neither_ends_nor_prolongs_a_lease(
    hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I-03: only the database's clock counts."""
    first, second, sample = make_annotator(), make_annotator(), make_sample()
    right = timezone.now()
    with monkeypatch.context() as patch:
        patch.setattr("django.utils.timezone.now", lambda: right + timedelta(hours=hours))
        claim = actions.claim_sample(sample=sample, by=first)
        assert actions.claim_next(by=second) is None
    assert timedelta(hours=3, minutes=59) < claim.lapses_at - right < timedelta(hours=4, minutes=1)


# The claim's number ------------------------------------------------------------------------------------------------


def read_with(number: int | None, sample: Sample, by: User) -> str:
    with claims.carrying(number):
        return actions.read_candidate(candidate=first_candidate(sample), by=by).state


def test_a_write_with_the_number_of_the_claim_is_taken_and_with_none_as_well() -> None:
    sample, annotator = claimed_sample()
    assert read_with(Claim.objects.get().pk, sample, annotator) == "task_a"
    second = sample.candidates.order_by("position")[1]
    assert actions.read_candidate(candidate=second, by=annotator).state == "task_a"


def test_an_old_number_is_refused_once_the_sample_was_in_other_hands() -> None:
    """I-04: the page from before the lapse must not write over what another did meanwhile."""
    sample, annotator = claimed_sample()
    old, second = Claim.objects.get(), make_annotator()
    let_lapse(old)
    let_lapse(actions.claim_sample(sample=sample, by=second))
    actions.claim_sample(sample=sample, by=annotator)
    with pytest.raises(Conflict) as refused:
        read_with(old.pk, sample, annotator)
    assert refused.value.rule == "claim_outdated"
    assert first_candidate(sample).state == "read"
    assert read_with(Claim.objects.latest("pk").pk, sample, annotator) == "task_a"


def test_an_old_number_is_good_while_nobody_else_held_the_sample() -> None:
    sample, annotator = claimed_sample()
    old = Claim.objects.get()
    let_lapse(old)
    actions.claim_sample(sample=sample, by=annotator)
    assert read_with(old.pk, sample, annotator) == "task_a"


def test_a_number_of_another_sample_or_person_is_refused() -> None:
    sample, annotator = claimed_sample()
    other, _second = claimed_sample()
    for number in (other.claims.get().pk, 10**9):
        with pytest.raises(Conflict) as refused:
            read_with(number, sample, annotator)
        assert refused.value.rule == "claim_outdated"


def test_pages_and_programs_carry_the_number_and_the_typed_text_is_given_back() -> None:
    candidate, annotator = candidate_at("task_a")
    sample = candidate.sample
    old, second = sample.claims.get(), make_annotator()
    let_lapse(old)
    let_lapse(actions.claim_sample(sample=sample, by=second))
    actions.claim_sample(sample=sample, by=annotator)
    client, program = Client(), APIClient()
    client.force_login(annotator)
    program.force_authenticate(annotator)
    typed = "Which of the ships paid more than nine crowns?"
    form = {"part": "question", "question": typed, "version": 1, "claim": old.pk}
    page = client.post(f"/candidates/{candidate.pk}/edit", form)
    assert (page.status_code, typed in page.content.decode()) == (409, True)
    body = {"question": typed, "version": 1, "claim": old.pk}
    answer = program.post(f"/api/v1/candidates/{candidate.pk}/edit/", body, format="json")
    assert (answer.status_code, answer.json()["rule"]) == (409, "claim_outdated")
    candidate.refresh_from_db()
    assert candidate.version == 1
    held = program.get(f"/api/v1/samples/{sample.pk}/").json()["claim"]
    answer = program.post(f"/api/v1/candidates/{candidate.pk}/edit/", {**body, "claim": held}, format="json")
    assert answer.status_code == 200
    assert program.post(f"/api/v1/candidates/{candidate.pk}/read/", {"claim": "x"}, format="json").status_code == 400


# Take-over -----------------------------------------------------------------------------------------------------


def test_a_lead_hands_a_sample_to_another_with_the_reason() -> None:
    sample, _annotator = claimed_sample()
    lead, second = make_lead(), make_annotator()
    actions.take_over_sample(sample=sample, holder=second, reason="On leave.", by=lead)
    old, new = Claim.objects.order_by("pk")
    assert (old.ended_how, new.holder, sample.annotator) == (ClaimEnd.TAKEN_OVER, second, second)
    assert "On leave." in [event.reason for event in history_of(sample)]


def test_a_returned_sample_goes_on_with_the_person_who_took_it_over() -> None:
    sample = make_sample(state=SampleState.RETURNED, annotator=make_annotator())
    second = make_annotator()
    actions.take_over_sample(sample=sample, holder=second, reason="Left.", by=make_lead())
    actions.release_claim(sample=sample, by=second)
    assert actions.claim_next(by=second) == sample


def test_a_take_over_needs_a_lead_and_a_reason() -> None:
    sample, _annotator = claimed_sample()
    with pytest.raises(NotAllowed):
        actions.take_over_sample(sample=sample, holder=make_annotator(), reason="Mine.", by=make_expert())
    with pytest.raises(Invalid) as refused:
        actions.take_over_sample(sample=sample, holder=make_annotator(), reason=" ", by=make_lead())
    assert "reason" in refused.value.errors


def test_a_sample_is_not_handed_to_a_lead_nor_its_audit_to_an_annotator() -> None:
    lead = make_lead()
    with pytest.raises(Invalid):
        actions.take_over_sample(sample=make_sample(), holder=lead, reason="So.", by=lead)
    with pytest.raises(Invalid):
        actions.take_over_sample(
            sample=make_sample(state=SampleState.IN_AUDIT), holder=make_annotator(), reason="So.", by=lead
        )


def test_a_take_over_keeps_to_the_limit_of_the_person_who_gets_the_sample() -> None:
    BenchmarkSettings.load()
    BenchmarkSettings.objects.update(claims_per_person=1)
    lead, second = make_lead(), make_annotator()
    sample, _annotator = claimed_sample()
    actions.claim_sample(sample=make_sample(), by=second)
    with pytest.raises(RuleBroken) as refused:
        actions.take_over_sample(sample=sample, holder=second, reason="On leave.", by=lead)
    assert refused.value.rule == "too_many_claims"
    held = second.claims.get().sample
    # What is theirs already is no more than before.
    actions.take_over_sample(sample=held, holder=second, reason="Again.", by=lead)
    assert second.claims.filter(ended_at=None).count() == 1


def test_who_has_lost_a_sample_is_told_who_has_it_and_a_reviewer_is_not() -> None:
    sample, annotator = claimed_sample()
    second, reviewer = make_annotator(), make_annotator()
    actions.take_over_sample(sample=sample, holder=second, reason="On leave.", by=make_lead())
    with pytest.raises(Conflict, match=second.name) as refused:
        actions.read_candidate(candidate=first_candidate(sample), by=annotator)
    assert (refused.value.rule, refused.value.details["held"]) == ("claim_needed", True)
    with pytest.raises(Conflict, match=second.name):
        actions.claim_sample(sample=sample, by=make_annotator())
    actions.join_sample(sample=sample, person=reviewer, job=Job.REVIEWS)
    with pytest.raises(Conflict) as hidden:
        actions.claim_sample(sample=sample, by=reviewer)
    assert second.name not in str(hidden.value)


def test_a_sample_is_offered_to_those_who_can_have_it() -> None:
    sample, annotator = claimed_sample()
    reviewer, lead, free = make_annotator(), make_lead(), make_expert()
    actions.join_sample(sample=sample, person=reviewer, job=Job.REVIEWS)
    offered = set(actions.possible_holders(sample))
    assert free in offered
    assert not {annotator, reviewer, lead} & offered
    shown = page_of(lead, sample)
    assert f"{free.name} · " in shown
    assert f'<option value="{annotator.pk}"' not in shown
    submitted, _annotator, expert = sample_in_audit()
    offered = set(actions.possible_holders(submitted))
    assert free in offered
    assert not {expert, annotator} & offered


def page_of(person: User, sample: Sample) -> str:
    client = Client()
    client.force_login(person)
    return client.get(f"/samples/{sample.pk}/").content.decode()


def test_next_stays_in_its_stage_and_says_where_it_leads_otherwise() -> None:
    expert = make_expert()
    sample, _annotator = submitted_sample()
    client = Client()
    client.force_login(expert)
    nothing = client.post("/samples/next", {"stage": "verification"})
    assert (nothing.status_code, nothing.headers["Location"]) == (302, "/")
    assert not actions.can_release_claim(expert, sample)
    led = client.post("/samples/next", {"stage": "audit"})
    assert led.headers["Location"] == f"/samples/{sample.pk}/audit/"
    actions.release_claim(sample=sample, by=expert)
    told = client.post("/samples/next", follow=True).content.decode()
    assert f"Next for you: {sample.label}, " in told


# Two jobs ------------------------------------------------------------------------------------------------------


def test_the_verifier_never_audits_the_sample() -> None:
    expert = make_expert()
    sample, _annotator = submitted_sample(annotator=expert)
    with pytest.raises(RuleBroken) as refused:
        actions.claim_for_judging(sample=sample, by=expert)
    assert refused.value.rule == "two_jobs_on_one_sample"


def test_a_reviewer_never_judges_the_sample() -> None:
    sample, _annotator = submitted_sample()
    expert = make_expert()
    actions.join_sample(sample=sample, person=expert, job=Job.REVIEWS)
    with pytest.raises(RuleBroken) as refused:
        actions.claim_sample(sample=sample, by=expert)
    assert refused.value.rule == "two_jobs_on_one_sample"


def test_the_auditor_never_reviews_and_may_judge_again() -> None:
    sample, _annotator, expert = sample_in_audit()
    with pytest.raises(RuleBroken):
        actions.join_sample(sample=sample, person=expert, job=Job.REVIEWS)
    assert actions.join_sample(sample=sample, person=expert, job=Job.JUDGES).person == expert


def test_the_database_itself_keeps_a_person_from_a_second_job() -> None:
    sample, annotator = claimed_sample()
    with pytest.raises(IntegrityError), transaction.atomic():
        Participation.objects.create(sample=sample, person=annotator, job=Job.REVIEWS)


def test_an_annotator_never_audits() -> None:
    sample, _annotator = submitted_sample()
    with pytest.raises(NotAllowed):
        actions.claim_sample(sample=sample, by=make_annotator())


# Blocked -------------------------------------------------------------------------------------------------------


def _everything(sample: Any) -> dict[str, Callable[[], object]]:
    annotator, expert, lead, candidate = sample.annotator, make_expert(), make_lead(), first_candidate(sample)
    at = {"candidate": candidate, "by": annotator}
    judge = {**at, "version": 1, "verdict": "compliant", "checks": [True] * 4}
    parts: dict[str, Any] = {"task_description": "a", "elements": "b", "supplementary": "", "example": ["c"]}
    return {
        "claim_sample": lambda: actions.claim_sample(sample=sample, by=annotator),
        "claim_for_judging": lambda: actions.claim_for_judging(sample=sample, by=expert),
        "take_over_sample": lambda: actions.take_over_sample(sample=sample, holder=annotator, reason="r", by=lead),
        "draft_sample": lambda: actions.draft_sample(sample=sample, by=lead),
        "read_candidate": lambda: actions.read_candidate(**at),
        "edit_candidate": lambda: actions.edit_candidate(**at, version=1, question="q"),
        "judge_task_a": lambda: actions.judge_task_a(**judge),
        "judge_task_b": lambda: actions.judge_task_b(**judge),
        "challenge_candidate": lambda: actions.challenge_candidate(**at, version=1),
        "judge_task_c": lambda: actions.judge_task_c(**at, version=1, verdict="challenging", reason=""),
        "discard_candidate": lambda: actions.discard_candidate(**at, reason="r"),
        "select_candidate": lambda: actions.select_candidate(sample=sample, **at),
        "submit_sample": lambda: actions.submit_sample(sample=sample, checklist=[True] * 7, by=annotator),
        "exhaust_sample": lambda: actions.exhaust_sample(sample=sample, by=annotator),
        "approve_sample": lambda: actions.approve_sample(sample=sample, by=expert),
        "reject_sample": lambda: actions.reject_sample(sample=sample, feedback="f", by=expert),
        "save_standardization": lambda: actions.save_standardization(sample=sample, version=0, by=annotator, **parts),
        "complete_standardization": lambda: actions.complete_standardization(sample=sample, version=1, by=annotator),
        "reopen_sample": lambda: actions.reopen_sample(sample=sample, reason="r", by=annotator),
        "open_review": lambda: actions.open_review(sample=sample),
        "accept_sample": lambda: actions.accept_sample(sample=sample, by=None, reason=""),
        "dispute_sample": lambda: actions.dispute_sample(sample=sample),
        "reconstruct_sample": lambda: actions.reconstruct_sample(sample=sample, step="question", reason="r", by=expert),
    }


def test_a_withdrawn_approval_blocks_every_action_in_every_state() -> None:
    sample, _annotator = claimed_sample()
    sample.document_version.state = VersionState.REJECTED
    sample.document_version.save()
    for state in SampleState:
        type(sample).objects.update(state=state)
        for name, act in _everything(sample).items():
            with pytest.raises(RuleBroken) as refused:
                act()
            assert refused.value.rule == "document_not_approved", (state, name)
