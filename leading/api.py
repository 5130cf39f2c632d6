"""API: people, invitations, progress and costs, for leads; notifications, for everybody."""

from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Sample
from core.api import ViewSet
from core.models import User
from core.refusals import Invalid, NotAllowed
from leading import actions, costs, notifying, queries
from leading.models import Invitation
from leading.serializers import (
    AddedPersonSerializer,
    CostsSerializer,
    InvitationSerializer,
    MadeInvitationSerializer,
    MarkSerializer,
    NewInvitationSerializer,
    NewPersonSerializer,
    NoticesSerializer,
    PersonSerializer,
    ProgressSerializer,
    ReadUpToSerializer,
    ResetLinkSerializer,
    RoleSerializer,
    SendSerializer,
    StorySerializer,
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

    @extend_schema(request=RoleSerializer, responses=PersonSerializer)
    @action(detail=True, methods=["post"])
    def role(self, request: Request, pk: str) -> Response:
        form = RoleSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        person = actions.change_role(person=self.get_object(), role=form.validated_data["role"], by=self.person)
        return Response(PersonSerializer(person).data)

    @extend_schema(request=SendSerializer, responses={201: ResetLinkSerializer})
    @action(detail=True, methods=["post"])
    def reset_link(self, request: Request, pk: str) -> Response:
        """A link with which the person chooses a new password. It is answered once; an earlier one opens no longer."""
        form = SendSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        person = self.get_object()
        link, token = actions.make_reset_link(person=person, by=self.person)
        address = request.build_absolute_uri(reverse("leading:reset_open", args=[token]))
        sent = bool(person.email) and form.validated_data["send"]
        sent = sent and actions.send_link(to=person.email, link=address, until=link.expires_at, kind="reset")
        answer = {"link": address, "expires_at": link.expires_at, "sent": sent}
        return Response(ResetLinkSerializer(answer).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=PersonSerializer)
    @action(detail=True, methods=["post"])
    def remove_authenticator(self, request: Request, pk: str) -> Response:
        """Of who has lost it. Recovery codes and sessions go with it."""
        person = actions.remove_authenticator(person=self.get_object(), by=self.person)
        return Response(PersonSerializer(person).data)


class InvitationsViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, LeadsOnly):
    queryset = Invitation.objects.select_related("made_by").order_by("id")
    serializer_class = InvitationSerializer
    filterset_fields = ["role"]

    @extend_schema(request=NewInvitationSerializer, responses={201: MadeInvitationSerializer})
    def create(self, request: Request) -> Response:
        """The link is answered this once: only its hash is kept."""
        form = NewInvitationSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        made, token = actions.invite(by=self.person, **form.validated_data)
        link = request.build_absolute_uri(reverse("leading:invitation_open", args=[token]))
        until = made.expires_at
        sent = bool(made.email) and actions.send_link(to=made.email, link=link, until=until, kind="invitation")
        answer = {**InvitationSerializer(made).data, "link": link, "sent": sent}
        return Response(answer, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=InvitationSerializer)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        made = actions.revoke_invitation(invitation=self.get_object(), by=self.person)
        return Response(InvitationSerializer(made).data)


class NotificationsViewSet(ViewSet):
    """What the person should hear of, read from the trail; the newest first."""

    serializer_class = NoticesSerializer
    pagination_class = None
    filter_backends = []

    @extend_schema(responses=NoticesSerializer)
    def list(self, request: Request) -> Response:
        answer = {
            "new": notifying.count_for(self.person),
            "seen_up_to": notifying.seen_up_to(self.person),
            "notices": notifying.notices_for(self.person),
        }
        return Response(NoticesSerializer(answer).data)

    @extend_schema(request=ReadUpToSerializer, responses=MarkSerializer)
    @action(detail=False, methods=["post"])
    def seen(self, request: Request) -> Response:
        """Everything up to this number is read. A mark never goes back."""
        form = ReadUpToSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        stands = actions.mark_seen(up_to=form.validated_data["up_to"], by=self.person)
        return Response(MarkSerializer({"seen_up_to": stands}).data)


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
    ("invitations", InvitationsViewSet, "invitation"),
    ("notifications", NotificationsViewSet, "notification"),
    ("progress", ProgressViewSet, "progress"),
    ("costs", CostsViewSet, "costs"),
    ("samples", StoryViewSet, "sample-story"),
]
