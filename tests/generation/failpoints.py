"""Places where a worker dies. Loaded into workers that a bench starts (`celery --include`), never by the product.

FAILPOINT names the place, FAILPOINT_FOLDER is where each death leaves a file, so that each call dies there once only;
without FAILPOINT nothing is changed. LiteLLM is imported before a pool forks: a new child is at work at once.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django.db.transaction

from core.models import Event
from generation import budgeting, llm, settling
from generation.sending import beginning, run

NAME = os.environ.get("FAILPOINT", "")
FOLDER = Path(os.environ.get("FAILPOINT_FOLDER", "."))
LIMIT = int(os.environ.get("FAILPOINT_LIMIT", "1000000"))


def die(mark: object) -> None:
    """Once for each mark, so often at most."""
    if len(list(FOLDER.glob("death-*"))) >= LIMIT:
        return
    try:
        (FOLDER / f"death-{mark}").touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def around(owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
    setattr(owner, name, wrap(getattr(owner, name)))


def before_the_commit_of_calling() -> None:
    def wrap(begin: Any) -> Any:
        def dying(call: Any, *args: Any, **more: Any) -> Any:
            begun = begin(call, *args, **more)
            if isinstance(begun, settling.Attempt):
                die(call.pk)
            return begun

        return dying

    around(beginning, "_begin", wrap)


def after_the_reserve_of_the_budget() -> None:
    def wrap(hold_back: Any) -> Any:
        def dying(call: Any, *args: Any) -> Any:
            room = hold_back(call, *args)
            die(call.pk)
            return room

        return dying

    around(budgeting, "hold_back", wrap)


def _around_complete(how: Callable[[Any, Any], Any]) -> None:
    around(llm, "complete", lambda complete: lambda request: how(complete, request))


def after_the_commit_before_http() -> None:
    async def how(complete: Any, request: Any) -> Any:
        die(hash(str(request.messages)))
        return await complete(request)

    _around_complete(how)


def _requests() -> int:
    """How many requests have reached the server."""
    ledger = FOLDER.parent / "ledger.jsonl"
    return ledger.read_bytes().count(b"\n") if ledger.exists() else 0


def during_http() -> None:
    async def how(complete: Any, request: Any) -> Any:
        before = _requests()
        out = asyncio.ensure_future(complete(request))
        while _requests() == before and not out.done():
            await asyncio.sleep(0.05)
        die(hash(str(request.messages)))
        return await out

    _around_complete(how)


def after_the_response_before_the_save() -> None:
    async def how(complete: Any, request: Any) -> Any:
        reply = await complete(request)
        die(hash(str(request.messages)))
        return reply

    _around_complete(how)


def after_the_save() -> None:
    def wrap(settle_reply: Any) -> Any:
        def dying(attempt: Any, *args: Any, **more: Any) -> Any:
            repair = settle_reply(attempt, *args, **more)
            die(attempt.call.pk)
            return repair

        return dying

    around(run, "settle_reply", wrap)


def _before_the_line(action: str) -> None:
    def wrap(create: Any) -> Any:
        def dying(*args: Any, **fields: Any) -> Any:
            if fields.get("action") == action:
                die(fields["subject_id"])
            return create(*args, **fields)

        return dying

    around(Event.objects, "create", wrap)


def between_state_and_line_of_the_sending() -> None:
    _before_the_line("generation.send")


def between_state_and_line_of_the_answer() -> None:
    _before_the_line("generation.succeed")


def before_the_message_is_published() -> None:
    def wrap(on_commit: Any) -> Any:
        return lambda function, **more: on_commit(lambda: die("publish"), **more)

    around(django.db.transaction, "on_commit", wrap)


PLACES = {
    place.__name__: place
    for place in (
        before_the_commit_of_calling,
        after_the_reserve_of_the_budget,
        between_state_and_line_of_the_sending,
        after_the_commit_before_http,
        during_http,
        after_the_response_before_the_save,
        between_state_and_line_of_the_answer,
        after_the_save,
        before_the_message_is_published,
    )
}

if NAME:
    PLACES[NAME]()
if os.environ.get("FAILPOINT_FOLDER"):
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm
    import litellm.llms.openai.openai  # noqa: F401
