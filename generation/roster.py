"""The models as the page of models shows them: by panel and tier, with what each is used for, and what is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, Q, Sum
from django.utils.translation import gettext as _

from benchmark.difficulty import Tier
from core.models import Event
from generation.estimating import Usual, usual_tokens_out
from generation.holding import Unlimited, missing_limits, unlimited
from generation.models import Call, LanguageModel, ModelTrial, ProviderLimit
from generation.panels import faults_of
from generation.queries import COST_UNKNOWN, without_price
from generation.workflow import CallState, Kind, Purpose


@dataclass(frozen=True)
class ModelLine:
    """One model with its calls. `spent` leaves out `unpriced` calls; `warnings` in words, the gravest first."""

    model: LanguageModel
    is_in_panel: bool
    calls: int = 0
    waiting: int = 0
    failed: int = 0
    unknown: int = 0
    spent: Decimal = Decimal(0)
    unpriced: int = 0
    paused_by: str = ""
    warnings: tuple[str, ...] = ()
    trial: ModelTrial | None = None
    unlimited: Unlimited | None = None


@dataclass(frozen=True)
class Group:
    """The models of one tier that are in the panel in use."""

    tier: str
    lines: tuple[ModelLine, ...]


def lines() -> list[ModelLine]:
    """All models with their figures, in seven queries at most."""
    models = list(LanguageModel.objects.order_by("position", "id"))
    counted = _counted()
    paused_by = _paused_by([model for model in models if model.paused_at])
    last = ModelTrial.objects.order_by().values("model").annotate(last=Max("pk")).values("last")
    trials = {trial.model_id: trial for trial in ModelTrial.objects.filter(pk__in=last).defer("answer")}
    usual = usual_tokens_out([model for model in models if missing_limits(model)])
    return [_line(model, counted.get(model.pk, {}), paused_by, trials, usual) for model in models]


def _counted() -> dict[int, dict[str, Any]]:
    rows: Any = (
        Call.objects.order_by()
        .values("model")
        .annotate(
            calls=Count("pk"),
            waiting=Count("pk", filter=Q(state=CallState.QUEUED)),
            failed=Count("pk", filter=Q(state=CallState.FAILED)),
            unknown=Count("pk", filter=Q(state=CallState.UNKNOWN)),
            spent=Sum("cost_usd"),
            unpriced=Count("pk", filter=COST_UNKNOWN),
        )
    )
    counted = {row["model"]: {name: value or 0 for name, value in row.items() if name != "model"} for row in rows}
    repaired = Call.objects.filter(repairs__state=CallState.FAILED).order_by().values_list("repairs__model")
    for model, count in repaired.annotate(n=Count("pk")):
        counted[model]["failed"] -= count
    return counted


def _paused_by(models: Sequence[LanguageModel]) -> dict[int, str]:
    """Who paused each; a refused key pauses without anybody."""
    events = Event.objects.filter(
        subject_type="languagemodel", subject_id__in=[model.pk for model in models], action="generation.pause_model"
    )
    return {event.subject_id: event.by.name if event.by else "" for event in events.select_related("by").order_by("id")}


def _line(
    model: LanguageModel,
    counted: dict[str, Any],
    paused_by: dict[int, str],
    trials: dict[int, ModelTrial],
    usual: Usual,
) -> ModelLine:
    return ModelLine(
        model,
        is_in_panel=model.panel == settings.LBP_PANEL,
        paused_by=paused_by.get(model.pk, ""),
        warnings=tuple(warnings(model)),
        trial=trials.get(model.pk),
        unlimited=unlimited(model, usual),
        **counted,
    )


def warnings(model: LanguageModel) -> list[str]:
    """What keeps this model from being run, or would spoil what it is paid for."""
    words = [_("No price: it cannot be run.")] if without_price([model]) else []
    return words + [str(fault) for fault in faults_of(model).values()]


def unlimited_of(model: LanguageModel) -> Unlimited | None:
    return unlimited(model, usual_tokens_out([model] if missing_limits(model) else []))


def groups(models: Sequence[ModelLine]) -> list[Group]:
    """The panel in use by tier, high first; those out of use at the end of their tier."""
    found = []
    for tier in (Tier.HIGH, Tier.MID, Tier.LOW):
        mine = [line for line in models if line.is_in_panel and line.model.tier == tier.value]
        found.append(Group(tier.value, tuple(sorted(mine, key=lambda line: not line.model.active))))
    return [group for group in found if group.lines]


def purposes_of(model: LanguageModel) -> list[str]:
    """What a model is asked for: all of it for the five, difficulty for each."""
    asked = [Purpose.DRAFTING, Purpose.CHALLENGE, Purpose.PREDICTION] if model.drafting else []
    return [str(purpose.label) for purpose in [*asked, Purpose.DIFFICULTY]]


@dataclass(frozen=True)
class Fault:
    """What is wrong in one field."""

    name: str
    words: str


@dataclass(frozen=True)
class LimitLine:
    """One provider that models are reached at, and its limits. Without a row there are none. `is_faulty`: what was
    typed into it was refused, with its `faults`."""

    limit: ProviderLimit
    models: tuple[str, ...]
    is_faulty: bool = False
    faults: tuple[Fault, ...] = ()

    @property
    def fields(self) -> list[tuple[str, str]]:
        return [
            ("calls_in_flight", _("Calls at once")),
            ("requests_per_minute", _("Requests per minute")),
            ("tokens_per_minute", _("Input tokens per minute")),
        ]


def limits(models: Sequence[ModelLine]) -> list[LimitLine]:
    held = {row.provider: row for row in ProviderLimit.objects.all()}
    by_provider: dict[str, list[str]] = {}
    for line in models:
        if line.model.active and line.is_in_panel and not line.model.is_simulated:
            by_provider.setdefault(line.model.provider, []).append(line.model.name)
    names = sorted({*held, *by_provider})
    return [
        LimitLine(held.get(name) or ProviderLimit(provider=name, version=0), tuple(by_provider.get(name, ())))
        for name in names
    ]


def copy_of(model: LanguageModel | None) -> LanguageModel:
    """What the form of a new model begins with: another one's settings without its name and not yet in use, or a few
    that are usual."""
    if model is None:
        return LanguageModel(
            tier=Tier.HIGH.value,
            kind=Kind.INSTRUCT,
            panel=settings.LBP_PANEL,
            context_tokens=131_072,
            truncate_input_to_tokens=120_000,
            max_output_nonthinking=1024,
            max_output_thinking=8192,
            active=False,
        )
    fresh = LanguageModel.objects.get(pk=model.pk)
    fresh.pk, fresh.name, fresh.version, fresh.paused_at, fresh.paused_because = None, "", 1, None, ""
    fresh.active, fresh._state.adding = False, True
    return fresh
