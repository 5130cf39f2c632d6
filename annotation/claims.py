"""Exclusive leases on samples. The database keeps the promise: a partial unique index allows one active claim.

Time is the database's, so that no web process with a wrong clock ends or prolongs a claim. A lapsed claim stays in
its row until somebody else claims the sample; its holder may not act on it and has to claim again.

A claim's `pk` is its fencing number. What a page or a program sends may carry the number that it was shown: a number
from before somebody else held the sample is refused, even when its sender has claimed the sample anew.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import DateTimeField, ExpressionWrapper, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.access import sees_trail
from annotation.guards import (
    lock,
    reason_given,
    require_approved,
    require_expert,
    require_lead,
    require_stage_worker,
    require_state,
)
from annotation.models import Candidate, Claim, Participation, Sample
from annotation.workflow import AT_THE_DESK, ClaimEnd, Job, SampleState
from core import history
from core.models import BenchmarkSettings, User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from core.workflow import Role

ANNOTATORS_WORK = AT_THE_DESK | {SampleState.IN_STANDARDIZATION}
JUDGES_WORK = frozenset({SampleState.IN_AUDIT, SampleState.IN_ADJUDICATION})
OWN_WORK = frozenset({SampleState.RETURNED, SampleState.IN_STANDARDIZATION})
# Where `next` may stay: within one of these every key means what it meant.
STAGES: dict[str, frozenset[str]] = {
    "verification": frozenset(AT_THE_DESK),
    "standardization": frozenset({SampleState.IN_STANDARDIZATION}),
    "audit": frozenset({SampleState.IN_AUDIT}),
}
ACCOUNT_CLOSED = gettext_noop("The account was deactivated.")  # kept in English, told in the reader's language
# What `next` passes over when it changed between looking and claiming.
PASSED_OVER = frozenset({"document_not_approved", "two_jobs_on_one_sample", "belongs_to_its_annotator"})


def lapse_time() -> ExpressionWrapper:
    """From now on by the database's clock, as long as a claim may idle."""
    idle = timedelta(minutes=BenchmarkSettings.load().claim_idle_minutes)
    return ExpressionWrapper(Now() + idle, output_field=DateTimeField())


def live_claims() -> QuerySet[Claim]:
    return Claim.objects.filter(ended_at=None, lapses_at__gt=Now())


def live_claim(sample: Sample) -> Claim | None:
    return live_claims().filter(sample=sample).select_related("holder").first()


def has_lapsed(sample: Sample, person: User) -> bool:
    """Whether the person's last claim on the sample ended by time alone."""
    last = Claim.objects.filter(sample=sample, holder=person).order_by("-pk").first()
    return last is not None and last.ended_how in {"", ClaimEnd.LAPSED}


def in_words(moment: datetime) -> str:
    """The time, with the day when that is not today."""
    local = timezone.localtime(moment)
    return date_format(local, "H:i" if local.date() == timezone.localdate() else "Y-m-d H:i")


def in_other_hands(held: Claim, by: User) -> Conflict:
    """Who works on the sample and since when; no name for those to whom its trail is closed."""
    sample = held.sample
    words = {"sample": sample.label, "person": held.holder.name, "time": in_words(held.claimed_at)}
    told = _("%(person)s has been working on %(sample)s since %(time)s.") % words
    hidden = _("%(sample)s is being worked on by somebody else.") % words
    return Conflict(
        told if sees_trail(by, sample) else hidden, rule="claimed_by_another", state=sample.state, held=True
    )


@dataclass(frozen=True)
class Standing:
    """How one person stands to the desk of a sample. `lapsed`: it was theirs, and only time ended it."""

    claim: Claim | None
    holds: bool
    lapsed: bool


def standing_of(user: User, sample: Sample) -> Standing:
    claim = live_claim(sample)
    own = claim is not None and claim.holder_id == user.pk and claim.job == Job.VERIFIES
    holds = own and _may_hold(user, sample)
    lapsed = not holds and claim is None and sample.state in AT_THE_DESK and has_lapsed(sample, user)
    return Standing(claim, holds, lapsed)


# Participation -------------------------------------------------------------------------------------------------


def join_sample(*, sample: Sample, person: User, job: str) -> Participation:
    """Write down what `person` is to the sample, for good. Nobody holds two jobs on one sample."""
    held, _made = Participation.objects.get_or_create(sample=sample, person=person, defaults={"job": job})
    if held.job != job:
        raise RuleBroken(
            _("Nobody holds two jobs on one sample: here %(person)s already %(job)s.")
            % {"person": person.name, "job": held.get_job_display()},
            rule="two_jobs_on_one_sample",
        )
    return held


