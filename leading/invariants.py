"""The ten invariants of the pipeline as questions to the database. An operator's tool, and a test's."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.conf import settings
from django.db.models import Count, F, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.models import Candidate, Challenge, Claim, Participation, Sample, Standardization, StepVerdict
from annotation.workflow import CandidateState, Job, SampleState, Step
from benchmark.framing import (
    NotAPrompt,
    Parts,
    identifier_places,
    nonthinking_prompt,
    split_prompt,
    thinking_prompt,
)
from benchmark.metrics import IDENTIFIERS, scores_itself
from benchmark.taxonomy import Language, secondary_task
from core.models import Event
from documents.models import DocumentVersion
from documents.workflow import VersionState
from generation.models import Call, ModelTrial, Spending
from generation.queries import ANSWERED
from generation.workflow import CallState
from release.models import ReleaseItem
from review.models import Adjudication, AnswerReview, ReviewCase
from review.workflow import CaseState, ReviewState

A_CENT = Decimal("0.01")
ANY_IDENTIFIER = "|".join(map(re.escape, IDENTIFIERS))


@dataclass(frozen=True)
class Violation:
    invariant: int
    record: str
    words: str


def only_approved_text_is_sent() -> Iterator[Violation]:
    never = Event.objects.filter(subject_type="documentversion", to_state=VersionState.APPROVED).values("subject_id")
    sent = Call.objects.exclude(sent_at=None).exclude(document_version__in=never)
    for call in sent.exclude(document_version__in=DocumentVersion.objects.filter(state=VersionState.APPROVED)):
        yield Violation(1, f"call {call.pk}", "was sent although its document version was never approved")


def one_active_claim() -> Iterator[Violation]:
    open_claims = Claim.objects.filter(ended_at=None).values("sample").annotate(count=Count("pk")).filter(count__gt=1)
    for row in open_claims:
        yield Violation(2, f"sample {row['sample']}", f"has {row['count']} active claims")


def no_step_is_skipped() -> Iterator[Violation]:
    for step in (Step.TASK_A, Step.TASK_B, Step.TASK_C):
        valid = StepVerdict.objects.filter(step=step, voided_at=None).values("candidate")
        for candidate in Candidate.objects.filter(state=CandidateState.PASSED).exclude(pk__in=valid):
            yield Violation(3, f"candidate {candidate.pk}", f"passed without a valid verdict of {step}")
    latest = Challenge.objects.filter(candidate=OuterRef("candidate")).order_by("-candidate_version")
    stale = StepVerdict.objects.filter(step=Step.TASK_C, voided_at=None, candidate__state=CandidateState.PASSED)
    for verdict in stale.annotate(newest=Subquery(latest.values("candidate_version")[:1])).exclude(
        candidate_version=F("candidate__version"), newest=F("candidate__version")
    ):
        yield Violation(3, f"candidate {verdict.candidate_id}", "passed on challenge results older than its last edit")


def nobody_holds_two_jobs() -> Iterator[Violation]:
    reviews = AnswerReview.objects.values_list("pk", "case__sample", "reviewer")
    audits = Adjudication.objects.values_list("pk", "case__sample", "decided_by")
    wanted = [(f"review {pk}", sample, person, Job.REVIEWS) for pk, sample, person in reviews]
    wanted += [(f"adjudication {pk}", sample, person, Job.JUDGES) for pk, sample, person in audits]
    held = {
        (sample, person): job for sample, person, job in Participation.objects.values_list("sample", "person", "job")
    }
    for record, sample, person, job in wanted:
        if held.get((sample, person)) != job:
            yield Violation(4, record, "is by a person who holds another job, or none, on the sample")
    for verified in Sample.objects.exclude(annotator=None):
        if held.get((verified.pk, verified.annotator_id or 0)) != Job.VERIFIES:
            yield Violation(4, verified.label, "was verified by a person who holds another job, or none, on it")


def cases_are_decided_when_both_reviews_are_in() -> Iterator[Violation]:
    submitted = Count("reviews", filter=Q(reviews__state=ReviewState.SUBMITTED))
    for case in ReviewCase.objects.annotate(submitted=submitted):
        decided = case.state in {CaseState.ACCEPTED, CaseState.DISPUTED, CaseState.ADJUDICATED}
        if decided != (case.submitted == 2):
            yield Violation(5, f"case {case.pk}", f"is {case.state} with {case.submitted} reviews submitted")


def prompts_are_computed() -> Iterator[Violation]:
    """The stored prompts are those of the parts, can be taken apart into them again, and hold the identifier only
    where the template puts it."""
    for standardization in Standardization.objects.exclude(completed_at=None).iterator():
        record, parts = f"standardization {standardization.pk}", standardization.parts
        stored = {False: standardization.question_nonthinking, True: standardization.question_thinking}
        if (nonthinking_prompt(parts), thinking_prompt(parts)) != (stored[False], stored[True]):
            yield Violation(6, record, "holds prompts that differ from its parts")
            continue
        for thinking, prompt in stored.items():
            if not _is_exact(parts, prompt, thinking):
                yield Violation(6, record, "holds a prompt whose fixed text or identifier is not where it belongs")


def _is_exact(parts: Parts, prompt: str, thinking: bool) -> bool:
    places = [match.start() for match in re.finditer(ANY_IDENTIFIER, prompt)]
    try:
        read = split_prompt(parts.language, prompt, thinking)
    except NotAPrompt:
        return False
    return read == parts.cleaned() and places == identifier_places(parts, thinking)


def answers_score_one() -> Iterator[Violation]:
    """Of every completed standardization and every released sample, in both forms of a reply."""
    done = Standardization.objects.exclude(completed_at=None).select_related("sample")
    for standardization in done.iterator():
        task, language = standardization.sample.task, Language(standardization.language)
        if not scores_itself(task, language=language, answer=standardization.answer):
            words = "has an answer that does not score 1.0 under its own metric"
            yield Violation(7, standardization.sample.label, words)
    for item in ReleaseItem.objects.filter(fields__has_key="answer").only("fields").iterator():
        task, language = secondary_task(item.fields["secondary_task"]), Language(item.fields["language"])
        if not scores_itself(task, language=language, answer=item.fields["answer"]):
            yield Violation(7, f"release item {item.pk}", "has an answer that does not score 1.0 under its own metric")


def calls_are_sent_once() -> Iterator[Violation]:
    for row in Call.objects.values("key").annotate(count=Count("pk")).filter(count__gt=1):
        yield Violation(8, f"key {row['key'][:12]}", f"belongs to {row['count']} calls")


def no_call_is_stuck() -> Iterator[Violation]:
    """A lease is taken up within a round of the reconciler; twice the lease is long beyond it."""
    longest = timedelta(seconds=2 * (settings.LBP_CALL_DEADLINE_SECONDS + settings.LBP_LEASE_MARGIN_SECONDS))
    for call in Call.objects.filter(state=CallState.CALLING, sent_at__lt=timezone.now() - longest).only("pk"):
        yield Violation(8, f"call {call.pk}", "has been out for more than twice its lease")
    for call in Call.objects.filter(state=CallState.CALLING).filter(Q(sent_at=None) | Q(lease_until=None)).only("pk"):
        yield Violation(8, f"call {call.pk}", "is out without a lease")


def attempts_have_a_trail() -> Iterator[Violation]:
    """Each sending is one line of the history, written before the request left. `resend` begins to count anew."""
    sent = Event.objects.filter(subject_type="call", subject_id=OuterRef("pk"), action="generation.send").order_by()
    lines = sent.values("subject_id").annotate(count=Count("pk")).values("count")
    counted = Call.objects.annotate(lines=Coalesce(Subquery(lines), 0))
    for call in counted.exclude(sent_at=None).filter(lines__lt=F("attempts")).only("pk", "attempts"):
        yield Violation(8, f"call {call.pk}", f"counts {call.attempts} attempts, its history {call.lines}")
    for call in counted.filter(sent_at=None, lines__gt=0).only("pk"):
        yield Violation(8, f"call {call.pk}", "was sent, and does not say when")


def answers_have_figures() -> Iterator[Violation]:
    answered = Call.objects.filter(state__in=ANSWERED)
    missing = Q(tokens_in=None) | Q(tokens_out=None) | Q(answered_at=None) | Q(latency_ms=None) | Q(sent_at=None)
    priced = Q(model__litellm_id__startswith="demo/") | (
        Q(model__usd_per_million_input__isnull=False) & Q(model__usd_per_million_output__isnull=False)
    )
    for call in answered.filter(missing | (priced & Q(cost_usd=None))).only("pk"):
        yield Violation(8, f"call {call.pk}", "was answered and lacks figures")


def money_adds_up() -> Iterator[Violation]:
    """What is said to be spent and held back is the sum over calls and trials; what is not out holds back nothing but
    what may have been billed."""
    total = Spending.objects.filter(pk=1).first() or Spending()
    calls = Call.objects.aggregate(
        spent=Coalesce(Sum("cost_usd"), Decimal(0)), held=Coalesce(Sum("reserved_usd"), Decimal(0))
    )
    trials = ModelTrial.objects.aggregate(spent=Coalesce(Sum("cost_usd"), Decimal(0)))
    for words, said, counted in (
        ("spent", total.spent_usd, calls["spent"] + trials["spent"]),
        ("held back", total.reserved_usd, calls["held"]),
    ):
        if abs(said - counted) > A_CENT / 10_000:
            yield Violation(8, "spending", f"says {said} US $ {words}, the calls say {counted}")
    for call in Call.objects.filter(sent_at=None, reserved_usd__gt=0).only("pk"):
        yield Violation(8, f"call {call.pk}", "was never sent and holds back money")


def states_have_a_trail() -> Iterator[Violation]:
    last = Event.objects.filter(subject_type="sample", subject_id=OuterRef("pk")).exclude(to_state="").order_by("-id")
    for sample in Sample.objects.annotate(last=Subquery(last.values("to_state")[:1])):
        if (sample.last or SampleState.PLANNED) != sample.state:
            yield Violation(9, sample.label, f"is {sample.state}, its trail ends at {sample.last or 'nothing'}")


def released_samples_are_complete() -> Iterator[Violation]:
    for item in ReleaseItem.objects.exclude(fields__has_key="answer"):
        yield Violation(10, f"release item {item.pk}", "has no answer")


CHECKS: tuple[Callable[[], Iterator[Violation]], ...] = (
    only_approved_text_is_sent,
    one_active_claim,
    no_step_is_skipped,
    nobody_holds_two_jobs,
    cases_are_decided_when_both_reviews_are_in,
    prompts_are_computed,
    answers_score_one,
    calls_are_sent_once,
    no_call_is_stuck,
    attempts_have_a_trail,
    answers_have_figures,
    money_adds_up,
    states_have_a_trail,
    released_samples_are_complete,
)


def violations() -> Iterator[Violation]:
    for check in CHECKS:
        yield from check()
