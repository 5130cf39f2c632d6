"""The one door, over the wire: one request each, sorted failures, and nothing that leaks."""

import asyncio
import json
import logging
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from generation import llm
from generation.llm import Failure, FailureKind, Fate, Reply, Request, library
from tests.fakes.openai_server import (
    Drip,
    Hang,
    HangUp,
    Ok,
    OpenAIServer,
    Says,
    cut_off,
    empty,
    failure,
    page,
    rate_limited,
    reasoning_only,
    redirect,
    server_error,
    stream,
)
from tests.generation.conftest import KEY

PROMPT = "a document with a canary: prompt-canary-51"


def ask(server: OpenAIServer, **more: Any) -> Reply:
    given: dict[str, Any] = {
        "model": "openai/alpha",
        "messages": [{"role": "user", "content": PROMPT}],
        "deadline": 5.0,
        "api_base": server.address,
        "key_variable": "LBP_KEY_LOCAL",
    }
    request = Request(**{**given, **more})

    async def run() -> Reply:
        async with llm.session():
            return await llm.complete(request)

    return asyncio.run(run())


def fails(server: OpenAIServer, **more: Any) -> Failure:
    with pytest.raises(Failure) as failed:
        ask(server, **more)
    return failed.value


def test_one_request_leaves_and_its_reply_comes_back_whole(server: OpenAIServer) -> None:
    server.script("alpha", Ok("[Answer]\nHeron", message={"reasoning_content": "I looked."}))
    reply = ask(server, max_tokens=100, temperature=0.5)
    (sent,) = server.received()
    assert (reply.content, reply.reasoning, reply.finish_reason) == ("[Answer]\nHeron", "I looked.", "stop")
    assert (reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.estimated) == (1000, 10, False)
    assert reply.served_model == "alpha"
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.body["messages"] == [{"role": "user", "content": PROMPT}]
    assert (sent.body["max_tokens"], sent.body["temperature"]) == (100, 0.5)


def test_what_is_not_set_is_not_sent(server: OpenAIServer) -> None:
    ask(server)
    sent = server.received()[0].body
    assert set(sent) <= {"model", "messages", "stream"}
    assert not sent.get("stream")


def test_a_schema_is_passed_on_and_an_instruct_model_is_told_nothing_of_thinking(server: OpenAIServer) -> None:
    ask(server, schema={"type": "object"})
    sent = server.received()[0].body
    assert sent["response_format"]["json_schema"]["schema"]["type"] == "object"
    assert "chat_template_kwargs" not in sent


