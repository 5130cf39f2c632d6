"""What the pages share: loading a sample, and answering a fragment or a plain form alike."""

from collections.abc import Callable
from functools import wraps

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from annotation import claims
from annotation.access import sees_trail
from annotation.models import Candidate, Sample
from core.models import User
from core.refusals import NotAllowed, Refused
from core.viewing import person_of


def is_fragment(request: HttpRequest) -> bool:
    return bool(getattr(request, "htmx", False))


def sample_or_404(pk: int) -> Sample:
    rows: QuerySet[Sample] = Sample.objects.select_related(
        "document", "document_version", "document_version__document", "annotator", "chosen"
    )
    return get_object_or_404(rows, pk=pk)


def candidate_or_404(pk: int) -> Candidate:
    rows: QuerySet[Candidate] = Candidate.objects.select_related(
        "sample", "sample__document", "sample__document_version", "sample__document_version__document"
    )
    return get_object_or_404(rows, pk=pk)


def require_trail(user: User, sample: Sample) -> None:
    if not sees_trail(user, sample):
        raise NotAllowed(
            _("You review the answer of %(sample)s, so its trail is closed to you.") % {"sample": sample.label}
        )


def number_in(text: str | None) -> int | None:
    """A number as a form sends it; None for what is none, or for more than the database counts to."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 18 else None


def go(request: HttpRequest, address: str) -> HttpResponse:
    """To another page, from a plain form or from a fragment."""
    return HttpResponseClientRedirect(address) if is_fragment(request) else redirect(address)


View = Callable[..., HttpResponse]


def in_place(view: View) -> View:
    """A refusal of a fragment's action is told in the form that asked for it, at its `data-refused`, with the way to
    the state of now. What was typed and ticked stays as it is; a plain form gets the refusal as a page."""

    @wraps(view)
    def answer(request: HttpRequest, pk: int) -> HttpResponse:
        try:
            return view(request, pk)
        except Refused as refusal:
            if not is_fragment(request):
                raise
            context = {"refusal": refusal, "again": _desk_of(view.__name__, pk), **_lost(request, refusal, view, pk)}
            response = render(request, "annotation/desk/refused.html", context, status=refusal.status)
            response.headers["HX-Retarget"] = "find [data-refused]"
            response.headers["HX-Reswap"] = "innerHTML"
            return response

    return answer


def _lost(request: HttpRequest, refusal: Refused, view: View, pk: int) -> dict[str, object]:
    """Who has lost the claim: the bar says who has it, and the window may not go on as if nothing had happened."""
    if refusal.rule != "claim_needed":
        return {}
    sample = candidate_or_404(pk).sample if view.__name__.startswith("candidate") else sample_or_404(pk)
    return {"sample": sample, "standing": claims.standing_of(person_of(request), sample)}


def _desk_of(view: str, pk: int) -> str:
    """Where the desk stands for what the view was asked about, a candidate or a sample."""
    if not view.startswith("candidate"):
        return reverse("annotation:sample_verify", args=[pk])
    sample, position = Candidate.objects.values_list("sample", "position").get(pk=pk)
    return reverse("annotation:sample_verify", args=[sample]) + f"?candidate={position}"


def with_claim(view: View) -> View:
    """The view, with the claim's number from the form. What is no number counts as an outdated one."""

    @wraps(view)
    def carried(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        number = request.POST.get("claim", "") if request.method == "POST" else ""
        if not number:
            return view(request, *args, **kwargs)
        with claims.carrying(int(number) if number.isascii() and number.isdigit() and len(number) < 19 else 0):
            return view(request, *args, **kwargs)

    return carried
