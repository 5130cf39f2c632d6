"""The exchange between annotator and expert: submission by submission, what changed, what was said, what was done."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Prefetch

from annotation.differences import Piece, line_difference, text_difference
from annotation.editing import Wording
from annotation.models import AuditRemark, Candidate, CandidateEdit, Sample, StepVerdict, Submission
from annotation.workflow import AuditOutcome, CandidateState, Part, Step
from core.guidelines import CHECKLIST, TASK_A_CHECKS, TASK_B_CHECKS, Criterion
from core.models import User

# Before the decision remarks are a draft that only its writer knows.
TOLD = frozenset({AuditOutcome.APPROVED, AuditOutcome.REJECTED})
CHECKS: dict[str, Sequence[Criterion]] = {Step.TASK_A: TASK_A_CHECKS, Step.TASK_B: TASK_B_CHECKS}
SHOWN_AS_TEXT = ("question", "elements")


@dataclass(frozen=True)
class Change:
    """One part of a wording, before and after, as pieces; `is_list` where the pieces are whole lines."""

    part: Part
    pieces: tuple[Piece, ...]
    is_list: bool


@dataclass(frozen=True)
class Turn:
    """One submission, what changed since the one before it, and the remarks on it that may be shown."""

    number: int
    submission: Submission
    before: Submission | None
    changes: tuple[Change, ...]
    remarks: tuple[AuditRemark, ...]

    @property
    def is_another_candidate(self) -> bool:
        return self.before is not None and self.before.candidate_id != self.submission.candidate_id

    @property
    def is_withdrawn(self) -> bool:
        return self.submission.outcome == AuditOutcome.WITHDRAWN

    @property
    def open_remarks(self) -> int:
        return sum(remark.dealt_at is None for remark in self.remarks)


def turns_of(sample: Sample) -> list[Turn]:
    """Every submission of the sample, oldest first, in two queries."""
    remarks = AuditRemark.objects.select_related("by", "dealt_by").order_by("position")
    rows = sample.submissions.select_related("submitted_by", "audited_by").order_by("number")
    turns: list[Turn] = []
    before: Submission | None = None
    for number, submission in enumerate(rows.prefetch_related(Prefetch("remarks", queryset=remarks)), 1):
        told = tuple(submission.remarks.all()) if submission.outcome in TOLD else ()
        changes = changes_between(Wording.of(before), Wording.of(submission)) if before else ()
        turns.append(Turn(number, submission, before, changes, told))
        before = submission
    return turns


def changes_between(before: Wording, after: Wording) -> tuple[Change, ...]:
    """Only the parts that differ."""
    return tuple(_changes(before, after))


def _changes(before: Wording, after: Wording) -> Iterable[Change]:
    for name in SHOWN_AS_TEXT:
        if (old := getattr(before, name)) != (new := getattr(after, name)):
            yield Change(Part(name), tuple(text_difference(old, new)), is_list=False)
    for name in ("options", "answer"):
        if (old := getattr(before, name)) != (new := getattr(after, name)):
            yield Change(Part(name), tuple(line_difference(old, new)), is_list=True)


# What the annotator did ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Edit:
    """One edit as a difference: which version it made, by whom, when."""

    edit: CandidateEdit
    changes: tuple[Change, ...]


def edits_of(candidate: Candidate) -> list[Edit]:
    """Every edit, oldest first. A version that only a revised document made changes no words and is left out."""
    found = [
        Edit(edit, changes_between(Wording.read(edit.before), Wording.read(edit.after)))
        for edit in candidate.edits.select_related("by").order_by("version")
    ]
    return [edit for edit in found if edit.changes]


@dataclass(frozen=True)
class Check:
    """One check of a step, or item of the checklist, and whether it was ticked."""

    text: object
    is_ticked: bool


@dataclass(frozen=True)
class Judged:
    """One verdict with its checks. `is_void`: its step was opened again, by an edit or by taking it back."""

    verdict: StepVerdict
    checks: tuple[Check, ...]

    @property
    def is_void(self) -> bool:
        return self.verdict.voided_at is not None


def verdicts_of(candidate: Candidate) -> list[Judged]:
    """Every verdict in the order in which it was given, those without validity included."""
    return [
        Judged(verdict, _checks(CHECKS.get(verdict.step, ()), verdict.checks))
        for verdict in candidate.verdicts.select_related("by").order_by("pk")
    ]


def checklist_of(submission: Submission) -> tuple[Check, ...]:
    return _checks(CHECKLIST, submission.checklist)


def _checks(criteria: Sequence[Criterion], ticked: Sequence[bool]) -> tuple[Check, ...]:
    return tuple(Check(one.text, tick) for one, tick in zip(criteria, ticked, strict=False))


def discarded_of(sample: Sample) -> list[Candidate]:
    """The candidates that were discarded, with the step and the reason."""
    rows = sample.candidates.filter(state=CandidateState.DISCARDED).select_related("draft", "draft__call__model")
    return list(rows.defer("draft__call__raw", "draft__call__reasoning", "draft__call__prompt").order_by("position"))


# Remarks beside their part ----------------------------------------------------------------------------------------


def remarks_to_mend(sample: Sample) -> list[AuditRemark]:
    """What the last decision asks to be mended: the remarks of the rejection that the desk works on, else none."""
    decided = sample.submissions.filter(outcome__in=TOLD).order_by("-number").first()
    if decided is None or decided.outcome != AuditOutcome.REJECTED:
        return []
    rows = decided.remarks.select_related("by", "dealt_by", "submission").order_by("position")
    return list(rows)


def draft_remarks(submission: Submission, by: User) -> list[AuditRemark]:
    """What this expert has typed and not sent yet."""
    return list(submission.remarks.filter(by=by).order_by("position")) if not submission.outcome else []
