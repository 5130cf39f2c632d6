"""Rows at any stage, made by the ORM. Only what a test cares about is given; the rest is filled in."""

import gzip
import hashlib
import itertools
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from annotation.models import Candidate, Claim, Participation, Sample, Standardization, Submission
from annotation.workflow import CandidateState, Job, SampleState
from benchmark.framing import Parts, nonthinking_prompt, thinking_prompt
from benchmark.taxonomy import Language
from core.models import User
from core.workflow import Role
from documents.models import Document, DocumentText, DocumentVersion
from documents.workflow import VersionState
from generation.models import Call, Draft, LanguageModel, Run, RunCall
from generation.workflow import CallState, Kind, Purpose, RunState
from review.models import AnswerReview, ReviewCase
from review.workflow import CaseState, ReviewState

_count = itertools.count(1)

ENGLISH = (
    "The harbour log of Saint Anne, volume {n}.\n\n"
    "On the first of May the brig Heron came in with salt. On the second the sloop Tern left for the north. "
    "The Marigold paid a late fee of twelve crowns, the Heron one of nine, the Tern one of four.\n\n"
    "In June a storm broke the mole. The river rose twice, the bridge held, the ferry sank.\n"
)
CHINESE = (
    "圣安港航海日志，第{n}卷。\n\n五月一日，苍鹭号载盐入港。五月二日，燕鸥号北上。金盏号缴纳滞纳金十二克朗，苍鹭号九克朗，燕鸥号四克朗。\n\n"
    "六月，风暴冲毁防波堤。河水两次上涨，桥未垮，渡船沉没。\n"
)


def make_person(role: str = Role.ANNOTATOR, name: str = "", **more: Any) -> User:
    name = name or f"{role}{next(_count)}"
    return User.objects.create_user(name, email=f"{name}@example.org", password="a long pass phrase", role=role, **more)


def make_annotator(name: str = "") -> User:
    return make_person(Role.ANNOTATOR, name)


def make_expert(name: str = "") -> User:
    return make_person(Role.EXPERT, name)


def make_lead(name: str = "") -> User:
    return make_person(Role.LEAD, name)


def make_version(
    text: str = "",
    *,
    language: str = Language.ENGLISH,
    state: str = VersionState.APPROVED,
    bucket: str = "8k",
    **more: Any,
) -> DocumentVersion:
    """A document with one version. The text is short; the bucket is said, not measured."""
    number = next(_count)
    text = text or (ENGLISH if language == Language.ENGLISH else CHINESE).format(n=number)
    data = text.encode()
    document = Document.objects.create(
        title=more.pop("title", f"Harbour log {number}"),
        language=language,
        domain="history",
        format="report",
        licence="CC0",
    )
    if state != VersionState.PENDING:
        more.setdefault("decided_by", make_annotator())
        more.setdefault("decided_at", timezone.now())
    version = DocumentVersion.objects.create(
        document=document,
        state=state,
        sha256=hashlib.sha256(data).hexdigest(),
        chars=len(text),
        bytes=len(data),
        tokens=more.pop("tokens", 8192),
        tokenizer="made up by a factory",
        bucket=bucket,
        **more,
    )
    DocumentText.objects.create(version=version, text=text, gzipped=gzip.compress(data, mtime=0))
    document.latest = version
    document.save()
    return version


def make_model(name: str = "", *, tier: str = "high", drafting: bool = True, **more: Any) -> LanguageModel:
    name = name or f"model-{next(_count)}"
    defaults: dict[str, Any] = {
        "panel": "demo",
        "kind": Kind.INSTRUCT,
        "litellm_id": f"demo/{name}",
        "context_tokens": 262144,
        "truncate_input_to_tokens": 224000,
        "max_output_nonthinking": 1024,
        "max_output_thinking": 8192,
        "usd_per_million_input": 0,
        "usd_per_million_output": 0,
    }
    return LanguageModel.objects.create(name=name, tier=tier, drafting=drafting, **{**defaults, **more})


