"""Editing by its pages and by the API: the part in its place, saves as JSON, checks that change nothing."""

import re
from typing import Any

import pytest

from annotation import actions
from annotation.models import Candidate
from annotation.workflow import CandidateState, Job, SampleState
from benchmark.taxonomy import Language
from tests.annotation.scenes import candidate_at, challenged, claimed_sample, first_candidate
from tests.annotation.test_api import api, do
from tests.annotation.test_pages import HTMX, client_of, page, post
from tests.factories import make_annotator, make_lead

pytestmark = pytest.mark.django_db
C = CandidateState
JSON: dict[str, Any] = {"headers": {"Accept": "application/json", "HX-Request": "true"}}


def save(client: Any, candidate: Candidate, part: str, **data: Any) -> Any:
    return client.post(f"/candidates/{candidate.pk}/save/{part}", data, **JSON)


def part(client: Any, candidate: Candidate, name: str, query: str = "") -> str:
    return str(client.get(f"/candidates/{candidate.pk}/edit/{name}{query}", **HTMX).content.decode())


def test_what_is_saved_is_what_every_page_role_and_program_shows() -> None:
    """T-14."""
    candidate, annotator = candidate_at(C.TASK_A)
    answer = save(
        client_of(annotator), candidate, "question", version=1, question="Which ships paid at all?", options=""
    )
    assert (answer.json()["version"], answer.json()["reopened"]) == (2, "")
    for person in (annotator, make_annotator(), make_lead()):
        assert "Which ships paid at all?" in page(client_of(person), "sample_verify", candidate.sample_id)
        shown = api(person).get(f"/api/v1/candidates/{candidate.pk}/").json()
        assert (shown["question"], shown["version"]) == ("Which ships paid at all?", 2)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("name", ["question", "answer"])
def test_a_part_opens_in_its_place_and_closes_again(name: str, language: str) -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    client = client_of(annotator, language)
    opened = part(client, candidate, name)
    assert f'id="{name}-part"' in opened
    assert f'data-save-url="/candidates/{candidate.pk}/save/{name}"' in opened
    assert 'id="pane"' not in opened
    assert ("no longer count" in opened) is (language == "en")
    closed = part(client, candidate, name, "?close=1")
    assert "<form data-edit" not in closed
    assert f'data-part-link="{name}"' in closed
    assert client.get(f"/candidates/{candidate.pk}/edit/{name}")["Location"].endswith(f"?candidate=1&edit={name}")
    assert client.get(f"/candidates/{candidate.pk}/edit/verdict", **HTMX).status_code == 404


def test_a_part_does_not_open_to_who_only_reads_or_must_not_see() -> None:
    candidate, _annotator = candidate_at(C.TASK_A)
    assert "<form data-edit" not in part(client_of(make_annotator()), candidate, "question")
    sample, _other = claimed_sample(state=SampleState.IN_REVIEW)
    reviewer = make_annotator()
    actions.join_sample(sample=sample, person=reviewer, job=Job.REVIEWS)
    client, hidden = client_of(reviewer), first_candidate(sample)
    for name in ("edit/question", "edits", "around"):
        assert client.get(f"/candidates/{hidden.pk}/{name}", **HTMX).status_code == 403
    assert post(client, "candidate_check", hidden.pk, **JSON).status_code == 403


def test_a_stale_save_answers_with_both_texts_told_apart() -> None:
    """T-16."""
    candidate, annotator = candidate_at(C.TASK_A)
    client = client_of(annotator)
    save(client, candidate, "answer", version=1, answer="Marigold\nHeron", elements="the ship names")
    refused = save(client, candidate, "answer", version=1, answer="Marigold\r\nGannet", elements="the ship names")
    problem = refused.json()
    assert (refused.status_code, problem["rule"], problem["version"]) == (409, "stale_version", 2)
    assert problem["now"] == {"answer": ["Marigold", "Heron"], "elements": "the ship names"}
    assert [piece["kind"] for piece in problem["differences"]["answer"]] == ["same", "del", "ins"]
    assert annotator.name in problem["detail"]


def test_a_save_that_is_refused_says_where_and_one_part_leaves_the_other() -> None:
    """T-17."""
    candidate, annotator = candidate_at(C.TASK_A)
    client = client_of(annotator)
    refused = save(client, candidate, "question", version=1, question=" ")
    assert (refused.status_code, refused.json()["errors"]) == (400, {"question": ["The question is empty."]})
    save(client, candidate, "question", version=1, question="Who?", options="A. one\n\nB. two")
    candidate.refresh_from_db()
    assert (candidate.question, candidate.options) == ("Who?", ["A. one", "B. two"])
    save(client, candidate, "question", version=2, question="Whom?")
    candidate.refresh_from_db()
    assert candidate.options == ["A. one", "B. two"]
    assert candidate.answer == candidate.draft.answer


