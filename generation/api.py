"""Runs, calls and models for programs, by the same actions as the pages. For leads."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.api import ViewSet
from core.models import User
from core.refusals import NotAllowed
from generation import actions, queries
from generation.filters import CallFilter, ModelFilter, RunFilter
from generation.models import Call, LanguageModel, Run
from generation.serializers import (
    CallDetailSerializer,
    CallSerializer,
    EditModelSerializer,
    LanguageModelSerializer,
    PauseSerializer,
    ResendSerializer,
    RunDetailSerializer,
    RunSerializer,
)


class LeadsViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ViewSet):
    """What a run answered tells of reviews and references, so only leads read it here."""

    def check_permissions(self, request: Request) -> None:
        super().check_permissions(request)
        if not isinstance(request.user, User) or not request.user.is_lead:
            raise NotAllowed(_("Runs and models are for leads."))


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
        request=ResendSerializer,
        responses=CallDetailSerializer,
        description="Send one call again. An unknown call may have been billed already.",
    )
    @action(detail=True, methods=["post"])
    def resend(self, request: Request, pk: str) -> Response:
        given = ResendSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        actions.resend_call(call=self.get_object(), by=self.person, reason=given.validated_data["reason"])
        return Response(CallDetailSerializer(self.get_object()).data)


class LanguageModelViewSet(LeadsViewSet):
    queryset = LanguageModel.objects.order_by("panel", "position", "id")
    serializer_class = LanguageModelSerializer
    filterset_class = ModelFilter

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


routes: list[tuple[str, type[ViewSet], str]] = [
    ("runs", RunViewSet, "run"),
    ("calls", CallViewSet, "call"),
    ("models", LanguageModelViewSet, "model"),
]
