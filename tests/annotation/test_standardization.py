"""Stage 3: four parts, two computed prompts, and no way to complete what a check finds wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation import actions
from annotation.models import Sample, Standardization
from annotation.queries import current_standardization
from annotation.standardizing import first_parts
from annotation.workflow import ClaimEnd, SampleState
from benchmark.framing import Parts, nonthinking_prompt, thinking_prompt
from benchmark.taxonomy import Language
from core.models import User
from core.refusals import Conflict, NotAllowed, RuleBroken
from tests.annotation.scenes import approved_sample
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


def test_the_form_begins_with_the_approved_question() -> None:
    sample, _annotator, _expert = approved_sample()
    parts = first_parts(sample)
    assert parts.task_description.startswith("Which ships paid a late fee")
    assert parts.elements == "the ship names in order of the fee"


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


@pytest.mark.parametrize("text", ["{", "[]", '{"language": "Latin"}'])
def test_the_command_refuses_a_file_that_holds_no_parts(tmp_path: Path, text: str) -> None:
    file = tmp_path / "parts.json"
    file.write_text(text)
    with pytest.raises(CommandError) as refused:
        call_command("render_prompts", str(file))
    assert refused.value.returncode == 2
