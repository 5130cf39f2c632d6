"""A model server at its worst: every fault of the table, mixed by chance, on a batch of drafting calls."""

import hashlib
import json
import threading
from typing import Any

from tests.fakes.openai_server import (
    Answer,
    Drip,
    Hang,
    HangUp,
    Ok,
    OpenAIServer,
    Received,
    Says,
    cut_off,
    empty,
    failure,
    page,
    rate_limited,
    reasoning_only,
    redirect,
    server_error,
)

LONG = 60.0


def draft(number: int, **more: Any) -> dict[str, Any]:
    return {
        "question": f"Which ships paid late fee number {number}?",
        "elements": "the ship names",
        "answer": ["Marigold", "Heron"],
        "rationale": "Every fee stands in one paragraph.",
        "solution": [{"step": "Read the fees.", "quote": "the brig Heron came in with salt"}],
        **more,
    }


def drafts(*given: dict[str, Any]) -> str:
    return json.dumps({"drafts": list(given) or [draft(number) for number in (1, 2, 3)]})


GOOD = Ok(drafts(), seconds=0.3)
# What a first request may meet; those that may be sent again meet something else the next time.
FAULTS: tuple[Answer, ...] = (
    rate_limited(1),
    rate_limited(),
    server_error(),
    page(),
    Says(200, "%%%"),
    Says(502, "<html>Bad Gateway</html>", "text/html"),
    HangUp(),
    Hang(LONG),
    Drip(LONG),
    empty(),
    Ok(content=None),
    Ok(body={"choices": []}),
    reasoning_only(),
    cut_off(),
    Ok("Here are three fine questions."),
    Ok("```json\n" + drafts() + "\n```"),
    Ok(drafts() + drafts()),
    Ok(drafts(draft(1), {"question": "x"}, draft(3))),
    Ok(drafts(draft(1), draft(2))),
    Ok(drafts(draft(1, question="Which ship \\u0000 paid?"), draft(2), draft(3)) + "\x00"),
    Ok(drafts(draft(1, answer=3), draft(2), draft(3))),
    Ok("I'm sorry, I cannot help with that."),
    Ok("", finish_reason="content_filter"),
    failure(400, "prompt is too long"),
    failure(400, "this is not understood"),
    failure(404, "no such model"),
    redirect("http://127.0.0.1:9/v1/chat/completions"),
    Ok(drafts(), usage={"prompt_tokens": "many"}),
    Ok(drafts(), usage=None),
    Ok(drafts(), body={"model": "another-model"}),
)
REVOKED = failure(401, "the key was revoked")


def prepare(server: OpenAIServer) -> None:
    """About two of five requests meet a fault. The key of one model is refused once, in the middle of the batch."""
    seen, lock = {"beta": 0}, threading.Lock()

    def choose(received: Received, before: int) -> Answer:
        if received.model == "local-1":
            with lock:
                seen["beta"] += 1
                if seen["beta"] == 15:
                    return REVOKED
        throw = int(hashlib.sha256(f"{before} {received.text}".encode()).hexdigest(), 16)
        return FAULTS[throw // 5 % len(FAULTS)] if throw % 5 < 2 else GOOD

    server.choose = choose


def asks_to_wait(server: OpenAIServer) -> None:
    """Everything twice with 429 and a time to wait, then as it should be."""
    server.choose = lambda received, before: rate_limited(6) if before < 2 else None


def hangs_and_drips(server: OpenAIServer) -> None:
    """One model says nothing for a quarter of an hour, the others send a byte now and then."""
    server.choose = lambda received, before: Hang(900.0) if received.model.endswith("0") else Drip(900.0)
