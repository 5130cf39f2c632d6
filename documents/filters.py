"""Filtering lists of documents, the same on the page and in the API."""

from typing import Any

import django_filters
from django import forms
from django.utils.translation import gettext_lazy as _

from core.models import BenchmarkSettings
from documents.models import LANGUAGE_CHOICES, Document
from documents.queries import NO_BUCKET
from documents.workflow import VersionState


def bucket_choices() -> list[tuple[str, Any]]:
    names = BenchmarkSettings.load().lengths.names()
    return [*((name, name) for name in names), (NO_BUCKET, _("no bucket"))]


def known(field: str) -> list[tuple[str, str]]:
    values = Document.objects.exclude(**{field: ""}).order_by(field).values_list(field, flat=True).distinct()
    return [(value, value) for value in values]


class KnownValues(forms.Select):
    """A choice among the values that documents have now, looked up when the list is shown."""

    def __init__(self, field: str, empty: Any) -> None:
        super().__init__()
        self.field, self.empty = field, empty

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> Any:
        self.choices = [("", self.empty), *known(self.field)]
        return super().optgroups(name, value, attrs)

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        if value:  # somebody's own word
            option["attrs"]["translate"] = "no"
        return option


class DocumentFilter(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(
        field_name="latest__state", choices=VersionState.choices, label=_("State"), empty_label=_("any state")
    )
    language = django_filters.ChoiceFilter(choices=LANGUAGE_CHOICES, label=_("Language"), empty_label=_("any language"))
    bucket = django_filters.ChoiceFilter(
        choices=bucket_choices, method="by_bucket", label=_("Bucket"), empty_label=_("any bucket")
    )
    domain = django_filters.CharFilter(label=_("Domain"), widget=KnownValues("domain", _("any domain")))
    format = django_filters.CharFilter(label=_("Format"), widget=KnownValues("format", _("any format")))
    q = django_filters.CharFilter(
        field_name="title",
        lookup_expr="icontains",
        label=_("Title"),
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off", "data-key": "/"}),
    )

    class Meta:
        model = Document
        fields: list[str] = []

    def by_bucket(self, documents: Any, name: str, value: str) -> Any:
        return documents.in_bucket("" if value == NO_BUCKET else value)
