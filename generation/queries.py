"""What other stages and the pages read of models, runs and calls. Document text is never loaded here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.conf import settings
from django.db.models import Count, DecimalField, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from generation.models import Call, Draft, LanguageModel, Run, RunCall
from generation.workflow import FINAL_CALL_STATES, CallState, Purpose, RunState

# Answered without a known price, or perhaps billed without an answer: nobody knows what these calls cost.
COST_UNKNOWN = Q(answered_at__isnull=False, cost_usd=None) | Q(state=CallState.UNKNOWN)
# Held back, or of unknown price, for an attempt of which nobody knows what it cost: a lead says so.
DOUBTFUL = Q(state=CallState.UNKNOWN) | Q(reserved_usd__gt=0) & ~Q(state=CallState.CALLING)
UNFINISHED = (RunState.QUEUED, RunState.RUNNING)
ANSWERED = (CallState.SUCCEEDED, CallState.PARTIAL)
DRAFTERS_ONLY = frozenset({Purpose.DRAFTING, Purpose.CHALLENGE, Purpose.PREDICTION})


@dataclass(frozen=True)
class Result:
    """One model's answer in one run. `right` and `score` are None where no answer came."""

    run_call: RunCall
    call: Call
    model: LanguageModel
    elements: tuple[str, ...]
    score: float | None
    right: bool | None


def panel(purpose: str) -> list[LanguageModel]:
    """The models asked for a purpose, in panel order: all for difficulty, the drafting models for the rest."""
    models = LanguageModel.objects.filter(panel=settings.LBP_PANEL, active=True)
    return list(models.filter(drafting=True) if purpose in DRAFTERS_ONLY else models)


def models_in_use() -> list[LanguageModel]:
    return list(LanguageModel.objects.filter(panel=settings.LBP_PANEL, active=True))


def known_providers() -> list[str]:
    """As `LanguageModel.provider` names those that models are reached at, in use or not; simulated ones need none."""
    models = LanguageModel.objects.order_by().only("litellm_id", "api_base")
    return sorted({model.provider for model in models if not model.is_simulated})


def results_of(run: Run) -> list[Result]:
    """Every model's answer, in panel order, then by run number. Calls without an answer are in it, unscored. The
    replies as they came, which can be long, stay in the database."""
    rows = (
        RunCall.objects.filter(run=run)
        .select_related("call", "call__model")
        .defer("call__raw", "call__reasoning", "call__prompt")
        .order_by("call__model__position", "call__model_id", "call__number", "id")
    )
    return [Result(row, row.call, row.call.model, tuple(row.elements), row.score, row.right) for row in rows]


def drafts_of(run: Run) -> QuerySet[Draft]:
    """The valid drafts of a drafting run, in panel order."""
    return (
        Draft.objects.filter(call__runs=run)
        .select_related("call", "call__model")
        .order_by("call__model__position", "call__model_id", "call_id", "position")
    )


def runs_for_list(runs: QuerySet[Run] | None = None) -> QuerySet[Run]:
    """Runs with counts by state and cost, newest first; prompts and references stay in the database."""
    runs = Run.objects.all() if runs is None else runs
    counts = {
        f"{state}_calls": Count("run_calls", filter=Q(run_calls__call__state=state)) for state in CallState.values
    }
    money = DecimalField(max_digits=20, decimal_places=8)
    return (
        runs.select_related("document_version", "document_version__document", "created_by")
        .defer("prompt", "prompt_thinking", "reference")
        .annotate(
            **counts,
            all_calls=Count("run_calls"),
            ended_calls=Count("run_calls", filter=Q(run_calls__call__state__in=FINAL_CALL_STATES)),
            held_calls=Count(
                "run_calls",
                filter=Q(run_calls__call__state=CallState.QUEUED, run_calls__call__model__paused_at__isnull=False),
            ),
            unpriced_calls=Count(
                "run_calls", filter=Q(run_calls__call__cost_usd=None, run_calls__call__answered_at__isnull=False)
            ),
            cost_usd=Coalesce(Sum("run_calls__call__cost_usd"), Decimal(0), output_field=money),
            tokens_in=Coalesce(Sum("run_calls__call__tokens_in"), 0),
            tokens_out=Coalesce(Sum("run_calls__call__tokens_out"), 0),
        )
        .order_by("-id")
    )


def calls_for_list(calls: QuerySet[Call] | None = None) -> QuerySet[Call]:
    calls = Call.objects.all() if calls is None else calls
    return (
        calls.select_related("model", "document_version", "document_version__document")
        .defer("raw", "reasoning", "prompt")
        .order_by("-id")
    )


def run_calls_for_page(run: Run) -> QuerySet[RunCall]:
    return (
        RunCall.objects.filter(run=run)
        .select_related("call", "call__model", "call__repaired_by")
        .defer("call__raw", "call__reasoning", "call__prompt", "call__repaired_by__raw", "call__repaired_by__prompt")
        .annotate(drafts_count=Count("call__drafts"))
        .order_by("call__model__position", "call__model_id", "call__number", "call_id")
    )


def models_for_list() -> QuerySet[LanguageModel]:
    return LanguageModel.objects.annotate(
        all_calls=Count("calls"),
        failed_calls=Count("calls", filter=Q(calls__state=CallState.FAILED)),
        unknown_calls=Count("calls", filter=Q(calls__state=CallState.UNKNOWN)),
        spent_usd=Coalesce(
            Sum("calls__cost_usd"), Decimal(0), output_field=DecimalField(max_digits=20, decimal_places=8)
        ),
    ).order_by("panel", "position", "id")


