"""The criteria that people judge by, in their language and versioned: a verdict keeps the version it was given under.

`code` is stable and stored; wording may be improved under a new version. Change the sense of a criterion: raise the
version.
"""

from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from benchmark.taxonomy import PRIMARY_TASKS, SECONDARY_TASKS, ContextRequirement, Language, Metric, TaskExample

GUIDELINES_VERSION = "2026-1"


@dataclass(frozen=True)
class Criterion:
    """One line that somebody ticks or keeps in mind."""

    code: str
    text: Promise


@dataclass(frozen=True)
class Outcome:
    """What follows from a judgement: when, and then what."""

    when: Promise
    then: Promise


@dataclass(frozen=True)
class Task:
    """One step of the verification of a candidate."""

    code: str
    title: Promise
    judged_from: Promise
    checks: tuple[Criterion, ...]
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True)
class Dimension:
    """What the quality audit scores, and what each score means. `computed`: the system scores it, nobody else."""

    code: str
    name: Promise
    one: Promise
    half: Promise
    zero: Promise
    computed: bool = False
    scores: tuple[float, float, float] = field(default=(1, 0.5, 0), init=False)


# Verification --------------------------------------------------------------------------------------------
TASK_A_CHECKS: tuple[Criterion, ...] = (
    Criterion("fits_task", _("The question fits the secondary task's definition and its context requirement")),
    Criterion("document_only", _("It rests on the document alone; no outside knowledge is needed")),
    Criterion("no_opinion", _("It asks for no opinion and for no inference that cannot be checked")),
    Criterion("on_subject", _("It stays on the subject and assumes nothing that the document does not support")),
)
TASK_B_CHECKS: tuple[Criterion, ...] = (
    Criterion("grounded", _("Each step of the reasoning rests on the document")),
    Criterion("coherent", _("The steps follow from each other")),
    Criterion("verifiable", _("The final answer can be verified in the document")),
    Criterion("not_invented", _("Nothing in it is invented")),
)
CHECKLIST: tuple[Criterion, ...] = (
    Criterion("task_fits", _("The question fits its task type")),
    Criterion("document_only", _("It can be answered from the document only")),
    Criterion("question_clear", _("The question is clear: one reading, nothing missing")),
    Criterion("answer_checkable", _("The answer can be checked in the document, element by element")),
    Criterion("reasoning_grounded", _("The reasoning is grounded in the document")),
    Criterion("challenging", _("At least one model fails, or the question is kept as highly valuable")),
    Criterion("readable", _("The format is readable: no broken text, no stray marks")),
)
TASK_A = Task(
    "a",
    _("Task A, compliance"),
    _("Judged from the design rationale."),
    TASK_A_CHECKS,
    (
        Outcome(_("It fits"), _("compliant: go on to the answer")),
        Outcome(_("A small edit cures it"), _("edit it, then mark it as fixed by a minor edit and go on")),
        Outcome(_("It does not fit, or it leaves the document"), _("discard it, with the reason")),
    ),
)
TASK_B = Task(
    "b",
    _("Task B, answer"),
    _("Judged from the solution against the document."),
    TASK_B_CHECKS,
    (
        Outcome(_("The answer is right"), _("correct: go on to the challenge")),
        Outcome(_("A small edit cures it"), _("edit it, then mark it as fixed by a minor edit and go on")),
        Outcome(
            _("The answer is wrong, a fact is invented, or the reasoning leaps"),
            _("discard it, with the reason"),
        ),
    ),
)
TASK_C = Task(
    "c",
    _("Task C, challenge"),
    _("Five models answer; their scores are computed, and you may overrule one with a reason."),
    (),
    (
        Outcome(_("At least one model is wrong"), _("challenging: the candidate can be selected")),
        Outcome(_("All five are right"), _("not challenging: discard it")),
        Outcome(
            _("All five are right, but the question is highly valuable"),
            _("keep it as valuable and say why"),
        ),
    ),
)
TASKS: tuple[Task, ...] = (TASK_A, TASK_B, TASK_C)

NEVER: tuple[Criterion, ...] = (
    Criterion("add_information", _("add information that is not in the document")),
    Criterion("trust_invention", _("take a model's invention for a fact")),
    Criterion("accept_opinion", _("accept a question of opinion")),
    Criterion("accept_unverifiable", _("accept an answer that nobody could verify")),
    Criterion("keep_trivial", _("keep a trivial question")),
)
WANTED: tuple[Criterion, ...] = (
    Criterion("deep_reasoning", _("questions that need deep reasoning")),
    Criterion("distant_parts", _("questions that join paragraphs far from each other")),
    Criterion("implicit_clues", _("questions that turn on implicit clues")),
    Criterion("better_edits", _("edits that make a drafted question better")),
    Criterion("person_decides", _("a model's reasoning used as a help, with the person deciding")),
)

