"""The two standardized prompts and every check that must hold before they are complete.

The prompts themselves are made in `prompts.py` and can all be reached from here. What is wrong with an output
requirement, with punctuation and with the example is found in modules of their own; here the findings are worded and
get their repairs.
"""

import re
from collections.abc import Iterator, Sequence

from benchmark.elements import HAN, holds_line_end
from benchmark.examples import check_example, check_example_differs
from benchmark.findings import Finding, Repair, Severity, error, errors, gettext_noop, hint
from benchmark.forms import Kind, classify
from benchmark.metrics import FULL_MARKS, IDENTIFIERS, Embedder, self_scores
from benchmark.prompts import (
    CONTEXT_GAP,
    FIXED,
    NotAPrompt,
    Parts,
    Segment,
    fixed_text,
    identifier,
    identifier_places,
    model_input,
    nonthinking_prompt,
    nonthinking_requirement,
    segments,
    split_prompt,
    thinking_prompt,
)
from benchmark.proposing import propose_example
from benchmark.punctuation import (
    full_width,
    half_width,
    loose_in_chinese,
    mixed_in_chinese,
    mixed_in_english,
    without_exempt,
)
from benchmark.requirements import ALIKE, ANY, SAID_TWICE, places, removal, requirements
from benchmark.taxonomy import Language, SecondaryTask, check_answer

__all__ = [
    "CONTEXT_GAP",
    "FIXED",
    "NotAPrompt",
    "Parts",
    "Segment",
    "check",
    "check_example",
    "check_example_differs",
    "check_parts",
    "classify",
    "fixed_text",
    "identifier",
    "identifier_places",
    "model_input",
    "nonthinking_prompt",
    "nonthinking_requirement",
    "segments",
    "split_prompt",
    "thinking_prompt",
]

TEXT_FIELDS = ("task_description", "elements", "supplementary")
ANY_IDENTIFIER = re.compile("|".join(map(re.escape, IDENTIFIERS)))
LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
CHINESE = re.compile(f"[{HAN}]")
END_MARK = re.compile(r"[.?!:;…。？！：；”’\"')）\]】》]\Z")
PHRASE_END = re.compile(r"[.,;:。，；：、]+\s*\Z")
TWO_SPACES = re.compile(r"(?<=\S)[ \u3000\u00a0]{2,}(?=\S)|[ \t\u3000\u00a0]+(?=\n)|(?<=\S)[\u3000\u00a0](?=\S)")
INVISIBLE = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u00ad]+")
# Repaired by another example, as a whole.
EXAMPLE_CHECKS = frozenset(
    {
        "example_missing", "example_empty_element", "example_line_break", "example_count", "example_is_answer",
        "example_scores_right", "example_form", "example_capitals",
    }
)  # fmt: skip
REMOVE = gettext_noop("Remove it")


def check(
    parts: Parts,
    *,
    task: SecondaryTask,
    answer: Sequence[str],
    document_language: Language,
    embedder: Embedder | None = None,
) -> list[Finding]:
    """Everything that must hold before a standardization is complete; no error among the findings means it may be.

    Fields are the names of `Parts`, and `answer`. Places are code points in the field as given, with the example's
    lines joined by LF. Without `embedder` no model is loaded: a summary's example is then compared by its words alone.
    """
    about_example = check_example(parts.example, task=task, language=parts.language, answer=answer, embedder=embedder)
    return [
        *_check_language(parts, document_language),
        *check_parts(parts, known=[*parts.example, *answer], answer=answer),
        *_with_proposal(about_example, parts, task, answer),
        *check_reference(task, language=parts.language, answer=answer, embedder=embedder),
    ]


def check_parts(parts: Parts, *, known: Sequence[str] = (), answer: Sequence[str] = ()) -> list[Finding]:
    """The checks that need no task. `known` elements are exempt from the rule on punctuation."""
    return [
        *_check_filled(parts),
        *_check_written_language(parts),
        *_check_output_requirement(parts),
        *_check_identifier(parts),
        *_check_punctuation(parts, known, answer),
        *_check_ends(parts),
        *_check_white_space(parts),
    ]


def check_reference(
    task: SecondaryTask, *, language: Language, answer: Sequence[str], embedder: Embedder | None = None
) -> list[Finding]:
    """The task's answer rule, no identifier in an element, and full marks against itself in both forms of a reply."""
    found = check_answer(task, answer)
    for place, element in enumerate(answer, 1):
        if ANY_IDENTIFIER.search(element):
            template = gettext_noop("Element %(position)s of the answer contains the answer identifier.")
            found.append(error("identifier", "answer", template, position=place))
    scores = self_scores(task, language=language, answer=answer, embedder=embedder) if answer else None
    if scores is not None and min(scores) < FULL_MARKS:
        template = gettext_noop("The answer does not score 1.0 against itself by %(metric)s.")
        found.append(error("answer_scores_itself", "answer", template, metric=task.metric.value))
    return found


