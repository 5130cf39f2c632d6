"""Stage 3: four parts, two computed prompts, and no way to complete what a check finds wrong."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from annotation import actions
from annotation.claims import live_claims
from annotation.models import Candidate, Claim, Sample, Standardization, StandardizationEdit
from annotation.prompting import prompt_pieces
from annotation.queries import current_standardization
from annotation.rendering import first_parts, is_approved_anew
from annotation.rendering import render as render_parts
from annotation.standardizing import keep_standardization
from annotation.story import WORDS, story_of
from annotation.versions import versions_of
from annotation.workflow import CandidateState, ClaimEnd, Job, SampleState, Verdict
from benchmark.framing import Parts, nonthinking_prompt, thinking_prompt
from benchmark.taxonomy import Language
from core.models import User
from core.refusals import Conflict, NotAllowed, RuleBroken
from tests.annotation.scenes import ALL_SEVEN, approved_sample, bring
from tests.factories import make_annotator, make_expert, make_lead

pytestmark = pytest.mark.django_db

GOOD = {
    "task_description": "Which ships paid a late fee, largest fee first?",
    "elements": "the ship names in order of the fee",
    "supplementary": "",
    "example": ["Gull", "Swan"],
}


def save(sample: Sample, by: User, *, version: int = 0, **parts: Any) -> Standardization:
    return actions.save_standardization(sample=sample, version=version, by=by, **{**GOOD, **parts})


def test_a_complete_standardization_carries_both_prompts_and_the_approved_answer() -> None:
    sample, annotator, _expert = approved_sample()
    draft = save(sample, annotator)
    done = actions.complete_standardization(sample=sample, version=draft.version, by=annotator)
    parts = Parts(Language.ENGLISH, **{**GOOD, "example": tuple(GOOD["example"])})  # type: ignore[arg-type]
    assert done.question_nonthinking == nonthinking_prompt(parts)
    assert done.question_thinking == thinking_prompt(parts)
    assert done.answer == ["Marigold", "Heron", "Tern"]
    assert sample.state == SampleState.AWAITING_PREDICTIONS
    assert current_standardization(sample) == done
    assert sample.claims.order_by("-pk")[0].ended_how == ClaimEnd.FINISHED


def test_the_form_begins_with_the_approved_question_told_apart_and_a_made_up_example() -> None:
    sample, _annotator, _expert = approved_sample()
    approved = sample.submissions.get()
    approved.options = ["Only ships", "No boats"]
    approved.save()
    parts = first_parts(sample)
    assert parts.task_description.startswith("Which ships paid a late fee")
    assert (parts.elements, parts.supplementary) == ("the ship names in order of the fee", "Only ships\nNo boats")
    assert parts.example
    assert not set(parts.example) & set(approved.answer)
    assert render_parts(sample, parts).may_complete


def test_a_question_that_was_approved_anew_is_not_lost_behind_the_old_parts() -> None:
    sample, annotator, expert = approved_sample()
    save(sample, annotator, elements="my own words for the names")
    actions.reopen_sample(sample=sample, reason="The question names no year.", by=annotator)
    actions.claim_sample(sample=sample, by=annotator)
    assert sample.chosen_id is not None
    candidate = Candidate.objects.get(pk=sample.chosen_id)
    candidate.sample = sample
    actions.edit_candidate(
        candidate=candidate, version=candidate.version, question="Which ships paid a late fee in May?", by=annotator
    )
    actions.judge_task_a(
        candidate=candidate, version=candidate.version, verdict=Verdict.MINOR_EDIT, checks=[True] * 4, by=annotator
    )
    bring(candidate, CandidateState.PASSED, annotator)
    actions.select_candidate(sample=sample, candidate=candidate, by=annotator)
    actions.submit_sample(sample=sample, checklist=ALL_SEVEN, by=annotator)
    actions.claim_for_judging(sample=sample, by=expert)
    actions.approve_sample(sample=sample, by=expert)
    parts = first_parts(sample)
    assert parts.task_description == "Which ships paid a late fee in May?"
    assert (parts.elements, parts.example) == ("my own words for the names", ("Gull", "Swan"))
    assert is_approved_anew(sample)
    draft = sample.standardizations.get()
    kept = save(sample, annotator, version=draft.version, elements="my own words for the names")
    assert (kept.version, is_approved_anew(sample)) == (2, False)


def test_a_faulty_draft_can_be_saved_but_not_completed_and_the_faults_are_named_at_their_fields() -> None:
    sample, annotator, _expert = approved_sample()
    draft = save(sample, annotator, task_description="", example=["Marigold"])
    with pytest.raises(RuleBroken) as refused:
        actions.complete_standardization(sample=sample, version=draft.version, by=annotator)
    assert refused.value.rule == "standardization_has_errors"
    assert set(refused.value.details["errors"]) == {"task_description", "example"}
    sample.refresh_from_db()
    assert sample.state == SampleState.IN_STANDARDIZATION


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("task_description", "Which ships paid，in order?"),
        ("task_description", "Which ships paid? Output the [Answer] first."),
        ("elements", ""),
        ("example", []),
        ("example", ["12", "13"]),
        ("supplementary", "[Answer]"),
    ],
)
def test_no_part_that_a_check_refuses_gets_through(part: str, value: Any) -> None:
    sample, annotator, _expert = approved_sample()
    save(sample, annotator, **{part: value})
    with pytest.raises(RuleBroken) as refused:
        actions.complete_standardization(sample=sample, version=1, by=annotator)
    assert part in refused.value.details["errors"]


def test_a_stale_save_and_a_stale_completion_are_refused() -> None:
    sample, annotator, _expert = approved_sample()
    save(sample, annotator)
    save(sample, annotator, version=1, elements="the names of the ships")
    with pytest.raises(Conflict) as refused:
        save(sample, annotator, version=1, elements="other")
    assert (refused.value.rule, refused.value.details["version"]) == ("stale_version", 2)
    with pytest.raises(Conflict):
        actions.complete_standardization(sample=sample, version=1, by=annotator)
    assert sample.standardizations.get().elements == "the names of the ships"


@pytest.mark.parametrize("make_other", [make_annotator, make_expert, make_lead])
def test_only_the_samples_annotator_standardizes_it(make_other: Any) -> None:
    sample, _annotator, _expert = approved_sample()
    with pytest.raises(NotAllowed):
        save(sample, make_other())


def test_nothing_saved_nothing_completed() -> None:
    sample, annotator, _expert = approved_sample()
    with pytest.raises(RuleBroken) as refused:
        actions.complete_standardization(sample=sample, version=1, by=annotator)
    assert refused.value.rule == "nothing_saved"


def test_an_answer_that_fails_its_checks_goes_back_to_the_desk_with_the_reason() -> None:
    sample, annotator, _expert = approved_sample()
    actions.reopen_sample(sample=sample, reason="Two elements are the same.", by=annotator)
    assert sample.state == SampleState.RETURNED
    assert actions.claim_next(by=annotator) == sample


# Versions and the trail ----------------------------------------------------------------------------------------------


def test_every_save_is_a_version_and_one_that_changes_nothing_is_none() -> None:
    sample, annotator, _expert = approved_sample()
    save(sample, annotator)
    save(sample, annotator, version=1)
    save(sample, annotator, version=1, elements="the names")
    draft = sample.standardizations.get()
    assert draft.version == 2
    assert list(draft.edits.values_list("version", "elements", "by")) == [
        (1, GOOD["elements"], annotator.pk),
        (2, "the names", annotator.pk),
    ]


def test_the_versions_are_told_by_sitting_with_what_changed_in_each() -> None:
    sample, annotator, _expert = approved_sample()
    save(sample, annotator)
    save(sample, annotator, version=1, elements="the names")
    StandardizationEdit.objects.update(at=timezone.now() - timedelta(hours=1))
    save(sample, annotator, version=2, elements="the names of ships", example=["Gull", "Auk"])
    newest, first = versions_of(sample)
    assert (first.version, first.saves, first.changes) == (2, 2, ())
    assert [
        (change.name, [piece.text for piece in change.pieces if piece.kind == "ins"]) for change in newest.changes
    ] == [
        ("elements", [" of ships"]),
        ("example", ["Auk"]),
    ]


def test_the_expert_reads_the_versions_and_the_story_counts_saves_in_one_line() -> None:
    sample, annotator, expert = approved_sample()
    for version in range(3):
        save(sample, annotator, version=version, elements=f"the names {version}")
    saves = [line for line in story_of(sample, trail=True) if line.what == WORDS["save_standardization"]]
    assert [(line.by, line.times) for line in saves] == [(annotator, 3)]
    client = Client()
    client.force_login(expert)
    page = client.get(f"/samples/{sample.pk}/standardize/versions/").content.decode()
    assert "saved 3 times" in page
    assert "data-put-back" not in page


def test_whoever_reviews_the_answer_reads_no_versions_and_no_preview() -> None:
    sample, annotator, _expert = approved_sample()
    save(sample, annotator)
    reviewer = make_annotator()
    actions.join_sample(sample=sample, person=reviewer, job=Job.REVIEWS)
    client = Client()
    client.force_login(reviewer)
    for path in ("standardize/", "standardize/versions/"):
        assert client.get(f"/samples/{sample.pk}/{path}").status_code == 403
    assert client.post(f"/samples/{sample.pk}/standardize/compare").status_code == 403
    assert client.get(f"/api/v1/samples/{sample.pk}/standardize/").status_code == 403


def test_a_lapsed_claim_is_taken_again_by_the_next_save() -> None:
    sample, annotator, _expert = approved_sample()
    save(sample, annotator)
    Claim.objects.filter(sample=sample, ended_at=None).update(lapses_at=timezone.now() - timedelta(minutes=1))
    assert save(sample, annotator, version=1, elements="after the break").version == 2
    assert live_claims().filter(sample=sample, holder=annotator).count() == 1


# Saving as it is typed, for the page --------------------------------------------------------------------------------

TYPED = {**GOOD, "example": "Gull\nSwan"}


def test_the_page_saves_as_it_is_typed_and_is_told_when_somebody_was_faster() -> None:
    sample, annotator, _expert = approved_sample()
    client = Client()
    client.force_login(annotator)
    address = f"/samples/{sample.pk}/standardize/"
    first = client.post(f"{address}autosave", {**TYPED, "version": "0"})
    assert first.json() == {"version": 1}
    stale = client.post(f"{address}autosave", {**TYPED, "elements": "mine <b>", "version": "0"})
    assert (stale.status_code, stale.json()["rule"], stale.json()["version"]) == (409, "stale_version", 1)
    shown = client.post(f"{address}compare", {**TYPED, "elements": "mine <b>"}).content.decode()
    assert "mine" in shown
    assert "&lt;b&gt;" in shown or "&lt;" in shown
    assert f'<template data-stored="elements">{GOOD["elements"]}</template>' in shown
    assert sample.standardizations.get().elements == GOOD["elements"]


def test_a_save_after_the_sample_was_handed_over_is_refused_with_words() -> None:
    sample, annotator, _expert = approved_sample()
    client = Client()
    client.force_login(annotator)
    actions.take_over_sample(sample=sample, holder=make_annotator(), reason="On leave.", by=make_lead())
    refused = client.post(f"/samples/{sample.pk}/standardize/autosave", {**TYPED, "version": "0"})
    assert (refused.status_code, refused.json()["rule"]) == (403, "not_allowed")
    assert refused.json()["detail"]
    assert not sample.standardizations.exists()


def test_the_page_marks_places_differences_and_classes() -> None:
    sample, annotator, _expert = approved_sample()
    rendering = render_parts(sample, replace(first_parts(sample), task_description="  Which ships，please?"))
    plain, thought = (prompt_pieces(rendering, thinking=one) for one in (False, True))
    assert "".join(piece.text for piece in plain) == rendering.nonthinking
    assert "".join(piece.text for piece in thought) == rendering.thinking
    assert [piece.text for piece in plain if piece.kind == "fail"] == ["，"]
    assert "<Your thinking process>" in [piece.text.strip() for piece in thought if piece.kind == "differs"]
    assert ", without any additional content" in [piece.text for piece in plain if piece.kind == "differs"]
    assert {(one.form.kind, one.reason) for one in rendering.answer} == {
        ("name", "each word begins with a capital letter, or stands in title marks")
    }
    client = Client()
    client.force_login(annotator)
    page = client.post(f"/samples/{sample.pk}/standardize/preview", {**TYPED, "task_description": "Which，one?"})
    assert 'data-repair="task_description" data-start="5" data-end="6" data-with=", "' in page.content.decode()


# The API -------------------------------------------------------------------------------------------------------------


def api(person: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(person)
    return client


def test_the_api_begins_previews_saves_and_completes() -> None:
    sample, annotator, _expert = approved_sample()
    client, address = api(annotator), f"/api/v1/samples/{sample.pk}/standardize/"
    begun = client.get(address).json()
    assert (begun["version"], begun["may_complete"]) == (0, True)
    assert begun["self_score"] == {"nonthinking": 1.0, "thinking": 1.0}
    assert [one["kind"] for one in begun["answer"]] == ["name"] * 3
    parts = {name: begun[name] for name in ("task_description", "elements", "supplementary", "example")}
    spoilt = {**parts, "task_description": "Which ships，please?"}
    found = client.post(f"{address}preview/", spoilt, format="json").json()
    assert not found["may_complete"]
    [finding] = found["findings"]
    assert (finding["check"], finding["start"], finding["end"]) == ("punctuation", 11, 12)
    repair = finding["repair"]
    text = spoilt[repair["field"]]
    mended = text[: repair["start"]] + repair["text"] + text[repair["end"] :]
    assert mended == "Which ships, please?"
    assert not sample.standardizations.exists()
    saved = client.post(address, {**parts, "task_description": mended, "version": 0}, format="json").json()
    assert (saved["version"], saved["completed_at"]) == (1, None)
    done = client.post(
        address, {**parts, "task_description": mended, "version": 1, "complete": True}, format="json"
    ).json()
    assert done["completed_at"]
    assert done["question_nonthinking"].startswith("Which ships, please? Output the “[Answer]”")


def test_the_schema_describes_standardize_and_its_preview() -> None:
    schema = api(make_annotator()).get("/api/v1/schema/?format=json").json()
    paths = schema["paths"]
    assert set(paths["/api/v1/samples/{id}/standardize/"]) == {"get", "post"}
    assert "post" in paths["/api/v1/samples/{id}/standardize/preview/"]
    assert "question_thinking" not in schema["components"]["schemas"]["PartsBodyRequest"]["properties"]
    assert "LF" in schema["components"]["schemas"]["Finding"]["description"]


# The command -------------------------------------------------------------------------------------------------------


def render(tmp_path: Path, capsys: pytest.CaptureFixture[str], **parts: Any) -> tuple[int, dict[str, Any]]:
    row = {"language": "English", "secondary_task": "T1.2", "answer": ["Marigold", "Heron"], **GOOD, **parts}
    file = tmp_path / "parts.json"
    file.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    code = 0
    try:
        call_command("render_prompts", str(file))
    except SystemExit as left:
        code = int(left.code or 0)
    return code, json.loads(capsys.readouterr().out)


def test_the_command_renders_both_prompts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, rendered = render(tmp_path, capsys)
    assert code == 0
    assert list(rendered) == ["question_nonthinking", "question_thinking", "findings"]
    assert rendered["question_thinking"].count("[Answer]") == 2


def test_the_command_prints_the_prompts_also_when_it_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, rendered = render(tmp_path, capsys, example=["Marigold"])
    assert code == 1
    assert {"check", "severity", "field", "message"} == set(rendered["findings"][0])
    assert rendered["question_nonthinking"]


@pytest.mark.parametrize("language", ["English", "Chinese"])
def test_the_command_the_api_and_the_action_find_the_same(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample, annotator, _expert = approved_sample(language=language)
    spoilt = {
        "task_description": "列出,输出答案。 Which，one",
        "elements": "",
        "supplementary": "[Answer]",
        "example": [],
    }
    answer = sample.submissions.get().answer
    code, rendered = render(tmp_path, capsys, language=language, answer=answer, **spoilt)
    body = {**spoilt, "example": []}
    previewed = api(annotator).post(f"/api/v1/samples/{sample.pk}/standardize/preview/", body, format="json").json()
    assert code == 1
    assert rendered["findings"] == [
        {name: one[name] for name in ("check", "severity", "field", "message")} for one in previewed["findings"]
    ]
    assert rendered["question_thinking"] == previewed["question_thinking"]
    with pytest.raises(RuleBroken) as refused:
        keep_standardization(sample=sample, version=0, by=annotator, complete=True, **spoilt)  # type: ignore[arg-type]
    said = [words for texts in refused.value.details["errors"].values() for words in texts]
    assert sorted(said) == sorted(one["message"] for one in rendered["findings"] if one["severity"] == "error")


@pytest.mark.parametrize("text", ["{", "[]", '{"language": "Latin"}'])
def test_the_command_refuses_a_file_that_holds_no_parts(tmp_path: Path, text: str) -> None:
    file = tmp_path / "parts.json"
    file.write_text(text)
    with pytest.raises(CommandError) as refused:
        call_command("render_prompts", str(file))
    assert refused.value.returncode == 2
