"""The list of documents."""

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from core.viewing import person_of
from documents import actions
from documents.filters import DocumentFilter
from documents.models import Document
from documents.workflow import VersionState

PAGE = 50


@require_safe
def document_list(request: HttpRequest) -> HttpResponse:
    filtered = DocumentFilter(request.GET, queryset=Document.objects.for_list())
    paginator = Paginator(filtered.qs, PAGE)
    counts = dict(Document.objects.values_list("latest__state").annotate(Count("id")).order_by())
    context = {
        "section": "documents",
        "filter": filtered,
        "page_obj": paginator.get_page(request.GET.get("page")),
        "counts": [(state, counts.get(state.value, 0)) for state in VersionState],
        "all": sum(counts.values()),
        "filtering": any(request.GET.get(name) for name in filtered.filters),
        "may_import": actions.can_import_document(person_of(request)),
    }
    fragment = "#rows" if request.headers.get("HX-Request") and not request.headers.get("HX-Boosted") else ""
    return render(request, f"documents/document_list.html{fragment}", context)
