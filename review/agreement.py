"""Agreement between raters, by the published formulas."""

from collections.abc import Hashable, Sequence
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


def fleiss_interval(counts: Sequence[Sequence[int]], *, seed: int = 0) -> "Interval | None":
    """The 95 % bootstrap percentile interval of `fleiss_kappa`, subjects drawn again. None where no draw has one."""
    table = np.asarray(counts, dtype=float)
    if table.size == 0 or table[0].sum() < 2:
        return None
    subjects, n = len(table), table[0].sum()
    drawn = table[np.random.default_rng(seed).integers(subjects, size=(RESAMPLES, subjects))]
    observed = ((drawn * (drawn - 1)).sum(axis=2) / (n * (n - 1))).mean(axis=1)
    by_chance = ((drawn.sum(axis=1) / (subjects * n)) ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _interval(np.where(np.isclose(by_chance, 1.0), np.nan, (observed - by_chance) / (1 - by_chance)))


# Two raters ------------------------------------------------------------------------------------------------------

Interval = tuple[float, float]


@dataclass(frozen=True)
class Agreement:
    """How far two raters agree on nominal marks. What is not defined is None, and `undefined` says why; `skewed`: one
    mark is so common (`share` of all marks) that chance explains nearly all agreement, so that kappa says little
    (T-36). Intervals are 95 % bootstrap percentile intervals."""

    units: int
    raw: float | None = None
    kappa: float | None = None
    alpha: float | None = None
    interval: Interval | None = None
    kappa_interval: Interval | None = None
    alpha_interval: Interval | None = None
    share: float = 0.0
    undefined: str = ""

    @property
    def skewed(self) -> bool:
        return self.share >= SKEWED

    @property
    def percent(self) -> int:
        """`share` in per cent, never more than it is."""
        return int(self.share * 100)


SKEWED = 0.9
RESAMPLES = 1000


def agreement_of(pairs: Sequence[tuple[str, str]], *, of: Sequence[Hashable] = (), seed: int = 0) -> Agreement:
    """`pairs`: what the two said of each unit. `of`: what each unit belongs to, a sample say; whole samples are drawn
    again, since what is said of one sample hangs together. Without it each unit is drawn by itself. The same pairs and
    seed give the same intervals."""
    if not pairs:
        return Agreement(0, undefined=NOTHING)
    tables = _tables(pairs, of or range(len(pairs)))
    whole = tables.sum(axis=0)
    raw, kappa, alpha = (_known(values[0]) for values in _measures(whole[np.newaxis]))
    low_high = [_interval(values) for values in _measures(_drawn_again(tables, seed))]
    each = whole.sum(axis=0) + whole.sum(axis=1)
    return Agreement(
        len(pairs),
        raw,
        kappa,
        alpha,
        low_high[0],
        low_high[1] if kappa is not None else None,
        low_high[2] if alpha is not None else None,
        share=float(each.max() / each.sum()),
        undefined=ALL_ALIKE if kappa is None or alpha is None else "",
    )


def _tables(pairs: Sequence[tuple[str, str]], of: Sequence[Hashable]) -> np.ndarray:
    """How often each pair of marks was given: one square table for each thing that units belong to."""
    marks = {mark: place for place, mark in enumerate(sorted({mark for pair in pairs for mark in pair}))}
    things = {thing: place for place, thing in enumerate(dict.fromkeys(of))}
    tables = np.zeros((len(things), len(marks), len(marks)))
    for (one, other), thing in zip(pairs, of, strict=True):
        tables[things[thing], marks[one], marks[other]] += 1
    return tables


def _drawn_again(tables: np.ndarray, seed: int) -> np.ndarray:
    count, marks, _marks = tables.shape
    times = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    return (times @ tables.reshape(count, -1)).reshape(RESAMPLES, marks, marks)


def _measures(tables: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Raw agreement, Cohen's kappa (1960) and Krippendorff's nominal alpha for two raters without gaps, of each table.
    NaN where a measure is not defined: nothing was marked, or every mark is the same."""
    total = tables.sum(axis=(1, 2))
    same = np.trace(tables, axis1=1, axis2=2)
    one, other = tables.sum(axis=2), tables.sum(axis=1)
    each = one + other
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = same / total
        by_chance = (one * other).sum(axis=1) / total**2
        varies = ~np.isclose((each**2).sum(axis=1), (2 * total) ** 2)
        kappa = np.where(varies, (raw - by_chance) / (1 - by_chance), np.nan)
        expected = ((2 * total) ** 2 - (each**2).sum(axis=1)) / (2 * total - 1)
        alpha = np.where(varies, 1 - 2 * (total - same) / expected, np.nan)
    return raw, kappa, alpha


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _interval(values: np.ndarray) -> Interval | None:
    """Without the draws in which the measure is not defined."""
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)
