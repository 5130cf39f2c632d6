"""A case with both reviews side by side: for the expert who took it, and for leads."""

from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation.workflow import ReconstructionStep
from core.api import problem
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed, Refused
from core.viewing import STALE, person_of
from review import actions
from review.desk import Difference, compare, desk_for
from review.forms import decisions_from, lines_from, version_from
from review.judging import Mark
from review.models import Adjudication, AnswerReview, DecisionDraft, ReviewCase
from review.queries import (
    DECIDED,
    cases_visible_to,
    draft_of,
    names_are_hidden,
    review_of,
    reviews_visible_to,
    rounds_of,
)
from review.rounds import rounds
from review.views.common import EMPTY, reader_of
from review.workflow import AdjudicationOutcome, Decided, ReviewState


@dataclass(frozen=True)
class Sent:
    """The decision form, as posted or as its draft has it."""

    choice: str = ""
    reason: str = ""
    marks: list[Mark] = field(default_factory=list)
    proposal: str = ""

    @property
    def outcome(self) -> str:
        return AdjudicationOutcome.RECONSTRUCT if self.step else self.choice

    @property
    def step(self) -> str:
        return self.choice if self.choice in ReconstructionStep.values else ""

    @property
    def lines(self) -> list[str]:
        """The proposal counts only where the answer is revised; the field is on the page for every choice."""
        return lines_from(self.proposal) if self.step == ReconstructionStep.ANSWER else []


@dataclass(frozen=True)
class ShownReview:
    """A review under the letter of its column; `name` is empty while names are hidden."""

    letter: str
    name: str
    review: AnswerReview
    may_free: bool


@require_http_methods(["GET", "POST"])
def case_adjudicate(request: HttpRequest, pk: int) -> HttpResponse:
    """Both reviews side by side. A lead's look at an undecided case is written down."""
    person = person_of(request)
    case = get_object_or_404(cases_visible_to(person), pk=pk)
    if not person.is_lead and (case.state not in DECIDED or review_of(case, person)):
        if request.method == "POST":
            raise NotAllowed(_("This case is not yours to decide."))
        return redirect("review:case_review", case.pk)
    if request.method == "GET":
        actions.record_look(case=case, by=person)
        return _page(request, case, _drafted(draft_of(case, person)))
    sent = _sent(request)
    try:
        if "version" in request.POST:
            _save(request, case, sent)
        if request.POST.get("do") == "save":
            return redirect("review:case_adjudicate", case.pk)
        actions.adjudicate_case(
            case=case,
            outcome=sent.outcome,
            step=sent.step,
            reason=sent.reason,
            marks=sent.marks,
            proposal=sent.lines,
            by=person,
        )
    except Refused as refusal:
        if _is_decided_so(case, sent, person):
            return redirect("review:review_list")
        return _page(request, case, sent, refusal=refusal)
    messages.success(request, _("Decided."))
    return redirect("review:review_list")


def _sent(request: HttpRequest) -> Sent:
    return Sent(
        request.POST.get("decision", ""),
        request.POST.get("reason", ""),
        decisions_from(request.POST),
        request.POST.get("proposal", ""),
    )


def _drafted(draft: DecisionDraft | None) -> Sent:
    return Sent(draft.choice, draft.reason, draft.marks, draft.proposal) if draft else Sent()


def _save(request: HttpRequest, case: ReviewCase, sent: Sent) -> DecisionDraft:
    return actions.save_decision(
        case=case,
        version=version_from(request.POST),
        choice=sent.choice,
        reason=sent.reason,
        marks=sent.marks,
        proposal=sent.proposal,
        by=person_of(request),
    )


def _is_decided_so(case: ReviewCase, sent: Sent, person: User) -> bool:
    """A double click sends the same decision twice: the second has no effect and the same answer. The form carries no
    one-time value for that, because it saves itself while it is being sent."""
    case.refresh_from_db()
    decided = Adjudication.objects.filter(case=case, decided_by=person).first()
    return decided is not None and (decided.outcome, decided.step) == (sent.outcome, sent.step)


