"""Samples go to the drafting models: one, or many together.

Many are a batch with a line for each. The worker starts them one by one; a line and what it started commit together, so
a batch may be worked on twice at once or stopped at any moment, and goes on where it stood.
"""

import logging
from collections.abc import Iterable
from decimal import Decimal

from celery import signature
from celery.canvas import Signature
from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from annotation.costing import plan_of
from annotation.guards import lock, require_approved, require_lead, require_state
from annotation.models import DraftingBatch, DraftingLine, Sample
from annotation.planning import first_draft_number
from annotation.workflow import DraftingOutcome, SampleState
from core import history
from core.jobs import hurry
from core.models import User
from core.refusals import Conflict, Refused, RuleBroken
from generation.actions import start_drafting

logger = logging.getLogger(__name__)

# annotation.tasks, which stands above this module.
RECEIVE = "annotation.receive_drafts"
START = "annotation.start_drafting_batch"


def _message(name: str, pk: int) -> Signature:
    return signature(name, args=(pk,), immutable=True)


# --- one -------------------------------------------------------------------------------------------------------------


def can_draft_sample(user: User, sample: Sample) -> bool:
    return user.is_lead and sample.state == SampleState.PLANNED and not sample.is_blocked


@transaction.atomic
def draft_sample(*, sample: Sample, by: User, budget_usd: Decimal | None = None) -> Sample:
    """Ask the five drafting models, in the background. Earlier drafts of the same pair are never taken for new ones."""
    require_lead(by)
    lock(sample)
    require_approved(sample)
    require_state(sample, {SampleState.PLANNED})
    run = start_drafting(
        document_version=sample.document_version,
        task=sample.task,
        by=by,
        first_number=first_draft_number(sample),
        budget_usd=budget_usd,
        then=_message(RECEIVE, sample.pk),
    )
    sample.drafting_run = run
    sample.save(update_fields=["drafting_run"])
    history.advance(sample, "draft", by=by, run=run.pk)
    if run.is_finished:
        hurry(_message(RECEIVE, sample.pk))
    return sample


# --- many ------------------------------------------------------------------------------------------------------------


def can_draft_samples(user: User) -> bool:
    return user.is_lead


@transaction.atomic
def draft_samples(
    *, samples: Iterable[Sample] | QuerySet[Sample], by: User, run_budget_usd: Decimal | None = None
) -> DraftingBatch:
    """Send these to drafting in the background: those that can be. One that waits in a batch already stays there, so
    pressing twice starts once. `run_budget_usd`: what each sample's run may cost. Refused when none can be drafted."""
    require_lead(by)
    plan = plan_of(samples)
    usd = None if plan.unpriced else plan.usd
    batch = DraftingBatch.objects.create(
        made_by=by, expected_calls=plan.calls, expected_usd=usd, run_budget_usd=run_budget_usd
    )
    lines = [DraftingLine(batch=batch, sample=sample) for sample in plan.samples]
    DraftingLine.objects.bulk_create(lines, batch_size=500, ignore_conflicts=True)
    count = batch.lines.count()
    if not count:
        raise RuleBroken(_("None of these samples can be drafted now."), rule="nothing_to_draft")
    history.record("draft_samples", batch, by=by, samples=count, expected_usd=str(usd))
    hurry(_message(START, batch.pk))
    return batch


def can_cancel_drafting(user: User, batch: DraftingBatch) -> bool:
    return user.is_lead and batch.finished_at is None


@transaction.atomic
def cancel_drafting(*, batch: DraftingBatch, by: User) -> int:
    """What waits is not started. Runs that were started go on, on pages of their own. Returns how many waited."""
    require_lead(by)
    waiting = batch.lines.filter(outcome=DraftingOutcome.WAITING)
    stopped = waiting.update(outcome=DraftingOutcome.CANCELLED)
    if not stopped:
        raise Conflict(_("Nothing of this batch waits any more."), rule="nothing_waits")
    history.record("cancel_drafting", batch, by=by, samples=stopped)
    _finish(batch)
    return stopped


# --- the worker's part -----------------------------------------------------------------------------------------------


def unfinished_batches() -> list[int]:
    return list(DraftingBatch.objects.filter(finished_at=None).order_by("pk").values_list("pk", flat=True))


def work_off() -> int:
    """In process: every batch to its end. Returns how many samples were started."""
    return sum(start_waiting(pk) for pk in unfinished_batches())


def start_waiting(batch_id: int) -> int:
    """Start what waits in a batch. Returns how many samples were started by this call."""
    batch = DraftingBatch.objects.select_related("made_by").get(pk=batch_id)
    waiting = list(batch.lines.filter(outcome=DraftingOutcome.WAITING).values_list("pk", flat=True))
    started = 0
    with translation.override(batch.made_by.language or settings.LANGUAGE_CODE):
        for pk in waiting:
            started += _start_line(pk, batch)
    _finish(batch)
    return started


def _start_line(pk: int, batch: DraftingBatch) -> bool:
    try:
        with transaction.atomic():
            held = DraftingLine.objects.select_for_update(of=("self",)).filter(pk=pk, outcome=DraftingOutcome.WAITING)
            line = held.select_related("sample").first()
            if line is None:
                return False  # cancelled, or started by another worker
            sample = draft_sample(sample=line.sample, by=batch.made_by, budget_usd=batch.run_budget_usd)
            held.update(outcome=DraftingOutcome.STARTED, run=sample.drafting_run)
    except Refused as refusal:
        _refuse(pk, refusal.rule, str(refusal.message))
        return False
    except DatabaseError:
        raise  # the reconciler comes back to it
    except Exception as error:
        logger.exception("a sample of a drafting batch was passed over (%s)", type(error).__name__)
        _refuse(pk, "fault", _("A fault of the program: %(kind)s.") % {"kind": type(error).__name__})
        return False
    return True


def _refuse(pk: int, rule: str, reason: str) -> None:
    waiting = DraftingLine.objects.filter(pk=pk, outcome=DraftingOutcome.WAITING)
    waiting.update(outcome=DraftingOutcome.REFUSED, rule=rule[:60], reason=reason)


def _finish(batch: DraftingBatch) -> None:
    waits = DraftingLine.objects.filter(batch=OuterRef("pk"), outcome=DraftingOutcome.WAITING)
    unfinished = DraftingBatch.objects.filter(~Exists(waits), pk=batch.pk, finished_at=None)
    unfinished.update(finished_at=timezone.now())
