"""What would be sent to each drafting model, made by the code that sends, before anything is made or sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any

from asgiref.sync import async_to_sync

from benchmark.taxonomy import SecondaryTask
from documents.models import DocumentVersion
from generation.estimating import expected_cost, usual_tokens_out
from generation.llm import Request
from generation.models import Call, LanguageModel, Run
from generation.planning import Ask, asks_of, key_of
from generation.prompts import PROMPT_VERSION, drafting_instructions, prompt_hash
from generation.sending.requests import Prepared, Requests, Texts
from generation.workflow import Purpose

# Of a document in a message so many characters are shown at its beginning and at its end.
SHOWN = 1500


@dataclass(frozen=True)
class Part:
    """A part of a message as it stands, or the beginning and the end of the document in it."""

    text: str
    is_document: bool = False
    chars: int = 0
    end: str = ""

    @property
    def hidden(self) -> int:
        return self.chars - len(self.text) - len(self.end)


@dataclass(frozen=True)
class Shown:
    """One message: who speaks, and its parts in their order."""

    role: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class ForModel:
    """One model's request. `tokens_in` counts the messages by our tokenizer; `usd` is None without a price."""

    model: LanguageModel
    tokens_in: int
    cut_tokens: int
    parameters: dict[str, Any]
    tokens_out: int
    usd: Decimal | None
    sha256: str


@dataclass(frozen=True)
class Letter:
    """The same messages, and the models that get them."""

    messages: tuple[Shown, ...]
    cut_tokens: int
    sha256: str
    models: tuple[ForModel, ...]


@dataclass(frozen=True)
class Preview:
    version: DocumentVersion
    task: SecondaryTask
    prompt_version: str
    prompt_sha256: str
    letters: tuple[Letter, ...]

    @property
    def models(self) -> list[ForModel]:
        return [row for letter in self.letters for row in letter.models]

    @property
    def usd(self) -> Decimal:
        return sum((row.usd for row in self.models if row.usd is not None), Decimal(0))

    @property
    def unpriced(self) -> int:
        return sum(1 for row in self.models if row.usd is None)


def preview_drafting(version: DocumentVersion, task: SecondaryTask, *, first_number: int = 1) -> Preview:
    """The requests that drafting this pair would make. Loads the text and the tokenizer; nothing is stored."""
    run = _run(version, task, first_number)
    requests = Requests(run, Texts())
    asks = asks_of(run)
    usual = usual_tokens_out([ask.model for ask in asks])
    prepared = [(ask, async_to_sync(requests.prepare)(_call(run, ask))) for ask in asks]
    by_content: dict[str, list[tuple[ForModel, Prepared]]] = {}
    for ask, one in prepared:
        row = _for_model(ask.model, one, version, usual)
        by_content.setdefault(row.sha256, []).append((row, one))
    letters = tuple(_letter(group) for group in by_content.values())
    return Preview(version, task, PROMPT_VERSION, run.prompt_sha256, letters)


def _run(version: DocumentVersion, task: SecondaryTask, first_number: int) -> Run:
    language = version.document.language
    prompt = drafting_instructions(language=language, task=task.code)
    return Run(
        purpose=Purpose.DRAFTING,
        document_version=version,
        language=language,
        task_code=task.code,
        prompt=prompt,
        prompt_version=PROMPT_VERSION,
        prompt_sha256=prompt_hash(prompt),
        first_number=first_number,
    )


def _call(run: Run, ask: Ask) -> Call:
    return Call(
        key=key_of(run, ask),
        purpose=run.purpose,
        model=ask.model,
        document_version=run.document_version,
        number=ask.number,
        prompt=ask.prompt,
        thinking=ask.thinking,
        prompt_version=run.prompt_version,
        prompt_sha256=prompt_hash(ask.prompt),
    )


def _for_model(
    model: LanguageModel, prepared: Prepared, version: DocumentVersion, usual: Mapping[tuple[int, str], int]
) -> ForModel:
    around = prepared.tokens_in - (version.tokens - prepared.cut_tokens)
    expected = expected_cost(model, Purpose.DRAFTING, document_tokens=version.tokens, prompt_tokens=around, usual=usual)
    return ForModel(
        model,
        prepared.tokens_in,
        prepared.cut_tokens,
        _parameters(prepared.request),
        expected.tokens_out,
        expected.usd,
        content_hash(prepared.request.messages),
    )


def content_hash(messages: Sequence[Any]) -> str:
    """SHA-256 over roles and contents: equal for equal messages, here and on the wire."""
    summed = sha256()
    for message in messages:
        summed.update(f"{message['role']}\n{message['content']}\n".encode("utf-8", "surrogatepass"))
    return summed.hexdigest()


def _parameters(request: Request) -> dict[str, Any]:
    """What goes beside the messages; what is empty is not sent."""
    given = {
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "thinking": request.thinking,
        "json_schema": request.schema is not None or None,
        "seed": request.seed,
    }
    return {name: value for name, value in given.items() if value is not None}


def _letter(group: list[tuple[ForModel, Prepared]]) -> Letter:
    first, prepared = group[0]
    messages = tuple(_shown(message) for message in prepared.request.messages)
    return Letter(messages, first.cut_tokens, first.sha256, tuple(row for row, _prepared in group))


def _shown(message: Any) -> Shown:
    content: str = message["content"]
    opening, closing = content.find("<document id="), content.rfind("</document id=")
    if message["role"] != "user" or opening < 0 or closing < opening:
        return Shown(message["role"], (Part(content),))
    start, end = content.index("\n", opening) + 1, closing - 1
    return Shown(
        message["role"], (Part(content[:start]), _document(content[start:end]), Part(content[end:].lstrip("\n")))
    )


def _document(text: str) -> Part:
    if len(text) <= 2 * SHOWN:
        return Part(text, is_document=True, chars=len(text))
    return Part(text[:SHOWN], is_document=True, chars=len(text), end=text[-SHOWN:])
