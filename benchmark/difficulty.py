"""How hard a sample is: a ladder over three tiers of models.

From the top: at most one high-tier model right is Extreme; else at most one mid-tier model right is Hard; else at
most one low-tier model right is Moderate; else Easy. A tier is read only when all its models have run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Tier(StrEnum):
    HIGH = "high"
    MID = "mid"
    LOW = "low"


class Difficulty(StrEnum):
    EASY = "Easy"
    MODERATE = "Moderate"
    HARD = "Hard"
    EXTREME = "Extreme"


# Which label a tier gives when almost none of its models is right, from the top rung down.
LADDER = ((Tier.HIGH, Difficulty.EXTREME), (Tier.MID, Difficulty.HARD), (Tier.LOW, Difficulty.MODERATE))
FEW = 1


@dataclass(frozen=True)
class ModelResult:
    """One model's runs on one sample: right, wrong, or None where no answer came (counts as not having run)."""

    model: str
    tier: Tier
    runs: tuple[bool | None, ...]

    @property
    def verdict(self) -> bool | None:
        """Right or wrong once more than half of the runs agree, else None."""
        for answer in (True, False):
            if self.runs.count(answer) * 2 > len(self.runs):
                return answer
        return None


@dataclass(frozen=True)
class Judgement:
    """`difficulty` is None while the label waits for the models named in `missing`; `right` counts what is known.

    A tier for which no model at all was given is named as `high tier`, `mid tier` or `low tier`.
    """

    difficulty: Difficulty | None
    missing: tuple[str, ...]
    right: dict[Tier, int]


def judge(results: Sequence[ModelResult], few: Mapping[Tier, int] | None = None) -> Judgement:
    """Walk down the ladder; stop at the first tier that decides, or at the first that is not complete. `few`: how many
    right models of a tier are still almost none, where that is not one."""
    few = few or {}
    right = {tier: sum(result.verdict is True for result in results if result.tier is tier) for tier in Tier}
    for tier, label in LADDER:
        missing = _missing(results, tier)
        if missing:
            return Judgement(None, missing, right)
        if right[tier] <= few.get(tier, FEW):
            return Judgement(label, (), right)
    return Judgement(Difficulty.EASY, (), right)


def _missing(results: Sequence[ModelResult], tier: Tier) -> tuple[str, ...]:
    of_tier = [result for result in results if result.tier is tier]
    if not of_tier:
        return (f"{tier.value} tier",)
    return tuple(result.model for result in of_tier if result.verdict is None)
