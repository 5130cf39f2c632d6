"""Expert audit: what the annotator saw and did, the exchange so far, and the decision."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import actions, claims
from annotation.access import sees_audit
from annotation.desk import open_candidate
from annotation.forms import FeedbackForm, page_language
from annotation.models import Candidate, Sample
from annotation.views.common import go, sample_or_404
from core import guidelines
from core.refusals import Invalid, NotAllowed
from core.viewing import person_of, refuse_into
from documents.reading import reader_for

PAGE = "annotation/sample_audit.html"


@require_GET
def sample_audit(request: HttpRequest, pk: int) -> HttpResponse:
    return show(request, sample_or_404(pk))


def show(request: HttpRequest, sample: Sample, *, form: FeedbackForm | None = None, status: int = 200) -> HttpResponse:
    person = person_of(request)
    if not sees_audit(person, sample):
        raise NotAllowed(_("The audit of %(sample)s is not yours to see.") % {"sample": sample.label})
    submissions = list(sample.submissions.select_related("submitted_by", "audited_by").order_by("-number"))
    latest = submissions[0] if submissions else None
    context = {
        "section": "samples",
        "sample": sample,
        "language": page_language(),
        "latest": latest,
        "earlier": submissions[1:],
        "open": _submitted(sample, latest.candidate_id) if latest else None,
        "form": form or FeedbackForm(),
        "claim": claims.live_claim(sample),
        "may_decide": actions.can_approve_sample(person, sample),
        "may_claim": actions.can_claim_for_judging(person, sample),
        "guidelines": guidelines,
        "reader": reader_for(sample.document_version),
    }
    return render(request, PAGE, context, status=status)


def _submitted(sample: Sample, candidate: int) -> object:
    rows = Candidate.objects.select_related("draft", "draft__call", "draft__call__model")
    found = rows.get(pk=candidate)
    found.sample = sample
    return open_candidate(found)


@require_POST
def sample_approve(request: HttpRequest, pk: int) -> HttpResponse:
    sample = sample_or_404(pk)
    actions.approve_sample(sample=sample, feedback=request.POST.get("feedback", ""), by=person_of(request))
    messages.success(request, _("%(sample)s is approved.") % {"sample": sample.label})
    return go(request, reverse("annotation:sample_detail", args=[sample.pk]))


@require_POST
def sample_reject(request: HttpRequest, pk: int) -> HttpResponse:
    sample, form = sample_or_404(pk), FeedbackForm(request.POST)
    try:
        actions.reject_sample(sample=sample, feedback=request.POST.get("feedback", ""), by=person_of(request))
    except Invalid as refusal:
        form.is_valid()
        refuse_into(form, refusal)
        return show(request, sample, form=form, status=refusal.status)
    messages.success(request, _("%(sample)s goes back to its annotator.") % {"sample": sample.label})
    return go(request, reverse("annotation:sample_detail", args=[sample.pk]))
