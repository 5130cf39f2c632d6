"""Active time as leads plan by it: what a sample takes at each step, by the length of its document."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Sum

from annotation.timing import active_times
from annotation.workflow import TimedStep
from core.models import BenchmarkSettings


@dataclass(frozen=True)
class Time:
    """`seconds` of all people together at `samples` samples."""

    seconds: float = 0.0
    samples: int = 0

    @property
    def mean(self) -> float | None:
        return self.seconds / self.samples if self.samples else None


@dataclass(frozen=True)
class Step:
    """One step: its times in the order of the buckets, and over all of them. A sample is in one bucket, so its times
    and counts add up."""

    step: TimedStep
    times: list[Time]
    whole: Time


@dataclass(frozen=True)
class Effort:
    buckets: list[str]
    steps: list[Step]

    @property
    def longest(self) -> float:
        return max((time.mean or 0.0 for step in self.steps for time in step.times), default=0.0)

    @property
    def per_sample(self) -> list[float]:
        """What a sample takes that goes through every step once, by bucket: the means of the steps together."""
        return [sum(step.times[at].mean or 0.0 for step in self.steps) for at in range(len(self.buckets))]

    @property
    def hours(self) -> float:
        return sum(step.whole.seconds for step in self.steps) / 3600


def effort() -> Effort:
    """One query, and the settings."""
    buckets = list(BenchmarkSettings.load().lengths.names())
    counted = (
        active_times()
        .order_by()
        .values("step", "sample__document_version__bucket")
        .annotate(together=Sum("seconds"), samples=Count("sample", distinct=True))
    )
    found = {
        (row["step"], row["sample__document_version__bucket"]): Time(row["together"], row["samples"]) for row in counted
    }
    # What is in no bucket now counts in the whole of its step.
    return Effort(
        buckets,
        [
            Step(
                step,
                [found.get((step.value, bucket), Time()) for bucket in buckets],
                _sum(time for (name, _bucket), time in found.items() if name == step.value),
            )
            for step in TimedStep
        ],
    )


def _sum(times: Iterable[Time]) -> Time:
    all_of_them = list(times)
    return Time(sum(time.seconds for time in all_of_them), sum(time.samples for time in all_of_them))
