"""How lists of samples and candidates are narrowed, on the page and in the API alike."""

from typing import Any

import django_filters as filters
from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.forms import task_choices
from annotation.models import Candidate, Sample
from annotation.queries import SampleQuerySet
from annotation.workflow import CandidateState, SampleState
from benchmark.taxonomy import SECONDARY_TASKS
from core.models import User
from documents.models import LANGUAGE_CHOICES, DocumentVersion

# What the page shows where nothing is chosen.
ANY = _("any")


def bucket_choices() -> list[tuple[str, str]]:
    """The buckets that documents are in, shortest first."""
    found = DocumentVersion.objects.exclude(bucket="").values_list("bucket", flat=True).order_by().distinct()
    return [(bucket, bucket) for bucket in sorted(found, key=lambda name: (len(name), name))]


def task_keys() -> list[tuple[str, str]]:
    """Codes with the reader's names, then the exact English names, which programs may give."""
    return [*task_choices(), *((task.name, task.name) for task in SECONDARY_TASKS)]


class TaskSelect(forms.Select):
    """The reader's names alone: the English ones are for programs."""

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> Any:
        self.choices = [("", ANY), *task_choices()]
        return super().optgroups(name, value, attrs)


def codes_of(key: str) -> list[str]:
    """The task of this code or name, for a filter: none when there is no such task."""
    return [task.code for task in SECONDARY_TASKS if key in (task.code, task.name)]


class SampleFilter(filters.FilterSet):
    language = filters.ChoiceFilter(
        field_name="document__language", choices=LANGUAGE_CHOICES, label=_("Language"), empty_label=ANY
    )
    bucket = filters.ChoiceFilter(
        field_name="document_version__bucket", choices=bucket_choices, label=_("Bucket"), empty_label=ANY
    )
    secondary_task = filters.ChoiceFilter(
        choices=task_keys, method="of_task", label=_("Secondary task"), empty_label=ANY, widget=TaskSelect
    )
    state = filters.ChoiceFilter(choices=SampleState.choices, label=_("State"), empty_label=ANY)
    live = filters.BooleanFilter(method="not_exhausted", label=_("Not exhausted"))
    under_way = filters.BooleanFilter(method="not_ended", label=_("Under way"))
    blocked = filters.BooleanFilter(method="without_approval", label=_("Blocked"))
    mine = filters.BooleanFilter(method="of_the_person", label=_("Mine"))

    class Meta:
        model = Sample
        fields: list[str] = []

    def of_task(self, queryset: SampleQuerySet, name: str, value: str) -> SampleQuerySet:
        return queryset.filter(task_code__in=codes_of(value))

    def not_exhausted(self, queryset: SampleQuerySet, name: str, value: bool) -> SampleQuerySet:
        return queryset.exclude(state=SampleState.EXHAUSTED) if value else queryset

    def not_ended(self, queryset: SampleQuerySet, name: str, value: bool) -> SampleQuerySet:
        return queryset.under_way() if value else queryset

    def without_approval(self, queryset: SampleQuerySet, name: str, value: bool) -> SampleQuerySet:
        return queryset.blocked() if value else queryset

    def of_the_person(self, queryset: SampleQuerySet, name: str, value: bool) -> SampleQuerySet:
        person: Any = self.request.user if self.request else None
        return queryset.mine(person) if value and isinstance(person, User) else queryset


class CandidateFilter(filters.FilterSet):
    sample = filters.ModelChoiceFilter(queryset=Sample.objects.order_by("pk"), label=_("Sample"))
    language = filters.ChoiceFilter(
        field_name="sample__document__language", choices=LANGUAGE_CHOICES, label=_("Language"), empty_label=ANY
    )
    bucket = filters.ChoiceFilter(
        field_name="sample__document_version__bucket", choices=bucket_choices, label=_("Bucket"), empty_label=ANY
    )
    secondary_task = filters.ChoiceFilter(
        choices=task_keys, method="of_task", label=_("Secondary task"), empty_label=ANY, widget=TaskSelect
    )
    state = filters.ChoiceFilter(choices=CandidateState.choices, label=_("State"), empty_label=ANY)

    class Meta:
        model = Candidate
        fields: list[str] = []

    def of_task(self, queryset: Any, name: str, value: str) -> Any:
        return queryset.filter(sample__task_code__in=codes_of(value))
