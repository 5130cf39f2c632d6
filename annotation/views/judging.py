"""What is decided at the desk: one action each, then the desk as it stands. A refusal is shown where it was pressed."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST
from django_htmx.http import trigger_client_event

from annotation import actions
from annotation.desk import next_open
from annotation.models import Candidate
from annotation.queries import challenge_results
from annotation.taking_back import last_verdict
from annotation.verifying import CHECKS
from annotation.views.common import candidate_or_404, in_place, is_fragment, number_in, sample_or_404
from annotation.views.desk import moved, stand
from annotation.workflow import CandidateState, SampleState
from core import guidelines
from core.refusals import Invalid
from core.viewing import person_of


@require_POST
@in_place
def candidate_read(request: HttpRequest, pk: int) -> HttpResponse:
    candidate = actions.read_candidate(candidate=candidate_or_404(pk), by=person_of(request))
    return moved(request, candidate, _("Read. Task A open."), row_alone=True)


def _judged(request: HttpRequest) -> dict[str, Any]:
    ticked = set(request.POST.getlist("checks"))
    return {
        "version": number_in(request.POST.get("version")) or 0,
        "verdict": request.POST.get("verdict", ""),
        "checks": [str(place) in ticked for place in range(1, CHECKS + 1)],
        "reason": request.POST.get("reason", ""),
        "by": person_of(request),
    }


def _passed_on(request: HttpRequest, candidate: Candidate, said: str) -> HttpResponse:
    """A step further, the list knows no more of it than the row says; a discard also changes its figures."""
    return moved(request, candidate, said, row_alone=candidate.state != CandidateState.DISCARDED)


@require_POST
@in_place
def candidate_task_a(request: HttpRequest, pk: int) -> HttpResponse:
    candidate = actions.judge_task_a(candidate=candidate_or_404(pk), **_judged(request))
    return _passed_on(request, candidate, _("Task A done, Task B open."))


@require_POST
@in_place
def candidate_task_b(request: HttpRequest, pk: int) -> HttpResponse:
    candidate = actions.judge_task_b(candidate=candidate_or_404(pk), **_judged(request))
    return _passed_on(request, candidate, _("Task B done, Task C open."))


@require_POST
@in_place
def candidate_challenge(request: HttpRequest, pk: int) -> HttpResponse:
    candidate = candidate_or_404(pk)
    version = number_in(request.POST.get("version")) or 0
    actions.challenge_candidate(candidate=candidate, version=version, by=person_of(request))
    return moved(request, candidate, _("The models are answering. You can go on with another candidate."))


@require_POST
@in_place
def candidate_overrule(request: HttpRequest, pk: int) -> HttpResponse:
    candidate = candidate_or_404(pk)
    results = challenge_results(candidate)
    if results is None:
        raise Invalid({"run_call": _("There is no scored answer to overrule.")})
    run_call = get_object_or_404(results.challenge.run.run_calls, pk=number_in(request.POST.get("run_call")) or 0)
    actions.overrule_answer(
        challenge=results.challenge,
        run_call=run_call,
        right=request.POST.get("right") == "yes",
        reason=request.POST.get("reason", ""),
        by=person_of(request),
    )
    return moved(request, candidate, _("Overruled."))


@require_POST
@in_place
def candidate_task_c(request: HttpRequest, pk: int) -> HttpResponse:
    given = _judged(request)
    del given["checks"]
    candidate = actions.judge_task_c(candidate=candidate_or_404(pk), **given)
    return moved(request, candidate, _("Task C done, the candidate has passed."))


# Discarding ----------------------------------------------------------------------------------------------------


def _reason(request: HttpRequest) -> str:
    kind, text = request.POST.get("kind", "").strip(), request.POST.get("reason", "").strip()
    return ". ".join(part for part in (kind, text) if part)


@require_POST
@in_place
def candidate_discard(request: HttpRequest, pk: int) -> HttpResponse:
    """Then on to the next open candidate, or back to the one it was compared with."""
    candidate = candidate_or_404(pk)
    actions.discard_candidate(candidate=candidate, reason=_reason(request), by=person_of(request))
    stay = number_in(request.POST.get("stay"))
    return _discarded(request, candidate, _("Discarded."), position=stay or next_open(candidate))


@require_POST
@in_place
def sample_discard_same(request: HttpRequest, pk: int) -> HttpResponse:
    """Several candidates that ask what the kept one asks, with one reason."""
    sample = sample_or_404(pk)
    kept = get_object_or_404(sample.candidates, pk=number_in(request.POST.get("keep")) or 0)
    asked = [number_in(given) or 0 for given in request.POST.getlist("candidates")]
    candidates = list(sample.candidates.filter(pk__in=asked).select_related("sample").order_by("position"))
    actions.discard_candidates(candidates=candidates, reason=request.POST.get("reason", ""), by=person_of(request))
    said = ngettext("%(n)s candidate discarded.", "%(n)s candidates discarded.", len(candidates))
    return stand(request, sample_or_404(pk), said % {"n": len(candidates)}, position=kept.position)


def _discarded(request: HttpRequest, candidate: Candidate, said: str, *, position: int) -> HttpResponse:
    """The page offers for some seconds to take it back. An exhausted sample says so and offers it in its dock."""
    if candidate.sample.state == SampleState.EXHAUSTED:
        return moved(request, candidate, _("No candidate is left: the sample is exhausted."))
    response = moved(request, candidate, said, position=position)
    last = last_verdict(candidate)
    if is_fragment(request) and last is not None:
        url = reverse("annotation:candidate_take_back", args=[candidate.pk])
        offer = {"text": said, "label": _("Take back"), "url": url, "verdict": last.pk}
        trigger_client_event(response, "desk:discarded", offer)
    return response


# The sample ----------------------------------------------------------------------------------------------------


@require_POST
@in_place
def sample_select(request: HttpRequest, pk: int) -> HttpResponse:
    sample = sample_or_404(pk)
    candidate = get_object_or_404(sample.candidates, pk=number_in(request.POST.get("candidate")) or 0)
    actions.select_candidate(sample=sample, candidate=candidate, by=person_of(request))
    return stand(request, sample_or_404(pk), _("Selected. Submit open."), panel="submit")


@require_POST
@in_place
def sample_submit(request: HttpRequest, pk: int) -> HttpResponse:
    sample = sample_or_404(pk)
    ticked = set(request.POST.getlist("checklist"))
    checklist = [item.code in ticked for item in guidelines.CHECKLIST]
    actions.submit_sample(sample=sample, checklist=checklist, note=request.POST.get("note", ""), by=person_of(request))
    said = _("%(sample)s is submitted to expert audit.") % {"sample": sample.label}
    return stand(request, sample_or_404(pk), said)
