"""Samples and candidates as programs see them, and the bodies of the actions on them."""

from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.costing import DraftPlan
from annotation.exchange import TOLD
from annotation.models import (
    AuditRemark,
    Candidate,
    CandidateEdit,
    Challenge,
    DraftingBatch,
    DraftingLine,
    Sample,
    Standardization,
    Submission,
)
from annotation.queries import ChallengeResults
from annotation.rendering import Rendering, said
from annotation.workflow import Part, TimedStep, Verdict
from benchmark.findings import Finding
from core.models import User
from documents.models import Document


class SampleSerializer(serializers.ModelSerializer[Sample]):
    label = serializers.CharField(  # type: ignore[assignment]  # the field is named so
        read_only=True, help_text="the name on the pages, such as S-0417"
    )
    secondary_task = serializers.CharField(source="task.name", read_only=True)
    language = serializers.CharField(source="document.language", read_only=True)
    bucket = serializers.CharField(source="document_version.bucket", read_only=True)
    annotator = serializers.CharField(source="annotator.username", read_only=True, default=None, allow_null=True)
    claimed_by = serializers.SerializerMethodField(help_text="who holds the live claim")
    claim = serializers.SerializerMethodField(
        help_text="number of the live claim; sent along with an action it is refused once others have held the sample"
    )
    is_blocked = serializers.BooleanField(read_only=True, help_text="the document's approval was withdrawn")
    candidates = serializers.IntegerField(source="drafted", read_only=True, help_text="how many there are")
    passed = serializers.IntegerField(read_only=True)
    discarded = serializers.IntegerField(read_only=True)

    class Meta:
        model = Sample
        fields = [
            "id",
            "public_id",
            "label",
            "state",
            "state_since",
            "secondary_task",
            "task_code",
            "language",
            "bucket",
            "document",
            "document_version",
            "strategy",
            "round",
            "annotator",
            "claimed_by",
            "claim",
            "is_blocked",
            "candidates",
            "passed",
            "discarded",
            "chosen",
            "drafting_run",
            "created_at",
        ]
        read_only_fields = fields

    def get_claimed_by(self, sample: Sample) -> str | None:
        live: list[Any] = getattr(sample, "live_claims", [])
        return live[0].holder.username if live else None

    def get_claim(self, sample: Sample) -> int | None:
        live: list[Any] = getattr(sample, "live_claims", [])
        return live[0].pk if live else None


class DraftManyBody(serializers.Serializer[Any]):
    samples = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
        min_length=1,
        max_length=10_000,
        help_text="ids of planned samples",
    )
    run_budget_usd = serializers.DecimalField(
        max_digits=14,
        decimal_places=4,
        min_value=Decimal(0),
        required=False,
        allow_null=True,
        default=None,
        help_text="what each sample's run may cost; null is no limit",
    )


class DraftingLineSerializer(serializers.ModelSerializer[DraftingLine]):
    class Meta:
        model = DraftingLine
        fields = ["sample", "outcome", "run", "rule", "reason"]
        read_only_fields = fields


class DraftingBatchSerializer(serializers.ModelSerializer[DraftingBatch]):
    """Samples sent to drafting together, counted by what became of them."""

    made_by = serializers.CharField(source="made_by.username", read_only=True)
    total = serializers.IntegerField(read_only=True)
    waiting = serializers.IntegerField(read_only=True)
    started = serializers.IntegerField(read_only=True)
    refused = serializers.IntegerField(read_only=True)
    cancelled = serializers.IntegerField(read_only=True)

    class Meta:
        model = DraftingBatch
        fields = [
            "id",
            "made_at",
            "made_by",
            "finished_at",
            "expected_calls",
            "expected_usd",
            "run_budget_usd",
            "total",
            "waiting",
            "started",
            "refused",
            "cancelled",
        ]
        read_only_fields = fields


class DraftingDetailSerializer(DraftingBatchSerializer):
    lines = DraftingLineSerializer(many=True, read_only=True)

    class Meta(DraftingBatchSerializer.Meta):
        fields = [*DraftingBatchSerializer.Meta.fields, "lines"]
        read_only_fields = fields