def make_run(
    version: DocumentVersion, *, purpose: str, task_code: str, state: str = RunState.FINISHED, **more: Any
) -> Run:
    return Run.objects.create(
        purpose=purpose,
        state=state,
        document_version=version,
        language=version.document.language,
        task_code=task_code,
        prompt=more.pop("prompt", "a prompt"),
        prompt_version="test-1",
        prompt_sha256="0" * 64,
        **more,
    )


def make_call(run: Run, model: LanguageModel, *, state: str = CallState.SUCCEEDED, **more: Any) -> Call:
    call_fields = {name: more.pop(name) for name in list(more) if name not in {"elements", "score", "right"}}
    call = Call.objects.create(
        key=hashlib.sha256(f"call {next(_count)}".encode()).hexdigest(),
        purpose=run.purpose,
        model=model,
        document_version=run.document_version,
        state=state,
        prompt=run.prompt,
        prompt_version=run.prompt_version,
        prompt_sha256=run.prompt_sha256,
        **call_fields,
    )
    RunCall.objects.create(run=run, call=call, **more)
    return call


def make_answers(run: Run, models: Sequence[LanguageModel], answers: Sequence[tuple[Sequence[str], bool]]) -> None:
    """One scored answer per model: (predicted elements, right)."""
    for model, (elements, right) in zip(models, answers, strict=True):
        make_call(
            run, model, raw="\n".join(elements), elements=list(elements), score=1.0 if right else 0.0, right=right
        )


def make_sample(
    *,
    state: str = SampleState.IN_VERIFICATION,
    task_code: str = "T1.2",
    language: str = Language.ENGLISH,
    candidates: int = 3,
    annotator: User | None = None,
    **more: Any,
) -> Sample:
    """A sample with unread candidates of one drafting model each."""
    version = more.pop("version", None) or make_version(language=language)
    run = make_run(version, purpose=Purpose.DRAFTING, task_code=task_code)
    sample = Sample.objects.create(
        document=version.document,
        document_version=version,
        task_code=task_code,
        state=state,
        drafting_run=run,
        annotator=annotator,
        **more,
    )
    for position in range(1, candidates + 1):
        draft = Draft.objects.create(
            call=make_call(run, make_model()),
            position=1,
            question=f"Which ships paid a late fee, largest fee first? Take {position}.",
            elements="the ship names in order of the fee",
            answer=["Marigold", "Heron", "Tern"],
            rationale="Every fee stands in one paragraph.",
            solution=[
                {
                    "step": "Read the fees.",
                    "quote": "paid a late fee",
                    "kind": "missing",
                    "start": None,
                    "end": None,
                    "score": 0.0,
                }
            ],
        )
        Candidate.objects.create(
            sample=sample,
            draft=draft,
            position=position,
            question=draft.question,
            elements=draft.elements,
            answer=draft.answer,
        )
    if annotator:
        Participation.objects.create(sample=sample, person=annotator, job=Job.VERIFIES)
    return sample


def make_claim(sample: Sample, holder: User, *, job: str = Job.VERIFIES) -> Claim:
    return Claim.objects.create(sample=sample, holder=holder, job=job, lapses_at=timezone.now() + timedelta(hours=4))


def make_submission(sample: Sample, *, by: User, approved_by: User | None = None) -> Submission:
    """The sample's first candidate, passed, chosen and submitted; audited when `approved_by` is given."""
    candidate = sample.candidates.order_by("position").first()
    assert candidate is not None
    candidate.state = CandidateState.PASSED
    candidate.save()
    sample.chosen, sample.annotator = candidate, by
    sample.save()
    Participation.objects.get_or_create(sample=sample, person=by, defaults={"job": Job.VERIFIES})
    audit: dict[str, Any] = {}
    if approved_by:
        audit = {"outcome": "approved", "audited_at": timezone.now(), "audited_by": approved_by}
        Participation.objects.get_or_create(sample=sample, person=approved_by, defaults={"job": Job.JUDGES})
    return Submission.objects.create(
        sample=sample,
        number=sample.submissions.count() + 1,
        round=sample.round,
        candidate=candidate,
        candidate_version=candidate.version,
        question=candidate.question,
        elements=candidate.elements,
        options=candidate.options,
        answer=candidate.answer,
        checklist=[True] * 7,
        submitted_by=by,
        **audit,
    )


