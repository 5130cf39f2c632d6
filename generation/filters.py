"""What lists of runs, calls and models can be narrowed by, on the pages and in the API alike."""

from collections.abc import Callable, Iterable
from typing import Any

import django_filters
from django import forms
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from benchmark.taxonomy import SECONDARY_TASKS, Language, UnknownTask, secondary_task
from core.models import BenchmarkSettings
from documents.models import LANGUAGE_CHOICES
from generation.models import Call, LanguageModel, Run, RunCall
from generation.queries import DOUBTFUL, is_repaired
from generation.workflow import CallState, Purpose, RunState, Trouble

Words = str | Promise
Choices = Iterable[tuple[str, Words]]


class Offered(forms.Select):
    """Offers what there is now; any other value is taken all the same, as programs give names and codes."""

    def __init__(self, empty: Words, offer: Callable[[], Choices]) -> None:
        super().__init__()
        self.empty = empty
        self.offer = offer

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> Any:
        self.choices = [("", self.empty), *self.offer()]
        return super().optgroups(name, value, attrs)


def task_choices() -> Choices:
    language = Language.CHINESE if (get_language() or "").startswith("zh") else Language.ENGLISH
    return [(task.code, task.name_in(language)) for task in SECONDARY_TASKS]


def bucket_choices() -> Choices:
    return [(name, name) for name in BenchmarkSettings.load().lengths.names()]


def model_choices() -> Choices:
    return [(name, name) for name in LanguageModel.objects.values_list("name", flat=True)]


def code_of(value: str) -> str | None:
    """The task of this code or name."""
    try:
        return secondary_task(value).code
    except UnknownTask:
        return None


class RunFilter(django_filters.FilterSet):
    purpose = django_filters.ChoiceFilter(choices=Purpose.choices, label=_("Purpose"), empty_label=_("any purpose"))
    state = django_filters.ChoiceFilter(choices=RunState.choices, label=_("State"), empty_label=_("any state"))
    language = django_filters.ChoiceFilter(choices=LANGUAGE_CHOICES, label=_("Language"), empty_label=_("any language"))
    bucket = django_filters.CharFilter(
        field_name="document_version__bucket", label=_("Bucket"), widget=Offered(_("any bucket"), bucket_choices)
    )
    secondary_task = django_filters.CharFilter(
        method="of_task", label=_("Secondary task, code or name"), widget=Offered(_("any task"), task_choices)
    )
    calls = django_filters.ChoiceFilter(
        choices=[(state.value, state.label) for state in CallState],
        label=_("With calls"),
        empty_label=_("any calls"),
        method="with_calls",
    )
    model = django_filters.CharFilter(
        method="with_model", label=_("Model"), widget=Offered(_("any model"), model_choices)
    )
    error_class = django_filters.ChoiceFilter(
        choices=Trouble.choices, method="with_error", label=_("Error"), empty_label=_("any error")
    )
    day = django_filters.DateFilter(
        field_name="created_at__date",
        label=_("Started on"),
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )
    document = django_filters.NumberFilter(
        field_name="document_version__document", label=_("Document"), widget=forms.HiddenInput
    )

    class Meta:
        model = Run
        fields: list[str] = []

    def with_calls(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        found = RunCall.objects.filter(call__state=value)
        return _of(runs, found.exclude(is_repaired("call")) if value == CallState.FAILED else found)

    def with_model(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        """Nearly every run asks each model of a panel: each run is looked at until one of its calls is the model's."""
        models = list(LanguageModel.objects.filter(name=value).values_list("pk", flat=True))
        return runs.filter(Exists(RunCall.objects.filter(run=OuterRef("pk"), call__model__in=models)))

    def with_error(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return _of(runs, RunCall.objects.filter(call__error_class=value).exclude(is_repaired("call")))

    def of_task(self, runs: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        code = code_of(value)
        return runs.filter(task_code=code) if code else runs.none()


def _of(runs: QuerySet[Run], found: QuerySet[RunCall]) -> QuerySet[Run]:
    """Beginning with the calls, of which there are few in such a state, not with the runs."""
    return runs.filter(pk__in=found.order_by().values("run"))


class CallFilter(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(choices=CallState.choices, label=_("State"), empty_label=_("any state"))
    purpose = django_filters.ChoiceFilter(choices=Purpose.choices, label=_("Purpose"), empty_label=_("any purpose"))
    model = django_filters.CharFilter(
        field_name="model__name", label=_("Model"), widget=Offered(_("any model"), model_choices)
    )
    error_class = django_filters.CharFilter(
        label=_("Error"), widget=Offered(_("any error"), lambda: list(Trouble.choices))
    )
    language = django_filters.ChoiceFilter(
        field_name="document_version__document__language",
        choices=LANGUAGE_CHOICES,
        label=_("Language"),
        empty_label=_("any language"),
    )
    bucket = django_filters.CharFilter(
        field_name="document_version__bucket", label=_("Bucket"), widget=Offered(_("any bucket"), bucket_choices)
    )
    secondary_task = django_filters.CharFilter(
        method="of_task", label=_("Secondary task, code or name"), widget=Offered(_("any task"), task_choices)
    )
    day = django_filters.DateFilter(
        field_name="sent_at__date",
        label=_("Sent on"),
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )
    run = django_filters.NumberFilter(field_name="runs", label=_("Run"), widget=forms.HiddenInput)
    document = django_filters.NumberFilter(
        field_name="document_version__document", label=_("Document"), widget=forms.HiddenInput
    )
    held = django_filters.BooleanFilter(
        method="holding_back", label=_("May have been billed, and waits for a lead's word"), widget=forms.HiddenInput
    )
    repaired = django_filters.BooleanFilter(
        method="followed_by_a_repair", label=_("Followed by a repair"), widget=forms.HiddenInput
    )

    class Meta:
        model = Call
        fields: list[str] = []

    def of_task(self, calls: QuerySet[Call], name: str, value: str) -> QuerySet[Call]:
        code = code_of(value)
        if code is None:
            return calls.none()
        return calls.filter(Exists(RunCall.objects.filter(call=OuterRef("pk"), run__task_code=code)))

    def holding_back(self, calls: QuerySet[Call], name: str, value: bool) -> QuerySet[Call]:
        return calls.filter(DOUBTFUL) if value else calls.exclude(DOUBTFUL)

    def followed_by_a_repair(self, calls: QuerySet[Call], name: str, value: bool) -> QuerySet[Call]:
        return calls.filter(repaired_by__isnull=not value)


class ModelFilter(django_filters.FilterSet):
    class Meta:
        model = LanguageModel
        fields = ["panel", "tier", "kind", "drafting", "active"]