class ModelEstimateSerializer(serializers.Serializer[Any]):
    model = serializers.CharField(source="model.name")
    calls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    usd = serializers.DecimalField(max_digits=20, decimal_places=8, allow_null=True, help_text="null without a price")
    cut = serializers.IntegerField(help_text="documents that it gets cut in the middle")


class NotDraftedSerializer(serializers.Serializer[Any]):
    sample = serializers.IntegerField(source="sample.pk")
    why = serializers.CharField()


class DraftPlanSerializer(serializers.Serializer[Any]):
    """What drafting would take. Nothing is made or sent."""

    samples = serializers.SerializerMethodField()
    calls = serializers.IntegerField()
    usd = serializers.DecimalField(max_digits=20, decimal_places=8, help_text="of the models that have a price")
    models = ModelEstimateSerializer(many=True)
    left_out = NotDraftedSerializer(many=True, source="left")

    def get_samples(self, plan: DraftPlan) -> list[int]:
        return [sample.pk for sample in plan.samples]


class CandidateSerializer(serializers.ModelSerializer[Candidate]):
    model = serializers.CharField(source="draft.call.model.name", read_only=True)
    simulated = serializers.BooleanField(source="draft.call.model.is_simulated", read_only=True)
    discarded_at_step = serializers.CharField(read_only=True, help_text="empty: it is not discarded")

    class Meta:
        model = Candidate
        fields = [
            "id",
            "sample",
            "position",
            "state",
            "version",
            "model",
            "simulated",
            "question",
            "elements",
            "options",
            "answer",
            "discarded_at_step",
            "discard_reason",
        ]
        read_only_fields = fields


class ProofSerializer(serializers.Serializer[Any]):
    step = serializers.CharField()
    quote = serializers.CharField()
    kind = serializers.CharField(help_text="exact, normalised, fuzzy or missing")
    start = serializers.IntegerField(allow_null=True, help_text="code points, half-open")
    end = serializers.IntegerField(allow_null=True)


class ModelAnswerSerializer(serializers.Serializer[Any]):
    run_call = serializers.IntegerField(source="run_call.pk")
    model = serializers.CharField(source="model.name")
    simulated = serializers.BooleanField(source="model.is_simulated")
    state = serializers.CharField(source="result.call.state")
    elements = serializers.ListField(child=serializers.CharField(), source="result.elements")
    score = serializers.FloatField(source="result.score", allow_null=True)
    right = serializers.BooleanField(allow_null=True, help_text="as it counts, after an overrule")
    overruled = serializers.SerializerMethodField()

    def get_overruled(self, answer: Any) -> str | None:
        return answer.overrule.reason if answer.overrule else None


class ChallengeSerializer(serializers.Serializer[Any]):
    """The models' answers. `stale`: they are to an earlier version of the candidate and count for nothing."""

    id = serializers.IntegerField(source="challenge.pk")
    candidate_version = serializers.IntegerField(source="challenge.candidate_version")
    run = serializers.IntegerField(source="challenge.run_id")
    stale = serializers.BooleanField()
    finished = serializers.BooleanField(source="is_finished")
    answers = ModelAnswerSerializer(many=True)


class CandidateDetailSerializer(CandidateSerializer):
    rationale = serializers.CharField(source="draft.rationale", read_only=True)
    solution = ProofSerializer(source="proofs", many=True, read_only=True)
    challenge = ChallengeSerializer(source="results", read_only=True, allow_null=True)

    class Meta(CandidateSerializer.Meta):
        fields = [*CandidateSerializer.Meta.fields, "rationale", "solution", "challenge"]
        read_only_fields = fields

    def to_representation(self, instance: Candidate) -> dict[str, Any]:
        shown = super().to_representation(instance)
        results: ChallengeResults | None = getattr(instance, "results", None)
        shown["challenge"] = ChallengeSerializer(results).data if results else None
        return shown


