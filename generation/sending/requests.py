"""The requests of a run: its text, read late and cut to each model's allowance, and what is asked around it."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from django.conf import settings

from documents.queries import text_of
from documents.tokenizing import decode, encode
from generation import llm
from generation.models import Call, LanguageModel, Run
from generation.prompts import (
    DRAFT_SCHEMA,
    Message,
    answer_messages,
    drafting_messages,
    repair_messages,
)
from generation.sending.rows import rows
from generation.truncating import Truncated, truncate_middle
from generation.workflow import Kind, Purpose

# Of documents whose calls wait or are out, the texts used last are kept at hand.
TEXTS_AT_HAND = 16


class Messages(list[Message]):
    """Messages that calls of one run share: at 256k tokens one copy is a megabyte."""


@dataclass(frozen=True)
class Prepared:
    """A request that may leave, how many tokens go into it, and how many of the document were left out."""

    request: llm.Request
    tokens_in: int
    cut_tokens: int


class Texts:
    """Documents by version and allowance. What is not used falls out; a call that waits holds none."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], Truncated] = OrderedDict()
        self._making: dict[tuple[int, int], asyncio.Future[Truncated]] = {}

    async def whole(self, run: Run) -> str:
        version = run.document_version
        kept = await self._get((version.pk, 0), lambda: Truncated(text_of(version), version.tokens, 0), rows)
        return kept.text

    async def cut(self, run: Run, allowance: int) -> Truncated:
        text, version = await self.whole(run), run.document_version
        if version.tokens <= allowance:
            return Truncated(text, version.tokens, 0)
        return await self._get(
            (version.pk, allowance),
            lambda: truncate_middle(text, allowance=allowance, encode=encode, decode=decode),
            asyncio.to_thread,
        )

    async def _get(self, key: tuple[int, int], make: Callable[[], Truncated], how: Any) -> Truncated:
        found = self._kept.get(key) or await self._made(key, make, how)
        self._kept[key] = found
        self._kept.move_to_end(key)
        while len(self._kept) > TEXTS_AT_HAND:
            self._kept.popitem(last=False)
        return found

    async def _made(self, key: tuple[int, int], make: Callable[[], Truncated], how: Any) -> Truncated:
        """The calls of one run want the same text at the same time: it is fetched once."""
        if key not in self._making:
            self._making[key] = asyncio.ensure_future(how(make))
            self._making[key].add_done_callback(lambda _done: self._making.pop(key))
        return await asyncio.shield(self._making[key])


class Requests:
    """What one run asks. Made anew for each attempt, from the frozen run and the text."""

    def __init__(self, run: Run, texts: Texts) -> None:
        self.run = run
        self.texts = texts
        self._around: dict[str, int] = {}
        self._shared: WeakValueDictionary[tuple[str, int], Messages] = WeakValueDictionary()

    def weight(self, call: Call) -> int:
        """About how many tokens the request has, without its text."""
        return min(self.run.document_version.tokens, call.model.truncate_input_to_tokens)

    async def prepare(self, call: Call) -> Prepared:
        cut = await self.texts.cut(self.run, call.model.truncate_input_to_tokens)
        name = call.prompt_sha256 if call.repairs_id is None else call.key
        around = self._around.get(name)
        if around is None:
            bare = await self._messages(call, "")
            # Near enough, and the tokenizer's 120 MB are loaded only where a text has to be cut.
            around = sum(llm.rough_tokens(message["content"]) for message in bare)
            self._around[name] = around
        messages = self._shared.get((name, cut.cut_tokens))
        if messages is None:
            messages = Messages(await self._messages(call, cut.text))
            self._shared[name, cut.cut_tokens] = messages
        return Prepared(self._request(call, messages), cut.kept_tokens + around, cut.cut_tokens)

    def _request(self, call: Call, messages: Messages) -> llm.Request:
        model = call.model
        return llm.Request(
            model=model.litellm_id,
            messages=messages,
            deadline=settings.LBP_CALL_DEADLINE_SECONDS,
            api_base=model.api_base,
            key_variable=model.key_variable,
            max_tokens=output_limit(model, thinking=call.thinking),
            temperature=model.temperature,
            thinking=call.thinking if model.kind == Kind.MIXED else None,
            schema=DRAFT_SCHEMA if self.run.purpose == Purpose.DRAFTING else None,
            structured=model.structured,
            # The same call is the same throw of the dice for a simulated model; real ones are not told.
            seed=int(call.key[:8], 16) if model.is_simulated else None,
        )

    async def _messages(self, call: Call, text: str) -> list[Message]:
        if self.run.purpose != Purpose.DRAFTING:
            return answer_messages(document_text=text, prompt=call.prompt)
        run = self.run
        asked = drafting_messages(
            language=run.language,
            task=run.task_code,
            document_text=text,
            instructions=call.prompt,
            version=run.prompt_version,
        )
        if call.repairs_id is None:
            return asked
        original = await rows(Call.objects.only("raw", "faults").get, pk=call.repairs_id)
        faults = [_fault_sentence(fault) for fault in original.faults]
        return repair_messages(asked, original.raw, faults, run.language, run.prompt_version)


def output_limit(model: LanguageModel, *, thinking: bool) -> int | None:
    return model.max_output_thinking if thinking else model.max_output_nonthinking


def _fault_sentence(fault: Mapping[str, Any]) -> str:
    where = f"draft {fault['draft']}: " if fault.get("draft") else ""
    return f"{where}{fault['detail']} ({fault['kind']})"
