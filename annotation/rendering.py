"""What the four parts give: both prompts, everything the checks find, and how the answer scores itself.

The page, the API, the action and the command all read the same checks (`benchmark.framing`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.models import Sample, Standardization, Submission
from annotation.workflow import AuditOutcome
from benchmark.examples import check_example, form_of
from benchmark.findings import Finding, Repair, errors
from benchmark.forms import Form
from benchmark.framing import Parts, check, nonthinking_prompt, thinking_prompt
from benchmark.metrics import self_scores
from benchmark.splitting import parts_of_question
from core.text import clean_text

PARTS = ("task_description", "elements", "supplementary", "example")


@dataclass(frozen=True)
class Element:
    """One element of the answer with its form, which the example must share."""

    text: str
    form: Form

    @property
    def reason(self) -> str:
        """Why it is of this form, in the reader's language."""
        template, params = self.form.reason
        return _(template) % params


@dataclass(frozen=True)
class Rendering:
    """What the parts give now. `scores`: the answer's as a reply to the non-thinking and to the thinking prompt."""

    parts: Parts
    answer: tuple[Element, ...]
    nonthinking: str
    thinking: str
    findings: tuple[Finding, ...]
    scores: tuple[float, float]

    @property
    def errors(self) -> list[Finding]:
        return errors(self.findings)

    @property
    def may_complete(self) -> bool:
        return not self.errors


def render(sample: Sample, parts: Parts, *, answer: Sequence[str] | None = None) -> Rendering:
    """Both prompts and all findings. Summaries are compared by words alone: no model is loaded here."""
    reference = list(approved_submission(sample).answer if answer is None else answer)
    task = sample.task
    return Rendering(
        parts=parts,
        answer=tuple(Element(text, form_of(text, task)) for text in reference),
        nonthinking=nonthinking_prompt(parts),
        thinking=thinking_prompt(parts),
        findings=tuple(check(parts, task=task, answer=reference, document_language=sample.language)),
        scores=self_scores(task, language=sample.language, answer=reference),
    )


def said(finding: Finding | Repair) -> str:
    """The finding, or what its repair does, in the reader's language."""
    return _(finding.template) % finding.params


# Parts ---------------------------------------------------------------------------------------------------------


def approved_submission(sample: Sample) -> Submission:
    """The submission that the expert approved last: its question is broken into parts, its answer is the reference."""
    return sample.submissions.filter(outcome=AuditOutcome.APPROVED).latest("number")


def has_approved_question(sample: Sample) -> bool:
    return sample.submissions.filter(outcome=AuditOutcome.APPROVED).exists()


def typed_parts(
    sample: Sample, *, task_description: str, elements: str, supplementary: str, example: Sequence[str]
) -> Parts:
    """The parts as typed, made storable; white space around the texts stays, so that it can be found."""
    lines = tuple(clean_text(line).strip() for line in example)
    return Parts(sample.language, clean_text(task_description), clean_text(elements), clean_text(supplementary), lines)


def parts_of(
    sample: Sample, *, task_description: str, elements: str, supplementary: str, example: Sequence[str]
) -> Parts:
    """The parts as they are kept, in the document's language."""
    return typed_parts(
        sample,
        task_description=task_description.strip(),
        elements=elements.strip(),
        supplementary=supplementary.strip(),
        example=example,
    ).cleaned()


def first_parts(sample: Sample) -> Parts:
    """What the form begins with: what was saved last, as far as it is of the question that is approved now; else that
    question, told apart."""
    approved = approved_submission(sample)
    last = sample.standardizations.order_by("-number").first()
    if last is None:
        return parts_of_submission(sample, approved)
    before = submission_of(last)
    return last.parts if before == approved else _carried_over(sample, last.parts, before, approved)


def submission_of(standardization: Standardization) -> Submission | None:
    """The approved submission that the parts were last saved for."""
    approved = standardization.sample.submissions.filter(outcome=AuditOutcome.APPROVED)
    return approved.filter(audited_at__lte=standardization.saved_at).order_by("-number").first()


def is_approved_anew(sample: Sample) -> bool:
    """Whether the question was approved again since the parts were saved, so that some of them begin anew."""
    last = sample.standardizations.order_by("-number").first()
    return last is not None and submission_of(last) != approved_submission(sample)


def parts_of_submission(sample: Sample, submission: Submission) -> Parts:
    told = parts_of_question(
        sample.task,
        language=sample.language,
        question=submission.question,
        elements=submission.elements,
        options=submission.options,
        answer=submission.answer,
    )
    return parts_of(sample, **{name: getattr(told, name) for name in PARTS})


def _carried_over(sample: Sample, old: Parts, before: Submission | None, approved: Submission) -> Parts:
    """What was typed for a wording that has not changed stays; the rest comes from the question of now."""
    new = parts_of_submission(sample, approved)
    same = {name: before is not None and getattr(before, name) == getattr(approved, name) for name in _WORDING}
    fits = check_example(old.example, task=sample.task, language=old.language, answer=approved.answer)
    return Parts(
        old.language,
        old.task_description if same["question"] else new.task_description,
        old.elements if same["elements"] else new.elements,
        old.supplementary if same["question"] and same["options"] else new.supplementary,
        old.example if not errors(fits) else new.example,
    )


_WORDING = ("question", "elements", "options")