class RemarkSerializer(serializers.ModelSerializer[AuditRemark]):
    """What the expert says about one part, and what the annotator did about it."""

    by = serializers.CharField(source="by.username", read_only=True)
    dealt = serializers.SerializerMethodField(help_text="the annotator has ticked it")

    class Meta:
        model = AuditRemark
        fields = ["id", "position", "part", "element", "text", "by", "at", "dealt", "dealt_at", "reply"]
        read_only_fields = fields

    def get_dealt(self, remark: AuditRemark) -> bool:
        return remark.dealt_at is not None


class WordingSerializer(serializers.Serializer[Any]):
    question = serializers.CharField()
    elements = serializers.CharField()
    options = serializers.ListField(child=serializers.CharField())
    answer = serializers.ListField(child=serializers.CharField())


class EditSerializer(serializers.ModelSerializer[CandidateEdit]):
    by = serializers.CharField(source="by.username", read_only=True)
    before = WordingSerializer(read_only=True)
    after = WordingSerializer(read_only=True)

    class Meta:
        model = CandidateEdit
        fields = ["version", "at", "by", "before", "after"]
        read_only_fields = fields


class HintSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="question, elements, options or answer")
    line = serializers.IntegerField(allow_null=True, help_text="counts from 1; null when the whole field is meant")
    rule = serializers.CharField()
    text = serializers.CharField()


class PlaceSerializer(serializers.Serializer[Any]):
    """Where a line of the options or of the answer stands in the document."""

    field = serializers.CharField()
    line = serializers.IntegerField()
    text = serializers.CharField()
    count = serializers.IntegerField(source="occurrence.count")
    more = serializers.BooleanField(source="occurrence.more", help_text="it occurs at least so often")
    exact = serializers.BooleanField(source="occurrence.exact", help_text="letter by letter")
    start = serializers.IntegerField(source="occurrence.start", allow_null=True, help_text="code points, half-open")
    end = serializers.IntegerField(source="occurrence.end", allow_null=True)


class PieceSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text="same, ins, del; of lines also moved and edit")
    text = serializers.CharField()
    pieces = serializers.ListField(child=serializers.DictField(), required=False, help_text="within an edited line")

    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown: dict[str, Any] = {"kind": instance.kind, "text": instance.text}
        if instance.pieces:
            shown["pieces"] = [{"kind": piece.kind, "text": piece.text} for piece in instance.pieces]
        return shown


class DifferencesSerializer(serializers.Serializer[Any]):
    question = PieceSerializer(many=True)
    elements = PieceSerializer(many=True)
    options = PieceSerializer(many=True)
    answer = PieceSerializer(many=True)


class CheckedSerializer(serializers.Serializer[Any]):
    """What is said about a wording: hints that forbid nothing, places in the document, differences to the draft."""

    hints = HintSerializer(many=True)
    occurrences = PlaceSerializer(many=True, source="places")
    differences = DifferencesSerializer()


class SubmissionSerializer(serializers.ModelSerializer[Submission]):
    submitted_by = serializers.CharField(source="submitted_by.username", read_only=True)
    audited_by = serializers.CharField(source="audited_by.username", read_only=True, default=None, allow_null=True)
    outcome = serializers.CharField(read_only=True, help_text="approved, rejected or withdrawn; empty: undecided")
    remarks = serializers.SerializerMethodField(help_text="of the decision; none before it")

    class Meta:
        model = Submission
        fields = [
            "number",
            "round",
            "candidate",
            "candidate_version",
            "question",
            "elements",
            "options",
            "answer",
            "note",
            "submitted_at",
            "submitted_by",
            "outcome",
            "feedback",
            "remarks",
            "audited_at",
            "audited_by",
            "withdrawn_at",
        ]
        read_only_fields = fields

    @extend_schema_field(RemarkSerializer(many=True))
    def get_remarks(self, submission: Submission) -> Any:
        if submission.outcome not in TOLD:
            return []
        return RemarkSerializer(submission.remarks.all(), many=True).data


class ChangeSerializer(serializers.Serializer[Any]):
    """A part that differs. `pieces` in reading order: characters and words of a text, whole lines of a list."""

    part = serializers.CharField()
    pieces = PieceSerializer(many=True)


