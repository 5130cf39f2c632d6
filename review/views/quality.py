"""Pages of the quality audit."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from benchmark.prompts import segments
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed, Refused, RuleBroken
from core.spreadsheet import lines
from core.viewing import csv_response, person_of, refuse_into
from documents.reading import reader_for
from review import actions, auditing
from review.forms import DrawForm, attributes_from, scores_from
from review.models import AuditedSample, QualityAudit
from review.queries import audited_offered_to, audited_visible_to, scores_visible_to, still_to_score
from review.views.common import PAGE
from review.workflow import Dimension


@require_http_methods(["GET", "POST"])
def quality(request: HttpRequest) -> HttpResponseBase:
    person = person_of(request)
    if request.method == "GET" and request.GET.get("format") in LISTS:
        return _list(request, person, request.GET["format"])
    form = DrawForm(request.POST or None)
    status = 200
    if request.method == "POST":
        if not actions.can_draw_audit(person):
            raise NotAllowed(_("Only a lead draws a quality audit."))
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
    audit = _newest()
    may_see = person.is_lead or person.is_expert
    context = {
        "section": "quality",
        "form": form,
        "may_draw": actions.can_draw_audit(person),
        "may_see": may_see,
        "draw": still_to_score(audit)[:PAGE] if audit and person.is_lead else None,
        "results": auditing.results(audit) if audit and may_see else None,
        "offered": audited_offered_to(person)[:PAGE],
        "own": scores_visible_to(person)
        .filter(scorer=person)
        .select_related("audited__sample__document", "audited__sample__document_version"),
        "is_expert": person.is_expert,
    }
    return render(request, "review/quality.html", context, status=status)


def _newest() -> QualityAudit | None:
    return QualityAudit.objects.select_related("drawn_by").first()


LISTS = ("scores", "results")


def _list(request: HttpRequest, person: User, which: str) -> HttpResponseBase:
    """The scores or the results of the newest draw, to those who may see its results."""
    audit = _newest()
    if not (person.is_lead or person.is_expert):
        raise NotAllowed(_("Experts score drawn samples here; leads see the results."))
    if audit is None:
        raise Http404
    made = auditing.score_lines(audit) if which == "scores" else auditing.result_lines(auditing.results(audit))
    return csv_response(lines(*made), f"quality-{audit.pk}-{which}.csv")


@require_http_methods(["POST"])
def quality_replace(request: HttpRequest, pk: int) -> HttpResponse:
    person = person_of(request)
    audited = get_object_or_404(audited_visible_to(person), pk=pk)
    try:
        made = actions.replace_audited(audited=audited, reason=request.POST.get("reason", ""), by=person)
    except Invalid as refusal:
        messages.error(request, " ".join(str(word) for words in refusal.errors.values() for word in words))
    except (Conflict, RuleBroken) as refusal:
        messages.error(request, str(refusal.message))
    else:
        names = {"old": audited.sample.label, "new": made.sample.label}
        messages.success(request, _("%(new)s stands in the place of %(old)s.") % names)
    return redirect("review:quality")


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
