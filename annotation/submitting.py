"""The best passed candidate is selected and handed to expert audit, frozen as it reads."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation import claims
from annotation.models import Candidate, Sample, Submission
from annotation.workflow import CandidateState, ClaimEnd, Step
from core import history
from core.guidelines import CHECKLIST
from core.models import User
from core.refusals import Conflict, Invalid, RuleBroken
from core.text import clean_text

NEEDED = (Step.TASK_A, Step.TASK_B, Step.TASK_C)


def can_select_candidate(user: User, candidate: Candidate) -> bool:
    return candidate.state == CandidateState.PASSED and claims.holds_desk(user, candidate.sample)


@transaction.atomic
def select_candidate(*, sample: Sample, candidate: Candidate, by: User) -> Sample:
    """Choose one passed candidate. Until it is submitted another may be chosen instead."""
    claims.desk(sample, by)
    candidate.refresh_from_db()
    if candidate.sample_id != sample.pk:
        raise Invalid({"candidate": _("This candidate belongs to another sample.")})
    _require_passed(candidate)
    sample.chosen = candidate
    sample.save(update_fields=["chosen"])
    history.record("select", sample, by=by, candidate=candidate.pk, position=candidate.position)
    return sample


def _require_passed(candidate: Candidate) -> None:
    if candidate.state != CandidateState.PASSED:
        raise Conflict(
            _("Only a candidate that has passed all three tasks can be selected."),
            rule="candidate_not_passed",
            state=candidate.state,
        )


def can_submit_sample(user: User, sample: Sample) -> bool:
    chosen = sample.chosen
    return chosen is not None and chosen.state == CandidateState.PASSED and claims.holds_desk(user, sample)


@transaction.atomic
def submit_sample(*, sample: Sample, checklist: Sequence[bool | str], by: User, note: str = "") -> Submission:
    """Hand the chosen candidate to expert audit. All seven items are ticked: as seven trues, or by their codes."""
    claims.desk(sample, by)
    candidate = sample.chosen
    if candidate is None:
        raise RuleBroken(_("Select one of the passed candidates first."), rule="candidate_not_selected")
    _require_passed(candidate)
    _require_verdicts(candidate)
    _require_checklist(checklist)
    last = sample.submissions.aggregate(last=Max("number"))["last"] or 0
    submission = Submission.objects.create(
        sample=sample,
        number=last + 1,
        round=sample.round,
        candidate=candidate,
        candidate_version=candidate.version,
        question=candidate.question,
        elements=candidate.elements,
        options=candidate.options,
        answer=candidate.answer,
        checklist=[True] * len(CHECKLIST),
        note=clean_text(note).strip(),
        submitted_by=by,
    )
    sample.annotator = by
    sample.save(update_fields=["annotator"])
    history.advance(sample, "submit", by=by, submission=submission.number, candidate=candidate.pk)
    claims.end_claim(sample, ClaimEnd.FINISHED, by=by)
    return submission


def _require_verdicts(candidate: Candidate) -> None:
    """The state says that all three tasks are passed; the verdicts must say so too, for the text as it reads."""
    given = dict(candidate.verdicts.filter(voided_at=None).values_list("step", "candidate_version"))
    if any(step not in given for step in NEEDED) or given[Step.TASK_C] != candidate.version:
        raise RuleBroken(_("A verdict is missing or older than the last edit."), rule="verdicts_needed")


def _require_checklist(given: Sequence[bool | str]) -> None:
    names = [str(item) for item in given]
    ticked = [item is True for item in given]
    complete = len(ticked) == len(CHECKLIST) and all(ticked)
    if not complete and not {item.code for item in CHECKLIST} <= set(names):
        raise RuleBroken(
            _("A sample is submitted only with all seven items of the checklist ticked."), rule="checklist_needed"
        )