class TurnSerializer(serializers.Serializer[Any]):
    """One submission of the exchange, and what changed since the one before it."""

    submission = SubmissionSerializer()
    another_candidate = serializers.BooleanField(source="is_another_candidate")
    changes = ChangeSerializer(many=True)


class StepTimeSerializer(serializers.Serializer[Any]):
    person = serializers.CharField(source="person.username")
    step = serializers.CharField()
    seconds = serializers.FloatField(help_text="active: the page was visible and the person acted within a minute")


class CheckSerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    ticked = serializers.BooleanField(source="is_ticked")


class JudgedSerializer(serializers.Serializer[Any]):
    step = serializers.CharField(source="verdict.step")
    verdict = serializers.CharField(source="verdict.verdict")
    reason = serializers.CharField(source="verdict.reason")
    candidate_version = serializers.IntegerField(source="verdict.candidate_version")
    guidelines_version = serializers.CharField(source="verdict.guidelines_version")
    by = serializers.CharField(source="verdict.by.username")
    at = serializers.DateTimeField(source="verdict.at")
    void = serializers.BooleanField(
        source="is_void", help_text="its step was opened again, by an edit or by taking it back"
    )
    checks = CheckSerializer(many=True)


class TrailEditSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(source="edit.version")
    by = serializers.CharField(source="edit.by.username")
    at = serializers.DateTimeField(source="edit.at")
    changes = ChangeSerializer(many=True)


class DiscardedSerializer(serializers.Serializer[Any]):
    candidate = serializers.IntegerField(source="pk")
    position = serializers.IntegerField()
    step = serializers.CharField(source="discarded_at_step")
    reason = serializers.CharField(source="discard_reason")


class AuditTrailSerializer(serializers.Serializer[Any]):
    """What the annotator did: the submission, its candidate's edits and verdicts, what was discarded, and the time."""

    turn = TurnSerializer(allow_null=True, help_text="the last submission")
    checklist = CheckSerializer(many=True)
    edits = TrailEditSerializer(many=True)
    verdicts = JudgedSerializer(many=True)
    discarded = DiscardedSerializer(many=True)
    time = StepTimeSerializer(many=True)


class StandardizationSerializer(serializers.ModelSerializer[Standardization]):
    class Meta:
        model = Standardization
        fields = [
            "number",
            "round",
            "version",
            "task_description",
            "elements",
            "supplementary",
            "example",
            "answer",
            "question_nonthinking",
            "question_thinking",
            "completed_at",
        ]
        read_only_fields = fields


# Bodies ----------------------------------------------------------------------------------------------------------


class ClaimedBody(serializers.Serializer[Any]):
    """What every action of somebody who holds the sample may carry."""

    claim = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        help_text="number of the claim as last seen; refused (409) when others have held the sample since",
    )


class CreateBody(serializers.Serializer[Any]):
    document = serializers.PrimaryKeyRelatedField(queryset=Document.objects.all())
    secondary_task = serializers.CharField(help_text="code or exact English name")


class TakeOverBody(serializers.Serializer[Any]):
    holder = serializers.SlugRelatedField(slug_field="username", queryset=User.objects.filter(is_active=True))
    reason = serializers.CharField()


class ReasonBody(ClaimedBody):
    reason = serializers.CharField(allow_blank=True)


class SelectBody(ClaimedBody):
    candidate = serializers.PrimaryKeyRelatedField(queryset=Candidate.objects.select_related("sample"))


class SubmitBody(ClaimedBody):
    checklist = serializers.ListField(child=serializers.BooleanField(), help_text="seven items, all true")
    note = serializers.CharField(required=False, allow_blank=True, default="")


class DiscardManyBody(ClaimedBody):
    """Candidates of one sample, with one reason."""

    candidates = serializers.PrimaryKeyRelatedField(
        many=True, allow_empty=False, queryset=Candidate.objects.select_related("sample")
    )
    reason = serializers.CharField(allow_blank=True)


