"""The desk by its pages: fifteen candidates at a glance, same questions, two side by side, refusals in their place."""

import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import actions
from annotation.desk import desk_for
from annotation.evidence import known_proofs, proofs_of
from annotation.glancing import Row
from annotation.models import Candidate, Claim, Sample, StepVerdict
from annotation.workflow import CandidateState, SampleState, Step
from benchmark.taxonomy import Language
from core.guidelines import CHECKLIST, GUIDELINES_VERSION
from core.models import Event
from generation.models import Draft
from generation.workflow import CallState
from tests.annotation.desk_scene import QUESTIONS, Fifteen, fifteen
from tests.annotation.scenes import bring, candidate_at, challenged, claimed_sample, passed_sample, sample_in_audit
from tests.annotation.test_pages import HTMX, client_of, page, post
from tests.factories import make_annotator, make_lead, make_sample, make_version

pytestmark = [pytest.mark.once, pytest.mark.django_db]
C = CandidateState
FOUR = ["1", "2", "3", "4"]
ALL_SEVEN = [item.code for item in CHECKLIST]


@pytest.fixture
def made() -> Fifteen:
    return fifteen(make_annotator("ada"))


def row_html(text: str, candidate: Candidate) -> str:
    found = re.search(rf'<li id="row-{candidate.pk}".*?</li>', text, re.DOTALL)
    assert found
    return found.group()


def rows_of(made: Fifteen) -> dict[int, Row]:
    return {row.candidate.position: row for row in desk_for(made.sample, made.annotator).rows}


# Fifteen at a glance -------------------------------------------------------------------------------------------


def test_each_row_tells_state_evidence_challenge_and_verdicts_in_words(made: Fifteen) -> None:
    text = page(client_of(made.annotator), "sample_verify", made.sample.pk)
    for position, words in {
        1: ["passed", "2 of 5 wrong", "Task A: compliant", "3 quotes found"],
        2: ["Task B", "Task A: compliant", "same question as GPT-5 1, Claude-4-Sonnet 2"],
        3: ["discarded", "cand gone"],
        4: ["to read", "1 of 4 quotes not in the document", "3/4"],
        8: ["Task C", "2 of 5 in", "1 of 4 quotes a close match", "data-waits"],
        11: ["Task C", "stale", "Task B: fixed by a minor edit"],
    }.items():
        shown = row_html(text, made.candidate(position))
        for word in words:
            assert word in shown, (position, word)
    assert text.count("data-row") == 15


def test_the_glance_counts_overrules_and_failed_calls() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenge = challenged(candidate, annotator, wrong=1, failed=2)
    wrong = challenge.run.run_calls.get(right=False)
    actions.overrule_answer(
        challenge=challenge, run_call=wrong, right=True, reason="The gloss is the same.", by=annotator
    )
    [count] = [row.challenge for row in desk_for(candidate.sample, annotator).rows if row.challenge]
    assert (count.wrong, count.right, count.failed, count.waiting, count.state) == (0, 3, 2, 0, "done")
    assert "2 of 5 failed" in page(client_of(annotator), "sample_verify", candidate.sample_id)


def test_a_failed_call_is_named_with_what_to_do_and_only_a_lead_sees_what_a_call_cost() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenge = challenged(candidate, annotator, wrong=1, failed=1)
    failed = challenge.run.run_calls.get(call__state=CallState.FAILED).call
    failed.error_class = "rate_limit"
    failed.save()
    answered = challenge.run.run_calls.get(right=False).call
    answered.latency_ms, answered.cost_usd = 48_200, "0.0375"
    answered.answered_at = timezone.now()
    answered.save()
    mine = page(client_of(annotator), "sample_verify", candidate.sample_id, "?candidate=1")
    leads = page(client_of(make_lead()), "sample_verify", candidate.sample_id, "?candidate=1")
    assert "48.2 s" in mine
    assert failed.trouble in mine
    assert "A lead can send it again" in mine
    assert "0.03" not in mine
    assert "0.03" in leads
    assert reverse("generation:run_detail", args=[challenge.run_id]) in leads


