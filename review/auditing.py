"""What the three experts' scores say, over the fully scored samples of a draw. Nothing else is counted, so that the
figures tell nobody anything of scores that are still blind."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from generation.queries import results_of
from review.agreement import fleiss_kappa
from review.models import AuditedSample, QualityAudit
from review.queries import fully_scored
from review.workflow import Dimension

DIFFICULTY = "difficulty"
PANEL = 5
SCALE = (0, 0.5, 1)
ATTRIBUTE_WORDS: dict[str, Promise] = {
    "language": _("language"),
    "length": _("length"),
    "task": _("task"),
    "context_requirement": _("context requirement"),
    "answer": _("answer"),
}


@dataclass(frozen=True)
class DimensionResult:
    dimension: str
    label: Any
    mean: float | None
    deviation: float | None
    kappa: float | None
    samples: int
    computed: bool = False


@dataclass(frozen=True)
class AttributeResult:
    attribute: str
    label: Any
    right: int
    asked: int


@dataclass(frozen=True)
class SampleResult:
    audited: AuditedSample
    means: dict[str, float]
    difficulty: float | None

    @property
    def overall(self) -> float:
        return float(np.mean(list(self.means.values())))


@dataclass(frozen=True)
class AuditResults:
    audit: QualityAudit
    drawn: int
    scored: int
    rows: list[DimensionResult]
    attributes: list[AttributeResult]
    worst: list[SampleResult]


def difficulty_score(rights: Sequence[bool]) -> float | None:
    """Of five models: at most one right gives 1, two or three 0.5, four or five 0. None until five have answered."""
    if len(rights) != PANEL:
        return None
    right = sum(rights)
    return 1.0 if right <= 1 else 0.5 if right <= 3 else 0.0


def difficulty_of(audited: AuditedSample) -> float | None:
    case = getattr(audited.standardization, "case", None)
    if case is None or case.prediction_run is None:
        return None
    return difficulty_score(
        [bool(result.right) for result in results_of(case.prediction_run) if result.call.has_answer]
    )


def results(audit: QualityAudit) -> AuditResults:
    scored = list(fully_scored().filter(audit=audit).prefetch_related("scores").order_by("position"))
    samples = [
        SampleResult(audited, {name: _mean(audited, name) for name in Dimension.values}, difficulty_of(audited))
        for audited in scored
    ]
    return AuditResults(
        audit=audit,
        drawn=audit.samples.count(),
        scored=len(scored),
        rows=[*(_row(name, scored, samples) for name in Dimension.values), _difficulty_row(samples)],
        attributes=[_attribute(name, scored) for name in ATTRIBUTE_WORDS],
        worst=sorted(samples, key=lambda sample: (sample.overall, sample.audited.position))[:10],
    )


def _given(audited: AuditedSample, dimension: str) -> list[float]:
    return [score.scores[dimension]["score"] for score in audited.scores.all()]


def _mean(audited: AuditedSample, dimension: str) -> float:
    return float(np.mean(_given(audited, dimension)))


def _row(dimension: str, scored: list[AuditedSample], samples: list[SampleResult]) -> DimensionResult:
    means = [sample.means[dimension] for sample in samples]
    counts = [[_given(audited, dimension).count(value) for value in SCALE] for audited in scored]
    return DimensionResult(
        dimension=dimension,
        label=Dimension(dimension).label,
        mean=float(np.mean(means)) if means else None,
        deviation=float(np.std(means)) if means else None,
        kappa=fleiss_kappa(counts),
        samples=len(means),
    )


def _difficulty_row(samples: list[SampleResult]) -> DimensionResult:
    known = [sample.difficulty for sample in samples if sample.difficulty is not None]
    return DimensionResult(
        dimension=DIFFICULTY,
        label=_("difficulty"),
        mean=float(np.mean(known)) if known else None,
        deviation=float(np.std(known)) if known else None,
        kappa=None,
        samples=len(known),
        computed=True,
    )


def _attribute(name: str, scored: list[AuditedSample]) -> AttributeResult:
    checks = [score.attributes[name] for audited in scored for score in audited.scores.all()]
    return AttributeResult(name, ATTRIBUTE_WORDS[name], sum(checks), len(checks))
