"""One scene with an object of every kind, and five people who stand differently to each of them.

`annotator`: has nothing to do with it. `owner`: the annotator whose work it is (of a case: a reviewer). `expert`: has
nothing to do with it. `judge`: the expert who has it in hand, or is barred from it by having judged it. `lead`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from annotation.models import AuditRemark, DraftingBatch, Participation, Sample
from annotation.workflow import CandidateState, Job, SampleState
from core.authentication import issue_token
from core.models import Event, User
from core.workflow import Role, Scope
from documents.models import ImportBatch
from generation.models import ModelTrial, ProviderLimit
from generation.workflow import CallState, Purpose, RunState
from leading.inviting import invite, make_reset_link
from release.models import DifficultyLabel, Release
from release.workflow import ReleaseState
from review.models import AuditedSample, QualityAudit, ReviewCase
from review.workflow import CaseState
from tests.annotation.scenes import candidate_at
from tests.annotation.scenes import challenged as challenged_with
from tests.factories import (
    make_annotator,
    make_call,
    make_case,
    make_claim,
    make_expert,
    make_lead,
    make_model,
    make_review,
    make_run,
    make_sample,
    make_standardized_sample,
    make_submission,
    make_version,
)

STANDPOINTS = ("anonymous", "annotator", "owner", "expert", "judge", "lead")
# Given to whatever stands in an address for a number.
NUMBER = re.compile(r"<(?:\w+:)?(?P<path>\w+)>|\(\?P<(?P<regex>\w+)>[^()]*\)")


@dataclass(frozen=True)
class Route:
    """One address of the URL conf, as written there, and the methods of an API view set (None: a page's own matter)."""

    path: str
    methods: tuple[str, ...] | None

    @property
    def is_api(self) -> bool:
        return self.path.startswith("api/")


def routes() -> Iterator[Route]:
    """Every address of the site, but allauth's: its log-in pages are its own."""
    yield from _routes(get_resolver().url_patterns, "")


def _routes(patterns: list[Any], before: str) -> Iterator[Route]:
    for entry in patterns:
        path = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from _routes(entry.url_patterns, path)
        elif isinstance(entry, URLPattern) and not path.startswith("account/"):
            actions = getattr(entry.callback, "actions", None)
            tidy = re.sub(r"[\^$]|/\?", lambda match: "/" if match[0] == "/?" else "", path)
            tidy = re.sub(r"\(\?P<(\w+)>[^()]*\)", r"<\1>", tidy)
            yield Route(tidy, tuple(verb.upper() for verb in actions) if actions else None)


def address(path: str, ids: dict[str, Any]) -> str:
    return "/" + NUMBER.sub(lambda match: str(ids[match["path"] or match["regex"]]), path)


class Scene:
    """The people, and what stands in an address for each kind of object."""

    def __init__(self) -> None:
        self.annotator, self.owner = make_annotator("anna"), make_annotator("otto")
        self.expert, self.judge, self.lead = make_expert("edda"), make_expert("judy"), make_lead("leda")
        self.objects: dict[str, dict[str, Any]] = {"-": {}}
        self.bodies: dict[tuple[str, str], dict[str, Any]] = {}
        self._documents()
        self._models()
        self._samples()
        self._reviews()
        self._rest()

    @property
    def people(self) -> dict[str, User | None]:
        return {"anonymous": None, **{name: getattr(self, name) for name in STANDPOINTS[1:]}}

    def id_of(self, kind: str) -> int:
        return int(self.objects[kind]["pk"])

    def _keep(self, kind: str, row: Any, **more: Any) -> None:
        self.objects[kind] = {"pk": row.pk, **more}

    def _documents(self) -> None:
        pending = make_version(state="pending")
        self.approved, other = make_version(decided_by=self.judge), make_version()
        self._keep("document", self.approved.document)
        self._keep("document2", other.document)
        self._keep("pending", pending.document)
        self._keep("version", self.approved)
        self._keep("pending_version", pending)
        self._keep("batch", ImportBatch.objects.create(made_by=self.lead))

    def _models(self) -> None:
        model = make_model("answering")
        self._keep("model", model)
        self._keep("trial", ModelTrial.objects.create(model=model, asked_by=self.lead))
        run = make_run(self.approved, purpose=Purpose.DIFFICULTY, task_code="T1.2", state=RunState.RUNNING)
        self._keep("run", run)
        self._keep("call", make_call(run, model, state=CallState.UNKNOWN))
        self._keep("limit", ProviderLimit.objects.create(provider="demo", calls_in_flight=3))

    def _samples(self) -> None:
        """In verification, in audit, returned with a remark, in standardization: the owner's, judged by the judge."""
        self.verified = make_sample(annotator=self.owner)
        make_claim(self.verified, self.owner)
        self._keep("verified", self.verified)
        self._keep("planned", make_sample(state=SampleState.PLANNED, candidates=0))
        self._keep("free", make_sample())
        self.free = Sample.objects.get(pk=self.id_of("free"))
        Participation.objects.create(sample=self.free, person=self.judge, job=Job.JUDGES)
        first = self.verified.candidates.order_by("position")[0]
        first.state = CandidateState.TASK_A
        first.save()
        self._keep("candidate", first)
        challenged, _owner = candidate_at(CandidateState.TASK_C, self.owner)
        made_up = challenged_with(challenged, self.owner)
        self._keep("challenged", challenged, run_call=made_up.run.run_calls.order_by("pk")[0].pk)
        submitted = make_sample(state=SampleState.IN_AUDIT, annotator=self.owner)
        make_submission(submitted, by=self.owner)
        make_claim(submitted, self.judge, job=Job.JUDGES)
        Participation.objects.create(sample=submitted, person=self.judge, job=Job.JUDGES)
        self._keep("submitted", submitted)
        waiting = make_sample(state=SampleState.IN_AUDIT, annotator=self.owner)
        make_submission(waiting, by=self.owner)
        self._keep("waiting", waiting)
        returned = make_sample(state=SampleState.RETURNED, annotator=self.owner)
        made = make_submission(returned, by=self.owner, approved_by=self.judge)
        made.outcome = "rejected"
        made.feedback = "Not yet."
        made.save()
        make_claim(returned, self.owner)
        self._keep("returned", returned)
        remark = AuditRemark.objects.create(submission=made, position=1, text="Why?", by=self.judge)
        self._keep("remark", remark)
        standard = make_standardized_sample(
            state=SampleState.IN_STANDARDIZATION, annotator=self.owner, expert=self.judge
        )
        standard.standardizations.update(completed_at=None, completed_by=None)
        make_claim(standard, self.owner, job=Job.VERIFIES)
        self._keep("standardizing", standard)
        self._keep("drafting", DraftingBatch.objects.create(made_by=self.lead))

    def _reviews(self) -> None:
        """A case that the owner reviews blind and whose question the judge approved; one the judge decides; a drawn
        sample."""
        open_one = make_case(make_standardized_sample(state=SampleState.IN_REVIEW, expert=self.judge))
        review = make_review(open_one, self.owner)
        self._keep("case", open_one, review=review.pk)
        self._keep("review", review)
        self._keep("reviewed", open_one.sample)
        self._keep("reviewed_candidate", open_one.sample.chosen)
        untouched = make_case(
            make_standardized_sample(state=SampleState.IN_REVIEW, annotator=self.owner, expert=self.judge)
        )
        self._keep("untouched", untouched, review=0)
        disputed = self._disputed()
        make_claim(disputed.sample, self.judge, job=Job.JUDGES)
        self._keep("disputed", disputed, review=disputed.reviews.get(seat=1).pk)
        self._keep("disputed_review", disputed.reviews.get(seat=2))
        sample = make_standardized_sample(state=SampleState.ACCEPTED, annotator=self.owner, expert=self.judge)
        make_case(sample, state=CaseState.ACCEPTED)
        audit = QualityAudit.objects.create(seed=1, size=1, drawn_by=self.lead)
        drawn = AuditedSample.objects.create(
            audit=audit, sample=sample, standardization=sample.standardizations.get(), position=1
        )
        self._keep("drawn", drawn)
        label = DifficultyLabel.objects.create(sample=sample, standardization=sample.standardizations.get())
        self._keep("label", label)
        self._keep("accepted", sample)

    def _disputed(self) -> ReviewCase:
        case = make_case(
            make_standardized_sample(state=SampleState.IN_ADJUDICATION, expert=self.judge), state=CaseState.DISPUTED
        )
        make_review(case, self.owner, seat=1, submitted=True, found_issue=True)
        make_review(case, make_annotator(), seat=2, submitted=True)
        return case

    def _rest(self) -> None:
        release = Release.objects.create(version="2026.1", state=ReleaseState.FAILED, made_by=self.lead)
        self._keep("release", release, version=release.version)
        self._keep("person", make_annotator("paul"))
        token, self.token_text = issue_token(person=self.owner, name="a", scope=Scope.WRITE, days=1, by=self.owner)
        self._keep("token", token)
        invitation, opens = invite(role=Role.ANNOTATOR, by=self.lead)
        self._keep("invitation", invitation, token=opens)
        link, opens = make_reset_link(person=make_annotator("rita"), by=self.lead)
        self._keep("reset", link, token=opens)
        self._keep("line", Event.objects.latest("id"))
        self.read_token = issue_token(person=self.lead, name="r", scope=Scope.READ, days=1, by=self.lead)[1]