class FeedbackBody(ClaimedBody):
    feedback = serializers.CharField(required=False, allow_blank=True, default="")


class RemarkBody(serializers.Serializer[Any]):
    part = serializers.ChoiceField(choices=Part.choices)
    element = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, default=None, help_text="of the answer, counted from 1"
    )
    text = serializers.CharField(allow_blank=True)


class RemarksBody(ClaimedBody):
    remarks = RemarkBody(many=True, required=False, default=list)


class RejectBody(RemarksBody):
    """At least one remark; `feedback` is one in general."""

    feedback = serializers.CharField(required=False, allow_blank=True, default="")


class AnswerRemarkBody(ClaimedBody):
    remark = serializers.PrimaryKeyRelatedField(queryset=AuditRemark.objects.select_related("submission__sample"))
    dealt = serializers.BooleanField()
    reply = serializers.CharField(required=False, allow_blank=True, default="")


class BeatBody(serializers.Serializer[Any]):
    """One beat of a page: the active seconds since its last one."""

    beat = serializers.CharField(max_length=64, help_text="a number of its own; the same one counts once")
    seconds = serializers.DictField(
        child=serializers.FloatField(min_value=0), help_text=f"by step: {', '.join(TimedStep.values)}"
    )


class BeatCounted(serializers.Serializer[Any]):
    counted = serializers.FloatField(help_text="never more than has passed since the person's last beat")


NEVER_GIVEN = ("question_nonthinking", "question_thinking", "answer")


class PartsBody(serializers.Serializer[Any]):
    """The four parts. The prompts are computed from them: a body that holds a prompt or an answer is refused."""

    task_description = serializers.CharField(
        allow_blank=True, trim_whitespace=False, help_text="without output requirement and without identifier"
    )
    elements = serializers.CharField(
        allow_blank=True, trim_whitespace=False, help_text="what to output; put into the fixed requirement, one line"
    )
    supplementary = serializers.CharField(
        allow_blank=True,
        required=False,
        default="",
        trim_whitespace=False,
        help_text="options, a label list or a text to work on; left out of the prompts when empty",
    )
    example = serializers.ListField(
        child=serializers.CharField(allow_blank=True),
        help_text="elements of the output example, in the form of the answer and not the answer",
    )

    def validate(self, attrs: Any) -> Any:
        given = [name for name in NEVER_GIVEN if name in self.initial_data]
        if given:
            words = _("This is computed or approved, never given: leave it out.")
            raise serializers.ValidationError({name: [words] for name in given})
        return attrs


class StandardizeBody(ClaimedBody, PartsBody):
    version = serializers.IntegerField(min_value=0, help_text="of the draft as last seen; 0 before the first save")
    complete = serializers.BooleanField(default=False, help_text="freeze it, if every check holds")


class RepairSerializer(serializers.Serializer[Any]):
    """A change that mends the finding: the code points start to end of `field` become `text`."""

    label = serializers.CharField(help_text="what it does, in words")  # type: ignore[assignment]
    field = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    text = serializers.CharField(allow_blank=True)


class FindingSerializer(serializers.Serializer[Any]):
    """What a check says about one field. `start` and `end` are code points in it, or null for the whole field; the
    example's lines are joined by LF."""

    check = serializers.CharField(help_text="a stable name")
    severity = serializers.ChoiceField(choices=["error", "hint"], help_text="errors stop completion, hints do not")
    field = serializers.CharField()
    message = serializers.CharField()
    start = serializers.IntegerField(allow_null=True)
    end = serializers.IntegerField(allow_null=True)
    repair = RepairSerializer(allow_null=True)


class AnswerElementSerializer(serializers.Serializer[Any]):
    """One element of the reference answer with the class that the example must share."""

    text = serializers.CharField()
    kind = serializers.CharField(help_text="letter, number, percentage, date, identifier, name, phrase or summary")
    pattern = serializers.CharField(
        help_text="decimals and unit, date or identifier pattern; empty where kind says all"
    )
    reason = serializers.CharField()


