"""Releases for programs, by the same actions as the pages. For leads."""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.api import ViewSet
from core.models import User
from core.refusals import Invalid, NotAllowed
from release import actions, queries
from release.bundling import download_response
from release.comparing import compare
from release.models import Release
from release.serializers import (
    AskedSerializer,
    CompareSerializer,
    ComparisonSerializer,
    NewReleaseSerializer,
    ReleaseDetailSerializer,
    ReleaseSerializer,
    WithdrawSerializer,
)


class ReleaseViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ViewSet):
    queryset = Release.objects.all()
    filterset_fields = ["state", "version"]

    def check_permissions(self, request: Request) -> None:
        super().check_permissions(request)
        if not isinstance(request.user, User) or not actions.can_lead_releases(request.user):
            raise NotAllowed(_("Releases are for leads."))

    def get_queryset(self) -> Any:
        found = queries.releases()
        if self.action == "list":
            return found.defer("statistics", "manifest")
        return found.prefetch_related("left_out__sample")

    def get_serializer_class(self) -> Any:
        return ReleaseSerializer if self.action == "list" else ReleaseDetailSerializer

    @extend_schema(request=NewReleaseSerializer, responses={201: ReleaseDetailSerializer})
    def create(self, request: Request) -> Response:
        """Begin a release. It is frozen and written in the background: read it again until `state` is `frozen`."""
        given = NewReleaseSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        release = actions.make_release(by=self.person, **given.validated_data)
        return Response(ReleaseDetailSerializer(release).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses={202: AskedSerializer})
    @action(detail=False, methods=["post"])
    def label(self, request: Request) -> Response:
        """Ask for the difficulty of every accepted sample that has none, in the background."""
        labels = actions.label_samples(samples=list(queries.unlabelled()), by=self.person)
        return Response({"asked": len(labels)}, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=WithdrawSerializer, responses=ReleaseDetailSerializer)
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str) -> Response:
        """Say that a release should no longer be used, and why. It is kept."""
        given = WithdrawSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        release = actions.withdraw_release(release=self.get_object(), by=self.person, **given.validated_data)
        return Response(ReleaseDetailSerializer(release).data)

    @extend_schema(request=None, responses=ReleaseDetailSerializer)
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: str) -> Response:
        """Make a failed release again."""
        release = actions.retry_release(release=self.get_object(), by=self.person)
        return Response(ReleaseDetailSerializer(release).data)

    @extend_schema(request=None, responses=ReleaseDetailSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Stop making a release. It can be retried."""
        release = actions.cancel_release(release=self.get_object(), by=self.person)
        return Response(ReleaseDetailSerializer(release).data)

    @extend_schema(parameters=[CompareSerializer], responses=ComparisonSerializer)
    @action(detail=True, methods=["get"])
    def compare(self, request: Request, pk: str) -> Response:
        """Samples added, removed and changed since release `with`, by field. A context is told by its SHA-256."""
        given = CompareSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        asked = given.validated_data
        new = self.get_object()
        old = queries.comparable_with(new).filter(pk=asked["with"]).first()
        if old is None:
            raise Invalid({"with": _("This is not the number of another frozen release.")})
        size = asked["page_size"]
        start = (asked["page"] - 1) * size
        found = compare(old, new, kind=asked["kind"], field=asked["field"], start=start, length=size)
        return Response(ComparisonSerializer(found).data)

    @extend_schema(
        responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, description="all files as a ZIP")}
    )
    @action(detail=True, methods=["get"])
    def download(self, request: Request, pk: str) -> HttpResponseBase:
        """All files of a frozen release."""
        return download_response(self.get_object())


routes: list[tuple[str, type[ViewSet], str]] = [("releases", ReleaseViewSet, "release")]
