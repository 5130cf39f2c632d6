"""The list of samples, one sample's story, and who works on it."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import actions, timing
from annotation.access import sees_trail
from annotation.claims import STAGES, live_claim
from annotation.exchange import turns_of
from annotation.filters import SampleFilter
from annotation.forms import SampleForm, TakeOverForm, page_language
from annotation.guards import require_lead
from annotation.models import Sample
from annotation.queries import samples
from annotation.story import story_of
from annotation.views.common import sample_or_404
from annotation.workflow import AT_THE_DESK, SampleState
from core.models import User
from core.refusals import Refused
from core.viewing import person_of, refuse_into

PER_PAGE = 50


@require_http_methods(["GET", "POST"])
def sample_list(request: HttpRequest) -> HttpResponse:
    """Everybody sees the list; a lead pairs documents with tasks above it."""
    person = person_of(request)
    form = SampleForm(request.POST or None) if actions.can_create_sample(person) else None
    if request.method == "POST" and _create(request, form):
        return redirect("annotation:sample_list")
    chosen = SampleFilter(request.GET, queryset=samples().for_list(), request=request)
    page = Paginator(chosen.qs, PER_PAGE).get_page(request.GET.get("page"))
    may_draft = actions.can_draft_samples(person)
    context = {
        "section": "samples",
        "filter": chosen,
        "page_obj": page,
        "form": form,
        "language": page_language(),
        "may_draft": may_draft,
        "planned": chosen.qs.filter(state=SampleState.PLANNED).order_by().count() if may_draft else 0,
        "filters": _filters(request),
    }
    return render(request, "annotation/sample_list.html", context, status=400 if form and form.errors else 200)


def _filters(request: HttpRequest) -> str:
    kept = request.GET.copy()
    kept.pop("page", None)
    return kept.urlencode()


def _create(request: HttpRequest, form: SampleForm | None) -> bool:
    if form is None or not form.is_valid():
        return False
    given = form.cleaned_data
    try:
        sample = actions.create_sample(
            document=given["document"], task_code=given["secondary_task"], by=person_of(request)
        )
    except Refused as refusal:
        refuse_into(form, refusal)
        return False
    messages.success(request, _("%(sample)s is planned.") % {"sample": sample.label})
    return True


@require_POST
def sample_next(request: HttpRequest) -> HttpResponse:
    """Claim what should be worked on next and go there. Who comes from a stage stays in it, where every key means
    what it meant; who comes from elsewhere is told where they are."""
    stage = request.POST.get("stage", "")
    stage = stage if stage in STAGES else ""
    sample = actions.claim_next(by=person_of(request), stage=stage)
    if sample is None and stage:
        messages.info(request, _("No other sample waits for you in this stage. What else waits stands here."))
        return redirect("/")
    if sample is None:
        messages.info(request, _("Nothing waits for you now."))
        return redirect("annotation:sample_list")
    if not stage:
        words = {"sample": sample.label, "state": sample.get_state_display()}
        messages.info(request, _("Next for you: %(sample)s, %(state)s.") % words)
    return redirect(workplace(sample))


def workplace(sample: Sample) -> str:
    """The page on which the sample is worked on in its state."""
    names = {
        SampleState.IN_AUDIT: "sample_audit",
        SampleState.IN_STANDARDIZATION: "sample_standardize",
        **dict.fromkeys(AT_THE_DESK, "sample_verify"),
    }
    name = names.get(SampleState(sample.state), "sample_detail")
    return reverse(f"annotation:{name}", args=[sample.pk])


@require_GET
def sample_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Where the sample stands, and everything that led there, for those who may know it."""
    person, sample = person_of(request), sample_or_404(pk)
    trail = sees_trail(person, sample)
    context = {
        "section": "samples",
        "sample": sample,
        "language": page_language(),
        "trail": trail,
        "story": story_of(sample, trail=trail),
        "turns": turns_of(sample) if trail else [],
        "times": timing.visible_to(person, sample),
        "standardizations": sample.standardizations.select_related("saved_by", "completed_by") if trail else [],
        "workplace": workplace(sample),
        "stage": request.GET.get("from", "") if request.GET.get("from") in STAGES else "",
        **_offers(person, sample),
    }
    return render(request, "annotation/sample_detail.html", context)


def _offers(person: User, sample: Sample) -> dict[str, object]:
    return {
        "can_draft": actions.can_draft_sample(person, sample),
        "can_claim": actions.can_claim_sample(person, sample),
        "may_withdraw": actions.can_withdraw_submission(person, sample),
        "can_adopt": actions.can_adopt_document_version(person, sample),
        **(_hand_over_of(sample) if actions.can_take_over_sample(person, sample) else {}),
    }


def _hand_over_of(sample: Sample) -> dict[str, object]:
    return {"take_over": _hand_over(sample), "held": live_claim(sample)}


def _hand_over(sample: Sample, given: QueryDict | None = None) -> TakeOverForm:
    return TakeOverForm(given, people=actions.possible_holders(sample))


@require_POST
def sample_draft(request: HttpRequest, pk: int) -> HttpResponse:
    sample = actions.draft_sample(sample=sample_or_404(pk), by=person_of(request))
    messages.success(request, _("The models are drafting %(sample)s.") % {"sample": sample.label})
    return _back(request, sample)


def _back(request: HttpRequest, sample: Sample) -> HttpResponse:
    """To the list when the button stood there, else to the sample."""
    if request.POST.get("from") == "list":
        return redirect("annotation:sample_list")
    return redirect("annotation:sample_detail", sample.pk)


@require_POST
def sample_claim(request: HttpRequest, pk: int) -> HttpResponse:
    sample = sample_or_404(pk)
    actions.claim_sample(sample=sample, by=person_of(request))
    return redirect(workplace(sample))


@require_POST
def sample_release(request: HttpRequest, pk: int) -> HttpResponse:
    sample = sample_or_404(pk)
    actions.release_claim(sample=sample, by=person_of(request))
    messages.info(request, _("%(sample)s is released. What you did stays.") % {"sample": sample.label})
    return redirect("annotation:sample_detail", sample.pk)


@require_POST
def sample_take_over(request: HttpRequest, pk: int) -> HttpResponse:
    require_lead(person_of(request))
    sample = sample_or_404(pk)
    form = _hand_over(sample, request.POST)
    if form.is_valid():
        actions.take_over_sample(sample=sample, by=person_of(request), **form.cleaned_data)
        words = {"sample": sample.label, "person": form.cleaned_data["holder"].name}
        messages.success(request, _("%(sample)s is now with %(person)s.") % words)
    else:
        messages.error(request, _("Choose whom to hand it to, and say why."))
    return redirect("annotation:sample_detail", sample.pk)


@require_POST
def sample_adopt(request: HttpRequest, pk: int) -> HttpResponse:
    sample = actions.adopt_document_version(sample=sample_or_404(pk), by=person_of(request))
    words = {"sample": sample.label, "number": sample.document_version.number}
    messages.success(request, _("%(sample)s now stands on version %(number)s of its document.") % words)
    return redirect("annotation:sample_detail", sample.pk)
