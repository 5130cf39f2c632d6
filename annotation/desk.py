"""What the desk shows of a sample: its candidates at a glance, and one of them open at its step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation import claims
from annotation.checking import read_hints
from annotation.differences import Piece, line_difference, text_difference
from annotation.editing import EDITABLE, Wording, edited_in_step
from annotation.models import Candidate, Challenge, Claim, Sample, StepVerdict
from annotation.queries import ChallengeResults, challenge_results, is_stale, open_challenges
from annotation.verifying import JUDGEMENTS, Judgement
from annotation.workflow import OPEN_STEPS, CandidateState, Step, Verdict
from core.guidelines import TASK_A, TASK_B, TASK_C, Task
from core.models import User
from documents import queries as documents
from generation.evidence import find_quote
from generation.models import LanguageModel
from generation.workflow import RunState

GUIDE: dict[str, Task] = {CandidateState.TASK_A: TASK_A, CandidateState.TASK_B: TASK_B, CandidateState.TASK_C: TASK_C}
WAITING = (RunState.QUEUED, RunState.RUNNING)


@dataclass(frozen=True)
class Row:
    """One candidate in the list: its state as tone, icon and word."""

    candidate: Candidate
    number: int
    icon: str
    tone: str
    word: str | Promise

    @property
    def is_gone(self) -> bool:
        return self.candidate.state == CandidateState.DISCARDED


@dataclass(frozen=True)
class Group:
    """The candidates of one model."""

    model: LanguageModel
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Mark:
    """One step of the rail: done, now or closed; `panel` is where a click leads."""

    label: str | Promise
    state: str
    panel: str = ""


@dataclass(frozen=True)
class Proof:
    """One step of the solution and where its quote stands in the document as it is now pinned."""

    step: str
    quote: str
    kind: str
    start: int | None
    end: int | None
    percent: int

    @property
    def is_found(self) -> bool:
        return self.start is not None


@dataclass(frozen=True)
class OpenCandidate:
    """Everything the pane shows of one candidate."""

    candidate: Candidate
    model: LanguageModel
    verdicts: dict[str, StepVerdict]
    question: tuple[Piece, ...]
    elements: tuple[Piece, ...]
    options: tuple[Piece, ...]
    answer: tuple[Piece, ...]
    proofs: tuple[Proof, ...]
    results: ChallengeResults | None
    edited: bool
    edited_in_step: bool
    hints: tuple[str, ...]

    @property
    def judgement(self) -> Judgement | None:
        step = self.candidate.state
        return JUDGEMENTS.get(Step(step)) if step in Step.values else None

    @property
    def guide(self) -> Task | None:
        return GUIDE.get(self.candidate.state)

    @property
    def is_editable(self) -> bool:
        return self.candidate.state in EDITABLE

    @property
    def fresh(self) -> ChallengeResults | None:
        """The answers, if they are to the candidate as it now reads."""
        return self.results if self.results and not self.results.stale else None

    @property
    def missing(self) -> int:
        return sum(not proof.is_found for proof in self.proofs if proof.quote)

    @property
    def close(self) -> int:
        return sum(proof.kind == "fuzzy" for proof in self.proofs)


@dataclass(frozen=True)
class Desk:
    """The whole work pane for one person."""

    sample: Sample
    groups: tuple[Group, ...]
    opened: OpenCandidate | None
    claim: Claim | None
    holds: bool
    chosen: Candidate | None
    before: int
    after: int

    @property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]

    @property
    def passed(self) -> list[Row]:
        return [row for row in self.rows if row.candidate.state == CandidateState.PASSED]

    @property
    def discarded(self) -> int:
        return sum(row.is_gone for row in self.rows)

    @property
    def left(self) -> int:
        return sum(row.candidate.state in OPEN_STEPS for row in self.rows)

    @property
    def simulated(self) -> LanguageModel | None:
        """A simulated model among those shown, for the tag."""
        return next((group.model for group in self.groups if group.model.is_simulated), None)

    def marks(self, panel: str) -> list[Mark]:
        """The step rail: the open candidate's four steps, then the sample's two."""
        return [*_candidate_marks(self.opened, panel), *self._sample_marks(panel)]

    def _sample_marks(self, panel: str) -> Iterable[Mark]:
        ready = self.chosen is not None and self.chosen.state == CandidateState.PASSED
        yield Mark(_("Select"), _state(panel == "select", ready), "select" if self.passed else "")
        yield Mark(_("Submit"), _state(panel == "submit", False), "submit" if ready else "")


def _state(now: bool, done: bool) -> str:
    return "now" if now else "done" if done else "closed"


def _candidate_marks(opened: OpenCandidate | None, panel: str) -> Iterable[Mark]:
    state = opened.candidate.state if opened else ""
    ended_at = opened.candidate.discarded_at_step if opened else ""
    order = list(Step)
    here = state if state in Step.values else ended_at
    place = len(order) if state == CandidateState.PASSED else order.index(Step(here)) if here else 0
    for number, step in enumerate(order):
        if state == CandidateState.DISCARDED and step == ended_at:
            yield Mark(step.label, "gone")
        else:
            now = number == place and not panel and state != CandidateState.DISCARDED
            yield Mark(step.label, _state(now, number < place))


# Reading -------------------------------------------------------------------------------------------------------


def candidates_of(candidates: QuerySet[Candidate]) -> QuerySet[Candidate]:
    """With their drafts and models, without the calls' long texts."""
    return candidates.select_related("draft", "draft__call", "draft__call__model").defer(
        "draft__call__raw", "draft__call__reasoning", "draft__call__prompt"
    )


