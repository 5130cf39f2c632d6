"""What an expert's decision must say, and what in it would contradict itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from annotation.workflow import ReconstructionStep
from benchmark.elements import comparable, holds_line_end
from core.refusals import Invalid
from core.text import clean_text, clean_value
from review.judging import LONGEST_NOTE, MOST_ADDITIONS
from review.models import ReviewCase
from review.queries import predicted_elements
from review.workflow import OF_THE_ANSWER, OF_THE_LACKING, AdjudicationOutcome, Decided, ReviewState


@dataclass(frozen=True)
class Decision:
    outcome: str
    step: str
    reason: str
    marks: Sequence[Any] = ()
    proposal: Sequence[Any] = ()

    def as_fields(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome,
            "step": self.step,
            "reason": self.reason,
            "marks": list(self.marks),
            "proposal": list(self.proposal),
        }


@dataclass(frozen=True)
class Typed:
    """A decision as far as it is ticked and typed. `choice`: `no_issue`, a step, or empty; `proposal`: as typed."""

    choice: str
    reason: str
    marks: Sequence[Mapping[str, str]]
    proposal: str

    def as_fields(self) -> dict[str, Any]:
        return {
            "choice": self.choice,
            "reason": self.reason,
            "marks": list(self.marks),
            "proposal": self.proposal,
        }


CHOICES = frozenset({"", AdjudicationOutcome.NO_ISSUE.value, *ReconstructionStep.values})


def typed(*, choice: str, reason: str, marks: Sequence[Any], proposal: str, case: ReviewCase) -> Typed:
    """The values as a draft keeps them: gaps and contradictions are no fault here. Raises Invalid."""
    reason, proposal = _as_kept(reason), _as_kept(proposal)
    if choice not in CHOICES:
        raise Invalid({"outcome": _("Choose: no issue, or reconstruct.")})
    if len(reason) > LONGEST_NOTE:
        raise Invalid({"reason": _("At most %(most)s characters.") % {"most": LONGEST_NOTE}})
    _proposal(proposal.split("\n"))
    return Typed(choice, reason, _marks(marks, case), proposal)


def _as_kept(text: str) -> str:
    """Browsers send line ends as CRLF."""
    return clean_text(text.replace("\r\n", "\n"))


def lacking(case: ReviewCase) -> list[str]:
    """What the answer lacks in somebody's opinion: elements that models predicted, and those that reviewers added."""
    words = {comparable(predicted.element): predicted.element for predicted in predicted_elements(case)}
    for review in case.reviews.filter(state=ReviewState.SUBMITTED).order_by("seat"):
        for element in review.additions:
            words.setdefault(comparable(element), element)
    return list(words.values())


def checked(decision: Decision, case: ReviewCase) -> Decision:
    """The decision in the shape in which it is kept. Raises Invalid with everything that is wrong in it."""
    marks = _marks(decision.marks, case)
    proposal = _proposal(decision.proposal)
    errors = _faults(decision, marks, proposal)
    if errors:
        raise Invalid(errors)
    return replace(decision, marks=marks, proposal=proposal)


def _faults(decision: Decision, marks: Sequence[Mapping[str, str]], proposal: Sequence[str]) -> dict[str, str]:
    errors: dict[str, str] = {}
    accepts = decision.outcome == AdjudicationOutcome.NO_ISSUE
    if decision.outcome not in AdjudicationOutcome.values:
        errors["outcome"] = _("Choose: no issue, or reconstruct.")
    if accepts and decision.step:
        errors["step"] = _("Without an issue there is no step to go back to.")
    if accepts and (against := _against(marks)):
        errors["outcome"] = _("You decided that “%(element)s” is %(mark)s. Then the answer is not without issue.") % {
            "element": against["element"][:60],
            "mark": Decided(against["mark"]).label,
        }
    if decision.outcome == AdjudicationOutcome.RECONSTRUCT:
        if decision.step not in ReconstructionStep.values:
            errors["step"] = _("Name the step: modify document, rewrite question or revise answer.")
        if not decision.reason:
            errors["reason"] = _("Name the place and what must change.")
    if len(decision.reason) > LONGEST_NOTE:
        errors["reason"] = _("At most %(most)s characters.") % {"most": LONGEST_NOTE}
    if proposal and decision.step != ReconstructionStep.ANSWER:
        errors["proposal"] = _("Elements are proposed only when the answer is revised.")
    return errors


def _against(marks: Sequence[Mapping[str, str]]) -> Mapping[str, str] | None:
    return next((row for row in marks if row["mark"] in {Decided.INCORRECT, Decided.MISSING}), None)


def _marks(values: Sequence[Any], case: ReviewCase) -> list[dict[str, str]]:
    """One mark per element that was decided, in the order of the answer, then of what it lacks."""
    if isinstance(values, str) or not all(isinstance(value, Mapping) for value in values):
        raise Invalid({"marks": _("A list of objects is expected.")})
    answer, lacked = case.standardization.answer, lacking(case)
    of_answer = {comparable(element) for element in answer}
    known = dict.fromkeys(map(comparable, lacked), OF_THE_LACKING) | dict.fromkeys(of_answer, OF_THE_ANSWER)
    given: dict[str, str] = {}
    for row in clean_value(list(values)):
        element, mark = row.get("element"), row.get("mark")
        if not isinstance(element, str) or comparable(element) not in known:
            raise Invalid({"marks": _("“%(element)s” is no element of this case.") % {"element": str(element)[:80]}})
        if not mark:
            continue
        choices = [str(choice) for choice in known[comparable(element)]]
        if mark not in choices:
            words = _("“%(mark)s” is none of %(choices)s.") % {"mark": mark, "choices": ", ".join(choices)}
            raise Invalid({"marks": words})
        given[comparable(element)] = mark
    places = [*answer, *(element for element in lacked if comparable(element) not in of_answer)]
    return [
        {"element": element, "mark": given[comparable(element)]} for element in places if comparable(element) in given
    ]


def _proposal(values: Sequence[Any]) -> list[str]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise Invalid({"proposal": _("A list of texts is expected.")})
    if len(values) > MOST_ADDITIONS:
        raise Invalid({"proposal": _("At most %(most)s elements.") % {"most": MOST_ADDITIONS}})
    proposal = [text for value in values if (text := clean_text(value).strip())]
    if any(holds_line_end(text) for text in proposal):
        raise Invalid({"proposal": _("An element is one line.")})
    if any(len(text) > LONGEST_NOTE for text in proposal):
        raise Invalid({"proposal": _("At most %(most)s characters.") % {"most": LONGEST_NOTE}})
    return proposal
