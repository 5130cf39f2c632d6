"""`cases`, `reviews` and `audits`: the same actions as the pages, under the same blindness."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from benchmark.taxonomy import SECONDARY_TASKS
from core.api import ViewSet
from core.refusals import Conflict
from review import actions
from review.models import AnswerReview, AuditedSample, ReviewCase
from review.queries import UNDECIDED, audited_visible_to, cases_visible_to, draft_of, review_of, reviews_visible_to
from review.serializers import (
    AdjudicationBody,
    AuditedDetail,
    AuditedRow,
    AuditRow,
    CaseDetail,
    CaseRow,
    DecisionBody,
    DecisionRow,
    DrawBody,
    FreeSeatBody,
    ReplaceBody,
    ReviewBody,
    ReviewRow,
    ScoreBody,
    ScoreRow,
)
from review.workflow import CaseState, ReviewState

TASKS = [(key, task.name) for task in SECONDARY_TASKS for key in (task.code, task.name)]
CODES = {key: task.code for task in SECONDARY_TASKS for key in (task.code, task.name)}


class OfSample(filters.FilterSet):
    """Filters that any list about samples has."""

    language = filters.CharFilter("sample__document__language")
    bucket = filters.CharFilter("sample__document_version__bucket")
    secondary_task = filters.ChoiceFilter(choices=TASKS, method="of_task")

    def of_task(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return rows.filter(sample__task_code=CODES[value])


class CaseFilter(OfSample):
    state = filters.ChoiceFilter(choices=CaseState.choices)

    class Meta:
        model = ReviewCase
        fields = ["sample", "round"]


# Resources -------------------------------------------------------------------------------------------------------


class CaseViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ViewSet):
    queryset = ReviewCase.objects.none()
    serializer_class = CaseRow
    filterset_class = CaseFilter

    def get_queryset(self) -> QuerySet[ReviewCase]:
        if getattr(self, "swagger_fake_view", False):
            return ReviewCase.objects.none()
        return cases_visible_to(self.person)

    def get_serializer_class(self) -> Any:
        return CaseDetail if self.action == "retrieve" else CaseRow

    @extend_schema(responses=ReviewRow, description="Your own review of the case.")
    @action(detail=True, methods=["get"])
    def review(self, request: Request, pk: str | None = None) -> Response:
        case = self.get_object()
        review = review_of(case, self.person)
        if review is None:
            raise Http404
        return self._shown(review)

    @extend_schema(
        request=ReviewBody, responses=ReviewRow, description="Sit down if you have no seat yet, save, and maybe submit."
    )
    @review.mapping.post
    def write_review(self, request: Request, pk: str | None = None) -> Response:
        body = ReviewBody(data=request.data)
        body.is_valid(raise_exception=True)
        sent = dict(body.validated_data)
        version, submit = sent.pop("version", None), sent.pop("submit")
        # Any case that has opened: whoever comes third is told so, rather than that there is no such case.
        case = get_object_or_404(ReviewCase.objects.exclude(state=CaseState.AWAITING_PREDICTIONS), pk=pk)
        review = review_of(case, self.person)
        if review is not None and review.state == ReviewState.RELEASED:
            # The seat is lost, perhaps for good: the words are kept before anything else can be refused.
            review = self._save(review, version, sent)
            version = review.version
        with transaction.atomic():
            review = self._save(self._sit(case, sent), version, sent)
            if submit:
                review = actions.submit_review(review=review, version=review.version, by=self.person)
        return self._shown(review)

    def _sit(self, case: ReviewCase, sent: dict[str, Any]) -> AnswerReview:
        try:
            return actions.take_seat(case=case, by=self.person)
        except Conflict as refusal:
            # Nothing is lost: what was sent comes back with the words.
            refusal.details["sent"] = sent
            raise

    def _save(self, review: AnswerReview, version: int | None, sent: dict[str, Any]) -> AnswerReview:
        seen = review.version if version is None else version
        return actions.save_review(review=review, version=seen, by=self.person, **sent)

    def _shown(self, review: AnswerReview) -> Response:
        return Response(ReviewRow(review, context={"request": self.request}).data)

    @extend_schema(request=None, responses=ReviewRow, description="Leave your begun review to somebody else.")
    @action(detail=True, methods=["post"])
    def give_back(self, request: Request, pk: str | None = None) -> Response:
        review = get_object_or_404(AnswerReview, case=self.get_object(), reviewer=self.person)
        return self._shown(actions.give_back_seat(review=review, by=self.person))

    @extend_schema(request=FreeSeatBody, responses=CaseRow, description="Free the seat of a begun review (leads).")
    @action(detail=True, methods=["post"])
    def free_seat(self, request: Request, pk: str | None = None) -> Response:
        body = FreeSeatBody(data=request.data)
        body.is_valid(raise_exception=True)
        case = self.get_object()
        reviews = reviews_visible_to(self.person).filter(case=case)
        review = get_object_or_404(reviews, pk=body.validated_data["review"])
        actions.free_seat(review=review, reason=body.validated_data["reason"], by=self.person)
        return Response(CaseRow(case).data)

    @extend_schema(request=None, responses=ReviewRow(many=True), description="Fill the free seats (leads).")
    @action(detail=True, methods=["post"], pagination_class=None, filter_backends=[])
    def assign(self, request: Request, pk: str | None = None) -> Response:
        made = actions.assign_reviewers(case=self.get_object(), by=self.person)
        return Response(ReviewRow(made, many=True, context={"request": request}).data)

    @extend_schema(request=None, responses=CaseRow, description="Ask the models that did not answer again (leads).")
    @action(detail=True, methods=["post"])
    def send_again(self, request: Request, pk: str | None = None) -> Response:
        return Response(CaseRow(actions.send_predictions_again(case=self.get_object(), by=self.person)).data)

    @extend_schema(request=AdjudicationBody, responses=CaseRow)
    @action(detail=True, methods=["post"])
    def adjudicate(self, request: Request, pk: str | None = None) -> Response:
        body = AdjudicationBody(data=request.data)
        body.is_valid(raise_exception=True)
        case = self.get_object()
        actions.adjudicate_case(case=case, by=self.person, **body.validated_data)
        case.refresh_from_db()
        return Response(CaseRow(case).data)

    @extend_schema(responses=DecisionRow, description="What you have typed of the decision so far.")
    @action(detail=True, methods=["get"])
    def decision(self, request: Request, pk: str | None = None) -> Response:
        draft = draft_of(self.get_object(), self.person)
        if draft is None:
            raise Http404
        return Response(DecisionRow(draft).data)

    @extend_schema(request=DecisionBody, responses=DecisionRow, description="Keep a decision as far as it is typed.")
    @decision.mapping.post
    def save_decision(self, request: Request, pk: str | None = None) -> Response:
        body = DecisionBody(data=request.data)
        body.is_valid(raise_exception=True)
        draft = actions.save_decision(case=self.get_object(), by=self.person, **body.validated_data)
        return Response(DecisionRow(draft).data)

    @extend_schema(request=None, responses=CaseRow, description="Claim a disputed case; then its reviews are readable.")
    @action(detail=True, methods=["post"])
    def take(self, request: Request, pk: str | None = None) -> Response:
        return Response(CaseRow(actions.take_case(case=self.get_object(), by=self.person)).data)


class ReviewFilter(filters.FilterSet):
    state = filters.ChoiceFilter(choices=ReviewState.choices)

    class Meta:
        model = AnswerReview
        fields = ["case"]


class ReviewViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ViewSet):
    """Your own reviews; for the judging expert and leads those of decided cases too."""

    queryset = AnswerReview.objects.none()
    serializer_class = ReviewRow
    filterset_class = ReviewFilter

    def get_queryset(self) -> QuerySet[AnswerReview]:
        if getattr(self, "swagger_fake_view", False):
            return AnswerReview.objects.none()
        reviews = reviews_visible_to(self.person)
        if self.person.is_lead and self.action == "list":
            # A lead's look at an undecided case is one look at one case, and is written down.
            return reviews.exclude(case__state__in=UNDECIDED)
        return reviews

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        review = self.get_object()
        actions.record_look(case=review.case, by=self.person)
        return Response(self.get_serializer(review).data)


class AuditedFilter(OfSample):
    class Meta:
        model = AuditedSample
        fields = ["audit", "sample"]


class AuditViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ViewSet):
    """Drawn samples of the quality audits."""

    queryset = AuditedSample.objects.none()
    serializer_class = AuditedRow
    filterset_class = AuditedFilter

    def get_queryset(self) -> QuerySet[AuditedSample]:
        if getattr(self, "swagger_fake_view", False):
            return AuditedSample.objects.none()
        return audited_visible_to(self.person)

    def get_serializer_class(self) -> Any:
        return AuditedDetail if self.action == "retrieve" else AuditedRow

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        audited = self.get_object()
        actions.record_look_at_scores(audited=audited, by=self.person)
        return Response(self.get_serializer(audited).data)

    @extend_schema(request=DrawBody, responses={201: AuditRow}, description="Draw accepted samples (leads).")
    def create(self, request: Request) -> Response:
        body = DrawBody(data=request.data)
        body.is_valid(raise_exception=True)
        audit = actions.draw_audit(by=self.person, **body.validated_data)
        return Response(AuditRow(audit).data, status=201)

    @extend_schema(
        request=ReplaceBody, responses={201: AuditedRow}, description="Draw another sample in its place (leads)."
    )
    @action(detail=True, methods=["post"])
    def replace(self, request: Request, pk: str | None = None) -> Response:
        body = ReplaceBody(data=request.data)
        body.is_valid(raise_exception=True)
        made = actions.replace_audited(audited=self.get_object(), by=self.person, **body.validated_data)
        return Response(AuditedRow(made).data, status=201)

    @extend_schema(request=ScoreBody, responses={201: ScoreRow})
    @action(detail=True, methods=["post"])
    def score(self, request: Request, pk: str | None = None) -> Response:
        body = ScoreBody(data=request.data)
        body.is_valid(raise_exception=True)
        score = actions.score_audited(audited=self.get_object(), by=self.person, **body.validated_data)
        return Response(ScoreRow(score).data, status=201)


routes: list[tuple[str, type[ViewSet], str]] = [
    ("cases", CaseViewSet, "case"),
    ("reviews", ReviewViewSet, "review"),
    ("audits", AuditViewSet, "audit"),
]
