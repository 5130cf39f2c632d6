"""What providers answer, good and bad: rows P-01 to P-18, and T-44 to T-51, from the wire to the row.

Each is an answer of a scripted server to a real run; what is stored, and how many requests the ledger then holds.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from core.models import Event
from generation import sending
from generation.llm import FailureKind
from generation.models import Call, Draft
from generation.queries import results_of
from generation.replies import FaultClass
from generation.sending.rows import rows
from generation.workflow import CallState, RunState, Trouble
from tests.factories import make_lead, make_version
from tests.fakes.openai_server import (
    Answer,
    Hang,
    Ok,
    OpenAIServer,
    Says,
    cut_off,
    empty,
    failure,
    ollama,
    page,
    rate_limited,
    reasoning_only,
    redirect,
    sglang,
    stream,
    vllm,
)
from tests.generation.asking import RIGHT, STARTS, draft, drafts, first_call, start_challenge, start_drafting
from tests.generation.conftest import KEY, model_at

pytestmark = pytest.mark.django_db

DRAFTING, CHALLENGE, BOTH = ("drafting",), ("challenge",), ("drafting", "challenge")


@dataclass(frozen=True)
class Row:
    """An answer; how the call ends; requests: 1, 2 with a repair asked for, 3 when the policy sends it again."""

    answer: Answer
    state: CallState
    error_class: str = ""
    requests: int = 1
    drafts: int = 0
    purposes: tuple[str, ...] = DRAFTING


FAILED, PARTIAL, SUCCEEDED = CallState.FAILED, CallState.PARTIAL, CallState.SUCCEEDED
TOO_LONG = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
ROWS: dict[str, Row] = {
    "P-01 a page of a gateway with status 200": Row(page(), FAILED, "gateway_page", 3, purposes=BOTH),
    "P-02 nothing": Row(empty(), FAILED, "empty", purposes=BOTH),
    "P-02 null": Row(Ok(None), FAILED, "empty", purposes=BOTH),
    "P-02 no choices": Row(Ok("", body={"choices": []}), FAILED, "empty", purposes=BOTH),
    "P-02 white space": Row(Ok(" \n\t　"), FAILED, "empty", purposes=BOTH),
    "P-02 a call of a tool": Row(Ok(None, "tool_calls", {"tool_calls": [{"id": "1", "type": "function", "function": {
        "name": "approve", "arguments": "{}"}}]}), FAILED, "empty", purposes=BOTH),
    "P-03 reasoning only": Row(reasoning_only(), FAILED, "no_answer_budget", purposes=BOTH),
    "P-03 reasoning only, in tags": Row(Ok("<think>Ships.", "length"), FAILED, "no_answer_budget", purposes=BOTH),
    "P-04 cut in a string, by the limit": Row(cut_off(), FAILED, "truncated", purposes=BOTH),
    "P-04 cut in a string, unsaid": Row(Ok(drafts()[:300]), FAILED, "truncated"),
    "P-05 a fence": Row(Ok(f"```json\n{drafts()}\n```"), SUCCEEDED, drafts=3),
    "P-05 prose around": Row(Ok(f"Here are {{three}}, as [asked]:\n{drafts()}\nGood luck!"), SUCCEEDED, drafts=3),
    "P-06 two objects": Row(Ok(drafts() + drafts()), FAILED, "several_objects", 2),
    "P-06 a list": Row(Ok(json.dumps([draft(n) for n in (1, 2, 3)])), FAILED, "array", 2),
    "P-07 two drafts": Row(Ok(drafts(draft(1), draft(2))), PARTIAL, "wrong_count", drafts=2),
    "P-07 four drafts": Row(Ok(drafts(*[draft(n) for n in (1, 2, 3, 4)])), PARTIAL, "wrong_count", drafts=4),
    "P-08 an answer that is a number": Row(Ok(drafts(draft(1, answer=[7]), draft(2), draft(3))), PARTIAL,
        "wrong_type", drafts=2),
    "P-08 answers that are text": Row(Ok(drafts(*[draft(n, answer="Heron") for n in (1, 2, 3)])), FAILED,
        "wrong_type", 2),
    "P-08 no rationale": Row(Ok(drafts(*[draft(n, rationale=None) for n in (1, 2, 3)])), FAILED, "missing_part", 2),
    "P-08 a rationale of 1 MB": Row(Ok(drafts(*[draft(n, rationale="long " * 210_000) for n in (1, 2)])), FAILED,
        "wrong_count", 2),
    "P-11 a filter": Row(Ok("[Answer]\nHe", "content_filter"), FAILED, "refused", purposes=BOTH),
    "P-11 a filter before the model": Row(failure(400, "stopped", "content_filter"), FAILED, "refused", purposes=BOTH),
    "P-11 words": Row(Ok("I'm sorry, but I can't help with that."), FAILED, "refused", purposes=BOTH),
    "P-11 words in Chinese": Row(Ok("抱歉，我无法提供帮助。"), FAILED, "refused", purposes=BOTH),
    "P-11 a field": Row(Ok(None, message={"refusal": "No."}), FAILED, "refused", purposes=BOTH),
    "P-14 too long, first wording": Row(failure(400, TOO_LONG, "context_length_exceeded"), FAILED, "context",
        purposes=BOTH),
    "P-14 too long, second wording": Row(failure(400, "prompt is too long: 210000 tokens > 200000 maximum"), FAILED,
        "context", purposes=BOTH),
    "P-14 T-44 too long, third wording": Row(failure(400, "input tokens exceed the configured limit"), FAILED,
        "context", purposes=BOTH),
    "P-14 too long, inside a 200": Row(Says(200, json.dumps({"error": {"message": TOO_LONG, "code": 400}})), FAILED,
        "context", purposes=BOTH),
    "P-14 too long, inside a stream": Row(stream({"error": {"message": TOO_LONG}}), FAILED, "context", purposes=BOTH),
    "P-15 a revoked key": Row(failure(401, "revoked"), FAILED, "auth", purposes=BOTH),
    "P-15 a forbidden model": Row(failure(403, "no access"), FAILED, "auth", purposes=BOTH),
    "T-45 prose": Row(Ok("The first question could be about ships."), FAILED, "not_json", 2),
    "T-46 bare quotation marks in Chinese": Row(Ok(drafts().replace("late fee", '他说"好"的')), FAILED,
        "unescaped_quote", 2),
    "T-47 an answer in the reasoning": Row(Ok("", message={"reasoning_content": drafts()}), FAILED, "empty",
        purposes=BOTH),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "purpose"), [(name, purpose) for name, row in ROWS.items() for purpose in row.purposes]
)
def test_every_answer_has_its_outcome(server: OpenAIServer, name: str, purpose: str) -> None:
    row = ROWS[name]
    model_at(server)
    server.script("alpha", row.answer)
    run = STARTS[purpose]()
    call = first_call(run)
    run.refresh_from_db()
    assert (call.state, call.error_class, len(server.received())) == (row.state, row.error_class, row.requests)
    assert call.drafts.count() == row.drafts
    assert run.state == RunState.FINISHED
    assert bool(call.error) == bool(row.error_class)
    assert all(result.score is None for result in results_of(run))
    if isinstance(row.answer, Ok) and isinstance(row.answer.content, str) and "<think>" not in row.answer.content:
        assert call.raw == row.answer.content
        assert call.cost_usd


@pytest.mark.parametrize(
    "answer", [Ok(drafts().replace("salt", "sa\x00lt\ud83d")), Ok(drafts().replace("salt", "sa\\u0000lt\\ud83d"))]
)
def test_p09_what_no_database_can_hold_is_taken_out_and_the_rest_is_kept(server: OpenAIServer, answer: Ok) -> None:
    model_at(server)
    server.script("alpha", answer)
    call = first_call(start_drafting())
    assert call.state in {CallState.SUCCEEDED, CallState.PARTIAL}
    stored = "".join([call.raw, *[one.question + repr(one.answer) + one.rationale for one in call.drafts.all()]])
    assert "\x00" not in stored
    stored.encode()


def test_p10_markup_in_an_answer_is_shown_as_text_and_asks_nobody(server: OpenAIServer, client: Client) -> None:
    nasty = "<script>alert(1)</script> ![x](http://evil.example/p.png)"
    model_at(server)
    server.script("alpha", Ok(f"[Answer]\n{nasty}"))
    run = start_challenge()
    call = first_call(run)
    assert call.state == CallState.SUCCEEDED
    assert results_of(run)[0].elements == (nasty,)
    client.force_login(make_lead())
    for name, pk in (("run_detail", run.pk), ("call_detail", call.pk)):
        shown = client.get(reverse(f"generation:{name}", args=[pk])).content.decode()
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
        assert "<script>alert" not in shown
        assert 'src="http' not in shown


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": -5, "completion_tokens": -7},
     {"prompt_tokens": "12", "completion_tokens": "x"}, "none", [1, 2]],
)  # fmt: skip
def test_p12_figures_that_cannot_be_right_are_estimated_flagged_and_paid(server: OpenAIServer, usage: Any) -> None:
    model_at(server)
    server.script("alpha", Ok(RIGHT.content, usage=usage))
    call = first_call(start_challenge())
    assert (call.state, call.tokens_estimated) == (CallState.SUCCEEDED, True)
    assert call.tokens_in
    assert call.tokens_out
    assert call.cost_usd
    assert call.cost_usd > 0


def test_p13_a_reply_of_another_model_is_kept_as_served_with_a_warning(server: OpenAIServer, client: Client) -> None:
    model_at(server)
    server.script("alpha", Ok(RIGHT.content, body={"model": "cheaper-mini"}))
    run = start_challenge()
    call = first_call(run)
    assert (call.state, call.served_model, call.was_served_by_another) == (CallState.SUCCEEDED, "cheaper-mini", True)
    client.force_login(make_lead())
    assert "cheaper-mini" in client.get(reverse("generation:run_detail", args=[run.pk])).content.decode()


def test_p14_t44_a_prompt_too_long_for_one_model_leaves_the_others_going(server: OpenAIServer) -> None:
    for name in ("alpha", "beta", "gamma"):
        model_at(server, name)
        server.script(name, RIGHT)
    server.script("beta", failure(400, "input tokens exceed the configured limit"))
    run = start_challenge()
    sending.work_off()
    states = {call.model.name: (call.state, call.error_class) for call in run.calls.all()}
    assert states == {"alpha": ("succeeded", ""), "beta": ("failed", "context"), "gamma": ("succeeded", "")}
    assert "too long" in run.calls.get(model__name="beta").error
    assert len(server.received()) == 3


@pytest.mark.parametrize("status", [401, 403])
def test_p15_a_revoked_key_pauses_the_model_with_one_alert_and_no_storm(
    server: OpenAIServer, settings: Settings, status: int
) -> None:
    settings.LBP_CALLS_IN_FLIGHT = 1
    model = model_at(server)
    server.script("alpha", failure(status, f"the key {KEY} is revoked"))
    for _ in range(4):
        start_challenge()
    sending.work_off()
    model.refresh_from_db()
    assert len(server.received()) == 1
    assert model.paused_at is not None
    assert model.paused_because == "auth"
    assert Event.objects.filter(action="generation.pause_model").count() == 1


def test_p16_a_redirect_to_another_host_is_not_followed(server: OpenAIServer) -> None:
    model_at(server)
    with OpenAIServer() as other:
        server.script("alpha", redirect(f"{other.address}/chat/completions"))
        call = first_call(start_challenge())
        assert (call.state, call.error_class) == (CallState.FAILED, "redirected")
        assert (len(server.received()), len(other.received())) == (1, 0)


def test_p17_an_answer_after_our_deadline_is_in_the_ledger_and_nowhere_else(
    server: OpenAIServer, settings: Settings
) -> None:
    model_at(server)
    first_call(start_challenge())  # the first request of a process takes seconds of its own
    settings.LBP_CALL_DEADLINE_SECONDS = 1.0
    server.script("alpha", Ok(RIGHT.content, seconds=5))
    call = first_call(start_challenge())
    assert (call.state, call.error_class, call.raw) == (CallState.UNKNOWN, "deadline", "")
    assert len(server.received()) == 2


def test_p17_an_answer_after_the_lease_is_discarded_and_recorded_as_late(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_at(server)
    server.script("alpha", RIGHT)
    run = start_challenge()
    complete = sending.llm.complete

    async def late(request: Any) -> Any:
        reply = await complete(request)

        def lose() -> None:
            Call.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
            sending.take_up_lost()

        await rows(lose)
        return reply

    monkeypatch.setattr(sending.llm, "complete", late)
    sending.send_run(run.pk)
    call = run.calls.get()
    assert (call.state, call.raw, len(server.received())) == (CallState.UNKNOWN, "", 1)
    assert Event.objects.filter(action="generation.late_reply", subject_id=call.pk).count() == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429, 500, 502])
def test_p18_an_error_that_echoes_key_and_prompt_is_stored_without_them(
    server: OpenAIServer, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    model_at(server)
    canary = "document-canary-9"
    echo = f"Incorrect key {KEY} for the prompt: A log with {canary} in it."
    server.script("alpha", Says(status, json.dumps({"error": {"message": echo, "code": KEY, "type": echo}})))
    call = first_call(start_challenge(document_version=make_version(f"A log with {canary} in it.")))
    assert call.state == CallState.FAILED
    assert call.error
    assert KEY in server.received()[0].headers["authorization"]
    with connection.cursor() as cursor:
        for table in ("generation_call", "generation_languagemodel", "core_event"):
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608 -- our own names
            assert not [row for row in cursor.fetchall() if KEY in repr(row) or canary in repr(row)], table
    said = [record.getMessage() for record in caplog.records if not record.name.startswith(("django.db", "asyncio"))]
    assert not [line for line in said if KEY in line or canary in line]


# --- what users report -----------------------------------------------------------------------------------------------


def test_t45_t46_prose_is_asked_for_again_once_and_both_are_kept_and_paid(server: OpenAIServer) -> None:
    model_at(server)
    server.script("alpha", Ok("Three fine questions."), Ok(f"```json\n{drafts()}\n```"))
    run = start_drafting()
    sending.work_off()
    first, repair = run.calls.order_by("id")
    assert (first.state, first.raw, first.drafts.count()) == (CallState.FAILED, "Three fine questions.", 0)
    assert (repair.state, repair.repairs, repair.drafts.count()) == (CallState.SUCCEEDED, first, 3)
    assert first.cost_usd
    assert repair.cost_usd
    asked = server.received()[1].body["messages"]
    assert asked[:2] == server.received()[0].body["messages"]
    assert "not_json" in asked[3]["content"]


def test_t46_an_answer_broken_by_bare_quotation_marks_is_never_cut_short(server: OpenAIServer) -> None:
    model_at(server)
    broken = drafts(*[draft(n, rationale="他说“好”的。") for n in (1, 2, 3)]).replace("“", '"').replace("”", '"')
    server.script("alpha", Ok(broken))
    run = start_drafting()
    sending.work_off()
    assert not Draft.objects.exists()
    assert {call.error_class for call in run.calls.all()} == {"unescaped_quote"}
    assert {call.raw for call in run.calls.all()} == {broken}


def test_t47_thoughts_are_kept_as_thoughts_and_never_as_the_answer(server: OpenAIServer) -> None:
    model_at(server)
    server.script("alpha", Ok("", message={"reasoning_content": RIGHT.content}))
    run = start_challenge()
    call = first_call(run)
    assert (call.raw, call.reasoning, call.state) == ("", RIGHT.content, CallState.FAILED)
    (result,) = results_of(run)
    assert (list(result.elements or []), result.score) == ([], None)


def test_t50_a_silent_server_ends_the_call_at_our_own_deadline(server: OpenAIServer, settings: Settings) -> None:
    model_at(server)
    first_call(start_challenge())
    settings.LBP_CALL_DEADLINE_SECONDS = 1.0
    server.script("alpha", Hang(20))
    began = timezone.now()
    call = first_call(start_challenge())
    assert timezone.now() - began < timedelta(seconds=5)
    assert (call.state, call.error_class, len(server.received())) == (CallState.UNKNOWN, "deadline", 2)


def test_t51_calls_that_must_wait_leave_gaps_as_long_as_asked_and_count_their_attempts(server: OpenAIServer) -> None:
    model_at(server)
    server.script("alpha", rate_limited(0.3), rate_limited(0.3), RIGHT)
    call = first_call(start_challenge())
    first, second, third = (received.at for received in server.received())
    assert min(second - first, third - second) >= 0.3
    assert (call.state, call.attempts) == (CallState.SUCCEEDED, 3)


def test_a_server_that_refuses_the_form_is_named_and_works_once_the_model_is_set_otherwise(
    server: OpenAIServer,
) -> None:
    model = model_at(server)
    server.script("alpha", failure(400, "response_format is not supported"), Ok(drafts()))
    refused = first_call(start_drafting())
    assert (refused.state, refused.error_class) == (CallState.FAILED, "form_refused")
    model.structured = "none"
    model.save()
    assert first_call(start_drafting()).state == CallState.SUCCEEDED
    assert "response_format" in server.received()[0].body
    assert "response_format" not in server.received()[1].body


SERVERS: dict[str, tuple[str, Callable[[str], Ok]]] = {
    "vLLM": ("hosted_vllm", lambda content: vllm(content, "I looked.")),
    "vLLM without a reasoning parser": ("hosted_vllm", lambda content: Ok(f"I looked.\n</think>\n\n{content}")),
    "Ollama": ("openai", ollama),
    "SGLang": ("openai", lambda content: sglang(content, "I looked.")),
}


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_of_ones_own_drafts_and_answers_by_its_address_alone(server: OpenAIServer, name: str) -> None:
    provider, said = SERVERS[name]
    model_at(server, litellm_id=f"{provider}/alpha", key_variable="", kind="mixed")
    server.script("alpha", said(drafts()), said(RIGHT.content))
    drafting, challenge = start_drafting(), start_challenge()
    sending.work_off()
    first, second = drafting.calls.get(), challenge.calls.get()
    assert (first.state, first.drafts.count(), first.reasoning) == (CallState.SUCCEEDED, 3, "I looked.")
    assert (second.state, second.raw, second.reasoning) == (CallState.SUCCEEDED, RIGHT.content, "I looked.")
    assert results_of(challenge)[0].right
    assert (first.tokens_estimated, bool(first.cost_usd)) == (name == "Ollama", True)
    assert [received.path for received in server.received()] == ["/v1/chat/completions"] * 2
    assert all(received.headers["authorization"] == "Bearer no-key" for received in server.received())


def test_every_failure_and_every_fault_has_words_for_people() -> None:
    named = set(Trouble.values)
    assert {kind.value for kind in FailureKind} <= named
    assert {kind.value for kind in FaultClass} <= named
