"""Pages of difficulty: all labels and what another ladder would make of them; one label with its evidence."""

from dataclasses import dataclass

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from benchmark.difficulty import LADDER, Difficulty, ModelResult, Tier
from benchmark.metrics import is_of_the_paper
from core.spreadsheet import lines
from core.viewing import csv_response
from generation.queries import Result, results_of
from release import labelling, ladder, queries
from release.forms import LadderForm
from release.models import DifficultyLabel
from release.viewing import lead_of

PER_PAGE = 50


@require_GET
def difficulty(request: HttpRequest) -> HttpResponseBase:
    """All labels that count. The trial is in the address, so that it can be sent to somebody."""
    lead_of(request)
    models = ladder.models_in_labels()
    form = LadderForm(request.GET, models=[name for name, _tier in models])
    rule = form.rule
    rows = ladder.labelled(rule)
    if request.GET.get("format") == "csv":
        return csv_response(lines(*ladder.table(rows, [name for name, _tier in models])), "difficulty.csv")
    bars = ladder.spread(rows)
    shown = [row for row in rows if row.moved] if request.GET.get("moved") else rows
    only = request.GET.get("difficulty", "")
    if only in set(Difficulty):
        shown = [row for row in shown if only in {row.difficulty, row.tried}]
    return render(
        request,
        "release/difficulty.html",
        {
            "section": "releases",
            "form": form,
            "rule": rule,
            "tiers": [(form[tier.value], [name for name, of in models if of is tier]) for tier in Tier],
            "total": len(rows),
            "bars": bars,
            "most": max((max(bar.now, bar.tried) for bar in bars), default=0) or 1,
            "moved": sum(row.moved for row in rows),
            "lines": ladder.confusion(rows),
            "difficulties": list(Difficulty),
            "page_obj": Paginator(shown, PER_PAGE).get_page(request.GET.get("page")),
            "query": _without(request, "page", "format"),
        },
    )


def _without(request: HttpRequest, *names: str) -> str:
    kept = request.GET.copy()
    for name in names:
        kept.pop(name, None)
    return kept.urlencode()


@dataclass(frozen=True)
class Rung:
    """One step of the ladder as it was gone: the tier, its models, how many were right, and what followed."""

    tier: Tier
    gives: Difficulty
    models: list[ModelResult]
    answers: dict[str, list[Result]]
    decided: bool
    reached: bool

    @property
    def name(self) -> str:
        return {Tier.HIGH: _("High tier"), Tier.MID: _("Middle tier"), Tier.LOW: _("Low tier")}[self.tier]

    @property
    def right(self) -> int:
        return sum(model.verdict is True for model in self.models)

    @property
    def rows(self) -> list[tuple[ModelResult, list[Result]]]:
        return [(model, self.answers[model.model]) for model in self.models]


@require_GET
def difficulty_label(request: HttpRequest, pk: int) -> HttpResponse:
    """One label: the ladder rung by rung, with every answer that it was read from."""
    lead_of(request)
    found = DifficultyLabel.objects.select_related("sample__document_version", "standardization", "run", "asked_by")
    label = get_object_or_404(found.defer("standardization__question_thinking"), pk=pk)
    results = results_of(label.run) if label.run else []
    return render(
        request,
        "release/difficulty_label.html",
        {
            "section": "releases",
            "label": label,
            "rungs": _rungs(label, results),
            "strange": sorted(_strange_embedders(results)),
            "is_current": queries.current_labels().filter(pk=label.pk).exists(),
        },
    )


def _strange_embedders(results: list[Result]) -> set[str]:
    """What compared the summaries, where it was not the paper's: its threshold was set with other similarities."""
    return {name for result in results if (name := result.run_call.embedder) and not is_of_the_paper(name)}


def _rungs(label: DifficultyLabel, results: list[Result]) -> list[Rung]:
    answers: dict[str, list[Result]] = {}
    for result in results:
        answers.setdefault(result.model.name, []).append(result)
    models, made, reached = labelling.model_results(results), [], True
    for tier, gives in LADDER:
        of_tier = [model for model in models if model.tier is tier]
        decided = reached and label.difficulty == gives.value
        made.append(Rung(tier, gives, of_tier, answers, decided, reached))
        reached = reached and not decided and bool(label.difficulty)
    return made
