"""What the three experts' scores say, over the fully scored samples of a draw. Nothing else is counted, so that the
figures tell nobody anything of scores that are still blind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Count
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from generation.models import RunCall
from generation.queries import ANSWERED
from review.agreement import Interval, fleiss_interval, fleiss_kappa
from review.models import AuditedSample, QualityAudit, QualityScore
from review.queries import fully_scored, standing_in
from review.workflow import Dimension

DIFFICULTY = "difficulty"
PANEL = 5
PEOPLE = 3
LOWEST = 10
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
    interval: Interval | None = None


@dataclass(frozen=True)
class AttributeResult:
    attribute: str
    label: Any
    right: int
    asked: int

    @property
    def share(self) -> float | None:
        return self.right / self.asked if self.asked else None

    @property
    def percent(self) -> str:
        """Never more than it is: 299 of 300 are not all."""
        return f"{int(1000 * self.right / self.asked) / 10:.1f}" if self.asked else ""


@dataclass(frozen=True)
class SampleResult:
    """One sample's means over its three experts. `overall_without`: what the overall score of the draw would be
    without it."""

    audited: AuditedSample
    means: dict[str, float]
    difficulty: float | None
    overall_without: float | None = None

    @property
    def overall(self) -> float:
        """Over the five dimensions; over four while five models have not answered."""
        known = [] if self.difficulty is None else [self.difficulty]
        return float(np.mean([*self.means.values(), *known]))


@dataclass(frozen=True)
class AuditResults:
    audit: QualityAudit
    drawn: int
    scored: int
    rows: list[DimensionResult]
    attributes: list[AttributeResult]
    samples: list[SampleResult]
    replaced: int = 0

    @property
    def overall(self) -> float | None:
        return float(np.mean([sample.overall for sample in self.samples])) if self.samples else None

    @property
    def deviation(self) -> float | None:
        return float(np.std([sample.overall for sample in self.samples])) if self.samples else None

    @property
    def worst(self) -> list[SampleResult]:
        return sorted(self.samples, key=lambda sample: (sample.overall, sample.audited.position))[:LOWEST]


def difficulty_score(rights: Sequence[bool]) -> float | None:
    """Of five models: at most one right gives 1, two or three 0.5, four or five 0. None until five have answered."""
    if len(rights) != PANEL:
        return None
    right = sum(rights)
    return 1.0 if right <= 1 else 0.5 if right <= 3 else 0.0


def _difficulties(scored: Sequence[AuditedSample]) -> dict[int, float | None]:
    """By drawn sample, from the five predictions of its review; in one query."""
    runs = {audited.pk: _prediction_run(audited) for audited in scored}
    rights: dict[int, list[bool]] = {}
    answered = RunCall.objects.filter(run__in=set(runs.values()) - {None}, call__state__in=ANSWERED)
    for run, right in answered.values_list("run_id", "right"):
        rights.setdefault(run, []).append(bool(right))
    return {pk: difficulty_score(rights.get(run, [])) if run else None for pk, run in runs.items()}


def _prediction_run(audited: AuditedSample) -> int | None:
    case = getattr(audited.standardization, "case", None)
    return None if case is None else case.prediction_run_id


def results(audit: QualityAudit) -> AuditResults:
    scored = list(fully_scored().filter(audit=audit).prefetch_related("scores").order_by("position"))
    difficulties = _difficulties(scored)
    samples = [
        SampleResult(audited, {name: _mean(audited, name) for name in Dimension.values}, difficulties[audited.pk])
        for audited in scored
    ]
    return AuditResults(
        audit=audit,
        drawn=standing_in(audit).count(),
        scored=len(scored),
        rows=[*(_row(name, scored, samples) for name in Dimension.values), _difficulty_row(samples)],
        attributes=[_attribute(name, scored) for name in ATTRIBUTE_WORDS],
        samples=_with_effects(samples),
        replaced=audit.samples.exclude(replaced_at=None).count(),
    )


def _with_effects(samples: list[SampleResult]) -> list[SampleResult]:
    if len(samples) < 2:
        return samples
    total, count = sum(sample.overall for sample in samples), len(samples)
    return [replace(sample, overall_without=(total - sample.overall) / (count - 1)) for sample in samples]


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
        interval=fleiss_interval(counts),
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


# --- as lists --------------------------------------------------------------------------------------------------------

HEAD = ("sample", "id", "secondary_task", "language", "token_length", "position", "expert", "replaced")


def score_lines(audit: QualityAudit) -> tuple[list[str], Iterator[list[Any]]]:
    """Every score of the draw that all may know: of samples with all three, replaced ones said. People by pseudonym."""
    names = [*Dimension.values, *(f"{name}_why" for name in Dimension.values), *ATTRIBUTE_WORDS]
    rows = QualityScore.objects.filter(audited__audit=audit).select_related(
        "scorer", "audited__sample__document", "audited__sample__document_version"
    )
    counted = rows.alias(given=Count("audited__scores")).filter(given=PEOPLE).order_by("audited__position", "seat")
    return [*HEAD, *names], (_score_cells(score) for score in counted)


def _score_cells(score: QualityScore) -> list[Any]:
    audited = score.audited
    sample = audited.sample
    return [
        sample.label,
        sample.public_id,
        sample.task.name,
        sample.language.value,
        sample.bucket,
        audited.position,
        score.scorer.pseudonym,
        "yes" if audited.replaced_at else "no",
        *(score.scores[name]["score"] for name in Dimension.values),
        *(score.scores[name]["why"] for name in Dimension.values),
        *("right" if score.attributes[name] else "wrong" for name in ATTRIBUTE_WORDS),
    ]


def result_lines(found: AuditResults) -> tuple[list[str], Iterator[list[Any]]]:
    """The table of the page, and beneath it the attributes; a share stands under `mean`."""
    head = ["measure", "mean", "standard_deviation", "fleiss_kappa", "kappa_low", "kappa_high", "samples"]
    rows: list[list[Any]] = [["overall", _cell(found.overall), _cell(found.deviation), "", "", "", len(found.samples)]]
    for row in found.rows:
        low, high = row.interval if row.interval and row.kappa is not None else (None, None)
        known = (row.mean, row.deviation, row.kappa, low, high)
        rows.append([row.dimension, *map(_cell, known), row.samples])
    rows += [[f"{one.attribute} right", _cell(one.share), "", "", "", "", one.asked] for one in found.attributes]
    return head, iter(rows)


def _cell(value: float | None) -> Any:
    return "" if value is None else round(value, 6)
