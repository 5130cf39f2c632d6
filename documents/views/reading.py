"""What the reader asks for: the text of a version, its outline, and where one left it."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from core.refusals import Invalid
from core.viewing import person_of
from documents import actions, queries
from documents.models import DocumentVersion
from documents.reading import outline_json
from documents.serving import CACHING, text_response


@require_safe
def document_text(request: HttpRequest, pk: int) -> HttpResponseBase:
    version = get_object_or_404(DocumentVersion.objects.only("sha256"), pk=pk)
    return text_response(request, version)


@require_safe
def document_outline(request: HttpRequest, pk: int) -> HttpResponse:
    """{"headings": [[start, end, level, title], ...], "found": n, "every": n}, in code points. A version's text never
    changes and the address names the rules, so it is cached for good; titles are text, never HTML."""
    version = get_object_or_404(DocumentVersion.objects.only("sha256"), pk=pk)
    response = HttpResponse(outline_json(version), content_type="application/json")
    response.headers["Cache-Control"] = CACHING
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def document_position(request: HttpRequest, pk: int) -> HttpResponse:
    """Where the asking person left this text, in code points; POST `position` keeps a new place."""
    version = get_object_or_404(DocumentVersion.objects.only("chars"), pk=pk)
    person = person_of(request)
    if request.method != "POST":
        return JsonResponse({"position": queries.position_of(person, version)})
    asked = request.POST.get("position", "")
    if not (asked.isascii() and asked.isdecimal() and len(asked) < 10):
        raise Invalid({"position": _("Give the place as a number of characters.")})
    actions.remember_position(version=version, position=int(asked), by=person)
    return HttpResponse(status=204)
