"""Expert audit: what the annotator saw and did, the exchange so far, and the decision."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import actions, claims, timing
from annotation.access import sees_audit
from annotation.auditing import Remark
from annotation.desk import OpenCandidate, open_candidate
from annotation.editing import Wording
from annotation.exchange import (
    changes_between,
    checklist_of,
    discarded_of,
    draft_remarks,
    edits_of,
    turns_of,
    verdicts_of,
)
from annotation.forms import page_language
from annotation.models import AuditRemark, Candidate, Sample, Submission
from annotation.views.common import go, is_fragment, sample_or_404
from annotation.workflow import Part
from core import guidelines
from core.models import User
from core.refusals import Invalid, NotAllowed
from core.viewing import person_of
from documents.reading import reader_for

PAGE = "annotation/sample_audit.html"


@require_GET
def sample_audit(request: HttpRequest, pk: int) -> HttpResponse:
    return show(request, sample_or_404(pk))


def show(
    request: HttpRequest,
    sample: Sample,
    *,
    typed: Sequence[Remark] | None = None,
    refusal: Invalid | None = None,
    status: int = 200,
) -> HttpResponse:
    person = person_of(request)
    if not sees_audit(person, sample):
        raise NotAllowed(_("The audit of %(sample)s is not yours to see.") % {"sample": sample.label})
    turns = turns_of(sample)
    may_decide = actions.can_approve_sample(person, sample)
    context = {
        "section": "samples",
        "sample": sample,
        "language": page_language(),
        "turn": turns[-1] if turns else None,
        "earlier": turns[-2::-1],
        "claim": claims.live_claim(sample),
        "may_decide": may_decide,
        "may_claim": actions.can_claim_for_judging(person, sample),
        "may_withdraw": actions.can_withdraw_submission(person, sample),
        "guidelines": guidelines,
        "reader": reader_for(sample.document_version),
        "refusal": refusal,
    }
    if turns:
        context |= _work_on(sample, turns[-1].submission, person)
        if may_decide:
            context["rows"] = rows_for(turns[-1].submission, person, typed)
    return render(request, PAGE, context, status=status)


def _work_on(sample: Sample, submission: Submission, person: User) -> dict[str, Any]:
    """What the annotator did to bring this submission about."""
    opened = _submitted(sample, submission.candidate_id)
    candidate = opened.candidate
    to_draft = changes_between(Wording.of(candidate.draft), Wording.of(submission))
    return {
        "latest": submission,
        "open": opened,
        "to_draft": {str(change.part): change for change in to_draft},
        "edits": edits_of(candidate),
        "judged": verdicts_of(candidate),
        "checklist": checklist_of(submission),
        "discarded": discarded_of(sample),
        "times": timing.shown_at_audit(person, sample),
    }


def _submitted(sample: Sample, candidate: int) -> OpenCandidate:
    rows = Candidate.objects.select_related("draft", "draft__call", "draft__call__model")
    found = rows.get(pk=candidate)
    found.sample = sample
    return open_candidate(found)


# The remarks as they are typed -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One field of the dialog: a part, for the answer perhaps one element of it, and what is said."""

    part: str
    label: str | Promise
    key: int | None
    element: int | None
    text: str
    elements: range | None


def rows_for(submission: Submission, person: User, typed: Sequence[Remark] | None) -> list[Row]:
    """Every part that there is once, and again for each further remark on it: as just typed, else as last kept. A
    part keeps its key, whatever the submission has."""
    given = typed if typed is not None else [_as_remark(one) for one in draft_remarks(submission, person)]
    missing = set() if submission.options else {Part.OPTIONS} - {one.part for one in given}
    parts = [(key, part) for key, part in enumerate(Part, 1) if part not in missing]
    return [row for key, part in parts for row in _rows_of(part, key, given, submission)]


def _as_remark(row: AuditRemark) -> Remark:
    return Remark(row.part, row.text, row.element)


def _rows_of(part: Part, key: int, given: Iterable[Remark], submission: Submission) -> Iterable[Row]:
    elements = range(1, len(submission.answer) + 1) if part == Part.ANSWER else None
    said = [one for one in given if one.part == part and one.text.strip()] or [Remark(part, "")]
    for place, one in enumerate(said):
        yield Row(part, part.label, None if place else key, one.element, one.text, elements)


def _typed(request: HttpRequest) -> list[Remark]:
    """The dialog's rows: three fields each. Empty rows are none."""
    rows = zip(*(request.POST.getlist(name) for name in ("part", "element", "text")), strict=False)
    return [Remark(part, text, _number(element)) for part, element, text in rows if text.strip()]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


# Deciding ------------------------------------------------------------------------------------------------------------


@require_POST
def sample_approve(request: HttpRequest, pk: int) -> HttpResponse:
    sample = sample_or_404(pk)
    actions.approve_sample(sample=sample, feedback=request.POST.get("feedback", ""), by=person_of(request))
    messages.success(request, _("%(sample)s is approved.") % {"sample": sample.label})
    return go(request, _decided(sample))


@require_POST
def sample_reject(request: HttpRequest, pk: int) -> HttpResponse:
    sample, typed = sample_or_404(pk), _typed(request)
    try:
        actions.reject_sample(
            sample=sample, remarks=typed, feedback=request.POST.get("feedback", ""), by=person_of(request)
        )
    except Invalid as refusal:
        return show(request, sample, typed=typed, refusal=refusal, status=refusal.status)
    messages.success(request, _("%(sample)s goes back to its annotator.") % {"sample": sample.label})
    return go(request, _decided(sample))


def _decided(sample: Sample) -> str:
    """The sample's page, from where `next` stays with the audits."""
    return reverse("annotation:sample_detail", args=[sample.pk]) + "?from=audit"


@require_POST
def remarks_save(request: HttpRequest, pk: int) -> HttpResponse:
    """What is typed into the dialog, kept while it is typed."""
    actions.save_remarks(sample=sample_or_404(pk), remarks=_typed(request), by=person_of(request))
    return JsonResponse({})


@require_POST
def sample_withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    sample = actions.withdraw_submission(sample=sample_or_404(pk), by=person_of(request))
    messages.success(request, _("%(sample)s is back at your desk.") % {"sample": sample.label})
    return go(request, reverse("annotation:sample_verify", args=[sample.pk]))


# The annotator's side ------------------------------------------------------------------------------------------------


@require_POST
def remark_answer(request: HttpRequest, pk: int) -> HttpResponse:
    remark = get_object_or_404(AuditRemark.objects.select_related("submission__sample", "by", "dealt_by"), pk=pk)
    remark = actions.answer_remark(
        remark=remark,
        dealt=request.POST.get("dealt") == "yes",
        reply=request.POST.get("reply", ""),
        by=person_of(request),
    )
    if is_fragment(request):
        return render(request, "annotation/desk/remark.html", {"remark": remark, "may_answer": True})
    return redirect("annotation:sample_verify", remark.submission.sample_id)
