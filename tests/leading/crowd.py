"""A benchmark in full swing: 1,500 samples in every state, their candidates, calls, submissions, reviews and times.
Made in bulk, for measuring and for looking at the pages; texts are a line each."""

import gzip
import hashlib
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from django.db.models import Model
from django.utils import timezone

from annotation.models import ActiveTime, Candidate, Sample, Standardization, Submission
from annotation.workflow import CandidateState, SampleState, TimedStep
from benchmark.taxonomy import SECONDARY_TASKS, Language
from core.models import BenchmarkSettings
from core.workflow import Role
from documents.models import Document, DocumentText, DocumentVersion
from documents.workflow import VersionState
from generation.models import Call, Draft, LanguageModel, Run, RunCall
from generation.workflow import CallState, Purpose, RunState
from leading.queries import STAGE_ORDER
from review.models import Adjudication, AnswerReview, ReviewCase
from review.workflow import AdjudicationOutcome, CaseState, ReviewState
from tests.factories import make_model, make_person

DOMAINS = ("law", "medicine", "news", "science", "literature")
FORMATS = ("report", "table", "book", "dialogue")
# Of a hundred samples, how many are in each state.
SHARES = {"accepted": 58, "exhausted": 4, "planned": 4, "in_verification": 10, "in_review": 6}
BEYOND_DRAFTS = STAGE_ORDER[2:]
AUDITED = STAGE_ORDER[5:11]

Row = TypeVar("Row", bound=Model)


def _bulk(kind: type[Row], rows: Iterator[Row]) -> list[Row]:
    return kind._default_manager.bulk_create(rows, batch_size=2000)


