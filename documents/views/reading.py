"""The text of a version, for the reader."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from documents.models import DocumentVersion
from documents.serving import text_response


@require_safe
def document_text(request: HttpRequest, pk: int) -> HttpResponseBase:
    version = get_object_or_404(DocumentVersion.objects.only("sha256"), pk=pk)
    return text_response(request, version)