def can_join_sample(user: User, sample: Sample, job: str) -> bool:
    return not Participation.objects.filter(sample=sample, person=user).exclude(job=job).exists()


# Taking and giving back ----------------------------------------------------------------------------------------


def can_claim_sample(user: User, sample: Sample) -> bool:
    """Whether the sample waits for this person; another's live claim is for the action to find."""
    if sample.is_blocked or not user.does_stage_work:
        return False
    if sample.state in JUDGES_WORK:
        return user.is_expert and can_join_sample(user, sample, Job.JUDGES)
    if sample.state in OWN_WORK:
        return sample.annotator_id == user.pk
    return sample.state in ANNOTATORS_WORK and can_join_sample(user, sample, Job.VERIFIES)


@transaction.atomic
def claim_sample(*, sample: Sample, by: User) -> Claim:
    """Take the sample for its next work: the desk and standardization for annotators, judging for experts."""
    require_stage_worker(by)
    lock(sample)
    require_approved(sample)
    if sample.state in JUDGES_WORK:
        return claim_for_judging(sample=sample, by=by)
    require_state(sample, ANNOTATORS_WORK)
    if sample.state in OWN_WORK and sample.annotator_id != by.pk:
        raise RuleBroken(
            _("%(sample)s goes back to its annotator, who continues with it.") % {"sample": sample.label},
            rule="belongs_to_its_annotator",
        )
    claim = _take(sample, by, Job.VERIFIES)
    if sample.annotator_id != by.pk:
        sample.annotator = by
        sample.save(update_fields=["annotator"])
    return claim


@transaction.atomic
def claim_for_judging(*, sample: Sample, by: User) -> Claim:
    """Take a sample for expert audit or adjudication. Never its verifier, never one of its reviewers."""
    require_expert(by)
    lock(sample)
    require_approved(sample)
    require_state(sample, JUDGES_WORK)
    return _take(sample, by, Job.JUDGES)


def can_claim_for_judging(user: User, sample: Sample) -> bool:
    return sample.state in JUDGES_WORK and can_claim_sample(user, sample)


def _take(sample: Sample, by: User, job: str) -> Claim:
    """The caller holds the sample's lock."""
    held = live_claim(sample)
    if held is not None and held.holder_id != by.pk:
        held.sample = sample
        raise in_other_hands(held, by)
    if held is not None:
        return _renewed(held)
    _keep_to_the_limit(by)
    join_sample(sample=sample, person=by, job=job)
    return _open_claim(sample, by, job)


def _open_claim(sample: Sample, holder: User, job: str, *, by: User | None = None) -> Claim:
    end_claim(sample, ClaimEnd.LAPSED, by=None)
    try:
        with transaction.atomic():
            claim = Claim.objects.create(
                sample=sample, holder=holder, job=job, claimed_at=Now(), lapses_at=lapse_time()
            )
    except IntegrityError:
        raise Conflict(
            _("%(sample)s is being worked on by somebody else.") % {"sample": sample.label},
            rule="claimed_by_another",
            state=sample.state,
            held=True,
        ) from None
    claim.refresh_from_db()
    history.record("claim", sample, by=by or holder, claim=claim.pk, job=job, holder=holder.pk)
    return claim


def _keep_to_the_limit(by: User) -> None:
    """Counted under the person's lock, so that two claims of one person at the same moment count each other."""
    if _is_at_the_limit(by):
        raise RuleBroken(
            _("You hold %(limit)s claims already. Finish or release one first.") % {"limit": _limit()},
            rule="too_many_claims",
        )


def _is_at_the_limit(person: User) -> bool:
    # Without KEY: rows that only point to the person may be written meanwhile.
    User.objects.select_for_update(no_key=True).get(pk=person.pk)
    return live_claims().filter(holder=person).count() >= _limit()


def _limit() -> int:
    return BenchmarkSettings.load().claims_per_person


# Next ----------------------------------------------------------------------------------------------------------


def next_samples(by: User) -> Iterator[QuerySet[Sample]]:
    """What waits for this person, best first: their returned samples, their unfinished ones; for an expert the
    audits; then whatever waits longest of the languages and tasks they work on. What they hold is on their desk."""
    held = live_claims().values("sample")
    waiting = Sample.objects.exclude(pk__in=held).filter(document_version__state="approved")
    waiting = waiting.order_by("state_since", "pk")
    own = waiting.filter(annotator=by)
    for state in (SampleState.RETURNED, SampleState.IN_STANDARDIZATION, SampleState.IN_VERIFICATION):
        yield own.filter(state=state)
    if by.is_expert:
        yield of_the_work_of(by, waiting.filter(state=SampleState.IN_AUDIT).exclude(_has_another_job(by, Job.JUDGES)))
    fresh = waiting.filter(state=SampleState.IN_VERIFICATION).filter(~Q(annotator=by) | Q(annotator=None))
    yield of_the_work_of(by, fresh.exclude(_has_another_job(by, Job.VERIFIES)))


