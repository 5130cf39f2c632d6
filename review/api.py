"""`cases`, `reviews` and `audits`: the same actions as the pages, under the same blindness."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.workflow import ReconstructionStep
from benchmark.taxonomy import SECONDARY_TASKS
from core.api import ViewSet
from review import actions
from review.models import AnswerReview, AuditedSample, QualityAudit, QualityScore, ReviewCase
from review.queries import (
    audited_visible_to,
    cases_visible_to,
    lines_of,
    predicted_elements,
    predictions_of,
    review_of,
    reviews_visible_to,
    scores_visible_to,
)
from review.workflow import AdjudicationOutcome, CaseState, ElementMark, IssueKind, PredictedMark, ReviewState

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


# Shapes ----------------------------------------------------------------------------------------------------------


class MarkShape(serializers.Serializer[Any]):
    mark = serializers.ChoiceField(ElementMark.choices, allow_blank=True)
    note = serializers.CharField(allow_blank=True, default="", trim_whitespace=False)


class RecallShape(serializers.Serializer[Any]):
    element = serializers.CharField(trim_whitespace=False)
    mark = serializers.ChoiceField(PredictedMark.choices, allow_blank=True)
    note = serializers.CharField(allow_blank=True, default="", trim_whitespace=False)


class IssueShape(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(IssueKind.choices)
    note = serializers.CharField(allow_blank=True, default="")


class ReviewBody(serializers.Serializer[Any]):
    """A draft; with `submit` it is frozen as sent. `marks` follow the answer's elements, `recall` names its element."""

    version = serializers.IntegerField(required=False, help_text="the version you saw; not needed on sitting down")
    marks = MarkShape(many=True, default=list)
    recall = RecallShape(many=True, default=list)
    additions = serializers.ListField(child=serializers.CharField(), default=list)
    issues = IssueShape(many=True, default=list)
    submit = serializers.BooleanField(default=False)


class AdjudicationBody(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(AdjudicationOutcome.choices)
    step = serializers.ChoiceField(ReconstructionStep.choices, allow_blank=True, default="")
    reason = serializers.CharField(allow_blank=True, default="")


class DrawBody(serializers.Serializer[Any]):
    size = serializers.IntegerField(default=300)
    seed = serializers.IntegerField()


class ScoreBody(serializers.Serializer[Any]):
    scores = serializers.DictField(help_text='{dimension: {"score": 0 | 0.5 | 1, "why": text}}')
    attributes = serializers.DictField(
        child=serializers.BooleanField(), help_text="{language|length|task|context_requirement|answer: right?}"
    )


class CaseRow(serializers.ModelSerializer[ReviewCase]):
    """A case in a list. Nothing in it depends on a review."""

    secondary_task = serializers.CharField(source="sample.task.name", read_only=True)
    language = serializers.CharField(source="sample.document.language", read_only=True)
    bucket = serializers.CharField(source="sample.bucket", read_only=True)

    class Meta:
        model = ReviewCase
        fields = ["id", "sample", "round", "state", "secondary_task", "language", "bucket", "opened_at"]


class PredictionRow(serializers.Serializer[Any]):
    model = serializers.CharField()
    simulated = serializers.BooleanField()
    state = serializers.CharField()
    elements = serializers.ListField(child=serializers.CharField())


class PredictedRow(serializers.Serializer[Any]):
    element = serializers.CharField()
    models = serializers.ListField(child=serializers.CharField())


class CaseDetail(CaseRow):
    document_version = serializers.IntegerField(source="standardization.document_version_id", read_only=True)
    prompt = serializers.CharField(source="standardization.question_nonthinking", read_only=True)
    answer = serializers.ListField(source="standardization.answer", child=serializers.CharField(), read_only=True)
    predictions = serializers.SerializerMethodField()
    predicted_elements = serializers.SerializerMethodField()

    class Meta(CaseRow.Meta):
        fields = [
            *CaseRow.Meta.fields,
            "document_version",
            "prompt",
            "answer",
            "predictions",
            "predicted_elements",
        ]

    @extend_schema_field(PredictionRow(many=True))
    def get_predictions(self, case: ReviewCase) -> list[dict[str, Any]]:
        return [
            {
                "model": result.model.name,
                "simulated": result.model.is_simulated,
                "state": result.call.state,
                "elements": lines_of(case, result),
            }
            for result in predictions_of(case)
        ]

    @extend_schema_field(PredictedRow(many=True))
    def get_predicted_elements(self, case: ReviewCase) -> list[dict[str, Any]]:
        return [
            {"element": predicted.element, "models": [model.name for model in predicted.models]}
            for predicted in predicted_elements(case)
        ]


class ReviewRow(serializers.ModelSerializer[AnswerReview]):
    """A review as its reviewer, or after the decision the judging expert and leads, may read it."""

    class Meta:
        model = AnswerReview
        fields = [
            "id",
            "case",
            "reviewer",
            "state",
            "version",
            "marks",
            "recall",
            "additions",
            "issues",
            "found_issue",
            "begun_at",
            "saved_at",
            "submitted_at",
        ]


class ScoreRow(serializers.ModelSerializer[QualityScore]):
    class Meta:
        model = QualityScore
        fields = ["id", "scorer", "scores", "attributes", "scored_at"]


class AuditedRow(serializers.ModelSerializer[AuditedSample]):
    """One drawn sample; `scores` holds your own, and all three once all are in."""

    secondary_task = serializers.CharField(source="sample.task.name", read_only=True)
    language = serializers.CharField(source="sample.document.language", read_only=True)
    bucket = serializers.CharField(source="sample.bucket", read_only=True)

    class Meta:
        model = AuditedSample
        fields = ["id", "audit", "position", "sample", "secondary_task", "language", "bucket"]


class AuditedDetail(AuditedRow):
    scores = serializers.SerializerMethodField()

    class Meta(AuditedRow.Meta):
        fields = [*AuditedRow.Meta.fields, "scores"]

    @extend_schema_field(ScoreRow(many=True))
    def get_scores(self, audited: AuditedSample) -> Any:
        visible = scores_visible_to(self.context["request"].user).filter(audited=audited)
        return ScoreRow(visible, many=True).data


class AuditRow(serializers.ModelSerializer[QualityAudit]):
    class Meta:
        model = QualityAudit
        fields = ["id", "seed", "size", "drawn_at", "drawn_by"]


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
        return Response(ReviewRow(review).data)

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
        with transaction.atomic():
            review = actions.take_seat(case=case, by=self.person)
            review = actions.save_review(
                review=review, version=review.version if version is None else version, by=self.person, **sent
            )
            if submit:
                review = actions.submit_review(review=review, version=review.version, by=self.person)
        return Response(ReviewRow(review).data)

    @extend_schema(request=AdjudicationBody, responses=CaseRow)
    @action(detail=True, methods=["post"])
    def adjudicate(self, request: Request, pk: str | None = None) -> Response:
        body = AdjudicationBody(data=request.data)
        body.is_valid(raise_exception=True)
        case = self.get_object()
        actions.adjudicate_case(case=case, by=self.person, **body.validated_data)
        case.refresh_from_db()
        return Response(CaseRow(case).data)

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
            return reviews.exclude(case__state__in=[CaseState.OPEN, CaseState.AWAITING_PREDICTIONS])
        return reviews

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        review = self.get_object()
        actions.record_look(case=review.case, by=self.person)
        return Response(ReviewRow(review).data)


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
