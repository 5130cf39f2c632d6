"""A local server with OpenAI's interface that answers by script and remembers every request it was sent.

At Anthropic's and Gemini's paths it speaks their languages; `vllm`, `ollama` and `sglang` are dialects of OpenAI's.

    with OpenAIServer() as server:
        server.script("a-model", RateLimited(retry_after=1), Ok("[Answer]\\nHeron"))

A model's answers are used up in order, the last one stays. The ledger only grows; with `ledger=PATH` it is also a file,
one JSON object a line, so that another process can hold it against its rows. `python -m tests.fakes.openai_server PORT
PATH [SECONDS [SCRIPTS]]` runs it alone; each answer takes so many seconds. SCRIPTS names a function (`module:function`)
that is given the server before it begins.
"""

import importlib
import json
import socket
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Ok:
    """A reply. `message` and `body` add to, or replace, parts of what a real server sends."""

    content: Any = "[Answer]\nHeron"
    finish_reason: str | None = "stop"
    message: Mapping[str, Any] = field(default_factory=dict)
    usage: Any = field(default_factory=lambda: {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010})
    body: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class Says:
    """A status with a body as it stands."""

    status: int
    body: str = ""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def failure(status: int, message: str, code: Any = "", **headers: str) -> Says:
    error = {"message": message, "type": "error", "code": code or None}
    return Says(status, json.dumps({"error": error}), headers={k.replace("_", "-"): v for k, v in headers.items()})


def rate_limited(retry_after: float | None = None) -> Says:
    more = {} if retry_after is None else {"Retry_After": str(retry_after)}
    return failure(429, "slow down", "rate_limit_exceeded", **more)


def server_error() -> Says:
    return failure(500, "we are sorry")


def page() -> Says:
    return Says(200, "<html><body><h1>502 Bad Gateway</h1></body></html>", "text/html")


def redirect(to: str) -> Says:
    return Says(307, "", headers={"Location": to})


def empty() -> Ok:
    return Ok(content="")


def reasoning_only() -> Ok:
    return Ok(content="", finish_reason="length", message={"reasoning_content": "Let me think about ships."})


def cut_off() -> Ok:
    return Ok(content='{"drafts": [{"question": "Which sh', finish_reason="length")


def stream(*events: Mapping[str, Any]) -> Says:
    """A stream where none was asked for, as some gateways send when they fail."""
    return Says(200, "".join(f"data: {json.dumps(event)}\n\n" for event in events), "text/event-stream")


def vllm(content: str | None, thoughts: str, *, field_name: str = "reasoning", finish_reason: str = "stop") -> Ok:
    """vLLM with a reasoning parser: `reasoning` now, `reasoning_content` before; fields that are null."""
    more: dict[str, Any] = {
        field_name: thoughts,
        "refusal": None,
        "annotations": None,
        "tool_calls": [],
        "function_call": None,
    }
    usage = {"prompt_tokens": 900, "completion_tokens": 30, "total_tokens": 930, "prompt_tokens_details": None}
    body = {"prompt_logprobs": None, "kv_transfer_params": None, "service_tier": None}
    return Ok(content, finish_reason, message=more, usage=usage, body=body)


def ollama(content: str, *, finish_reason: str = "stop") -> Ok:
    """Ollama: figures that are missing where the prompt came from its cache, thoughts in `reasoning`."""
    message = {"reasoning": "I looked."}
    body = {"id": "chatcmpl-7", "system_fingerprint": "fp_ollama"}
    return Ok(content, finish_reason, message=message, usage={"completion_tokens": 12}, body=body)


def sglang(content: str, thoughts: str | None = None) -> Ok:
    """SGLang: no reason for the end, and one that no other server gives."""
    message = {"reasoning_content": thoughts, "tool_calls": None}
    body = {"metadata": {"weight_version": "default"}, "sglext": None}
    usage = {"prompt_tokens": 900, "completion_tokens": 30, "total_tokens": 930, "reasoning_tokens": 0}
    return Ok(content, None, message=message, usage=usage, body=body)


@dataclass(frozen=True)
class Hang:
    """Takes the request and says nothing for so long."""

    seconds: float = 30.0


@dataclass(frozen=True)
class Drip:
    """Sends the body byte by byte, so that no single read times out."""

    seconds: float = 30.0


@dataclass(frozen=True)
class HangUp:
    """Takes the request and closes the connection."""


Answer = Ok | Says | Hang | Drip | HangUp


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    at: float
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    text: str

    @property
    def model(self) -> str:
        """As the body names it, or, with Gemini, the path."""
        named = self.path.rpartition("/models/")[2].partition(":")[0] if ":generateContent" in self.path else ""
        return named or str(self.body.get("model", ""))


