"""Random walks through the whole state table (I-07): whatever anybody asks, only what the table says happens."""

import os
from contextlib import suppress
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from annotation import actions
from annotation.models import Candidate, Claim, Sample
from annotation.queries import challenge_results
from core import history
from core.refusals import Refused
from documents.models import DocumentVersion
from documents.workflow import VersionState
from generation.panels import ensure_panel
from leading.invariants import nobody_holds_two_jobs, one_active_claim, states_have_a_trail
from tests.annotation.scenes import answer_run
from tests.annotation.state_table import ACTIONS, DESK, ROLES, Scene, add_version, expected, make_scene
from tests.annotation.test_claims import let_lapse
from tests.annotation.test_state_table import REFUSED, counting_writes, snapshot

pytestmark = [pytest.mark.bench, pytest.mark.django_db]

SEQUENCES = int(os.environ.get("WALKS", "2000"))  # fewer, to try it
STEPS = 40


class Walk(RuleBasedStateMachine):
    """One sample with one candidate, from the desk on. Each sequence happens in a savepoint of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.point = transaction.savepoint()
        self.scene: Scene = make_scene("in_verification", held=False)
        # The trail of a sample that begins at the desk: as if it had been drafted.
        Sample.objects.filter(pk=self.scene.sample).update(state="drafting", chosen=None)
        history.advance(Sample.objects.get(pk=self.scene.sample), "receive_drafts", by=None)

    def teardown(self) -> None:
        transaction.savepoint_rollback(self.point)
        transaction.savepoint_commit(self.point)

    @rule(action=st.sampled_from(ACTIONS), who=st.sampled_from(ROLES))
    def somebody_asks(self, action: str, who: str) -> None:
        self._ask(action, who)

    @rule(action=st.sampled_from(ACTIONS))
    def who_holds_it_asks(self, action: str) -> None:
        """Those in whose hands the sample is get further than anybody else."""
        world = self.scene.read()
        self._ask(action, world.holder or world.annotator or ROLES[0])

    def _ask(self, action: str, who: str) -> None:
        world = self.scene.read()
        if action == "answer_remark" and self.scene.remark is None:
            return
        if action == "overrule" and not Candidate.objects.get(pk=self.scene.candidate).challenges.exists():
            return
        then, before = expected(action, who, world), snapshot()
        with counting_writes() as writes:
            answer = self.scene.do(action, who, world)
        case = (action, who, world, answer.status_code, answer.content[:300])
        if then is None:
            assert answer.status_code in REFUSED, case
            assert not writes or snapshot() == before, case
            return
        assert 200 <= answer.status_code < 300, case
        after = self.scene.read()
        assert (after.sample, after.candidate) == then, case

    @rule()
    def the_models_answer(self) -> None:
        candidate = Candidate.objects.select_related("sample").get(pk=self.scene.candidate)
        results = challenge_results(candidate)
        if results and not results.wrong:
            results.challenge.run.run_calls.all().delete()
            answer_run(results.challenge.run, [(["Gull"], False)] + [(["Marigold"], True)] * 4)

    @rule()
    def the_claim_lapses(self) -> None:
        for claim in Claim.objects.filter(sample=self.scene.sample, ended_at=None):
            let_lapse(claim)

    @rule(what=st.sampled_from(["open_review", "dispute", "accept", "question", "answer", "document", "version"]))
    def the_later_stages_go_on(self, what: str) -> None:
        sample = Sample.objects.get(pk=self.scene.sample)
        judge = self.scene.people["judge"]
        moves: dict[str, Any] = {
            "open_review": lambda: actions.open_review(sample=sample),
            "dispute": lambda: actions.dispute_sample(sample=sample),
            "accept": lambda: actions.accept_sample(sample=sample, by=None),
            "version": lambda: self._add_version(sample),
        }
        ordered = lambda: actions.reconstruct_sample(sample=sample, step=what, reason="A page.", by=judge)  # noqa: E731
        with suppress(Refused):
            moves.get(what, ordered)()

    def _add_version(self, sample: Sample) -> None:
        if sample.state == "awaiting_document":
            add_version(sample)

    @invariant()
    def nothing_is_broken(self) -> None:
        found = [*one_active_claim(), *nobody_holds_two_jobs(), *states_have_a_trail()]
        assert found == []
        sample = Sample.objects.select_related("chosen").get(pk=self.scene.sample)
        if sample.state == "in_audit":
            assert sample.chosen is not None
            assert sample.chosen.state == "passed"
        if sample.state in DESK.split():
            assert sample.submissions.filter(outcome="").count() == 0
        assert DocumentVersion.objects.filter(pk=sample.document_version_id, state=VersionState.APPROVED).exists()


def test_two_thousand_walks_of_forty_steps_never_leave_the_table() -> None:
    ensure_panel("demo")
    run_state_machine_as_test(
        Walk,
        settings=settings(
            max_examples=SEQUENCES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
