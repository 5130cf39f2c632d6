"""What the audit trail can be narrowed by, on the page and for programs alike."""

import django_filters
from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from core.models import Event, User


class TrailFilter(django_filters.FilterSet):
    person = django_filters.CharFilter(method="of_person", label=_("Person, by user name; - for the system"))
    action = django_filters.CharFilter(method="of_action", label=_("Action"))
    subject_type = django_filters.CharFilter(label=_("Kind of record"))
    subject_id = django_filters.NumberFilter(label=_("Number of the record"))
    day = django_filters.DateFilter(
        field_name="at__date",
        label=_("Day"),
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )

    class Meta:
        model = Event
        fields: list[str] = []

    def of_person(self, events: QuerySet[Event], name: str, value: str) -> QuerySet[Event]:
        if value == "-":
            return events.filter(by=None)
        return events.filter(by__in=list(User.objects.filter(username=value).values_list("pk", flat=True)))

    def of_action(self, events: QuerySet[Event], name: str, value: str) -> QuerySet[Event]:
        """With the stage in front or without it."""
        return events.filter(action=value) if "." in value else events.filter(action__endswith=f".{value}")