def _has_another_job(person: User, job: str) -> Q:
    others = Participation.objects.filter(person=person).exclude(job=job)
    return Q(pk__in=others.values("sample"))


def of_the_work_of(person: User, waiting: QuerySet[Sample]) -> QuerySet[Sample]:
    """Of the languages and secondary tasks that this person works on; no list is no limit."""
    if person.work_languages:
        waiting = waiting.filter(document__language__in=person.work_languages)
    if person.work_tasks:
        waiting = waiting.filter(task_code__in=person.work_tasks)
    return waiting


def claim_next(*, by: User, stage: str = "") -> Sample | None:
    """Claim the sample that should be worked on next, of one of STAGES if that is given. None when nothing waits.

    Of many who ask at once each first takes what nobody has a hand on, so that they do not queue behind one another;
    only who finds nothing waits for the others, because a hand may be taken off again.
    """
    require_stage_worker(by)
    person = User.objects.get(pk=by.pk)  # what they work on may have been changed since they signed in
    for waits in (False, True):
        for found in next_samples(person):
            found = found.filter(state__in=STAGES[stage]) if stage else found
            if (sample := _claim_first(found, by, waits=waits)) is not None:
                return sample
    return None


def _claim_first(waiting: QuerySet[Sample], by: User, *, waits: bool) -> Sample | None:
    tried: set[int] = set()
    while True:
        with transaction.atomic():
            rows = waiting.exclude(pk__in=tried).select_for_update(of=("self",), skip_locked=not waits)
            sample = rows.first()
            if sample is None:
                return None
            tried.add(sample.pk)
            try:
                claim_sample(sample=sample, by=by)
            except Conflict:
                continue  # somebody was faster; the next one
            except RuleBroken as refusal:
                if refusal.rule not in PASSED_OVER:
                    raise
                continue
            return sample


def can_release_claim(user: User, sample: Sample) -> bool:
    return live_claims().filter(sample=sample, holder=user).exists()


@transaction.atomic
def release_claim(*, sample: Sample, by: User) -> None:
    """Give the sample back. What was done stays."""
    lock(sample)
    require_claim(sample, by)
    end_claim(sample, ClaimEnd.RELEASED, by=by)


def end_claims_of(person: User, *, by: User) -> None:
    """The account is closed: every open claim of the person ends, each with its line."""
    held = Claim.objects.filter(holder=person, ended_at=None).select_related("sample").order_by("sample_id")
    for claim in held:
        lock(claim.sample)
        if Claim.objects.filter(pk=claim.pk, ended_at=None).exists():
            end_claim(claim.sample, ClaimEnd.RELEASED, by=by, reason=ACCOUNT_CLOSED)


def possible_holders(sample: Sample) -> QuerySet[User]:
    """To whom a lead can hand the sample: those who do its next work, have no other job on it and do not hold it."""
    job = Job.JUDGES if sample.state in JUDGES_WORK else Job.VERIFIES
    roles = [Role.EXPERT] if job == Job.JUDGES else [Role.ANNOTATOR, Role.EXPERT]
    others = Participation.objects.filter(sample=sample).exclude(job=job)
    people = User.objects.filter(is_active=True, role__in=roles).exclude(pk__in=others.values("person"))
    held = live_claims().filter(sample=sample)
    return people.exclude(pk__in=held.values("holder")).order_by("first_name", "last_name", "username")


def can_take_over_sample(user: User, sample: Sample) -> bool:
    return user.is_lead and not sample.is_blocked and sample.state in ANNOTATORS_WORK | JUDGES_WORK


@transaction.atomic
def take_over_sample(*, sample: Sample, holder: User, reason: str, by: User) -> Claim:
    """A lead hands the sample to `holder`, whoever holds it now."""
    require_lead(by)
    lock(sample)
    require_approved(sample)
    require_state(sample, ANNOTATORS_WORK | JUDGES_WORK)
    reason = reason_given(reason)
    job = Job.JUDGES if sample.state in JUDGES_WORK else Job.VERIFIES
    if not holder.is_active or not holder.does_stage_work or (job == Job.JUDGES and not holder.is_expert):
        raise Invalid({"holder": _("This person does not do this work.")})
    held = live_claim(sample)
    if (held is None or held.holder_id != holder.pk) and _is_at_the_limit(holder):
        raise RuleBroken(
            _("%(person)s holds %(limit)s claims already. Hand it to somebody else, or have one released first.")
            % {"person": holder.name, "limit": _limit()},
            rule="too_many_claims",
        )
    join_sample(sample=sample, person=holder, job=job)
    end_claim(sample, ClaimEnd.TAKEN_OVER, by=by, reason=reason)
    claim = _open_claim(sample, holder, job, by=by)
    if job == Job.VERIFIES:
        sample.annotator = holder
        sample.save(update_fields=["annotator"])
    return claim


