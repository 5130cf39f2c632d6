"""The criteria that people judge by, in their language and versioned: a verdict keeps the version it was given under.

`code` is stable and stored. The wording below is what a system begins with; a lead may word a criterion otherwise and
add guidance to a section, in both languages, and each time there is a new version (`core.actions.save_guidelines`).
Change the sense of a criterion here: raise GUIDELINES_VERSION.
"""

from dataclasses import dataclass, field, replace
from typing import Any, cast

from asgiref.local import Local
from django.utils.functional import Promise, lazy
from django.utils.translation import get_language, override
from django.utils.translation import gettext_lazy as _

from benchmark.taxonomy import PRIMARY_TASKS, SECONDARY_TASKS, ContextRequirement, Language, Metric, TaskExample
from core.models import GuidelinesVersion

GUIDELINES_VERSION = "2026-1"
LANGUAGES = ("en", "zh-hans")
GUIDANCE = "guidance"


# The wording of now -------------------------------------------------------------------------------------------
# Read once in a request, however many criteria a page shows; outside of a request nothing is remembered.
_remembered = Local()


def begin_request(**kwargs: Any) -> None:
    _remembered.versions = {}


def end_request(**kwargs: Any) -> None:
    if hasattr(_remembered, "versions"):
        del _remembered.versions


def newest() -> GuidelinesVersion | None:
    """None as long as no lead has changed anything."""
    versions: dict[str, GuidelinesVersion | None] | None = getattr(_remembered, "versions", None)
    if versions is None:
        return GuidelinesVersion.objects.order_by("-number").first()
    if "newest" not in versions:
        versions["newest"] = GuidelinesVersion.objects.order_by("-number").first()
    return versions["newest"]


def name_of(version: GuidelinesVersion | None) -> str:
    return version.name if version else GUIDELINES_VERSION


def current_version() -> str:
    """The name that a verdict keeps."""
    return name_of(newest())


# What a lead can word: key -> the wording to begin with. Keys are `section.code`, of guidance `section.guidance`.
WORDINGS: dict[str, Promise | str] = {}
SECTIONS: dict[str, Promise] = {
    "task_a": _("Task A, compliance"),
    "task_b": _("Task B, answer"),
    "task_c": _("Task C, challenge"),
    "wanted": _("Wanted"),
    "never": _("Never"),
    "checklist": _("Before submitting"),
    "parts": _("Standardization: parts"),
    "standardization": _("Standardization: final check"),
    "review": _("Answer review"),
    "issue_kinds": _("Kinds of issue"),
    "adjudication": _("Deciding a dispute"),
    "quality": _("Quality"),
}


def text_in(version: GuidelinesVersion | None, key: str, language: str) -> str:
    worded = version.texts.get(key, {}).get(language, "") if version else ""
    if worded:
        return str(worded)
    with override(language):
        return str(WORDINGS[key])


def _here(key: str) -> str:
    return text_in(newest(), key, "zh-hans" if (get_language() or "").startswith("zh") else "en")


def _worded(key: str, text: Promise | str) -> Promise:
    """The text as it is worded at the moment it is shown."""
    WORDINGS[key] = text
    return cast(Promise, lazy(lambda: _here(key), str)())


for _section in SECTIONS:
    WORDINGS[f"{_section}.{GUIDANCE}"] = ""


def guidance_of(section: str) -> str:
    """What a lead added to the section; empty where nothing is."""
    return _here(f"{section}.{GUIDANCE}")


@dataclass(frozen=True)
class Criterion:
    """One line that somebody ticks or keeps in mind."""

    code: str
    text: Promise
    key: str = ""


