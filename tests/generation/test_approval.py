"""Invariant 1: nothing of a document that is not approved reaches a model, whenever the rejection lands."""

import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, connections
from pytest_django.fixtures import Settings

from benchmark.taxonomy import secondary_task
from core.models import Event
from core.refusals import RuleBroken
from documents import actions as documents
from documents.models import DocumentVersion
from documents.workflow import VersionState
from generation import actions, llm, sending
from generation.models import Call, Run
from generation.workflow import CallState
from tests.factories import make_expert, make_version
from tests.fakes.openai_server import Ok, OpenAIServer, rate_limited
from tests.generation.conftest import model_at

pytestmark = pytest.mark.django_db

RIGHT = Ok("[Answer]\nMarigold")
NOT_SENT = "document_not_approved"


def challenge(version: DocumentVersion) -> Run:
    return actions.start_challenge(
        document_version=version,
        task=secondary_task("T1.2"),
        question="Which ship paid a late fee?",
        options=[],
        elements="the ship names",
        answer=["Marigold"],
        by=None,
    )


def reject(version: DocumentVersion) -> None:
    fresh = DocumentVersion.objects.get(pk=version.pk)
    documents.reject_version(version=fresh, flags=["privacy"], note="A letter of hers.", by=make_expert())


def rejecting_after(count: int, version: DocumentVersion) -> Callable[[Any], Awaitable[Any]]:
    """What sends a request, and rejects the document when the request of that number has been answered."""
    complete, sent = llm.complete, iter(range(1, 1000))

    async def send(request: Any) -> Any:
        try:
            return await complete(request)
        finally:
            if next(sent) == count:
                await sync_to_async(reject)(version)

    return send


def ends(run: Run) -> list[tuple[str, str]]:
    return sorted(run.calls.values_list("state", "error_class"))


def test_a_rejection_while_the_run_is_queued_lets_nothing_out(server: OpenAIServer) -> None:
    model_at(server)
    version = make_version()
    run = challenge(version)
    reject(version)
    sending.work_off()
    assert server.received() == []
    assert ends(run) == [(CallState.CANCELLED, NOT_SENT)]


def test_a_rejection_between_two_calls_of_a_run_stops_the_second(
    server: OpenAIServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LBP_CALLS_IN_FLIGHT = 1
    for name in ("alpha", "beta", "gamma"):
        model_at(server, name)
        server.script(name, RIGHT)
    version = make_version()
    run = challenge(version)
    monkeypatch.setattr(llm, "complete", rejecting_after(1, version))
    sending.work_off()
    assert len(server.received()) == 1
    assert ends(run) == [
        (CallState.CANCELLED, NOT_SENT),
        (CallState.CANCELLED, NOT_SENT),
        (CallState.FAILED, "document_withdrawn"),
    ]


def test_a_rejection_before_a_call_is_sent_again_stops_it(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_at(server)
    server.script("alpha", rate_limited(), RIGHT)
    version = make_version()
    run = challenge(version)
    monkeypatch.setattr(llm, "complete", rejecting_after(1, version))
    sending.work_off()
    assert len(server.received()) == 1
    assert ends(run) == [(CallState.CANCELLED, NOT_SENT)]


def test_a_new_text_waits_by_itself_and_the_approved_one_stays_in_use(server: OpenAIServer) -> None:
    model_at(server)
    server.script("alpha", RIGHT)
    old = documents.paste_document(text="The Marigold paid a late fee.\n", title="Log", by=None)
    documents.approve_version(version=old, by=make_expert())
    run = challenge(old)
    new = documents.revise_document(document=old.document, text="SECRET of the new text.\n", reason="why", by=None)
    assert new.state == VersionState.PENDING
    with pytest.raises(RuleBroken) as refused:
        challenge(new)
    assert refused.value.rule == NOT_SENT
    sending.work_off()
    (request,) = server.received()
    assert "The Marigold paid" in str(request.body)
    assert "SECRET" not in str(request.body)
    assert ends(run) == [(CallState.SUCCEEDED, "")]


def test_approving_the_new_text_gives_the_rejected_old_one_back_to_nobody(server: OpenAIServer) -> None:
    model_at(server)
    old = documents.paste_document(text="SECRET of the old text.\n", title="Log", by=None)
    documents.approve_version(version=old, by=make_expert())
    run = challenge(old)
    new = documents.revise_document(document=old.document, text="The new text.\n", reason="why", by=None)
    reject(old)
    documents.approve_version(version=new, by=make_expert())
    sending.work_off()
    assert server.received() == []
    assert ends(run) == [(CallState.CANCELLED, NOT_SENT)]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_rejection_at_the_very_moment_of_sending_is_either_before_or_after(server: OpenAIServer) -> None:
    """Whatever was sent was sent before the rejection stood, and what came back then is used for nothing."""
    assert connection.vendor == "postgresql"
    model_at(server)
    for _round in range(25):
        server.script("alpha", RIGHT)
        version = make_version()
        run = challenge(version)
        known = len(server.received())
        gate = threading.Barrier(2)

        def apart(work: Callable[..., object], argument: object, gate: threading.Barrier = gate) -> None:
            gate.wait()
            try:
                work(argument)
            finally:
                connections.close_all()

        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(apart, sending.send_run, run.pk), pool.submit(apart, reject, version)]:
                done.result()
        call = Call.objects.get(runs=run)
        sent = Event.objects.filter(action="generation.send", subject_id=call.pk).values_list("pk", flat=True).first()
        rejected = Event.objects.get(action="documents.reject", subject_id=version.pk).pk
        if len(server.received()) == known:
            assert sent is None
            assert (call.state, call.error_class) == (CallState.CANCELLED, NOT_SENT)
        else:
            assert sent is not None
            assert sent < rejected
            assert (call.state, call.error_class) in {
                (CallState.FAILED, "document_withdrawn"),
                (CallState.SUCCEEDED, ""),
            }