@pytest.mark.parametrize("query", ["", "?candidate=8", "?panel=select", "?candidate=1&panel=compare&with=7"])
def test_the_desk_asks_the_database_as_often_for_thirty_candidates_as_for_fifteen(
    made: Fifteen, query: str, django_assert_max_num_queries: Any
) -> None:
    client = client_of(made.annotator)
    page(client, "sample_verify", made.sample.pk, query)
    with django_assert_max_num_queries(45) as many:
        page(client, "sample_verify", made.sample.pk, query)
    with django_assert_max_num_queries(45) as fragment:
        page(client, "sample_verify", made.sample.pk, query, **HTMX)
    assert len(fragment) <= len(many)
    for candidate in list(made.sample.candidates.all()):
        candidate.pk, candidate.position, candidate.state = None, candidate.position + 15, C.READ
        candidate.draft = Draft.objects.create(call=candidate.draft.call, position=candidate.position)
        candidate.save()
    with django_assert_max_num_queries(45) as more:
        page(client, "sample_verify", made.sample.pk, query)
    assert len(more) == len(many)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_page_without_the_document_is_small(language: str) -> None:
    """A long document, fifteen candidates: the page carries its first part only, and stays below 150 kB."""
    chinese = language != "en"
    text = ("港口账目，第一行。\n" if chinese else "A line of the harbour's accounts.\n") * 20_000
    version = make_version(text, language=Language.CHINESE if chinese else Language.ENGLISH)
    made = fifteen(make_annotator(), language=version.document.language, version=version, fresh=True)
    shown = page(client_of(made.annotator, language), "sample_verify", made.sample.pk)
    first = re.search(r'<div class="chunk".*?</div>', shown, re.DOTALL)
    assert first
    assert len(shown.encode()) - len(first.group().encode()) < 150_000
    fragment = page(client_of(made.annotator, language), "sample_verify", made.sample.pk, **HTMX)
    assert len(fragment.encode()) < 80_000


def test_places_of_quotes_on_another_version_are_searched_once_and_kept(
    made: Fifteen, django_assert_num_queries: Any
) -> None:
    other = make_version("A new preface.\n" + "The Marigold paid a late fee of twelve crowns.\n" * 3)
    Sample.objects.filter(pk=made.sample.pk).update(document_version=other)
    sample = Sample.objects.select_related("document_version").get(pk=made.sample.pk)
    rows = desk_for(sample, made.annotator, position=2).rows
    assert [row.evidence.searched for row in rows[:3]] == [False, True, False]
    candidate = rows[1].candidate
    proofs = proofs_of(candidate)
    assert [proof.is_found for proof in proofs] == [True, False, False]
    with django_assert_num_queries(0):
        assert known_proofs([candidate]) == {candidate.pk: proofs}


def test_the_task_sheet_and_the_criteria_are_one_key_away_in_the_language_of_the_page(made: Fifteen) -> None:
    for language, words in {
        "en": ["Answer rule", "Judged from the solution against the document.", f"guidelines {GUIDELINES_VERSION}"],
        "zh-hans": ["答案规则", f"准则 {GUIDELINES_VERSION}"],
    }.items():
        text = page(client_of(made.annotator, language), "sample_verify", made.sample.pk, "?candidate=2")
        for word in [*words, 'popovertarget="task" data-key="w"', 'popovertarget="criteria" data-key="h"']:
            assert word in text
        task = made.sample.task
        shown = Language.ENGLISH if language == "en" else Language.CHINESE
        assert task.definition_in(shown)[:40] in text
        assert task.context_requirement_in(shown)[:20] in text
        assert task.example_in(shown).answer[0] in text


# Same questions, and two side by side --------------------------------------------------------------------------


@pytest.mark.parametrize("language", [Language.ENGLISH, Language.CHINESE])
def test_candidates_that_ask_the_same_know_of_each_other(language: str) -> None:
    made = fifteen(make_annotator(), language=language, fresh=True)
    twins = {position: sorted(twin.candidate.position for twin in row.twins) for position, row in rows_of(made).items()}
    assert {position: others for position, others in twins.items() if others} == {2: [4, 8], 4: [2, 8], 8: [2, 4]}


