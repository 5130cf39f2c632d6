"""Repeatable chance: the same words give the same throws, on every machine and in every run.

Python's `hash()` differs between processes and `random` may change between versions, so throws are cut from SHA-256.
"""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Chance:
    def __init__(self, *seeds: object) -> None:
        # Length before each part, so that no two different lists of parts read the same.
        digest = hashlib.sha256()
        for seed in seeds:
            part = str(seed).encode("utf-8", "surrogatepass")
            digest.update(f"{len(part)}:".encode())
            digest.update(part)
        self._key = digest.digest()
        self._count = 0

    def unit(self) -> float:
        """In [0, 1)."""
        self._count += 1
        block = hashlib.sha256(self._key + self._count.to_bytes(8, "big")).digest()
        return int.from_bytes(block[:7], "big") / (1 << 56)

    def below(self, limit: int) -> int:
        return int(self.unit() * limit)

    def between(self, low: int, high: int) -> int:
        """Both ends included."""
        return low + self.below(max(1, high - low + 1))

    def pick(self, things: Sequence[T]) -> T:
        return things[self.below(len(things))]

    def shuffled(self, things: Sequence[T]) -> list[T]:
        mixed = list(things)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed

    def sample(self, things: Sequence[T], count: int) -> list[T]:
        if len(things) > 4 * count:
            chosen: dict[int, T] = {}
            while len(chosen) < count:
                place = self.below(len(things))
                chosen[place] = things[place]
            return list(chosen.values())
        return self.shuffled(things)[:count]
