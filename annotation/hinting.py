"""What looks wrong with a question and its answer while somebody edits them: hints with a reason, never a refusal.

The task's answer rule itself is `benchmark.taxonomy.check_answer`; here is what it leaves open, so that a person
sees it before the expert, the standardization or a score does. Pure functions: places count from 1, nothing is loaded.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.occurring import Occurrence
from benchmark.elements import HAN, comparable, holds_line_end
from benchmark.findings import Finding, Severity, gettext_noop
from benchmark.forms import Kind, classify
from benchmark.framing import ANY_IDENTIFIER
from benchmark.punctuation import mixed_in_chinese, mixed_in_english, without_exempt
from benchmark.taxonomy import CLASS_SHARE, CLUSTERING, Language, Metric, SecondaryTask, check_answer

LEAST_OPTIONS = 4
# An element of an answer is short; only summaries are long.
LONGEST_ELEMENT = 200
# Their elements are named in the document: identifiers, titles, places, terms.
IN_DOCUMENT = frozenset(
    {"T1.1", "T1.2", "T2.1", "T2.2", "T5.1", "T5.2", "T6.2", "T6.3", "T7.1", "T7.2", "T7.3", "T8.1", "T9.1", "T9.2"}
)
# An element joins several names (two clauses, a model and its field): where it does not stand as a whole, its parts do.
JOINED = frozenset({"T7.1", "T9.2"})
# The question gives what the answer may consist of.
GIVEN_BY_QUESTION = frozenset({"T6.1", "T6.3"})
# One fixed phrase may stand for a list.
PHRASE_FOR_NONE = frozenset({"T8.1"})
ORDERED_OPTIONS = frozenset({"T2.2"})


@dataclass(frozen=True)
class Draft:
    """What is checked: the wording as typed."""

    question: str
    elements: str
    options: tuple[str, ...]
    answer: tuple[str, ...]


def hints_of(
    task: SecondaryTask, language: Language, draft: Draft, occurrences: Mapping[str, Occurrence] | None = None
) -> list[Finding]:
    """All hints, the answer's own rule first. `occurrences`: where the elements stand in the document, by element."""
    found = [_as_hint(finding) for finding in check_answer(task, draft.answer)]
    for check in CHECKS:
        found += check(task, language, draft)
    found += _absent(task, draft, occurrences or {})
    return found


Check = Callable[[SecondaryTask, Language, Draft], Iterator[Finding]]


def hint(check: str, field: str, template: str, **params: object) -> Finding:
    return Finding(check, Severity.HINT, field, template, params)


def _as_hint(finding: Finding) -> Finding:
    return hint(finding.check, finding.field, finding.template, **finding.params)


def _sound(lines: Sequence[str]) -> list[tuple[int, str]]:
    return [(place, text.strip()) for place, text in enumerate(lines, 1) if text.strip() and not holds_line_end(text)]


def _narrow(text: str) -> str:
    """Without regard to width, case and spacing."""
    return comparable(unicodedata.normalize("NFKC", text))


# Elements ----------------------------------------------------------------------------------------------------------

LIST_MARK = re.compile(r"(?:[-*•·‣]|\d{1,3}[.)、．]|[(（]\d{1,3}[)）])\s+\S")
LAST_MARK = re.compile(r"[,，;；、。]$")
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


def _width_duplicates(task: SecondaryTask, language: Language, draft: Draft) -> Iterator[Finding]:
    """Those that differ in case or spacing alone are errors of the answer rule already."""
    first: dict[str, tuple[int, str]] = {}
    for place, text in _sound(draft.answer):
        earlier, known = first.setdefault(_narrow(text), (place, text))
        if earlier != place and comparable(known) != comparable(text):
            template = gettext_noop(
                "Element %(position)s of the answer repeats element %(first)s in another width of its characters."
            )
            yield hint("duplicate_width", "answer", template, position=place, first=earlier)


def _form(task: SecondaryTask, language: Language, draft: Draft) -> Iterator[Finding]:
    """Numbers with the same decimals and unit, dates and identifiers of one pattern: scored as they are written."""
    if task.multiple_choice or task.metric is Metric.SUMMARY or task.code == CLUSTERING:
        return
    forms = [(place, text, classify(text)) for place, text in _sound(draft.answer)]
    strict = {Kind.NUMBER, Kind.PERCENTAGE, Kind.DATE, Kind.IDENTIFIER}
    counts = Counter(form for _place, _text, form in forms if form.kind in strict)
    if not counts or (task.code in PHRASE_FOR_NONE and len(forms) == 1):
        return
    usual, many = counts.most_common(1)[0]
    example = next(text for _place, text, form in forms if form == usual)
    for place, text, form in forms:
        if form != usual and (many * 2 > len(forms) or (form.kind is usual.kind and many * 2 >= len(forms))):
            template = gettext_noop(
                "Element %(position)s (“%(given)s”) is written in another form than the others (“%(expected)s”)."
            )
            yield hint("form", "answer", template, position=place, given=text, expected=example)


