"""API: people, invitations, progress, plan and costs, for leads; notifications, for everybody."""

from typing import Any

from django.urls import reverse
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
from core.filtering import refuse_unknown
from core.models import BenchmarkSettings, Event, GuidelinesMark, GuidelinesVersion, User
from core.refusals import Invalid, NotAllowed
from leading import actions, costs, effort, notifying, outcomes, pace, planning, queries
from leading.filters import TrailFilter
from leading.models import Invitation
from leading.serializers import (
    AddedPersonSerializer,
    CellTargetBody,
    CostsSerializer,
    FiguresBody,
    FiguresSerializer,
    GuidelinesBody,
    GuidelinesSerializer,
    InvitationSerializer,
    MadeInvitationSerializer,
    MadeSerializer,
    MakeBody,
    MarkSerializer,
    NewInvitationSerializer,
    NewPersonSerializer,
    NoticesSerializer,
    PersonSerializer,
    PlanCellsSerializer,
    ProgressSerializer,
    ProposedSerializer,
    ReadUpToSerializer,
    ResetLinkSerializer,
    RoleSerializer,
    SendSerializer,
    StorySerializer,
    TargetsSetSerializer,
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
    parameters = ("days",)

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "days", OpenApiTypes.INT, enum=pace.SPANS, description="what throughput looks back on; 28 when left out"
            )
        ],
        responses=ProgressSerializer,
    )
    def list(self, request: Request) -> Response:
        """The same counts as on the pages, from the same queries."""
        days = request.query_params.get("days", str(pace.SPAN))
        if days not in {str(span) for span in pace.SPANS}:
            raise Invalid({"days": _("Choose one of: %(names)s.") % {"names": ", ".join(map(str, pace.SPANS))}})
        grid = queries.grid()
        expected = pace.forecast(grid.cells)
        answer = {
            "stages": queries.funnel(),
            "cells": grid.cells,
            "in_no_cell": grid.outside.total(),
            "without_difficulty": queries.accepted_without_label().count(),
            "cost": queries.cost(),
            "forecast": expected,
            "throughput": pace.throughput(int(days)),
            "active_time": _times(effort.effort()),
            "outcomes": outcomes.outcomes(),
            "chosen": outcomes.chosen(),
        }
        return Response(ProgressSerializer(answer, context={"accepted_here": expected.accepted_here}).data)


def _times(found: effort.Effort) -> list[dict[str, Any]]:
    return [
        {
            "step": step.step.value,
            "bucket": bucket,
            "samples": time.samples,
            "seconds": round(time.seconds, 1),
            "seconds_per_sample": round(time.mean, 1),
        }
        for step in found.steps
        for bucket, time in zip(found.buckets, step.times, strict=True)
        if time.mean is not None
    ]


WISHED = ("count", "language", "bucket", "secondary_task")


class PlanViewSet(LeadsOnly):
    """The plan: every cell with what it holds, what to make next, targets."""

    serializer_class = PlanCellsSerializer
    pagination_class = None
    filter_backends = []

    @extend_schema(responses=PlanCellsSerializer)
    def list(self, request: Request) -> Response:
        """Every cell, the shortest first: the same counts as on the page."""
        grid = queries.grid()
        answer = {"cells": queries.by_emptiness(grid.cells), "in_no_cell": grid.outside.total()}
        return Response(PlanCellsSerializer(answer).data)

    @extend_schema(
        parameters=[
            OpenApiParameter("count", OpenApiTypes.INT, description="from 1 to 200; 20 when left out"),
            OpenApiParameter("language", OpenApiTypes.STR, description="only cells of this language"),
            OpenApiParameter("bucket", OpenApiTypes.STR, description="only cells of this bucket"),
            OpenApiParameter(
                "secondary_task", OpenApiTypes.STR, description="only cells of this task, by code or name"
            ),
        ],
        responses=ProposedSerializer,
    )
    @action(detail=False, methods=["get"])
    def propose(self, request: Request) -> Response:
        """Pairs of document and task for the emptiest cells. Nothing is made."""
        refuse_unknown(request, WISHED)
        said: dict[str, Any] = {name: request.query_params[name] for name in WISHED if name in request.query_params}
        if "count" in said:
            if not (said["count"].isascii() and said["count"].isdecimal() and len(said["count"]) < 5):
                raise Invalid({"count": _("A whole number from 1 is expected.")})
            said["count"] = int(said["count"])
        return Response(ProposedSerializer(planning.propose(planning.wish_of(**said))).data)

    @extend_schema(request=MakeBody, responses={201: MadeSerializer})
    @action(detail=False, methods=["post"])
    def make(self, request: Request) -> Response:
        """Plan these samples in one step. What cannot be planned any more is left out, and says why."""
        form = MakeBody(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data["pairs"]
        pairs = [planning.pair_of(one["document"], one["secondary_task"]) for one in given]
        made = planning.make_samples(pairs=pairs, by=self.person)
        answer = {"samples": [sample.pk for sample in made.samples], "left_out": made.left}
        return Response(MadeSerializer(answer).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=CellTargetBody, responses=TargetsSetSerializer)
    @action(detail=False, methods=["post"])
    def target(self, request: Request) -> Response:
        """Set the target of a cell, or of all cells of a task, a language, a bucket."""
        form = CellTargetBody(data=request.data)
        form.is_valid(raise_exception=True)
        given = dict(form.validated_data)
        target = given.pop("target")
        wish = planning.wish_of(**given)
        targets = {cell.key: target for cell in queries.cells() if wish.holds(cell)}
        return Response({"changed": actions.set_cell_targets(targets=targets, by=self.person)})


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
    ("plan", PlanViewSet, "plan"),
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