FAILURES: Mapping[str, tuple[Any, FailureKind, Fate]] = {
    "429": (rate_limited(3), FailureKind.RATE_LIMITED, Fate.RETRY),
    "500": (server_error(), FailureKind.SERVER_ERROR, Fate.RETRY),
    "502": (Says(502, "<html>bad gateway</html>", "text/html"), FailureKind.SERVER_ERROR, Fate.RETRY),
    "529": (failure(529, "overloaded"), FailureKind.SERVER_ERROR, Fate.RETRY),
    "a page with status 200": (page(), FailureKind.GATEWAY_PAGE, Fate.RETRY),
    "garbage": (Says(200, "%%% not json"), FailureKind.UNREADABLE, Fate.FINAL),
    "half a body": (Says(200, '{"choices": [{"mess'), FailureKind.UNREADABLE, Fate.FINAL),
    "nothing": (Says(200, ""), FailureKind.UNREADABLE, Fate.FINAL),
    "401": (failure(401, f"bad key {KEY}"), FailureKind.AUTH, Fate.FINAL),
    "403": (failure(403, "no"), FailureKind.AUTH, Fate.FINAL),
    "402": (failure(402, "pay"), FailureKind.NO_CREDIT, Fate.FINAL),
    "429 without credit": (failure(429, "quota", "insufficient_quota"), FailureKind.NO_CREDIT, Fate.FINAL),
    "404": (failure(404, "no such model"), FailureKind.NOT_FOUND, Fate.FINAL),
    "400": (failure(400, "what is top_q?"), FailureKind.BAD_REQUEST, Fate.FINAL),
    "filter": (failure(400, "stopped", "content_filter"), FailureKind.REFUSED, Fate.FINAL),
    "413": (Says(413, "too big", "text/plain"), FailureKind.CONTEXT, Fate.FINAL),
    "context 1": (
        failure(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
        FailureKind.CONTEXT,
        Fate.FINAL,
    ),
    "context 2": (failure(400, "prompt is too long: 210000 tokens > 200000"), FailureKind.CONTEXT, Fate.FINAL),
    "context 3": (failure(400, "input tokens exceed the configured limit"), FailureKind.CONTEXT, Fate.FINAL),
    "context 4": (
        failure(400, "The input token count (1200000) exceeds the maximum number of tokens allowed"),
        FailureKind.CONTEXT,
        Fate.FINAL,
    ),
    "context in a 200": (
        Says(200, json.dumps({"error": {"message": "Range of input length should be [1, 30720]"}})),
        FailureKind.CONTEXT,
        Fate.FINAL,
    ),
    "context in a stream": (
        stream({"error": {"message": "prompt is too long: 210000 tokens", "code": "x"}}),
        FailureKind.CONTEXT,
        Fate.FINAL,
    ),
    "context as a server error": (
        failure(500, "the prompt exceeds the context length"),
        FailureKind.CONTEXT,
        Fate.FINAL,
    ),
    "429 larger than a minute": (
        failure(429, "Request too large for alpha on tokens per min (TPM): Limit 30000, Requested 250000."),
        FailureKind.CONTEXT,
        Fate.FINAL,
    ),
    "429 of a minute": (
        Says(
            429,
            '{"error": {"code": 429, "message": "You exceeded your current quota, please check your plan and billing '
            'details.", "status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "17s"}]}}',
        ),
        FailureKind.RATE_LIMITED,
        Fate.RETRY,
    ),
    "400 without credit": (failure(400, "Your credit balance is too low."), FailureKind.NO_CREDIT, Fate.FINAL),
    "a server error in a 200": (failure(200, "overloaded", 503), FailureKind.SERVER_ERROR, Fate.RETRY),
    "403 by a filter": (failure(403, "no", "content_policy_violation"), FailureKind.REFUSED, Fate.FINAL),
    "hang": (Hang(20), FailureKind.DEADLINE, Fate.UNKNOWN),
    "drip": (Drip(20), FailureKind.DEADLINE, Fate.UNKNOWN),
    "hang-up": (HangUp(), FailureKind.CONNECTION_LOST, Fate.UNKNOWN),
}


@pytest.mark.parametrize("name", FAILURES)
def test_every_failure_costs_one_request_and_is_sorted_by_our_table(server: OpenAIServer, name: str) -> None:
    answer, kind, fate = FAILURES[name]
    server.script("alpha", answer)
    failed = fails(server, deadline=0.6 if kind is FailureKind.DEADLINE else 10.0)
    assert (failed.kind, failed.fate) == (kind, fate)
    assert len(server.received()) == 1
    assert KEY not in f"{failed.words} {failed!r} {failed.__cause__!r}"
    assert "canary" not in failed.words


def test_t50_a_deadline_is_our_own_and_total(server: OpenAIServer) -> None:
    ask(server)  # the first request of a process takes seconds of its own
    server.script("alpha", Drip(30))
    began = time.monotonic()
    fails(server, deadline=0.4)
    assert 0.4 <= time.monotonic() - began < 3.0


def test_retry_after_is_read_in_seconds_and_as_a_date(server: OpenAIServer) -> None:
    server.script("alpha", rate_limited(7), failure(429, "wait", Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"))
    assert fails(server).retry_after == 7
    assert fails(server).retry_after == 0


def test_retry_after_is_read_from_googles_body(server: OpenAIServer) -> None:
    server.script("alpha", FAILURES["429 of a minute"][0])
    assert fails(server).retry_after == 17


def test_a_redirect_is_not_followed(server: OpenAIServer) -> None:
    with OpenAIServer() as other:
        server.script("alpha", redirect(f"{other.address}/chat/completions"))
        assert fails(server).kind is FailureKind.REDIRECTED
        assert other.received() == []
    assert len(server.received()) == 1


def test_a_refused_connection_sent_nothing(server: OpenAIServer, settings: Settings) -> None:
    with OpenAIServer() as gone:
        address = gone.address
    settings.LBP_MODEL_HOSTS = ["127.0.0.1"]
    assert fails(server, api_base=address).kind is FailureKind.REFUSED_CONNECTION


@pytest.mark.parametrize(
    ("answer", "content", "reasoning"),
    [
        (empty(), "", ""),
        (Ok(content=None), None, ""),
        (Ok(body={"choices": []}), None, ""),
        (reasoning_only(), "", "Let me think about ships."),
        (cut_off(), cut_off().content, ""),
        (Ok("a\x00b\ud83d"), "a\x00b\ud83d", ""),
    ],
    ids=["empty", "none", "no choices", "reasoning only", "cut off", "unstorable"],
)
def test_a_poor_reply_is_still_a_reply(server: OpenAIServer, answer: Ok, content: str | None, reasoning: str) -> None:
    server.script("alpha", answer)
    reply = ask(server)
    assert (reply.content, reply.reasoning) == (content, reasoning)
    assert len(server.received()) == 1


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": -5, "completion_tokens": -1},
     {"prompt_tokens": "12", "completion_tokens": "x"}, "none"],
)  # fmt: skip
def test_figures_that_cannot_be_right_are_estimated_and_say_so(server: OpenAIServer, usage: Any) -> None:
    server.script("alpha", Ok("[Answer]\n" + "Heron " * 100, usage=usage))
    counted = ask(server).usage
    assert counted.estimated
    assert 5 <= counted.tokens_in <= 30
    assert 100 <= counted.tokens_out <= 200


def test_a_lone_surrogate_in_the_prompt_reaches_nobody_and_is_no_reason_to_try_again(server: OpenAIServer) -> None:
    failed = fails(server, messages=[{"role": "user", "content": "a\ud83d"}])
    assert failed.fate is Fate.FINAL
    assert server.received() == []


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"api_base": "http://169.254.169.254/v1"}, FailureKind.NOT_SENT),
        ({"api_base": "file:///etc/passwd"}, FailureKind.NOT_SENT),
        ({"api_base": "http://user:pw@127.0.0.1/v1"}, FailureKind.NOT_SENT),
        ({"key_variable": "SECRET_KEY"}, FailureKind.NOT_SENT),
        ({"key_variable": "LBP_KEY_ABSENT"}, FailureKind.AUTH),
        ({"model": "bedrock/claude"}, FailureKind.NOT_SENT),
        ({"model": "hosted_vllm/x", "api_base": ""}, FailureKind.NOT_SENT),
    ],
)
def test_what_the_operator_did_not_allow_is_refused_before_any_request(
    server: OpenAIServer, more: dict[str, str], kind: FailureKind
) -> None:
    assert fails(server, **more).kind is kind
    assert server.received() == []