def _with_proposal(found: list[Finding], parts: Parts, task: SecondaryTask, answer: Sequence[str]) -> Iterator[Finding]:
    """Another example of the right form replaces one that will not do."""
    proposed: tuple[str, ...] = ()
    if found and not errors(check_answer(task, answer)):
        context = "\n".join([parts.task_description, parts.supplementary])
        proposed = propose_example(
            task, language=parts.language, answer=answer, elements=parts.elements, context=context
        )
    for finding in found:
        if proposed and finding.check in EXAMPLE_CHECKS:
            template = gettext_noop("Put in a made-up example")
            whole = len("\n".join(parts.example))
            finding = finding.with_repair(Repair(template, "example", 0, whole, "\n".join(proposed)))
        yield finding


# Text -------------------------------------------------------------------------------------------------------------


def _check_language(parts: Parts, document_language: Language) -> Iterator[Finding]:
    if parts.language != document_language:
        in_english = gettext_noop("The prompt is in English, but the document is in Chinese.")
        in_chinese = gettext_noop("The prompt is in Chinese, but the document is in English.")
        yield error("language", "language", in_english if parts.language == Language.ENGLISH else in_chinese)


def _check_filled(parts: Parts) -> Iterator[Finding]:
    if not parts.task_description.strip():
        yield error("empty", "task_description", gettext_noop("The task description is empty."))
    phrase = parts.elements
    if not phrase.strip():
        yield error("empty", "elements", gettext_noop("The phrase that says what to output is empty."))
    elif holds_line_end(phrase.strip()):
        template = gettext_noop("The phrase that says what to output must be a single line.")
        joint = " " if parts.language == Language.ENGLISH else ""
        one_line = joint.join(filter(None, (line.strip() for line in phrase.splitlines())))
        repair = Repair(gettext_noop("Join the lines"), "elements", 0, len(phrase), one_line)
        yield error("line_break", "elements", template, repair=repair)


def _check_written_language(parts: Parts) -> Iterator[Finding]:
    """The typed text is in the prompt's language; what is quoted does not count."""
    for name in ("task_description", "elements"):
        text = without_exempt(getattr(parts, name), english=parts.language == Language.ENGLISH)
        latin, chinese = len(LATIN.findall(text)), len(CHINESE.findall(text))
        if parts.language == Language.ENGLISH and chinese > latin:
            yield error("written_language", name, gettext_noop("This text must be written in English."))
        if parts.language == Language.CHINESE and latin > 0 and chinese == 0:
            yield error("written_language", name, gettext_noop("This text must be written in Chinese."))


def _check_output_requirement(parts: Parts) -> Iterator[Finding]:
    """An error where the template's own sentence follows; only a hint in a text to work on, which may hold anything."""
    text, english = parts.task_description, parts.language == Language.ENGLISH
    for place in requirements(text, english=english):
        template = gettext_noop("The description sets an output requirement (“%(found)s”); the template adds it.")
        change = removal(text, place)
        repair = Repair(REMOVE, "task_description", *change) if change else None
        yield error(
            "output_requirement",
            "task_description",
            template,
            start=place.start,
            end=place.end,
            repair=repair,
            found=place.text,
        )
    for place in places(parts.elements, SAID_TWICE):
        template = gettext_noop("“%(found)s” is said by the template around this phrase.")
        start = len(parts.elements[: place.start].rstrip(" ,，"))
        repair = Repair(REMOVE, "elements", start, place.end, "")
        yield error(
            "output_requirement",
            "elements",
            template,
            start=place.start,
            end=place.end,
            repair=repair,
            found=place.text,
        )
    for place in places(parts.supplementary, ANY):
        template = gettext_noop("“%(found)s” reads like an output requirement; the template adds it.")
        yield hint("output_requirement", "supplementary", template, start=place.start, end=place.end, found=place.text)


def _check_identifier(parts: Parts) -> Iterator[Finding]:
    for name, text in _all_texts(parts):
        found = [match.span() for match in ANY_IDENTIFIER.finditer(text)]
        for start, end in found:
            template = gettext_noop("The identifier %(identifier)s may stand only where the template puts it.")
            repair = _taken_out(name, text, start, end)
            yield error("identifier", name, template, start=start, end=end, repair=repair, identifier=text[start:end])
        if name == "task_description":  # what is found there as an output requirement is not said twice
            english = parts.language == Language.ENGLISH
            found += [(place.start, place.end) for place in requirements(text, english=english)]
        for place in places(text, ALIKE):
            if any(start <= place.start and place.end <= end for start, end in found):
                continue
            template = gettext_noop("“%(found)s” reads like the answer identifier, which only the template puts in.")
            severity = Severity.HINT if name == "supplementary" else Severity.ERROR
            repair = _taken_out(name, text, place.start, place.end)
            params: dict[str, object] = {"found": place.text}
            yield Finding("identifier", severity, name, template, params, place.start, place.end, repair)


def _taken_out(name: str, text: str, start: int, end: int) -> Repair:
    """With the quotation marks right around it, and one of the spaces beside it."""
    if start and text[start - 1 : start] + text[end : end + 1] in ("“”", '""', "‘’", "''", "「」"):
        start, end = start - 1, end + 1
    if text[end : end + 1] == " " and (start == 0 or text[start - 1].isspace()):
        end += 1
    elif start and text[start - 1] == " " and (end == len(text) or not text[end].isalnum()):
        start -= 1
    return Repair(REMOVE, name, start, end, "")


