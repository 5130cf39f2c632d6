"""A process that dies in the middle of a call: what it leaves, and that nobody sends it again by himself."""

import os
import signal
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from benchmark.taxonomy import secondary_task
from generation import actions, llm, sending
from generation.models import Call, Run
from generation.workflow import CallState, RunState
from leading.invariants import violations
from tests.factories import make_lead, make_version
from tests.fakes.openai_server import Ok, OpenAIServer
from tests.generation.conftest import model_at

# Among the slow proofs, as every test that kills: a fork beside the suite's threads is no place for a hundred others.
pytestmark = [pytest.mark.bench, pytest.mark.django_db(transaction=True)]


async def _dies(request: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_call_whose_process_was_killed_is_unknown_and_paid_for_at_most_until_a_lead_decides(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_at(server)
    server.script("alpha", Ok("[Answer]\nHeron"))
    run = actions.start_challenge(
        document_version=make_version(),
        task=secondary_task("T1.2"),
        question="Which ship?",
        options=[],
        elements="the ship names",
        answer=["Heron"],
        by=None,
    )
    connections.close_all()
    child = os.fork()
    if child == 0:
        try:
            monkeypatch.setattr(llm, "complete", _dies)
            sending.send_run(run.pk)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert Call.objects.get().state == CallState.CALLING
    assert sending.work_off() == 0
    Call.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    sending.work_off()
    call = Call.objects.get()
    assert (call.state, call.attempts, server.received()) == (CallState.UNKNOWN, 1, [])
    assert call.reserved_usd
    assert [str(violation) for violation in violations()] == []
    actions.resend_call(call=call, by=make_lead(), reason="The ledger does not show it.")
    sending.work_off()
    assert Run.objects.get().state == RunState.FINISHED
    assert len(server.received()) == 1
    assert [str(violation) for violation in violations()] == []
