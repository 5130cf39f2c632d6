"""The output example: it is there, it is not the answer, and it has the answer's form."""

import dataclasses
from collections.abc import Iterator, Sequence

from benchmark.elements import comparable, holds_line_end
from benchmark.findings import Finding, Severity, error, gettext_noop
from benchmark.forms import Form, Kind, classify
from benchmark.metrics import Embedder, as_reply, is_right, score
from benchmark.metrics.summary import best_rouge_l
from benchmark.taxonomy import Language, Metric, SecondaryTask

# Without an embedding model a summary's similarity is unknown; at this overlap of words alone it is a copy.
COPIED_SUMMARY = 0.65
# "No Error" may stand for a list of identifiers here, so that answer and example can differ in form.
PHRASE_FOR_NONE = "T8.1"
STAND_ALONE = (Metric.NDCG, Metric.F1, Metric.SUBEM)


def form_of(element: str, task: SecondaryTask) -> Form:
    """The form of an element of this task's answer."""
    if task.metric is Metric.SUMMARY:
        return Form(Kind.SUMMARY)
    return classify(element, multiple_choice=task.multiple_choice)


def check_example(
    example: Sequence[str],
    *,
    task: SecondaryTask,
    language: Language,
    answer: Sequence[str],
    embedder: Embedder | None = None,
) -> list[Finding]:
    """The example is there, is not the answer, and has its form."""
    found = list(_check_lines(example, task))
    if found:
        return found
    return [
        *check_example_differs(example, task=task, language=language, answer=answer, embedder=embedder),
        *_check_form(example, task, answer),
    ]


def _at(example: Sequence[str], place: int, finding: Finding) -> Finding:
    """The finding at one line, counted from 1: its code points in the lines joined by LF."""
    start = sum(len(line) + 1 for line in example[: place - 1])
    return dataclasses.replace(finding, start=start, end=start + len(example[place - 1]))


def _check_lines(example: Sequence[str], task: SecondaryTask) -> Iterator[Finding]:
    if not example:
        yield error("example_missing", "example", gettext_noop("The output example is empty."))
    for place, element in enumerate(example, 1):
        if not element.strip():
            template = gettext_noop("Element %(position)s of the example is empty.")
            yield _at(example, place, error("example_empty_element", "example", template, position=place))
        elif holds_line_end(element.strip()):
            template = gettext_noop("Element %(position)s of the example contains a line break.")
            yield _at(example, place, error("example_line_break", "example", template, position=place))
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
    if task.metric in STAND_ALONE:
        places = {comparable(element): place for place, element in enumerate(answer, 1)}
        for place, element in enumerate(example, 1):
            if same := places.get(comparable(element)):
                template = gettext_noop("Element %(position)s of the example is element %(same)s of the answer.")
                finding = error("example_is_answer", "example", template, position=place, same=same)
                yield _at(example, place, finding)
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


def _check_form(example: Sequence[str], task: SecondaryTask, answer: Sequence[str]) -> Iterator[Finding]:
    """Each element of the example has a form that the answer has too. Order and number of elements may differ."""
    wanted = {form_of(element, task): element for element in reversed(answer) if element.strip()}
    given = [form_of(element, task) for element in example]
    if not wanted or (task.code == PHRASE_FOR_NONE and (_is_worded(list(wanted)) or _is_worded(given))):
        return
    for place, form in enumerate(given, 1):
        if form in wanted:
            continue
        said = {"position": place, "given": example[place - 1], "expected": " / ".join(reversed(wanted.values()))}
        if any(form.agrees(other) for other in wanted):
            template = gettext_noop(
                "Element %(position)s of the example (“%(given)s”) has capitals otherwise than the answer"
                " (“%(expected)s”)."
            )
            finding = Finding("example_capitals", Severity.HINT, "example", template, said)
        else:
            template = gettext_noop(
                "Element %(position)s of the example (“%(given)s”) has another form than the answer (“%(expected)s”)."
            )
            finding = Finding("example_form", Severity.ERROR, "example", template, said)
        yield _at(example, place, finding)


def _is_worded(forms: list[Form]) -> bool:
    return len(forms) == 1 and forms[0].agrees(Form(Kind.PHRASE))
