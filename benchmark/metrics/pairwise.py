"""Pairwise accuracy: how many pairs stand in the right order."""

from collections.abc import Sequence
from itertools import combinations


def pairwise_accuracy(reference: Sequence[str], predicted: Sequence[str]) -> float:
    """Pairs of reference elements in the right order, over all pairs of predicted lines.

    A line's place is its last. Superfluous lines cost, because they add pairs to the divisor; with fewer than two
    lines on either side the value is 0.0.
    """
    if len(reference) < 2 or len(predicted) < 2:
        return 0.0
    place = {line: index for index, line in enumerate(predicted)}
    found = [place[element] for element in reference if element in place]
    in_order = sum(earlier < later for earlier, later in combinations(found, 2))
    return in_order / (len(predicted) * (len(predicted) - 1) / 2)
