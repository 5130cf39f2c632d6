"""The story of a sample: every stage in words, in both languages, and nothing that its reader may not know."""

import re
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import translation
from rest_framework.test import APIClient

from annotation import actions as annotating
from annotation.models import Sample
from annotation.workflow import SampleState
from core.models import User
from documents import actions as clearing
from documents.workflow import VersionState
from leading.story import Stage, days_of, story_of
from review import actions as reviewing
from tests.annotation.scenes import candidate_at, challenged, sample_in_audit
from tests.factories import make_annotator, make_case, make_expert, make_lead, make_version
from tests.review.words import clean_marks
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db


def text_of(sample: Sample, person: User) -> str:
    return repr([(line.what, [str(part) for part in line.more], line.reason) for line in story_of(sample, person)])


def test_a_whole_sample_is_told_from_its_document_to_its_label() -> None:
    call_command("simulate", "--samples", "1", "--seed", "7", verbosity=0)
    sample = Sample.objects.filter(state=SampleState.ACCEPTED).order_by("pk")[0]
    lines = story_of(sample, make_lead())
    assert {line.stage for line in lines} >= set(Stage) - {Stage.RELEASE}
    assert [line.at for line in lines] == sorted(line.at for line in lines)
    assert sum(len(day.lines) for day in days_of(lines)) == len(lines)
    runs = [line for line in lines if line.calls]
    assert all(line.usd is not None for line in runs)
    assert {line.what for line in lines if line.stage == Stage.DOCUMENT} >= {"cleared the document"}
    assert "did something" not in [line.what for line in lines]
    with translation.override("zh-hans"):
        lines = story_of(sample, make_lead())
        told = [f"{line.stage.label} {line.what} {line.state} {' '.join(map(str, line.more))}" for line in lines]
        states = [f"{call.state} {call.trouble}" for line in lines for call in line.calls]
    assert [words for words in [*told, *states] if re.search(r"[A-Za-z]{2,}", words.replace("token", ""))] == []


@pytest.mark.parametrize(("language", "words"), [("en", "All stages"), ("zh-hans", "全部阶段")])
def test_the_page_has_days_and_is_narrowed_by_stage(language: str, words: str) -> None:
    sample, _annotator, expert = sample_in_audit()
    annotating.reject_sample(sample=sample, feedback="Item 2 is not quoted.", by=expert)
    client = client_of(make_lead(), language)
    text = client.get(f"/samples/{sample.pk}/story/").content.decode()
    assert words in text
    assert "story__day" in text
    assert "Item 2 is not quoted." in text
    assert "Item 2 is not quoted." not in client.get(f"/samples/{sample.pk}/story/?stage=drafting").content.decode()
    assert client.get(f"/samples/{sample.pk}/story/?stage=nonsense").status_code == 200


def test_the_story_asks_the_database_as_often_for_much_as_for_little(django_assert_max_num_queries: Any) -> None:
    lead = make_lead()
    candidate, annotator = candidate_at("task_c")
    challenged(candidate, annotator)
    with django_assert_max_num_queries(20) as few:
        story_of(candidate.sample, lead)
    for other in list(candidate.sample.candidates.all())[1:]:
        annotating.read_candidate(candidate=other, by=annotator)
        annotating.judge_task_a(candidate=other, version=1, verdict="compliant", checks=[True] * 4, by=annotator)
        annotating.judge_task_b(candidate=other, version=1, verdict="correct", checks=[True] * 4, by=annotator)
        challenged(other, annotator)
    with django_assert_max_num_queries(len(few)):
        story_of(candidate.sample, lead)


def test_a_document_that_was_refused_says_why() -> None:
    sample, _annotator, _expert = sample_in_audit()
    version, lead = make_version(state=VersionState.PENDING), make_lead()
    sample.document = version.document
    sample.save()
    clearing.reject_version(version=version, flags=["privacy"], note="Names a patient.", by=lead)
    told = text_of(sample, lead)
    assert "refused the document" in told
    assert "privacy" in told
    assert "Names a patient." in told


def test_costs_are_a_leads_to_see() -> None:
    candidate, annotator = candidate_at("task_c")
    challenged(candidate, annotator)
    for line in story_of(candidate.sample, annotator):
        assert line.usd is None
        assert line.run is None
        assert all(call.usd is None and call.tokens_in is None for call in line.calls)


def test_a_reviewer_reads_neither_the_trail_nor_the_other_review() -> None:
    case = make_case()
    a, b = make_annotator(), make_annotator()
    mine, theirs = reviewing.take_seat(case=case, by=a), reviewing.take_seat(case=case, by=b)
    before = text_of(case.sample, a)
    theirs = reviewing.save_review(review=theirs, version=theirs.version, by=b, **clean_marks(case))
    reviewing.submit_review(review=theirs, version=theirs.version, by=b)
    assert text_of(case.sample, a) == before
    assert text_of(case.sample, make_expert()) == text_of(case.sample, make_annotator())
    assert "took a seat" in before
    mine = reviewing.save_review(review=mine, version=mine.version, by=a, **clean_marks(case))
    reviewing.submit_review(review=mine, version=mine.version, by=a)
    told = story_of(case.sample, make_lead())
    assert [line.by for line in told if line.what == "submitted their review"] == [b, a]


def test_programs_read_the_story_too() -> None:
    sample, annotator, _expert = sample_in_audit()
    client = APIClient()
    client.force_authenticate(annotator)
    rows = client.get(f"/api/v1/samples/{sample.pk}/story/").json()
    assert rows[-1]["stage"] == "audit"
    assert {row["stage"] for row in rows} >= {"verification", "audit"}
    assert "submitted it to expert audit" in [row["what"] for row in rows]