# Holding -------------------------------------------------------------------------------------------------------


_carried: ContextVar[int | None] = ContextVar("carried", default=None)


def carry(number: int | None) -> None:
    """From now on, inside a `carrying` block, what is asked was sent with this claim's number."""
    _carried.set(number)


@contextmanager
def carrying(number: int | None = None) -> Iterator[None]:
    """What is asked in here was sent with this claim's number; None: with no number."""
    token = _carried.set(number)
    try:
        yield
    finally:
        _carried.reset(token)


def require_number(claim: Claim) -> None:
    """The number that was sent along, if there is one, is this claim's, or of an earlier one of the same person after
    which nobody else has held the sample."""
    number = _carried.get()
    if number is None or number == claim.pk:
        return
    own = Claim.objects.filter(sample=claim.sample_id, holder=claim.holder_id, pk=number)
    between = Claim.objects.filter(sample=claim.sample_id, pk__gt=number, pk__lt=claim.pk)
    other = between.exclude(holder=claim.holder_id).select_related("holder").last()
    if other is not None or not own.exists():
        words = {"sample": claim.sample.label, "person": other.holder.name if other else ""}
        told = (
            _("%(person)s worked on %(sample)s since this page was opened. Reload it; what you typed is kept.")
            if other
            else _("%(sample)s was in other hands since this page was opened. Reload it; what you typed is kept.")
        )
        raise Conflict(told % words, rule="claim_outdated", state=claim.sample.state)


def require_claim(sample: Sample, by: User, job: str = "") -> Claim:
    """The person's live claim, renewed: any action prolongs it."""
    claim = live_claims().filter(sample=sample, holder=by).first()
    held = None if claim else live_claim(sample)
    if held is not None:
        held.sample = sample
        told = in_other_hands(held, by)
        raise Conflict(
            _("%(told)s What you typed is kept.") % {"told": told}, rule="claim_needed", state=sample.state, held=True
        )
    if claim is None or (job and claim.job != job):
        raise Conflict(
            _("You do not hold %(sample)s, or your claim has lapsed. Claim it again; what you typed is kept.")
            % {"sample": sample.label},
            rule="claim_needed",
            state=sample.state,
        )
    claim.sample = sample
    require_number(claim)
    return _renewed(claim)


def _renewed(claim: Claim) -> Claim:
    Claim.objects.filter(pk=claim.pk).update(lapses_at=lapse_time())
    claim.refresh_from_db(fields=["lapses_at"])
    return claim


def end_claim(sample: Sample, how: str, *, by: User | None, reason: str = "") -> None:
    """End the sample's open claim, if there is one. A claim that had lapsed before is said to have lapsed."""
    opened = Claim.objects.filter(sample=sample, ended_at=None)
    lapsed = opened.filter(lapses_at__lte=Now()).update(ended_at=Now(), ended_how=ClaimEnd.LAPSED)
    if how != ClaimEnd.LAPSED and opened.update(ended_at=Now(), ended_how=how):
        history.record("end_claim", sample, by=by, reason=reason, how=how)
    elif lapsed:
        history.record("end_claim", sample, by=None, how=ClaimEnd.LAPSED)


@transaction.atomic
def desk(sample: Sample, by: User) -> Claim:
    """The guards of every verification action: stage worker, cleared document, sample at the desk, claim held."""
    require_stage_worker(by)
    lock(sample)
    require_approved(sample)
    require_state(sample, AT_THE_DESK)
    return require_claim(sample, by, Job.VERIFIES)


def candidate_desk(candidate: Candidate, by: User) -> Claim:
    """`desk` for one candidate, which is read anew under the sample's lock."""
    sample = candidate.sample
    claim = desk(sample, by)
    candidate.refresh_from_db()
    candidate.sample = sample
    return claim


def holds_desk(user: User, sample: Sample) -> bool:
    return _may_hold(user, sample) and live_claims().filter(sample=sample, holder=user, job=Job.VERIFIES).exists()


def _may_hold(user: User, sample: Sample) -> bool:
    return user.does_stage_work and not sample.is_blocked and sample.state in AT_THE_DESK


def require_own(sample: Sample, by: User) -> None:
    if sample.annotator_id != by.pk:
        raise NotAllowed(_("%(sample)s is standardized by its annotator.") % {"sample": sample.label})
