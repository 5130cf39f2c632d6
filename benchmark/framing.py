"""The two standardized prompts and every check that must hold before they are complete.

The prompts themselves are made in `prompts.py` and can all be reached from here.
"""

import re
from collections.abc import Iterator, Sequence

from benchmark.elements import HAN, comparable, holds_line_end
from benchmark.findings import Finding, Severity, error, gettext_noop
from benchmark.forms import Form, Kind, classify
from benchmark.metrics import IDENTIFIERS, Embedder, as_reply, is_right, score, scores_itself
from benchmark.metrics.summary import best_rouge_l
from benchmark.prompts import (
    CONTEXT_GAP,
    FIXED,
    NotAPrompt,
    Parts,
    Segment,
    fixed_text,
    identifier,
    model_input,
    nonthinking_prompt,
    nonthinking_requirement,
    segments,
    split_prompt,
    thinking_prompt,
)
from benchmark.punctuation import mixed_in_chinese, mixed_in_english, without_exempt
from benchmark.taxonomy import Language, Metric, SecondaryTask, check_answer

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
    "model_input",
    "nonthinking_prompt",
    "nonthinking_requirement",
    "segments",
    "split_prompt",
    "thinking_prompt",
]

TEXT_FIELDS = ("task_description", "elements", "supplementary")

# Wording by which a description would set an output form of its own, beside or against the fixed requirement.
GIVE = "list|output|write|give|put|print|name"
OUTPUT_REQUIREMENTS = (
    r"\bline by line\b",
    r"\bone per line\b",
    rf"\b(?:{GIVE})\b[^.!?\n]{{0,60}}\b(?:one|each)\b[^.!?\n]{{0,20}}\b(?:per|a|own|separate|new) line\b",
    rf"\b(?:{GIVE})\b[^.!?\n]{{0,60}}\bon separate lines\b",
    r"\bwithout (?:any )?(?:additional|extra|other|further) (?:content|text|words?|explanations?)\b",
    r"\bdo not output\b",
    r"\bdo not (?:include|add|write|give) any(?:thing else\b| additional\b| extra\b| explanations?\b)",
    r"\b(?:output|respond|reply|answer) (?:with )?only\b",
    r"\bonly (?:output|respond|reply)\b",
    r"(?:^|[.!?;:]\s+|\n\s*|\b(?:please|then|first|finally|must|should) )output (?!of\b|is\b|are\b|was\b|were\b)",
    r"\boutput (?:the |your )?(?:final )?answers?\b",
    r"\boutput (?:example|format|requirements?)\b",
    r"\b(?:your|the) (?:answer|output|response|reply) (?:should|must) (?:be|only|contain|have)\b",
    r"\bthink step by step\b",
    r"\byour thinking process\b",
    r"\[ ?answer ?\]",
    r"逐行(?:输出|列出|写出|给出|作答|回答)",
    r"每行(?:只|仅)?(?:输出|写|列出|给出)",
    r"(?:输出|写出|列出|给出)[^。！？\n]{0,12}每行(?:一|1)",
    r"(?:不要|不得|无需|请勿|勿)输出",
    r"(?:不要|不得|无需|请勿|勿)(?:添加|附加|给出)[^。！？\n]{0,3}(?:其他|其它|任何|额外|多余|解释)",
    r"(?:只|仅|请)(?:直接|依次|按顺序)?输出",
    r"(?:^|[。！？；：，]\s*|\n\s*)输出(?!的|了|是|为)",
    r"输出(?:示例|格式|要求|答案)",
    r"(?:回答|作答|答案)的?格式",
    r"一步(?:一步|步)(?:地)?(?:思考|推理)",
    r"[\[【\uff3b]\s?答案\s?[\]】\uff3d]",
)
ANY_REQUIREMENT = re.compile("|".join(OUTPUT_REQUIREMENTS), re.IGNORECASE)
ANY_IDENTIFIER = re.compile("|".join(map(re.escape, IDENTIFIERS)))
LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
CHINESE = re.compile(f"[{HAN}]")

