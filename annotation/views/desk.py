"""The annotator's desk. Each action answers a fragment with the pane and the list of candidates, a form with a page."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import push_url, trigger_client_event

from annotation import actions
from annotation.desk import Desk, desk_for, next_open
from annotation.forms import EDITS, SubmitForm, edit_form, page_language
from annotation.models import Candidate, Sample
from annotation.queries import challenge_results
from annotation.verifying import CHECKS
from annotation.views.common import candidate_or_404, go, is_fragment, require_trail, sample_or_404
from annotation.workflow import AT_THE_DESK, SampleState
from core import guidelines
from core.refusals import Conflict, Invalid
from core.viewing import person_of, refuse_into
from documents.reading import reader_for

PANELS = ("select", "submit")
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
        position=_number(request.GET.get("candidate")),
        panel=panel if panel in PANELS else "",
        part=part if part in EDITS else "",
    )


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 6 else None


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
    form: forms.Form | None = None,
    conflict: bool = False,
    status: int = 200,
) -> HttpResponse:
    """The pane with what belongs to it, or the whole page."""
    desk = desk_for(sample, person_of(request), position=position)
    opened = desk.opened
    editing = bool(opened and part and desk.holds and opened.is_editable)
    if editing and form is None and opened:
        form = edit_form(part, opened.candidate)
    context = {
        **_basis(request, sample, desk),
        "marks": desk.marks(panel),
        "panel": panel,
        "part": part if editing else "",
        "form": form if editing else None,
        "submit_form": SubmitForm() if panel == "submit" else None,
        "conflict": conflict,
    }
    if is_fragment(request):
        return render(request, f"{PAGE}#moved", context, status=status)
    context["reader"] = reader_for(sample.document_version)
    return render(request, PAGE, context, status=status)


def _basis(request: HttpRequest, sample: Sample, desk: Desk) -> dict[str, Any]:
    """What the pane, its dock and the list of candidates need, whichever of them is asked for."""
    return {
        "section": "samples",
        "sample": sample,
        "desk": desk,
        "open": desk.opened,
        "reasons": REASONS,
        "checklist": guidelines.CHECKLIST,
        "guidelines": guidelines,
        "language": page_language(),
        "may_claim": not desk.holds and actions.can_claim_sample(person_of(request), sample),
    }


def _moved(request: HttpRequest, candidate: Candidate, said: str, *, on: bool = False) -> HttpResponse:
    """Answer an action on a candidate: stay with it, or go on to the next open one when it has ended."""
    sample = sample_or_404(candidate.sample_id)
    if sample.state not in AT_THE_DESK:
        messages.info(request, said)
        return go(request, reverse("annotation:sample_detail", args=[sample.pk]))
    position = next_open(candidate) if on else candidate.position
    if not is_fragment(request):
        return redirect(address(sample, position))
    response = show(request, sample, position=position)
    trigger_client_event(response, "desk:said", {"text": said})
    return push_url(response, address(sample, position))


# One candidate -------------------------------------------------------------------------------------------------


@require_POST
def candidate_read(request: HttpRequest, pk: int) -> HttpResponse:
    candidate = actions.read_candidate(candidate=candidate_or_404(pk), by=person_of(request))
    return _moved(request, candidate, _("Read. Task A open."))


@require_POST
def candidate_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Typed text stays in its field whatever is refused; a conflict shows both texts."""
    candidate, part = candidate_or_404(pk), request.POST.get("part", "")
    form = EDITS.get(part, EDITS["question"])(request.POST)
    version = _number(request.POST.get("version")) or 0
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
    return _moved(request, candidate, _("Saved. %(state)s.") % {"state": candidate.get_state_display()})


def _judged(request: HttpRequest) -> dict[str, Any]:
    ticked = set(request.POST.getlist("checks"))
    return {
        "version": _number(request.POST.get("version")) or 0,
        "verdict": request.POST.get("verdict", ""),
        "checks": [str(place) in ticked for place in range(1, CHECKS + 1)],
        "reason": request.POST.get("reason", ""),
        "by": person_of(request),
    }


