"""The exported record: eleven fields, in the order that readers of the finished file expect."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import orjson

from benchmark.difficulty import Difficulty
from benchmark.findings import Finding, error, gettext_noop
from benchmark.framing import check_example_differs, check_reference
from benchmark.lengths import DEFAULT_LENGTHS, Lengths
from benchmark.metrics import IDENTIFIERS, Embedder
from benchmark.prompts import NotAPrompt, Parts, nonthinking_prompt, split_prompt, thinking_prompt
from benchmark.taxonomy import (
    PRIMARY_TASKS,
    SECONDARY_TASKS,
    ContextRequirement,
    Language,
    SecondaryTask,
)

__all__ = ["FIELDS", "Record", "check_record", "from_object", "split_prompt", "to_json_line"]


@dataclass(frozen=True)
class Record:
    """One sample as it is published. `secondary_task` and `primary_task` are names, not codes."""

    id: str
    context: str
    language: str
    token_length: str
    primary_task: str
    secondary_task: str
    contextual_requirement: str
    question_nonthinking: str
    question_thinking: str
    answer: tuple[str, ...]
    difficulty: str


FIELDS: tuple[str, ...] = tuple(field.name for field in fields(Record))
TEXTS = tuple(name for name in FIELDS if name != "answer")


def to_json_line(record: Record) -> bytes:
    """The record as one JSON object on one line, UTF-8, fields in order, without a line end.

    Raises UnicodeEncodeError for a lone surrogate, which no UTF-8 file can hold.
    """
    return b"{" + b", ".join(_member(name, getattr(record, name)) for name in FIELDS) + b"}"


def _member(name: str, value: str | Sequence[str]) -> bytes:
    written = _string(value) if isinstance(value, str) else b"[" + b", ".join(map(_string, value)) + b"]"
    return b'"%s": %s' % (name.encode(), written)


def _string(text: str) -> bytes:
    """As `json.dumps(text, ensure_ascii=False)` writes it, in a tenth of the time."""
    try:
        return orjson.dumps(text)
    except orjson.JSONEncodeError:
        text.encode("utf-8")
        raise


def from_object(row: object) -> Record:
    """A record from a parsed JSON object. ValueError when a field is missing, unknown or of another type."""
    if not isinstance(row, dict):
        raise ValueError("A record is a JSON object.")
    if list(row) != list(FIELDS):
        missing = [name for name in FIELDS if name not in row]
        unknown = [str(name) for name in row if name not in FIELDS]
        raise ValueError(f"Fields differ or stand in another order (missing: {missing}, unknown: {unknown}).")
    for name in TEXTS:
        if not isinstance(row[name], str):
            raise ValueError(f"{name} is not a string.")
    answer = row["answer"]
    if not isinstance(answer, list) or not all(isinstance(element, str) for element in answer):
        raise ValueError("answer is not an array of strings.")
    return Record(**{**row, "answer": tuple(answer)})


def check_record(
    record: Record,
    *,
    parts: Parts | None = None,
    tokens: int | None = None,
    lengths: Lengths = DEFAULT_LENGTHS,
    embedder: Embedder | None = None,
) -> list[Finding]:
    """Whether one record may be published; fields in the findings are the record's.

    Needs nothing but the record. With `parts` (what the annotator typed) the prompts must be those of these parts;
    with `tokens` (the context's count) the bucket must be that of `lengths`. `embedder` as for `framing.check`.
    """
    found = [*_check_filled(record), *_check_listed(record, lengths), *_check_bucket(record, tokens, lengths)]
    task = next((task for task in SECONDARY_TASKS if task.name == record.secondary_task), None)
    if task is not None:
        found += _check_task(record, task)
    if record.language not in list(Language):
        return found
    language = Language(record.language)
    read, faults = _read_prompts(record, language, parts)
    found += faults
    if task is not None:
        found += check_reference(task, language=language, answer=record.answer, embedder=embedder)
        if read is not None:
            found += _check_example(record, read, task, language, embedder)
    return found


def _check_filled(record: Record) -> Iterator[Finding]:
    for name in ("id", "context"):
        if not getattr(record, name).strip():
            yield error("empty", name, gettext_noop("The field %(name)s is empty."), name=name)


def _check_listed(record: Record, lengths: Lengths) -> Iterator[Finding]:
    listed: dict[str, Sequence[str]] = {
        "language": list(Language),
        "token_length": lengths.names(),
        "primary_task": [task.name for task in PRIMARY_TASKS],
        "secondary_task": [task.name for task in SECONDARY_TASKS],
        "contextual_requirement": list(ContextRequirement),
        "difficulty": list(Difficulty),
    }
    for name, values in listed.items():
        if getattr(record, name) not in values:
            template = gettext_noop("“%(value)s” is not a value of %(name)s.")
            yield error("listed_value", name, template, value=getattr(record, name), name=name)


def _check_bucket(record: Record, tokens: int | None, lengths: Lengths) -> Iterator[Finding]:
    if tokens is not None and lengths.bucket_of(tokens) != record.token_length:
        template = gettext_noop("A context of %(tokens)s tokens is not in bucket %(bucket)s.")
        yield error("bucket", "token_length", template, tokens=tokens, bucket=record.token_length)


def _check_task(record: Record, task: SecondaryTask) -> Iterator[Finding]:
    if record.primary_task != task.primary.name:
        template = gettext_noop("%(secondary)s belongs to %(primary)s.")
        yield error("primary_task", "primary_task", template, secondary=task.name, primary=task.primary.name)
    if record.contextual_requirement != task.context_requirement.value:
        template = gettext_noop("%(secondary)s has the context requirement %(requirement)s.")
        requirement = task.context_requirement.value
        name = "contextual_requirement"
        yield error(name, name, template, secondary=task.name, requirement=requirement)


def _read_prompts(record: Record, language: Language, parts: Parts | None) -> tuple[Parts | None, list[Finding]]:
    """The parts that the record's prompts share, or None where they cannot be read or differ."""
    read: list[Parts] = []
    found: list[Finding] = []
    for name, thinking in (("question_nonthinking", False), ("question_thinking", True)):
        try:
            read.append(split_prompt(language, getattr(record, name), thinking))
        except NotAPrompt as fault:
            found.append(error("fixed_text", name, fault.args[0]))
    if len(read) < 2:
        return None, found
    if read[0] != read[1]:
        template = gettext_noop("The two prompts are not made of the same parts.")
        return None, [*found, error("prompts_differ", "question_thinking", template)]
    found += _check_read_parts(read[0])
    if parts is not None:
        found += _check_given_parts(record, parts)
    return read[0], found


def _check_read_parts(read: Parts) -> Iterator[Finding]:
    if not read.task_description:
        yield error("empty", "question_nonthinking", gettext_noop("The task description is empty."))
    if not read.elements:
        yield error("empty", "question_nonthinking", gettext_noop("The phrase that says what to output is empty."))
    if _holds_identifier(read):
        template = gettext_noop("The answer identifier stands in a part of the prompt.")
        yield error("identifier", "question_nonthinking", template)


def _check_given_parts(record: Record, parts: Parts) -> Iterator[Finding]:
    made = {"question_nonthinking": nonthinking_prompt(parts), "question_thinking": thinking_prompt(parts)}
    for name, prompt in made.items():
        if getattr(record, name) != prompt:
            template = gettext_noop("The prompt is not the one that the parts make.")
            yield error("parts_differ", name, template)


def _check_example(
    record: Record, read: Parts, task: SecondaryTask, language: Language, embedder: Embedder | None
) -> Iterator[Finding]:
    """The example's findings under the name of a field that the record has."""
    found = check_example_differs(read.example, task=task, language=language, answer=record.answer, embedder=embedder)
    for finding in found:
        yield Finding(finding.check, finding.severity, "question_nonthinking", finding.template, finding.params)


def _holds_identifier(parts: Parts) -> bool:
    texts = [parts.task_description, parts.elements, parts.supplementary, *parts.example]
    return any(mark in text for mark in IDENTIFIERS for text in texts)
