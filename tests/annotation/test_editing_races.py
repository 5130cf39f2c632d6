"""T-18: the same thing sent twice at the same moment is one record. Only PostgreSQL proves anything here."""

import pytest

from annotation import actions
from annotation.models import Candidate, CandidateEdit, Challenge
from annotation.workflow import CandidateState
from generation.models import Run
from generation.workflow import Purpose
from tests.annotation.scenes import candidate_at
from tests.annotation.test_races import at_once

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
]


def fresh(candidate: Candidate) -> Candidate:
    return Candidate.objects.select_related("sample").get(pk=candidate.pk)


def test_one_save_sent_eight_times_at_once_is_one_edit() -> None:
    candidate, annotator = candidate_at(CandidateState.TASK_A)
    done, refused = at_once(
        [annotator] * 8,
        lambda person: actions.edit_candidate(candidate=fresh(candidate), version=1, question="Who?", by=person),
    )
    assert (len(done), refused) == (8, [])
    assert (fresh(candidate).version, CandidateEdit.objects.count()) == (2, 1)


def test_a_challenge_asked_for_eight_times_at_once_is_one_run() -> None:
    candidate, annotator = candidate_at(CandidateState.TASK_C)
    done, refused = at_once(
        [annotator] * 8,
        lambda person: actions.challenge_candidate(candidate=fresh(candidate), version=1, by=person),
    )
    assert refused == []
    assert len({challenge.pk for challenge in done if isinstance(challenge, Challenge)}) == 1
    assert Run.objects.filter(purpose=Purpose.CHALLENGE).count() == 1


def test_one_verdict_taken_back_eight_times_at_once_is_taken_back_once() -> None:
    candidate, annotator = candidate_at(CandidateState.TASK_C)
    last = candidate.verdicts.order_by("-pk")[0]
    done, _refused = at_once(
        [annotator] * 8,
        lambda person: actions.take_back_verdict(candidate=fresh(candidate), verdict=last.pk, by=person),
    )
    assert len(done) == 1
    assert fresh(candidate).state == CandidateState.TASK_B
