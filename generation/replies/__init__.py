"""Reading what models reply.

A reply is repaired only where nothing has to be invented: a code fence or prose around exactly one JSON object is
taken off, NUL and lone surrogates are cleaned (the caller keeps the raw reply). Everything else is named as a fault.
A reply cut by the output limit is never repaired. The text of the reasoning field is never taken for an answer.
Drafts that are valid by themselves are kept when others fail.
"""

from generation.replies.answering import read_answer_reply
from generation.replies.drafting import read_drafts
from generation.replies.faults import FINAL_FAULTS, Fault, FaultClass, Outcome
from generation.replies.shapes import AnswerReading, DraftReading, DraftText, SolutionStep

__all__ = [
    "FINAL_FAULTS",
    "AnswerReading",
    "DraftReading",
    "DraftText",
    "Fault",
    "FaultClass",
    "Outcome",
    "SolutionStep",
    "read_answer_reply",
    "read_drafts",
]