def _marks(task: SecondaryTask, language: Language, draft: Draft) -> Iterator[Finding]:
    for field, lines in (("answer", draft.answer), ("options", draft.options)):
        for place, text in _sound(lines):
            if INVISIBLE.search(text):
                template = gettext_noop("Line %(position)s holds an invisible character.")
                yield hint("invisible", field, template, position=place)
            if LIST_MARK.match(text):
                template = gettext_noop("Line %(position)s begins with the mark of a list, which would count.")
                yield hint("list_mark", field, template, position=place)
    if task.metric is Metric.SUMMARY:
        return
    for place, text in _sound(draft.answer):
        if LAST_MARK.search(text):
            template = gettext_noop("Element %(position)s ends with a punctuation mark, which would count.")
            yield hint("last_mark", "answer", template, position=place)
        if len(text) > LONGEST_ELEMENT:
            template = gettext_noop(
                "Element %(position)s has %(count)s characters. An element is a name, a figure or a short line."
            )
            yield hint("too_long", "answer", template, position=place, count=len(text))


def _identifiers(task: SecondaryTask, language: Language, draft: Draft) -> Iterator[Finding]:
    for place, text in _sound(draft.answer):
        if ANY_IDENTIFIER.search(text):
            template = gettext_noop("Element %(position)s of the answer contains the answer identifier.")
            yield hint("identifier", "answer", template, position=place)


# Options -----------------------------------------------------------------------------------------------------------

LABEL = re.compile(r"[(（]?(?P<letter>[A-Z])(?:[.)、．）:：]|\s)\s*(?=\S)")
IN_QUESTION = re.compile(r"(?:^|[\s;；。？?])[(（]?(?P<letter>[A-Z])[.)、．）:：]\s*(?=\S)", re.MULTILINE)
NAMED = re.compile(r"(?:\b[Oo]ptions?|选项)\s*[“\"'‘(（]?(?P<letter>[A-Z])(?![A-Za-z])")
LETTERS_OFFERED = re.compile(r"(?<![A-Za-z])[A-Z](?:\s*[/、／]\s*[A-Z])+(?![A-Za-z])")


def option_letters(draft: Draft) -> list[str]:
    """The letters an answer may name: of the options, else of those that the question itself lists."""
    if draft.options:
        return [_letter_of(text, place) for place, text in enumerate(draft.options)]
    listed = [match["letter"] for match in IN_QUESTION.finditer(draft.question)]
    return listed if len(listed) >= 2 and listed == [chr(65 + place) for place in range(len(listed))] else []


def without_letters(options: Sequence[str]) -> list[str]:
    """The options as the document may have them: where each begins with its letter, without it."""
    labels = [LABEL.match(option.strip()) for option in options]
    if not all(labels):
        return [option.strip() for option in options]
    return [option.strip()[label.end() :] for option, label in zip(options, labels, strict=True) if label]


def _letter_of(option: str, place: int) -> str:
    match = LABEL.match(option.strip())
    return match["letter"] if match else chr(65 + place % 26)


def _bare(option: str) -> str:
    match = LABEL.match(option.strip())
    return option.strip()[match.end() :] if match else option.strip()


def _options(task: SecondaryTask, language: Language, draft: Draft) -> Iterator[Finding]:
    letters = option_letters(draft)
    if task.multiple_choice and len(letters) < LEAST_OPTIONS:
        template = gettext_noop("A multiple-choice question has at least four options; %(count)s given.")
        yield hint("options_missing", "options", template, count=len(letters))
    labelled = [place for place, text in _sound(draft.options) if LABEL.match(text)]
    if labelled and len(labelled) != len(draft.options):
        template = gettext_noop("Some options begin with their letter and some do not.")
        yield hint("options_mixed", "options", template)
    elif labelled and letters != [chr(65 + place) for place in range(len(letters))]:
        template = gettext_noop("The letters of the options are not A, B, C … in this order.")
        yield hint("options_order", "options", template)
    first: dict[str, int] = {}
    for place, text in _sound(draft.options):
        earlier = first.setdefault(_narrow(_bare(text)), place)
        if earlier != place:
            template = gettext_noop("Option %(position)s says the same as option %(first)s.")
            yield hint("options_repeat", "options", template, position=place, first=earlier)


