"""One snapshot, frozen for good; what is left out and why."""

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from annotation.models import Sample
from annotation.workflow import SampleState
from benchmark.taxonomy import Language
from core.models import BenchmarkSettings
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from documents.models import DocumentVersion
from documents.workflow import VersionState
from release import actions, building
from release.models import LeftOut, Release, ReleaseItem
from release.readiness import Group, Reason
from release.workflow import ReleaseState
from tests.factories import make_annotator, make_lead, make_standardized_sample
from tests.release.parts import make_ready_sample, make_text, measured_version, released, restandardize

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_lengths")]


def reasons(release: Release, sample: Sample) -> list[Reason]:
    row = LeftOut.objects.get(release=release, sample=sample)
    return [Reason.from_json(reason) for reason in row.reasons]


def test_a_release_holds_the_ready_samples_in_the_order_of_the_taxonomy() -> None:
    chinese = make_ready_sample(language=Language.CHINESE)
    later = make_ready_sample()
    first = make_ready_sample(task_code="T1.1")
    release = released()
    assert release.state == ReleaseState.FROZEN
    assert [item.sample for item in release.items.all()] == [first, later, chinese]
    assert release.total == release.progress == 3


def test_nothing_accepted_makes_no_empty_release_and_says_why() -> None:
    make_standardized_sample(state=SampleState.IN_REVIEW)
    with pytest.raises(RuleBroken, match="No sample is accepted yet") as refused:
        actions.make_release(version="1.0", by=make_lead(), allow_incomplete=True)
    assert refused.value.rule == "nothing_to_release"
    make_ready_sample()
    assert released().total == 1


def test_accepted_but_not_ready_is_no_empty_release_either() -> None:
    make_ready_sample().difficulty_labels.all().delete()
    with pytest.raises(RuleBroken, match=r"1 samples are accepted.*Difficulty label current \(1\)"):
        actions.make_release(version="1.0", by=make_lead(), allow_incomplete=True)
    assert not Release.objects.exists()


def test_unmet_targets_refuse_with_the_counts() -> None:
    make_ready_sample()
    with pytest.raises(RuleBroken) as refused:
        actions.make_release(version="1.0", by=make_lead())
    assert refused.value.rule == "targets_unmet"
    assert len(refused.value.details["cells"]) == 25 * 2 * 6 - 1
    assert refused.value.details["cells"][0] == {
        "secondary_task": "T1.1 Global Cohesive Retrieval",
        "language": "English",
        "token_length": "8k",
        "samples": 0,
        "target": 1,
    }


def test_met_targets_need_no_allowance() -> None:
    settings = BenchmarkSettings.load()
    settings.samples_per_cell = 0
    settings.save()
    make_ready_sample()
    release = building.build(actions.make_release(version="1.0", by=make_lead()))
    assert (release.state, release.manifest["complete"]) == (ReleaseState.FROZEN, True)


@pytest.mark.parametrize("version", ["", " ", ".hidden", "-x", "a/b", "a b", "x" * 41, "版本", "1.0\n2"])
def test_a_version_is_a_plain_name(version: str) -> None:
    make_ready_sample()
    with pytest.raises(Invalid) as refused:
        actions.make_release(version=version, by=make_lead(), allow_incomplete=True)
    assert list(refused.value.errors) == ["version"]


def test_a_version_is_used_once_whatever_its_case() -> None:
    make_ready_sample()
    released("v1")
    with pytest.raises(Invalid, match="already"):
        actions.make_release(version="V1", by=make_lead(), allow_incomplete=True)


def test_only_leads_release() -> None:
    make_ready_sample()
    with pytest.raises(NotAllowed):
        actions.make_release(version="1.0", by=make_annotator(), allow_incomplete=True)


# What is left out ------------------------------------------------------------------------------------------------


def no_label(sample: Sample) -> None:
    sample.difficulty_labels.all().delete()


def label_waits(sample: Sample) -> None:
    sample.difficulty_labels.update(difficulty="", missing=["model-x"])


def withdrawn_approval(sample: Sample) -> None:
    DocumentVersion.objects.filter(pk=sample.document_version_id).update(state=VersionState.REJECTED)


def another_count(sample: Sample) -> None:
    DocumentVersion.objects.filter(pk=sample.document_version_id).update(tokens=1000)


def no_bucket(sample: Sample) -> None:
    DocumentVersion.objects.filter(pk=sample.document_version_id).update(bucket="")


def wrong_answer(sample: Sample) -> None:
    sample.standardizations.update(answer=["Marigold", "marigold", "Tern"])


def tampered_prompt(sample: Sample) -> None:
    made = sample.standardizations.get()
    made.question_thinking = made.question_thinking.replace("step", "stride", 1) + " "
    made.save()


def other_language(sample: Sample) -> None:
    sample.document.language = Language.CHINESE.value
    sample.document.save()


def example_is_the_answer(sample: Sample) -> None:
    restandardize(sample, example=["Marigold", "Heron", "Tern"])


def round_without_prompts(sample: Sample) -> None:
    Sample.objects.filter(pk=sample.pk).update(round=2)