# Without an embedding model a summary's similarity is unknown; at this overlap of words alone it is a copy.
COPIED_SUMMARY = 0.65
# "No Error" may stand for a list of identifiers here, so that answer and example can differ in form.
PHRASE_FOR_NONE = "T8.1"


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
    return [
        *_check_language(parts, document_language),
        *check_parts(parts, known=[*parts.example, *answer]),
        *check_example(parts.example, task=task, language=parts.language, answer=answer, embedder=embedder),
        *check_reference(task, language=parts.language, answer=answer, embedder=embedder),
    ]


def check_parts(parts: Parts, *, known: Sequence[str] = ()) -> list[Finding]:
    """The checks that need neither task nor answer. `known` elements are exempt from the rule on punctuation."""
    return [
        *_check_filled(parts),
        *_check_written_language(parts),
        *_check_output_requirement(parts),
        *_check_identifier(parts),
        *_check_punctuation(parts, known),
    ]


def check_reference(
    task: SecondaryTask, *, language: Language, answer: Sequence[str], embedder: Embedder | None = None
) -> list[Finding]:
    """The task's answer rule, no identifier in an element, and full marks against itself."""
    found = check_answer(task, answer)
    for place, element in enumerate(answer, 1):
        if ANY_IDENTIFIER.search(element):
            template = gettext_noop("Element %(position)s of the answer contains the answer identifier.")
            found.append(error("identifier", "answer", template, position=place))
    if answer and not scores_itself(task, language=language, answer=answer, embedder=embedder):
        template = gettext_noop("The answer does not score 1.0 against itself by %(metric)s.")
        found.append(error("answer_scores_itself", "answer", template, metric=task.metric.value))
    return found


# Text -------------------------------------------------------------------------------------------------------------


def _check_language(parts: Parts, document_language: Language) -> Iterator[Finding]:
    if parts.language != document_language:
        in_english = gettext_noop("The prompt is in English, but the document is in Chinese.")
        in_chinese = gettext_noop("The prompt is in Chinese, but the document is in English.")
        yield error("language", "language", in_english if parts.language == Language.ENGLISH else in_chinese)


def _check_filled(parts: Parts) -> Iterator[Finding]:
    if not parts.task_description.strip():
        yield error("empty", "task_description", gettext_noop("The task description is empty."))
    if not parts.elements.strip():
        yield error("empty", "elements", gettext_noop("The phrase that says what to output is empty."))
    elif holds_line_end(parts.elements.strip()):
        template = gettext_noop("The phrase that says what to output must be a single line.")
        yield error("line_break", "elements", template)


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
    for match in ANY_REQUIREMENT.finditer(parts.task_description):
        template = gettext_noop("The description sets an output requirement (“%(found)s”); the template adds it.")
        start, end = match.span()
        yield error("output_requirement", "task_description", template, start=start, end=end, found=match[0])


def _check_identifier(parts: Parts) -> Iterator[Finding]:
    for name, text in [*_texts(parts), ("example", "\n".join(parts.example))]:
        for match in ANY_IDENTIFIER.finditer(text):
            template = gettext_noop("The identifier %(identifier)s may stand only where the template puts it.")
            yield error("identifier", name, template, start=match.start(), end=match.end(), identifier=match[0])


def _check_punctuation(parts: Parts, known: Sequence[str]) -> Iterator[Finding]:
    exempt = [element.strip() for element in known if _is_identifier(element)]
    for name, text in [*_texts(parts), ("example", "\n".join(parts.example))]:
        severity = Severity.HINT if name == "supplementary" else Severity.ERROR
        if parts.language == Language.ENGLISH:
            places = mixed_in_english(text, identifiers=exempt)
            template = gettext_noop("Full-width “%(mark)s” in English text.")
        else:
            places = mixed_in_chinese(text, identifiers=exempt)
            template = gettext_noop("Half-width “%(mark)s” between Chinese characters.")
        for start, end in places:
            yield Finding("punctuation", severity, name, template, {"mark": text[start:end]}, start, end)


def _texts(parts: Parts) -> list[tuple[str, str]]:
    return [(name, getattr(parts, name)) for name in TEXT_FIELDS]


