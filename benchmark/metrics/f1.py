"""F1 over the sets of lines: order and repeats do not count."""

from collections.abc import Sequence


def f1(reference: Sequence[str], predicted: Sequence[str]) -> float:
    """Harmonic mean of precision and recall over distinct lines; 0.0 when nothing is common."""
    wanted, given = set(reference), set(predicted)
    common = len(wanted & given)
    if not common:
        return 0.0
    precision, recall = common / len(given), common / len(wanted)
    return 2 * precision * recall / (precision + recall)
