"""Stage 4 and the quality audit: who may sit down, what a review keeps, and the one decision of two reviews."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.actions import (
    accept_sample,
    claim_for_judging,
    dispute_sample,
    join_sample,
    reconstruct_sample,
)
from annotation.models import Sample
from annotation.queries import current_standardization
from annotation.workflow import Job, ReconstructionStep
from core import history
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from core.text import clean_text
from review import sampling
from review.judging import LONGEST_NOTE, check_issues, cleaned, content_of, finds_issue, open_points
from review.models import SEATS, Adjudication, AnswerReview, AuditedSample, QualityAudit, QualityScore, ReviewCase
from review.queries import (
    QUALITY_SEATS,
    audited_offered_to,
    cases_offered_to,
    job_on,
    predicted_elements,
    review_of,
    somebody_new_is_left,
)
from review.workflow import AdjudicationOutcome, CaseState, Dimension, ReviewState

AGREED = gettext_noop("both reviews found no issue")
ATTRIBUTES = ("language", "length", "task", "context_requirement", "answer")
SCORES = (0, 0.5, 1)
LARGEST_DRAW = 10_000


# Seats -----------------------------------------------------------------------------------------------------------


def can_take_seat(user: User, case: ReviewCase) -> bool:
    return cases_offered_to(user).filter(pk=case.pk).exists()


@transaction.atomic
def take_seat(*, case: ReviewCase, by: User) -> AnswerReview:
    """Sit down at the first free seat of an open case; whoever sits there already gets their review again.

    Verifier, auditor and adjudicator are refused. An earlier reviewer of the sample is taken only when nobody new is
    left, and the review says so.
    """
    _do_stage_work(by)
    case = _locked(case)
    if own := review_of(case, by):
        return own
    if case.state != CaseState.OPEN:
        raise history.moved_on(case, case.state)
    if case.sample.is_blocked:
        raise RuleBroken(
            _("The document's approval was withdrawn. The sample waits until it is approved again."),
            rule="document_not_approved",
        )
    held = job_on(case, by)
    if held in {Job.VERIFIES, Job.JUDGES}:
        raise NotAllowed(
            _("You verified, audited or adjudicated this sample; others must review it."),
            rule="two_jobs_on_one_sample",
        )
    again = held == Job.REVIEWS
    if again and somebody_new_is_left(case):
        raise NotAllowed(
            _("You reviewed this sample in an earlier round, and people who have not are left."),
            rule="reviewed_before",
        )
    join_sample(sample=case.sample, person=by, job=Job.REVIEWS)
    for seat in SEATS:
        try:
            with transaction.atomic():
                review = AnswerReview.objects.create(case=case, seat=seat, reviewer=by, reviewed_before=again)
        except IntegrityError:
            continue
        history.record("take_seat", review, by=by, case=case.pk, seat=seat, reviewed_before=again)
        return review
    raise Conflict(
        _("Two colleagues have taken this sample already. Thank you: nothing of yours is needed here, take the next."),
        rule="seats_taken",
    )


def next_review(*, by: User) -> AnswerReview | None:
    """Sit down at the oldest case that is offered; None when there is none."""
    _do_stage_work(by)
    for case in cases_offered_to(by)[:50]:
        try:
            return take_seat(case=case, by=by)
        except (Conflict, NotAllowed, RuleBroken):
            # Somebody was faster; the next one.
            continue
    return None


# The review ------------------------------------------------------------------------------------------------------


def can_save_review(user: User, review: AnswerReview) -> bool:
    return review.reviewer_id == user.pk and review.state == ReviewState.DRAFT


can_submit_review = can_save_review


@transaction.atomic
def save_review(
    *,
    review: AnswerReview,
    version: int,
    marks: Sequence[Any],
    recall: Sequence[Any],
    additions: Sequence[Any],
    issues: Sequence[Any],
    by: User,
) -> AnswerReview:
    """Keep the draft; it may have gaps. A draft saved elsewhere since `version` is refused, with both texts."""
    _own(review, by)
    case = ReviewCase.objects.select_related("sample__document", "standardization", "prediction_run").get(
        pk=review.case_id
    )
    content = cleaned(
        marks=marks,
        recall=recall,
        additions=additions,
        issues=issues,
        answer=case.standardization.answer,
        predicted=[predicted.element for predicted in predicted_elements(case)],
    )
    # Conditional, so that of two savers at once one wins and the other is told.
    kept = AnswerReview.objects.filter(pk=review.pk, version=version, state=ReviewState.DRAFT).update(
        **content.as_fields(), version=F("version") + 1, saved_at=timezone.now()
    )
    review.refresh_from_db()
    if kept:
        return review
    _still_draft(review)
    if content_of(review) == content:
        # The same text twice, as when a page saves while its form is being sent: nothing is in conflict.
        return review
    raise _stale(review, sent=content.as_fields())


@transaction.atomic
def submit_review(*, review: AnswerReview, version: int, by: User) -> AnswerReview:
    """Freeze the review. With the second one comes exactly one decision, in the same transaction."""
    _own(review, by)
    case = _locked(review.case)
    review = AnswerReview.objects.select_for_update().get(pk=review.pk)
    _still_draft(review)
    if review.version != version:
        raise _stale(review, sent={})
    content = content_of(review)
    check_issues(content)
    predicted = [item.element for item in predicted_elements(case)]
    if left := open_points(content, answer=case.standardization.answer, predicted=predicted):
        raise RuleBroken(
            _("Not judged yet: %(points)s.") % {"points": ", ".join(point.words for point in left[:8])},
            rule="review_incomplete",
            open=[f"{point.kind} {point.position}" for point in left],
        )
    now = timezone.now()
    AnswerReview.objects.filter(pk=review.pk).update(found_issue=finds_issue(content), submitted_at=now)
    history.advance(review, "submit", by=by, case=case.pk)
    review.refresh_from_db()
    _decide(case)
    return review


def _decide(case: ReviewCase) -> None:
    """The caller holds the case's lock. The decision is the rule's, not of whoever came second: `by` is the system."""
    verdicts = list(case.reviews.filter(state=ReviewState.SUBMITTED).values_list("found_issue", flat=True))
    if len(verdicts) < len(SEATS):
        return
    if any(verdicts):
        history.advance(case, "dispute", by=None)
        dispute_sample(sample=case.sample)
        return
    history.advance(case, "accept", by=None, reason=AGREED)
    accept_sample(sample=case.sample, by=None, reason=AGREED)


# Adjudication ----------------------------------------------------------------------------------------------------


def can_adjudicate_case(user: User, case: ReviewCase) -> bool:
    """An expert who neither verified nor reviewed the sample; its auditor may."""
    return user.is_expert and case.state == CaseState.DISPUTED and job_on(case, user) in {"", Job.JUDGES}


@transaction.atomic
def take_case(*, case: ReviewCase, by: User) -> ReviewCase:
    """Claim a disputed case, so that nobody else decides it meanwhile; from now on this expert sees both reviews."""
    case = _locked(case)
    _may_judge(case, by)
    if case.state != CaseState.DISPUTED:
        raise history.moved_on(case, case.state)
    claim_for_judging(sample=case.sample, by=by)
    join_sample(sample=case.sample, person=by, job=Job.JUDGES)
    history.record("take_case", case, by=by)
    return case


@transaction.atomic
def adjudicate_case(*, case: ReviewCase, outcome: str, step: str = "", reason: str = "", by: User) -> Adjudication:
    """Decide a disputed case: no issue (accepted), or reconstruction from a named step for an exact reason."""
    case = _locked(case)
    _may_judge(case, by)
    if case.state != CaseState.DISPUTED:
        raise history.moved_on(case, case.state)
    reason = clean_text(reason).strip()
    _check_decision(outcome, step, reason)
    claim_for_judging(sample=case.sample, by=by)
    join_sample(sample=case.sample, person=by, job=Job.JUDGES)
    decision = Adjudication.objects.create(case=case, outcome=outcome, step=step, reason=reason, decided_by=by)
    history.advance(case, "adjudicate", by=by, reason=reason, outcome=outcome, step=step)
    if outcome == AdjudicationOutcome.NO_ISSUE:
        accept_sample(sample=case.sample, by=by, reason=reason)
    else:
        reconstruct_sample(sample=case.sample, step=step, reason=reason, by=by)
    return decision


def _may_judge(case: ReviewCase, by: User) -> None:
    if not by.is_expert or not by.is_active:
        raise NotAllowed(_("Only an expert decides a disputed case."))
    if job_on(case, by) not in {"", Job.JUDGES}:
        raise NotAllowed(
            _("You verified or reviewed this sample; another expert must decide."), rule="two_jobs_on_one_sample"
        )


def _check_decision(outcome: str, step: str, reason: str) -> None:
    errors: dict[str, str] = {}
    if outcome not in AdjudicationOutcome.values:
        errors["outcome"] = _("Choose: no issue, or reconstruct.")
    if outcome == AdjudicationOutcome.NO_ISSUE and step:
        errors["step"] = _("Without an issue there is no step to go back to.")
    if outcome == AdjudicationOutcome.RECONSTRUCT:
        if step not in ReconstructionStep.values:
            errors["step"] = _("Name the step: modify document, rewrite question or revise answer.")
        if not reason:
            errors["reason"] = _("Name the place and what must change.")
    if len(reason) > LONGEST_NOTE:
        errors["reason"] = _("At most %(most)s characters.") % {"most": LONGEST_NOTE}
    if errors:
        raise Invalid(errors)


def record_look(*, case: ReviewCase, by: User) -> None:
    """A lead looked at the reviews of a case that is not decided: allowed, and written down."""
    if by.is_lead and case.state in {CaseState.AWAITING_PREDICTIONS, CaseState.OPEN}:
        history.record("look_at_reviews", case, by=by)


def record_look_at_scores(*, audited: AuditedSample, by: User) -> None:
    """The same for scores that are still blind."""
    if by.is_lead and 0 < audited.scores.count() < len(QUALITY_SEATS):
        history.record("look_at_scores", audited, by=by)


# Quality audit ---------------------------------------------------------------------------------------------------


def can_draw_audit(user: User) -> bool:
    return user.is_lead


@transaction.atomic
def draw_audit(*, size: int, seed: int, by: User) -> QualityAudit:
    """Draw accepted samples, uniformly over task, language and bucket; all of them when there are fewer than `size`."""
    if not can_draw_audit(by):
        raise NotAllowed(_("Only a lead draws a quality audit."))
    errors: dict[str, str] = {}
    if not 1 <= size <= LARGEST_DRAW:
        errors["size"] = _("Between 1 and %(most)s samples.") % {"most": LARGEST_DRAW}
    if abs(seed) >= 2**63:
        errors["seed"] = _("This number is too large for a seed.")
    if errors:
        raise Invalid(errors)
    drawn = sampling.draw(sampling.auditable(), size=size, seed=seed)
    if not drawn:
        raise RuleBroken(_("No sample is accepted yet: there is nothing to draw from."), rule="nothing_to_draw")
    audit = QualityAudit.objects.create(seed=seed, size=size, drawn_by=by)
    AuditedSample.objects.bulk_create(
        AuditedSample(audit=audit, sample=sample, standardization=_standardized(sample), position=position)
        for position, sample in enumerate(drawn, 1)
    )
    history.record("draw_audit", audit, by=by, seed=seed, size=size, drawn=len(drawn))
    return audit


def _standardized(sample: Sample) -> Any:
    standardization = current_standardization(sample)
    assert standardization is not None, "an accepted sample is standardized"
    return standardization


def can_score_audited(user: User, audited: AuditedSample) -> bool:
    return audited_offered_to(user).filter(pk=audited.pk).exists()


@transaction.atomic
def score_audited(
    *,
    audited: AuditedSample,
    scores: Mapping[str, Any],
    attributes: Mapping[str, Any],
    by: User,
) -> QualityScore:
    """One expert's scores of one drawn sample, final. scores: {dimension: {"score": 0|0.5|1, "why": str}} for the four
    dimensions that people score; attributes: {language|length|task|context_requirement|answer: right?}, all five."""
    if not by.is_expert or not by.is_active:
        raise NotAllowed(_("Only an expert scores the quality of a sample."))
    held = audited.sample.participations.filter(person=by).values_list("job", flat=True)
    if {Job.VERIFIES, Job.JUDGES} & set(held):
        raise NotAllowed(
            _("You verified, audited or adjudicated this sample; others must score it."), rule="two_jobs_on_one_sample"
        )
    kept, checks = _cleaned_scores(scores), _cleaned_attributes(attributes)
    AuditedSample.objects.select_for_update().get(pk=audited.pk)
    if audited.scores.filter(scorer=by).exists():
        raise Conflict(_("You have scored this sample; scores are final."), rule="scored_already")
    for seat in QUALITY_SEATS:
        try:
            with transaction.atomic():
                score = QualityScore.objects.create(
                    audited=audited, scorer=by, seat=seat, scores=kept, attributes=checks
                )
        except IntegrityError:
            continue
        history.record("score_audited", score, by=by, audited=audited.pk)
        return score
    raise Conflict(_("Three experts have scored this sample already. Thank you; take the next."), rule="seats_taken")


def _cleaned_scores(scores: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    kept: dict[str, dict[str, Any]] = {}
    errors: dict[str, str] = {}
    for dimension in Dimension.values:
        given = scores.get(dimension)
        given = given if isinstance(given, Mapping) else {}
        score, why = given.get("score"), given.get("why")
        why = clean_text(why).strip() if isinstance(why, str) else ""
        if isinstance(score, bool) or score not in SCORES:
            errors[dimension] = _("Choose 0, 0.5 or 1.")
        elif not why:
            errors[dimension] = _("Explain the score in a few words.")
        elif len(why) > LONGEST_NOTE:
            errors[dimension] = _("At most %(most)s characters.") % {"most": LONGEST_NOTE}
        kept[dimension] = {"score": score, "why": why}
    if errors:
        raise Invalid(errors)
    return kept


def _cleaned_attributes(attributes: Mapping[str, Any]) -> dict[str, bool]:
    errors = {name: _("Say whether it is right.") for name in ATTRIBUTES if not isinstance(attributes.get(name), bool)}
    if errors:
        raise Invalid(errors)
    return {name: attributes[name] for name in ATTRIBUTES}


# Guards ----------------------------------------------------------------------------------------------------------


def _locked(case: ReviewCase) -> ReviewCase:
    """The case's row, locked: seats, submissions and decisions of one case happen one after the other."""
    return (
        ReviewCase.objects.select_for_update(of=("self",))
        .select_related("sample__document", "sample__document_version", "standardization")
        .get(pk=case.pk)
    )


def _do_stage_work(by: User) -> None:
    if not by.does_stage_work or not by.is_active:
        raise NotAllowed(_("Reviewing is the work of annotators and experts."))


def _own(review: AnswerReview, by: User) -> None:
    if review.reviewer_id != by.pk:
        raise NotAllowed(_("This review is another person's."))


def _still_draft(review: AnswerReview) -> None:
    if review.state != ReviewState.DRAFT:
        raise Conflict(
            _("This review is submitted and frozen; it cannot be changed."), rule="review_frozen", state=review.state
        )


def _stale(review: AnswerReview, *, sent: dict[str, list[Any]]) -> Conflict:
    return Conflict(
        _("This review was saved in another window meanwhile. Both texts are shown; nothing was overwritten."),
        rule="stale_version",
        version=review.version,
        current=content_of(review).as_fields(),
        sent=sent,
    )