class Crowd:
    """`samples` over `documents`; `calls` in all, those of the drafts among them."""

    def __init__(self, *, samples: int = 1500, documents: int = 420, calls: int = 100_000, seed: int = 1) -> None:
        self.chance = random.Random(seed)
        self.now = timezone.now()
        self.people = [make_person(Role.ANNOTATOR) for _number in range(48)]
        self.experts = [make_person(Role.EXPERT) for _number in range(12)]
        self.models = [make_model(f"Model {letter}") for letter in "ABCDE"]
        self.buckets = BenchmarkSettings.load().lengths.names()
        self.versions = self._documents(documents)
        self.samples = self._samples(samples)
        self.drafted = [sample for sample in self.samples if sample.state in BEYOND_DRAFTS]
        self._drafts()
        self._judged()
        self._more_calls(calls)

    def ago(self, days: float) -> datetime:
        return self.now - timedelta(days=self.chance.random() * days)

    def _documents(self, count: int) -> list[DocumentVersion]:
        kinds = [(language, bucket) for language in Language for bucket in self.buckets]
        rows = _bulk(
            Document,
            (
                Document(
                    title=f"Volume {number}",
                    language=kinds[number % len(kinds)][0],
                    domain=self.chance.choice(DOMAINS),
                    format=self.chance.choice(FORMATS),
                    licence="CC0",
                )
                for number in range(count)
            ),
        )
        versions = _bulk(
            DocumentVersion, (self._version(row, kinds[at % len(kinds)][1]) for at, row in enumerate(rows))
        )
        texts = (
            DocumentText(version=one, text=f"Volume {one.pk}.", gzipped=gzip.compress(b"Volume.", mtime=0))
            for one in versions
        )
        _bulk(DocumentText, texts)
        for row, version in zip(rows, versions, strict=True):
            row.latest = version
        Document.objects.bulk_update(rows, ["latest"], batch_size=500)
        return versions

    def _version(self, document: Document, bucket: str) -> DocumentVersion:
        rejected = self.chance.random() < 0.04
        return DocumentVersion(
            document=document,
            state=VersionState.REJECTED if rejected else VersionState.APPROVED,
            sha256=hashlib.sha256(f"volume {document.pk}".encode()).hexdigest(),
            chars=10,
            bytes=10,
            tokens=int(bucket[:-1]) * 1024,
            tokenizer="made up",
            bucket=bucket,
            decided_by=self.chance.choice(self.people),
            decided_at=self.ago(40),
        )

    def _samples(self, count: int) -> list[Sample]:
        pairs = [(version, task.code) for version in self.versions for task in SECONDARY_TASKS]
        chosen = self.chance.sample(pairs, count)
        rest = [state for state in STAGE_ORDER if state not in SHARES]
        states = [state for state, share in SHARES.items() for _each in range(share)]
        states += [rest[at % len(rest)] for at in range(100 - len(states))]
        return _bulk(
            Sample,
            (
                Sample(
                    document_id=version.document_id,
                    document_version=version,
                    task_code=task,
                    state=(state := self.chance.choice(states)),
                    state_since=self.ago(60 if state == SampleState.ACCEPTED else 14),
                    annotator=self.chance.choice(self.people),
                )
                for version, task in chosen
            ),
        )

    def _call(self, model: LanguageModel, purpose: str, version: DocumentVersion, at: int) -> Call:
        return Call(
            key=hashlib.sha256(f"{purpose} {at} {model.pk}".encode()).hexdigest(),
            purpose=purpose,
            model=model,
            document_version=version,
            state=CallState.SUCCEEDED,
            prompt="a prompt " * 20,
            prompt_version="test-1",
            prompt_sha256="0" * 64,
            raw="an answer " * 40,
            tokens_in=9000,
            tokens_out=300,
            cost_usd=Decimal("0.0123"),
            expected_usd=Decimal("0.0120"),
            paid_attempts=1,
            sent_at=self.ago(50),
            answered_at=self.now,
        )

    def _drafts(self) -> None:
        runs = _bulk(Run, (self._run(sample) for sample in self.drafted))
        for sample, run in zip(self.drafted, runs, strict=True):
            sample.drafting_run = run
        asked = [(sample, run, model) for sample, run in zip(self.drafted, runs, strict=True) for model in self.models]
        calls = _bulk(
            Call,
            (self._call(model, Purpose.DRAFTING, sample.document_version, sample.pk) for sample, _run, model in asked),
        )
        _bulk(RunCall, (RunCall(run=run, call=call) for (_sample, run, _model), call in zip(asked, calls, strict=True)))
        given = [(asked[at][0], call, place) for at, call in enumerate(calls) for place in (1, 2, 3)]
        drafts = _bulk(Draft, (self._draft(call, place) for _sample, call, place in given))
        places = {sample.pk: 0 for sample in self.drafted}
        self.candidates: dict[int, list[Candidate]] = {sample.pk: [] for sample in self.drafted}
        made = []
        for (sample, _call, _place), draft in zip(given, drafts, strict=True):
            places[sample.pk] += 1
            made.append(self._candidate(sample, draft, places[sample.pk]))
        for candidate in _bulk(Candidate, iter(made)):
            self.candidates[candidate.sample_id].append(candidate)
        for sample in self.drafted:
            if sample.state not in {SampleState.IN_VERIFICATION, SampleState.EXHAUSTED}:
                sample.chosen = self.chance.choice(self.candidates[sample.pk][:: self.chance.choice((1, 1, 4))])
        Sample.objects.bulk_update(self.drafted, ["drafting_run", "chosen"], batch_size=300)

    def _run(self, sample: Sample) -> Run:
        return Run(
            purpose=Purpose.DRAFTING,
            state=RunState.FINISHED,
            document_version=sample.document_version,
            language=Language.ENGLISH,
            task_code=sample.task_code,
            prompt="a prompt",
            prompt_version="test-1",
            prompt_sha256="0" * 64,
        )

    def _draft(self, call: Call, place: int) -> Draft:
        words: dict[str, Any] = {"question": "Which?", "elements": "the ships", "answer": ["Heron"], "rationale": "So."}
        return Draft(call=call, position=place, solution=[], **words)

    def _candidate(self, sample: Sample, draft: Draft, place: int) -> Candidate:
        state = self.chance.choice([CandidateState.DISCARDED, CandidateState.DISCARDED, CandidateState.PASSED])
        words: dict[str, Any] = {"question": "Which?", "elements": "the ships", "answer": ["Heron"]}
        return Candidate(sample=sample, draft=draft, position=place, state=state, **words)

    def _judged(self) -> None:
        chosen = [sample for sample in self.drafted if sample.chosen is not None]
        submissions, standards, times = [], [], []
        for sample in chosen:
            rounds = ["rejected"] * (self.chance.random() < 0.25) + ["approved"] * (sample.state in AUDITED)
            for number, outcome in enumerate(rounds, start=1):
                submissions.append(self._submission(sample, number, outcome))
            if sample.state in AUDITED[1:]:
                standards.append(self._standard(sample))
            for step in TimedStep:
                seconds = 30 + self.chance.random() * 60 * (1 + self.buckets.index(self._bucket(sample)))
                times.append(ActiveTime(sample=sample, person=sample.annotator, step=step, seconds=seconds))
        _bulk(Submission, iter(submissions))
        _bulk(ActiveTime, iter(times))
        cases = _bulk(ReviewCase, (self._case(one) for one in _bulk(Standardization, iter(standards))))
        _bulk(AnswerReview, (review for case in cases for review in self._reviews(case)))
        _bulk(Adjudication, (self._decision(case) for case in cases if case.state == CaseState.ADJUDICATED))

    def _bucket(self, sample: Sample) -> str:
        return sample.document_version.bucket

    def _submission(self, sample: Sample, number: int, outcome: str) -> Submission:
        assert sample.chosen is not None
        return Submission(
            sample=sample,
            number=number,
            candidate=sample.chosen,
            candidate_version=1,
            question="Which?",
            elements="the ships",
            answer=["Heron"],
            checklist=[True] * 7,
            submitted_by=sample.annotator,
            submitted_at=self.ago(50),
            outcome=outcome,
            audited_at=self.ago(40),
            audited_by=self.chance.choice(self.experts),
        )

    def _standard(self, sample: Sample) -> Standardization:
        by = sample.annotator
        return Standardization(
            sample=sample,
            number=1,
            document_version=sample.document_version,
            language=Language.ENGLISH,
            task_description="Which ships paid?",
            elements="the ships",
            answer=["Heron"],
            saved_by=by,
            completed_at=self.ago(35),
            completed_by=by,
        )

    def _case(self, standard: Standardization) -> ReviewCase:
        ended = standard.sample.state == SampleState.ACCEPTED
        state = self.chance.choice([CaseState.ACCEPTED] * 4 + [CaseState.ADJUDICATED]) if ended else CaseState.OPEN
        return ReviewCase(sample=standard.sample, round=1, standardization=standard, state=state, opened_at=self.now)

    def _reviews(self, case: ReviewCase) -> Iterator[AnswerReview]:
        if case.state == CaseState.OPEN:
            return
        for seat, reviewer in enumerate(self.chance.sample(self.people, 2), start=1):
            yield AnswerReview(
                case=case,
                seat=seat,
                reviewer=reviewer,
                state=ReviewState.SUBMITTED,
                submitted_at=self.ago(30),
                found_issue=False,
            )

    def _decision(self, case: ReviewCase) -> Adjudication:
        again = self.chance.random() < 0.4
        return Adjudication(
            case=case,
            outcome=AdjudicationOutcome.RECONSTRUCT if again else AdjudicationOutcome.NO_ISSUE,
            step="answer" if again else "",
            reason="The last element is in doubt." if again else "",
            decided_at=self.ago(25),
            decided_by=self.chance.choice(self.experts),
        )

    def _more_calls(self, calls: int) -> None:
        there = Call.objects.count()
        purposes = [Purpose.CHALLENGE] * 5 + [Purpose.PREDICTION] * 2 + [Purpose.DIFFICULTY] * 5
        _bulk(
            Call,
            (
                self._call(
                    self.chance.choice(self.models),
                    self.chance.choice(purposes),
                    self.chance.choice(self.versions),
                    at,
                )
                for at in range(there, calls)
            ),
        )