def desk_for(sample: Sample, user: User, *, position: int | None = None) -> Desk:
    """The desk with the candidate at `position` open; without one, the first that can be worked on."""
    candidates = list(candidates_of(sample.candidates.all()))
    for candidate in candidates:
        candidate.sample = sample
    groups = _groups(candidates, _challenges(sample))
    opened = _to_open(candidates, sample, position)
    claim = claims.live_claim(sample)
    order = [candidate.position for candidate in candidates]
    place = order.index(opened.position) if opened else 0
    return Desk(
        sample=sample,
        groups=groups,
        opened=open_candidate(opened) if opened else None,
        claim=claim,
        holds=claims.holds_desk(user, sample),
        chosen=next((candidate for candidate in candidates if candidate.pk == sample.chosen_id), None),
        before=order[place - 1] if order and place else 0,
        after=order[place + 1] if place + 1 < len(order) else 0,
    )


def _challenges(sample: Sample) -> dict[int, Challenge]:
    return {challenge.candidate_id: challenge for challenge in open_challenges(sample)}


def _to_open(candidates: Sequence[Candidate], sample: Sample, position: int | None) -> Candidate | None:
    asked = [candidate for candidate in candidates if candidate.position == position]
    chosen = [candidate for candidate in candidates if candidate.pk == sample.chosen_id]
    begun = [one for one in candidates if one.state in OPEN_STEPS and one.state != CandidateState.READ]
    unread = [one for one in candidates if one.state == CandidateState.READ]
    return next(iter([*asked, *chosen, *begun, *unread, *candidates]), None)


def next_open(candidate: Candidate) -> int:
    """Where the desk goes on after a candidate has ended: the next open one, else the first open one, else itself."""
    open_ones = list(
        candidate.sample.candidates.filter(state__in=OPEN_STEPS).order_by("position").values_list("position", flat=True)
    )
    later = [position for position in open_ones if position > candidate.position]
    return next(iter([*later, *open_ones]), candidate.position)


def _groups(candidates: Sequence[Candidate], challenges: dict[int, Challenge]) -> tuple[Group, ...]:
    by_model = groupby(candidates, key=lambda candidate: candidate.draft.call.model)
    return tuple(
        Group(model, tuple(_row(one, number, challenges.get(one.pk)) for number, one in enumerate(ones, 1)))
        for model, ones in by_model
    )


def _row(candidate: Candidate, number: int, challenge: Challenge | None) -> Row:
    icon, tone, word = _glance(candidate, challenge)
    return Row(candidate, number, icon, tone, word)


def _glance(candidate: Candidate, challenge: Challenge | None) -> tuple[str, str, str | Promise]:
    label = CandidateState(candidate.state).label
    match candidate.state:
        case CandidateState.PASSED:
            return "check", "pass", label
        case CandidateState.DISCARDED:
            return "cross", "idle", label
        case CandidateState.READ:
            return "ring", "idle", label
        case CandidateState.TASK_C if challenge and is_stale(challenge, candidate):
            return "bang", "warn", _("challenge results are stale")
        case CandidateState.TASK_C if challenge and challenge.run.state in WAITING:
            return "clock", "now", _("the models are answering")
    return "half", "now", label


def open_candidate(candidate: Candidate) -> OpenCandidate:
    draft, now = Wording.of(candidate.draft), Wording.of(candidate)
    return OpenCandidate(
        candidate=candidate,
        model=candidate.draft.call.model,
        verdicts={verdict.step: verdict for verdict in candidate.verdicts.filter(voided_at=None).select_related("by")},
        question=tuple(text_difference(draft.question, now.question)),
        elements=tuple(text_difference(draft.elements, now.elements)),
        options=tuple(line_difference(draft.options, now.options)),
        answer=tuple(line_difference(draft.answer, now.answer)),
        proofs=proofs_of(candidate),
        results=challenge_results(candidate),
        edited=draft != now,
        edited_in_step=edited_in_step(candidate),
        hints=read_hints(candidate, now),
    )


def proofs_of(candidate: Candidate) -> tuple[Proof, ...]:
    """The solution with the places of its quotes. Searched anew on another document version."""
    draft, version = candidate.draft, candidate.sample.document_version
    solution: list[dict[str, Any]] = list(draft.solution)
    if draft.call.document_version_id != version.pk:
        text = documents.text_of(version)
        solution = [{**item, **_placed(text, item.get("quote", ""))} for item in solution]
    return tuple(_proof(item) for item in solution)


def _placed(text: str, quote: str) -> dict[str, Any]:
    found = find_quote(text, quote)
    return {"kind": found.kind.value, "start": found.start, "end": found.end, "score": found.score}


def _proof(item: dict[str, Any]) -> Proof:
    return Proof(
        item.get("step", ""),
        item.get("quote", ""),
        item.get("kind", "missing"),
        item.get("start"),
        item.get("end"),
        round(100 * float(item.get("score") or 0)),
    )


# Task C --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Against:
    """A model's answer beside the reference: what it has in common, what it added, what it lacks."""

    common: int
    added: tuple[str, ...]
    lacking: tuple[str, ...]


def against(answer: Sequence[str], given: Sequence[str]) -> Against:
    from_reference = {_plain(line): line for line in answer}
    from_model = {_plain(line): line for line in given}
    return Against(
        len(from_reference.keys() & from_model.keys()),
        tuple(line for key, line in from_model.items() if key not in from_reference),
        tuple(line for key, line in from_reference.items() if key not in from_model),
    )


def _plain(line: str) -> str:
    return " ".join(line.lower().split())


def verdict_words(verdict: StepVerdict) -> str | Promise:
    """How a passed step reads beside the part it judged."""
    if verdict.verdict == Verdict.MINOR_EDIT:
        return _("Compliant after a minor edit") if verdict.step == Step.TASK_A else _("Correct after a minor edit")
    return Verdict(verdict.verdict).label
