"""The annotator's desk. Each action answers a fragment with the pane and the list of candidates, a form with a page."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import push_url, trigger_client_event

from annotation import actions
from annotation.comparing import Comparison, compare
from annotation.desk import Desk, desk_for, following
from annotation.forms import EDITS, SubmitForm, edit_form, page_language
from annotation.models import Candidate, Sample, StepVerdict
from annotation.taking_back import last_of
from annotation.views.common import (
    in_place,
    is_fragment,
    number_in,
    require_trail,
    sample_or_404,
)
from annotation.workflow import AT_THE_DESK
from core import guidelines
from core.models import User
from core.viewing import person_of
from documents.reading import reader_for

PANELS = ("select", "submit", "compare")
PAGE = "annotation/sample_verify.html"

# Common reasons for discarding, one key away.
REASONS = (
    gettext_lazy("Not this task"),
    gettext_lazy("Outside the document"),
    gettext_lazy("Opinion, or not verifiable"),
    gettext_lazy("Wrong or invented answer"),
    gettext_lazy("Trivial"),
    gettext_lazy("Not challenging"),
)


@require_GET
def sample_verify(request: HttpRequest, pk: int) -> HttpResponse:
    """The desk: open to the person who holds the sample, to look at for everybody who may know its trail."""
    sample = sample_or_404(pk)
    require_trail(person_of(request), sample)
    panel, part = request.GET.get("panel", ""), request.GET.get("edit", "")
    return show(
        request,
        sample,
        position=number_in(request.GET.get("candidate")),
        panel=panel if panel in PANELS else "",
        part=part if part in EDITS else "",
        other=number_in(request.GET.get("with")),
    )


def address(sample: Sample, position: int | None = None, panel: str = "") -> str:
    query = f"?panel={panel}" if panel else f"?candidate={position}" if position else ""
    return reverse("annotation:sample_verify", args=[sample.pk]) + query


def show(
    request: HttpRequest,
    sample: Sample,
    *,
    position: int | None = None,
    panel: str = "",
    part: str = "",
    other: int | None = None,
    form: forms.Form | None = None,
    conflict: bool = False,
    row_alone: bool = False,
    status: int = 200,
) -> HttpResponse:
    """The pane with what belongs to it, or the whole page. Who only opens another candidate gets the pane alone;
    `row_alone`: nothing but the open candidate's own row has changed in the list."""
    looks = is_fragment(request) and request.method == "GET" and "fresh" not in request.GET
    desk = desk_for(sample, person_of(request), position=position, glance=not looks or bool(panel))
    panel = _possible(panel, desk, asked=position is not None, mine=sample.annotator_id == person_of(request).pk)
    opened = desk.opened
    editing = bool(opened and part and desk.holds and opened.is_editable)
    if editing and form is None and opened:
        form = edit_form(part, opened.candidate)
    comparison = _comparison(desk, other) if panel == "compare" else None
    context = {
        **basis(request, sample, desk),
        "marks": desk.marks(panel),
        "panel": panel,
        "part": part if editing else "",
        "form": form if editing else None,
        "submit_form": SubmitForm() if panel == "submit" else None,
        "comparison": comparison,
        "sides": (comparison.left, comparison.right) if comparison else (),
        "conflict": conflict,
    }
    if is_fragment(request):
        parts = "looked" if looks else "judged" if row_alone and desk.row else "moved"
        return render(request, f"{PAGE}#{parts}", context, status=status)
    context["reader"] = reader_for(sample.document_version)
    return render(request, PAGE, context, status=status)


def _possible(panel: str, desk: Desk, *, asked: bool, mine: bool) -> str:
    """The panel that was asked for, if there is something to show in it. Whose sample has left the desk is told so."""
    if not desk.is_at_work and mine and not asked:
        return "ended"
    has = {"select": True, "submit": desk.chosen is not None, "compare": len(desk.rows) > 1}
    return panel if has.get(panel) else ""


def _comparison(desk: Desk, other: int | None) -> Comparison | None:
    left, opened = desk.row, desk.opened
    return compare(left, opened, desk.rows, other=other) if left and opened else None


def basis(request: HttpRequest, sample: Sample, desk: Desk) -> dict[str, Any]:
    """What the pane, its dock and the list of candidates need, whichever of them is asked for."""
    person = person_of(request)
    return {
        "section": "samples",
        "sample": sample,
        "desk": desk,
        "open": desk.opened,
        "chosen_row": desk.row_at(desk.chosen.position) if desk.chosen else None,
        "next_open": desk.next_open,
        "next_twin": following(desk.row, desk.row.twins) if desk.row else None,
        "reasons": REASONS,
        "checklist": guidelines.CHECKLIST,
        "guidelines": guidelines,
        "language": page_language(),
        "last": _to_take_back(person, desk),
        "may_claim": not desk.holds and desk.is_free_for(person) and actions.can_claim_sample(person, sample),
    }


def _to_take_back(person: User, desk: Desk) -> StepVerdict | None:
    """The verdict that this person may take back on the open candidate."""
    if desk.opened is None:
        return None
    candidate = desk.opened.candidate
    last = last_of(candidate, desk.opened.verdicts.values())
    may = last is not None and actions.can_take_back_verdict(person, candidate, last, holds=desk.holds)
    return last if may else None


def moved(
    request: HttpRequest, candidate: Candidate, said: str, *, position: int | None = None, row_alone: bool = False
) -> HttpResponse:
    """Answer an action on a candidate: with it, with the one at `position`, or with the end of a sample that ended."""
    sample = sample_or_404(candidate.sample_id)
    if sample.state in AT_THE_DESK:
        return stand(request, sample, said, position=position or candidate.position, row_alone=row_alone)
    return stand(request, sample, said)


def stand(
    request: HttpRequest,
    sample: Sample,
    said: str,
    *,
    position: int | None = None,
    panel: str = "",
    row_alone: bool = False,
) -> HttpResponse:
    """The desk as it stands after an action: its fragment, or the way to its page. What was done is spoken."""
    if not is_fragment(request):
        return redirect(address(sample, position, panel))
    response = show(request, sample, position=position, panel=panel, row_alone=row_alone)
    trigger_client_event(response, "desk:said", {"text": said})
    return push_url(response, address(sample, position, panel))


# Parts that the page asks for by itself ------------------------------------------------------------------------


@require_GET
def sample_glance(request: HttpRequest, pk: int) -> HttpResponse:
    """The list of candidates, asked for again while models are answering; and the answers to the open candidate, where
    the page shows them."""
    sample = sample_or_404(pk)
    require_trail(person_of(request), sample)
    desk = desk_for(sample, person_of(request), position=number_in(request.GET.get("candidate")))
    answers = bool(request.GET.get("answers") and desk.opened and desk.opened.results)
    return render(request, f"{PAGE}#glance", {**basis(request, sample, desk), "answers": answers})


@require_POST
@in_place
def desk_claim(request: HttpRequest, pk: int) -> HttpResponse:
    """Claim the sample, or claim it again after a lapse, without leaving the candidate."""
    sample = sample_or_404(pk)
    actions.claim_sample(sample=sample, by=person_of(request))
    said = _("%(sample)s is yours.") % {"sample": sample.label}
    return stand(request, sample_or_404(pk), said, position=number_in(request.POST.get("position")))
