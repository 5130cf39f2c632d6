"""Reading an answer to a question: the text is handed on whole, scoring reads it."""

from generation.prompts import clean_text
from generation.replies.shapes import AnswerReading
from generation.replies.usable import refusal, unusable

_IDENTIFIERS = ("[Answer]", "[答案]")


def read_answer_reply(content: object, finish_reason: str | None, reasoning: str | None) -> AnswerReading:
    """The text of an answer (challenge, prediction, difficulty) or why there is none. Scoring reads the text."""
    fault = unusable(content, finish_reason, reasoning)
    if fault is not None:
        return AnswerReading(None, fault)
    text = clean_text(str(content))
    if not any(identifier in text for identifier in _IDENTIFIERS) and (declined := refusal(text)):
        return AnswerReading(None, declined)
    return AnswerReading(text, None)