# Standardization -------------------------------------------------------------------------------------------
PARTS: tuple[Criterion, ...] = (
    Criterion("task_description", _("the task description, with the output requirement")),
    Criterion(
        "supplementary",
        _("supplementary content, if the question needs any: options, a list of labels, a text to cite"),
    ),
    Criterion("example", _("the output example")),
)
STANDARDIZATION_CHECKS: tuple[Criterion, ...] = (
    Criterion("parts_in_place", _("The three parts stand in their places")),
    Criterion("fixed_texts", _("Both fixed texts are unaltered")),
    Criterion("example_form", _("The example has the answer's format and is not the answer")),
    Criterion("identifier", _("The answer's identifier is present and right")),
    Criterion("punctuation", _("Chinese and English punctuation are not mixed")),
)

# Answer review -----------------------------------------------------------------------------------------------
REVIEW_RULES: tuple[Criterion, ...] = (
    Criterion("alone", _("Work alone: the other reviewer's result is not visible, and yours is not visible to them")),
    Criterion("precision", _("Precision: judge each element of the answer by itself")),
    Criterion("recall", _("Recall: look for elements that belong to the answer and are missing from it")),
    Criterion(
        "predictions",
        _(
            "The models' predictions are a list to check, not an authority: a reasonable element that is absent is "
            "missing; an unreasonable one is no issue"
        ),
    ),
    Criterion("doubt", _("Flag any doubt")),
)
ISSUE_KINDS: tuple[Criterion, ...] = (
    Criterion("document", _("Document: it is incomplete, the answer cannot be derived from it")),
    Criterion("question", _("Question: it is unclear, incomplete or ambiguous")),
    Criterion("answer", _("Answer: document and question are fine, the answer is wrong or incomplete")),
)
ADJUDICATION_RULES: tuple[Criterion, ...] = (
    Criterion("decide", _("An expert who has no part of their own in the sample decides the disputed case")),
    Criterion("outcome", _("No issue: the sample is accepted. A real issue: it is reconstructed")),
    Criterion(
        "step",
        _(
            "To reconstruct, name the step (modify the document, rewrite the question, revise the answer) and the "
            "exact reason"
        ),
    ),
)

# Quality audit -----------------------------------------------------------------------------------------------
QUALITY_DIMENSIONS: tuple[Dimension, ...] = (
    Dimension(
        "task_alignment",
        _("Task alignment"),
        _("fits the task's goal and form"),
        _("mostly fits; the intention is blurred or slightly off"),
        _("is another task, or misses the goal"),
    ),
    Dimension(
        "context_requirement",
        _("Context requirement"),
        _("depends on the text at the intended level"),
        _("about the right level, slightly off"),
        _("wrong level"),
    ),
    Dimension(
        "difficulty",
        _("Difficulty"),
        _("at most one of five models is right"),
        _("two or three of five models are right"),
        _("four or five of five models are right"),
        computed=True,
    ),
    Dimension(
        "authenticity",
        _("Authenticity"),
        _("natural and fluent, a question that someone would ask"),
        _("natural but formulaic"),
        _("plainly artificial"),
    ),
    Dimension(
        "answer_correctness",
        _("Answer correctness"),
        _("matches the document, the facts are right"),
        _("mostly right; a small deviation or imprecise wording"),
        _("wrong, or contradicts the document"),
    ),
)


# The benchmark's tasks, as a page shows them -----------------------------------------------------------------
@dataclass(frozen=True)
class ShownTask:
    code: str
    name: str
    definition: str
    answer_rule: str
    context: Promise
    metric: Metric
    multiple_choice: bool
    example: TaskExample


@dataclass(frozen=True)
class ShownPrimary:
    code: str
    name: str
    definition: str
    tasks: tuple[ShownTask, ...]


CONTEXT_NAMES: dict[ContextRequirement, Promise] = {
    ContextRequirement.FULL: _("Full context"),
    ContextRequirement.PARTIAL: _("Partial context"),
}


def taxonomy_in(language: Language) -> tuple[ShownPrimary, ...]:
    return tuple(
        ShownPrimary(
            primary.code,
            primary.name_in(language),
            primary.definition_in(language),
            tuple(
                ShownTask(
                    task.code,
                    task.name_in(language),
                    task.definition_in(language),
                    task.answer_rule_in(language),
                    CONTEXT_NAMES[task.context_requirement],
                    task.metric,
                    task.multiple_choice,
                    task.example_in(language),
                )
                for task in SECONDARY_TASKS
                if task.primary == primary
            ),
        )
        for primary in PRIMARY_TASKS
    )
