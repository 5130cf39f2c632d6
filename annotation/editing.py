"""Edits of a candidate: every one kept with both texts, and the steps that an edit opens again.

A page saves while somebody types, so each save moves the candidate's version; what one person saves in one stretch is
one edit in the history: the text before its first save and after its last.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import claims
from annotation.guards import require_step, require_version
from annotation.models import Candidate, CandidateEdit, StepVerdict
from annotation.workflow import CandidateState, Step
from benchmark.elements import holds_line_end
from core import history
from core.models import User
from core.refusals import Invalid, RuleBroken
from core.text import clean_text

# Reading comes first; a discarded candidate has ended.
EDITABLE = frozenset({CandidateState.TASK_A, CandidateState.TASK_B, CandidateState.TASK_C, CandidateState.PASSED})
MOST_CHARS = 20_000
MOST_LINES = 2_000
FIELDS = ("question", "elements", "options", "answer")
# Who types again after this long begins another edit.
STRETCH = timedelta(minutes=10)


@dataclass(frozen=True)
class Wording:
    """The four editable parts of a candidate."""

    question: str
    elements: str
    options: tuple[str, ...]
    answer: tuple[str, ...]

    @classmethod
    def of(cls, source: Any) -> "Wording":
        """Of a candidate, a draft or a submission."""
        return cls(source.question, source.elements, tuple(source.options), tuple(source.answer))

    @classmethod
    def read(cls, stored: dict[str, Any]) -> "Wording":
        return cls(stored["question"], stored["elements"], tuple(stored["options"]), tuple(stored["answer"]))

    def stored(self) -> dict[str, Any]:
        return {**asdict(self), "options": list(self.options), "answer": list(self.answer)}


def can_edit_candidate(user: User, candidate: Candidate) -> bool:
    return candidate.state in EDITABLE and claims.holds_desk(user, candidate.sample)


@transaction.atomic
def edit_candidate(
    *,
    candidate: Candidate,
    version: int,
    by: User,
    question: str | None = None,
    elements: str | None = None,
    options: Sequence[str] | None = None,
    answer: Sequence[str] | None = None,
) -> Candidate:
    """Change what is given and leave the rest. A changed question reopens Task A, a changed answer Task B.

    An edit moves the version, so challenge results older than it are stale. An edit that changes nothing is none, from
    whatever version it comes: a save whose answer was lost on the way can be sent again.
    """
    claims.candidate_desk(candidate, by)
    require_step(candidate, EDITABLE)
    before = Wording.of(candidate)
    after = _edited(before, question, elements, options, answer)
    if after != before:
        require_version(candidate, version)
        _change(candidate, after, by=by, stretch=_stretch(candidate, by))
    return candidate


def _change(candidate: Candidate, after: Wording, *, by: User, stretch: CandidateEdit | None = None) -> None:
    before = Wording.of(candidate)
    if stretch is None:
        write(candidate, after, by=by)
        history.record("edit", candidate, by=by, version=candidate.version, fields=_changed(before, after))
    else:
        _store(candidate, after)
        _prolong(stretch, candidate, after)
    _reopen(candidate, before, after, by)


def write(candidate: Candidate, after: Wording, *, by: User) -> None:
    """Store the new wording as a new version, with both texts."""
    before = Wording.of(candidate)
    _store(candidate, after)
    CandidateEdit.objects.create(
        candidate=candidate, version=candidate.version, before=before.stored(), after=after.stored(), by=by
    )


def _store(candidate: Candidate, after: Wording) -> None:
    candidate.version += 1
    candidate.question, candidate.elements = after.question, after.elements
    candidate.options, candidate.answer = list(after.options), list(after.answer)
    candidate.save(update_fields=["version", *FIELDS])


# One stretch, one edit ---------------------------------------------------------------------------------------------


def _stretch(candidate: Candidate, by: User) -> CandidateEdit | None:
    """The person's edit that this save goes on with: nobody else wrote, and nothing was judged or asked since."""
    last = last_edit(candidate)
    if last is None or last.by_id != by.pk or last.at < timezone.now() - STRETCH:
        return None
    if last.before == last.after or _is_undo(last) or _was_used(candidate, last.version):
        return None
    return last


def last_edit(candidate: Candidate) -> CandidateEdit | None:
    return candidate.edits.order_by("-version").first()


def _was_used(candidate: Candidate, version: int) -> bool:
    used = (candidate.verdicts, candidate.challenges, candidate.submissions)
    return any(rows.filter(candidate_version__gte=version).exists() for rows in used)


def _is_undo(edit: CandidateEdit) -> bool:
    """An undo put back what stood before the edit before it. It stays an edit of its own, so that it can be undone."""
    earlier = CandidateEdit.objects.filter(candidate=edit.candidate_id, version__lt=edit.version)
    before = earlier.order_by("-version").first()
    return before is not None and (edit.before, edit.after) == (before.after, before.before)


def _prolong(stretch: CandidateEdit, candidate: Candidate, after: Wording) -> None:
    """A stretch that ends where it began was no edit."""
    if Wording.read(stretch.before) == after:
        stretch.delete()
        return
    stretch.version, stretch.after, stretch.at = candidate.version, after.stored(), timezone.now()
    stretch.save(update_fields=["version", "after", "at"])


