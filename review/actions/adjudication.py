"""The expert's decision on a disputed case: element by element, then as a whole."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import accept_sample, claim_for_judging, join_sample, reconstruct_sample
from annotation.workflow import Job
from core import history
from core.guidelines import current_version
from core.models import User
from core.refusals import Conflict, NotAllowed, Refused
from core.text import clean_text
from review.actions.guards import locked
from review.deciding import Decision, checked, typed
from review.models import Adjudication, DecisionDraft, ReviewCase
from review.queries import UNDECIDED, draft_of, job_on, reviews_visible_to
from review.workflow import AdjudicationOutcome, CaseState


def can_adjudicate_case(user: User, case: ReviewCase) -> bool:
    """An expert who neither verified nor reviewed the sample; its auditor may."""
    return user.is_expert and case.state == CaseState.DISPUTED and job_on(case, user) in {"", Job.JUDGES}


@transaction.atomic
def take_case(*, case: ReviewCase, by: User) -> ReviewCase:
    """Claim a disputed case, so that nobody else decides it meanwhile; from now on this expert sees both reviews."""
    case = locked(case)
    _may_judge(case, by)
    if case.state != CaseState.DISPUTED:
        raise history.moved_on(case, case.state)
    claim_for_judging(sample=case.sample, by=by)
    join_sample(sample=case.sample, person=by, job=Job.JUDGES)
    DecisionDraft.objects.get_or_create(case=case, expert=by)
    history.record("take_case", case, by=by)
    return case


can_save_decision = can_adjudicate_case


@transaction.atomic
def save_decision(
    *,
    case: ReviewCase,
    version: int,
    choice: str = "",
    reason: str = "",
    marks: Sequence[Any] = (),
    proposal: str = "",
    by: User,
) -> DecisionDraft:
    """Keep a decision as far as it is typed; it may have gaps. A draft saved elsewhere since `version` (0 before the
    first save) is refused, with both texts.

    Whoever has lost the case to somebody else meanwhile loses no word: it is kept, and counts for nothing.
    """
    case = locked(case)
    _may_judge(case, by)
    if case.state != CaseState.DISPUTED:
        raise history.moved_on(case, case.state)
    draft = draft_of(case, by) or _begun(case, by)
    with suppress(Refused), transaction.atomic():
        claim_for_judging(sample=case.sample, by=by)
    fields = typed(choice=choice, reason=reason, marks=marks, proposal=proposal, case=case).as_fields()
    rows = DecisionDraft.objects.filter(pk=draft.pk, version=version)
    saved = rows.update(**fields, version=F("version") + 1, saved_at=timezone.now())
    draft.refresh_from_db()
    current = {name: getattr(draft, name) for name in fields}
    if not saved and current != fields:
        raise Conflict(
            _("This decision was saved in another window meanwhile. Both texts are shown; nothing was overwritten."),
            rule="stale_version",
            version=draft.version,
            current=current,
            sent=fields,
        )
    return draft


def _begun(case: ReviewCase, by: User) -> DecisionDraft:
    if not reviews_visible_to(by).filter(case=case).exists():
        raise NotAllowed(_("Take the case first."), rule="case_not_taken")
    return DecisionDraft.objects.create(case=case, expert=by)


@transaction.atomic
def adjudicate_case(
    *,
    case: ReviewCase,
    outcome: str,
    step: str = "",
    reason: str = "",
    marks: Sequence[Any] = (),
    proposal: Sequence[Any] = (),
    by: User,
) -> Adjudication:
    """Decide a disputed case: no issue (accepted), or reconstruction from a named step for an exact reason.

    marks: [{"element", "mark"}] of the elements that the expert decided one by one; none contradicts the outcome.
    proposal: for a revised answer, the elements to start from.
    """
    case = locked(case)
    _may_judge(case, by)
    if case.state != CaseState.DISPUTED:
        raise history.moved_on(case, case.state)
    decision = checked(Decision(outcome, step, clean_text(reason).strip(), marks, proposal), case)
    claim_for_judging(sample=case.sample, by=by)
    join_sample(sample=case.sample, person=by, job=Job.JUDGES)
    kept = Adjudication.objects.create(
        case=case, decided_by=by, guidelines_version=current_version(), **decision.as_fields()
    )
    history.advance(
        case, "adjudicate", by=by, reason=decision.reason, outcome=outcome, step=step, elements=len(decision.marks)
    )
    DecisionDraft.objects.filter(case=case, expert=by).delete()
    if outcome == AdjudicationOutcome.NO_ISSUE:
        accept_sample(sample=case.sample, by=by, reason=decision.reason)
    else:
        reconstruct_sample(
            sample=case.sample, step=step, reason=decision.reason, proposal=list(decision.proposal), by=by
        )
    return kept


def _may_judge(case: ReviewCase, by: User) -> None:
    if not by.is_expert or not by.is_active:
        raise NotAllowed(_("Only an expert decides a disputed case."))
    if job_on(case, by) not in {"", Job.JUDGES}:
        raise NotAllowed(
            _("You verified or reviewed this sample; another expert must decide."), rule="two_jobs_on_one_sample"
        )


def record_look(*, case: ReviewCase, by: User) -> None:
    """A lead looked at the reviews of a case that is not decided: allowed, and written down."""
    if by.is_lead and case.state in UNDECIDED:
        history.record("look_at_reviews", case, by=by)