def test_duplicates_are_discarded_together_with_one_reason(made: Fifteen) -> None:
    client = client_of(made.annotator)
    text = page(client, "sample_verify", made.sample.pk, "?candidate=2")
    assert "Same question as" in text
    assert reverse("annotation:sample_discard_same", args=[made.sample.pk]) in text
    twins = [made.candidate(4), made.candidate(8)]
    given = {"keep": made.candidate(2).pk, "candidates": [one.pk for one in twins], "reason": "Same as Gemini 2"}
    answer = post(client, "sample_discard_same", made.sample.pk, given, **HTMX)
    assert answer["HX-Push-Url"].endswith("?candidate=2")
    for twin in twins:
        twin.refresh_from_db()
        assert (twin.state, twin.discard_reason) == (C.DISCARDED, "Same as Gemini 2")
        assert Event.objects.filter(subject_type="candidate", subject_id=twin.pk, action="annotation.discard").exists()
    assert "Discard the others" not in answer.content.decode()


def test_of_duplicates_all_are_discarded_or_none(made: Fifteen) -> None:
    client = client_of(made.annotator)
    gone, still = made.candidate(3), made.candidate(4)
    given = {"keep": made.candidate(2).pk, "candidates": [still.pk, gone.pk], "reason": "Same"}
    answer = post(client, "sample_discard_same", made.sample.pk, given, **HTMX)
    assert (answer.status_code, answer["HX-Retarget"]) == (409, "find [data-refused]")
    still.refresh_from_db()
    assert still.state == C.READ
    assert post(client, "sample_discard_same", made.sample.pk, {"keep": still.pk}, **HTMX).status_code == 400
    other = make_sample()
    given = {"keep": still.pk, "candidates": [other.candidates.all()[0].pk], "reason": "Same"}
    assert post(client, "sample_discard_same", made.sample.pk, given, **HTMX).status_code == 400


def test_two_candidates_stand_side_by_side_with_what_parts_them_marked(made: Fifteen) -> None:
    client = client_of(made.annotator)
    text = page(client, "sample_verify", made.sample.pk, "?candidate=1&panel=compare&with=7")
    assert 'data-panel="compare"' in text
    assert "<ins>Marigold 0</ins>" in text
    assert "<ins>Marigold 6</ins>" in text
    assert len(re.findall(r'<button[^>]*name="candidate"', text)) == 2
    likeliest = page(client, "sample_verify", made.sample.pk, "?candidate=2&panel=compare")
    assert re.search(r'with=4"[^>]*aria-current="true"', likeliest)
    assert "<ins>Marigold</ins>" not in likeliest


def test_one_is_selected_from_the_comparison_and_one_discarded_without_leaving_it(made: Fifteen) -> None:
    client = client_of(made.annotator)
    answer = post(client, "sample_select", made.sample.pk, {"candidate": made.candidate(7).pk}, **HTMX)
    assert 'data-panel="submit"' in answer.content.decode()
    gone = post(client, "candidate_discard", made.candidate(14).pk, {"kind": "Trivial", "stay": "1"}, **HTMX)
    assert gone["HX-Push-Url"].endswith("?candidate=1")


@pytest.mark.parametrize("query", ["?panel=compare&with=999", "?candidate=0&panel=compare", "?candidate=x&with=-1"])
def test_odd_addresses_show_a_desk(made: Fifteen, query: str) -> None:
    assert 'id="pane"' in page(client_of(made.annotator), "sample_verify", made.sample.pk, query)


def test_with_one_candidate_there_is_nothing_to_compare() -> None:
    sample, annotator = claimed_sample(candidates=1)
    assert 'data-panel=""' in page(client_of(annotator), "sample_verify", sample.pk, "?panel=compare")


# Refusals in their place ---------------------------------------------------------------------------------------


def test_a_refused_verdict_is_told_in_its_form_with_the_way_to_the_present_state(made: Fifteen) -> None:
    client, candidate = client_of(made.annotator), made.candidate(2)
    for data, status, rule in [
        ({"version": 1, "verdict": "correct", "checks": ["1"]}, 422, "checks_needed"),
        ({"version": 9, "verdict": "correct", "checks": FOUR}, 409, "stale_version"),
        ({"version": 1, "verdict": "minor_edit", "checks": FOUR}, 422, "not_edited"),
    ]:
        answer = post(client, "candidate_task_b", candidate.pk, data, **HTMX)
        text = answer.content.decode()
        assert (answer.status_code, answer["HX-Retarget"]) == (status, "find [data-refused]")
        assert f'data-rule="{rule}"' in text
        assert f'hx-get="/samples/{made.sample.pk}/verify/?candidate=2"' in text
    moved = post(client, "candidate_task_a", candidate.pk, {"version": 1, "verdict": "compliant"}, **HTMX)
    assert moved.status_code == 409
    plain = post(client, "candidate_task_b", candidate.pk, {"version": 1, "verdict": "correct"})
    assert "<html" in plain.content.decode()


