"""What the desk shows of a sample: its candidates at a glance, and one of them open at its step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation import claims
from annotation.checking import read_hints
from annotation.differences import Piece, line_difference, text_difference
from annotation.editing import EDITABLE, Wording, edited_in_step
from annotation.evidence import Proof, proofs_of
from annotation.glancing import Group, Row, rows_of
from annotation.models import Candidate, Claim, Sample, StepVerdict
from annotation.queries import ChallengeResults, challenge_results
from annotation.verifying import JUDGEMENTS, Judgement
from annotation.workflow import AT_THE_DESK, OPEN_STEPS, CandidateState, SampleState, Step, Verdict
from core.guidelines import TASK_A, TASK_B, TASK_C, Task
from core.models import User
from generation.models import LanguageModel

GUIDE: dict[str, Task] = {CandidateState.TASK_A: TASK_A, CandidateState.TASK_B: TASK_B, CandidateState.TASK_C: TASK_C}


@dataclass(frozen=True)
class Mark:
    """One step of the rail: done, now or closed; `panel` is where a click leads."""

    label: str | Promise
    state: str
    panel: str = ""


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
    def is_waiting(self) -> bool:
        """Answers to the candidate as it now reads are still on their way."""
        return self.candidate.state == CandidateState.TASK_C and bool(self.fresh and self.fresh.waiting)

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
    lapsed: bool
    chosen: Candidate | None
    before: int
    after: int

    @property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]

    def row_at(self, position: int | None) -> Row | None:
        return next((row for row in self.rows if row.candidate.position == position), None)

    @property
    def row(self) -> Row | None:
        """The open candidate's own row."""
        return self.row_at(self.opened.candidate.position) if self.opened else None

    @property
    def open_twins(self) -> list[Row]:
        """Others that ask the same as the open candidate and could be discarded."""
        return [twin for twin in self.row.twins if not twin.is_gone] if self.row else []

    @property
    def next_open(self) -> int | None:
        """Where to go on: the next open candidate after the one shown, else the first."""
        open_rows = [row for row in self.rows if row.is_open and row is not self.row]
        return following(self.row, open_rows) if open_rows else None

    @property
    def step_on(self) -> int:
        """Where the next candidate stands, or the open one when it is the last; 0 where there is none."""
        return self.after or (self.opened.candidate.position if self.opened else 0)

    @property
    def step_back(self) -> int:
        return self.before or (self.opened.candidate.position if self.opened else 0)

    def is_free_for(self, user: User) -> bool:
        return self.claim is None or self.claim.holder_id == user.pk

    @property
    def is_at_work(self) -> bool:
        return self.sample.state in AT_THE_DESK

    @property
    def is_exhausted(self) -> bool:
        return self.sample.state == SampleState.EXHAUSTED

    @property
    def waits(self) -> bool:
        """Answers to a candidate are still on their way."""
        return any(row.is_waiting for row in self.rows)

    @property
    def passed(self) -> list[Row]:
        return [row for row in self.rows if row.candidate.state == CandidateState.PASSED]

    @property
    def discarded(self) -> int:
        return sum(row.is_gone for row in self.rows)

    @property
    def left(self) -> int:
        return sum(row.is_open for row in self.rows)

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


def following(row: Row | None, rows: Sequence[Row]) -> int | None:
    """The position of the first of these rows after `row`, round the end; None where there is none."""
    places = sorted(one.candidate.position for one in rows)
    here = row.candidate.position if row else 0
    return next(iter([*(place for place in places if place > here), *places]), None)


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


def desk_for(sample: Sample, user: User, *, position: int | None = None, glance: bool = True) -> Desk:
    """The desk with the candidate at `position` open; without one, the first that can be worked on. Without `glance`
    the rows know their candidates alone."""
    candidates = list(candidates_of(sample.candidates.all()))
    for candidate in candidates:
        candidate.sample = sample
    opened = _to_open(candidates, sample, position)
    shown = open_candidate(opened) if opened else None  # before the rows: it may find places that they then know
    standing = claims.standing_of(user, sample)
    order = [candidate.position for candidate in candidates]
    place = order.index(opened.position) if opened else 0
    return Desk(
        sample=sample,
        groups=rows_of(sample, candidates, glance=glance),
        opened=shown,
        claim=standing.claim,
        holds=standing.holds,
        lapsed=standing.lapsed,
        chosen=next((candidate for candidate in candidates if candidate.pk == sample.chosen_id), None),
        before=order[place - 1] if order and place else 0,
        after=order[place + 1] if place + 1 < len(order) else 0,
    )


def _to_open(candidates: Sequence[Candidate], sample: Sample, position: int | None) -> Candidate | None:
    """What was asked for, what is selected, what was begun, what is unread; else what ended last."""
    asked = [candidate for candidate in candidates if candidate.position == position]
    chosen = [candidate for candidate in candidates if candidate.pk == sample.chosen_id]
    begun = [one for one in candidates if one.state in OPEN_STEPS and one.state != CandidateState.READ]
    unread = [one for one in candidates if one.state == CandidateState.READ]
    latest = sorted(candidates, key=lambda one: one.state_since, reverse=True)
    return next(iter([*asked, *chosen, *begun, *unread, *latest]), None)


def next_open(candidate: Candidate) -> int:
    """Where the desk goes on after a candidate has ended: the next open one, else the first open one, else itself."""
    open_ones = list(
        candidate.sample.candidates.filter(state__in=OPEN_STEPS).order_by("position").values_list("position", flat=True)
    )
    later = [position for position in open_ones if position > candidate.position]
    return next(iter([*later, *open_ones]), candidate.position)


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


# Task C --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Against:
    """A model's answer beside the reference: what it has in common, what it added, what it lacks."""

    common: int
    added: tuple[str, ...]
    lacking: tuple[str, ...]
    in_order: bool = True

    @property
    def is_complete(self) -> bool:
        return not self.added and not self.lacking

    @property
    def is_equal(self) -> bool:
        return self.is_complete and self.in_order


def against(answer: Sequence[str], given: Sequence[str]) -> Against:
    from_reference = {_plain(line): line for line in answer}
    from_model = {_plain(line): line for line in given}
    return Against(
        len(from_reference.keys() & from_model.keys()),
        tuple(line for key, line in from_model.items() if key not in from_reference),
        tuple(line for key, line in from_reference.items() if key not in from_model),
        list(from_reference) == list(from_model),
    )


def _plain(line: str) -> str:
    return " ".join(line.lower().split())


def verdict_words(verdict: StepVerdict) -> str | Promise:
    """How a passed step reads beside the part it judged."""
    if verdict.verdict == Verdict.MINOR_EDIT:
        return _("Compliant after a minor edit") if verdict.step == Step.TASK_A else _("Correct after a minor edit")
    return Verdict(verdict.verdict).label
