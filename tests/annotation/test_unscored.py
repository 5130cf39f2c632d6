"""Between a reply and its score: the answer is still on its way, so that no page stops asking for it."""

import pytest

from annotation.glancing import challenge_counts
from annotation.queries import challenge_results
from annotation.workflow import CandidateState
from generation.models import RunCall
from tests.annotation.scenes import candidate_at, challenged

pytestmark = pytest.mark.django_db


def test_an_answer_that_is_in_and_not_scored_yet_is_waited_for() -> None:
    candidate, annotator = candidate_at(CandidateState.TASK_C)
    challenge = challenged(candidate, annotator, wrong=0, failed=1)
    last = challenge.run.run_calls.filter(right=True).latest("pk")
    RunCall.objects.filter(pk=last.pk).update(score=None, right=None)
    results = challenge_results(candidate)
    assert results is not None
    assert (len(results.waiting), len(results.failed), results.all_right) == (1, 1, False)
    counted = challenge_counts(candidate.sample, [candidate])[candidate.pk]
    assert (counted.waiting, counted.failed, counted.state) == (1, 1, "waiting")
