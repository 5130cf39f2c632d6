"""From a completed standardization to an open case: the predictions are asked for, and when they are in, it opens.

Every function may run at any time, twice, and by two workers at once: a round has one case by constraint, and the
state moves once.
"""

import logging

from celery import current_app
from django.db import transaction
from django.utils import timezone

from annotation.actions import open_review
from annotation.models import Sample
from annotation.queries import current_standardization
from annotation.workflow import SampleState
from core import history
from core.models import User
from core.refusals import Conflict, RuleBroken
from generation.actions import start_predictions
from generation.workflow import RunState
from review.models import ReviewCase
from review.queries import predictions_of, unanswered
from review.workflow import CaseState

logger = logging.getLogger(__name__)

# The task of this name stands a layer above and calls back into this module.
OPEN_CASES = "review.open_cases"


def work_off() -> int:
    """Make what cases are due, ask for their predictions, open those whose predictions are in. How many moved."""
    awaiting = Sample.objects.filter(state=SampleState.AWAITING_PREDICTIONS).order_by("pk")
    begun = sum(ask_for_predictions(sample) for sample in awaiting)
    waiting = ReviewCase.objects.filter(state=CaseState.AWAITING_PREDICTIONS, prediction_run__isnull=False)
    opened = sum(open_case(case) for case in waiting.select_related("sample", "prediction_run").order_by("pk"))
    return begun + opened


@transaction.atomic
def ask_for_predictions(sample: Sample) -> bool:
    """Make the case of the sample's round, if it has none, and start its prediction run, if it has none."""
    # The lock makes a second worker wait here and then find the case.
    sample = Sample.objects.select_for_update().get(pk=sample.pk)
    if sample.state != SampleState.AWAITING_PREDICTIONS:
        return False
    case = ReviewCase.objects.filter(sample=sample, round=sample.round).first()
    if case is not None and case.prediction_run_id is not None:
        return False
    standardization = case.standardization if case else current_standardization(sample)
    if standardization is None or standardization.completed_at is None:
        return False
    made = case is None
    if case is None:
        case = ReviewCase.objects.create(sample=sample, round=sample.round, standardization=standardization)
        history.record("make_case", case, by=None, sample=sample.pk, round=sample.round)
    return ask_the_panel(case, by=None) or made


def ask_the_panel(case: ReviewCase, *, by: User | None) -> bool:
    """Start a prediction run with the panel of now; answers that are there already are taken from where they are."""
    standardization = case.standardization
    try:
        with transaction.atomic():
            run = start_predictions(
                document_version=standardization.document_version,
                task=case.sample.task,
                prompt=standardization.question_nonthinking,
                answer=standardization.answer,
                by=None,
                then=current_app.signature(OPEN_CASES, immutable=True),
            )
    except RuleBroken as refusal:
        # A withdrawn approval, say: the case waits, and the leads' list says for what.
        logger.info("case %s waits: %s", case.pk, refusal.rule)
        return False
    case.prediction_run = run
    case.save(update_fields=["prediction_run"])
    history.record("ask_for_predictions", case, by=by, run=run.pk)
    return True


@transaction.atomic
def open_case(case: ReviewCase) -> bool:
    """Open the case when every model of its run has answered. False when it waits or somebody was faster."""
    case = ReviewCase.objects.select_for_update(of=("self",)).select_related("sample").get(pk=case.pk)
    run = case.prediction_run
    if case.state != CaseState.AWAITING_PREDICTIONS or run is None or run.state != RunState.FINISHED:
        return False
    results = predictions_of(case)
    if not results or unanswered(case, results):
        return False
    try:
        with transaction.atomic():
            history.advance(case, "open", by=None)
            ReviewCase.objects.filter(pk=case.pk).update(opened_at=timezone.now())
            open_review(sample=case.sample)
    except (Conflict, RuleBroken):
        # Somebody was faster, or the approval was withdrawn meanwhile.
        return False
    return True
