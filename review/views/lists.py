"""The list of cases: what waits for a person, what a case waits for (leads), and the way to the next one."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from core.models import User
from core.viewing import person_of
from review import actions
from review.models import ReviewCase
from review.queries import (
    DECIDED,
    cases_for_list,
    cases_offered_to,
    cases_to_adjudicate,
    cases_visible_to,
    reviews_by,
    waiting_reasons,
)
from review.views.common import PAGE, page_of
from review.workflow import CaseState, ReviewState


@dataclass(frozen=True)
class CaseRow:
    """A case in a lead's list, what it waits for, and what the lead can do about it."""

    case: ReviewCase
    waits_for: str
    may_send_again: bool
    may_assign: bool


@require_GET
def review_list(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    context: dict[str, Any] = {"section": "reviews", "decided": DECIDED}
    context |= _of_lead(request, person) if person.is_lead else _of_reviewer(request, person)
    return render(request, "review/review_list.html", context)


def _of_lead(request: HttpRequest, person: User) -> dict[str, Any]:
    rows = cases_for_list().prefetch_related("prediction_run__run_calls__call__model", "reviews__reviewer")
    if state := request.GET.get("state", ""):
        rows = rows.filter(state=state)
    page = page_of(request, rows.order_by("-pk"))
    reasons = waiting_reasons(list(page))
    listed = [
        CaseRow(
            case,
            reasons.get(case.pk, ""),
            actions.can_send_predictions_again(person, case),
            bool(reasons.get(case.pk)) and actions.can_assign_reviewers(person, case),
        )
        for case in page
    ]
    return {"page_obj": page, "rows": listed, "states": CaseState.choices, "state": state}


def _of_reviewer(request: HttpRequest, person: User) -> dict[str, Any]:
    own = reviews_by(person)
    return {
        "begun": own.filter(state=ReviewState.DRAFT),
        "offered": cases_offered_to(person)[:PAGE],
        "disputed": cases_to_adjudicate(person)[:PAGE] if person.is_expert else None,
        "page_obj": page_of(request, own.exclude(state=ReviewState.DRAFT)),
    }


@require_POST
def review_next(request: HttpRequest) -> HttpResponse:
    review = actions.next_review(by=person_of(request))
    if review is None:
        messages.info(request, _("No case waits for you now."))
        return redirect("review:review_list")
    return redirect("review:case_review", review.case_id)


@require_POST
def case_send_again(request: HttpRequest, pk: int) -> HttpResponse:
    case = get_object_or_404(cases_visible_to(person_of(request)), pk=pk)
    actions.send_predictions_again(case=case, by=person_of(request))
    messages.success(request, _("Asked again. The case opens when every model has answered."))
    return redirect("review:review_list")


@require_POST
def case_assign(request: HttpRequest, pk: int) -> HttpResponse:
    case = get_object_or_404(cases_visible_to(person_of(request)), pk=pk)
    made = actions.assign_reviewers(case=case, by=person_of(request))
    names = ", ".join(review.reviewer.name for review in made)
    words = ngettext("Given to %(names)s.", "Given to %(names)s.", len(made))
    messages.success(request, words % {"names": names})
    return redirect("review:review_list")
