"""Length buckets: which target a document's token count belongs to.

A document belongs to a bucket when its count differs from the target by no more than the tolerance, both ends
included. All comparisons are between integers, so a count exactly on the edge never depends on rounding.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Distance:
    """How far a token count is from a bucket: `tokens` to add (positive), to remove (negative), 0 when inside."""

    bucket: str
    tokens: int


@dataclass(frozen=True)
class Lengths:
    """The buckets of one benchmark.

    `targets` are counted in `unit` tokens (8 with a unit of 1,024 is 8,192 tokens), ascending.
    `tolerance_percent` is the allowed difference in per cent of the target, 0 to 99. Raises ValueError otherwise.
    """

    targets: tuple[int, ...] = (8, 16, 32, 64, 128, 256)
    unit: int = 1024
    tolerance_percent: int = 20

    def __post_init__(self) -> None:
        if not self.targets or min(self.targets) < 1:
            raise ValueError("Targets must be positive.")
        if list(self.targets) != sorted(set(self.targets)):
            raise ValueError("Targets must ascend without repeats.")
        if self.unit < 1:
            raise ValueError("The unit must be at least one token.")
        if not 0 <= self.tolerance_percent < 100:
            raise ValueError("The tolerance must be from 0 to 99 per cent.")

    def names(self) -> tuple[str, ...]:
        return tuple(_name(target) for target in self.targets)

    def range_of(self, bucket: str) -> tuple[int, int]:
        """The fewest and the most tokens of a bucket, both included. KeyError for an unknown name."""
        for target in self.targets:
            if _name(target) == bucket:
                return self._range(target)
        raise KeyError(bucket)

    def bucket_of(self, tokens: int) -> str | None:
        """The bucket holding `tokens`; with a tolerance so wide that two do, the nearer target (the lower on a tie)."""
        holding = [target for target in self.targets if self._holds(target, tokens)]
        if not holding:
            return None
        return _name(min(holding, key=lambda target: abs(tokens - target * self.unit)))

    def nearest(self, tokens: int) -> tuple[Distance, ...]:
        """The two buckets that need the fewest tokens added or removed, nearest first (one if there is only one)."""
        distances = [self._distance(target, tokens) for target in self.targets]
        return tuple(sorted(distances, key=lambda distance: abs(distance.tokens))[:2])

    def _holds(self, target: int, tokens: int) -> bool:
        return abs(tokens - target * self.unit) * 100 <= self.tolerance_percent * target * self.unit

    def _range(self, target: int) -> tuple[int, int]:
        slack = self.tolerance_percent * target * self.unit // 100
        return target * self.unit - slack, target * self.unit + slack

    def _distance(self, target: int, tokens: int) -> Distance:
        low, high = self._range(target)
        if tokens < low:
            return Distance(_name(target), low - tokens)
        return Distance(_name(target), min(high - tokens, 0))


def _name(target: int) -> str:
    return f"{target}k"


DEFAULT_LENGTHS = Lengths()
