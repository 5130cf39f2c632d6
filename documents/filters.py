"""Filtering and sorting lists of documents, the same on the page and in the API."""

import re
import unicodedata
from collections.abc import Callable
from typing import Any

import django_filters
from django import forms
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import Count, Q
from django.utils.translation import gettext_lazy as _

from core.models import BenchmarkSettings, User
from documents.models import LANGUAGE_CHOICES, BatchLine, Document, ImportBatch
from documents.queries import NO_BUCKET
from documents.workflow import VersionState

# What a list may be sorted by: the word in the address, and the column.
SORTS = {
    "document": "id",
    "title": "title",
    "state": "latest__state",
    "language": "language",
    "tokens": "latest__tokens",
    "bucket": "latest__bucket",
    "domain": "domain",
    "format": "format",
    "imported": "imported_at",
}
SORT_CHOICES = [(sign + word, sign + word) for word in SORTS for sign in ("", "-")]
LAST_BATCHES = 50
LARGEST_NUMBER = 2**31 - 1
_NUMBER = re.compile(r"[dD]-?([0-9]{1,9})")

Choices = list[tuple[Any, Any]]


def bucket_choices() -> list[tuple[str, Any]]:
    names = BenchmarkSettings.load().lengths.names()
    return [*((name, name) for name in names), (NO_BUCKET, _("no bucket"))]


def known(field: str) -> list[tuple[str, str]]:
    values = Document.objects.exclude(**{field: ""}).order_by(field).values_list(field, flat=True).distinct()
    return [(value, value) for value in values]


def counted(field: str) -> Choices:
    """The values that documents have now, each with how many."""
    rows = Document.objects.exclude(**{field: ""}).values_list(field).annotate(n=Count("pk")).order_by(field)
    return [(value, f"{value} ({intcomma(n, use_l10n=False)})") for value, n in rows]


def importers() -> Choices:
    people = User.objects.filter(pk__in=Document.objects.values("imported_by")).order_by("username")
    return [(person.username, person.name) for person in people]


def batches() -> Choices:
    rows = ImportBatch.objects.order_by("-id").values_list("pk", "made_at")[:LAST_BATCHES]
    return [(str(pk), f"{pk} ({made_at:%Y-%m-%d})") for pk, made_at in rows]


class KnownValues(forms.Select):
    """A choice among the values that there are now, looked up when the list is shown."""

    def __init__(self, values: Callable[[], Choices], empty: Any) -> None:
        super().__init__()
        self.values, self.empty = values, empty

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> Any:
        self.choices = [("", self.empty), *self.values()]
        return super().optgroups(name, value, attrs)

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        if value:  # somebody's own word
            option["attrs"]["translate"] = "no"
        return option


def search_field() -> forms.TextInput:
    return forms.TextInput(attrs={"type": "search", "autocomplete": "off"})


def in_both_forms(field: str, words: str) -> Q:
    """The words anywhere in the field, whether their accents are characters of their own (NFD) or not (NFC)."""
    found = Q()
    for form in ("NFC", "NFD"):
        found |= Q(**{f"{field}__icontains": unicodedata.normalize(form, words)})
    return found


class DocumentFilter(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(
        field_name="latest__state", choices=VersionState.choices, label=_("State"), empty_label=_("any state")
    )
    language = django_filters.ChoiceFilter(choices=LANGUAGE_CHOICES, label=_("Language"), empty_label=_("any language"))
    bucket = django_filters.ChoiceFilter(
        choices=bucket_choices, method="by_bucket", label=_("Bucket"), empty_label=_("any bucket")
    )
    domain = django_filters.CharFilter(
        label=_("Domain"), widget=KnownValues(lambda: counted("domain"), _("any domain"))
    )
    format = django_filters.CharFilter(
        label=_("Format"), widget=KnownValues(lambda: counted("format"), _("any format"))
    )
    importer = django_filters.CharFilter(
        field_name="imported_by__username", label=_("Brought in by"), widget=KnownValues(importers, _("by anybody"))
    )
    batch = django_filters.NumberFilter(
        method="by_batch",
        label=_("Batch"),
        min_value=1,
        max_value=LARGEST_NUMBER,
        decimal_places=0,
        widget=KnownValues(batches, _("any batch")),
    )
    source = django_filters.CharFilter(method="by_source", label=_("Source address"), widget=search_field())
    q = django_filters.CharFilter(method="by_title", label=_("Title"), widget=search_field())
    sort = django_filters.ChoiceFilter(choices=SORT_CHOICES, method="sorted_by", widget=forms.HiddenInput())

    class Meta:
        model = Document
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.form.fields["q"].widget.attrs.update({"data-key": "/", "placeholder": _("Title or D-number")})
        self.form.fields["source"].widget.attrs["placeholder"] = _("Source address")

    def by_bucket(self, documents: Any, name: str, value: str) -> Any:
        return documents.in_bucket("" if value == NO_BUCKET else value)

    def by_batch(self, documents: Any, name: str, value: Any) -> Any:
        lines = BatchLine.objects.filter(batch_id=int(value), version__isnull=False)
        return documents.filter(pk__in=lines.values("version__document_id"))

    def by_source(self, documents: Any, name: str, value: str) -> Any:
        return documents.filter(in_both_forms("source_url", value))

    def by_title(self, documents: Any, name: str, value: str) -> Any:
        found = in_both_forms("title", value)
        number = _NUMBER.fullmatch(value.strip())
        return documents.filter(found | Q(pk=int(number[1])) if number else found)

    def sorted_by(self, documents: Any, name: str, value: str) -> Any:
        sign, word = ("-", value[1:]) if value.startswith("-") else ("", value)
        return documents.order_by(f"{sign}{SORTS[word]}", "-id")
