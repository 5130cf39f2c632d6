"""The four parts of the standardized question. The two prompts are computed from them and never typed."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import claims
from annotation.guards import lock, reason_given, require_approved, require_stage_worker, require_state
from annotation.models import Sample, Standardization, StandardizationEdit
from annotation.queries import draft_standardization
from annotation.rendering import (
    PARTS,
    Rendering,
    approved_submission,
    first_parts,
    parts_of,
    render,
    said,
    submission_of,
)
from annotation.workflow import ClaimEnd, SampleState
from benchmark.framing import Parts, nonthinking_prompt, thinking_prompt
from core import history
from core.models import User
from core.refusals import Conflict, RuleBroken

__all__ = [
    "Rendering",
    "approved_submission",
    "can_reopen_sample",
    "can_standardize_sample",
    "complete_standardization",
    "first_parts",
    "keep_standardization",
    "parts_of",
    "render",
    "reopen_sample",
    "said",
    "save_standardization",
]

OPEN = frozenset({SampleState.IN_STANDARDIZATION})


def can_standardize_sample(user: User, sample: Sample) -> bool:
    return user.does_stage_work and not sample.is_blocked and sample.state in OPEN and sample.annotator_id == user.pk


def _standardizing(sample: Sample, by: User) -> None:
    """Only the sample's annotator may, so the claim is taken without asking when it is free or has lapsed."""
    require_stage_worker(by)
    lock(sample)
    require_approved(sample)
    require_state(sample, OPEN)
    claims.require_own(sample, by)
    claims.require_number(claims.claim_sample(sample=sample, by=by))


@transaction.atomic
def save_standardization(
    *,
    sample: Sample,
    version: int,
    task_description: str,
    elements: str,
    supplementary: str,
    example: Sequence[str],
    by: User,
) -> Standardization:
    """Keep the parts as a draft, faults and all. `version` is the draft's as last seen; 0 before the first save.

    Every save is a version of its own and stays readable; one that changes nothing is none.
    """
    _standardizing(sample, by)
    parts = parts_of(
        sample, task_description=task_description, elements=elements, supplementary=supplementary, example=example
    )
    draft = draft_standardization(sample)
    if draft is None:
        last = sample.standardizations.aggregate(last=Max("number"))["last"] or 0
        draft = Standardization(sample=sample, number=last + 1, version=0)
    else:
        _require_version(draft, version)
        if draft.parts == parts and submission_of(draft) == approved_submission(sample):
            return draft
    _fill(draft, parts, by)
    draft.version += 1
    draft.save()
    _keep_version(draft, by)
    history.record("save_standardization", sample, by=by, number=draft.number, version=draft.version)
    return draft


def _keep_version(draft: Standardization, by: User) -> None:
    parts = {name: getattr(draft, name) for name in PARTS}
    StandardizationEdit.objects.create(standardization=draft, version=draft.version, by=by, **parts)


def _require_version(draft: Standardization, version: int) -> None:
    if draft.version != version:
        raise Conflict(
            _("The draft was saved meanwhile: it is at version %(now)s, you saw version %(seen)s.")
            % {"now": draft.version, "seen": version},
            rule="stale_version",
            version=draft.version,
        )


def _fill(draft: Standardization, parts: Parts, by: User) -> None:
    sample = draft.sample
    draft.round, draft.document_version = sample.round, sample.document_version
    draft.language, draft.task_description, draft.elements = sample.language, parts.task_description, parts.elements
    draft.supplementary, draft.example = parts.supplementary, list(parts.example)
    draft.answer = approved_submission(sample).answer
    draft.question_nonthinking, draft.question_thinking = nonthinking_prompt(parts), thinking_prompt(parts)
    draft.saved_at, draft.saved_by = timezone.now(), by


@transaction.atomic
def complete_standardization(*, sample: Sample, version: int, by: User) -> Standardization:
    """Freeze the saved draft. Every check must hold; the reference answer is the approved submission's."""
    _standardizing(sample, by)
    draft = draft_standardization(sample)
    if draft is None:
        raise RuleBroken(_("Nothing has been saved yet."), rule="nothing_saved")
    _require_version(draft, version)
    _fill(draft, draft.parts, draft.saved_by)
    _require_no_errors(render(sample, draft.parts, answer=draft.answer))
    draft.completed_at, draft.completed_by = timezone.now(), by
    draft.save()
    history.advance(sample, "standardize", by=by, number=draft.number)
    claims.end_claim(sample, ClaimEnd.FINISHED, by=by)
    return draft


@transaction.atomic
def keep_standardization(
    *,
    sample: Sample,
    version: int,
    task_description: str,
    elements: str,
    supplementary: str,
    example: Sequence[str],
    by: User,
    complete: bool = False,
) -> Standardization:
    """Save, and with `complete` freeze, as one: when completing is refused nothing is saved."""
    draft = save_standardization(
        sample=sample,
        version=version,
        task_description=task_description,
        elements=elements,
        supplementary=supplementary,
        example=example,
        by=by,
    )
    return complete_standardization(sample=sample, version=draft.version, by=by) if complete else draft


def _require_no_errors(rendering: Rendering) -> None:
    if not rendering.errors:
        return
    by_field: dict[str, list[str]] = {}
    for finding in rendering.errors:
        by_field.setdefault(finding.field, []).append(said(finding))
    raise RuleBroken(
        _("%(count)s check(s) fail. First: %(first)s")
        % {"count": len(rendering.errors), "first": said(rendering.errors[0])},
        rule="standardization_has_errors",
        errors=by_field,
    )


def can_reopen_sample(user: User, sample: Sample) -> bool:
    return can_standardize_sample(user, sample)


@transaction.atomic
def reopen_sample(*, sample: Sample, reason: str, by: User) -> Sample:
    """Back to the desk when the answer itself does not pass the checks; it is edited, judged and audited again."""
    _standardizing(sample, by)
    reason = reason_given(reason)
    history.advance(sample, "reopen", by=by, reason=reason)
    claims.end_claim(sample, ClaimEnd.FINISHED, by=by)
    return sample
