"""Standardization: four parts, and both prompts computed while they are typed."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import actions
from annotation.claims import live_claim
from annotation.evidence import proofs_of
from annotation.forms import PartsForm, page_language
from annotation.models import Candidate, Sample, Submission
from annotation.prompting import (
    FIELD_NAMES,
    KIND_NAMES,
    Check,
    Piece,
    checks_of,
    prompt_pieces,
    scores_in_words,
)
from annotation.queries import current_standardization, draft_standardization
from annotation.rendering import (
    PARTS,
    Rendering,
    approved_submission,
    first_parts,
    has_approved_question,
    is_approved_anew,
    typed_parts,
)
from annotation.rendering import render as render_parts
from annotation.standardizing import keep_standardization, parts_of
from annotation.versions import changes_between, versions_of
from annotation.views.common import go, is_fragment, require_trail, sample_or_404
from annotation.workflow import SampleState
from benchmark.framing import Parts, fixed_text
from core.api import problem
from core.refusals import Conflict, Invalid, Refused, RuleBroken
from core.viewing import person_of
from documents.reading import reader_for

PAGE = "annotation/sample_standardize.html"
LONGEST_VERSION = 9


@dataclass(frozen=True)
class Shown:
    """One element of the answer with its class in words and the reason."""

    text: str
    kind: Any
    pattern: str
    reason: str


@dataclass(frozen=True)
class Preview:
    """What the parts give now, as the page shows it."""

    rendering: Rendering
    checks: tuple[Check, ...]
    nonthinking: tuple[Piece, ...]
    thinking: tuple[Piece, ...]
    answer: tuple[Shown, ...]
    scores: str

    @property
    def classes(self) -> list[Shown]:
        """One of each class that the answer has."""
        return list({(one.kind, one.pattern): one for one in self.answer}.values())

    @property
    def failing(self) -> list[Check]:
        return [check for check in self.checks if check.fails]

    @property
    def holding(self) -> list[Check]:
        return [check for check in self.checks if not check.fails]

    @property
    def hints(self) -> int:
        return len(self.rendering.findings) - len(self.rendering.errors)

    @property
    def scores_itself(self) -> bool:
        return not any(found.check == "answer_scores_itself" for found in self.rendering.findings)


def preview_of(sample: Sample, parts: Parts, submission: Submission) -> Preview:
    rendering = render_parts(sample, parts, answer=submission.answer)
    return Preview(
        rendering,
        tuple(checks_of(rendering, task=sample.task, language=page_language())),
        tuple(prompt_pieces(rendering, thinking=False)),
        tuple(prompt_pieces(rendering, thinking=True)),
        tuple(Shown(one.text, KIND_NAMES[one.form.kind], one.form.pattern, one.reason) for one in rendering.answer),
        scores_in_words(rendering, sample.task),
    )


# The page ------------------------------------------------------------------------------------------------------


@require_GET
def sample_standardize(request: HttpRequest, pk: int) -> HttpResponse:
    return show(request, _approved(request, pk))


def _approved(request: HttpRequest, pk: int) -> Sample:
    sample = sample_or_404(pk)
    require_trail(person_of(request), sample)
    if not has_approved_question(sample):
        raise RuleBroken(_("No question of this sample has been approved yet."), rule="nothing_approved")
    return sample


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
    person = person_of(request)
    claim = live_claim(sample)
    context = {
        "section": "samples",
        "sample": sample,
        "language": page_language(),
        "approved": approved,
        "draft": draft,
        "done": done,
        "form": form or PartsForm(initial={name: getattr(stored, name) for name in PARTS}),
        "preview": preview_of(sample, parts, approved),
        "before": _requirement(sample)[0],
        "after": _requirement(sample)[1],
        "anew": form is None and is_approved_anew(sample),
        "conflict": _conflict(sample, parts) if conflict else None,
        "refused": refused,
        "may_work": actions.can_standardize_sample(person, sample),
        "claim": claim if claim and claim.holder_id == person.pk else None,
        "proofs": _proofs(sample, approved),
        "reader": reader_for(sample.document_version),
    }
    return render(request, PAGE, context, status=status)


def _proofs(sample: Sample, approved: Submission) -> object:
    candidate = Candidate.objects.select_related("draft", "draft__call").get(pk=approved.candidate_id)
    candidate.sample = sample
    return proofs_of(candidate)


def _requirement(sample: Sample) -> tuple[str, str]:
    """The fixed words around the elements phrase."""
    return fixed_text(sample.language).requirement(thinking=False)


def _typed(sample: Sample, form: PartsForm) -> Parts:
    form.is_valid()
    return typed_parts(sample, **{name: form.cleaned_data[name] for name in PARTS})


@require_POST
def standardize_preview(request: HttpRequest, pk: int) -> HttpResponse:
    """Both prompts and the findings for what is typed now. Nothing is saved."""
    sample = _approved(request, pk)
    parts = _typed(sample, PartsForm(request.POST))
    preview = preview_of(sample, parts, approved_submission(sample))
    context = {"sample": sample, "preview": preview, "may_work": True}
    return render(request, f"{PAGE}#previewed", context)


# Saving --------------------------------------------------------------------------------------------------------


def _keep(request: HttpRequest, sample: Sample, form: PartsForm, *, complete: bool) -> int:
    form.is_valid()
    version = request.POST.get("version", "")
    number = int(version) if version.isascii() and version.isdigit() and len(version) < LONGEST_VERSION else 0
    kept = keep_standardization(
        sample=sample, version=number, complete=complete, by=person_of(request), **form.cleaned_data
    )
    return kept.version


@require_POST
def standardize_save(request: HttpRequest, pk: int) -> HttpResponse:
    """Save the draft; with the button Complete also freeze it. What was typed stays whatever is refused."""
    sample, form = sample_or_404(pk), PartsForm(request.POST)
    complete = request.POST.get("complete") == "yes"
    try:
        _keep(request, sample, form, complete=complete)
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
    messages.success(request, _("The draft is saved."))
    return redirect("annotation:sample_standardize", sample.pk)


@require_POST
def standardize_autosave(request: HttpRequest, pk: int) -> HttpResponse:
    """The draft as it is typed (static/js/app.js, autosave): JSON in the shape of the API's problems."""
    try:
        version = _keep(request, sample_or_404(pk), PartsForm(request.POST), complete=False)
    except Invalid as refusal:
        return problem(refusal.status, str(refusal.message), rule=refusal.rule)
    except Refused as refusal:
        return problem(refusal.status, str(refusal.message), rule=refusal.rule, **refusal.details)
    return JsonResponse({"version": version})


