"""The quality audit: the draw, and one expert's scores of one drawn sample."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Sample
from annotation.queries import current_standardization
from annotation.workflow import Job
from core import history
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from core.text import clean_text
from review import sampling
from review.judging import LONGEST_NOTE
from review.models import AuditedSample, QualityAudit, QualityScore
from review.queries import QUALITY_SEATS, audited_offered_to
from review.workflow import Dimension

ATTRIBUTES = ("language", "length", "task", "context_requirement", "answer")
SCORES = (0, 0.5, 1)
LARGEST_DRAW = 10_000


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


def can_replace_audited(user: User) -> bool:
    return user.is_lead


@transaction.atomic
def replace_audited(*, audited: AuditedSample, reason: str, by: User) -> AuditedSample:
    """Draw another sample in the place of this one: of the same task, language and bucket while there is one, else of
    those that the draw holds least of. What was said of the one replaced is kept, and counts for nothing."""
    if not can_replace_audited(by):
        raise NotAllowed(_("Only a lead draws a quality audit."))
    reason = clean_text(reason).strip()
    if not reason:
        raise Invalid({"reason": _("Say why, in a few words.")})
    if len(reason) > LONGEST_NOTE:
        raise Invalid({"reason": _("At most %(most)s characters.") % {"most": LONGEST_NOTE}})
    audit = QualityAudit.objects.select_for_update().get(pk=audited.audit_id)
    audited = AuditedSample.objects.select_for_update().get(pk=audited.pk)
    if audited.replaced_at is not None:
        raise Conflict(_("Another sample stands in its place already."), rule="replaced_already")
    drawn = list(audit.samples.select_related("sample__document", "sample__document_version"))
    chosen = sampling.draw_one(
        [sample for sample in sampling.auditable() if sample.pk not in {one.sample_id for one in drawn}],
        beside=[one.sample for one in drawn if one.replaced_at is None and one.pk != audited.pk],
        like=audited.sample,
        seed=audit.seed + len(drawn),
    )
    if chosen is None:
        raise RuleBroken(_("Every accepted sample is in this draw: none is left to stand in."), rule="nothing_to_draw")
    made = AuditedSample.objects.create(
        audit=audit, sample=chosen, standardization=_standardized(chosen), position=len(drawn) + 1
    )
    audited.replaced_at, audited.replaced_by, audited.replaced_because = timezone.now(), made, reason
    audited.save(update_fields=["replaced_at", "replaced_by", "replaced_because"])
    history.record("replace_audited", audited, by=by, reason=reason, sample=audited.sample_id, drawn=chosen.pk)
    return made


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
    locked = AuditedSample.objects.select_for_update().get(pk=audited.pk)
    if locked.replaced_at is not None:
        raise Conflict(_("Another sample stands in its place already."), rule="replaced_already")
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


def record_look_at_scores(*, audited: AuditedSample, by: User) -> None:
    """The same for scores that are still blind."""
    if by.is_lead and 0 < audited.scores.count() < len(QUALITY_SEATS):
        history.record("look_at_scores", audited, by=by)
