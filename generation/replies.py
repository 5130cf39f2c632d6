"""Reading what models reply.

A reply is repaired only where nothing has to be invented: a code fence or prose around exactly one JSON object is
taken off, NUL and lone surrogates are cleaned (the caller keeps the raw reply). Everything else is named as a fault.
A reply cut by the output limit is never repaired. The text of the reasoning field is never taken for an answer.
Drafts that are valid by themselves are kept when others fail.
"""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from benchmark.taxonomy import Language, SecondaryTask, check_answer, secondary_task
from generation.prompts import DRAFTS_PER_CALL, clean_text

MOST_DRAFTS_KEPT = 6
LONGEST = {"question": 8_000, "elements": 400, "rationale": 20_000, "option": 4_000, "answer": 8_000, "step": 8_000}
MOST = {"options": 200, "answer": 2_000, "solution": 200}

_CUT = {"length", "max_tokens", "max_output_tokens", "model_length"}
_FILTERED = {"content_filter", "content-filter", "safety", "refusal", "recitation", "blocked", "prohibited_content"}


class Outcome(StrEnum):
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    REPAIRABLE = "repairable"
    FAILED = "failed"


class FaultClass(StrEnum):
    EMPTY = "empty"
    NO_ANSWER_BUDGET = "no_answer_budget"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    NOT_JSON = "not_json"
    UNESCAPED_QUOTE = "unescaped_quote"
    SEVERAL_OBJECTS = "several_objects"
    ARRAY = "array"
    DUPLICATE_KEY = "duplicate_key"
    WRONG_COUNT = "wrong_count"
    MISSING_PART = "missing_part"
    WRONG_TYPE = "wrong_type"
    TOO_LONG = "too_long"
    WRONG_LANGUAGE = "wrong_language"
    RULE_BROKEN = "rule_broken"


#: Nothing is gained by asking again: the money is spent and the same would come back.
FINAL_FAULTS = frozenset({FaultClass.EMPTY, FaultClass.NO_ANSWER_BUDGET, FaultClass.TRUNCATED, FaultClass.REFUSED})


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a reply. `draft` counts from 1. `detail` is plain text for the model and for people."""

    kind: FaultClass
    detail: str
    draft: int | None = None

    def __str__(self) -> str:
        where = f"draft {self.draft}: " if self.draft else ""
        return f"{where}{self.detail} ({self.kind.value})"


@dataclass(frozen=True)
class SolutionStep:
    step: str
    quote: str


@dataclass(frozen=True)
class DraftText:
    """A draft as a model wrote it; `position` is its place in the reply, from 1."""

    question: str
    elements: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    rationale: str
    solution: tuple[SolutionStep, ...]
    position: int


@dataclass(frozen=True)
class DraftReading:
    drafts: tuple[DraftText, ...]
    faults: tuple[Fault, ...]
    outcome: Outcome
    cleaned: bool = False
    """True when NUL or lone surrogates were taken out of the reply before it was read."""


@dataclass(frozen=True)
class AnswerReading:
    text: str | None
    fault: Fault | None


# --- drafts ----------------------------------------------------------------------------------------------------------


def read_drafts(
    *, content: object, finish_reason: str | None, reasoning: str | None, language: str, task: str
) -> DraftReading:
    """Read a drafting reply. `task` is a secondary task's code or name."""
    unusable = _unusable(content, finish_reason, reasoning)
    if unusable is not None:
        return DraftReading((), (unusable,), Outcome.FAILED)
    text = clean_text(str(content))
    found, fault = _one_object(text)
    if fault is not None or found is None:
        fault = _refusal(text) or fault or Fault(FaultClass.NOT_JSON, "there is no JSON object in the reply")
        outcome = Outcome.FAILED if fault.kind in FINAL_FAULTS else Outcome.REPAIRABLE
        return DraftReading((), (fault,), outcome, cleaned=text != content)
    drafts, faults = _read_all(found, Language(language), secondary_task(task))
    return DraftReading(drafts, faults, _outcome(drafts, faults), cleaned=text != content)