def _check_punctuation(parts: Parts, known: Sequence[str], answer: Sequence[str]) -> Iterator[Finding]:
    exempt = [element.strip() for element in known if _is_identifier(element)]
    english = parts.language == Language.ENGLISH
    in_answer = {mark for element in answer for mark in _mixed_marks(element, english)}
    for name, text in _all_texts(parts):
        severity = Severity.HINT if name == "supplementary" else Severity.ERROR
        before, after = _beside(parts, name)
        body = before + text.strip() + after
        shift = len(text) - len(text.lstrip()) - len(before)
        if english:
            found = [(start, end, severity) for start, end in mixed_in_english(body, identifiers=exempt)]
        else:
            found = [(start, end, severity) for start, end in mixed_in_chinese(body, identifiers=exempt)]
            found += [(start, end, Severity.HINT) for start, end in loose_in_chinese(body, identifiers=exempt)]
        for start, end, weight in sorted(found):
            at = (start + shift, end + shift)
            if 0 <= at[0] < at[1] <= len(text) and not (name == "example" and text[slice(*at)] in in_answer):
                yield _mixed(name, text, *at, weight, english)


def _mixed(name: str, text: str, start: int, end: int, severity: Severity, english: bool) -> Finding:
    if english:
        template = gettext_noop("Full-width “%(mark)s” in English text.")
        swap = half_width(text, start, end)
    else:
        template = gettext_noop("Half-width “%(mark)s” between Chinese characters.")
        swap = full_width(text, start, end)
    mark = text[start:end].strip()
    wording = gettext_noop("Replace with “%(mark)s”")
    repair = Repair(wording, name, swap.start, swap.end, swap.text, {"mark": swap.text.strip()})
    return Finding("punctuation", severity, name, template, {"mark": mark}, start, start + len(mark), repair)


def _beside(parts: Parts, name: str) -> tuple[str, str]:
    """The fixed characters that stand right beside a part in the prompts."""
    fixed = fixed_text(parts.language)
    before, after = fixed.requirement(thinking=False)
    if name == "task_description":
        return "", (fixed.joint + before)[:1]
    return (before[-1:], after[:1]) if name == "elements" else ("", "")


def _mixed_marks(element: str, english: bool) -> Iterator[str]:
    for start, end in mixed_in_english(element) if english else mixed_in_chinese(element):
        yield element[start:end]


def _check_ends(parts: Parts) -> Iterator[Finding]:
    """A description ends as a sentence does, because one follows; the phrase does not, because its sentence goes on."""
    text = parts.task_description.rstrip()
    if text and not END_MARK.search(text):
        mark = "." if parts.language == Language.ENGLISH else "。"
        template = gettext_noop("The output requirement follows directly: end the description with a full stop or “?”.")
        wording = gettext_noop("Add “%(mark)s”")
        repair = Repair(wording, "task_description", len(text), len(text), mark, {"mark": mark})
        yield hint("end_mark", "task_description", template, start=len(text) - 1, end=len(text), repair=repair)
    if match := PHRASE_END.search(parts.elements):
        template = gettext_noop("The sentence goes on after this phrase, so it ends without a mark.")
        repair = Repair(REMOVE, "elements", match.start(), match.end(), "")
        yield hint("end_mark", "elements", template, start=match.start(), end=match.end(), repair=repair)


def _check_white_space(parts: Parts) -> Iterator[Finding]:
    """What the template cuts off, and what nobody sees."""
    for name, text in _all_texts(parts):
        if not text.strip():
            continue
        if name != "example" and text != text.strip():
            template = gettext_noop("White space stands around this text; the prompts leave it out.")
            repair = Repair(gettext_noop("Trim it"), name, 0, len(text), text.strip())
            yield hint("white_space", name, template, repair=repair)
        for match in TWO_SPACES.finditer(text) if name in ("task_description", "elements") else ():
            template = gettext_noop("More white space than one space.")
            one = "" if text[match.end() : match.end() + 1] == "\n" else " "
            repair = Repair(gettext_noop("Put one space"), name, match.start(), match.end(), one)
            yield hint("white_space", name, template, start=match.start(), end=match.end(), repair=repair)
        for match in INVISIBLE.finditer(text):
            template = gettext_noop("Invisible characters (%(codes)s).")
            codes = " ".join(f"U+{ord(mark):04X}" for mark in match[0])
            repair = Repair(REMOVE, name, match.start(), match.end(), "")
            yield hint("invisible", name, template, start=match.start(), end=match.end(), repair=repair, codes=codes)


def _texts(parts: Parts) -> list[tuple[str, str]]:
    return [(name, getattr(parts, name)) for name in TEXT_FIELDS]


def _all_texts(parts: Parts) -> list[tuple[str, str]]:
    return [*_texts(parts), ("example", "\n".join(parts.example))]


def _is_identifier(element: str) -> bool:
    return classify(element).kind in (Kind.IDENTIFIER, Kind.NUMBER, Kind.PERCENTAGE, Kind.DATE)
