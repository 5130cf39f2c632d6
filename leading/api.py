"""API: people, progress and costs, for leads."""

from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Sample
from core import guidelines
from core.actions import can_save_guidelines, read_guidelines, save_guidelines
from core.api import ViewSet
from core.models import BenchmarkSettings, Event, GuidelinesMark, GuidelinesVersion, User
from core.refusals import Invalid, NotAllowed
from leading import actions, costs, queries
from leading.filters import TrailFilter
from leading.serializers import (
    AddedPersonSerializer,
    CostsSerializer,
    FiguresBody,
    FiguresSerializer,
    GuidelinesBody,
    GuidelinesSerializer,
    NewPersonSerializer,
    PersonSerializer,
    ProgressSerializer,
    StorySerializer,
    TrailLineSerializer,
    WorkSerializer,
)
from leading.story import story_of


class LeadsOnly(ViewSet):
    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        if not actions.can_lead(self.person):
            raise NotAllowed(_("Only a lead may do this."))


class PeopleViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, LeadsOnly):
    queryset = User.objects.order_by("id")
    serializer_class = PersonSerializer
    filterset_fields = ["role", "is_active"]

    @extend_schema(request=NewPersonSerializer, responses={201: AddedPersonSerializer})
    def create(self, request: Request) -> Response:
        form = NewPersonSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        person, password = actions.add_person(by=self.person, **form.validated_data)
        answer = {**PersonSerializer(person).data, "password": password}
        return Response(answer, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=PersonSerializer)
    @action(detail=True, methods=["post"])
    def deactivate(self, request: Request, pk: str) -> Response:
        person = actions.set_active(person=self.get_object(), active=False, by=self.person)
        return Response(PersonSerializer(person).data)

    @extend_schema(request=None, responses=PersonSerializer)
    @action(detail=True, methods=["post"])
    def activate(self, request: Request, pk: str) -> Response:
        person = actions.set_active(person=self.get_object(), active=True, by=self.person)
        return Response(PersonSerializer(person).data)

    @extend_schema(request=WorkSerializer, responses=PersonSerializer)
    @action(detail=True, methods=["post"])
    def work(self, request: Request, pk: str) -> Response:
        """Say of which languages and secondary tasks `next` offers samples to this person."""
        form = WorkSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        person = actions.change_work(person=self.get_object(), by=self.person, **form.validated_data)
        return Response(PersonSerializer(person).data)


class StoryViewSet(ViewSet):
    """The story of a sample. The other actions on samples are the annotation's."""

    queryset = Sample.objects.select_related("document", "document_version", "annotator")
    serializer_class = StorySerializer
    pagination_class = None
    filter_backends = []

    @extend_schema(responses=StorySerializer(many=True))
    @action(detail=True, methods=["get"])
    def story(self, request: Request, pk: str) -> Response:
        """Everything from document to now, oldest first, as far as one may know it."""
        return Response(StorySerializer(story_of(self.get_object(), self.person), many=True).data)


class ProgressViewSet(LeadsOnly):
    serializer_class = ProgressSerializer
    pagination_class = None
    filter_backends = []

    @extend_schema(responses=ProgressSerializer)
    def list(self, request: Request) -> Response:
        """The same counts as on the page, from the same queries."""
        answer = {"stages": queries.funnel(), "cells": queries.cells(), "cost": queries.cost()}
        return Response(ProgressSerializer(answer).data)


class CostsViewSet(LeadsOnly):
    serializer_class = CostsSerializer
    pagination_class = None
    filter_backends = []
    parameters = ("by",)

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "by", OpenApiTypes.STR, enum=list(costs.BY), description="what is summed by; model when left out"
            )
        ],
        responses=CostsSerializer,
    )
    def list(self, request: Request) -> Response:
        """What the calls cost: the same figures as on the page, from the same queries."""
        by = request.query_params.get("by", "model")
        if by not in costs.BY:
            known = ", ".join(costs.BY)
            raise Invalid({"by": _("Costs are summed by one of: %(names)s.") % {"names": known}})
        answer = {"by": by, "total": costs.total(), "test_calls": costs.trials(), "rows": costs.BY[by]()}
        return Response(CostsSerializer(answer).data)


routes: list[tuple[str, type[ViewSet], str]] = [
    ("people", PeopleViewSet, "person"),
    ("progress", ProgressViewSet, "progress"),
    ("costs", CostsViewSet, "costs"),
    ("samples", StoryViewSet, "sample-story"),
]


# The audit trail ----------------------------------------------------------------------------------------------------
class TrailViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, LeadsOnly):
    """Who did what to which record, when and why; newest first. It cannot be changed."""

    queryset = Event.objects.select_related("by").order_by("-id")
    serializer_class = TrailLineSerializer
    filterset_class = TrailFilter


routes.append(("trail", TrailViewSet, "trail"))


# The guidelines -----------------------------------------------------------------------------------------------------
class GuidelinesViewSet(ViewSet):
    """The criteria as they are worded now, by key, in both languages."""

    serializer_class = GuidelinesSerializer
    pagination_class = None
    filter_backends = []

    @extend_schema(responses=GuidelinesSerializer)
    def list(self, request: Request) -> Response:
        return self._answer()

    @extend_schema(request=GuidelinesBody, responses={201: GuidelinesSerializer})
    def create(self, request: Request) -> Response:
        """Save a new version (leads)."""
        if not can_save_guidelines(self.person):
            raise NotAllowed(_("Only a lead changes the guidelines."))
        given = GuidelinesBody(data=request.data)
        given.is_valid(raise_exception=True)
        save_guidelines(by=self.person, **given.validated_data)
        return self._answer(status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=GuidelinesSerializer)
    @action(detail=False, methods=["post"])
    def read(self, request: Request) -> Response:
        """You have read them as they are now."""
        read_guidelines(by=self.person)
        return self._answer()

    def _answer(self, code: int = 200) -> Response:
        newest = GuidelinesVersion.objects.order_by("-number").first()
        mark = GuidelinesMark.objects.filter(person=self.person).first()
        answer = {
            "version": guidelines.name_of(newest),
            "number": newest.number if newest else 0,
            "read": mark.number if mark else 0,
            "texts": {
                key: {language: guidelines.text_in(newest, key, language) for language in guidelines.LANGUAGES}
                for key in guidelines.WORDINGS
            },
        }
        return Response(GuidelinesSerializer(answer).data, status=code)


routes.append(("guidelines", GuidelinesViewSet, "guidelines"))


# The figures of the benchmark ---------------------------------------------------------------------------------------
class FiguresViewSet(LeadsOnly):
    """The figures that a lead can change."""

    serializer_class = FiguresSerializer
    pagination_class = None
    filter_backends = []

    @extend_schema(responses=FiguresSerializer)
    def list(self, request: Request) -> Response:
        return Response(FiguresSerializer(BenchmarkSettings.load()).data)

    @extend_schema(request=FiguresBody, responses={200: FiguresSerializer})
    def create(self, request: Request) -> Response:
        """Only what is given changes. Samples that exist keep their bucket."""
        given = FiguresBody(data=request.data)
        given.is_valid(raise_exception=True)
        return Response(FiguresSerializer(actions.change_settings(by=self.person, **given.validated_data)).data)


routes.append(("settings", FiguresViewSet, "settings"))
