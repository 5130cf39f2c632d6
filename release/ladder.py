"""All labels at once: how they are spread, what another panel or another ladder would make of the same answers, and how
they agree with what the annotators' challenges found. Nothing here asks a model, and nothing here changes a label."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, QuerySet, Subquery

from annotation.models import Challenge, Overrule, Sample
from benchmark.difficulty import FEW, Difficulty, Judgement, ModelResult, Tier, judge
from benchmark.taxonomy import secondary_task
from generation.models import RunCall
from release.models import DifficultyLabel
from release.queries import current_labels


@dataclass(frozen=True)
class Rule:
    """A ladder and a panel: how many right models of a tier are still almost none, and which models are left out."""

    few: Mapping[Tier, int] = field(default_factory=lambda: dict.fromkeys(Tier, FEW))
    without: frozenset[str] = frozenset()

    @property
    def is_the_rule(self) -> bool:
        return not self.without and all(self.few[tier] == FEW for tier in Tier)

    def judge(self, results: Sequence[ModelResult]) -> Judgement:
        return judge([result for result in results if result.model not in self.without], self.few)


@dataclass(frozen=True)
class Labelled:
    """One label with the answers it was read from, and what the rule on trial makes of them ("" while models are
    missing)."""

    pk: int
    sample: int
    task: str
    language: str
    bucket: str
    difficulty: str
    results: tuple[ModelResult, ...]
    tried: str

    @property
    def label(self) -> str:
        return f"S-{self.sample:04d}"

    @property
    def task_name(self) -> str:
        return secondary_task(self.task).name

    @property
    def moved(self) -> bool:
        return self.tried != self.difficulty

    @property
    def right(self) -> dict[str, int]:
        return {
            tier.value: sum(result.verdict is True for result in self.results if result.tier is tier) for tier in Tier
        }


def labelled(rule: Rule) -> list[Labelled]:
    """Every label that counts and has its run, in three queries without a text."""
    fields = ("pk", "sample_id", "sample__task_code", "sample__document__language", "sample__document_version__bucket")
    rows = list(current_labels().exclude(run=None).order_by("pk").values_list(*fields, "difficulty", "run_id"))
    results = _results(current_labels().exclude(run=None))
    found = []
    for *about, run in rows:
        pk, sample, task, language, bucket, difficulty = about
        answers = results.get(run, ())
        tried = rule.judge(answers).difficulty
        trial = tried.value if tried else ""
        found.append(Labelled(pk, sample, task, language, bucket, difficulty, answers, trial))
    return found


def _results(labels: QuerySet[DifficultyLabel]) -> dict[int, tuple[ModelResult, ...]]:
    """By run: each model with its answers, in the panel's order."""
    rows = RunCall.objects.filter(run__in=Subquery(labels.values("run")))
    order = ("run_id", "call__model__position", "call__model_id", "call__number")
    runs: dict[int, dict[tuple[str, str], list[bool | None]]] = defaultdict(dict)
    for run, name, tier, right in rows.order_by(*order).values_list(
        "run_id", "call__model__name", "call__model__tier", "right"
    ):
        runs[run].setdefault((name, tier), []).append(right)
    return {
        run: tuple(ModelResult(name, Tier(tier), tuple(answers)) for (name, tier), answers in models.items())
        for run, models in runs.items()
    }


@dataclass(frozen=True)
class Bar:
    """How many labels read so now, and under the rule on trial."""

    difficulty: str
    now: int
    tried: int


def spread(rows: Iterable[Labelled]) -> list[Bar]:
    """From Easy to Extreme; what waits for models comes last, under no name."""
    rows = list(rows)
    now, tried = Counter(row.difficulty for row in rows), Counter(row.tried for row in rows)
    return [Bar(name, now[name], tried[name]) for name in [*map(str, Difficulty), ""]]


def models_in_labels() -> list[tuple[str, Tier]]:
    """Every model that answered for a label that counts, the high tier first."""
    answers = RunCall.objects.filter(run__in=Subquery(current_labels().values("run")))
    found = answers.order_by("call__model__position").values_list("call__model__name", "call__model__tier").distinct()
    return [(name, tier) for tier in Tier for name, of in found if of == tier.value]


# --- beside the annotators' challenges -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """The samples whose challenge went so: `wrong` of five models, and how their labels are spread."""

    wrong: int | None
    counts: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def confusion(rows: Iterable[Labelled]) -> list[Line]:
    """Labels against how many of the five models were wrong at the challenge that let the question pass, overrules
    counted in. `wrong` is None for samples without a challenge on record (imported ones)."""
    rows = [row for row in rows if row.difficulty]
    wrong = _wrong_at_the_challenge([row.sample for row in rows])
    table: dict[int | None, Counter[str]] = defaultdict(Counter)
    for row in rows:
        table[wrong.get(row.sample)][row.difficulty] += 1
    order = sorted(table, key=lambda many: (many is None, many or 0))
    return [Line(many, {name: table[many][name] for name in map(str, Difficulty)}) for many in order]


def _wrong_at_the_challenge(samples: Sequence[int]) -> dict[int, int]:
    chosen = Sample.objects.filter(pk__in=samples).exclude(chosen=None)
    challenges = Challenge.objects.filter(
        candidate__in=Subquery(chosen.values("chosen")), candidate_version=F("candidate__version")
    ).order_by("pk")
    of_run = {run: (pk, sample) for pk, run, sample in challenges.values_list("pk", "run_id", "candidate__sample_id")}
    overruled: dict[tuple[int, int], bool] = {
        (challenge, run_call): right
        for challenge, run_call, right in Overrule.objects.filter(
            challenge__in=[pk for pk, _sample in of_run.values()]
        ).values_list("challenge_id", "run_call_id", "right")
    }
    wrong: dict[int, int] = {}
    for pk, run, right in RunCall.objects.filter(run__in=list(of_run)).values_list("pk", "run_id", "right"):
        challenge, sample = of_run[run]
        wrong[sample] = wrong.get(sample, 0) + (overruled.get((challenge, pk), right) is False)
    return wrong


# --- as a list -------------------------------------------------------------------------------------------------------

HEAD = ("sample", "secondary_task", "language", "token_length", "difficulty", "tried", "right_high", "right_mid")


def table(rows: Sequence[Labelled], names: Sequence[str]) -> tuple[list[str], Iterable[list[Any]]]:
    """For spreadsheets: one line a label, one column a model; a cell holds how many of its runs were right, of how
    many, and is empty where the model did not run."""
    return [*HEAD, "right_low", *names], (_cells(row, names) for row in rows)


def _cells(row: Labelled, names: Sequence[str]) -> list[Any]:
    by_name = {result.model: result.runs for result in row.results}
    answers = [f"{by_name[name].count(True)}/{len(by_name[name])}" if name in by_name else "" for name in names]
    about = [row.label, row.task_name, row.language, row.bucket, row.difficulty, row.tried]
    return [*about, *(row.right[tier.value] for tier in Tier), *answers]