@require_POST
def standardize_compare(request: HttpRequest, pk: int) -> HttpResponse:
    """What is typed beside the draft of now, after somebody else saved it."""
    sample = _approved(request, pk)
    context = {
        "sample": sample,
        "conflict": _conflict(sample, _typed(sample, PartsForm(request.POST))),
        "draft": draft_standardization(sample),
    }
    return render(request, "annotation/standardize/conflict.html", context)


@dataclass(frozen=True)
class Apart:
    """The stored draft, and how the typed text differs from it, part by part."""

    stored: list[tuple[str, str]]
    changes: list[tuple[Any, Any]]


def _conflict(sample: Sample, typed: Parts) -> Apart:
    draft = draft_standardization(sample)
    stored = draft.parts if draft else first_parts(sample)
    kept = parts_of(sample, **{name: getattr(typed, name) for name in PARTS})
    texts = [(name, getattr(stored, name)) for name in PARTS]
    return Apart(
        [(name, text if isinstance(text, str) else "\n".join(text)) for name, text in texts],
        [(FIELD_NAMES[change.name], change) for change in changes_between(stored, kept)],
    )


@require_GET
def standardize_versions(request: HttpRequest, pk: int) -> HttpResponse:
    """The saved versions with what changed in each: for the annotator, the expert, and whoever reads the trail."""
    sample = _approved(request, pk)
    context = {
        "section": "samples",
        "sample": sample,
        "versions": versions_of(sample),
        "may_work": actions.can_standardize_sample(person_of(request), sample),
    }
    name = "annotation/standardize_versions.html"
    return render(request, f"{name}#listed" if is_fragment(request) else name, context)


@require_POST
def standardize_reopen(request: HttpRequest, pk: int) -> HttpResponse:
    sample = sample_or_404(pk)
    actions.reopen_sample(sample=sample, reason=request.POST.get("reason", ""), by=person_of(request))
    messages.info(request, _("%(sample)s is back at the desk.") % {"sample": sample.label})
    return go(request, reverse("annotation:sample_detail", args=[sample.pk]))