def _letters(task: SecondaryTask, language: Language, draft: Draft) -> Iterator[Finding]:
    """The answer's letters, and those that question and elements phrase name, are letters of options."""
    letters = option_letters(draft)
    if not letters:
        return
    answers_by_letter = task.multiple_choice or all(
        re.fullmatch(r"[A-Z]", text) for _place, text in _sound(draft.answer)
    )
    if answers_by_letter:
        for place, text in _sound(draft.answer):
            for letter in dict.fromkeys(re.findall(r"[A-Z]", text) if re.fullmatch(r"[A-Z]+", text) else ""):
                if letter not in letters:
                    template = gettext_noop("There is no option %(letter)s, which element %(position)s names.")
                    yield hint("letter_unknown", "answer", template, position=place, letter=letter)
    if answers_by_letter and task.code in ORDERED_OPTIONS:
        left = [letter for letter in letters if letter not in draft.answer]
        if left and draft.answer:
            template = gettext_noop("Every option stands in the answer once; these are missing: %(letters)s.")
            yield hint("letters_left", "answer", template, letters=", ".join(left))
    for letter in dict.fromkeys(match["letter"] for match in NAMED.finditer(draft.question)):
        if letter not in letters:
            template = gettext_noop("The question speaks of option %(letter)s, which does not exist.")
            yield hint("question_option", "question", template, letter=letter)
    offered = LETTERS_OFFERED.search(draft.elements)
    if offered and re.findall(r"[A-Z]", offered[0]) != letters:
        template = gettext_noop("What to output names the letters %(named)s; the options have %(letters)s.")
        yield hint("elements_letters", "elements", template, named=offered[0], letters="/".join(letters))


# What the question gives -------------------------------------------------------------------------------------------

CHOICES = re.compile(r"[(（](?P<choices>[^()（）/／]{1,40}(?:[/／][^()（）/／]{1,40})+)[)）]")
NONE_PHRASE = re.compile(r"(?:\bor|或|否则写)\s*[“\"'‘]?(?P<phrase>No [A-Z]\w+|None|N/A|无\w{0,6}|没有\w{0,6})[”\"'’]?")
LIMIT_WORDS = re.compile(
    r"(?:at most|no more than|not more than|within|under|up to|maximum of|(?:not )?exceed(?:ing)?|limit of|in)"
    r"\s+(?:about\s+)?(?P<count>\d{1,5})[\s-]+words?\b|(?P<other>\d{1,5})\s+words? (?:or (?:fewer|less)|at most)",
    re.IGNORECASE,
)
HAN_COUNT = r"\d{1,5})\s*个?汉?字"
LIMIT_HAN = re.compile(
    rf"(?:不超过|不得超过|不多于|至多|最多|限)\s*(?P<count>{HAN_COUNT}|(?P<other>{HAN_COUNT}(?:以内|之内|以下)"
)
LATIN_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
HAN_LETTER = re.compile(f"[{HAN}]")
LATIN_LETTER = re.compile(r"[A-Za-z\u00c0-\u024f]")


def _given(task: SecondaryTask, language: Language, draft: Draft) -> Iterator[Finding]:
    """Classes and terms that the question gives stand in it; a value that it offers is one of those offered."""
    offered = _narrow(" ".join([draft.question, draft.elements, *draft.options]))
    if task.code in GIVEN_BY_QUESTION and draft.question:
        for place, text in _sound(draft.answer):
            share = CLASS_SHARE.fullmatch(text)
            name = share["name"] if share else text
            if _narrow(name) not in offered:
                template = gettext_noop("The question does not name “%(name)s”, which element %(position)s gives.")
                yield hint("not_given", "answer", template, position=place, name=name)
    choices = _choices(draft.elements)
    if not choices or task.multiple_choice or task.metric is Metric.SUMMARY:
        return
    for place, text in _sound(draft.answer):
        if not any(_narrow(text) == choice or _narrow(text).endswith(f" {choice}") for choice in choices):
            template = gettext_noop("Element %(position)s is none of the values that are offered (%(choices)s).")
            yield hint("not_offered", "answer", template, position=place, choices=" / ".join(choices))


def _choices(elements: str) -> list[str]:
    match = CHOICES.search(elements)
    return [_narrow(choice) for choice in re.split(r"[/／]", match["choices"])] if match else []


def _none_phrase(task: SecondaryTask, language: Language, draft: Draft) -> Iterator[Finding]:
    match = NONE_PHRASE.search(f"{draft.elements} {draft.question}")
    if match is None or len(draft.answer) < 2:
        return
    for place, text in _sound(draft.answer):
        if _narrow(text) == _narrow(match["phrase"]):
            template = gettext_noop("“%(phrase)s” stands for an empty list, so it stands alone.")
            yield hint("none_among_others", "answer", template, position=place, phrase=text)


def length_limit(question: str, language: Language) -> int | None:
    """The words, or Chinese characters, that the question allows a summary."""
    match = (LIMIT_WORDS if language == Language.ENGLISH else LIMIT_HAN).search(question)
    return int(match["count"] or match["other"]) if match else None