def test_a_save_that_opens_a_step_again_says_so_and_what_stands_around_follows() -> None:
    candidate, annotator = candidate_at(C.TASK_C)
    challenged(candidate, annotator)
    client = client_of(annotator)
    before = part(client, candidate, "answer")
    answer = save(client, candidate, "answer", version=1, answer="Heron", elements="the ship").json()
    assert answer["reopened"] == "Task B open again."
    assert f'data-step="{answer["step"]}"' not in before
    assert f'data-step="{answer["step"]}"' in part(client, candidate, "answer")
    around = client.get(f"/candidates/{candidate.pk}/around", **HTMX).content.decode()
    for place in ("steps", "candidates", "dock", "claim", "verdict-task_b", "challenge"):
        assert re.search(rf'id="{place}"[^>]* hx-swap-oob="(true|renew)"', around), place
    assert 'id="pane"' not in around
    assert "older than the last edit" in around


def test_every_edit_is_read_as_a_difference_and_the_last_one_undone() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    client = client_of(annotator)
    assert "data-history" not in page(client, "sample_verify", candidate.sample_id)
    save(client, candidate, "answer", version=1, answer="Tern\nMarigold\nHeron", elements="the ship names <b>")
    shown = page(client, "sample_verify", candidate.sample_id)
    assert 'data-key="e"' in shown
    assert 'id="undo"' in shown
    history = client.get(f"/candidates/{candidate.pk}/edits", **HTMX).content.decode()
    assert 'class="shifted">Tern' in history
    assert "<ins> &lt;b&gt;</ins>" in history or "&lt;" in history
    assert post(client, "candidate_undo", candidate.pk, {"version": 1}, **HTMX).status_code == 409
    undone = post(client, "candidate_undo", candidate.pk, {"version": 2}, **HTMX)
    assert undone.status_code == 200
    candidate.refresh_from_db()
    assert candidate.answer == candidate.draft.answer


# Checks ----------------------------------------------------------------------------------------------------------


def test_a_check_says_hints_places_and_differences_and_changes_nothing() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    given = {"question": "Which ships?", "answer": ["Marigold", "heron", "Gannet", "MARIGOLD"]}
    said = do(api(annotator), "candidates", candidate.pk, "check", **given).json()
    rules = [(hint["rule"], hint["field"], hint["line"]) for hint in said["hints"]]
    assert ("answer_duplicate", "answer", 4) in rules
    assert ("spelt_otherwise", "answer", 2) in rules
    assert ("not_in_document", "answer", 3) in rules
    text = candidate.sample.document_version.body.text
    first, second, third, _fourth = said["occurrences"]
    assert (first["count"], first["exact"], text[first["start"] : first["end"]]) == (1, True, "Marigold")
    assert (second["count"], second["exact"], text[second["start"] : second["end"]]) == (2, False, "Heron")
    assert (third["count"], third["start"]) == (0, None)
    assert [piece["kind"] for piece in said["differences"]["answer"]] == ["same", "del", "del", "ins", "ins", "ins"]
    form = {**given, "answer": "\r\n".join(given["answer"])}
    assert post(client_of(annotator), "candidate_check", candidate.pk, form, **JSON).json() == said
    candidate.refresh_from_db()
    assert (candidate.version, candidate.edits.count()) == (1, 0)


def test_options_are_looked_for_without_their_letters() -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    for given in (["A. Marigold", "B. Gannet"], ["Marigold", "Gannet"]):
        said = do(api(annotator), "candidates", candidate.pk, "check", options=given).json()
        found = {place["line"]: place["count"] for place in said["occurrences"] if place["field"] == "options"}
        assert found == {1: 1, 2: 0}


def test_a_check_without_a_body_is_of_the_wording_as_saved_and_speaks_chinese() -> None:
    candidate, annotator = candidate_at(C.READ, language=Language.CHINESE)
    annotator.language = "zh-hans"
    annotator.save()
    said = post(client_of(annotator, "zh-hans"), "candidate_check", candidate.pk, **JSON).json()
    assert all(piece["kind"] == "same" for pieces in said["differences"].values() for piece in pieces)
    assert any("文档是中文的" in hint["text"] for hint in said["hints"])
    assert do(api(annotator), "candidates", candidate.pk, "check").status_code == 200
    assert do(api(annotator), "candidates", candidate.pk, "check", answer="no list").status_code == 400


def test_a_check_asks_the_database_a_constant_number_of_times(django_assert_max_num_queries: Any) -> None:
    candidate, annotator = candidate_at(C.TASK_A)
    client = client_of(annotator)
    lines = "\n".join(f"Part {number}" for number in range(300))
    post(client, "candidate_check", candidate.pk, {"answer": lines}, **JSON)
    with django_assert_max_num_queries(5):
        post(client, "candidate_check", candidate.pk, {"answer": lines + "\nnew"}, **JSON)


def test_a_summary_is_checked_without_the_document(django_assert_max_num_queries: Any) -> None:
    candidate, annotator = candidate_at(C.TASK_A, task_code="T4.1")
    client = client_of(annotator)
    with django_assert_max_num_queries(6) as asked:
        post(client, "candidate_check", candidate.pk, {"answer": "one\ntwo\nthree"}, **JSON)
    assert not any("documents_documenttext" in query["sql"] for query in asked.captured_queries)