def test_without_a_key_variable_no_key_of_the_machine_is_sent(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-machine")
    ask(server, key_variable="")
    assert "sk-of-the-machine" not in str(server.received()[0].headers)


def test_an_echoed_key_and_prompt_reach_no_log(server: OpenAIServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.script("alpha", failure(400, f"refused: {KEY} {PROMPT}", f"{KEY}"))
    failed = fails(server)
    assert KEY not in failed.words
    for name in ("LiteLLM", "openai", "root"):
        logged = [record.getMessage() for record in caplog.records if record.name.split(".")[0] == name]
        assert not any(KEY in line or "prompt-canary-51" in line for line in logged), name


def test_a_reply_under_another_name_is_kept_as_served(server: OpenAIServer) -> None:
    server.script("alpha", Ok(body={"model": "somebody-else"}))
    assert ask(server).served_model == "somebody-else"


def test_a_hundred_calls_share_one_loop(server: OpenAIServer) -> None:
    server.script("alpha", Ok(seconds=0.3))
    request = Request("openai/alpha", [{"role": "user", "content": "hello"}], 20.0, server.address, "LBP_KEY_LOCAL")

    async def run() -> list[Reply]:
        async with llm.session():
            return await asyncio.gather(*(llm.complete(request) for _ in range(100)))

    began = time.monotonic()
    assert len(asyncio.run(run())) == 100
    assert len(server.received()) == 100
    assert time.monotonic() - began < 15


def test_threads_that_want_the_library_first_set_it_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set up twice, the watch on the wire would stand around itself, and every request would count as lost."""
    begun = []

    @cache
    def slow() -> object:
        begun.append(threading.get_ident())
        time.sleep(0.05)
        return object()

    monkeypatch.setattr(library, "_set_up", slow)
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _thread: library.litellm(), range(8)))
    assert (len(begun), len(found)) == (1, 1)