def _of(section: str, *criteria: Criterion) -> tuple[Criterion, ...]:
    keys = [f"{section}.{criterion.code}" for criterion in criteria]
    return tuple(replace(one, text=_worded(key, one.text), key=key) for one, key in zip(criteria, keys, strict=True))


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

    @property
    def guidance(self) -> str:
        return guidance_of(f"task_{self.code}")


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
TASK_A_CHECKS: tuple[Criterion, ...] = _of(
    "task_a",
    Criterion("fits_task", _("The question fits the secondary task's definition and its context requirement")),
    Criterion("document_only", _("It rests on the document alone; no outside knowledge is needed")),
    Criterion("no_opinion", _("It asks for no opinion and for no inference that cannot be checked")),
    Criterion("on_subject", _("It stays on the subject and assumes nothing that the document does not support")),
)
TASK_B_CHECKS: tuple[Criterion, ...] = _of(
    "task_b",
    Criterion("grounded", _("Each step of the reasoning rests on the document")),
    Criterion("coherent", _("The steps follow from each other")),
    Criterion("verifiable", _("The final answer can be verified in the document")),
    Criterion("not_invented", _("Nothing in it is invented")),
)
CHECKLIST: tuple[Criterion, ...] = _of(
    "checklist",
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

NEVER: tuple[Criterion, ...] = _of(
    "never",
    Criterion("add_information", _("add information that is not in the document")),
    Criterion("trust_invention", _("take a model's invention for a fact")),
    Criterion("accept_opinion", _("accept a question of opinion")),
    Criterion("accept_unverifiable", _("accept an answer that nobody could verify")),
    Criterion("keep_trivial", _("keep a trivial question")),
)
WANTED: tuple[Criterion, ...] = _of(
    "wanted",
    Criterion("deep_reasoning", _("questions that need deep reasoning")),
    Criterion("distant_parts", _("questions that join paragraphs far from each other")),
    Criterion("implicit_clues", _("questions that turn on implicit clues")),
    Criterion("better_edits", _("edits that make a drafted question better")),
    Criterion("person_decides", _("a model's reasoning used as a help, with the person deciding")),
)

# Standardization -------------------------------------------------------------------------------------------
PARTS: tuple[Criterion, ...] = _of(
    "parts",
    Criterion("task_description", _("the task description, with the output requirement")),
    Criterion(
        "supplementary",
        _("supplementary content, if the question needs any: options, a list of labels, a text to cite"),
    ),
    Criterion("example", _("the output example")),
)
STANDARDIZATION_CHECKS: tuple[Criterion, ...] = _of(
    "standardization",
    Criterion("parts_in_place", _("The three parts stand in their places")),
    Criterion("fixed_texts", _("Both fixed texts are unaltered")),
    Criterion("example_form", _("The example has the answer's format and is not the answer")),
    Criterion("identifier", _("The answer's identifier is present and right")),
    Criterion("punctuation", _("Chinese and English punctuation are not mixed")),
)

# Answer review -----------------------------------------------------------------------------------------------
REVIEW_RULES: tuple[Criterion, ...] = _of(
    "review",
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
ISSUE_KINDS: tuple[Criterion, ...] = _of(
    "issue_kinds",
    Criterion("document", _("Document: it is incomplete, the answer cannot be derived from it")),
    Criterion("question", _("Question: it is unclear, incomplete or ambiguous")),
    Criterion("answer", _("Answer: document and question are fine, the answer is wrong or incomplete")),
)
ADJUDICATION_RULES: tuple[Criterion, ...] = _of(
    "adjudication",
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
def _scored(*dimensions: Dimension) -> tuple[Dimension, ...]:
    """A lead may word what each score means."""
    return tuple(_with_worded_scores(one) for one in dimensions)


def _with_worded_scores(one: Dimension) -> Dimension:
    one_, half, zero = (
        _worded(f"quality.{one.code}.{score}", getattr(one, score)) for score in ("one", "half", "zero")
    )
    return replace(one, one=one_, half=half, zero=zero)


QUALITY_DIMENSIONS: tuple[Dimension, ...] = _scored(
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


# Between two versions -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Rewording:
    """One text that reads otherwise in the later of two versions."""

    key: str
    language: str
    before: str
    after: str

    @property
    def section(self) -> Promise:
        return SECTIONS[self.key.partition(".")[0]]


def rewordings(
    earlier: GuidelinesVersion | None, later: GuidelinesVersion | None, languages: tuple[str, ...] = LANGUAGES
) -> list[Rewording]:
    found = []
    for key in WORDINGS:
        for language in languages:
            before, after = text_in(earlier, key, language), text_in(later, key, language)
            if before != after:
                found.append(Rewording(key, language, before, after))
    return found


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
