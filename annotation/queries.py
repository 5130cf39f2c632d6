"""Samples as lists need them, and the challenge results of a candidate as it now reads."""

from dataclasses import dataclass

from django.db.models import Case, Count, F, Prefetch, Q, QuerySet, When
from django.db.models.functions import Now

from annotation.models import (
    Candidate,
    Challenge,
    Claim,
    DraftingBatch,
    DraftingLine,
    Overrule,
    Sample,
    Standardization,
)
from annotation.workflow import AT_THE_DESK, CandidateState, DraftingOutcome, Job, SampleState
from core.models import User
from documents.workflow import VersionState
from generation import queries as generation
from generation.models import LanguageModel, Run, RunCall
from generation.queries import Result
from generation.workflow import FINAL_CALL_STATES

# A withdrawn approval blocks a sample, whatever its state; one that is exhausted has nothing left to block.
BLOCKED = ~Q(document_version__state=VersionState.APPROVED) & ~Q(state=SampleState.EXHAUSTED)


class SampleQuerySet(QuerySet[Sample]):
    """Chainable phrases; begin with `samples()`."""

    def for_list(self) -> "SampleQuerySet":
        """Everything a row shows, in a constant number of queries and without any document text."""
        live = Claim.objects.filter(ended_at=None, lapses_at__gt=Now()).select_related("holder")
        return (
            self.select_related("document", "document_version", "annotator", "created_by")
            .prefetch_related(Prefetch("claims", queryset=live, to_attr="live_claims"))
            .annotate(
                passed=Count("candidates", filter=Q(candidates__state=CandidateState.PASSED)),
                discarded=Count("candidates", filter=Q(candidates__state=CandidateState.DISCARDED)),
                drafted=Count("candidates"),
            )
            .order_by("-pk")
        )

    def workable(self) -> "SampleQuerySet":
        return self.filter(document_version__state="approved")

    def blocked(self) -> "SampleQuerySet":
        return self.filter(BLOCKED)

    def under_way(self) -> "SampleQuerySet":
        """Neither accepted nor exhausted."""
        return self.exclude(state__in=[SampleState.ACCEPTED, SampleState.EXHAUSTED])

    def at_the_desk_of(self, user: User) -> "SampleQuerySet":
        """Samples this person verifies now: claimed by them, or returned to them."""
        claimed = Claim.objects.filter(holder=user, job=Job.VERIFIES, ended_at=None, lapses_at__gt=Now())
        return self.filter(state__in=AT_THE_DESK).filter(
            Q(pk__in=claimed.values("sample")) | Q(state=SampleState.RETURNED, annotator=user)
        )

    def to_standardize(self, user: User) -> "SampleQuerySet":
        return self.filter(state=SampleState.IN_STANDARDIZATION, annotator=user)

    def awaiting_audit(self) -> "SampleQuerySet":
        return self.filter(state=SampleState.IN_AUDIT).order_by("state_since", "pk")

    def mine(self, user: User) -> "SampleQuerySet":
        return self.filter(participations__person=user)

    def unclaimed(self) -> "SampleQuerySet":
        live = Claim.objects.filter(ended_at=None, lapses_at__gt=Now())
        return self.exclude(pk__in=live.values("sample"))


def samples() -> SampleQuerySet:
    return SampleQuerySet(Sample)


def current_standardization(sample: Sample) -> Standardization | None:
    """The completed standardization of the sample's present round; None until there is one."""
    done = sample.standardizations.filter(completed_at__isnull=False, round=sample.round)
    return done.order_by("-number").first()


def draft_standardization(sample: Sample) -> Standardization | None:
    return sample.standardizations.filter(completed_at=None).first()


# Drafting many ---------------------------------------------------------------------------------------------------


def drafting_batches() -> QuerySet[DraftingBatch]:
    """Batches with their lines counted by outcome, newest first."""
    counts = {str(outcome): Count("lines", filter=Q(lines__outcome=outcome)) for outcome in DraftingOutcome}
    return DraftingBatch.objects.select_related("made_by").annotate(total=Count("lines"), **counts).order_by("-pk")


def lines_of_batch(batch: DraftingBatch) -> QuerySet[DraftingLine]:
    """What became of each sample; what was refused first."""
    first = Case(When(outcome=DraftingOutcome.REFUSED, then=0), default=1)
    return (
        batch.lines.select_related("sample__document", "sample__document_version", "run")
        .defer("run__prompt", "run__prompt_thinking", "run__reference")
        .order_by(first, "pk")
    )


def runs_of_batch(batch: DraftingBatch) -> QuerySet[Run]:
    return Run.objects.filter(pk__in=batch.lines.exclude(run=None).values("run"))


# Challenge -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelAnswer:
    """One model's answer to a challenge: as scored, and as it counts after an overrule."""

    result: Result
    overrule: Overrule | None

    @property
    def run_call(self) -> RunCall:
        return self.result.run_call

    @property
    def model(self) -> LanguageModel:
        return self.result.model

    @property
    def is_waiting(self) -> bool:
        """Still out, or in and not scored yet: a page that stopped asking now would never show the score."""
        call = self.result.call
        return call.state not in FINAL_CALL_STATES or (call.has_answer and self.result.right is None)

    @property
    def is_failed(self) -> bool:
        """Ended without a scored answer."""
        return not self.is_waiting and self.result.right is None

    @property
    def right(self) -> bool | None:
        return self.overrule.right if self.overrule else self.result.right


@dataclass(frozen=True)
class ChallengeResults:
    """The answers to a candidate, and whether they are to the candidate as it now reads."""

    challenge: Challenge
    answers: tuple[ModelAnswer, ...]
    stale: bool

    @property
    def waiting(self) -> list[ModelAnswer]:
        return [answer for answer in self.answers if answer.is_waiting]

    @property
    def failed(self) -> list[ModelAnswer]:
        return [answer for answer in self.answers if answer.is_failed]

    @property
    def wrong(self) -> list[ModelAnswer]:
        return [answer for answer in self.answers if answer.right is False]

    @property
    def right(self) -> list[ModelAnswer]:
        return [answer for answer in self.answers if answer.right is True]

    @property
    def is_finished(self) -> bool:
        return bool(self.answers) and not self.waiting

    @property
    def all_right(self) -> bool:
        return self.is_finished and len(self.right) == len(self.answers)


def challenge_results(candidate: Candidate) -> ChallengeResults | None:
    """The newest challenge of the candidate; `stale` when the candidate or its document moved on since."""
    challenge = candidate.challenges.select_related("run").order_by("-pk").first()
    if challenge is None:
        return None
    overruled = {overrule.run_call_id: overrule for overrule in challenge.overrules.select_related("by")}
    answers = tuple(
        ModelAnswer(result, overruled.get(result.run_call.pk)) for result in generation.results_of(challenge.run)
    )
    return ChallengeResults(challenge, answers, is_stale(challenge, candidate))


def is_stale(challenge: Challenge, candidate: Candidate) -> bool:
    return (
        challenge.candidate_version != candidate.version
        or challenge.run.document_version_id != candidate.sample.document_version_id
    )


def open_challenges(sample: Sample) -> QuerySet[Challenge]:
    """Challenges of the candidates as they now read, with their runs."""
    return (
        Challenge.objects.filter(candidate__sample=sample, candidate_version=F("candidate__version"))
        .select_related("run")
        .order_by("pk")
    )