def _is_identifier(element: str) -> bool:
    return classify(element).kind in (Kind.IDENTIFIER, Kind.NUMBER, Kind.PERCENTAGE, Kind.DATE)


# Example ----------------------------------------------------------------------------------------------------------


def check_example(
    example: Sequence[str],
    *,
    task: SecondaryTask,
    language: Language,
    answer: Sequence[str],
    embedder: Embedder | None = None,
) -> list[Finding]:
    """The example is there, is not the answer, and has its form."""
    found = list(_check_example_lines(example, task))
    if found:
        return found
    return [
        *check_example_differs(example, task=task, language=language, answer=answer, embedder=embedder),
        *_check_example_form(example, task, answer),
    ]


def _check_example_lines(example: Sequence[str], task: SecondaryTask) -> Iterator[Finding]:
    if not example:
        yield error("example_missing", "example", gettext_noop("The output example is empty."))
    for place, element in enumerate(example, 1):
        if not element.strip():
            template = gettext_noop("Element %(position)s of the example is empty.")
            yield error("example_empty_element", "example", template, position=place)
        elif holds_line_end(element.strip()):
            template = gettext_noop("Element %(position)s of the example contains a line break.")
            yield error("example_line_break", "example", template, position=place)
    most = 1 if task.metric is Metric.SUMMARY else task.max_elements
    if most is not None and len(example) > most:
        template = gettext_noop("The example of this task has at most %(expected)s element(s); %(count)s given.")
        yield error("example_count", "example", template, expected=most, count=len(example))


def check_example_differs(
    example: Sequence[str],
    *,
    task: SecondaryTask,
    language: Language,
    answer: Sequence[str],
    embedder: Embedder | None = None,
) -> Iterator[Finding]:
    """The example would not be right as an answer; where elements stand alone, none of them is one of the answer's.

    The options of an ordering and option letters may recur, in another order or with another letter.
    """
    if task.metric in (Metric.NDCG, Metric.F1, Metric.SUBEM):
        places = {comparable(element): place for place, element in enumerate(answer, 1)}
        for place, element in enumerate(example, 1):
            if same := places.get(comparable(element)):
                template = gettext_noop("Element %(position)s of the example is element %(same)s of the answer.")
                yield error("example_is_answer", "example", template, position=place, same=same)
    if answer and _reads_as_right(example, task, language, answer, embedder):
        template = gettext_noop("The example, read as an answer, would be right.")
        yield error("example_scores_right", "example", template)


def _reads_as_right(
    example: Sequence[str], task: SecondaryTask, language: Language, answer: Sequence[str], embedder: Embedder | None
) -> bool:
    if task.metric is Metric.SUMMARY and embedder is None:
        references = [text for text in map(comparable, answer) if text]
        given = comparable(" ".join(example))
        return bool(references) and best_rouge_l(given, references, language=language) > COPIED_SUMMARY
    reply = as_reply(language, example)
    return is_right(task, score(task, language=language, answer=answer, prediction=reply, embedder=embedder))


def _check_example_form(example: Sequence[str], task: SecondaryTask, answer: Sequence[str]) -> Iterator[Finding]:
    """Each element of the example has a form that the answer has too. Order and number of elements may differ."""
    wanted = {_form(element, task): element for element in reversed(answer) if element.strip()}
    given = [_form(element, task) for element in example]
    if not wanted or (task.code == PHRASE_FOR_NONE and (_is_phrase(list(wanted)) or _is_phrase(given))):
        return
    for place, form in enumerate(given, 1):
        if form not in wanted:
            template = gettext_noop(
                "Element %(position)s of the example (“%(given)s”) has another form than the answer (“%(expected)s”)."
            )
            expected = " / ".join(reversed(wanted.values()))
            yield error(
                "example_form", "example", template, position=place, given=example[place - 1], expected=expected
            )


def _form(element: str, task: SecondaryTask) -> Form:
    if task.metric is Metric.SUMMARY:
        return Form(Kind.SUMMARY)
    return classify(element, multiple_choice=task.multiple_choice)


def _is_phrase(forms: list[Form]) -> bool:
    return len(forms) == 1 and forms[0].kind is Kind.PHRASE
