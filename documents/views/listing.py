"""The list of documents: filtered, sorted, counted, and the rows chosen for what may be done with many at once."""

from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.paginator import Page, Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from benchmark.lengths import Distance, Lengths
from core.models import BenchmarkSettings
from core.viewing import person_of
from documents import actions
from documents.filters import DocumentFilter
from documents.models import LANGUAGE_CHOICES, Document
from documents.queries import NO_BUCKET
from documents.wording import distance_in_words
from documents.workflow import VersionState

PAGE = 50
CROSSED = ("state", "language", "bucket")
NEWEST_FIRST = "-document"
# Of the latest version, what no row shows: some of it is long.
UNSEEN = [f"latest__{name}" for name in ("normalisation", "remarks", "made_reason", "note", "flags")]


@dataclass(frozen=True)
class Column:
    """The head of one column: where it sorts to, and how it is sorted now (ascending, descending or not)."""

    label: str
    query: str
    sorted: str
    classes: str = ""


@dataclass(frozen=True)
class Cell:
    """One cell of the cross table: how many, and the query that shows them."""

    count: int
    query: str
    chosen: bool


@dataclass(frozen=True)
class CrossRow:
    state: VersionState
    languages: list[list[Cell]]
    sum: Cell


@require_safe
def document_list(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    filtered = DocumentFilter(request.GET, queryset=Document.objects.for_list().defer(*UNSEEN))
    valid = filtered.is_valid()
    page = Paginator(filtered.qs, PAGE).get_page(request.GET.get("page"))
    lengths = BenchmarkSettings.load().lengths
    context = {
        "section": "documents",
        "filter": filtered,
        "page_obj": page,
        "rows": rows_of(page, lengths),
        "columns": columns(request.GET),
        "cross": crossed(request.GET, lengths),
        "buckets": [*lengths.names(), _("none")],
        "languages": LANGUAGE_CHOICES,
        "faults": [] if valid else faults(filtered),
        "filtering": any(request.GET.get(name) for name in filtered.filters if name != "sort"),
        "filters_query": without(request.GET, "page", "sort"),
        "may_import": actions.can_import_document(person),
        "may_shape": actions.can_join_documents(person),
        "may_see_record": actions.can_see_record(person),
    }
    fragment = "#rows" if request.headers.get("HX-Request") and not request.headers.get("HX-Boosted") else ""
    return render(request, f"documents/document_list.html{fragment}", context, status=200 if valid else 400)


def faults(filtered: DocumentFilter) -> list[str]:
    """What of the address was not understood; the rest of it still filters."""
    return [f"{filtered.form.fields[name].label or name}: {' '.join(words)}" for name, words in filtered.errors.items()]


def without(query: QueryDict, *names: str, **more: str) -> str:
    """The query without some of its words and without empty ones, and with others."""
    rest = _said(query, *names)
    for name, value in more.items():
        rest[name] = value
    return rest.urlencode()


def _said(query: QueryDict, *but: str) -> QueryDict:
    rest = QueryDict(mutable=True)
    for name, values in query.lists():
        if name not in but and any(values):
            rest.setlist(name, values)
    return rest


def rows_of(page: Page, lengths: Lengths) -> list[dict[str, Any]]:
    return [{"document": document, **_beside(document, lengths)} for document in page]


def _beside(document: Document, lengths: Lengths) -> dict[str, Any]:
    latest = document.latest
    if latest is None or latest.bucket:
        return {}
    smallest = lengths.range_of(lengths.names()[0])[0]
    return {
        "distances": [distance_short(distance) for distance in lengths.nearest(latest.tokens)],
        "distance": distance_in_words(latest.tokens, lengths),
        "may_shorten": latest.tokens > smallest,
        "may_cut": latest.tokens > 2 * smallest,
    }


def distance_short(distance: Distance) -> str:
    count = intcomma(abs(distance.tokens), use_l10n=False)
    words = _("%(n)s short of %(bucket)s") if distance.tokens > 0 else _("%(n)s over %(bucket)s")
    return words % {"n": count, "bucket": distance.bucket}


def columns(query: QueryDict) -> list[Column]:
    now = query.get("sort") or NEWEST_FIRST
    labels = (
        ("document", _("Document"), ""),
        ("title", _("Title"), ""),
        ("state", _("Compliance"), ""),
        ("language", _("Language"), ""),
        ("tokens", _("Tokens"), "num"),
        ("bucket", _("Bucket"), ""),
        ("domain", _("Domain"), ""),
        ("format", _("Format"), ""),
        ("imported", _("Brought in"), ""),
    )
    made = []
    for word, label, classes in labels:
        wanted = f"-{word}" if now == word else word
        way = "ascending" if now == word else "descending" if now == f"-{word}" else ""
        made.append(Column(label, without(query, "page", sort=wanted), way, classes))
    return made


def crossed(query: QueryDict, lengths: Lengths) -> list[CrossRow]:
    """State by language and bucket, of the documents that the other filters leave; one query."""
    others = _said(query, *CROSSED, "sort", "page")
    documents = DocumentFilter(others, queryset=Document.objects.all()).qs
    keys = documents.order_by().values_list("latest__state", "language", "latest__bucket")
    found = {(state, language, bucket): n for state, language, bucket, n in keys.annotate(n=Count("pk"))}
    names = [*lengths.names(), NO_BUCKET]

    def cell(state: str, language: str, bucket: str) -> Cell:
        stored = "" if bucket == NO_BUCKET else bucket
        chosen = (query.get("state"), query.get("language"), query.get("bucket")) == (state, language, bucket)
        there = {"state": state, "language": language, "bucket": bucket}
        return Cell(found.get((state, language, stored), 0), _joined(others, there), chosen)

    def row(state: VersionState) -> CrossRow:
        count = sum(number for (its, _language, _bucket), number in found.items() if its == state)
        alone = query.get("state") == state and not query.get("language") and not query.get("bucket")
        cells = [[cell(state, language, name) for name in names] for language, _label in LANGUAGE_CHOICES]
        return CrossRow(state, cells, Cell(count, _joined(others, {"state": state.value}), alone))

    return [row(state) for state in VersionState]


def _joined(others: QueryDict, more: dict[str, str]) -> str:
    query = others.copy()
    query.update(more)
    return query.urlencode()
