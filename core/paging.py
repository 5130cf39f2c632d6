"""How the API's lists are cut into pages. A module of its own: the framework imports it while it imports itself."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.views import APIView

from core.refusals import Invalid


class Pages(PageNumberPagination):
    """A number that no page can have is a fault of the request (400); one behind the last page is not found (404)."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> Any:
        for name in (self.page_query_param, "page_size"):
            said = request.query_params.get(name) or "1"
            if not (said.isascii() and said.isdecimal() and said.strip("0")):
                raise Invalid({name: _("A whole number from 1 is expected.")})
        return super().paginate_queryset(queryset, request, view)
