"""A prediction that did not come is asked for again: the case waits until every model of its panel has answered."""

from django.db import transaction
from django.utils.translation import gettext as _

from core import history
from core.models import User
from core.refusals import Conflict, RuleBroken
from generation.actions import retry_run
from generation.queries import panel
from generation.workflow import CallState, Purpose
from review import opening
from review.actions.guards import locked, require_approved, require_lead
from review.models import ReviewCase
from review.queries import unanswered
from review.workflow import CaseState


def can_send_predictions_again(user: User, case: ReviewCase) -> bool:
    run = case.prediction_run
    return user.is_lead and case.state == CaseState.AWAITING_PREDICTIONS and run is not None and not run.is_under_way


@transaction.atomic
def send_predictions_again(*, case: ReviewCase, by: User) -> ReviewCase:
    """Ask the models that did not answer once more. When one of them is no longer in the panel, the panel of now is
    asked in its place; what was answered is not asked again."""
    require_lead(by)
    case = locked(case)
    if case.state != CaseState.AWAITING_PREDICTIONS:
        raise history.moved_on(case, case.state)
    require_approved(case)
    run = case.prediction_run
    if run is None:
        opening.ask_for_predictions(case.sample)
        case.refresh_from_db()
        return case
    if run.is_under_way:
        raise Conflict(_("The models are still answering."), rule="still_answering", state=case.state)
    missing = unanswered(case)
    if missing and {result.model.pk for result in missing} - {model.pk for model in panel(Purpose.PREDICTION)}:
        opening.ask_the_panel(case, by=by)
    elif missing and all(result.call.state == CallState.UNKNOWN for result in missing):
        raise RuleBroken(
            _("Every call without an answer may have been billed; each is sent again from its own page."),
            rule="calls_unknown",
        )
    else:
        retry_run(run=run, by=by)
        history.record("send_predictions_again", case, by=by, run=run.pk)
    case.refresh_from_db()
    return case
