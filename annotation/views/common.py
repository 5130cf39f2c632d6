"""What the pages share: loading a sample, and answering a fragment or a plain form alike."""

from collections.abc import Callable
from functools import wraps

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from annotation import claims
from annotation.access import sees_trail
from annotation.models import Candidate, Sample
from core.models import User
from core.refusals import NotAllowed


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


def go(request: HttpRequest, address: str) -> HttpResponse:
    """To another page, from a plain form or from a fragment."""
    return HttpResponseClientRedirect(address) if is_fragment(request) else redirect(address)


View = Callable[..., HttpResponse]


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
