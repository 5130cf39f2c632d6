"""What lists of runs, calls and models can be narrowed by."""

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from benchmark.taxonomy import SECONDARY_TASKS, UnknownTask, secondary_task
from documents.models import LANGUAGE_CHOICES
from generation.models import Call, LanguageModel, Run
from generation.workflow import CallState, Purpose, RunState

TASK_CHOICES = [(task.code, f"{task.code} {task.name}") for task in SECONDARY_TASKS]


class RunFilter(django_filters.FilterSet):
    purpose = django_filters.ChoiceFilter(choices=Purpose.choices, label=_("Purpose"), empty_label=_("any purpose"))
    state = django_filters.ChoiceFilter(choices=RunState.choices, label=_("State"), empty_label=_("any state"))
    language = django_filters.ChoiceFilter(choices=LANGUAGE_CHOICES, label=_("Language"), empty_label=_("any language"))
    calls = django_filters.ChoiceFilter(
        choices=[(state.value, state.label) for state in CallState],
        label=_("With calls"),
        empty_label=_("any calls"),
        method="with_calls",
    )
    bucket = django_filters.CharFilter(field_name="document_version__bucket", label=_("Bucket"))
    secondary_task = django_filters.CharFilter(method="of_task", label=_("Secondary task, code or name"))

    class Meta:
        model = Run
        fields = ["purpose", "state", "language", "calls"]

    def with_calls(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return runs.filter(pk__in=Run.objects.filter(calls__state=value).values("pk"))

    def of_task(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        try:
            return runs.filter(task_code=secondary_task(value).code)
        except UnknownTask:
            return runs.none()


class CallFilter(django_filters.FilterSet):
    run = django_filters.NumberFilter(field_name="runs", label=_("Run"))
    purpose = django_filters.ChoiceFilter(choices=Purpose.choices, label=_("Purpose"))
    state = django_filters.ChoiceFilter(choices=CallState.choices, label=_("State"))
    model = django_filters.CharFilter(field_name="model__name", label=_("Model"))
    error_class = django_filters.CharFilter(label=_("Error"))

    class Meta:
        model = Call
        fields = ["run", "purpose", "state", "model", "error_class"]


class ModelFilter(django_filters.FilterSet):
    class Meta:
        model = LanguageModel
        fields = ["panel", "tier", "kind", "drafting", "active"]