class SelfScoreSerializer(serializers.Serializer[Any]):
    """What the reference answer scores as a reply to each prompt, by the task's metric: 1.0 or it cannot complete."""

    nonthinking = serializers.FloatField()
    thinking = serializers.FloatField()


class PreviewSerializer(serializers.Serializer[Any]):
    """What the parts give."""

    task_description = serializers.CharField()
    elements = serializers.CharField()
    supplementary = serializers.CharField()
    example = serializers.ListField(child=serializers.CharField())
    version = serializers.IntegerField(help_text="of the saved draft; 0 when there is none")
    question_nonthinking = serializers.CharField()
    question_thinking = serializers.CharField()
    findings = FindingSerializer(many=True)
    answer = AnswerElementSerializer(many=True)
    self_score = SelfScoreSerializer()
    may_complete = serializers.BooleanField(help_text="no finding is an error")


def preview_data(rendering: Rendering, version: int) -> dict[str, Any]:
    """A rendering in the shape of `PreviewSerializer`, worded in the reader's language."""
    parts = rendering.parts
    return {
        "task_description": parts.task_description,
        "elements": parts.elements,
        "supplementary": parts.supplementary,
        "example": list(parts.example),
        "version": version,
        "question_nonthinking": rendering.nonthinking,
        "question_thinking": rendering.thinking,
        "findings": [_finding(one) for one in rendering.findings],
        "answer": [
            {"text": one.text, "kind": one.form.kind.value, "pattern": one.form.pattern, "reason": one.reason}
            for one in rendering.answer
        ],
        "self_score": dict(zip(("nonthinking", "thinking"), rendering.scores, strict=True)),
        "may_complete": rendering.may_complete,
    }


def _finding(one: Finding) -> dict[str, Any]:
    repair = one.repair
    return {
        "check": one.check,
        "severity": one.severity.value,
        "field": one.field,
        "message": said(one),
        "start": one.start,
        "end": one.end,
        "repair": repair
        and {
            "label": said(repair),
            "field": repair.field,
            "start": repair.start,
            "end": repair.end,
            "text": repair.text,
        },
    }


class EditBody(ClaimedBody):
    """What is left out stays as it is."""

    version = serializers.IntegerField(min_value=1)
    question = serializers.CharField(required=False, allow_blank=True)
    elements = serializers.CharField(required=False, allow_blank=True)
    options = serializers.ListField(child=serializers.CharField(allow_blank=True), required=False)
    answer = serializers.ListField(child=serializers.CharField(allow_blank=True), required=False)


class JudgeBody(ClaimedBody):
    version = serializers.IntegerField(min_value=1)
    verdict = serializers.ChoiceField(choices=Verdict.values)
    checks = serializers.ListField(child=serializers.BooleanField(), help_text="four items")
    reason = serializers.CharField(required=False, allow_blank=True, default="")


class JudgeCBody(ClaimedBody):
    version = serializers.IntegerField(min_value=1)
    verdict = serializers.ChoiceField(choices=[Verdict.CHALLENGING, Verdict.VALUABLE, Verdict.DISCARD])
    reason = serializers.CharField(required=False, allow_blank=True, default="")


class CheckBody(serializers.Serializer[Any]):
    """What is left out is checked as it is saved."""

    question = serializers.CharField(required=False, allow_blank=True)
    elements = serializers.CharField(required=False, allow_blank=True)
    options = serializers.ListField(child=serializers.CharField(allow_blank=True), required=False)
    answer = serializers.ListField(child=serializers.CharField(allow_blank=True), required=False)


class VersionBody(ClaimedBody):
    version = serializers.IntegerField(min_value=1)


class TakeBackBody(ClaimedBody):
    verdict = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        help_text="the one that is meant; refused when it is not the last",
    )


class OverruleBody(ClaimedBody):
    run_call = serializers.IntegerField()
    right = serializers.BooleanField()
    reason = serializers.CharField(allow_blank=True)


class ChallengeBegun(serializers.ModelSerializer[Challenge]):
    class Meta:
        model = Challenge
        fields = ["id", "candidate", "candidate_version", "run", "asked_at"]
        read_only_fields = fields
