"""The prompts that are sent to models: pure functions of their parts.

Fixed text lives in `prompt_texts/<version>/`. A change of that text is a new version: a test holds the files of each to
its hash in `prompt_texts/hashes.json`. The version and the hash of what was sent are kept with every run and call. The
instructions for a task are built once; a document is joined to them in one pass by concatenation and is never used as
a format string or a template, so braces, `%s` or `{{ }}` in it stay as they are.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmark.framing import model_input, nonthinking_requirement
from benchmark.taxonomy import Language, Metric, SecondaryTask, secondary_task

PROMPT_VERSION = "v1"
DRAFTS_PER_CALL = 3

Message = dict[str, str]

_TEXTS = Path(__file__).parent / "prompt_texts"
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_RAW = 40_000
_SLOT = re.compile(r"\{\{(\w+)\}\}")

_STRING = {"type": "string", "minLength": 1}
DRAFT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["drafts"],
    "properties": {
        "drafts": {
            "type": "array",
            "minItems": DRAFTS_PER_CALL,
            "maxItems": DRAFTS_PER_CALL,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["question", "elements", "answer", "rationale", "solution"],
                "properties": {
                    "question": _STRING,
                    "elements": _STRING,
                    "options": {"type": "array", "items": _STRING},
                    "answer": {"type": "array", "minItems": 1, "items": _STRING},
                    "rationale": _STRING,
                    "solution": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["step", "quote"],
                            "properties": {"step": _STRING, "quote": {"type": "string"}},
                        },
                    },
                },
            },
        }
    },
}


def prompt_hash(text: str) -> str:
    """SHA-256 of the UTF-8 bytes, in hex; what a call keeps of the prompt it sent."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def clean_text(text: str) -> str:
    """Without NUL; lone surrogates become U+FFFD. What a database and a UTF-8 stream can hold."""
    return _SURROGATE.sub("\ufffd", text.replace("\x00", ""))


# --- drafting --------------------------------------------------------------------------------------------------------


def drafting_instructions(*, language: str, task: str) -> str:
    """The generation prompt for a secondary task (code or name), without the document."""
    return _instructions(Language(language), secondary_task(task).code)


def drafting_messages(
    *, language: str, task: str, document_text: str, instructions: str = "", version: str = PROMPT_VERSION
) -> list[Message]:
    """Instructions as the system message; the document, delimited and untouched, as the user message.

    The marks carry the beginning of the document's own hash, so that no text can close them by itself. A run's frozen
    `instructions` are sent as they are, with the texts of its own `version`.
    """
    instructions = instructions or drafting_instructions(language=language, task=task)
    mark = prompt_hash(document_text)[:16]
    lead = _text("document", Language(language), version)
    delimited = "".join((lead, f'\n\n<document id="{mark}">\n', document_text, f'\n</document id="{mark}">'))
    return [{"role": "system", "content": instructions}, {"role": "user", "content": delimited}]


def repair_messages(
    original: Sequence[Message], raw: str, faults: Sequence[object], language: str, version: str = PROMPT_VERSION
) -> list[Message]:
    """The one request to send a malformed reply again: the first exchange, then what was wrong with it.

    `faults` are those that `replies.read_drafts` found, or sentences. Of an overlong reply the beginning is sent back.
    """
    named = "\n".join(f"- {fault}" for fault in faults)
    request = _fill(_text("repair", Language(language), version), {"faults": named})
    said = clean_text(raw)[:_LONGEST_RAW] or "(empty)"
    return [*original, {"role": "assistant", "content": said}, {"role": "user", "content": request}]


@lru_cache(maxsize=64)
def _instructions(language: Language, code: str) -> str:
    task = secondary_task(code)
    example = task.example_in(language)
    values = {
        "task": task.name_in(language),
        "primary": task.primary.name_in(language),
        "definition": task.definition_in(language),
        "requirement": task.context_requirement,
        "requirement_text": task.context_requirement_in(language),
        "answer_rule": task.answer_rule_in(language),
        "example_question": example.question,
        "example_elements": example.elements,
        "example_answer": json.dumps(list(example.answer), ensure_ascii=False),
        "task_rules": _rules(language)[_rule_kind(task)],
    }
    return _fill(_text("drafting", language), values)


def _rule_kind(task: SecondaryTask) -> str:
    if task.multiple_choice:
        return "multiple_choice"
    return {Metric.SUMMARY: "summary", Metric.PAIRWISE: "ordering"}.get(task.metric, "plain")


def hash_of_version(version: str) -> str:
    """SHA-256 over the names and bytes of a version's files, in hex."""
    files = sorted((_TEXTS / version).iterdir())
    parts = [f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n" for file in files]
    return hashlib.sha256("".join(parts).encode()).hexdigest()


@lru_cache(maxsize=32)
def _text(name: str, language: Language, version: str = PROMPT_VERSION) -> str:
    return (_TEXTS / version / f"{name}_{language.value.lower()}.txt").read_text(encoding="utf-8").strip()


@lru_cache(maxsize=2)
def _rules(language: Language) -> dict[str, str]:
    file = _TEXTS / PROMPT_VERSION / f"rules_{language.value.lower()}.json"
    rules: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return rules


def _fill(text: str, values: Mapping[str, str]) -> str:
    """One pass over the fixed text: what is put in is not looked at again."""
    return _SLOT.sub(lambda slot: values[slot.group(1)], text)


# --- challenge -------------------------------------------------------------------------------------------------------


def question_prompt(*, language: str, question: str, options: Sequence[str], elements: str) -> str:
    """The challenge's question: the draft's question, its options if any, then the non-thinking requirement."""
    requirement = nonthinking_requirement(Language(language), elements.strip())
    listed = "\n".join(option.strip() for option in options if option.strip())
    return "\n\n".join(part for part in (question.strip(), listed, requirement) if part)


def answer_messages(*, document_text: str, prompt: str) -> list[Message]:
    """Document, four newlines and prompt as one user message; also for predictions and difficulty."""
    return [{"role": "user", "content": model_input(document_text, prompt)}]
