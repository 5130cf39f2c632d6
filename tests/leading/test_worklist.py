"""What waits for each role, why it is theirs, in which order; and their own figures."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation

from annotation import actions as annotating
from annotation.models import StepVerdict
from annotation.workflow import SampleState
from core.models import User
from generation.workflow import CallState, Purpose
from leading import actions, worklist
from tests.factories import (
    make_annotator,
    make_call,
    make_case,
    make_claim,
    make_expert,
    make_lead,
    make_model,
    make_run,
    make_sample,
    make_submission,
    make_version,
)

pytestmark = pytest.mark.django_db


def work(person: User) -> Any:
    client = Client()
    client.force_login(person)
    answer = client.get("/")
    assert answer.status_code == 200
    return answer


def lines(person: User) -> dict[str, list[tuple[str, str]]]:
    """By part of the list: label and why."""
    return {
        str(group.title): [(item.label, str(item.why)) for item in group.items]
        for group in work(person).context["groups"]
    }


def returned(annotator: User, feedback: str = "Name the clause.") -> Any:
    sample, expert = make_sample(state=SampleState.IN_AUDIT, annotator=annotator), make_expert("ex")
    make_submission(sample, by=annotator)
    make_claim(sample, expert, job="judges")
    annotating.reject_sample(sample=sample, feedback=feedback, by=expert)
    return sample


def test_returned_work_says_who_returned_it_and_what_they_wrote_and_is_counted_in_the_head() -> None:
    annotator = make_annotator()
    sample = returned(annotator)
    held = make_sample()
    make_claim(held, annotator)
    assert lines(annotator)["Yours to finish"] == [
        (sample.label, "ex returned it: “Name the clause.”"),
        (held.label, "You hold the claim; 3 of 3 candidates left."),
    ]
    html = work(annotator).content.decode()
    assert "2 things wait for you, 1 of them came back" in html


def test_what_came_back_to_an_expert_stands_above_what_experts_do_for_others() -> None:
    expert = make_expert()
    ann = make_annotator("ann")
    waiting = make_sample(state=SampleState.IN_AUDIT, annotator=ann)
    make_submission(waiting, by=ann)
    sample = make_sample(state=SampleState.RETURNED, annotator=expert)
    assert list(lines(expert))[:2] == ["Returned to you", "To audit"]
    assert lines(expert)["Returned to you"][0][0] == sample.label
    assert lines(expert)["To audit"] == [(waiting.label, "Submitted by ann.")]


def test_a_free_sample_says_how_many_candidates_it_has_and_the_oldest_is_first() -> None:
    new, old = make_sample(candidates=2), make_sample(candidates=1)
    type(old).objects.filter(pk=old.pk).update(state_since=timezone.now() - timedelta(days=2))
    assert lines(make_annotator())["Free to claim"] == [
        (old.label, "1 candidate; nobody works on it."),
        (new.label, "2 candidates; nobody works on it."),
    ]


def test_a_case_of_a_later_round_says_so() -> None:
    case = make_case()
    type(case).objects.filter(pk=case.pk).update(round=2)
    assert "Round 2" in lines(make_annotator())["Answers to review"][0][1]


def test_a_lead_sees_what_stopped_and_why_with_the_way_to_it() -> None:
    lead = make_lead()
    run = make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.1", finished_at=timezone.now())
    make_call(run, make_model(), state=CallState.FAILED)
    make_call(run, make_model())
    whole = make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.1")
    make_call(whole, make_model())
    to_revise = make_sample(state=SampleState.AWAITING_DOCUMENT)
    found = lines(lead)
    assert found["Runs with failed calls"] == [(f"R-{run.pk}", "drafting · 1 of 2 calls failed")]
    assert found["Documents to revise"] == [(to_revise.label, "An expert ordered a new version of the document.")]
    html = work(lead).content.decode()
    assert f"/runs/{run.pk}/" in html
    assert f"/documents/{to_revise.document_id}/" in html
    assert "Your figures" not in html


def test_own_figures_count_today_this_week_and_the_week_before() -> None:
    person, lead = make_annotator(), make_lead()
    now = timezone.localtime()
    monday = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=now.weekday())
    for at in (now, monday - timedelta(hours=1), monday - timedelta(days=8)):
        sample = make_sample(state=SampleState.IN_AUDIT, annotator=person)
        submission = make_submission(sample, by=person, approved_by=make_expert())
        type(submission).objects.filter(pk=submission.pk).update(submitted_at=at, audited_at=at)
        for step in ("read", "task_a"):
            StepVerdict.objects.create(
                candidate=submission.candidate,
                step=step,
                verdict="compliant",
                candidate_version=1,
                guidelines_version="1",
                at=at,
                by=person,
            )
    with translation.override("en"):
        figures = {str(one.label): (one.today, one.week, one.last_week) for one in worklist.figures_of(person)}
    assert figures["Submitted"] == figures["Candidates judged"] == figures["Approved at the first audit"] == (1, 1, 1)
    assert figures["Reviewed"] == (0, 0, 0)
    assert "Your figures" in work(person).content.decode()
    assert set(figures) < {str(one.label) for one in worklist.figures_of(make_expert())}
    assert work(lead).context.get("figures") is None


def test_the_keys_of_the_list_are_in_its_sheet() -> None:
    html = work(make_annotator()).content.decode()
    sheet = html[html.index('id="keys"') :]
    for key, what in (("<kbd>j</kbd><kbd>k</kbd>", "next, previous row"), ("<kbd>Enter</kbd>", "open the row")):
        assert f"<dt>{key}</dt><dd>{what}</dd>" in sheet
    assert "<kbd>g</kbd>" in sheet


# People's pages ------------------------------------------------------------------------------------------------------


def test_the_people_page_shows_pseudonyms_and_counts_in_one_query_for_all(django_assert_max_num_queries: Any) -> None:
    lead, person = make_lead(), make_annotator()
    client = Client()
    client.force_login(lead)
    for _number in range(2):
        sample = make_sample(state=SampleState.IN_AUDIT, annotator=person)
        make_submission(sample, by=person)
        make_claim(make_sample(), person)
    with django_assert_max_num_queries(8) as asked:
        html = client.get("/people/").content.decode()
    few = len(asked)
    assert person.pseudonym in html
    row = next(one for one in client.get("/people/").context["people"] if one.pk == person.pk)
    assert (row.submitted, row.reviewed, row.open_claims) == (2, 0, 2)
    for _number in range(3):
        make_expert()
    with django_assert_max_num_queries(few):
        client.get("/people/")


def test_a_person_page_offers_a_lead_everything_but_changing_oneself() -> None:
    lead, person = make_lead(), make_annotator()
    client = Client()
    client.force_login(lead)
    actions.change_work(person=person, languages=["Chinese"], by=lead)
    html = client.get(f"/people/{person.pk}/").content.decode()
    for part in (
        person.pseudonym,
        "Make a reset link",
        "New password",
        "Deactivate…",
        "changed what a person works on",
    ):
        assert part in html
    own = client.get(f"/people/{lead.pk}/").content.decode()
    assert "Deactivate…" not in own
    assert "This is you." in own
    client.force_login(person)
    assert client.get(f"/people/{person.pk}/").status_code == 403
