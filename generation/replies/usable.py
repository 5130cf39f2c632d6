"""Replies that hold no answer at all, or only the beginning of one."""

import re

from generation.prompts import clean_text
from generation.replies.faults import Fault, FaultClass

_CUT = {"length", "max_tokens", "max_output_tokens", "model_length"}
_FILTERED = {"content_filter", "content-filter", "safety", "refusal", "recitation", "blocked", "prohibited_content"}


def unusable(content: object, finish_reason: str | None, reasoning: str | None) -> Fault | None:
    """What is wrong with a reply as a whole, before its text is read; None when it can be read."""
    reason = (finish_reason or "").lower()
    if reason in _FILTERED:
        return Fault(FaultClass.REFUSED, "the provider's filter withheld the reply")
    if content is not None and not isinstance(content, str):
        return Fault(FaultClass.EMPTY, "the reply is not text")
    blank = not clean_text(content or "").strip()
    thought = bool((reasoning or "").strip())
    if blank and thought and reason in _CUT:
        return Fault(FaultClass.NO_ANSWER_BUDGET, "the output limit was used up by reasoning; no answer followed")
    if blank and thought:
        return Fault(FaultClass.EMPTY, "the reply holds reasoning only, no answer")
    if blank:
        return Fault(FaultClass.EMPTY, "the reply is empty")
    if reason in _CUT:
        return Fault(FaultClass.TRUNCATED, "the reply was cut by the output limit")
    return None


_REFUSALS = re.compile(
    r"^\W*(?:(?:i['’]?m|i am)\s+(?:very\s+)?(?:sorry|unable|not able)|sorry,"
    r"|i (?:can['’]?t|cannot|won['’]?t|must decline)|i apologi[sz]e|as an ai"
    r"|抱歉|对不起|很抱歉|非常抱歉|我(?:无法|不能|拒绝)|作为(?:一个|一名)?(?:ai|人工智能))",
    re.IGNORECASE,
)


def refusal(text: str) -> Fault | None:
    if "{" not in text and len(text) < 2_000 and _REFUSALS.match(text.strip()):
        return Fault(FaultClass.REFUSED, "the model declined")
    return None
