"""One's own review: sit down, judge, save, submit, give the seat back. Nothing here knows of the other review."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from core.api import problem
from core.refusals import Conflict, Invalid, Refused
from core.viewing import person_of
from review import actions
from review.desk import desk_for
from review.forms import content_from, version_from
from review.judging import Content, content_of
from review.models import AnswerReview, ReviewCase
from review.queries import DECIDED, cases_visible_to, review_of
from review.views.common import EMPTY, reader_of
from review.workflow import CaseState, ReviewState


@require_POST
def case_begin(request: HttpRequest, pk: int) -> HttpResponse:
    case = get_object_or_404(ReviewCase.objects.exclude(state=CaseState.AWAITING_PREDICTIONS), pk=pk)
    actions.take_seat(case=case, by=person_of(request))
    return redirect("review:case_review", case.pk)


@require_POST
def case_give_back(request: HttpRequest, pk: int) -> HttpResponse:
    review = get_object_or_404(AnswerReview, case=pk, reviewer=person_of(request))
    actions.give_back_seat(review=review, by=person_of(request))
    messages.success(request, _("Given back. What you wrote is kept."))
    return redirect("review:review_list")


@require_http_methods(["GET", "POST"])
def case_review(request: HttpRequest, pk: int) -> HttpResponse:
    """The form of one's own review. It knows nothing of the other one."""
    person = person_of(request)
    if person.is_lead and request.method == "GET":
        return redirect("review:case_adjudicate", pk)
    case = get_object_or_404(cases_visible_to(person), pk=pk)
    review = review_of(case, person)
    if review is None:
        return _begin_page(request, case)
    if request.method == "POST":
        return _take_in(request, case, review)
    return _review_page(request, case, review, content=content_of(review))


def _begin_page(request: HttpRequest, case: ReviewCase) -> HttpResponse:
    if not actions.can_take_seat(person_of(request), case):
        return redirect("review:case_adjudicate", case.pk)
    context = {"case": case, "desk": desk_for(case, EMPTY, places=False), **reader_of(case)}
    return render(request, "review/case_begin.html", context)


def _take_in(request: HttpRequest, case: ReviewCase, review: AnswerReview) -> HttpResponse:
    sent = content_from(request.POST, elements=len(case.standardization.answer))
    try:
        review = _save(review, sent, request)
        if request.POST.get("do") == "submit":
            actions.submit_review(review=review, version=review.version, by=person_of(request))
            messages.success(request, _("Review submitted. It is frozen now."))
            return redirect("review:review_list")
    except Refused as refusal:
        review.refresh_from_db()
        if review.state == ReviewState.SUBMITTED:
            return _sent_again(review, sent, refusal)
        return _review_page(request, case, review, content=sent, refusal=refusal)
    return redirect("review:case_review", case.pk)


def _sent_again(review: AnswerReview, sent: Content, refusal: Refused) -> HttpResponse:
    """A double click sends the same review twice: the second has no effect and the same answer. The form carries no
    one-time value for that, because it saves itself while it is being sent."""
    if content_of(review) != sent:
        raise refusal
    return redirect("review:review_list")


def _save(review: AnswerReview, sent: Content, request: HttpRequest) -> AnswerReview:
    return actions.save_review(
        review=review, version=version_from(request.POST), by=person_of(request), **sent.as_fields()
    )


@require_POST
def case_save(request: HttpRequest, pk: int) -> HttpResponse:
    """The draft as it is typed (static/js/review.js, autosave): JSON in the shape of the API's problems."""
    own = AnswerReview.objects.filter(reviewer=person_of(request)).select_related("case__standardization")
    review = get_object_or_404(own, case=pk)
    sent = content_from(request.POST, elements=len(review.case.standardization.answer))
    try:
        review = _save(review, sent, request)
    except Invalid as refusal:
        return problem(refusal.status, str(refusal.message), rule=refusal.rule)
    except Refused as refusal:
        return problem(refusal.status, str(refusal.message), rule=refusal.rule, **refusal.details)
    return JsonResponse({"version": review.version})


def _review_page(
    request: HttpRequest, case: ReviewCase, review: AnswerReview, *, content: Content, refusal: Refused | None = None
) -> HttpResponse:
    stale = isinstance(refusal, Conflict) and refusal.rule == "stale_version"
    is_over = case.state in DECIDED
    context = {
        "case": case,
        "review": review,
        "frozen": review.state == ReviewState.SUBMITTED or is_over,
        "released": review.state == ReviewState.RELEASED,
        "decided": is_over,
        "desk": desk_for(case, content),
        "refusal": refusal,
        "errors": refusal.errors if isinstance(refusal, Invalid) else {},
        "stored": desk_for(case, content_of(review), places=False) if stale else None,
        **reader_of(case),
    }
    return render(request, "review/case_review.html", context, status=refusal.status if refusal else 200)
