"""Pages of answer review, adjudication and quality audit."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.workflow import ReconstructionStep
from benchmark.prompts import segments
from core.api import problem
from core.refusals import Conflict, Invalid, Refused
from core.viewing import person_of, refuse_into
from documents.reading import reader_for
from review import actions, auditing
from review.desk import compare, desk_for
from review.forms import DrawForm, attributes_from, content_from, scores_from, version_from
from review.judging import Content, content_of
from review.models import AnswerReview, AuditedSample, QualityAudit, ReviewCase
from review.queries import (
    DECIDED,
    audited_offered_to,
    audited_visible_to,
    cases_for_list,
    cases_offered_to,
    cases_to_adjudicate,
    cases_visible_to,
    review_of,
    reviews_by,
    reviews_visible_to,
    scores_visible_to,
    waiting_reason,
)
from review.workflow import AdjudicationOutcome, CaseState, Dimension, ReviewState

PAGE = 50
EMPTY = Content([], [], [], [])


def _page(request: HttpRequest, rows: QuerySet[Any]) -> Any:
    return Paginator(rows, PAGE).get_page(request.GET.get("page"))


# Lists -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CaseRow:
    """A case in a lead's list, and why it still waits for predictions."""

    case: ReviewCase
    waits_for: str


@require_GET
def review_list(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    context: dict[str, Any] = {"section": "reviews", "decided": DECIDED}
    if person.is_lead:
        rows = cases_for_list().prefetch_related("prediction_run__run_calls__call__model").order_by("-pk")
        if state := request.GET.get("state", ""):
            rows = rows.filter(state=state)
        page = _page(request, rows)
        context |= {
            "page_obj": page,
            "rows": [CaseRow(case, waiting_reason(case)) for case in page],
            "states": CaseState.choices,
            "state": state,
        }
    else:
        own = reviews_by(person)
        context |= {
            "begun": own.filter(state=ReviewState.DRAFT),
            "offered": cases_offered_to(person)[:PAGE],
            "disputed": cases_to_adjudicate(person)[:PAGE] if person.is_expert else None,
            "page_obj": _page(request, own.filter(state=ReviewState.SUBMITTED)),
        }
    return render(request, "review/review_list.html", context)


@require_POST
def review_next(request: HttpRequest) -> HttpResponse:
    review = actions.next_review(by=person_of(request))
    if review is None:
        messages.info(request, _("No case waits for you now."))
        return redirect("review:review_list")
    return redirect("review:case_review", review.case_id)


@require_POST
def case_begin(request: HttpRequest, pk: int) -> HttpResponse:
    case = get_object_or_404(ReviewCase.objects.exclude(state=CaseState.AWAITING_PREDICTIONS), pk=pk)
    actions.take_seat(case=case, by=person_of(request))
    return redirect("review:case_review", case.pk)


# One's own review ------------------------------------------------------------------------------------------------


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
    context = {"case": case, "desk": desk_for(case, EMPTY, places=False), **_reader(case)}
    return render(request, "review/case_begin.html", context)


def _reader(case: ReviewCase) -> dict[str, Any]:
    return {"reader": reader_for(case.standardization.document_version)}


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
        if review.state != ReviewState.DRAFT:
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
    """The draft as it is typed (static/js/app.js, autosave): JSON in the shape of the API's problems."""
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
    context = {
        "case": case,
        "review": review,
        "frozen": review.state != ReviewState.DRAFT,
        "decided": case.state in DECIDED,
        "desk": desk_for(case, content),
        "refusal": refusal,
        "errors": refusal.errors if isinstance(refusal, Invalid) else {},
        "stored": desk_for(case, content_of(review), places=False) if stale else None,
        **_reader(case),
    }
    return render(request, "review/case_review.html", context, status=refusal.status if refusal else 200)


# Adjudication ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decision:
    """The decision form as posted."""

    choice: str = ""
    reason: str = ""

    @property
    def outcome(self) -> str:
        if self.choice in ReconstructionStep.values:
            return AdjudicationOutcome.RECONSTRUCT
        return self.choice

    @property
    def step(self) -> str:
        return self.choice if self.choice in ReconstructionStep.values else ""


@require_http_methods(["GET", "POST"])
def case_adjudicate(request: HttpRequest, pk: int) -> HttpResponse:
    """Both reviews side by side: for the expert who took the case, and for leads, whose look at an undecided case is
    written down."""
    person = person_of(request)
    case = get_object_or_404(cases_visible_to(person), pk=pk)
    if not person.is_lead and (case.state not in DECIDED or review_of(case, person)):
        return redirect("review:case_review", case.pk)
    decision = Decision(request.POST.get("decision", ""), request.POST.get("reason", ""))
    if request.method == "GET":
        actions.record_look(case=case, by=person)
        return _adjudicate_page(request, case, Decision())
    try:
        actions.adjudicate_case(
            case=case, outcome=decision.outcome, step=decision.step, reason=decision.reason, by=person
        )
    except Refused as refusal:
        return _adjudicate_page(request, case, decision, refusal=refusal)
    messages.success(request, _("Decided."))
    return redirect("review:review_list")


@require_POST
def case_take(request: HttpRequest, pk: int) -> HttpResponse:
    case = get_object_or_404(cases_visible_to(person_of(request)), pk=pk)
    actions.take_case(case=case, by=person_of(request))
    return redirect("review:case_adjudicate", case.pk)


def _adjudicate_page(
    request: HttpRequest, case: ReviewCase, decision: Decision, *, refusal: Refused | None = None
) -> HttpResponse:
    person = person_of(request)
    shown = list(reviews_visible_to(person).filter(case=case))
    desk = desk_for(case, EMPTY, places=bool(shown))
    rows = compare(desk, shown)
    context = {
        "case": case,
        "desk": desk,
        "reviews": shown,
        "rows": rows,
        "differing": [row for row in rows if row.differs],
        "agreeing": [row for row in rows if not row.differs],
        "may_decide": actions.can_adjudicate_case(person, case),
        "taken": bool(shown) and not person.is_lead,
        "adjudication": getattr(case, "adjudication", None) if shown else None,
        "rounds": cases_visible_to(person).filter(sample=case.sample_id, state__in=DECIDED).exclude(pk=case.pk),
        "steps": ReconstructionStep.choices,
        "decision": decision,
        "refusal": refusal,
        "errors": refusal.errors if isinstance(refusal, Invalid) else {},
        **_reader(case),
    }
    return render(request, "review/case_adjudicate.html", context, status=refusal.status if refusal else 200)


# Quality audit ---------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def quality(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    form = DrawForm(request.POST or None)
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                drawn = actions.draw_audit(by=person, **form.cleaned_data)
            except Refused as refusal:
                refuse_into(form, refusal)
                status = refusal.status
            else:
                messages.success(request, _("%(n)s samples drawn.") % {"n": drawn.samples.count()})
                return redirect("review:quality")
    audit = QualityAudit.objects.select_related("drawn_by").first()
    may_see = person.is_lead or person.is_expert
    context = {
        "section": "quality",
        "form": form,
        "may_draw": actions.can_draw_audit(person),
        "results": auditing.results(audit) if audit and may_see else None,
        "offered": audited_offered_to(person)[:PAGE],
        "own": scores_visible_to(person)
        .filter(scorer=person)
        .select_related("audited__sample__document", "audited__sample__document_version"),
        "is_expert": person.is_expert,
    }
    return render(request, "review/quality.html", context, status=status)


@require_http_methods(["GET", "POST"])
def quality_score(request: HttpRequest, pk: int) -> HttpResponse:
    """One drawn sample: to score, or one's own scores again, with the others' once all three are in."""
    person = person_of(request)
    audited = get_object_or_404(audited_visible_to(person), pk=pk)
    refusal: Refused | None = None
    scores, attributes = scores_from(request.POST), attributes_from(request.POST, actions.ATTRIBUTES)
    if request.method == "POST":
        try:
            actions.score_audited(audited=audited, scores=scores, attributes=attributes, by=person)
        except Refused as refused:
            refusal = refused
        else:
            messages.success(request, _("Scored."))
            return redirect("review:quality")
    actions.record_look_at_scores(audited=audited, by=person)
    return _score_page(request, audited, scores, attributes, refusal)


def _score_page(
    request: HttpRequest,
    audited: AuditedSample,
    scores: dict[str, dict[str, Any]],
    attributes: dict[str, Any],
    refusal: Refused | None,
) -> HttpResponse:
    person = person_of(request)
    errors = refusal.errors if isinstance(refusal, Invalid) else {}
    context = {
        "audited": audited,
        "task": audited.sample.task,
        "may_score": actions.can_score_audited(person, audited),
        "scores": scores_visible_to(person).filter(audited=audited),
        "dimensions": [
            {"name": name, "label": label, "given": scores[name], "errors": errors.get(name, [])}
            for name, label in Dimension.choices
        ],
        "attributes": [
            {"name": name, "label": words, "given": attributes[name], "errors": errors.get(name, [])}
            for name, words in auditing.ATTRIBUTE_WORDS.items()
        ],
        "refusal": refusal,
        "segments": segments(audited.standardization.parts, thinking=False),
        "reader": reader_for(audited.standardization.document_version),
    }
    return render(request, "review/quality_score.html", context, status=refusal.status if refusal else 200)
