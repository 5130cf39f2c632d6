"""The shapes of `cases`, `reviews` and `audits`, in and out."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.workflow import ReconstructionStep
from core.models import User
from review.models import (
    Adjudication,
    AnswerReview,
    AuditedSample,
    DecisionDraft,
    QualityAudit,
    QualityScore,
    ReviewCase,
)
from review.queries import (
    lines_of,
    names_are_hidden,
    predicted_elements,
    predictions_of,
    reviews_visible_to,
    scores_visible_to,
)
from review.workflow import AdjudicationOutcome, Decided, ElementMark, IssueKind, PredictedMark


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


class DecidedShape(serializers.Serializer[Any]):
    element = serializers.CharField(trim_whitespace=False)
    mark = serializers.ChoiceField(Decided.choices, allow_blank=True)


class AdjudicationBody(serializers.Serializer[Any]):
    """`marks`: the expert's own, of the elements that were decided; `proposal` goes with a revised answer."""

    outcome = serializers.ChoiceField(AdjudicationOutcome.choices)
    step = serializers.ChoiceField(ReconstructionStep.choices, allow_blank=True, default="")
    reason = serializers.CharField(allow_blank=True, default="")
    marks = DecidedShape(many=True, default=list)
    proposal = serializers.ListField(child=serializers.CharField(), default=list)


class DecisionBody(serializers.Serializer[Any]):
    """A decision as far as it is typed. `choice`: `no_issue` or a step; `proposal`: one element a line."""

    version = serializers.IntegerField(help_text="the version you saw, 0 before the first save")
    choice = serializers.CharField(allow_blank=True, default="")
    reason = serializers.CharField(allow_blank=True, default="", trim_whitespace=False)
    marks = DecidedShape(many=True, default=list)
    proposal = serializers.CharField(allow_blank=True, default="", trim_whitespace=False)


class DecisionRow(serializers.ModelSerializer[DecisionDraft]):
    class Meta:
        model = DecisionDraft
        fields = ["case", "version", "choice", "reason", "marks", "proposal", "saved_at"]


class FreeSeatBody(serializers.Serializer[Any]):
    review = serializers.IntegerField(help_text="the begun review whose seat is freed")
    reason = serializers.CharField(allow_blank=True, default="")


class DrawBody(serializers.Serializer[Any]):
    size = serializers.IntegerField(default=300)
    seed = serializers.IntegerField()


class ReplaceBody(serializers.Serializer[Any]):
    reason = serializers.CharField(help_text="why this sample is not to be scored")


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


class AdjudicationRow(serializers.ModelSerializer[Adjudication]):
    class Meta:
        model = Adjudication
        fields = ["outcome", "step", "reason", "marks", "proposal", "decided_by", "decided_at"]


class CaseDetail(CaseRow):
    document_version = serializers.IntegerField(source="standardization.document_version_id", read_only=True)
    prompt = serializers.CharField(source="standardization.question_nonthinking", read_only=True)
    answer = serializers.ListField(source="standardization.answer", child=serializers.CharField(), read_only=True)
    predictions = serializers.SerializerMethodField()
    predicted_elements = serializers.SerializerMethodField()
    adjudication = serializers.SerializerMethodField(
        help_text="the decision, for leads and for the expert who may read the reviews; null until then"
    )

    class Meta(CaseRow.Meta):
        fields = [
            *CaseRow.Meta.fields,
            "document_version",
            "prompt",
            "answer",
            "predictions",
            "predicted_elements",
            "adjudication",
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

    @extend_schema_field(AdjudicationRow(allow_null=True))
    def get_adjudication(self, case: ReviewCase) -> dict[str, Any] | None:
        person: User = self.context["request"].user
        decided = getattr(case, "adjudication", None)
        may_read = person.is_lead or reviews_visible_to(person).filter(case=case).exclude(reviewer=person).exists()
        return AdjudicationRow(decided).data if decided and may_read else None

    @extend_schema_field(PredictedRow(many=True))
    def get_predicted_elements(self, case: ReviewCase) -> list[dict[str, Any]]:
        return [
            {"element": predicted.element, "models": [model.name for model in predicted.models]}
            for predicted in predicted_elements(case)
        ]


class ReviewRow(serializers.ModelSerializer[AnswerReview]):
    """A review as its reviewer, or when both are in the judging expert and leads, may read it. Whose it is the expert
    is told when the case is decided."""

    reviewer = serializers.SerializerMethodField()

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

    @extend_schema_field(serializers.IntegerField(allow_null=True))
    def get_reviewer(self, review: AnswerReview) -> int | None:
        person: User = self.context["request"].user
        hidden = review.reviewer_id != person.pk and names_are_hidden(review.case, person)
        return None if hidden else review.reviewer_id


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
