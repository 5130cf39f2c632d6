"""Editing at the desk: a candidate's wording, and verdicts that are taken back."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation import actions
from annotation.forms import EDITS
from annotation.views.common import candidate_or_404, in_place, number_in, sample_or_404
from annotation.views.desk import moved, show
from core.refusals import Conflict, Invalid
from core.viewing import person_of, refuse_into


@require_POST
def candidate_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Typed text stays in its field whatever is refused; a conflict shows both texts."""
    candidate, part = candidate_or_404(pk), request.POST.get("part", "")
    form = EDITS.get(part, EDITS["question"])(request.POST)
    version = number_in(request.POST.get("version")) or 0
    form.is_valid()
    try:
        actions.edit_candidate(candidate=candidate, version=version, by=person_of(request), **form.cleaned_data)
    except Invalid as refusal:
        refuse_into(form, refusal)
        return show(request, candidate.sample, position=candidate.position, part=part, form=form, status=refusal.status)
    except Conflict as refusal:
        if refusal.rule != "stale_version":
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


@require_POST
@in_place
def candidate_take_back(request: HttpRequest, pk: int) -> HttpResponse:
    """Answers like a verdict: the pane with this candidate open. `verdict`, when sent, names the one that is meant."""
    meant = number_in(request.POST.get("verdict"))
    candidate = actions.take_back_verdict(candidate=candidate_or_404(pk), verdict=meant, by=person_of(request))
    return moved(request, candidate, _("Taken back. %(state)s.") % {"state": candidate.get_state_display()})
