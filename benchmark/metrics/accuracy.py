"""Accuracy: the first line is the answer, or it is not."""

from collections.abc import Sequence


def accuracy(reference: Sequence[str], predicted: Sequence[str]) -> float:
    """1.0 if the first predicted line equals the first reference element, else 0.0. Lines in comparable form."""
    return float(bool(reference) and bool(predicted) and predicted[0] == reference[0])
