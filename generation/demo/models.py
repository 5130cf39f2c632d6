"""The one door to the simulated models: `answer`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generation.demo.answering import IDENTIFIER, answered
from generation.demo.asking import Asked
from generation.demo.chance import Chance
from generation.demo.drafting import drafted, reply_text
from generation.demo.kinds import knows_task
from generation.demo.reading import (
    AnsweringRequest,
    DraftingRequest,
    answering_request,
    drafting_request,
    text_of,
)
from generation.demo.text import CHINESE, ENGLISH

PREFIX = "demo/"


@dataclass(frozen=True)
class _Character:
    """`skill` is the mean likelihood of a right answer; kind as in the panel: thinking, mixed or instruct."""

    skill: float
    kind: str


_MODELS = {
    "demo/osprey": _Character(0.86, "thinking"),
    "demo/heron": _Character(0.84, "thinking"),
    "demo/falcon": _Character(0.82, "mixed"),
    "demo/kestrel": _Character(0.80, "mixed"),
    "demo/merlin": _Character(0.78, "thinking"),
    "demo/badger": _Character(0.58, "mixed"),
    "demo/otter": _Character(0.54, "instruct"),
    "demo/marten": _Character(0.52, "instruct"),
    "demo/stoat": _Character(0.48, "instruct"),
    "demo/weasel": _Character(0.50, "thinking"),
    "demo/acorn": _Character(0.36, "instruct"),
    "demo/hazel": _Character(0.34, "mixed"),
    "demo/maple": _Character(0.30, "instruct"),
    "demo/willow": _Character(0.28, "instruct"),
    "demo/clover": _Character(0.25, "instruct"),
}
NAMES = tuple(_MODELS)


class UnknownDemoModelError(LookupError):
    """No simulated model has this name."""


@dataclass(frozen=True)
class DemoReply:
    """What comes back. The token figures are rough: four characters of Latin script, or 1.5 of Chinese, make one."""

    content: str
    reasoning: str | None
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int


def answer(
    *,
    model: str,
    messages: Sequence[Mapping[str, object]],
    response_format: object = None,
    temperature: float | None = None,
    seed: int | None = None,
) -> DemoReply:
    """Answer a request as the named model would (`demo/osprey`, or `osprey`).

    `response_format` and `temperature` are taken, as a real model takes them, and change nothing: drafts always come
    as the JSON object the prompt asks for, and chance comes from model, messages and seed alone.
    """
    name = model if model.startswith(PREFIX) else PREFIX + model
    character = _MODELS.get(name)
    if character is None:
        raise UnknownDemoModelError(f"There is no simulated model {model!r}.")
    spoken = [part for message in messages for part in (message.get("role"), text_of(message))]
    chance = Chance(name, seed, *spoken)
    request = drafting_request(messages)
    if request is not None and knows_task(request.task):
        content, thoughts = _draft(request, chance, name, character)
    else:
        content, thoughts = _answer(answering_request(messages), chance, character)
    reasoning = thoughts if character.kind == "thinking" else None
    return DemoReply(
        content=content,
        reasoning=reasoning,
        finish_reason="stop",
        prompt_tokens=sum(rough_tokens(text_of(message)) for message in messages),
        completion_tokens=rough_tokens(content) + rough_tokens(reasoning or ""),
    )


def rough_tokens(text: str) -> int:
    """An estimate from the number of bytes and characters, without reading the text twice."""
    wide = (len(text.encode("utf-8", "surrogatepass")) - len(text)) // 2
    return round(wide / 1.5 + max(0, len(text) - wide) / 4) if text else 0


def _draft(request: DraftingRequest, chance: Chance, name: str, character: _Character) -> tuple[str, str]:
    first_kind = NAMES.index(name)
    drafts = drafted(request, chance, first_kind=first_kind, flaw_rate=(1 - character.skill) * 0.6)
    thoughts = _DRAFTING_THOUGHTS[request.language].replace("{task}", request.task)
    return reply_text(drafts, chance), thoughts


def _answer(request: AnsweringRequest, chance: Chance, character: _Character) -> tuple[str, str]:
    lines = answered(request, chance, skill=character.skill)
    replied = "\n".join([IDENTIFIER[request.language], *lines])
    thoughts = _thoughts(request)
    return f"{thoughts}\n\n{replied}" if request.thinking else replied, thoughts


_DRAFTING_THOUGHTS = {
    ENGLISH: "The task is {task}. I look through the document for terms and passages that give a question with one "
    "answer only, then check each answer against the text.",
    CHINESE: "任务是{task}。先在文档中寻找能得出唯一答案的词语和语句，再逐一与原文核对。",
}


def _thoughts(request: AnsweringRequest) -> str:
    count = len(Asked(options=request.options).labelled)
    if request.language == CHINESE:
        chosen = f"共有{count}个选项需要比对。" if count else "题目没有给出选项。"
        return (
            f"先弄清题目要求，再到文档中查找相关位置。文档约有{len(request.document)}个字符。{chosen}逐一核对后作答。"
        )
    chosen = f"There are {count} labelled entries to compare." if count else "The question gives no options."
    return (
        f"First I make out what is asked, then I look for the places in the document, which has about "
        f"{len(request.document)} characters. {chosen} I check them one after the other and then answer."
    )