class OpenAIServer:
    def __init__(self, *, port: int = 0, ledger: Path | None = None, seconds: float = 0.0) -> None:
        self.ledger_file = ledger
        self.unscripted = Ok(seconds=seconds)
        # Asked for each request, with how often the same one came before; what it gives goes before the scripts.
        self.choose: Callable[[Received, int], Answer | None] = lambda received, before: None
        self._seen: Counter[str] = Counter()
        self.ledger: list[Received] = []
        self._scripts: dict[str, list[Answer]] = defaultdict(list)
        self._lock = threading.Lock()
        self._ending = threading.Event()
        owner = self

        class Handler(_Handler):
            server_of = owner

        self._server = _Server(("127.0.0.1", port), Handler)
        self.host = f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def address(self) -> str:
        return f"http://{self.host}/v1"

    def script(self, model: str, *answers: Answer) -> None:
        with self._lock:
            self._scripts[model] = list(answers)

    def received(self, model: str = "") -> Sequence[Received]:
        with self._lock:
            return [entry for entry in self.ledger if not model or entry.model == model]

    def take(self, received: Received) -> Answer:
        with self._lock:
            self.ledger.append(received)
            if self.ledger_file:
                with self.ledger_file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"at": received.at, "body": received.body}) + "\n")
            chosen = self.choose(received, self._seen[received.text])
            self._seen[received.text] += 1
            if chosen is not None:
                return chosen
            answers = self._scripts[received.model]
            if not answers:
                return self.unscripted
            return answers.pop(0) if len(answers) > 1 else answers[0]

    def sleep(self, seconds: float) -> bool:
        """False when the server ends meanwhile."""
        return not self._ending.wait(seconds)

    def __enter__(self) -> "OpenAIServer":
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of: OpenAIServer

    def log_message(self, format: str, *args: Any) -> None:
        """The ledger is the log."""

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode("utf-8", "surrogatepass")
        body = json.loads(text) if text.startswith("{") else {}
        received = Received(time.time(), self.path, {k.lower(): v for k, v in self.headers.items()}, body, text)
        self._answer(self.server_of.take(received), received)

    def _answer(self, answer: Answer, received: Received) -> None:
        if isinstance(answer, Ok):
            if answer.seconds and not self.server_of.sleep(answer.seconds):
                return
            self._send(200, json.dumps(_reply(answer, received)), "application/json", {})
        elif isinstance(answer, Says):
            self._send(answer.status, answer.body, answer.content_type, answer.headers)
        elif isinstance(answer, Hang):
            self.server_of.sleep(answer.seconds)
            self._hang_up()
        elif isinstance(answer, Drip):
            self._drip(answer, received)
        else:
            self._hang_up()

    def _send(self, status: int, body: str, content_type: str, headers: Mapping[str, str]) -> None:
        data = body.encode("utf-8", "surrogatepass")
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _drip(self, answer: Drip, received: Received) -> None:
        data = json.dumps(_completion(Ok(), received.model)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        pause = answer.seconds / len(data)
        for place in range(len(data)):
            self.wfile.write(data[place : place + 1])
            self.wfile.flush()
            if not self.server_of.sleep(pause):
                return

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def _reply(answer: Ok, received: Received) -> dict[str, Any]:
    if received.path.endswith("/messages"):
        return _anthropic(answer, received.model)
    if ":generateContent" in received.path:
        return _gemini(answer, received.model)
    return _completion(answer, received.model)


def _anthropic(answer: Ok, model: str) -> dict[str, Any]:
    thoughts = answer.message.get("reasoning_content")
    parts = [{"type": "thinking", "thinking": thoughts, "signature": "s"}] if thoughts else []
    if answer.content:
        parts.append({"type": "text", "text": answer.content})
    ends = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": parts,
        "stop_reason": ends.get(answer.finish_reason or "", answer.finish_reason),
        "usage": {"input_tokens": 1000, "output_tokens": 10},
        **answer.body,
    }


def _gemini(answer: Ok, model: str) -> dict[str, Any]:
    thoughts = answer.message.get("reasoning_content")
    parts: list[dict[str, Any]] = [{"text": thoughts, "thought": True}] if thoughts else []
    if answer.content:
        parts.append({"text": answer.content})
    ends = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
    content = {"role": "model", "parts": parts} if parts else {"role": "model"}
    return {
        "candidates": [
            {"index": 0, "content": content, "finishReason": ends.get(answer.finish_reason or "", "STOP")},
        ],
        "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 10, "totalTokenCount": 1010},
        "modelVersion": model,
        **answer.body,
    }


def _completion(answer: Ok, model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer.content, **answer.message}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "finish_reason": answer.finish_reason, "message": message}],
        "usage": answer.usage,
    }
    return {**body, **answer.body}


def serve_alone(port: str, ledger: str, seconds: str = "0", scripts: str = "") -> None:
    with OpenAIServer(port=int(port), ledger=Path(ledger), seconds=float(seconds)) as alone:
        if scripts:
            module, _colon, name = scripts.partition(":")
            getattr(importlib.import_module(module), name)(alone)
        while alone.sleep(3600):
            pass


if __name__ == "__main__":
    # Under its own name, so that scripts find the same answers as the server.
    importlib.import_module("tests.fakes.openai_server").serve_alone(*sys.argv[1:])
