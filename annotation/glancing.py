"""The candidates of a sample at a glance: state, evidence, challenge, verdicts and who asks the same, for all of them
in a constant number of queries and without any model's full reply."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.utils.functional import Promise

from annotation.evidence import Proof, known_proofs
from annotation.grouping import Asked, groups
from annotation.models import Candidate, Challenge, Overrule, Sample, StepVerdict
from annotation.queries import is_stale
from annotation.workflow import OPEN_STEPS, CandidateState, Step, Verdict
from generation.models import LanguageModel, RunCall
from generation.queries import ANSWERED
from generation.workflow import FINAL_CALL_STATES

JUDGED = (Step.TASK_A, Step.TASK_B, Step.TASK_C)


@dataclass(frozen=True)
class EvidenceCount:
    """Of the quotes in a candidate's solution: how many stand in the document. `searched` is False where the sample
    moved to another text and nobody has opened the candidate since."""

    quotes: int
    close: int
    missing: int
    searched: bool = True

    @property
    def found(self) -> int:
        return self.quotes - self.missing

    @property
    def tone(self) -> str:
        if not self.searched or not self.quotes:
            return "idle"
        return "fail" if self.missing else "warn" if self.close else "pass"


@dataclass(frozen=True)
class ChallengeCount:
    """The newest challenge of a candidate in figures, overrules counted."""

    wrong: int
    right: int
    waiting: int
    failed: int
    stale: bool

    @property
    def total(self) -> int:
        return self.wrong + self.right + self.waiting + self.failed

    @property
    def state(self) -> str:
        """stale, waiting, or done."""
        return "stale" if self.stale else "waiting" if self.waiting else "done"


@dataclass(frozen=True)
class Given:
    """A step that has been judged, for a sign in the row."""

    step: Step
    verdict: str

    @property
    def icon(self) -> str:
        return {Verdict.MINOR_EDIT: "edit", Verdict.DISCARD: "cross"}.get(Verdict(self.verdict), "check")

    @property
    def words(self) -> str | Promise:
        return Verdict(self.verdict).label


@dataclass(frozen=True)
class Row:
    """One candidate in the list: its state as tone, icon and word, and what is known of it."""

    candidate: Candidate
    number: int
    icon: str
    tone: str
    word: str | Promise
    evidence: EvidenceCount
    challenge: ChallengeCount | None
    given: tuple[Given, ...] = ()
    twins: list["Row"] = field(default_factory=list)

    @property
    def is_gone(self) -> bool:
        return self.candidate.state == CandidateState.DISCARDED

    @property
    def is_open(self) -> bool:
        return self.candidate.state in OPEN_STEPS

    @property
    def is_waiting(self) -> bool:
        return (
            self.candidate.state == CandidateState.TASK_C
            and self.challenge is not None
            and self.challenge.state == "waiting"
        )

    @property
    def name(self) -> str:
        """As people call it: the model and which of its drafts."""
        return f"{self.candidate.draft.call.model.name} {self.number}"


@dataclass(frozen=True)
class Group:
    """The candidates of one model."""

    model: LanguageModel
    rows: tuple[Row, ...]


def rows_of(sample: Sample, candidates: Sequence[Candidate], *, glance: bool = True) -> tuple[Group, ...]:
    """Grouped by model in the candidates' order; `candidates` carry their draft, call and model. Without `glance`
    nothing is asked about evidence, challenges and verdicts."""
    challenges = challenge_counts(sample, candidates) if glance else {}
    given = _verdicts(sample) if glance else {}
    proofs = known_proofs(candidates) if glance else {}
    numbers = _numbers(candidates)
    rows = [
        _row(one, numbers[one.pk], _evidence(proofs.get(one.pk)), challenges.get(one.pk), tuple(given.get(one.pk, ())))
        for one in candidates
    ]
    for members in groups([Asked(one.question, tuple(one.answer)) for one in candidates]):
        for member in members:
            rows[member].twins.extend(rows[other] for other in members if other != member)
    by_model = groupby(rows, key=lambda row: row.candidate.draft.call.model)
    return tuple(Group(model, tuple(ones)) for model, ones in by_model)


def _numbers(candidates: Iterable[Candidate]) -> Mapping[int, int]:
    """Each model counts its own drafts from 1."""
    counted: dict[int, int] = defaultdict(int)
    numbers = {}
    for candidate in candidates:
        model = candidate.draft.call.model_id
        counted[model] += 1
        numbers[candidate.pk] = counted[model]
    return numbers


def _row(
    candidate: Candidate,
    number: int,
    evidence: EvidenceCount,
    challenge: ChallengeCount | None,
    given: tuple[Given, ...],
) -> Row:
    icon, tone, word = _glance(candidate, challenge)
    return Row(candidate, number, icon, tone, word, evidence, challenge, given)


def _glance(candidate: Candidate, challenge: ChallengeCount | None) -> tuple[str, str, str | Promise]:
    label = CandidateState(candidate.state).label
    match candidate.state:
        case CandidateState.PASSED:
            return "check", "pass", label
        case CandidateState.DISCARDED:
            return "cross", "idle", label
        case CandidateState.READ:
            return "ring", "idle", label
        case CandidateState.TASK_C if challenge and challenge.state == "stale":
            return "bang", "warn", Step.TASK_C.label
        case CandidateState.TASK_C if challenge and challenge.state == "waiting":
            return "clock", "now", Step.TASK_C.label
    return "half", "now", Step(candidate.state).label


def _evidence(proofs: tuple[Proof, ...] | None) -> EvidenceCount:
    if proofs is None:
        return EvidenceCount(0, 0, 0, searched=False)
    quoted = [proof for proof in proofs if proof.quote]
    return EvidenceCount(
        quotes=len(quoted),
        close=sum(proof.kind == "fuzzy" for proof in quoted),
        missing=sum(not proof.is_found for proof in quoted),
    )


# Reading -------------------------------------------------------------------------------------------------------


def challenge_counts(sample: Sample, candidates: Iterable[Candidate]) -> dict[int, ChallengeCount]:
    """By candidate, the newest challenge in figures: three queries, whatever the number of candidates."""
    by_pk = {candidate.pk: candidate for candidate in candidates}
    newest: dict[int, Challenge] = {}
    rows = Challenge.objects.filter(candidate__sample=sample).select_related("run")
    for challenge in rows.only("candidate_id", "candidate_version", "run__id", "run__document_version_id").order_by(
        "pk"
    ):
        newest[challenge.candidate_id] = challenge
    answers: dict[int, list[tuple[bool | None, bool]]] = defaultdict(list)
    if newest:
        overruled = dict(
            Overrule.objects.filter(challenge__in=[one.pk for one in newest.values()]).values_list(
                "run_call_id", "right"
            )
        )
        asked: Any = RunCall.objects.filter(run__in=[one.run_id for one in newest.values()])
        for pk, run, right, state in asked.values_list("pk", "run_id", "right", "call__state"):
            is_unscored = state in ANSWERED and right is None
            answers[run].append((overruled.get(pk, right), state in FINAL_CALL_STATES and not is_unscored))
    return {
        pk: _counted(answers[challenge.run_id], is_stale(challenge, by_pk[pk]))
        for pk, challenge in newest.items()
        if pk in by_pk
    }


def _counted(answers: Iterable[tuple[bool | None, bool]], stale: bool) -> ChallengeCount:
    answers = list(answers)
    return ChallengeCount(
        wrong=sum(ended and right is False for right, ended in answers),
        right=sum(ended and right is True for right, ended in answers),
        waiting=sum(not ended for _right, ended in answers),
        failed=sum(ended and right is None for right, ended in answers),
        stale=stale,
    )


def _verdicts(sample: Sample) -> Mapping[int, list[Given]]:
    found: dict[int, list[Given]] = defaultdict(list)
    rows = StepVerdict.objects.filter(candidate__sample=sample, voided_at=None, step__in=JUDGED)
    for candidate, step, verdict in rows.order_by("pk").values_list("candidate_id", "step", "verdict"):
        found[candidate].append(Given(Step(step), verdict))
    return found
