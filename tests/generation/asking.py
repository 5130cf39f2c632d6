"""Runs as the stages start them, and replies as models give them."""

import json
from typing import Any

from benchmark.taxonomy import secondary_task
from generation import actions, sending
from generation.models import Call, Run
from tests.factories import make_version
from tests.fakes.openai_server import Ok

TASK = secondary_task("T1.2")
RIGHT = Ok("[Answer]\nMarigold\nHeron\nTern")


def draft(number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "question": f"Which ships paid late fee number {number}, and which came in with salt?",
        "elements": "the ship names",
        "answer": ["Marigold", "Heron"],
        "rationale": "Every fee stands in one paragraph.",
        "solution": [{"step": "Read the fees.", "quote": "the brig Heron came in with salt"}],
        **more,
    }


def drafts(*given: Any) -> str:
    return json.dumps({"drafts": list(given) or [draft(number) for number in (1, 2, 3)]}, ensure_ascii=False)


def start_drafting(**more: Any) -> Run:
    given = {"document_version": more.pop("document_version", None) or make_version(), "task": TASK, "by": None}
    return actions.start_drafting(**{**given, **more})


def start_challenge(**more: Any) -> Run:
    given = {
        "document_version": more.pop("document_version", None) or make_version(),
        "task": TASK,
        "question": "Which ships paid a late fee?",
        "options": [],
        "elements": "the ship names",
        "answer": ["Marigold", "Heron", "Tern"],
        "by": None,
    }
    return actions.start_challenge(**{**given, **more})


STARTS = {"drafting": start_drafting, "challenge": start_challenge}


def first_call(run: Run) -> Call:
    """The run's first call, as it is stored after everything was sent that is to be sent."""
    sending.work_off()
    return run.calls.order_by("id")[0]