def unfinished_runs() -> QuerySet[Run]:
    return Run.objects.filter(state__in=UNFINISHED).order_by("id")


def ready_runs(*, now: datetime) -> QuerySet[Run]:
    """Unfinished runs that have something to do now: a call to send, or nothing but final calls. What waits for a
    paused model is not to be sent."""
    calls = RunCall.objects.filter(run=OuterRef("pk"))
    due = Q(call__next_attempt_at__isnull=True) | Q(call__next_attempt_at__lte=now)
    return unfinished_runs().filter(
        Q(cancel_asked_at=None),
        Exists(calls.filter(due, call__state=CallState.QUEUED, call__model__paused_at=None))
        | ~Exists(calls.exclude(call__state__in=FINAL_CALL_STATES)),
    )


def unfinished_runs_with(call: Call) -> QuerySet[Run]:
    return unfinished_runs().filter(run_calls__call=call).defer("prompt", "prompt_thinking")


def held_calls(run: Run) -> QuerySet[Call]:
    """The run's queued calls whose model is paused: they wait until a lead resumes it."""
    return Call.objects.filter(runs=run, state=CallState.QUEUED).exclude(model__paused_at=None)


def waits_for_paused_models(run: Run) -> bool:
    """Whether nothing but paused models keeps the run from its end."""
    open_calls = Call.objects.filter(runs=run).exclude(state__in=FINAL_CALL_STATES)
    return run.is_under_way and open_calls.exists() and not open_calls.exclude(pk__in=held_calls(run)).exists()


def queued_calls(run: Run) -> list[Call]:
    """The run's calls that may be sent, without their replies. Those of paused models wait."""
    calls = Call.objects.filter(runs=run, state=CallState.QUEUED, model__paused_at=None).select_related("model")
    return list(calls.defer("raw", "reasoning").order_by("id"))


def queued_of(model: LanguageModel) -> QuerySet[Call]:
    queued = Call.objects.filter(model=model, state=CallState.QUEUED)
    return queued.defer("raw", "reasoning", "prompt").order_by("id")


def queued_only_for(run: Run) -> QuerySet[Call]:
    """The run's queued calls that no other unfinished run waits for."""
    others = RunCall.objects.filter(call=OuterRef("pk"), run__state__in=UNFINISHED).exclude(run=run)
    queued = Call.objects.filter(runs=run, state=CallState.QUEUED).exclude(Exists(others))
    return queued.defer("raw", "reasoning", "prompt").order_by("id")


def is_repaired(of: str = "pk") -> Exists:
    """Whether a repair has followed the call. Asked for each row of the few: a join would go through all calls."""
    return Exists(Call.objects.filter(repairs=OuterRef(of)))


def count_of_unknown_cost() -> int:
    """`COST_UNKNOWN`, each half by its own index."""
    unpriced = Call.objects.filter(answered_at__isnull=False, cost_usd=None).exclude(state=CallState.UNKNOWN)
    return unpriced.count() + Call.objects.filter(state=CallState.UNKNOWN).count()


def retryable(calls: QuerySet[Call] | None = None) -> QuerySet[Call]:
    """Of these calls, those that can be sent again without a word on each: failed or cancelled, the last of their
    chain of repairs, and without drafts that people may have worked on."""
    ended = (Call.objects.all() if calls is None else calls).filter(state__in=[CallState.FAILED, CallState.CANCELLED])
    return ended.exclude(is_repaired()).exclude(Exists(Draft.objects.filter(call=OuterRef("pk"))))


def undecided(calls: QuerySet[Call] | None = None) -> QuerySet[Call]:
    """Of these calls, those that may have been billed without an answer: each waits for a lead's word."""
    unknown = (Call.objects.all() if calls is None else calls).filter(state=CallState.UNKNOWN)
    return unknown.exclude(is_repaired()).exclude(Exists(Draft.objects.filter(call=OuterRef("pk"))))


def locked_with_document(calls: QuerySet[Call], *wanted: str) -> Call | None:
    """The one call of these, its row and its document version's locked until the transaction ends, with the version's
    state and the `wanted` fields; its texts stay in the database."""
    joined = {name.partition("__")[0] for name in wanted if "__" in name}
    rows = calls.select_related("document_version", *joined).only("document_version__state", "state", *wanted)
    return rows.order_by().select_for_update(of=("self", "document_version")).first()


def has_open_calls(run: Run) -> bool:
    return Call.objects.filter(runs=run).exclude(state__in=FINAL_CALL_STATES).exists()


def unscored(run: Run, calls: Sequence[Call] | None = None) -> QuerySet[RunCall]:
    rows = RunCall.objects.filter(run=run, score=None, call__state__in=ANSWERED).select_related("call")
    return rows if calls is None else rows.filter(call__in=calls)


def lost_calls(*, now: datetime) -> QuerySet[Call]:
    """Calls whose worker did not come back within the lease."""
    return Call.objects.filter(state=CallState.CALLING).filter(Q(lease_until=None) | Q(lease_until__lt=now))


def without_price(models: Sequence[LanguageModel]) -> list[LanguageModel]:
    return [
        model
        for model in models
        if not model.is_simulated and (model.usd_per_million_input is None or model.usd_per_million_output is None)
    ]


def leaf_calls(run: Run) -> QuerySet[Call]:
    """The run's calls that no repair has followed."""
    return Call.objects.filter(runs=run, repaired_by=None).select_related("model").order_by("id")


def panel_name() -> str:
    """The panel in use: real or demo."""
    return str(settings.LBP_PANEL)
