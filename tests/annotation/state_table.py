"""The state table of the pipeline's stages 2 and 3, written down by hand from spec/pipeline.md, and scenes to walk it.

Nothing here is taken from `annotation.workflow`: the table says what may happen, the code is held against it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rest_framework.test import APIClient

from annotation import actions
from annotation.claims import live_claims
from annotation.models import AuditRemark, Candidate, Challenge, Participation, Sample, Submission
from annotation.queries import challenge_results
from core.models import User
from documents.models import DocumentVersion
from tests.annotation.scenes import answer_run
from tests.factories import (
    make_annotator,
    make_claim,
    make_expert,
    make_lead,
    make_run,
    make_sample,
    make_standardization,
    make_version,
)

SAME = ""
AS_DISCARDED = "the step at which it was discarded"
ANY = "any"

# Who acts. `holder`: who has the sample in their hands, for the work of its state. `free` in front: or whoever may
# take it up when it is in nobody's hands.
HOLDER = "holder"
OWN = "its annotator"
VERIFIER = "whoever may verify it"
JUDGE = "whoever may judge it"
LEAD = "a lead"

DESK = "in_verification returned"
HANDED = f"{DESK} in_standardization in_audit in_adjudication"

# action, sample's state, candidate's state, who -> sample's state then, candidate's state then
TABLE: tuple[tuple[str, str, str, str, str, str], ...] = (
    ("claim", "in_verification", ANY, VERIFIER, SAME, SAME),
    ("claim", "returned in_standardization", ANY, OWN, SAME, SAME),
    ("claim", "in_audit in_adjudication", ANY, JUDGE, SAME, SAME),
    ("release_claim", HANDED, ANY, HOLDER, SAME, SAME),
    ("take_over", HANDED, ANY, LEAD, SAME, SAME),
    ("draft", "planned", ANY, LEAD, "drafting", SAME),
    # the candidate's steps, in their order
    ("read", DESK, "read", HOLDER, SAME, "task_a"),
    ("task_a", DESK, "task_a", HOLDER, SAME, "task_b"),
    ("task_b", DESK, "task_b", HOLDER, SAME, "task_c"),
    ("challenge", DESK, "task_c", HOLDER, SAME, SAME),
    ("overrule", DESK, "task_c", HOLDER, SAME, SAME),
    ("task_c", DESK, "task_c", HOLDER, SAME, "passed"),
    # an edit of the question opens Task A again
    ("edit", DESK, "task_a task_b task_c passed", HOLDER, SAME, "task_a"),
    # one's own last verdict is taken back: its step is open again, also of a discard that ended the sample
    ("take_back", DESK, "task_b", HOLDER, SAME, "task_a"),
    ("take_back", DESK, "discarded", HOLDER, SAME, AS_DISCARDED),
    ("take_back", DESK, "task_c", HOLDER, SAME, "task_b"),
    ("take_back", DESK, "passed", HOLDER, SAME, "task_c"),
    ("take_back", "exhausted", "discarded", OWN, "in_verification", AS_DISCARDED),
    # the wording before the last edit, as an edit of its own
    ("undo", DESK, "task_a task_b task_c passed", HOLDER, SAME, "task_a"),
    # it is the last candidate, so the sample ends with it
    ("discard", DESK, "read task_a task_b task_c passed", HOLDER, "exhausted", "discarded"),
    ("exhaust", DESK, "discarded", HOLDER, "exhausted", SAME),
    ("select", DESK, "passed", HOLDER, SAME, SAME),
    ("submit", DESK, "passed", HOLDER, "in_audit", SAME),
    ("withdraw", "in_audit", ANY, OWN, "returned", SAME),
    ("answer_remark", DESK, ANY, HOLDER, SAME, SAME),
    # the expert's
    ("approve", "in_audit", ANY, HOLDER, "in_standardization", SAME),
    ("reject", "in_audit", ANY, HOLDER, "returned", SAME),
    ("save_remarks", "in_audit", ANY, HOLDER, SAME, SAME),
    # standardization is its annotator's; the claim is taken with it
    ("standardize", "in_standardization", ANY, OWN, "awaiting_predictions", SAME),
    ("reopen", "in_standardization", ANY, OWN, "returned", SAME),
    # what was judged on the old text is judged again on the new one
    ("adopt_document", "awaiting_document", "read task_a discarded", LEAD, "returned", SAME),
    ("adopt_document", "awaiting_document", "task_b task_c passed", LEAD, "returned", "task_a"),
)

BEFORE_A_SUBMISSION = ("planned", "drafting", "in_verification")
AFTER_APPROVAL = (
    *("in_standardization", "awaiting_predictions", "in_review"),
    *("in_adjudication", "awaiting_document", "accepted"),
)
SAMPLE_STATES = (*BEFORE_A_SUBMISSION, "in_audit", "returned", *AFTER_APPROVAL, "exhausted")
CANDIDATE_STATES = ("read", "task_a", "task_b", "task_c", "passed", "discarded")
ROLES = ("annotator", "another_annotator", "reviewer", "judge", "another_expert", "lead")
EXPERTS = ("judge", "another_expert")
OF_CANDIDATES = ("read", "edit", "task_a", "task_b", "challenge", "overrule", "task_c", "take_back", "undo", "discard")
# Elsewhere the candidate's state makes no difference to what happens to the sample.
OF_BOTH = ("select", "submit", "exhaust")
ACTIONS = tuple(dict.fromkeys(row[0] for row in TABLE))


@dataclass(frozen=True)
class World:
    """Where a sample with one candidate stands. People are named by their role in the scene."""

    sample: str
    candidate: str
    holder: str | None
    annotator: str | None
    jobs: dict[str, str] = field(hash=False)
    chosen: bool = True
    answered: bool = True
    edited: bool = False
    was_edited: bool = False
    remark: bool = True
    newer_version: bool = True
    discarded_at: str = "task_a"


def expected(action: str, who: str, world: World) -> tuple[str, str] | None:
    """The states after it, or None where it is refused."""
    for name, samples, candidates, by, sample, candidate in TABLE:
        fits = world.sample in samples.split() and (candidates == ANY or world.candidate in candidates.split())
        if name == action and fits and _may(by, action, who, world) and _is_ready(action, world):
            then = world.discarded_at if candidate == AS_DISCARDED else candidate
            return sample or world.sample, then or world.candidate
    return None


def _may(by: str, action: str, who: str, world: World) -> bool:
    free = world.holder in (None, who)
    job = world.jobs.get(who)
    match by:
        case "a lead":
            return who == "lead"
        case "holder":
            return world.holder == who
        case "its annotator":
            return world.annotator == who and (world.holder is None if action == "withdraw" else free)
        case "whoever may verify it":
            return who != "lead" and free and job in (None, "verifies")
        case "whoever may judge it":
            return who in EXPERTS and free and job in (None, "judges")
    raise AssertionError(by)


def _is_ready(action: str, world: World) -> bool:
    return {
        "submit": world.chosen,
        "task_c": world.answered,
        "overrule": world.answered,
        "undo": world.was_edited,
        "answer_remark": world.remark,
        "adopt_document": world.newer_version,
    }.get(action, True)


# Scenes ------------------------------------------------------------------------------------------------------------


@dataclass
class Scene:
    """People, one sample, one candidate."""

    people: dict[str, User]
    sample: int
    candidate: int
    remark: int | None = None
    clients: dict[str, APIClient] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for role, person in self.people.items():
            self.clients[role] = APIClient()
            self.clients[role].force_authenticate(person)

    def do(self, action: str, who: str, world: World) -> Any:
        resource, pk = ("candidates", self.candidate) if action in OF_CANDIDATES else ("samples", self.sample)
        return self.clients[who].post(f"/api/v1/{resource}/{pk}/{action}/", self.body(action, world), format="json")

    def body(self, action: str, world: World) -> dict[str, Any]:
        make = BODIES.get(action)
        return make(self, world) if make else {}

    def read(self) -> World:
        sample = Sample.objects.get(pk=self.sample)
        candidate = Candidate.objects.select_related("sample", "sample__document_version").get(pk=self.candidate)
        names = {person.pk: role for role, person in self.people.items()}
        claim = live_claims().filter(sample=sample).first()
        results = challenge_results(candidate)
        jobs = Participation.objects.filter(sample=sample).values_list("person", "job")
        decided = Submission.objects.filter(sample=sample, outcome__in=["approved", "rejected"]).order_by("-number")
        last = decided.first()
        self.remark = AuditRemark.objects.filter(submission__sample=sample).values_list("pk", flat=True).last()
        latest = DocumentVersion.objects.filter(document=sample.document_id).order_by("-number")[0]
        return World(
            sample=sample.state,
            candidate=candidate.state,
            holder=names[claim.holder_id] if claim else None,
            annotator=names.get(sample.annotator_id or 0),
            jobs={names[person]: job for person, job in jobs},
            chosen=sample.chosen_id == candidate.pk,
            answered=bool(results and not results.stale and results.wrong),
            edited=_edited(candidate),
            was_edited=candidate.edits.exists(),
            remark=bool(last and last.outcome == "rejected" and last.remarks.exists()),
            newer_version=latest.number > sample.document_version.number,
            discarded_at=candidate.discarded_at_step,
        )


def _edited(candidate: Candidate) -> bool:
    """Whether the question differs from what it was when the last verdict was given."""
    judged = max([*candidate.verdicts.values_list("candidate_version", flat=True), 1])
    after = candidate.edits.filter(version__gt=judged).order_by("version").first()
    return after is not None and after.before["question"] != candidate.question


def _version(scene: Scene) -> int:
    return Candidate.objects.values_list("version", flat=True).get(pk=scene.candidate)


def _judged(plain: str) -> Callable[[Scene, World], dict[str, Any]]:
    return lambda scene, world: {
        "version": _version(scene),
        "verdict": "minor_edit" if world.edited else plain,
        "checks": [True] * 4,
    }


def _overruled(scene: Scene, _world: World) -> dict[str, Any]:
    challenge = Challenge.objects.filter(candidate=scene.candidate).latest("pk")
    return {"run_call": challenge.run.run_calls.all()[0].pk, "right": False, "reason": "Another ship."}


PARTS = {
    "task_description": "Which ships paid a late fee, largest fee first?",
    "elements": "the ship names in order of the fee",
    "example": ["Gull", "Swan"],
    "complete": True,
}

BODIES: dict[str, Callable[[Scene, World], dict[str, Any]]] = {
    "take_over": lambda scene, world: {"holder": scene.people["another_expert"].username, "reason": "On leave."},
    "edit": lambda scene, world: {"version": (now := _version(scene)), "question": f"Which ships? Version {now}."},
    "task_a": _judged("compliant"),
    "task_b": _judged("correct"),
    "task_c": lambda scene, world: {"version": _version(scene), "verdict": "challenging"},
    "challenge": lambda scene, world: {"version": _version(scene)},
    "undo": lambda scene, world: {"version": _version(scene)},
    "overrule": _overruled,
    "discard": lambda scene, world: {"reason": "Trivial."},
    "select": lambda scene, world: {"candidate": scene.candidate},
    "submit": lambda scene, world: {"checklist": [True] * 7},
    "reject": lambda scene, world: {"remarks": [{"part": "question", "text": "Which year?"}]},
    "save_remarks": lambda scene, world: {"remarks": [{"part": "answer", "element": 1, "text": "Why?"}]},
    "answer_remark": lambda scene, world: {"remark": scene.remark, "dealt": True},
    "standardize": lambda scene, world: {**PARTS, "version": 0},
    "reopen": lambda scene, world: {"reason": "The answer has no order."},
}

ANNOTATORS = ("in_verification", "returned", "in_standardization")
JUDGES = ("in_audit", "in_adjudication")


def people_of_a_scene() -> dict[str, User]:
    make = {"judge": make_expert, "another_expert": make_expert, "lead": make_lead}
    return {role: make.get(role, make_annotator)(role) for role in ROLES}


def make_scene(state: str, *, held: bool) -> Scene:
    """The sample in this state, in the hands of whom the state asks for, or in nobody's."""
    people = people_of_a_scene()
    sample = make_sample(state=state, candidates=1, annotator=people["annotator"])
    candidate = sample.candidates.get()
    actions.join_sample(sample=sample, person=people["judge"], job="judges")
    actions.join_sample(sample=sample, person=people["reviewer"], job="reviews")
    _answers(candidate, people["annotator"])
    sample.chosen = candidate
    sample.save()
    if state not in BEFORE_A_SUBMISSION:
        _exchange(sample, candidate, people, state)
    if state in AFTER_APPROVAL and state != "in_standardization":
        make_standardization(sample, by=people["annotator"])
    if state == "awaiting_document":
        add_version(sample)
    if held and state in ANNOTATORS:
        make_claim(sample, people["annotator"])
    if held and state in JUDGES:
        make_claim(sample, people["judge"], job="judges")
    return Scene(people, sample.pk, candidate.pk)


