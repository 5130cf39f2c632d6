"""Standardization: four parts, and both prompts computed while they are typed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import trigger_client_event

from annotation import actions
from annotation.evidence import proofs_of
from annotation.forms import PartsForm, page_language
from annotation.models import Candidate, Sample, Submission
from annotation.queries import current_standardization, draft_standardization
from annotation.standardizing import (
    Rendering,
    approved_submission,
    first_parts,
    keep_standardization,
    parts_of,
    said,
)
from annotation.standardizing import (
    render as render_parts,
)
from annotation.views.common import go, is_fragment, require_trail, sample_or_404
from annotation.workflow import SampleState
from benchmark.findings import Finding
from benchmark.forms import Kind, classify
from benchmark.framing import Parts, fixed_text, segments
from core.refusals import Conflict, RuleBroken
from core.viewing import person_of
from documents.reading import reader_for

PAGE = "annotation/sample_standardize.html"
FIELDS = ("task_description", "elements", "supplementary", "example")
FIELD_NAMES: dict[str, str | Promise] = {
    "task_description": gettext_lazy("Task description"),
    "elements": gettext_lazy("Elements phrase"),
    "supplementary": gettext_lazy("Supplementary content"),
    "example": gettext_lazy("Example elements"),
    "answer": gettext_lazy("Answer"),
    "language": gettext_lazy("Language"),
}
KIND_NAMES: dict[Kind, str | Promise] = {
    Kind.LETTER: gettext_lazy("option letters"),
    Kind.NUMBER: gettext_lazy("a number"),
    Kind.PERCENTAGE: gettext_lazy("a percentage"),
    Kind.DATE: gettext_lazy("a date"),
    Kind.IDENTIFIER: gettext_lazy("an identifier"),
    Kind.PHRASE: gettext_lazy("a phrase"),
    Kind.SUMMARY: gettext_lazy("a summary"),
}


@dataclass(frozen=True)
class Found:
    """One finding in the reader's words, at its field."""

    field: str
    name: str | Promise
    text: str
    is_error: bool


@dataclass(frozen=True)
class Preview:
    """What the parts give now."""

    rendering: Rendering
    found: tuple[Found, ...]

    @property
    def errors(self) -> list[Found]:
        return [one for one in self.found if one.is_error]

    @property
    def by_field(self) -> dict[str, list[Found]]:
        return {name: [one for one in self.found if one.field == name] for name in (*FIELDS, "answer", "language")}

    @property
    def nonthinking(self) -> Any:
        return segments(self.rendering.parts, thinking=False)

    @property
    def thinking(self) -> Any:
        return segments(self.rendering.parts, thinking=True)


@dataclass(frozen=True)
class Element:
    """One element of the answer with its class, which the example must share."""

    text: str
    kind: str | Promise
    pattern: str


def preview_of(sample: Sample, parts: Parts, answer: Sequence[str]) -> Preview:
    rendering = render_parts(sample, parts, answer=answer)
    return Preview(rendering, tuple(_found(finding) for finding in rendering.findings))


def _found(finding: Finding) -> Found:
    return Found(finding.field, FIELD_NAMES.get(finding.field, finding.field), said(finding), finding.is_error)


def classes_of(sample: Sample, elements: Sequence[str]) -> list[Element]:
    forms = [(text, classify(text, multiple_choice=sample.task.multiple_choice)) for text in elements]
    return [Element(text, KIND_NAMES[form.kind], form.pattern) for text, form in forms]


@require_GET
def sample_standardize(request: HttpRequest, pk: int) -> HttpResponse:
    sample = sample_or_404(pk)
    require_trail(person_of(request), sample)
    if not sample.submissions.filter(outcome="approved").exists():
        raise RuleBroken(_("No question of this sample has been approved yet."), rule="nothing_approved")
    return show(request, sample)