def length_of(text: str, language: Language) -> int:
    """In words; in Chinese in characters, marks included, as a form counts them."""
    return len(LATIN_WORD.findall(text)) if language == Language.ENGLISH else len("".join(text.split()))


def _summaries(task: SecondaryTask, language: Language, draft: Draft) -> Iterator[Finding]:
    if task.metric is not Metric.SUMMARY:
        return
    limit = length_limit(draft.question, language)
    if limit is None:
        if draft.question:
            template = gettext_noop("The question sets no limit to the length of the summary.")
            yield hint("no_limit", "question", template)
        return
    for place, text in _sound(draft.answer):
        count = length_of(text, language)
        if count > limit:
            template = (
                gettext_noop("Reference %(position)s has %(count)s words; the question allows %(limit)s.")
                if language == Language.ENGLISH
                else gettext_noop("Reference %(position)s has %(count)s characters; the question allows %(limit)s.")
            )
            yield hint("over_limit", "answer", template, position=place, count=count, limit=limit)


# Language ----------------------------------------------------------------------------------------------------------


def _language(task: SecondaryTask, language: Language, draft: Draft) -> Iterator[Finding]:
    """Question, phrase and summaries are in the document's language; an identifier may be in any."""
    in_english = language == Language.ENGLISH
    for field, text in (("question", draft.question), ("elements", draft.elements)):
        if _is_other(without_exempt(text, english=in_english), in_english):
            template = (
                gettext_noop("The document is in English, and this is not.")
                if in_english
                else gettext_noop("The document is in Chinese, and this is not.")
            )
            yield hint("language", field, template)
    for place, text in _sound(draft.answer):
        long = task.metric is Metric.SUMMARY or classify(text).kind is Kind.SUMMARY
        if long and _is_other(text, in_english):
            template = (
                gettext_noop("The document is in English; element %(position)s is not.")
                if in_english
                else gettext_noop("The document is in Chinese; element %(position)s is not.")
            )
            yield hint("language", "answer", template, position=place)


def _is_other(text: str, in_english: bool) -> bool:
    latin, han = len(LATIN_LETTER.findall(text)), len(HAN_LETTER.findall(text))
    return han > latin if in_english else latin > 0 and han == 0


def _punctuation(task: SecondaryTask, language: Language, draft: Draft) -> Iterator[Finding]:
    lines = [("question", 0, draft.question), ("elements", 0, draft.elements)]
    lines += [("options", place, text) for place, text in enumerate(draft.options, 1)]
    for field, place, text in lines:
        if language == Language.ENGLISH:
            mixed, template = mixed_in_english(text), gettext_noop("Full-width “%(mark)s” in English text.")
        else:
            mixed = mixed_in_chinese(text)
            template = gettext_noop("Half-width “%(mark)s” between Chinese characters.")
        for start, end in mixed[:1]:
            where: dict[str, object] = {"position": place} if place else {}
            yield hint("punctuation", field, template, mark=text[start:end], **where)


# The document ------------------------------------------------------------------------------------------------------


def words_to_find(task: SecondaryTask, answer: Sequence[str]) -> list[str]:
    """What is looked for in the document: the elements, and of joined ones also their parts."""
    lines = [text for _place, text in _sound(answer)]
    return [*lines, *(part for text in lines for part in _parts(text) if task.code in JOINED)]


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"[\s:：,，]+", text) if part]


def _absent(task: SecondaryTask, draft: Draft, occurrences: Mapping[str, Occurrence]) -> Iterator[Finding]:
    if task.code not in IN_DOCUMENT or not occurrences:
        return
    letters, none = option_letters(draft), NONE_PHRASE.search(f"{draft.elements} {draft.question}")
    for place, text in _sound(draft.answer):
        found = occurrences.get(text)
        if found is None or text in letters or (none and _narrow(none["phrase"]) == _narrow(text)):
            continue
        if found.count == 0 and not (task.code in JOINED and _stands_in_parts(text, occurrences)):
            template = gettext_noop(
                "“%(text)s” does not occur in the document. A constructed identifier is explained in the question."
            )
            yield hint("not_in_document", "answer", template, position=place, text=text)
        elif found.count and not found.exact:
            template = gettext_noop("“%(text)s” is spelt otherwise in the document (case, width or spacing).")
            yield hint("spelt_otherwise", "answer", template, position=place, text=text)


def _stands_in_parts(text: str, occurrences: Mapping[str, Occurrence]) -> bool:
    parts = _parts(text)
    return len(parts) > 1 and all(part in occurrences and occurrences[part].count for part in parts)


CHECKS: tuple[Check, ...] = (
    _width_duplicates,
    _form,
    _marks,
    _identifiers,
    _options,
    _letters,
    _given,
    _none_phrase,
    _summaries,
    _language,
    _punctuation,
)
