"""What the pages of a case share."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

from documents.reading import reader_for
from review.judging import Content
from review.models import ReviewCase

PAGE = 50
EMPTY = Content([], [], [], [])


def page_of(request: HttpRequest, rows: QuerySet[Any]) -> Any:
    return Paginator(rows, PAGE).get_page(request.GET.get("page"))


def reader_of(case: ReviewCase) -> dict[str, Any]:
    return {"reader": reader_for(case.standardization.document_version)}
