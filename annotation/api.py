"""`samples` and `candidates`: every action is a POST on the resource, under the rules of `annotation.actions`."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from annotation import actions, claims, timing
from annotation.access import sees_audit, sees_trail
from annotation.auditing import Remark
from annotation.checking import check_wording
from annotation.costing import plan_of
from annotation.desk import candidates_of
from annotation.editing import as_typed
from annotation.evidence import proofs_of
from annotation.exchange import checklist_of, discarded_of, edits_of, turns_of, verdicts_of
from annotation.filters import CandidateFilter, SampleFilter
from annotation.models import Candidate, DraftingBatch, Participation, Sample
from annotation.queries import challenge_results, draft_standardization, drafting_batches, samples
from annotation.rendering import first_parts, has_approved_question, render, typed_parts
from annotation.serializers import (
    AnswerRemarkBody,
    AuditTrailSerializer,
    BeatBody,
    BeatCounted,
    CandidateDetailSerializer,
    CandidateSerializer,
    ChallengeBegun,
    ChallengeSerializer,
    CheckBody,
    CheckedSerializer,
    ClaimedBody,
    CreateBody,
    DiscardManyBody,
    DraftingBatchSerializer,
    DraftingDetailSerializer,
    DraftManyBody,
    DraftPlanSerializer,
    EditBody,
    EditSerializer,
    FeedbackBody,
    JudgeBody,
    JudgeCBody,
    OverruleBody,
    PartsBody,
    PreviewSerializer,
    ReasonBody,
    RejectBody,
    RemarksBody,
    RemarkSerializer,
    SampleSerializer,
    SelectBody,
    StandardizationSerializer,
    StandardizeBody,
    StepTimeSerializer,
    SubmissionSerializer,
    SubmitBody,
    TakeBackBody,
    TakeOverBody,
    TurnSerializer,
    VersionBody,
    preview_data,
)
from annotation.standardizing import keep_standardization
from annotation.workflow import Job
from benchmark.framing import Parts
from core.api import ProblemSerializer, ViewSet
from core.refusals import Invalid, NotAllowed, RuleBroken

REFUSALS = dict.fromkeys((400, 403, 404, 409, 422), ProblemSerializer)


def answers(body: Any, code: int = 200) -> dict[Any, Any]:
    return {code: body, **REFUSALS}


class Bodies(ViewSet):
    """Reading the body of an action. The claim's number, where it is sent along, goes with whatever is asked."""

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        with claims.carrying():
            return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method == "POST" and isinstance(request.data, Mapping) and request.data.get("claim"):
            given = ClaimedBody(data={"claim": request.data["claim"]})
            given.is_valid(raise_exception=True)
            claims.carry(given.validated_data["claim"])

    def body(self, kind: type[Serializer[Any]]) -> dict[str, Any]:
        given = kind(data=self.request.data)
        given.is_valid(raise_exception=True)
        return {name: value for name, value in given.validated_data.items() if name != "claim"}


class SampleViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, Bodies):
    """One benchmark item in the making. Lists carry no document text."""

    serializer_class = SampleSerializer
    filterset_class = SampleFilter
    queryset = Sample.objects.none()

    def get_queryset(self) -> QuerySet[Sample]:
        """An action reads the row anew under its lock, so it asks for no more than the row."""
        if self.request.method == "POST":
            return samples().select_related("document", "document_version")
        return samples().for_list()

    def _answer(self, sample: Sample, code: int = 200) -> Response:
        return Response(SampleSerializer(samples().for_list().get(pk=sample.pk)).data, status=code)

    @extend_schema(request=CreateBody, responses=answers(SampleSerializer, 201))
    def create(self, request: Request) -> Response:
        """Pair an approved, bucketed document with a secondary task (leads)."""
        given = self.body(CreateBody)
        sample = actions.create_sample(document=given["document"], task_code=given["secondary_task"], by=self.person)
        return self._answer(sample, status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=answers(SampleSerializer))
    @action(detail=False, methods=["post"])
    def next(self, request: Request) -> Response:
        """Claim the sample that should be worked on next; 404 when nothing waits."""
        sample = actions.claim_next(by=self.person)
        if sample is None:
            raise Http404
        return self._answer(sample)

    @extend_schema(request=None, responses=answers(SampleSerializer))
    @action(detail=True, methods=["post"])
    def draft(self, request: Request, pk: str) -> Response:
        """Ask the five drafting models, in the background (leads)."""
        return self._answer(actions.draft_sample(sample=self.get_object(), by=self.person))

    @extend_schema(
        operation_id="samples_draft_many", request=DraftManyBody, responses=answers(DraftingBatchSerializer, 202)
    )
    @action(detail=False, methods=["post"], url_path="draft")
    def draft_many(self, request: Request) -> Response:
        """Draft many samples together, in the background (leads). Those that cannot be drafted are left out; one that
        waits already is not started twice."""
        given = self.body(DraftManyBody)
        chosen = samples().filter(pk__in=given.pop("samples"))
        batch = actions.draft_samples(samples=chosen, by=self.person, **given)
        shown = drafting_batches().get(pk=batch.pk)
        return Response(DraftingBatchSerializer(shown).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=DraftManyBody, responses=answers(DraftPlanSerializer))
    @action(detail=False, methods=["post"])
    def estimate(self, request: Request) -> Response:
        """What drafting these would take, before anything is made or sent (leads)."""
        if not actions.can_draft_samples(self.person):
            raise NotAllowed(_("Only a lead has samples drafted."))
        plan = plan_of(samples().filter(pk__in=self.body(DraftManyBody)["samples"]))
        return Response(DraftPlanSerializer(plan).data)

    @extend_schema(request=None, responses=answers(SampleSerializer))
    @action(detail=True, methods=["post"])
    def claim(self, request: Request, pk: str) -> Response:
        """Take the sample for its next work: verification, standardization, audit or adjudication."""
        sample = self.get_object()
        actions.claim_sample(sample=sample, by=self.person)
        return self._answer(sample)

    @extend_schema(request=ClaimedBody, responses=answers(SampleSerializer))
    @action(detail=True, methods=["post"])
    def release_claim(self, request: Request, pk: str) -> Response:
        """Give the sample back; what was done stays."""
        sample = self.get_object()
        actions.release_claim(sample=sample, by=self.person)
        return self._answer(sample)

    @extend_schema(request=TakeOverBody, responses=answers(SampleSerializer))
    @action(detail=True, methods=["post"])
    def take_over(self, request: Request, pk: str) -> Response:
        """Hand the sample to somebody else, with the reason (leads)."""
        sample = self.get_object()
        actions.take_over_sample(sample=sample, by=self.person, **self.body(TakeOverBody))
        return self._answer(sample)

    @extend_schema(request=SelectBody, responses=answers(SampleSerializer))
    @action(detail=True, methods=["post"])
    def select(self, request: Request, pk: str) -> Response:
        """Choose one passed candidate."""
        candidate = self.body(SelectBody)["candidate"]
        return self._answer(actions.select_candidate(sample=self.get_object(), candidate=candidate, by=self.person))

    @extend_schema(request=SubmitBody, responses=answers(SubmissionSerializer))
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, pk: str) -> Response:
        """Hand the chosen candidate to expert audit; the checklist has seven items, all true."""
        given = self.body(SubmitBody)
        return self._submission(actions.submit_sample(sample=self.get_object(), by=self.person, **given))

    @extend_schema(request=None, responses=answers(SampleSerializer))
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str) -> Response:
        """Take a submission back while no expert has claimed its audit (its annotator)."""
        return self._answer(actions.withdraw_submission(sample=self.get_object(), by=self.person))

    @extend_schema(request=ClaimedBody, responses=answers(SampleSerializer))
    @action(detail=True, methods=["post"])
    def exhaust(self, request: Request, pk: str) -> Response:
        """End a sample that has no candidate left."""
        return self._answer(actions.exhaust_sample(sample=self.get_object(), by=self.person))

    @extend_schema(request=FeedbackBody, responses=answers(SubmissionSerializer))
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: str) -> Response:
        """The submitted question stands (the expert who claimed it)."""
        given = self.body(FeedbackBody)
        return self._submission(actions.approve_sample(sample=self.get_object(), by=self.person, **given))

    @extend_schema(request=RejectBody, responses=answers(SubmissionSerializer))
    @action(detail=True, methods=["post"])
    def reject(self, request: Request, pk: str) -> Response:
        """Back to its annotator, with remarks on the parts they are about (the expert who claimed it)."""
        given = self.body(RejectBody)
        remarks = [Remark(**one) for one in given["remarks"]]
        sample = self.get_object()
        return self._submission(
            actions.reject_sample(sample=sample, remarks=remarks, feedback=given["feedback"], by=self.person)
        )

    @extend_schema(request=RemarksBody, responses={**REFUSALS, 204: None})
    @action(detail=True, methods=["post"])
    def save_remarks(self, request: Request, pk: str) -> Response:
        """Keep the remarks written so far; nobody else sees them before the decision (the expert who claimed it)."""
        remarks = [Remark(**one) for one in self.body(RemarksBody)["remarks"]]
        actions.save_remarks(sample=self.get_object(), remarks=remarks, by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=AnswerRemarkBody, responses=answers(RemarkSerializer))
    @action(detail=True, methods=["post"])
    def answer_remark(self, request: Request, pk: str) -> Response:
        """Tick a remark of the last audit as dealt with, or not, with a reply (the annotator who holds the sample)."""
        sample, given = self.get_object(), self.body(AnswerRemarkBody)
        if given["remark"].submission.sample_id != sample.pk:
            raise Invalid({"remark": _("This remark belongs to another sample.")})
        return Response(RemarkSerializer(actions.answer_remark(by=self.person, **given)).data)

    def _submission(self, submission: Any) -> Response:
        return Response(SubmissionSerializer(submission).data)

    @extend_schema(responses=answers(TurnSerializer(many=True)))
    @action(detail=True, methods=["get"], pagination_class=None, filter_backends=[])
    def exchange(self, request: Request, pk: str) -> Response:
        """Every submission with what changed, the expert's remarks and the annotator's replies, oldest first."""
        return Response(TurnSerializer(turns_of(self._trail()), many=True).data)

    def _trail(self) -> Sample:
        sample = self.get_object()
        if not sees_trail(self.person, sample):
            raise NotAllowed(
                _("You review the answer of %(sample)s, so its trail is closed to you.") % {"sample": sample.label}
            )
        return sample

    @extend_schema(responses=answers(AuditTrailSerializer))
    @action(detail=True, methods=["get"])
    def audit(self, request: Request, pk: str) -> Response:
        """What the annotator did, for the expert who judges it, the annotator and leads."""
        sample = self.get_object()
        if not sees_audit(self.person, sample):
            raise NotAllowed(_("The audit of %(sample)s is not yours to see.") % {"sample": sample.label})
        turns = turns_of(sample)
        last = turns[-1] if turns else None
        candidate = last.submission.candidate if last else None
        trail = {
            "turn": last,
            "checklist": checklist_of(last.submission) if last else [],
            "edits": edits_of(candidate) if candidate else [],
            "verdicts": verdicts_of(candidate) if candidate else [],
            "discarded": discarded_of(sample),
            "time": timing.shown_at_audit(self.person, sample),
        }
        return Response(AuditTrailSerializer(trail).data)

    @extend_schema(methods=["get"], responses=answers(StepTimeSerializer(many=True)))
    @extend_schema(methods=["post"], request=BeatBody, responses=answers(BeatCounted))
    @action(detail=True, methods=["get", "post"], pagination_class=None, filter_backends=[])
    def time(self, request: Request, pk: str) -> Response:
        """Active time by step: one's own, for leads everybody's. A page tells it by POST, in beats."""
        sample = self.get_object()
        if request.method == "POST":
            return Response({"counted": actions.tell_time(sample=sample, by=self.person, **self.body(BeatBody))})
        return Response(StepTimeSerializer(timing.visible_to(self.person, sample), many=True).data)

    @extend_schema(request=StandardizeBody, responses=answers(StandardizationSerializer))
    @action(detail=True, methods=["post"])
    def standardize(self, request: Request, pk: str) -> Response:
        """Save the four parts; with `complete` also freeze them. Both prompts are computed, never given.

        When completing is refused, nothing is saved, and `errors` names every failing check at its field.
        """
        kept = keep_standardization(sample=self.get_object(), by=self.person, **self.body(StandardizeBody))
        return Response(StandardizationSerializer(kept).data)

    @extend_schema(responses=answers(PreviewSerializer))
    @standardize.mapping.get
    def standardization(self, request: Request, pk: str) -> Response:
        """The parts that the form begins with: what was saved last, else the approved question told apart."""
        sample = self._approved()
        return self._previewed(sample, first_parts(sample))

    @extend_schema(request=PartsBody, responses=answers(PreviewSerializer))
    @action(detail=True, methods=["post"], url_path="standardize/preview")
    def standardize_preview(self, request: Request, pk: str) -> Response:
        """Both prompts, all findings with their repairs, the answer's classes and its self-score. Nothing is saved."""
        sample = self._approved()
        return self._previewed(sample, typed_parts(sample, **self.body(PartsBody)))

    def _approved(self) -> Sample:
        """The sample, for those who may know how its question came about."""
        sample = self._trail()
        if not has_approved_question(sample):
            raise RuleBroken(_("No question of this sample has been approved yet."), rule="nothing_approved")
        return sample

    def _previewed(self, sample: Sample, parts: Parts) -> Response:
        draft = draft_standardization(sample)
        rendering = render(sample, parts)
        return Response(PreviewSerializer(preview_data(rendering, draft.version if draft else 0)).data)

    @extend_schema(request=ReasonBody, responses=answers(SampleSerializer))
    @action(detail=True, methods=["post"])
    def reopen(self, request: Request, pk: str) -> Response:
        """From standardization back to the desk, because the answer itself does not pass the checks."""
        given = self.body(ReasonBody)
        return self._answer(actions.reopen_sample(sample=self.get_object(), by=self.person, **given))

    @extend_schema(request=None, responses=answers(SampleSerializer))
    @action(detail=True, methods=["post"])
    def adopt_document(self, request: Request, pk: str) -> Response:
        """Pin the revised document's approved version and judge again (leads)."""
        return self._answer(actions.adopt_document_version(sample=self.get_object(), by=self.person))


class DraftingViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, Bodies):
    """Samples sent to drafting together (leads)."""

    serializer_class = DraftingBatchSerializer
    queryset = DraftingBatch.objects.none()

    def check_permissions(self, request: Request) -> None:
        super().check_permissions(request)
        if not actions.can_draft_samples(self.person):
            raise NotAllowed(_("Only a lead has samples drafted."))

    def get_queryset(self) -> QuerySet[DraftingBatch]:
        return drafting_batches()

    @extend_schema(responses=answers(DraftingDetailSerializer))
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return Response(DraftingDetailSerializer(self.get_object()).data)

    @extend_schema(request=None, responses=answers(DraftingBatchSerializer))
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Start no more of it. Runs that were started go on."""
        actions.cancel_drafting(batch=self.get_object(), by=self.person)
        return Response(DraftingBatchSerializer(self.get_object()).data)


class CandidateViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, Bodies):
    """One drafted question. Steps in their order: read, task_a, task_b, challenge, task_c."""

    serializer_class = CandidateSerializer
    filterset_class = CandidateFilter
    queryset = Candidate.objects.none()

    def get_queryset(self) -> QuerySet[Candidate]:
        """Reviewers judge the answer without the trail that led to it."""
        reviewed = Participation.objects.filter(person=self.person, job=Job.REVIEWS).values("sample")
        candidates = Candidate.objects.exclude(sample__in=reviewed)
        return candidates.select_related("sample") if self.request.method == "POST" else self._whole(candidates)

    def _whole(self, candidates: QuerySet[Candidate]) -> QuerySet[Candidate]:
        return candidates_of(candidates).select_related(
            "sample", "sample__document", "sample__document_version", "draft__call__model"
        )

    def _answer(self, candidate: Candidate) -> Response:
        shown: Any = self._whole(Candidate.objects.all()).get(pk=candidate.pk)
        shown.proofs, shown.results = proofs_of(shown), challenge_results(shown)
        return Response(CandidateDetailSerializer(shown).data)

    @extend_schema(responses=answers(CandidateDetailSerializer))
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self._answer(self.get_object())

    @extend_schema(request=ClaimedBody, responses=answers(CandidateDetailSerializer))
    @action(detail=True, methods=["post"])
    def read(self, request: Request, pk: str) -> Response:
        """Question, answer, rationale and solution were read: Task A opens."""
        return self._answer(actions.read_candidate(candidate=self.get_object(), by=self.person))

    @extend_schema(request=EditBody, responses=answers(CandidateDetailSerializer))
    @action(detail=True, methods=["post"])
    def edit(self, request: Request, pk: str) -> Response:
        """Change what is given. A changed question reopens Task A, a changed answer Task B."""
        given = self.body(EditBody)
        return self._answer(actions.edit_candidate(candidate=self.get_object(), by=self.person, **given))

    @extend_schema(request=CheckBody, responses=answers(CheckedSerializer))
    @action(detail=True, methods=["post"])
    def check(self, request: Request, pk: str) -> Response:
        """Hints about this wording, before it is saved. Changes nothing."""
        candidate = self.get_object()
        checked = check_wording(candidate, as_typed(candidate, **self.body(CheckBody)))
        return Response(CheckedSerializer(checked).data)

    @extend_schema(request=VersionBody, responses=answers(CandidateDetailSerializer))
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: str) -> Response:
        """Put back the wording before the last edit, as a new edit; undo again to do it again."""
        given = self.body(VersionBody)
        return self._answer(actions.undo_edit(candidate=self.get_object(), by=self.person, **given))

    @extend_schema(responses=answers(EditSerializer(many=True)))
    @action(detail=True, methods=["get"], pagination_class=None, filter_backends=[])
    def edits(self, request: Request, pk: str) -> Response:
        """Every edit with both texts, newest first. What one person saved in one stretch is one edit."""
        return Response(
            EditSerializer(self.get_object().edits.select_related("by").order_by("-version"), many=True).data
        )

    @extend_schema(request=JudgeBody, responses=answers(CandidateDetailSerializer))
    @action(detail=True, methods=["post"])
    def task_a(self, request: Request, pk: str) -> Response:
        """compliant, minor_edit or discard; a pass takes all four checks."""
        given = self.body(JudgeBody)
        return self._answer(actions.judge_task_a(candidate=self.get_object(), by=self.person, **given))

    @extend_schema(request=JudgeBody, responses=answers(CandidateDetailSerializer))
    @action(detail=True, methods=["post"])
    def task_b(self, request: Request, pk: str) -> Response:
        """correct, minor_edit or discard; a pass takes all four checks."""
        given = self.body(JudgeBody)
        return self._answer(actions.judge_task_b(candidate=self.get_object(), by=self.person, **given))

    @extend_schema(request=VersionBody, responses=answers(ChallengeBegun, 202))
    @action(detail=True, methods=["post"])
    def challenge(self, request: Request, pk: str) -> Response:
        """Ask the five models, in the background. The candidate shows their answers."""
        given = self.body(VersionBody)
        begun = actions.challenge_candidate(candidate=self.get_object(), by=self.person, **given)
        return Response(ChallengeBegun(begun).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=OverruleBody, responses=answers(ChallengeSerializer))
    @action(detail=True, methods=["post"])
    def overrule(self, request: Request, pk: str) -> Response:
        """Decide otherwise than a score, with the reason."""
        candidate, given = self.get_object(), self.body(OverruleBody)
        results = challenge_results(candidate)
        found = [one for one in results.answers if one.run_call.pk == given["run_call"]] if results else []
        if results is None or not found:
            raise Invalid({"run_call": _("There is no scored answer to overrule.")})
        actions.overrule_answer(
            challenge=results.challenge,
            run_call=found[0].run_call,
            right=given["right"],
            reason=given["reason"],
            by=self.person,
        )
        return Response(ChallengeSerializer(challenge_results(candidate)).data)

    @extend_schema(request=JudgeCBody, responses=answers(CandidateDetailSerializer))
    @action(detail=True, methods=["post"])
    def task_c(self, request: Request, pk: str) -> Response:
        """challenging (a model is wrong), valuable (all right, with the reason), or discard."""
        given = self.body(JudgeCBody)
        return self._answer(actions.judge_task_c(candidate=self.get_object(), by=self.person, **given))

    @extend_schema(request=ReasonBody, responses=answers(CandidateDetailSerializer))
    @action(detail=True, methods=["post"])
    def discard(self, request: Request, pk: str) -> Response:
        """End the candidate at its step, with the reason."""
        given = self.body(ReasonBody)
        return self._answer(actions.discard_candidate(candidate=self.get_object(), by=self.person, **given))

    @extend_schema(
        operation_id="candidates_discard_many",
        request=DiscardManyBody,
        responses=answers(CandidateDetailSerializer(many=True)),
    )
    @action(detail=False, methods=["post"], url_path="discard", pagination_class=None, filter_backends=[])
    def discard_many(self, request: Request) -> Response:
        """End several candidates of one sample at their steps, all or none, with one reason."""
        given = self.body(DiscardManyBody)
        visible = set(self.get_queryset().filter(pk__in=[one.pk for one in given["candidates"]]))
        if not visible.issuperset(given["candidates"]):
            raise Http404
        actions.discard_candidates(by=self.person, **given)
        return Response([self._answer(one).data for one in given["candidates"]])

    @extend_schema(request=TakeBackBody, responses=answers(CandidateDetailSerializer))
    @action(detail=True, methods=["post"])
    def take_back(self, request: Request, pk: str) -> Response:
        """Void one's own last verdict or discard; its step is open again. An exhausted sample comes back with it."""
        given = self.body(TakeBackBody)
        return self._answer(actions.take_back_verdict(candidate=self.get_object(), by=self.person, **given))


routes: list[tuple[str, type[ViewSet], str]] = [
    ("samples", SampleViewSet, "sample"),
    ("candidates", CandidateViewSet, "candidate"),
    ("draftings", DraftingViewSet, "drafting"),
]
