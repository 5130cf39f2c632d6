"""Agreement between raters, by the published formulas."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext_noop

NOTHING = gettext_noop("nothing to compare yet")
ALL_ALIKE = gettext_noop("not defined: every mark is the same")


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float | None:
    """Fleiss' kappa (1971). One row per subject: how many raters chose each category; every row has the same sum.

    None where it is not defined: no subject, fewer than two raters, or all ratings in one category (then agreement by
    chance is complete, and there is nothing to measure against).
    """
    table = np.asarray(counts, dtype=float)
    if table.size == 0:
        return None
    raters = table.sum(axis=1)
    if raters.min() != raters.max():
        raise ValueError("every subject must have the same number of ratings")
    n = raters[0]
    if n < 2:
        return None
    observed = ((table * (table - 1)).sum(axis=1) / (n * (n - 1))).mean()
    shares = table.sum(axis=0) / table.sum()
    by_chance = float((shares**2).sum())
    if np.isclose(by_chance, 1.0):
        return None
    return float((observed - by_chance) / (1 - by_chance))


# Two raters ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Agreement:
    """How far two raters agree on nominal marks. What is not defined is None, and `undefined` says why; `skewed`: one
    mark is so common that chance explains nearly all agreement, so that kappa says little (T-36)."""

    units: int
    raw: float | None
    kappa: float | None
    alpha: float | None
    interval: tuple[float, float] | None
    skewed: bool
    undefined: str


SKEWED = 0.9
RESAMPLES = 1000


def agreement_of(pairs: Sequence[tuple[str, str]], *, seed: int = 0) -> Agreement:
    """`pairs`: what the two said of each unit. The interval is the 95 % bootstrap percentile interval of the raw share,
    by resampling units; the same pairs and seed give the same one."""
    if not pairs:
        return Agreement(0, None, None, None, None, False, NOTHING)
    marks = sorted({mark for pair in pairs for mark in pair})
    counts = np.zeros((len(marks), len(marks)))
    for one, other in pairs:
        counts[marks.index(one), marks.index(other)] += 1
    same = np.array([one == other for one, other in pairs], dtype=float)
    draws = np.random.default_rng(seed).integers(0, len(same), size=(RESAMPLES, len(same)))
    low, high = np.percentile(same[draws].mean(axis=1), [2.5, 97.5])
    kappa, alpha = cohen_kappa(counts), krippendorff_alpha(counts)
    most = (counts.sum(axis=0) + counts.sum(axis=1)).max() / (2 * counts.sum())
    return Agreement(
        units=len(pairs),
        raw=float(same.mean()),
        kappa=kappa,
        alpha=alpha,
        interval=(float(low), float(high)),
        skewed=bool(most >= SKEWED),
        undefined=ALL_ALIKE if kappa is None or alpha is None else "",
    )


def cohen_kappa(counts: np.ndarray) -> float | None:
    """Cohen (1960), from the square table of both raters' marks. None when both used one and the same mark only."""
    total = counts.sum()
    by_chance = float((counts.sum(axis=0) * counts.sum(axis=1)).sum() / total**2)
    if np.isclose(by_chance, 1.0):
        return None
    return float((np.trace(counts) / total - by_chance) / (1 - by_chance))


def krippendorff_alpha(counts: np.ndarray) -> float | None:
    """Krippendorff's nominal alpha for two raters without gaps, from the same table. None when nothing varies."""
    coincidences = counts + counts.T
    n, each = coincidences.sum(), coincidences.sum(axis=0)
    expected = float(n**2 - (each**2).sum()) / (n - 1)
    if np.isclose(expected, 0.0):
        return None
    return float(1 - (n - np.trace(coincidences)) / expected)