def test_every_form_of_the_desk_has_a_place_for_its_refusal(made: Fifteen) -> None:
    client = client_of(made.annotator)
    passed_sample(made.annotator)
    for query in ("?candidate=2", "?candidate=4", "?candidate=8", "?candidate=11", "?candidate=1", "?panel=select"):
        text = page(client, "sample_verify", made.sample.pk, query, **HTMX)
        forms = re.findall(r"<form [^>]*hx-post=.*?</form>", text, re.DOTALL)
        assert forms
        for form in forms:
            assert "data-refused" in form or "data-edit" in form, form[:200]


def test_the_page_offers_only_what_the_actions_allow(made: Fifteen) -> None:
    """Every state of a candidate: the forms on the page are those whose action says yes."""
    client = client_of(made.annotator)
    may = {
        "candidate_read": actions.can_read_candidate,
        "candidate_task_a": actions.can_judge_task_a,
        "candidate_task_b": actions.can_judge_task_b,
        "candidate_discard": actions.can_discard_candidate,
    }
    bring(made.candidate(5), C.TASK_A, made.annotator)
    for row in rows_of(made).values():
        candidate = made.candidate(row.candidate.position)
        text = page(client, "sample_verify", made.sample.pk, f"?candidate={candidate.position}", **HTMX)
        for name, can in may.items():
            offered = f'hx-post="{reverse(f"annotation:{name}", args=[candidate.pk])}"' in text
            assert offered == can(made.annotator, candidate), (name, candidate.state)
    Claim.objects.update(lapses_at=timezone.now() - timedelta(minutes=1))
    text = page(client, "sample_verify", made.sample.pk, "?candidate=2")
    assert not re.search(r'hx-post="/candidates/', text)


# The claim, and the end ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "words"), [("en", "Claim again"), ("zh-hans", "重新认领")])
def test_after_a_lapse_the_desk_is_closed_until_it_is_claimed_again(made: Fifteen, language: str, words: str) -> None:
    client = client_of(made.annotator, language)
    Claim.objects.update(lapses_at=timezone.now() - timedelta(minutes=1))
    assert words in page(client, "sample_verify", made.sample.pk, "?candidate=5")
    answer = post(client, "desk_claim", made.sample.pk, {"position": 5}, **HTMX)
    text = answer.content.decode()
    assert answer["HX-Push-Url"].endswith("?candidate=5")
    assert 'id="claim-' not in text
    assert 'data-step="read"' in text
    assert actions.can_release_claim(made.annotator, made.sample)


def test_the_bar_tells_the_time_of_the_claim_and_any_action_renews_it(made: Fifteen) -> None:
    client = client_of(made.annotator)
    Claim.objects.update(lapses_at=timezone.now() + timedelta(minutes=9))
    assert re.search(
        r'data-lapses="5[34]\d".*?data-state="warn"', page(client, "sample_verify", made.sample.pk), re.DOTALL
    )
    answer = post(client, "candidate_read", made.candidate(5).pk, **HTMX).content.decode()
    lapses = re.search(r'data-lapses="(\d+)"', answer)
    assert lapses
    assert int(lapses.group(1)) > 3 * 3600


@pytest.mark.parametrize("fragment", [True, False])
def test_submitting_leads_on_to_the_next_sample_by_one_key(fragment: bool) -> None:
    sample, _candidate, annotator = passed_sample()
    client = client_of(annotator)
    given = {"checklist": ALL_SEVEN, "note": "Counted twice."}
    answer = post(client, "sample_submit", sample.pk, given, **(HTMX if fragment else {}))
    text = answer.content.decode() if fragment else client.get(answer["Location"]).content.decode()
    sample.refresh_from_db()
    assert sample.state == SampleState.IN_AUDIT
    assert sample.submissions.get().note == "Counted twice."
    assert "Submitted to expert audit" in text
    assert re.search(r'action="/samples/next".*?data-key="g"', text, re.DOTALL)
    waiting = make_sample()
    assert client.post("/samples/next")["Location"] == f"/samples/{waiting.pk}/verify/"
    others = page(client_of(make_lead()), "sample_verify", sample.pk)
    assert "What next" not in others


