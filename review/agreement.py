"""Agreement between raters, by the published formulas."""

from collections.abc import Sequence

import numpy as np


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