@pytest.mark.parametrize(
    ("spoil", "check", "group"),
    [
        (no_label, "no_label", Group.LABEL),
        (label_waits, "label_waits", Group.LABEL),
        (withdrawn_approval, "document_not_approved", Group.DOCUMENT),
        (another_count, "bucket", Group.BUCKET),
        (no_bucket, "listed_value", Group.FIELDS),
        (wrong_answer, "answer_duplicate", Group.ANSWER),
        (tampered_prompt, "fixed_text", Group.PROMPTS),
        (other_language, "prompt_language", Group.PROMPTS),
        (example_is_the_answer, "example_is_answer", Group.EXAMPLE),
        (round_without_prompts, "no_prompts", Group.FIELDS),
    ],
)
def test_a_sample_that_fails_is_left_out_and_named(spoil: Any, check: str, group: Group) -> None:
    make_ready_sample()
    failing = make_ready_sample()
    spoil(failing)
    release = released()
    found = reasons(release, failing)
    assert check in {reason.check for reason in found}
    assert group in {reason.group for reason in found}
    assert all(reason.message for reason in found)
    assert release.total == 1
    assert release.manifest["left_out"] == [
        {"id": failing.public_id, "reasons": sorted({reason.check for reason in found})}
    ]


def test_of_two_samples_with_the_same_context_and_question_one_is_left_out() -> None:
    text = make_text()
    first = make_ready_sample(version=measured_version(text))
    version = first.document_version
    twin = measured_version()
    DocumentVersion.objects.filter(pk=twin.pk).update(sha256=version.sha256, number=2)
    make_ready_sample(version=DocumentVersion.objects.get(pk=twin.pk))
    release = Release.objects.create(
        version="1.0", allow_incomplete=True, manifest={"targets": {"per_cell": 1, "exceptions": []}}
    )
    building.freeze(release)
    assert release.total == 1
    assert [reason["check"] for row in release.left_out.all() for reason in row.reasons] == ["same_question"]


def test_exhausted_and_unfinished_samples_are_not_spoken_of() -> None:
    make_ready_sample()
    make_standardized_sample(state=SampleState.EXHAUSTED)
    make_standardized_sample(state=SampleState.IN_AUDIT)
    assert not released().left_out.exists()


# Frozen for good ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["update", "delete"])
def test_the_database_refuses_to_change_what_was_released(change: str) -> None:
    make_ready_sample()
    released()
    statement = {
        "update": "UPDATE release_releaseitem SET position = 9",
        "delete": "DELETE FROM release_releaseitem",
    }[change]
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert ReleaseItem.objects.get().fields["difficulty"] == "Easy"


def test_a_release_is_withdrawn_with_a_reason_and_kept() -> None:
    make_ready_sample()
    release, lead = released(), make_lead()
    with pytest.raises(Invalid):
        actions.withdraw_release(release=release, reason="  ", by=lead)
    actions.withdraw_release(release=release, reason="Two answers are wrong.", by=lead)
    release.refresh_from_db()
    assert (release.state, release.withdrawn_reason) == (ReleaseState.WITHDRAWN, "Two answers are wrong.")
    assert release.items.count() == 1
    with pytest.raises(Conflict):
        actions.withdraw_release(release=release, reason="again", by=lead)


def test_samples_that_change_after_the_snapshot_do_not_change_the_release() -> None:
    sample = make_ready_sample()
    release = actions.make_release(version="1.0", by=make_lead(), allow_incomplete=True)
    building.freeze(release)
    fields = release.items.get().fields
    Sample.objects.filter(pk=sample.pk).update(state=SampleState.RETURNED)
    wrong_answer(sample)
    building.build(release)
    assert release.state == ReleaseState.FROZEN
    assert release.items.get().fields == fields


def test_a_job_that_died_after_the_snapshot_goes_on_where_it_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    make_ready_sample()
    release = actions.make_release(version="1.0", by=make_lead(), allow_incomplete=True)
    with monkeypatch.context() as died:
        died.setattr(building, "write_files", _die)
        with pytest.raises(KeyboardInterrupt):
            building.build(release)
    make_ready_sample()
    assert building.work_off() == 0, "its lease still runs"
    Release.objects.update(lease_until=None)
    assert building.take_up_lost() == 1
    assert building.work_off() == 1
    release.refresh_from_db()
    assert (release.state, release.total) == (ReleaseState.FROZEN, 1)


def _die(*args: Any, **more: Any) -> None:
    raise KeyboardInterrupt


def test_what_is_no_longer_ready_when_the_worker_comes_fails_the_release_with_words() -> None:
    sample = make_ready_sample()
    lead = make_lead()
    release = actions.make_release(version="1.0", by=lead, allow_incomplete=True)
    withdrawn_approval(sample)
    building.build(release)
    assert release.state == ReleaseState.FAILED
    assert "Document approved (1)" in release.error
    DocumentVersion.objects.update(state=VersionState.APPROVED)
    actions.retry_release(release=release, by=lead)
    building.work_off()
    release.refresh_from_db()
    assert (release.state, release.error) == (ReleaseState.FROZEN, "")


def test_files_of_another_database_under_the_same_name_are_not_taken_for_these() -> None:
    make_ready_sample()
    release = actions.make_release(version="1.0", by=make_lead(), allow_incomplete=True)
    folder = building.stored_folder(release)
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    building.build(release)
    assert release.state == ReleaseState.FROZEN
    assert len(list(folder.iterdir())) == 7