def _outcome(drafts: tuple[DraftText, ...], faults: tuple[Fault, ...]) -> Outcome:
    if not drafts:
        return Outcome.REPAIRABLE
    return Outcome.PARTIAL if faults or len(drafts) != DRAFTS_PER_CALL else Outcome.SUCCEEDED


def _unusable(content: object, finish_reason: str | None, reasoning: str | None) -> Fault | None:
    """Replies that hold no answer at all, or only the beginning of one."""
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


def _refusal(text: str) -> Fault | None:
    if "{" not in text and len(text) < 2_000 and _REFUSALS.match(text.strip()):
        return Fault(FaultClass.REFUSED, "the model declined")
    return None


# --- finding the one object ------------------------------------------------------------------------------------------


class _DuplicateKeyError(ValueError):
    pass


class _NoNumberError(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _DuplicateKeyError
    return found


def _no_number(name: str) -> None:
    raise _NoNumberError(name)


# Line breaks inside strings are let through: nothing has to be invented to read them.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number, strict=False)
_OPENING = re.compile(r'\{(?=\s*["}])|\[')
_ARRAY_OF_OBJECTS = re.compile(r"\[\s*\{")
_MOST_OPENINGS = 200


def _one_object(text: str) -> tuple[dict[str, Any] | None, Fault | None]:
    """The only JSON object of a reply, whatever prose or fence stands around it; or what is wrong."""
    objects: list[dict[str, Any]] = []
    position = 0
    for _ in range(_MOST_OPENINGS):
        opening = _OPENING.search(text, position)
        if opening is None:
            break
        start = opening.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
        except _DuplicateKeyError:
            return None, Fault(FaultClass.DUPLICATE_KEY, "a key stands twice in one object")
        except json.JSONDecodeError as error:
            if text[start] == "[" and not _ARRAY_OF_OBJECTS.match(text, start):
                position = start + 1  # a bracket in prose
                continue
            return None, _syntax_fault(text, error)
        except (ValueError, RecursionError):
            return None, Fault(FaultClass.NOT_JSON, "the JSON holds a number or a nesting that cannot be read")
        if isinstance(value, list):
            if any(isinstance(entry, dict) for entry in value):
                return None, Fault(FaultClass.ARRAY, "the reply is an array; one object with the key drafts is needed")
        elif value:
            objects.append(value)
    if len(objects) > 1:
        return None, Fault(FaultClass.SEVERAL_OBJECTS, f"the reply holds {len(objects)} JSON objects; one is needed")
    if not objects:
        return None, Fault(FaultClass.NOT_JSON, "there is no JSON object in the reply")
    return objects[0], None


def _syntax_fault(text: str, error: json.JSONDecodeError) -> Fault:
    rest = text[error.pos :].strip().strip("`").strip()
    if error.msg.startswith("Unterminated string") or not rest:
        return Fault(FaultClass.TRUNCATED, "the JSON breaks off before its end")
    before = text[: error.pos].rstrip()
    if error.msg.startswith("Expecting") and before.endswith('"') and rest[0] not in "\"{}[]:,'":
        return Fault(
            FaultClass.UNESCAPED_QUOTE,
            f'a quotation mark inside a string is not escaped near character {error.pos}; write it as \\"',
        )
    return Fault(FaultClass.NOT_JSON, f"the JSON cannot be read near character {error.pos}: {error.msg}")


# --- one draft -------------------------------------------------------------------------------------------------------


class _FaultyError(Exception):
    def __init__(self, kind: FaultClass, detail: str) -> None:
        super().__init__(detail)
        self.kind, self.detail = kind, detail


def _read_all(
    found: dict[str, Any], language: Language, task: SecondaryTask
) -> tuple[tuple[DraftText, ...], tuple[Fault, ...]]:
    entries = found.get("drafts")
    if entries is None:
        return (), (Fault(FaultClass.MISSING_PART, "the key drafts is missing"),)
    if not isinstance(entries, list):
        return (), (Fault(FaultClass.WRONG_TYPE, "drafts is not a list"),)
    faults: list[Fault] = []
    if len(entries) != DRAFTS_PER_CALL:
        detail = f"{len(entries)} drafts instead of {DRAFTS_PER_CALL}"
        if len(entries) > MOST_DRAFTS_KEPT:
            detail += f"; only the first {MOST_DRAFTS_KEPT} were read"
        faults.append(Fault(FaultClass.WRONG_COUNT, detail))
    drafts: list[DraftText] = []
    for position, entry in enumerate(entries[:MOST_DRAFTS_KEPT], start=1):
        try:
            draft = _read_one(entry, position, language, task)
            if any(_same(draft, earlier) for earlier in drafts):
                raise _FaultyError(FaultClass.RULE_BROKEN, "the same question stands in an earlier draft")
            drafts.append(draft)
        except _FaultyError as faulty:
            faults.append(Fault(faulty.kind, faulty.detail, position))
    return tuple(drafts), tuple(faults)


def _same(draft: DraftText, other: DraftText) -> bool:
    def squeezed(one: DraftText) -> str:
        return "".join("".join((one.question, *one.options)).lower().split())

    return squeezed(draft) == squeezed(other)


def _read_one(entry: object, position: int, language: Language, task: SecondaryTask) -> DraftText:
    if not isinstance(entry, dict):
        raise _FaultyError(FaultClass.WRONG_TYPE, "the draft is not an object")
    draft = DraftText(
        question=_string(entry, "question"),
        elements=" ".join(_string(entry, "elements").split()),
        options=_options(entry, task),
        answer=_strings(entry, "answer", "answer"),
        rationale=_string(entry, "rationale"),
        solution=_solution(entry),
        position=position,
    )
    _check_rules(draft, language, task)
    _check_language(draft, language)
    return draft


def _part(entry: dict[str, Any], name: str) -> object:
    value = entry.get(name)
    if value is None:
        raise _FaultyError(FaultClass.MISSING_PART, f"{name} is missing")
    return value


def _as_text(value: object, name: str, longest: int, *, may_be_blank: bool = False) -> str:
    if not isinstance(value, str):
        raise _FaultyError(FaultClass.WRONG_TYPE, f"{name} is not a string")
    # Escapes such as \\u0000 or \\ud800 only become characters when the JSON is read.
    text = clean_text(value).strip()
    if not text and not may_be_blank:
        raise _FaultyError(FaultClass.MISSING_PART, f"{name} is empty")
    if len(text) > longest:
        raise _FaultyError(FaultClass.TOO_LONG, f"{name} has {len(text)} characters; at most {longest} are taken")
    return text


def _string(entry: dict[str, Any], name: str) -> str:
    return _as_text(_part(entry, name), name, LONGEST[name])


def _listed(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise _FaultyError(FaultClass.WRONG_TYPE, f"{name} is not a list")
    if len(value) > MOST[name]:
        raise _FaultyError(FaultClass.TOO_LONG, f"{name} has {len(value)} entries; at most {MOST[name]} are taken")
    return value


def _strings(entry: dict[str, Any], name: str, limit: str) -> tuple[str, ...]:
    entries = _listed(_part(entry, name), name)
    if not entries:
        raise _FaultyError(FaultClass.MISSING_PART, f"{name} is empty")
    return tuple(_as_text(value, f"an entry of {name}", LONGEST[limit]) for value in entries)


_LABELLED = re.compile(r"^([A-Z])[.．、:：)）]\s*\S", re.DOTALL)


def _options(entry: dict[str, Any], task: SecondaryTask) -> tuple[str, ...]:
    """The options as given; those of a multiple choice get their letters when the model left all of them out."""
    value = entry.get("options")
    if value is None or value == []:
        return ()
    texts = tuple(_as_text(one, "an option", LONGEST["option"]) for one in _listed(value, "options"))
    if not task.multiple_choice or any(_LABELLED.match(text) for text in texts) or len(texts) > 26:
        return texts
    return tuple(f"{chr(65 + place)}. {text}" for place, text in enumerate(texts))


def _solution(entry: dict[str, Any]) -> tuple[SolutionStep, ...]:
    steps = []
    for value in _listed(_part(entry, "solution"), "solution"):
        if not isinstance(value, dict):
            raise _FaultyError(FaultClass.WRONG_TYPE, "a step of the solution is not an object")
        quote = value.get("quote")
        steps.append(
            SolutionStep(
                step=_as_text(_part(value, "step"), "a step", LONGEST["step"]),
                quote=_as_text("" if quote is None else quote, "a quote", LONGEST["step"], may_be_blank=True),
            )
        )
    if not steps:
        raise _FaultyError(FaultClass.MISSING_PART, "solution is empty")
    return tuple(steps)


def _check_rules(draft: DraftText, language: Language, task: SecondaryTask) -> None:
    problems = check_answer(task, draft.answer)
    if problems:
        raise _FaultyError(FaultClass.RULE_BROKEN, f"the answer breaks the task's rule: {problems[0].message}")
    if not task.multiple_choice:
        return
    labels = [found.group(1) for option in draft.options if (found := _LABELLED.match(option))]
    if len(labels) < 4:
        raise _FaultyError(FaultClass.RULE_BROKEN, "fewer than four lettered options")
    if len(set(labels)) != len(labels):
        raise _FaultyError(FaultClass.RULE_BROKEN, "two options have the same letter")
    if not set(draft.answer[0].strip().upper()) <= set(labels):
        raise _FaultyError(FaultClass.RULE_BROKEN, "the answer is not the letter of an option")


_QUOTED = re.compile('“[^”]*”|‘[^’]*’|「[^」]*」|『[^』]*』|《[^》]*》|`[^`]*`|"[^"]*"', re.DOTALL)
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_WORD = re.compile(r"[A-Za-zÀ-ɏͰ-ϿЀ-ӿ]+")
_OTHER = re.compile(r"[\u3040-\u30ff\uac00-\ud7af\u0400-\u04ff\u0600-\u06ff\u0e00-\u0e7f]")


def _check_language(draft: DraftText, language: Language) -> None:
    """Question and rationale, without what they quote, are in the document's language."""
    for name, text in (("question", draft.question), ("rationale", draft.rationale)):
        own = _QUOTED.sub(" ", text)
        han, words, other = (len(pattern.findall(own)) for pattern in (_HAN, _WORD, _OTHER))
        total = han + words
        if other > total:
            raise _FaultyError(FaultClass.WRONG_LANGUAGE, f"the {name} is not in {language.value}")
        if total < 4:
            continue
        is_chinese = han * 2 > total
        if is_chinese != (language == Language.CHINESE):
            raise _FaultyError(FaultClass.WRONG_LANGUAGE, f"the {name} is not in {language.value}")


# --- answers ---------------------------------------------------------------------------------------------------------


_IDENTIFIERS = ("[Answer]", "[答案]")


def read_answer_reply(content: object, finish_reason: str | None, reasoning: str | None) -> AnswerReading:
    """The text of an answer (challenge, prediction, difficulty) or why there is none. Scoring reads the text."""
    fault = _unusable(content, finish_reason, reasoning)
    if fault is not None:
        return AnswerReading(None, fault)
    text = clean_text(str(content))
    if not any(identifier in text for identifier in _IDENTIFIERS) and (refusal := _refusal(text)):
        return AnswerReading(None, refusal)
    return AnswerReading(text, None)
