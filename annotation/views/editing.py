"""Editing at the desk: a candidate's wording, saved while somebody types, and verdicts that are taken back.

The page's script (static/js/desk-edit.js) opens one part of the candidate in its place, saves it as JSON, and fetches
what stands around it when a step opened again, so that the fields themselves are never replaced.
"""

from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import actions
from annotation.checking import between, changes_of, check_wording, step_of
from annotation.desk import desk_for
from annotation.editing import Wording, as_typed, last_edit
from annotation.forms import EDITS, edit_form
from annotation.models import Candidate
from annotation.serializers import CheckedSerializer, DifferencesSerializer
from annotation.views.common import candidate_or_404, in_place, is_fragment, number_in, require_trail, sample_or_404
from annotation.views.desk import address, basis, moved, show
from core.refusals import Conflict, Invalid
from core.viewing import STALE, person_of, refuse_into

PAGE = "annotation/sample_verify.html"


def _form(request: HttpRequest, part: str) -> forms.Form:
    form = EDITS[part](request.POST)
    form.is_valid()
    return form


def _given(request: HttpRequest, form: forms.Form) -> dict[str, Any]:
    """What was sent; a field that the page did not have stays as it is."""
    return {name: value for name, value in form.cleaned_data.items() if name in request.POST}


@require_POST
def candidate_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """The plain form. Typed text stays in its field whatever is refused; a conflict shows both texts."""
    candidate, part = candidate_or_404(pk), request.POST.get("part", "")
    form = _form(request, part if part in EDITS else "question")
    version = number_in(request.POST.get("version")) or 0
    try:
        actions.edit_candidate(candidate=candidate, version=version, by=person_of(request), **_given(request, form))
    except Invalid as refusal:
        refuse_into(form, refusal)
        return show(request, candidate.sample, position=candidate.position, part=part, form=form, status=refusal.status)
    except Conflict as refusal:
        if refusal.rule != STALE:
            raise
        return show(
            request,
            sample_or_404(candidate.sample_id),
            position=candidate.position,
            part=part,
            form=form,
            conflict=True,
            status=refusal.status,
        )
    return moved(request, candidate, _("Saved. %(state)s.") % {"state": candidate.get_state_display()})


# In place ----------------------------------------------------------------------------------------------------------


def _part(part: str) -> str:
    if part not in EDITS:
        raise Http404
    return part


@require_GET
def candidate_part(request: HttpRequest, pk: int, part: str) -> HttpResponse:
    """One part of the open candidate, as a form or, with `close`, to read. Ticked checks beside it stay ticked."""
    candidate, part = candidate_or_404(pk), _part(part)
    require_trail(person_of(request), candidate.sample)
    if not is_fragment(request):
        return redirect(f"{address(candidate.sample, candidate.position)}&edit={part}")
    desk = desk_for(candidate.sample, person_of(request), position=candidate.position)
    opened = desk.opened
    editing = "close" not in request.GET and desk.holds and opened is not None and opened.is_editable
    context = {
        **basis(request, candidate.sample, desk),
        "part": part if editing else "",
        "form": edit_form(part, opened.candidate) if editing and opened else None,
    }
    return render(request, f"{PAGE}#{part}_part", context)


@require_POST
def candidate_save(request: HttpRequest, pk: int, part: str) -> HttpResponse:
    """Saved while somebody types: JSON in the shape of the API's problems. A conflict tells both texts apart."""
    candidate, by = candidate_or_404(pk), person_of(request)
    given = _given(request, _form(request, _part(part)))
    version, state = number_in(request.POST.get("version")) or 0, candidate.state
    try:
        actions.edit_candidate(candidate=candidate, version=version, by=by, **given)
    except Conflict as refusal:
        if refusal.rule != STALE:
            raise
        return _stale(candidate, refusal, given)
    reopened = "" if candidate.state == state else _("%(state)s again.") % {"state": candidate.get_state_display()}
    return JsonResponse({"version": candidate.version, "step": step_of(candidate), "reopened": reopened})


def _stale(candidate: Candidate, refusal: Conflict, given: dict[str, Any]) -> JsonResponse:
    now, mine, last = Wording.of(candidate), as_typed(candidate, **given), last_edit(candidate)
    differences: Any = DifferencesSerializer(between(now, mine)).data
    who, when = (last.by.name, timezone.localtime(last.at)) if last else ("", timezone.localtime())
    body = {
        "status": refusal.status,
        "rule": refusal.rule,
        "detail": _("%(person)s saved this at %(time)s. Nothing was overwritten.")
        % {"person": who, "time": date_format(when, "H:i")},
        "version": candidate.version,
        "now": {name: now.stored()[name] for name in given},
        "differences": {name: differences[name] for name in given},
    }
    return JsonResponse(body, status=refusal.status, content_type="application/problem+json")


@require_POST
def candidate_check(request: HttpRequest, pk: int) -> JsonResponse:
    """Hints, places in the document and differences for what is typed now. Nothing is saved."""
    rows = Candidate.objects.select_related("draft", "sample__document", "sample__document_version")
    candidate = rows.filter(pk=pk).first()
    if candidate is None:
        raise Http404
    require_trail(person_of(request), candidate.sample)
    typed = {name: value for part in EDITS for name, value in _given(request, _form(request, part)).items()}
    return JsonResponse(CheckedSerializer(check_wording(candidate, as_typed(candidate, **typed))).data)


@require_GET
def candidate_around(request: HttpRequest, pk: int) -> HttpResponse:
    """Steps, list, dock and the models' answers, each to its place: the form that is typed in is left alone."""
    candidate = candidate_or_404(pk)
    require_trail(person_of(request), candidate.sample)
    desk = desk_for(candidate.sample, person_of(request), position=candidate.position)
    context = {**basis(request, candidate.sample, desk), "marks": desk.marks("")}
    return render(request, f"{PAGE}#around", context)


# History and undo --------------------------------------------------------------------------------------------------


@require_GET
def candidate_edits(request: HttpRequest, pk: int) -> HttpResponse:
    """Every edit as a difference, newest first."""
    candidate = candidate_or_404(pk)
    require_trail(person_of(request), candidate.sample)
    if not is_fragment(request):
        return redirect(address(candidate.sample, candidate.position))
    edits = candidate.edits.select_related("by").order_by("-version")
    context = {"sample": candidate.sample, "edits": [(edit, changes_of(edit)) for edit in edits]}
    return render(request, "annotation/desk/history.html", context)


@require_POST
@in_place
def candidate_undo(request: HttpRequest, pk: int) -> HttpResponse:
    version = number_in(request.POST.get("version")) or 0
    candidate = actions.undo_edit(candidate=candidate_or_404(pk), version=version, by=person_of(request))
    return moved(request, candidate, _("Undone. %(state)s.") % {"state": candidate.get_state_display()})


@require_POST
@in_place
def candidate_take_back(request: HttpRequest, pk: int) -> HttpResponse:
    """Answers like a verdict: the pane with this candidate open. `verdict`, when sent, names the one that is meant."""
    meant = number_in(request.POST.get("verdict"))
    candidate = actions.take_back_verdict(candidate=candidate_or_404(pk), verdict=meant, by=person_of(request))
    return moved(request, candidate, _("Taken back. %(state)s.") % {"state": candidate.get_state_display()})