def _answers(candidate: Candidate, by: User) -> None:
    """Asked of the five models as it reads, one of them wrong."""
    sample = candidate.sample
    run = make_run(sample.document_version, purpose="challenge", task_code=sample.task_code)
    answer_run(run, [(["Gull"], False)] + [(["Marigold"], True)] * 4)
    Challenge.objects.create(candidate=candidate, candidate_version=1, run=run, asked_by=by)


def _exchange(sample: Sample, candidate: Candidate, people: dict[str, User], state: str) -> None:
    """Returned once with a remark; then submitted again, and approved where the state says so."""
    rejected = _submission(sample, candidate, 1, people, "rejected")
    AuditRemark.objects.create(submission=rejected, position=1, part="general", text="So?", by=people["judge"])
    if state == "in_audit":
        _submission(sample, candidate, 2, people, "")
    if state in AFTER_APPROVAL:
        _submission(sample, candidate, 2, people, "approved")


def _submission(sample: Sample, candidate: Candidate, number: int, people: dict[str, User], outcome: str) -> Submission:
    decided: dict[str, Any] = {"outcome": outcome, "audited_by": people["judge"], "audited_at": sample.created_at}
    return Submission.objects.create(
        sample=sample,
        number=number,
        candidate=candidate,
        candidate_version=1,
        question=candidate.question,
        elements=candidate.elements,
        answer=candidate.answer,
        checklist=[True] * 7,
        submitted_by=people["annotator"],
        **(decided if outcome else {}),
    )


def add_version(sample: Sample) -> None:
    """A newer text of the document, cleared and in a bucket."""
    newer = make_version()
    newer.document, newer.number = sample.document, sample.document_version.number + 1
    newer.save()
    sample.document.latest = newer
    sample.document.save()


VERDICTS = {"task_a": "compliant", "task_b": "correct", "task_c": "challenging"}


def put(scene: Scene, state: str) -> None:
    """The candidate at this step, with the verdicts of the steps before it."""
    candidate = Candidate.objects.get(pk=scene.candidate)
    done = CANDIDATE_STATES.index(state) if state != "discarded" else 0
    for step in CANDIDATE_STATES[1:done]:
        candidate.verdicts.create(
            step=step,
            verdict=VERDICTS[step],
            checks=[True] * 4,
            candidate_version=1,
            guidelines_version="1",
            by=scene.people["annotator"],
        )
    if state == "discarded":
        candidate.verdicts.create(
            step="task_a",
            verdict="discard",
            candidate_version=1,
            guidelines_version="1",
            by=scene.people["annotator"],
        )
    Candidate.objects.filter(pk=scene.candidate).update(
        state=state, discarded_at_step="task_a" if state == "discarded" else ""
    )