# Undo --------------------------------------------------------------------------------------------------------------


def undoable(candidate: Candidate) -> CandidateEdit | None:
    """The last edit, if there is one to put back."""
    last = last_edit(candidate)
    if last is None or last.before == last.after or Wording.read(last.after) != Wording.of(candidate):
        return None
    return last


def can_undo_edit(user: User, candidate: Candidate) -> bool:
    return can_edit_candidate(user, candidate) and undoable(candidate) is not None


@transaction.atomic
def undo_edit(*, candidate: Candidate, version: int, by: User) -> Candidate:
    """Put back the wording before the last edit, as an edit of its own: undoing once more does the edit again."""
    claims.candidate_desk(candidate, by)
    require_step(candidate, EDITABLE)
    require_version(candidate, version)
    last = undoable(candidate)
    if last is None:
        raise RuleBroken(_("There is no edit to undo."), rule="nothing_to_undo")
    _change(candidate, Wording.read(last.before), by=by)
    return candidate


def as_typed(
    candidate: Candidate,
    *,
    question: str | None = None,
    elements: str | None = None,
    options: Sequence[str] | None = None,
    answer: Sequence[str] | None = None,
) -> Wording:
    """The candidate's wording with what is given in place of its parts, made storable, faults and all."""
    return _typed(Wording.of(candidate), question, elements, options, answer)


def _edited(
    before: Wording,
    question: str | None,
    elements: str | None,
    options: Sequence[str] | None,
    answer: Sequence[str] | None,
) -> Wording:
    after = _typed(before, question, elements, options, answer)
    faults = dict(_faults(after))
    if faults:
        raise Invalid(faults)
    return after


def _typed(
    before: Wording,
    question: str | None,
    elements: str | None,
    options: Sequence[str] | None,
    answer: Sequence[str] | None,
) -> Wording:
    return Wording(
        before.question if question is None else clean_text(question).strip(),
        before.elements if elements is None else clean_text(elements).strip(),
        before.options if options is None else _lines(options),
        before.answer if answer is None else _lines(answer),
    )


def _lines(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(clean_text(line).strip() for line in given)


def _faults(wording: Wording) -> Iterable[tuple[str, str]]:
    yield from _form_faults(wording)
    yield from _size_faults(wording)


def _size_faults(wording: Wording) -> Iterable[tuple[str, str]]:
    """Far beyond any question: what is larger was pasted by mistake, and no page could show it."""
    too_long = _("This is longer than %(most)s characters.") % {"most": MOST_CHARS}
    for name, text in (("question", wording.question), ("elements", wording.elements)):
        if len(text) > MOST_CHARS:
            yield name, too_long
    for name, lines in (("options", wording.options), ("answer", wording.answer)):
        if len(lines) > MOST_LINES:
            yield name, _("These are more than %(most)s lines.") % {"most": MOST_LINES}
        elif any(len(line) > MOST_CHARS for line in lines):
            yield name, too_long


def _form_faults(wording: Wording) -> Iterable[tuple[str, str]]:
    if not wording.question:
        yield "question", _("The question is empty.")
    if not wording.elements:
        yield "elements", _("Say what is to be output.")
    elif holds_line_end(wording.elements):
        yield "elements", _("What is to be output is said in one line.")
    for name, lines in (("options", wording.options), ("answer", wording.answer)):
        for place, line in enumerate(lines, 1):
            if not line:
                yield name, _("Line %(place)s is empty.") % {"place": place}
            elif holds_line_end(line):
                yield name, _("Line %(place)s contains a line break.") % {"place": place}
    if not wording.answer:
        yield "answer", _("The answer has no element.")


def _changed(before: Wording, after: Wording) -> list[str]:
    return [name for name in FIELDS if getattr(before, name) != getattr(after, name)]


def _reopen(candidate: Candidate, before: Wording, after: Wording, by: User) -> None:
    if before.question != after.question and candidate.state != CandidateState.TASK_A:
        reopen(candidate, Step.TASK_A, by=by)
    elif candidate.state in {CandidateState.TASK_C, CandidateState.PASSED}:
        reopen(candidate, Step.TASK_B, by=by)


def reopen(candidate: Candidate, step: Step, *, by: User | None, reason: str = "") -> None:
    """Open `step` again; the verdicts of it and of the steps after it no longer count."""
    order = list(Step)
    later = order[order.index(step) :]
    StepVerdict.objects.filter(candidate=candidate, step__in=later, voided_at=None).update(voided_at=timezone.now())
    history.advance(candidate, f"reopen_{step}", by=by, reason=reason)


def edited_in_step(candidate: Candidate) -> bool:
    """Whether the wording differs from what it was when it was last judged: by a verdict that still counts, by a
    submission, or, before both, from the draft. What was judged on an earlier document counts from the newer one."""
    rows = list(candidate.edits.order_by("version"))
    if not rows:
        return False
    judged = max(
        candidate.verdicts.filter(voided_at=None).aggregate(last=Max("candidate_version"))["last"] or 1,
        candidate.submissions.aggregate(last=Max("candidate_version"))["last"] or 1,
        *(edit.version for edit in rows if edit.before == edit.after),
        1,
    )
    first = next((edit for edit in rows if edit.version > judged), None)
    return first is not None and Wording.read(first.before) != Wording.of(candidate)