def make_standardized_sample(
    *,
    state: str = SampleState.AWAITING_PREDICTIONS,
    language: str = Language.ENGLISH,
    task_code: str = "T1.2",
    annotator: User | None = None,
    expert: User | None = None,
    **more: Any,
) -> Sample:
    """A sample whose chosen candidate was approved and standardized, with completed prompts."""
    annotator, expert = annotator or make_annotator(), expert or make_expert()
    sample = make_sample(state=state, language=language, task_code=task_code, **more)
    make_submission(sample, by=annotator, approved_by=expert)
    make_standardization(sample, by=annotator)
    return sample


def make_standardization(sample: Sample, *, by: User, completed: bool = True) -> Standardization:
    english = sample.language == Language.ENGLISH
    assert sample.chosen is not None
    parts = Parts(
        language=sample.language,
        task_description="Which ships paid a late fee, largest fee first?"
        if english
        else "哪些船缴纳了滞纳金？按金额从大到小排列。",
        elements="the ship names in order of the fee" if english else "按金额排列的船名",
        supplementary="",
        example=("Gull", "Swan") if english else ("海鸥号", "天鹅号"),
    )
    done: dict[str, Any] = {"completed_at": timezone.now(), "completed_by": by} if completed else {}
    return Standardization.objects.create(
        sample=sample,
        number=sample.standardizations.count() + 1,
        round=sample.round,
        document_version=sample.document_version,
        language=sample.language,
        task_description=parts.task_description,
        elements=parts.elements,
        supplementary=parts.supplementary,
        example=list(parts.example),
        answer=sample.chosen.answer,
        question_nonthinking=nonthinking_prompt(parts),
        question_thinking=thinking_prompt(parts),
        saved_by=by,
        **done,
    )


def make_case(
    sample: Sample | None = None, *, state: str = CaseState.OPEN, answers: Sequence[tuple[Sequence[str], bool]] = ()
) -> ReviewCase:
    """A review case with its predictions in: five models unless `answers` says otherwise."""
    sample = sample or make_standardized_sample(state=SampleState.IN_REVIEW)
    standardization = sample.standardizations.get()
    run = make_run(
        sample.document_version,
        purpose=Purpose.PREDICTION,
        task_code=sample.task_code,
        prompt=standardization.question_nonthinking,
        reference=standardization.answer,
    )
    answers = answers or [(["Marigold", "Heron", "Tern"], True)] * 4 + [(["Marigold", "Gull"], False)]
    make_answers(run, [make_model() for _answer in answers], answers)
    return ReviewCase.objects.create(
        sample=sample,
        round=sample.round,
        standardization=standardization,
        prediction_run=run,
        state=state,
        opened_at=timezone.now(),
    )


def make_review(
    case: ReviewCase, reviewer: User, *, seat: int = 1, submitted: bool = False, found_issue: bool = False
) -> AnswerReview:
    done: dict[str, Any] = {}
    if submitted:
        done = {"state": ReviewState.SUBMITTED, "submitted_at": timezone.now(), "found_issue": found_issue}
    Participation.objects.get_or_create(sample=case.sample, person=reviewer, defaults={"job": Job.REVIEWS})
    return AnswerReview.objects.create(
        case=case,
        seat=seat,
        reviewer=reviewer,
        marks=[{"mark": "correct", "note": ""} for _element in case.standardization.answer],
        issues=[{"kind": "answer", "note": "one is missing"}] if found_issue else [],
        **done,
    )
