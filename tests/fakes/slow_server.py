"""A local server with OpenAI's interface that takes thousands of requests at once and answers each after a while.

    python -m tests.fakes.slow_server PORT SECONDS

One event loop, hardly any work for a request: it measures whoever asks, not itself. GET /figures tells how many
requests there were, how many were open at once, and when the first came and the last was answered.
"""

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass

from aiohttp import web

MESSAGE = {"role": "assistant", "content": "[Answer]\nHeron"}
BODY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "slow",
    "choices": [{"index": 0, "finish_reason": "stop", "message": MESSAGE}],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010},
}
LARGEST = 64 * 1024 * 1024


@dataclass
class Figures:
    requests: int = 0
    open_now: int = 0
    most_open: int = 0
    bytes_in: int = 0
    first_at: float = 0.0
    last_at: float = 0.0


def application(seconds: float) -> web.Application:
    figures, reply = Figures(), json.dumps(BODY).encode()

    async def answer(request: web.Request) -> web.Response:
        figures.first_at = figures.first_at or time.time()
        figures.requests += 1
        figures.open_now += 1
        figures.most_open = max(figures.most_open, figures.open_now)
        try:
            async for chunk in request.content.iter_any():
                figures.bytes_in += len(chunk)
            await asyncio.sleep(seconds)
        finally:
            figures.open_now -= 1
            figures.last_at = time.time()
        return web.Response(body=reply, content_type="application/json")

    async def tell(request: web.Request) -> web.Response:
        return web.json_response(asdict(figures))

    made = web.Application(client_max_size=LARGEST)
    made.router.add_post("/v1/chat/completions", answer)
    made.router.add_get("/figures", tell)
    return made


if __name__ == "__main__":
    web.run_app(application(float(sys.argv[2])), host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)