@require_POST
def case_decision_save(request: HttpRequest, pk: int) -> HttpResponse:
    """The decision as it is typed (static/js/review.js, autosave): JSON in the shape of the API's problems."""
    case = get_object_or_404(cases_visible_to(person_of(request)), pk=pk)
    try:
        draft = _save(request, case, _sent(request))
    except Invalid as refusal:
        return problem(refusal.status, str(refusal.message), rule=refusal.rule)
    except Refused as refusal:
        return problem(refusal.status, str(refusal.message), rule=refusal.rule, **refusal.details)
    return JsonResponse({"version": draft.version})


@require_POST
def case_take(request: HttpRequest, pk: int) -> HttpResponse:
    case = get_object_or_404(cases_visible_to(person_of(request)), pk=pk)
    actions.take_case(case=case, by=person_of(request))
    return redirect("review:case_adjudicate", case.pk)


@require_POST
def case_free_seat(request: HttpRequest, pk: int, review: int) -> HttpResponse:
    case = get_object_or_404(cases_visible_to(person_of(request)), pk=pk)
    freed = get_object_or_404(AnswerReview.objects.select_related("case"), case=case, pk=review)
    actions.free_seat(review=freed, reason=request.POST.get("reason", ""), by=person_of(request))
    messages.success(request, _("The seat is free. What was written is kept."))
    return redirect("review:case_adjudicate", case.pk)


def _page(request: HttpRequest, case: ReviewCase, sent: Sent, *, refusal: Refused | None = None) -> HttpResponse:
    person = person_of(request)
    visible = list(reviews_visible_to(person).filter(case=case))
    reviews = [review for review in visible if review.state != ReviewState.RELEASED]
    decided: Adjudication | None = getattr(case, "adjudication", None) if reviews else None
    desk = desk_for(case, EMPTY, places=bool(reviews))
    rows = compare(desk, reviews, decided.marks if decided else sent.marks)
    may_decide = actions.can_adjudicate_case(person, case)
    deciding = may_decide and bool(reviews)
    stale = isinstance(refusal, Conflict) and refusal.rule == STALE
    draft = draft_of(case, person) if deciding else None
    context = {
        "case": case,
        "desk": desk,
        "reviews": _shown(reviews, case, person),
        "given_back": [review.reviewer for review in visible if review.state == ReviewState.RELEASED],
        "rows": rows,
        "differing": [row for row in rows if row.differs],
        "agreeing": [row for row in rows if not row.differs],
        "may_decide": may_decide,
        "deciding": deciding,
        "draft": draft,
        "stored": draft if stale else None,
        "stored_marks": _in_words(draft) if stale and draft else [],
        "adjudication": decided,
        "rounds": rounds(list(rounds_of(case, person))) if case.round > 1 or case.sample.round > 1 else [],
        "steps": ReconstructionStep.choices,
        "decision": sent,
        "proposal": sent.proposal or "\n".join(proposed(rows)),
        "refusal": refusal,
        "errors": refusal.errors if isinstance(refusal, Invalid) else {},
        **reader_of(case),
    }
    return render(request, "review/case_adjudicate.html", context, status=refusal.status if refusal else 200)


def _in_words(draft: DecisionDraft) -> list[tuple[str, Any]]:
    return [(row["element"], Decided(row["mark"]).label) for row in draft.marks]


def proposed(rows: list[Difference]) -> list[str]:
    """The answer as the expert's decisions would have it: without what is incorrect, with what is missing."""
    kept = [row for row in sorted(rows, key=lambda row: row.number) if _belongs(row)]
    return [" ".join(row.row.element.split()) for row in kept]


def _belongs(row: Difference) -> bool:
    return row.decided.mark == "missing" if row.predicted else row.decided.mark != "incorrect"


def _shown(reviews: list[AnswerReview], case: ReviewCase, person: User) -> list[ShownReview]:
    hidden = names_are_hidden(case, person)
    return [
        ShownReview(
            letter,
            "" if hidden else review.reviewer.name,
            review,
            actions.can_free_seat(person, review),
        )
        for letter, review in zip("ABCDEFGH", reviews, strict=False)
    ]
