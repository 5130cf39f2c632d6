"""What lists of the API can be narrowed by. A name that nobody knows is refused: ignored, it would answer with rows
that were not asked for."""

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.request import Request
from rest_framework.views import APIView

from core.refusals import Invalid

# Every list takes these: which page, and of how many rows.
PAGES = frozenset({"page", "page_size"})
# Read by the framework itself, or by what stands before it.
FRAMEWORK = frozenset({"format"})


def refuse_huge(request: Request) -> None:
    """A number that no database holds is a fault of the request, whatever it was to be compared with."""
    for name, value in request.query_params.items():
        digits = str(value).strip().removeprefix("-")
        if digits.isascii() and digits.isdecimal() and int(digits[:20]) >= 2**63:
            raise Invalid({name: _("A whole number is larger than any that is stored (64 bits).")})


def refuse_unknown(request: Request, known: Collection[str]) -> None:
    refuse_huge(request)
    for name in request.query_params:
        if name not in known and name not in FRAMEWORK:
            names = ", ".join(sorted(known))
            words = _("There is no such filter. Known here: %(names)s.") if known else _("This takes no filter.")
            raise Invalid({name: words % {"names": names}}, rule="unknown_filter")


class KnownFilters(DjangoFilterBackend):
    """The filters of a view set, and no others."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: APIView) -> QuerySet[Any]:
        if getattr(view, "action", "") == "list":
            refuse_unknown(request, self._known(queryset, view))
        return super().filter_queryset(request, queryset, view)

    def _known(self, queryset: QuerySet[Any], view: APIView) -> set[str]:
        kind = self.get_filterset_class(view, queryset)
        pages = PAGES if getattr(view, "paginator", None) else frozenset[str]()
        return {*pages, *(_names_of(kind) if kind else ())}


def _names_of(kind: Any) -> set[str]:
    """As they are written in the address: a range or a choice of many may have more than one name."""
    names: set[str] = set()
    for name, field in kind(data={}, queryset=None).form.fields.items():
        suffixes = getattr(field.widget, "suffixes", None)
        names |= {f"{name}_{suffix}" for suffix in suffixes} if suffixes else {name}
    return names
