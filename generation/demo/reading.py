"""Reading a request the way a model does: nothing is known of it but its messages."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generation.demo.asking import LABELLED
from generation.demo.text import CHINESE, ENGLISH

GAP = "\n\n\n\n"
_OPENING = re.compile(r'<document id="([0-9a-f]{8,64})">\n')
_LANGUAGE = re.compile(r"(?:Document language|文档语言)[:：]\s*(English|Chinese)")
_TASK = re.compile(r"(?:Secondary task|二级任务)[:：]\s*(T\d{1,2}\.\d)")
_EXAMPLE = re.compile(r"^\s*(?:Output example:|输出示例：)\s*$", re.MULTILINE)
_REQUIREMENTS = tuple(
    re.compile(re.escape(before) + "(.*?)" + re.escape(after), re.DOTALL)
    for before, after in (
        (
            "Output the “[Answer]” identifier first, and then output ",
            " line by line, without any additional content.",
        ),
        (
            "Think step by step. After your thinking process, output the “[Answer]” identifier, and then output ",
            " line by line.",
        ),
        ("先输出“[答案]”标识符，再逐行输出", "，不要输出任何其他内容。"),
        ("请一步一步思考。在思考过程结束之后，输出“[答案]”标识符，再逐行输出", "。"),
    )
)
_THINKING = ("Think step by step. After your thinking process", "请一步一步思考。在思考过程结束之后")
_MARKS = ("“[Answer]”", "“[答案]”")


@dataclass(frozen=True)
class DraftingRequest:
    language: str
    task: str
    document: str


@dataclass(frozen=True)
class AnsweringRequest:
    document: str
    question: str
    options: tuple[str, ...]
    elements: str
    language: str
    thinking: bool


def text_of(message: Mapping[str, object]) -> str:
    """A message's text, also where it comes as a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def drafting_request(messages: Sequence[Mapping[str, object]]) -> DraftingRequest | None:
    """Language and task as the instructions state them, and the document between its marks."""
    instructions = "\n".join(text_of(message) for message in messages if message.get("role") == "system")
    language, task = _LANGUAGE.search(instructions), _TASK.search(instructions)
    if not language or not task:
        return None
    for message in messages:
        if message.get("role") == "user" and (document := _delimited(text_of(message))) is not None:
            return DraftingRequest(language.group(1), task.group(1), document)
    return None


def _delimited(text: str) -> str | None:
    opening = _OPENING.search(text)
    if not opening:
        return None
    end = text.rfind(f'\n</document id="{opening.group(1)}">')
    return text[opening.end() : end] if end >= opening.end() - 1 else None


def answering_request(messages: Sequence[Mapping[str, object]]) -> AnsweringRequest:
    content = next((text_of(one) for one in reversed(messages) if one.get("role") == "user"), "")
    document, prompt = _split(content)
    language = CHINESE if _MARKS[1] in prompt or (_MARKS[0] not in prompt and _is_chinese(prompt)) else ENGLISH
    thinking = any(words in prompt for words in _THINKING)
    examples = list(_EXAMPLE.finditer(prompt))
    body = prompt[: examples[-1].start()] if examples else prompt
    elements = ""
    for requirement in _REQUIREMENTS:
        if found := requirement.search(body):
            elements = found.group(1)
            body = f"{body[: found.start()]}\n{body[found.end() :]}"
    lines = body.split("\n")
    options = tuple(line.strip() for line in lines if LABELLED.match(line))
    question = "\n".join(line for line in lines if not LABELLED.match(line)).strip()
    return AnsweringRequest(document, question, options, elements.strip(), language, thinking)


def _split(content: str) -> tuple[str, str]:
    """Context and prompt: the prompt begins after the last four newlines that its fixed words come after."""
    place = content.rfind(GAP)
    while place >= 0:
        prompt = content[place + len(GAP) :]
        if any(mark in prompt for mark in _MARKS):
            return content[:place], prompt
        place = content.rfind(GAP, 0, place)
    place = content.rfind(GAP)
    return (content[:place], content[place + len(GAP) :]) if place >= 0 else ("", content)


def _is_chinese(text: str) -> bool:
    return sum("\u4e00" <= mark <= "\u9fff" for mark in text[-4_000:]) * 4 > min(len(text), 4_000)
