"""What drafting many samples would take, before anything starts: calls, tokens and dollars for each model, and what
cannot be drafted and why. A constant number of queries, and no document text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotation.models import DraftingLine, Sample
from annotation.workflow import DraftingOutcome, SampleState
from generation.estimating import estimate
from generation.models import LanguageModel
from generation.queries import panel, without_price
from generation.workflow import Purpose


@dataclass(frozen=True)
class ForModel:
    """What one model would be asked. `usd` is None where it has no price; `cut` counts documents it gets cut."""

    model: LanguageModel
    calls: int
    tokens_in: int
    tokens_out: int
    usd: Decimal | None
    cut: int


@dataclass(frozen=True)
class Left:
    """A sample that cannot be drafted now, and why."""

    sample: Sample
    why: str


@dataclass(frozen=True)
class DraftPlan:
    samples: list[Sample]
    models: list[ForModel]
    left: list[Left]

    @property
    def calls(self) -> int:
        return sum(row.calls for row in self.models)

    @property
    def tokens_in(self) -> int:
        return sum(row.tokens_in for row in self.models)

    @property
    def tokens_out(self) -> int:
        return sum(row.tokens_out for row in self.models)

    @property
    def usd(self) -> Decimal:
        return sum((row.usd for row in self.models if row.usd is not None), Decimal(0))

    @property
    def unpriced(self) -> list[str]:
        """Models without a price: no run with them starts."""
        return [row.model.name for row in self.models if row.usd is None]

    @property
    def unpriced_calls(self) -> int:
        return sum(row.calls for row in self.models if row.usd is None)

    @property
    def paused(self) -> list[str]:
        return [row.model.name for row in self.models if row.model.paused_at is not None]

    @property
    def can_start(self) -> bool:
        return bool(self.samples and self.models and not self.unpriced)


def plan_of(samples: Iterable[Sample] | QuerySet[Sample]) -> DraftPlan:
    """Sort the samples into those that can be drafted and the rest, and estimate the former."""
    if isinstance(samples, QuerySet):
        waits = DraftingLine.objects.filter(sample=OuterRef("pk"), outcome=DraftingOutcome.WAITING)
        samples = samples.select_related("document", "document_version").annotate(waits=Exists(waits)).order_by("pk")
    ready, left = [], []
    for sample in samples:
        why = why_not(sample)
        if why:
            left.append(Left(sample, why))
        else:
            ready.append(sample)
    return DraftPlan(ready, _for_models(ready), left)


def why_not(sample: Sample) -> str:
    """Why this sample cannot be drafted now; empty when it can."""
    if sample.state != SampleState.PLANNED:
        return _("It is not planned any more: %(state)s.") % {"state": sample.get_state_display()}
    if sample.is_blocked:
        return _("The document is not approved.")
    if getattr(sample, "waits", False):
        return _("It waits in a drafting batch already.")
    return ""


def _for_models(samples: Sequence[Sample]) -> list[ForModel]:
    asked = [(sample.document_version.tokens, sample.document.language, sample.task_code) for sample in samples]
    models = panel(Purpose.DRAFTING)
    unpriced = {model.pk for model in without_price(models)}
    rows = []
    for model in models:
        one = estimate(Purpose.DRAFTING, asked, models=[model])
        cut = sum(1 for tokens, _language, _task in asked if tokens > model.truncate_input_to_tokens)
        usd = None if model.pk in unpriced else one.usd
        rows.append(ForModel(model, one.calls, one.tokens_in, one.tokens_out, usd, cut))
    return rows