def test_after_a_discard_the_page_offers_to_take_it_back(made: Fifteen) -> None:
    client, candidate = client_of(made.annotator), made.candidate(4)
    answer = post(client, "candidate_discard", candidate.pk, {"kind": "Trivial"}, **HTMX)
    assert answer["HX-Push-Url"].endswith("?candidate=5")
    url = reverse("annotation:candidate_take_back", args=[candidate.pk])
    assert f'"url": "{url}"' in answer["HX-Trigger"]
    back = post(client, "candidate_take_back", candidate.pk, **HTMX)
    assert back["HX-Push-Url"].endswith("?candidate=4")
    candidate.refresh_from_db()
    assert candidate.state == C.READ


def test_a_plain_discard_goes_on_as_well(made: Fifteen) -> None:
    answer = post(client_of(made.annotator), "candidate_discard", made.candidate(4).pk, {"reason": "Trivial"})
    assert answer["Location"].endswith("?candidate=5")


@pytest.mark.django_db(transaction=True)
def test_a_double_click_on_a_verdict_is_one_verdict() -> None:
    """T-18: the same form sent twice at the same moment."""
    candidate, annotator = candidate_at(C.TASK_A)
    given = {"version": 1, "verdict": "compliant", "checks": FOUR, "_once": "the same form"}
    answers: list[int] = []

    def send() -> None:
        client = Client()
        client.force_login(annotator)
        answers.append(post(client, "candidate_task_a", candidate.pk, given, **HTMX).status_code)
        connection.close()

    senders = [threading.Thread(target=send) for _click in range(2)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert answers == [200, 200]
    assert StepVerdict.objects.filter(candidate=candidate, step=Step.TASK_A).count() == 1
    candidate.refresh_from_db()
    assert candidate.state == C.TASK_B


def test_results_of_another_candidate_come_in_without_a_reload(made: Fifteen) -> None:
    client = client_of(made.annotator)
    text = page(client, "sample_verify", made.sample.pk, "?candidate=2")
    asks = re.search(r'id="asks" hx-get="([^"]+)" hx-include=".shown" hx-trigger="every 2s"', text)
    assert asks
    challenge = made.candidate(8).challenges.get()
    challenge.run.run_calls.filter(right=None).delete()
    renewed = client.get(asks.group(1) + "?candidate=2", **HTMX).content.decode()
    assert 'id="asks"' not in renewed
    assert 'data-came="Claude-4-Sonnet 2: 1 of 2 wrong"' in renewed
    assert 'id="pane"' not in renewed


def test_the_scene_asks_what_it_says() -> None:
    """Both languages of the scene have fifteen questions."""
    assert {len(questions) for questions in QUESTIONS.values()} == {15}


def test_the_desk_offers_no_claim_on_what_somebody_else_holds() -> None:
    sample, annotator = claimed_sample()
    other = make_annotator()
    actions.release_claim(sample=sample, by=annotator)
    assert 'name="position"' in page(client_of(annotator), "sample_verify", sample.pk)
    actions.claim_sample(sample=Sample.objects.get(pk=sample.pk), by=other)
    shown = page(client_of(annotator), "sample_verify", sample.pk)
    assert f"{other.name} is working on it" in shown
    assert 'name="position"' not in shown


def test_a_returned_sample_is_not_said_to_have_lapsed() -> None:
    sample, annotator, expert = sample_in_audit()
    actions.reject_sample(sample=sample, feedback="Which year?", by=expert)
    assert "has lapsed" not in page(client_of(annotator), "sample_verify", sample.pk)
    actions.claim_sample(sample=Sample.objects.get(pk=sample.pk), by=annotator)
    Claim.objects.filter(sample=sample).update(lapses_at=timezone.now() - timedelta(minutes=1))
    assert "has lapsed" in page(client_of(annotator), "sample_verify", sample.pk)


@pytest.mark.parametrize("candidates", [0, 2])
@pytest.mark.parametrize("state", SampleState.values)
def test_the_desk_opens_in_every_state_also_without_a_candidate(state: str, candidates: int) -> None:
    sample, client = make_sample(state=state, candidates=candidates), client_of(make_lead())
    for address in ("verify/", "verify/glance"):
        assert client.get(f"/samples/{sample.pk}/{address}").status_code == 200
