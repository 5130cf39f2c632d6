"""Runs, calls and models for programs, by the same actions as the pages. For leads."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from core.api import ViewSet
from core.models import User
from core.refusals import NotAllowed
from generation import actions, queries
from generation.budgeting import spending
from generation.filters import CallFilter, ModelFilter, RunFilter
from generation.models import Call, LanguageModel, ModelTrial, ProviderLimit, Run
from generation.serializers import (
    AgainSerializer,
    BudgetSerializer,
    CallDetailSerializer,
    CallSerializer,
    CancelledSerializer,
    EditModelSerializer,
    GivenUpSerializer,
    LanguageModelSerializer,
    ManyRunsSerializer,
    NewModelSerializer,
    PauseSerializer,
    ProviderLimitSerializer,
    QueuedSerializer,
    ResendSerializer,
    RunBudgetSerializer,
    RunDetailSerializer,
    RunSerializer,
    SettleSerializer,
    SpendingSerializer,
    TrialSerializer,
)


def body(kind: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    given = kind(data=request.data)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


class LeadsOnly(ViewSet):
    """What a run answered tells of reviews and references, so only leads read it here."""

    def check_permissions(self, request: Request) -> None:
        super().check_permissions(request)
        if not isinstance(request.user, User) or not request.user.is_lead:
            raise NotAllowed(_("Runs and models are for leads."))


class LeadsViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, LeadsOnly):
    """Lists and single rows, for leads."""


class RunViewSet(LeadsViewSet):
    queryset = Run.objects.all()
    filterset_class = RunFilter

    def get_queryset(self) -> Any:
        runs = queries.runs_for_list()
        return runs if self.action == "list" else runs.defer(None)

    def get_serializer_class(self) -> Any:
        return RunSerializer if self.action == "list" else RunDetailSerializer

    @extend_schema(request=None, responses=RunDetailSerializer, description="Send the failed calls of the run again.")
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: str) -> Response:
        actions.retry_run(run=self.get_object(), by=self.person)
        return self._answer()

    @extend_schema(request=None, responses=RunDetailSerializer, description="Send nothing more of the run.")
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        actions.cancel_run(run=self.get_object(), by=self.person)
        return self._answer()

    @extend_schema(
        request=RunBudgetSerializer,
        responses=RunDetailSerializer,
        description="What the run's calls may cost together.",
    )
    @action(detail=True, methods=["post"])
    def budget(self, request: Request, pk: str) -> Response:
        given = body(RunBudgetSerializer, request)
        actions.set_run_budget(run=self.get_object(), by=self.person, **given)
        return self._answer()

    @extend_schema(
        operation_id="runs_retry_many",
        request=ManyRunsSerializer,
        responses=QueuedSerializer,
        description="Send the failed and cancelled calls of several runs again.",
    )
    @action(detail=False, methods=["post"], url_path="retry")
    def retry_many(self, request: Request) -> Response:
        calls = Call.objects.filter(runs__in=body(ManyRunsSerializer, request)["ids"]).order_by()
        wanted = Call.objects.filter(pk__in=calls.values("pk"))
        return Response({"queued": actions.retry_calls(calls=wanted, by=self.person)})

    @extend_schema(
        operation_id="runs_cancel_many",
        request=ManyRunsSerializer,
        responses=CancelledSerializer,
        description="Send nothing more of several runs; those that have ended stay as they are.",
    )
    @action(detail=False, methods=["post"], url_path="cancel")
    def cancel_many(self, request: Request) -> Response:
        runs = queries.unfinished_runs().filter(pk__in=body(ManyRunsSerializer, request)["ids"])
        done = actions.cancel_runs(runs=runs, by=self.person)
        return Response({"cancelled": done.cancelled, "left": done.left})

    def _answer(self) -> Response:
        return Response(RunDetailSerializer(self.get_object()).data)


class CallViewSet(LeadsViewSet):
    queryset = Call.objects.all()
    filterset_class = CallFilter

    def get_queryset(self) -> Any:
        calls = queries.calls_for_list()
        return calls if self.action == "list" else calls.defer(None)

    def get_serializer_class(self) -> Any:
        return CallSerializer if self.action == "list" else CallDetailSerializer

    @extend_schema(
        request=AgainSerializer,
        responses=QueuedSerializer,
        description="Send again what has no answer: by ids, or all of a run, state, error, model or purpose.",
    )
    @action(detail=False, methods=["post"])
    def retry(self, request: Request) -> Response:
        given = body(AgainSerializer, request)
        word, ids = {name: given.pop(name) for name in ("reason", "none_was_billed")}, given.pop("ids", None)
        calls = CallFilter(given, queryset=Call.objects.order_by()).qs
        if ids is not None:
            calls = calls.filter(pk__in=ids)
        return Response({"queued": actions.send_again(calls=calls, by=self.person, **word)})

    @extend_schema(
        request=ResendSerializer,
        responses=CallDetailSerializer,
        description="Send one call again. An unknown call may have been billed already.",
    )
    @action(detail=True, methods=["post"])
    def resend(self, request: Request, pk: str) -> Response:
        actions.resend_call(call=self.get_object(), by=self.person, **body(ResendSerializer, request))
        return Response(CallDetailSerializer(self.get_object()).data)

    @extend_schema(
        request=SettleSerializer,
        responses=CallDetailSerializer,
        description="Say what a call cost that came back without an answer: what it held back is released.",
    )
    @action(detail=True, methods=["post"])
    def settle(self, request: Request, pk: str) -> Response:
        actions.settle_call(call=self.get_object(), by=self.person, **body(SettleSerializer, request))
        return Response(CallDetailSerializer(self.get_object()).data)


class LanguageModelViewSet(LeadsViewSet):
    queryset = LanguageModel.objects.order_by("panel", "position", "id")
    serializer_class = LanguageModelSerializer
    filterset_class = ModelFilter

    @extend_schema(
        request=NewModelSerializer,
        responses={201: LanguageModelSerializer},
        description="Add a model: a provider's, or one on a server with OpenAI's interface.",
    )
    def create(self, request: Request) -> Response:
        model = actions.add_model(by=self.person, **body(NewModelSerializer, request))
        return Response(LanguageModelSerializer(model).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        request=None,
        responses={202: TrialSerializer},
        description="Ask the model for one word, in the background; `trials` shows what came of it.",
    )
    @action(detail=True, methods=["post"])
    def trial(self, request: Request, pk: str) -> Response:
        trial = actions.try_model(model=self.get_object(), by=self.person)
        return Response(TrialSerializer(trial).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(
        request=None,
        responses=GivenUpSerializer,
        description="Cancel what waits for a paused model, so that its runs end with what the others gave.",
    )
    @action(detail=True, methods=["post"])
    def give_up(self, request: Request, pk: str) -> Response:
        return Response({"cancelled": actions.give_up_queue(model=self.get_object(), by=self.person)})

    @extend_schema(
        request=EditModelSerializer, responses=LanguageModelSerializer, description="Change fields; the rest stays."
    )
    @action(detail=True, methods=["post"])
    def edit(self, request: Request, pk: str) -> Response:
        given = EditModelSerializer(data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        changes = dict(given.validated_data)
        model = self.get_object()
        changed = actions.edit_model(model=model, version=changes.pop("version", 0), by=self.person, **changes)
        return Response(LanguageModelSerializer(changed).data)

    @extend_schema(
        request=PauseSerializer, responses=LanguageModelSerializer, description="Send nothing to the model for now."
    )
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        given = PauseSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        model = actions.pause_model(model=self.get_object(), by=self.person, reason=given.validated_data["reason"])
        return Response(LanguageModelSerializer(model).data)

    @extend_schema(request=None, responses=LanguageModelSerializer, description="Use a paused model again.")
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        return Response(LanguageModelSerializer(actions.resume_model(model=self.get_object(), by=self.person)).data)


class TrialViewSet(LeadsViewSet):
    queryset = ModelTrial.objects.select_related("model")
    serializer_class = TrialSerializer
    filterset_fields = ["model"]


class ProviderLimitViewSet(LeadsViewSet):
    """What each provider is asked at once and in a minute."""

    queryset = ProviderLimit.objects.all()
    serializer_class = ProviderLimitSerializer

    @extend_schema(
        request=ProviderLimitSerializer,
        responses={200: ProviderLimitSerializer},
        description="Set the limits of one provider, from the next call on.",
    )
    def create(self, request: Request) -> Response:
        held = actions.set_provider_limit(by=self.person, **body(ProviderLimitSerializer, request))
        return Response(ProviderLimitSerializer(held).data)

    @extend_schema(responses={204: None}, description="Ask the provider without limits, from the next call on.")
    def destroy(self, request: Request, pk: str) -> Response:
        actions.remove_provider_limit(provider=self.get_object().provider, by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class BudgetViewSet(LeadsOnly):
    """What all calls together may cost, have cost, and hold back."""

    serializer_class = SpendingSerializer
    pagination_class = None
    filter_backends = []

    @extend_schema(responses=SpendingSerializer)
    def list(self, request: Request) -> Response:
        return Response(SpendingSerializer(spending()).data)

    @extend_schema(request=BudgetSerializer, responses={200: SpendingSerializer})
    def create(self, request: Request) -> Response:
        """From the next call on; null is no limit."""
        return Response(SpendingSerializer(actions.set_budget(by=self.person, **body(BudgetSerializer, request))).data)


routes: list[tuple[str, type[ViewSet], str]] = [
    ("runs", RunViewSet, "run"),
    ("calls", CallViewSet, "call"),
    ("models", LanguageModelViewSet, "model"),
    ("trials", TrialViewSet, "trial"),
    ("limits", ProviderLimitViewSet, "limit"),
    ("budget", BudgetViewSet, "budget"),
]
