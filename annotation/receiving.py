"""Finished drafting runs become candidates. May run twice at once: what is there already is not made again."""

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet

from annotation.guards import lock
from annotation.models import Candidate, Sample
from annotation.workflow import AT_THE_DESK, SampleState
from core import history
from generation import queries as generation
from generation.models import Draft
from generation.workflow import RunState

ENDED = (RunState.FINISHED, RunState.CANCELLED)


def work_off() -> int:
    """Receive whatever has come in; how many samples got candidates or were sent back to be drafted again."""
    return sum(receive(sample) for sample in waiting_samples())


def waiting_samples() -> QuerySet[Sample]:
    """Drafting samples whose run has ended, and samples at the desk for which a model's late drafts came in."""
    taken = Candidate.objects.filter(sample=OuterRef(OuterRef("pk")), draft=OuterRef("pk"))
    late = Draft.objects.filter(call__run_calls__run=OuterRef("drafting_run")).filter(~Exists(taken))
    return Sample.objects.filter(
        Q(state=SampleState.DRAFTING) | Q(Exists(late), state__in=AT_THE_DESK),
        drafting_run__state__in=ENDED,
        document_version__state="approved",
    ).order_by("pk")


@transaction.atomic
def receive(sample: Sample) -> bool:
    """Turn the valid drafts of the sample's run into candidates. True when something changed."""
    lock(sample)
    run = sample.drafting_run
    if run is None or run.state not in ENDED or sample.is_blocked:
        return False
    if sample.state not in AT_THE_DESK | {SampleState.DRAFTING}:
        return False
    made = _make_candidates(sample, list(generation.drafts_of(run)))
    if sample.state != SampleState.DRAFTING:
        if made:
            history.record("receive_late_drafts", sample, by=None, candidates=made)
        return bool(made)
    if made or sample.candidates.exists():
        history.advance(sample, "receive_drafts", by=None, run=run.pk, candidates=made)
    else:
        history.advance(sample, "fail_drafting", by=None, reason="No model gave a valid draft.", run=run.pk)
    return True


def _make_candidates(sample: Sample, drafts: list[Draft]) -> int:
    taken = set(sample.candidates.values_list("draft", flat=True))
    last = sample.candidates.aggregate(last=Max(F("position")))["last"] or 0
    fresh = [draft for draft in drafts if draft.pk not in taken]
    Candidate.objects.bulk_create(
        Candidate(
            sample=sample,
            draft=draft,
            position=position,
            question=draft.question,
            elements=draft.elements,
            options=draft.options,
            answer=draft.answer,
        )
        for position, draft in enumerate(fresh, last + 1)
    )
    return len(fresh)
