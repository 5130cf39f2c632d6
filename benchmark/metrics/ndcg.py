"""NDCG@k as trec_eval's ndcg_cut_k defines it, k being the number of reference elements."""

from collections.abc import Iterable, Sequence
from math import log2


def ndcg(reference: Sequence[str], predicted: Sequence[str]) -> float:
    """Discounted gain of the predicted order over that of the best order.

    The i-th of k reference elements gains k - i (a repeated one keeps its last gain), any other line nothing. A line
    that is predicted twice stands at its last place. 0.0 without a reference.
    """
    k = len(reference)
    gains = {element: k - index for index, element in enumerate(reference)}
    ranked = dict.fromkeys(reversed(predicted))
    order = reversed(list(ranked))
    ideal = _discounted(sorted(gains.values(), reverse=True)[:k])
    if not ideal:
        return 0.0
    return _discounted([gains.get(line, 0) for line in order][:k]) / ideal


def _discounted(gains: Iterable[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))