def show(
    request: HttpRequest,
    sample: Sample,
    *,
    form: PartsForm | None = None,
    conflict: bool = False,
    refused: str = "",
    status: int = 200,
) -> HttpResponse:
    approved, draft = approved_submission(sample), draft_standardization(sample)
    done = None if sample.state == SampleState.IN_STANDARDIZATION else current_standardization(sample)
    stored = first_parts(sample)
    parts = _typed(sample, form) if form else stored
    preview = preview_of(sample, parts, approved.answer)
    context = {
        "section": "samples",
        "sample": sample,
        "language": page_language(),
        "approved": approved,
        "answer": classes_of(sample, approved.answer),
        "draft": draft,
        "done": done,
        "stored": stored,
        "form": form or PartsForm(initial=_initial(stored)),
        "preview": preview,
        "before": _requirement(sample)[0],
        "after": _requirement(sample)[1],
        "conflict": conflict,
        "refused": refused,
        "may_work": actions.can_standardize_sample(person_of(request), sample),
        "proofs": _proofs(sample, approved),
        "reader": reader_for(sample.document_version),
    }
    return render(request, PAGE, context, status=status)


def _proofs(sample: Sample, approved: Submission) -> object:
    candidate = Candidate.objects.select_related("draft", "draft__call").get(pk=approved.candidate_id)
    candidate.sample = sample
    return proofs_of(candidate)


def _initial(parts: Parts) -> dict[str, Any]:
    return {name: getattr(parts, name) for name in FIELDS}


def _requirement(sample: Sample) -> tuple[str, str]:
    """The fixed words around the elements phrase."""
    before, _sep, after = fixed_text(sample.language).non_thinking_requirement.partition("{elements}")
    return before, after


def _typed(sample: Sample, form: PartsForm) -> Parts:
    form.is_valid()
    return parts_of(sample, **{name: form.cleaned_data[name] for name in FIELDS})


@require_POST
def standardize_preview(request: HttpRequest, pk: int) -> HttpResponse:
    """Both prompts and the findings for what is typed now. Nothing is saved."""
    sample = sample_or_404(pk)
    require_trail(person_of(request), sample)
    parts = _typed(sample, PartsForm(request.POST))
    preview = preview_of(sample, parts, approved_submission(sample).answer)
    context = {"sample": sample, "preview": preview, "fragment": True, "may_work": True}
    return render(request, f"{PAGE}#previewed", context)


@require_POST
def standardize_save(request: HttpRequest, pk: int) -> HttpResponse:
    """Save the draft; with the button Complete also freeze it. What was typed stays whatever is refused."""
    sample, form = sample_or_404(pk), PartsForm(request.POST)
    form.is_valid()
    complete = request.POST.get("complete") == "yes"
    version = request.POST.get("version", "")
    number = int(version) if version.isascii() and version.isdigit() and len(version) < 9 else 0
    try:
        keep_standardization(
            sample=sample, version=number, complete=complete, by=person_of(request), **form.cleaned_data
        )
    except Conflict as refusal:
        if refusal.rule != "stale_version":
            raise
        return show(request, sample_or_404(pk), form=form, conflict=True, status=refusal.status)
    except RuleBroken as refusal:
        if refusal.rule != "standardization_has_errors" or is_fragment(request):
            raise
        return show(request, sample_or_404(pk), form=form, refused=str(refusal), status=refusal.status)
    if complete:
        messages.success(request, _("%(sample)s is standardized.") % {"sample": sample.label})
        return go(request, reverse("annotation:sample_detail", args=[sample.pk]))
    return _saved(request, sample)


def _saved(request: HttpRequest, sample: Sample) -> HttpResponse:
    if not is_fragment(request):
        messages.success(request, _("The draft is saved."))
        return redirect("annotation:sample_standardize", sample.pk)
    draft = draft_standardization(sample)
    response = render(request, f"{PAGE}#saved", {"sample": sample, "draft": draft})
    return trigger_client_event(response, "desk:said", {"text": _("Draft saved.")})


@require_POST
def standardize_reopen(request: HttpRequest, pk: int) -> HttpResponse:
    sample = sample_or_404(pk)
    actions.reopen_sample(sample=sample, reason=request.POST.get("reason", ""), by=person_of(request))
    messages.info(request, _("%(sample)s is back at the desk.") % {"sample": sample.label})
    return go(request, reverse("annotation:sample_detail", args=[sample.pk]))
