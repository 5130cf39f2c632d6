"""Where each sample comes from: source, models, people as pseudonyms, dates, edits, review rounds, audit scores.

Nothing that people wrote freely about their work (reasons, notes, feedback) goes into it, and no name or e-mail
address.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet

from annotation.models import Candidate, CandidateEdit, Challenge, Sample, Standardization, Submission
from annotation.workflow import AuditOutcome
from core.models import User
from generation.models import LanguageModel, RunCall
from release.formats import IMPORTED, without_emails
from release.models import DifficultyLabel, ImportedSample
from review.models import AnswerReview, QualityScore, ReviewCase
from review.workflow import ReviewState

FEW = 200


def moment(at: datetime | None) -> str | None:
    """UTC to the second: `2026-11-30T04:13:00Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at else None


@dataclass(frozen=True)
class Subject:
    """One sample with what is to be released of it."""

    sample: Sample
    standardization: Standardization
    label: DifficultyLabel


def provenance_of(subjects: Sequence[Subject]) -> dict[int, dict[str, Any]]:
    """By sample id. The number of queries grows with hundreds of samples, not with samples."""
    found: dict[int, dict[str, Any]] = {}
    for start in range(0, len(subjects), FEW):
        few = subjects[start : start + FEW]
        records = _Records([subject.sample for subject in few], [subject.label for subject in few])
        found |= {subject.sample.pk: records.of(subject) for subject in few}
    return found


class _Records:
    """Everything written about a few samples, read at once and kept by sample."""

    def __init__(self, samples: Sequence[Sample], labels: Sequence[DifficultyLabel]) -> None:
        ids = [sample.pk for sample in samples]
        self.pseudonyms: dict[int, str] = dict(User.objects.values_list("pk", "pseudonym"))
        self.submissions = _by(
            Submission.objects.filter(sample__in=ids)
            .exclude(outcome=AuditOutcome.WITHDRAWN)
            .order_by("sample", "number"),
            "sample_id",
        )
        self.edits = _by(
            CandidateEdit.objects.filter(candidate__sample__in=ids).order_by("candidate", "version"), "candidate_id"
        )
        self.challenges = _by(Challenge.objects.filter(candidate__sample__in=ids).order_by("pk"), "candidate_id")
        self.cases = _by(
            ReviewCase.objects.filter(sample__in=ids).select_related("adjudication").order_by("round"), "sample_id"
        )
        reviews = AnswerReview.objects.filter(case__sample__in=ids).exclude(state=ReviewState.RELEASED)
        self.reviews = _by(reviews.order_by("case", "seat"), "case_id")
        self.scores: dict[int, list[QualityScore]] = defaultdict(list)
        for score in QualityScore.objects.filter(audited__sample__in=ids).select_related("audited").order_by("pk"):
            self.scores[score.audited.sample_id].append(score)
        self.run_calls = self._run_calls(samples, labels)
        told = ImportedSample.objects.filter(sample__in=ids).select_related("release_import")
        self.imported: dict[int, ImportedSample] = {one.sample_id: one for one in told}
        self.drafted_by: dict[int, LanguageModel] = {
            candidate.sample_id: candidate.draft.call.model for candidate in _chosen(samples)
        }

    def _run_calls(self, samples: Sequence[Sample], labels: Sequence[DifficultyLabel]) -> dict[int, list[RunCall]]:
        runs = {sample.drafting_run_id for sample in samples} | {label.run_id for label in labels}
        runs |= {one.run_id for several in self.challenges.values() for one in several}
        runs |= {case.prediction_run_id for several in self.cases.values() for case in several}
        calls = RunCall.objects.filter(run__in=runs - {None}).select_related("run", "call__model").order_by("run", "pk")
        heavy = ("call__prompt", "call__raw", "call__reasoning", "run__prompt", "run__prompt_thinking")
        return _by(calls.defer(*heavy), "run_id")

    def person(self, id: int | None) -> str | None:
        return self.pseudonyms[id] if id else None

    def of(self, subject: Subject) -> dict[str, Any]:
        imported = self.imported.get(subject.sample.pk)
        return self._made_elsewhere(imported, subject) if imported else self._made_here(subject)

    def _made_elsewhere(self, imported: ImportedSample, subject: Subject) -> dict[str, Any]:
        """What the release told of it, from which release that was, and what was done here since."""
        told, here = imported.provenance, self._made_here(subject)
        origin = {
            "version": imported.release_import.version,
            "manifest_sha256": imported.release_import.manifest_sha256,
            "at": moment(imported.release_import.imported_at),
            "by": self.person(imported.release_import.imported_by_id),
        }
        row = {**told, "quality": [*told["quality"], *here["quality"]], IMPORTED: [*told.get(IMPORTED, []), origin]}
        if subject.label.run_id is None:
            return row
        return {
            **row,
            "models": [*told["models"], *here["models"]],
            "simulated": told["simulated"] or here["simulated"],
            "people": {**told["people"], "label_asked_by": here["people"]["label_asked_by"]},
            "dates": {**told["dates"], "labelled": here["dates"]["labelled"]},
            "difficulty": here["difficulty"],
        }

    def _made_here(self, subject: Subject) -> dict[str, Any]:
        sample, label = subject.sample, subject.label
        models = self._models(sample, label)
        return {
            "id": sample.public_id,
            "source": _source(sample),
            "strategy": sample.strategy,
            "simulated": any(model["simulated"] for model in models),
            "models": models,
            "question_model": self._question_model(sample),
            "people": self._people(subject),
            "dates": _dates(subject),
            "rounds": sample.round,
            "edits": self._edits(sample),
            "audits": [self._audit(one) for one in self.submissions[sample.pk]],
            "reviews": [self._case(case) for case in self.cases[sample.pk]],
            "difficulty": {
                "right": {str(tier): count for tier, count in label.right.items()},
                "runs_per_model": label.runs_per_model,
            },
            "quality": [self._quality(score) for score in self.scores[sample.pk]],
        }

    def _people(self, subject: Subject) -> dict[str, str | None]:
        version = subject.sample.document_version
        return {
            "document_imported_by": self.person(subject.sample.document.imported_by_id),
            "document_cleared_by": self.person(version.decided_by_id),
            "planned_by": self.person(subject.sample.created_by_id),
            "verified_by": self.person(subject.sample.annotator_id),
            "standardized_by": self.person(subject.standardization.completed_by_id),
            "label_asked_by": self.person(subject.label.asked_by_id),
        }

    def _models(self, sample: Sample, label: DifficultyLabel) -> list[dict[str, Any]]:
        """Each model once per purpose and prompt version, in the order of the stages."""
        runs = [sample.drafting_run_id, *(one.run_id for one in self._challenges(sample))]
        runs += [*(case.prediction_run_id for case in self.cases[sample.pk]), label.run_id]
        calls = [call for run in dict.fromkeys(run for run in runs if run) for call in self.run_calls[run]]
        counted: dict[tuple[str, str, str], dict[str, Any]] = {}
        for run_call in calls:
            call = run_call.call
            if not call.has_answer:
                continue
            row = counted.setdefault(
                (call.purpose, call.model.name, call.prompt_version),
                {
                    "purpose": call.purpose,
                    "model": call.model.name,
                    "simulated": call.model.is_simulated,
                    "prompt_version": call.prompt_version,
                    "thinking": call.thinking,
                    "answers": 0,
                },
            )
            row["answers"] += 1
        return list(counted.values())

    def _challenges(self, sample: Sample) -> list[Challenge]:
        return self.challenges[sample.chosen_id] if sample.chosen_id else []

    def _question_model(self, sample: Sample) -> dict[str, Any] | None:
        model = self.drafted_by.get(sample.pk)
        return {"model": model.name, "simulated": model.is_simulated} if model else None

    def _edits(self, sample: Sample) -> list[dict[str, Any]]:
        edits = self.edits[sample.chosen_id] if sample.chosen_id else []
        return [
            {
                "at": moment(edit.at),
                "by": self.person(edit.by_id),
                "fields": sorted(name for name in edit.after if edit.after[name] != edit.before.get(name)),
            }
            for edit in edits
        ]

    def _audit(self, submission: Submission) -> dict[str, Any]:
        return {
            "round": submission.round,
            "submitted_at": moment(submission.submitted_at),
            "submitted_by": self.person(submission.submitted_by_id),
            "outcome": submission.outcome,
            "audited_at": moment(submission.audited_at),
            "audited_by": self.person(submission.audited_by_id),
        }

    def _case(self, case: ReviewCase) -> dict[str, Any]:
        adjudication = getattr(case, "adjudication", None)
        return {
            "round": case.round,
            "outcome": case.state,
            "reviews": [self._review(review) for review in self.reviews[case.pk] if review.submitted_at],
            "adjudication": adjudication
            and {
                "at": moment(adjudication.decided_at),
                "by": self.person(adjudication.decided_by_id),
                "outcome": adjudication.outcome,
                "step": adjudication.step,
            },
        }

    def _review(self, review: AnswerReview) -> dict[str, Any]:
        return {
            "at": moment(review.submitted_at),
            "by": self.person(review.reviewer_id),
            "found_issue": review.found_issue,
            "reviewed_before": review.reviewed_before,
        }

    def _quality(self, score: QualityScore) -> dict[str, Any]:
        return {
            "at": moment(score.scored_at),
            "by": self.person(score.scorer_id),
            "scores": {name: one.get("score") for name, one in score.scores.items()},
            "attributes": score.attributes,
        }


def _chosen(samples: Sequence[Sample]) -> QuerySet[Candidate]:
    ids = [sample.chosen_id for sample in samples if sample.chosen_id]
    return Candidate.objects.filter(pk__in=ids).select_related("draft__call__model")


def _by(rows: Iterable[Any], name: str) -> dict[int, list[Any]]:
    grouped: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        grouped[getattr(row, name)].append(row)
    return grouped


def _source(sample: Sample) -> dict[str, Any]:
    document, version = sample.document, sample.document_version
    return {
        "title": without_emails(document.title),
        "url": without_emails(document.source_url),
        "licence": without_emails(document.licence),
        "domain": without_emails(document.domain),
        "format": without_emails(document.format),
        "several_documents": document.multi,
        "version": version.number,
        "origin": version.origin,
        "sha256": version.sha256,
        "tokens": version.tokens,
    }


def _dates(subject: Subject) -> Mapping[str, str | None]:
    sample = subject.sample
    return {
        "document_imported": moment(sample.document.imported_at),
        "document_cleared": moment(sample.document_version.decided_at),
        "planned": moment(sample.created_at),
        "standardized": moment(subject.standardization.completed_at),
        "accepted": moment(sample.state_since),
        "labelled": moment(subject.label.labelled_at),
    }