@require_POST
def candidate_task_a(request: HttpRequest, pk: int) -> HttpResponse:
    candidate = actions.judge_task_a(candidate=candidate_or_404(pk), **_judged(request))
    return _moved(request, candidate, _("Task A done, Task B open."))


@require_POST
def candidate_task_b(request: HttpRequest, pk: int) -> HttpResponse:
    candidate = actions.judge_task_b(candidate=candidate_or_404(pk), **_judged(request))
    return _moved(request, candidate, _("Task B done, Task C open."))


@require_POST
def candidate_challenge(request: HttpRequest, pk: int) -> HttpResponse:
    candidate = candidate_or_404(pk)
    version = _number(request.POST.get("version")) or 0
    actions.challenge_candidate(candidate=candidate, version=version, by=person_of(request))
    return _moved(request, candidate, _("The models are answering. You can go on with another candidate."))


@require_GET
def candidate_answers(request: HttpRequest, pk: int) -> HttpResponse:
    """The challenge's results, asked for again by the page while some are missing."""
    candidate = candidate_or_404(pk)
    require_trail(person_of(request), candidate.sample)
    desk = desk_for(candidate.sample, person_of(request), position=candidate.position)
    return render(request, f"{PAGE}#answers", _basis(request, candidate.sample, desk))


@require_POST
def candidate_overrule(request: HttpRequest, pk: int) -> HttpResponse:
    candidate = candidate_or_404(pk)
    results = challenge_results(candidate)
    if results is None:
        raise Invalid({"run_call": _("There is no scored answer to overrule.")})
    run_call = get_object_or_404(results.challenge.run.run_calls, pk=_number(request.POST.get("run_call")) or 0)
    actions.overrule_answer(
        challenge=results.challenge,
        run_call=run_call,
        right=request.POST.get("right") == "yes",
        reason=request.POST.get("reason", ""),
        by=person_of(request),
    )
    return _moved(request, candidate, _("Overruled."))


@require_POST
def candidate_task_c(request: HttpRequest, pk: int) -> HttpResponse:
    given = _judged(request)
    del given["checks"]
    candidate = actions.judge_task_c(candidate=candidate_or_404(pk), **given)
    return _moved(request, candidate, _("Task C done, the candidate has passed."))


@require_POST
def candidate_discard(request: HttpRequest, pk: int) -> HttpResponse:
    kind, text = request.POST.get("kind", "").strip(), request.POST.get("reason", "").strip()
    reason = ". ".join(part for part in (kind, text) if part)
    candidate = actions.discard_candidate(candidate=candidate_or_404(pk), reason=reason, by=person_of(request))
    said = _("Discarded.")
    if sample_or_404(candidate.sample_id).state == SampleState.EXHAUSTED:
        said = _("No candidate is left: the sample is exhausted.")
    return _moved(request, candidate, said, on=True)


# The sample ----------------------------------------------------------------------------------------------------


@require_POST
def sample_select(request: HttpRequest, pk: int) -> HttpResponse:
    sample = sample_or_404(pk)
    candidate = get_object_or_404(sample.candidates, pk=_number(request.POST.get("candidate")) or 0)
    actions.select_candidate(sample=sample, candidate=candidate, by=person_of(request))
    if not is_fragment(request):
        return redirect(address(sample, panel="submit"))
    response = show(request, sample_or_404(pk), position=candidate.position, panel="submit")
    trigger_client_event(response, "desk:said", {"text": _("Selected. Submit open.")})
    return push_url(response, address(sample, panel="submit"))


@require_POST
def sample_submit(request: HttpRequest, pk: int) -> HttpResponse:
    sample = sample_or_404(pk)
    ticked = set(request.POST.getlist("checklist"))
    checklist = [item.code in ticked for item in guidelines.CHECKLIST]
    actions.submit_sample(sample=sample, checklist=checklist, note=request.POST.get("note", ""), by=person_of(request))
    messages.success(request, _("%(sample)s is submitted to expert audit.") % {"sample": sample.label})
    return go(request, reverse("annotation:sample_detail", args=[sample.pk]))
