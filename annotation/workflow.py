"""The life of a sample and of a candidate, as data."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from core.workflow import Lifecycle


class Strategy(TextChoices):
    COLLABORATION = "collaboration", _("people and models")
    PEOPLE = "people", _("people alone")
    MODELS = "models", _("models alone")


class SampleState(TextChoices):
    PLANNED = "planned", _("planned")
    DRAFTING = "drafting", _("drafting")
    IN_VERIFICATION = "in_verification", _("in verification")
    IN_AUDIT = "in_audit", _("in expert audit")
    RETURNED = "returned", _("returned")
    IN_STANDARDIZATION = "in_standardization", _("in standardization")
    AWAITING_PREDICTIONS = "awaiting_predictions", _("awaiting predictions")
    IN_REVIEW = "in_review", _("in answer review")
    IN_ADJUDICATION = "in_adjudication", _("in adjudication")
    AWAITING_DOCUMENT = "awaiting_document", _("awaiting a revised document")
    ACCEPTED = "accepted", _("accepted")
    EXHAUSTED = "exhausted", _("exhausted")


S = SampleState

SAMPLE_LIFECYCLE = Lifecycle(
    SampleState,
    [
        ("draft", S.PLANNED, S.DRAFTING),
        ("receive_drafts", S.DRAFTING, S.IN_VERIFICATION),
        ("fail_drafting", S.DRAFTING, S.PLANNED),
        ("exhaust", [S.IN_VERIFICATION, S.RETURNED], S.EXHAUSTED),
        # the last discard was taken back: to where the sample was exhausted
        ("bring_back", S.EXHAUSTED, S.IN_VERIFICATION),
        ("bring_back_returned", S.EXHAUSTED, S.RETURNED),
        ("submit", [S.IN_VERIFICATION, S.RETURNED], S.IN_AUDIT),
        ("reject", S.IN_AUDIT, S.RETURNED),
        # its annotator takes it back before an expert has claimed it
        ("withdraw_submission", S.IN_AUDIT, S.RETURNED),
        ("approve", S.IN_AUDIT, S.IN_STANDARDIZATION),
        ("standardize", S.IN_STANDARDIZATION, S.AWAITING_PREDICTIONS),
        # the answer's form does not pass the checks: back to the desk, with the reason
        ("reopen", S.IN_STANDARDIZATION, S.RETURNED),
        ("open_review", S.AWAITING_PREDICTIONS, S.IN_REVIEW),
        ("accept", [S.IN_REVIEW, S.IN_ADJUDICATION], S.ACCEPTED),
        ("dispute", S.IN_REVIEW, S.IN_ADJUDICATION),
        ("reconstruct", S.IN_ADJUDICATION, S.RETURNED),
        ("await_document", S.IN_ADJUDICATION, S.AWAITING_DOCUMENT),
        ("adopt_document", S.AWAITING_DOCUMENT, S.RETURNED),
        # it was accepted in another system, whose release was imported here: nobody here decided anything
        ("import_from_release", S.PLANNED, S.ACCEPTED),
    ],
)

# States in which the desk is open for the annotator.
AT_THE_DESK = frozenset({S.IN_VERIFICATION, S.RETURNED})


class Step(TextChoices):
    """The steps of one candidate, in their order."""

    READ = "read", _("Read")
    TASK_A = "task_a", _("Task A")
    TASK_B = "task_b", _("Task B")
    TASK_C = "task_c", _("Task C")


class CandidateState(TextChoices):
    """Which step is open, or how it ended."""

    READ = "read", _("to read")
    TASK_A = "task_a", _("Task A open")
    TASK_B = "task_b", _("Task B open")
    TASK_C = "task_c", _("Task C open")
    PASSED = "passed", _("passed")
    DISCARDED = "discarded", _("discarded")


C = CandidateState
OPEN_STEPS = (C.READ, C.TASK_A, C.TASK_B, C.TASK_C)

CANDIDATE_LIFECYCLE = Lifecycle(
    CandidateState,
    [
        ("read", C.READ, C.TASK_A),
        ("pass_task_a", C.TASK_A, C.TASK_B),
        ("pass_task_b", C.TASK_B, C.TASK_C),
        ("pass_task_c", C.TASK_C, C.PASSED),
        ("discard", [*OPEN_STEPS, C.PASSED], C.DISCARDED),
        # an edit after a step's verdict reopens that step: the question is Task A's, the answer Task B's
        ("reopen_task_a", [C.TASK_B, C.TASK_C, C.PASSED], C.TASK_A),
        ("reopen_task_b", [C.TASK_C, C.PASSED], C.TASK_B),
        ("reopen_task_c", [C.PASSED], C.TASK_C),
        # one's own last verdict was taken back: its step is open again, as is the step at which a discard ended
        ("take_back_task_a", C.TASK_B, C.TASK_A),
        ("take_back_task_b", C.TASK_C, C.TASK_B),
        ("take_back_task_c", C.PASSED, C.TASK_C),
        ("take_back_discard_at_read", C.DISCARDED, C.READ),
        ("take_back_discard_at_task_a", C.DISCARDED, C.TASK_A),
        ("take_back_discard_at_task_b", C.DISCARDED, C.TASK_B),
        ("take_back_discard_at_task_c", C.DISCARDED, C.TASK_C),
    ],
)


class Verdict(TextChoices):
    """What a step can end with. Task A: compliant; Task B: correct; Task C: challenging, or kept as valuable."""

    COMPLIANT = "compliant", _("compliant")
    CORRECT = "correct", _("correct")
    CHALLENGING = "challenging", _("challenging")
    VALUABLE = "valuable", _("kept as highly valuable")
    MINOR_EDIT = "minor_edit", _("fixed by a minor edit")
    DISCARD = "discard", _("discarded")


class Job(TextChoices):
    """What a person is to a sample. Nobody holds two of these on one sample; one expert may audit and adjudicate."""

    VERIFIES = "verifies", _("verifies")
    REVIEWS = "reviews", _("reviews")
    JUDGES = "judges", _("audits and adjudicates")


class DraftingOutcome(TextChoices):
    """What became of a sample that was sent to drafting with others."""

    WAITING = "waiting", _("waiting")
    STARTED = "started", _("started")
    REFUSED = "refused", _("refused")
    CANCELLED = "cancelled", _("cancelled")


class ClaimEnd(TextChoices):
    RELEASED = "released", _("released")
    LAPSED = "lapsed", _("lapsed")
    FINISHED = "finished", _("finished")
    TAKEN_OVER = "taken_over", _("taken over")


class AuditOutcome(TextChoices):
    """How a submission ended. `withdrawn`: its annotator took it back, so nobody audited it."""

    APPROVED = "approved", _("approved")
    REJECTED = "rejected", _("rejected")
    WITHDRAWN = "withdrawn", _("taken back")


class Part(TextChoices):
    """What a remark of the expert is about, in the order of the page."""

    QUESTION = "question", _("Question")
    ELEMENTS = "elements", _("What to output")
    OPTIONS = "options", _("Options")
    ANSWER = "answer", _("Answer")
    GROUNDS = "grounds", _("Rationale and solution")
    DOCUMENT = "document", _("Document")
    GENERAL = "general", _("In general")


class TimedStep(TextChoices):
    """Work whose active time is counted, in its order."""

    READ = "read", _("Read")
    TASK_A = "task_a", _("Task A")
    TASK_B = "task_b", _("Task B")
    TASK_C = "task_c", _("Task C")
    SELECT = "select", _("Select")
    SUBMIT = "submit", _("Submit")
    AUDIT = "audit", _("Expert audit")
    STANDARDIZE = "standardize", _("Standardization")
    REVIEW = "review", _("Answer review")


class ReconstructionStep(TextChoices):
    DOCUMENT = "document", _("modify document")
    QUESTION = "question", _("rewrite question")
    ANSWER = "answer", _("revise answer")
