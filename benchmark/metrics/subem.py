"""SubEM: how much of the reference was said, whatever else was said."""

from collections.abc import Sequence


def subem(reference: Sequence[str], predicted: Sequence[str]) -> float:
    """The share of reference elements that occur among the predicted lines; 0.0 without a reference."""
    if not reference:
        return 0.0
    given = set(predicted)
    return sum(element in given for element in reference) / len(reference)
