"""Reading a drafting reply: three drafts, each read by itself."""

from typing import Any

from benchmark.taxonomy import Language, SecondaryTask, secondary_task
from generation.prompts import DRAFTS_PER_CALL, clean_text
from generation.replies.faults import FINAL_FAULTS, Fault, FaultClass, Outcome
from generation.replies.finding import one_object
from generation.replies.parts import LONGEST, FaultyError, as_text, listed, part, string, strings
from generation.replies.rules import LABELLED, check_language, check_rules
from generation.replies.shapes import DraftReading, DraftText, SolutionStep
from generation.replies.usable import refusal, unusable

MOST_DRAFTS_KEPT = 6


def read_drafts(
    *, content: object, finish_reason: str | None, reasoning: str | None, language: str, task: str
) -> DraftReading:
    """Read a drafting reply. `task` is a secondary task's code or name."""
    no_answer = unusable(content, finish_reason, reasoning)
    if no_answer is not None:
        return DraftReading((), (no_answer,), Outcome.FAILED)
    text = clean_text(str(content))
    found, fault = one_object(text)
    if fault is not None or found is None:
        fault = refusal(text) or fault or Fault(FaultClass.NOT_JSON, "there is no JSON object in the reply")
        outcome = Outcome.FAILED if fault.kind in FINAL_FAULTS else Outcome.REPAIRABLE
        return DraftReading((), (fault,), outcome, cleaned=text != content)
    drafts, faults = _read_all(found, Language(language), secondary_task(task))
    return DraftReading(drafts, faults, _outcome(drafts, faults), cleaned=text != content)


def _outcome(drafts: tuple[DraftText, ...], faults: tuple[Fault, ...]) -> Outcome:
    if not drafts:
        return Outcome.REPAIRABLE
    return Outcome.PARTIAL if faults or len(drafts) != DRAFTS_PER_CALL else Outcome.SUCCEEDED


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
                raise FaultyError(FaultClass.RULE_BROKEN, "the same question stands in an earlier draft")
            drafts.append(draft)
        except FaultyError as faulty:
            faults.append(Fault(faulty.kind, faulty.detail, position))
    return tuple(drafts), tuple(faults)


def _same(draft: DraftText, other: DraftText) -> bool:
    def squeezed(one: DraftText) -> str:
        return "".join("".join((one.question, *one.options)).lower().split())

    return squeezed(draft) == squeezed(other)


def _read_one(entry: object, position: int, language: Language, task: SecondaryTask) -> DraftText:
    if not isinstance(entry, dict):
        raise FaultyError(FaultClass.WRONG_TYPE, "the draft is not an object")
    draft = DraftText(
        question=string(entry, "question"),
        elements=" ".join(string(entry, "elements").split()),
        options=_options(entry, task),
        answer=strings(entry, "answer", "answer"),
        rationale=string(entry, "rationale"),
        solution=_solution(entry),
        position=position,
    )
    check_rules(draft, language, task)
    check_language(draft, language)
    return draft


def _options(entry: dict[str, Any], task: SecondaryTask) -> tuple[str, ...]:
    """The options as given; those of a multiple choice get their letters when the model left all of them out."""
    value = entry.get("options")
    if value is None or value == []:
        return ()
    texts = tuple(as_text(one, "an option", LONGEST["option"]) for one in listed(value, "options"))
    if not task.multiple_choice or any(LABELLED.match(text) for text in texts) or len(texts) > 26:
        return texts
    return tuple(f"{chr(65 + place)}. {text}" for place, text in enumerate(texts))


def _solution(entry: dict[str, Any]) -> tuple[SolutionStep, ...]:
    steps = []
    for value in listed(part(entry, "solution"), "solution"):
        if not isinstance(value, dict):
            raise FaultyError(FaultClass.WRONG_TYPE, "a step of the solution is not an object")
        quote = value.get("quote")
        steps.append(
            SolutionStep(
                step=as_text(part(value, "step"), "a step", LONGEST["step"]),
                quote=as_text("" if quote is None else quote, "a quote", LONGEST["step"], may_be_blank=True),
            )
        )
    if not steps:
        raise FaultyError(FaultClass.MISSING_PART, "solution is empty")
    return tuple(steps)
