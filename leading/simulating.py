"""Simulated people, who take samples through every stage by the actions that real people use.

They judge like people who trust evidence: a draft whose quotes are not in the document, or whose answer breaks the
task's rule, is discarded. Everything is decided by the seed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import repeat
from random import Random

from django.db.models import Count

from annotation import actions as annotating
from annotation.models import Candidate, Claim, Sample, Submission
from annotation.queries import current_standardization
from annotation.workflow import (
    AT_THE_DESK,
    CandidateState,
    ReconstructionStep,
    SampleState,
    Verdict,
)
from benchmark.taxonomy import SECONDARY_TASKS, SecondaryTask, check_answer
from core.models import BenchmarkSettings, User
from core.refusals import Refused
from core.workflow import Role
from documents import actions as clearing
from documents.models import Document, DocumentVersion
from documents.tokenizing import count_tokens
from documents.workflow import Flag, VersionState
from generation.demo import standardized_parts
from generation.panels import ensure_panel
from generation.queries import results_of
from leading import demo, jobs
from leading.demo_texts import written_texts
from release import actions as releasing
from release.models import DifficultyLabel
from review import actions as reviewing
from review.models import ReviewCase
from review.queries import predicted_elements
from review.workflow import AdjudicationOutcome, CaseState

CHECKS_PER_TASK = 4
CHECKLIST = 7
SHARE_OF_ISSUES = 0.15
SHARE_OF_REJECTIONS = 0.15
MOST_TURNS = 60
MOST_TRIES = 12


class Stuck(RuntimeError):
    """A simulated sample did not arrive. The message names sample and state."""


@dataclass
class Simulation:
    """One run. `say` prints progress lines."""

    seed: int
    say: Callable[[str], None] = field(default=lambda line: None)
    chance: Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = Random(self.seed)  # noqa: S311 -- reproducible, not secret

    # People and documents -----------------------------------------------------------------------------
    def prepare(self) -> None:
        ensure_panel("demo")
        people = demo.ensure_people()
        demo.ensure_documents(by=people["lead"], cleared_by=people["annotator6"])

    def lead(self) -> User:
        return User.objects.filter(role=Role.LEAD, is_active=True).order_by("id")[0]

    def _unbound(self, sample: Sample, roles: list[str]) -> User:
        """Somebody of these roles who is nothing to the sample yet, the least busy first."""
        bound = sample.participations.values("person")
        people = User.objects.filter(role__in=roles, is_active=True).exclude(pk__in=bound)
        people = people.annotate(load=Count("participations")).order_by("load", "id")
        found = list(people[:3])
        if not found:
            raise Stuck(f"nobody is left to work on {sample.label}")
        return self.chance.choice(found)

    def pairs(self) -> Iterator[tuple[Document, SecondaryTask]]:
        """Pairs of an approved document and a task that are still free, in an order of the seed."""
        documents = list(
            Document.objects.filter(latest__state=VersionState.APPROVED).exclude(latest__bucket="").order_by("id")
        )
        pairs = [(document, task) for document in documents for task in SECONDARY_TASKS]
        self.chance.shuffle(pairs)
        # short documents first: a simulation shows every page, it does not measure patience
        pairs.sort(key=lambda pair: (pair[0].latest.tokens if pair[0].latest else 0) > 20_000)
        taken = set(Sample.objects.exclude(state=SampleState.EXHAUSTED).values_list("document", "task_code"))
        for document, task in pairs:
            if (document.pk, task.code) not in taken:
                yield document, task

    def new_sample(self, pairs: Iterator[tuple[Document, SecondaryTask]]) -> Sample:
        for document, task in pairs:
            try:
                return annotating.create_sample(document=document, task_code=task.code, by=self.lead())
            except Refused:
                continue
        raise Stuck("every pair of document and task is taken: import more documents")

    # Stage 2: verification ---------------------------------------------------------------------------
    def draft(self, sample: Sample) -> None:
        annotating.draft_sample(sample=sample, by=self.lead())
        jobs.work_off()
        sample.refresh_from_db()

    def annotator_of(self, sample: Sample) -> User:
        claim = Claim.objects.filter(sample=sample, ended_at=None).select_related("holder").first()
        if claim is not None:
            return claim.holder
        person = sample.annotator or self._unbound(sample, [Role.ANNOTATOR])
        annotating.claim_sample(sample=sample, by=person)
        return person

    def _looks_right(self, candidate: Candidate) -> bool:
        findings = check_answer(candidate.sample.task, candidate.answer)
        quotes = [step for step in candidate.draft.solution if step.get("quote")]
        missing = [step for step in quotes if step.get("kind") == "missing"]
        return not missing and not any(finding.is_error for finding in findings)

    def judge(self, candidate: Candidate, by: User) -> None:
        """Take one candidate through its open steps, to passed or discarded."""
        for _turn in range(MOST_TURNS):
            candidate.refresh_from_db()
            state = candidate.state
            version = candidate.version
            ticked = [True] * CHECKS_PER_TASK
            if state in {CandidateState.PASSED, CandidateState.DISCARDED}:
                return
            if state == CandidateState.READ:
                annotating.read_candidate(candidate=candidate, by=by)
            elif state == CandidateState.TASK_A:
                annotating.judge_task_a(
                    candidate=candidate, version=version, verdict=Verdict.COMPLIANT, checks=ticked, by=by
                )
            elif state == CandidateState.TASK_B and self._looks_right(candidate):
                annotating.judge_task_b(
                    candidate=candidate, version=version, verdict=Verdict.CORRECT, checks=ticked, by=by
                )
            elif state == CandidateState.TASK_B:
                reason = "A quoted passage is not in the document, or the answer breaks the task's rule."
                annotating.discard_candidate(candidate=candidate, reason=reason, by=by)
            else:
                self._judge_challenge(candidate, by)
        raise Stuck(f"candidate {candidate.pk} stays in {candidate.state}")

    def _judge_challenge(self, candidate: Candidate, by: User) -> None:
        challenge = annotating.challenge_candidate(candidate=candidate, version=candidate.version, by=by)
        jobs.work_off()
        answered = [result for result in results_of(challenge.run) if result.right is not None]
        if any(not result.right for result in answered):
            annotating.judge_task_c(
                candidate=candidate, version=candidate.version, verdict=Verdict.CHALLENGING, reason="", by=by
            )
        else:
            reason = "Every model answers it rightly: it is not challenging."
            annotating.discard_candidate(candidate=candidate, reason=reason, by=by)

    def verify(self, sample: Sample) -> None:
        """Judge candidates until one passes, choose it and submit."""
        by = self.annotator_of(sample)
        candidates = list(sample.candidates.exclude(state=CandidateState.DISCARDED))
        if sample.chosen_id is None:
            self.chance.shuffle(candidates)
        candidates.sort(key=lambda candidate: candidate.pk != sample.chosen_id)
        for candidate in candidates:
            self.judge(candidate, by)
            candidate.refresh_from_db()
            if candidate.state == CandidateState.PASSED:
                annotating.select_candidate(sample=sample, candidate=candidate, by=by)
                annotating.submit_sample(sample=sample, checklist=[True] * CHECKLIST, by=by)
                sample.refresh_from_db()
                return
        sample.refresh_from_db()
        if sample.state in AT_THE_DESK:
            annotating.exhaust_sample(sample=sample, by=by)
            sample.refresh_from_db()

    def audit(self, sample: Sample, *, rejected: bool | None = None) -> None:
        last = Submission.objects.filter(sample=sample).exclude(audited_by=None).order_by("-number").first()
        expert = last.audited_by if last and last.audited_by else self._judge_for(sample)
        annotating.claim_for_judging(sample=sample, by=expert)
        reject = self.chance.random() < SHARE_OF_REJECTIONS if rejected is None else rejected
        if reject and not (last and rejected is None):
            feedback = "Please check once more that every step of the solution rests on a quoted passage."
            annotating.reject_sample(sample=sample, feedback=feedback, by=expert)
        else:
            annotating.approve_sample(sample=sample, by=expert)
        sample.refresh_from_db()

    def _judge_for(self, sample: Sample) -> User:
        judges = sample.participations.filter(job="judges").select_related("person")
        first = judges.first()
        return first.person if first else self._unbound(sample, [Role.EXPERT])

    # Stage 3 -----------------------------------------------------------------------------------------
    def standardize(self, sample: Sample) -> None:
        by = self.annotator_of(sample)
        chosen = sample.chosen
        assert chosen is not None
        parts = standardized_parts(
            question=chosen.question,
            elements=chosen.elements,
            options=chosen.options,
            answer=chosen.answer,
            language=sample.language,
            task=sample.task_code,
        )
        draft = annotating.save_standardization(
            sample=sample,
            version=0,
            task_description=parts.task_description,
            elements=parts.elements,
            supplementary=parts.supplementary,
            example=list(parts.example),
            by=by,
        )
        annotating.complete_standardization(sample=sample, version=draft.version, by=by)
        sample.refresh_from_db()

    # Stage 4 -----------------------------------------------------------------------------------------
    def review(self, sample: Sample, *, seats: int = 2, issue: bool | None = None) -> None:
        case = ReviewCase.objects.filter(sample=sample, state=CaseState.OPEN).latest("id")
        for _seat in range(case.reviews.filter(state="submitted").count(), seats):
            reviewer = self._reviewer(sample)
            found = self.chance.random() < SHARE_OF_ISSUES if issue is None else issue
            self._review_once(case, reviewer, found=found)
            case.refresh_from_db()
        sample.refresh_from_db()

    def _reviewer(self, sample: Sample) -> User:
        try:
            return self._unbound(sample, [Role.ANNOTATOR])
        except Stuck:
            return self._unbound(sample, [Role.EXPERT])

    def _review_once(self, case: ReviewCase, reviewer: User, *, found: bool) -> None:
        review = reviewing.take_seat(case=case, by=reviewer)
        answer = case.standardization.answer
        marks = [{"mark": "correct", "note": ""} for _element in answer]
        recall = [{"element": row.element, "mark": "unreasonable", "note": ""} for row in predicted_elements(case)]
        issues = []
        if found:
            marks[-1] = {"mark": "unsure", "note": "The passage can be read both ways."}
            issues = [{"kind": "answer", "note": "The last element is not beyond doubt."}]
        review = reviewing.save_review(
            review=review, version=review.version, marks=marks, recall=recall, additions=[], issues=issues, by=reviewer
        )
        reviewing.submit_review(review=review, version=review.version, by=reviewer)

    def adjudicate(self, sample: Sample, *, step: str | None = None) -> None:
        case = ReviewCase.objects.filter(sample=sample, state=CaseState.DISPUTED).latest("id")
        expert = self._judge_for(sample)
        annotating.claim_for_judging(sample=sample, by=expert)
        if step is None and sample.round == 1 and self.chance.random() < 0.3:
            step = self.chance.choice([ReconstructionStep.QUESTION, ReconstructionStep.ANSWER])
        reviewing.adjudicate_case(
            case=case,
            outcome=AdjudicationOutcome.RECONSTRUCT if step else AdjudicationOutcome.NO_ISSUE,
            step=step or "",
            reason="The doubt about the last element has to be settled in the text."
            if step
            else "The passage is clear.",
            by=expert,
        )
        sample.refresh_from_db()

    # Stage 5 -----------------------------------------------------------------------------------------
    def label(self, sample: Sample) -> str:
        releasing.label_samples(samples=[sample], by=self.lead())
        jobs.work_off()
        standardization = current_standardization(sample)
        label = DifficultyLabel.objects.filter(standardization=standardization).first()
        return label.difficulty if label else ""

    # The whole way -----------------------------------------------------------------------------------
    def step(self, sample: Sample) -> None:
        """Do what the sample's state asks for next."""
        state = sample.state
        if state == SampleState.PLANNED:
            self.draft(sample)
        elif state in AT_THE_DESK:
            self.verify(sample)
        elif state == SampleState.IN_AUDIT:
            self.audit(sample)
        elif state == SampleState.IN_STANDARDIZATION:
            self.standardize(sample)
        elif state == SampleState.IN_REVIEW:
            self.review(sample)
        elif state == SampleState.IN_ADJUDICATION:
            self.adjudicate(sample)
        else:
            jobs.work_off()
            sample.refresh_from_db()

    def advance_to(self, sample: Sample, goal: str) -> bool:
        """Work on the sample until it is in `goal`. False when it ended as exhausted on the way."""
        for _turn in range(MOST_TURNS):
            if sample.state == goal:
                return True
            if sample.state == SampleState.EXHAUSTED:
                return False
            self.step(sample)
        raise Stuck(f"{sample.label} stays in {sample.state}")

    def accepted_and_labelled(self, pairs: Iterator[tuple[Document, SecondaryTask]]) -> Sample:
        """A new sample taken the whole way. An exhausted one is left as it is and the next pair is tried."""
        while True:
            sample = self.new_sample(pairs)
            if self.advance_to(sample, SampleState.ACCEPTED):
                difficulty = self.label(sample)
                if not difficulty:
                    raise Stuck(f"{sample.label} was accepted but got no difficulty")
                self.say(f"{sample.label} {sample.task_code} {sample.language} {sample.bucket}: {difficulty}")
                return sample

    def fill(self, samples: int) -> list[Sample]:
        """So many samples accepted and labelled over documents written for it, which all carry every task: twelve
        documents, 300 samples, fill every cell once. An exhausted pair is tried again; what is there already counts."""
        ensure_panel("demo")
        people = demo.ensure_people()
        made: list[Sample] = []
        for text in written_texts(BenchmarkSettings.load().lengths, count_tokens):
            if len(made) == samples:
                break
            document = demo.ensure_document(text, by=people["lead"])
            if document.latest is not None and document.latest.state == VersionState.PENDING:
                clearing.approve_version(version=document.latest, by=people["annotator6"], note="")
            there = {one.task_code: one for one in Sample.objects.filter(document=document, state=SampleState.ACCEPTED)}
            made += [
                there.get(task.code) or self.accepted_and_labelled(repeat((document, task), MOST_TRIES))
                for task in SECONDARY_TASKS[: samples - len(made)]
            ]
        return made

    def leave_at(self, state: str, pairs: Iterator[tuple[Document, SecondaryTask]]) -> None:
        """A sample that waits in this state for somebody."""
        while True:
            sample = self.new_sample(pairs)
            if self._reach(sample, state):
                self.say(f"{sample.label} is left {sample.get_state_display()}")
                return

    def _reach(self, sample: Sample, state: str) -> bool:
        if state == SampleState.PLANNED:
            return True
        if state == SampleState.DRAFTING:
            annotating.draft_sample(sample=sample, by=self.lead())
            return True
        if state == SampleState.EXHAUSTED:
            self.advance_to(sample, SampleState.IN_VERIFICATION)
            by = self.annotator_of(sample)
            for candidate in sample.candidates.all():
                annotating.discard_candidate(candidate=candidate, reason="Too easy for any model.", by=by)
            return True
        if state == SampleState.RETURNED:
            if not self.advance_to(sample, SampleState.IN_AUDIT):
                return False
            self.audit(sample, rejected=True)
            return True
        if state in {SampleState.IN_ADJUDICATION, SampleState.AWAITING_DOCUMENT}:
            if not self.advance_to(sample, SampleState.IN_REVIEW):
                return False
            self.review(sample, issue=True)
            if state == SampleState.AWAITING_DOCUMENT:
                self.adjudicate(sample, step=ReconstructionStep.DOCUMENT)
            return True
        if not self.advance_to(sample, state):
            return False
        if state == SampleState.IN_REVIEW:
            self.review(sample, seats=1)
        return True

    def leave_documents(self) -> None:
        """One document whose compliance was refused, and what the demo leaves to clear."""
        pending = DocumentVersion.objects.filter(state=VersionState.PENDING).order_by("id")
        if pending.count() > 1 and not DocumentVersion.objects.filter(state=VersionState.REJECTED).exists():
            by = User.objects.filter(role=Role.ANNOTATOR, is_active=True).order_by("id")[0]
            clearing.reject_version(
                version=pending[0], flags=[Flag.COPYRIGHT], note="The licence of this copy is not clear.", by=by
            )

    def run(self, samples: int) -> list[Sample]:
        """`samples` samples accepted and labelled, and one left at every other stage."""
        self.prepare()
        pairs = self.pairs()
        made = [self.accepted_and_labelled(pairs) for _number in range(samples)]
        for state in (
            SampleState.IN_VERIFICATION,
            SampleState.RETURNED,
            SampleState.IN_AUDIT,
            SampleState.IN_STANDARDIZATION,
            SampleState.IN_REVIEW,
            SampleState.IN_ADJUDICATION,
            SampleState.AWAITING_DOCUMENT,
            SampleState.EXHAUSTED,
            SampleState.PLANNED,
            SampleState.DRAFTING,
        ):
            self.leave_at(state, pairs)
        self.leave_documents()
        return made
