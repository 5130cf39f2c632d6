"""Twenty questions standardized as a new annotator would, who tries to get a wrong prompt through each time.

Each question is approved, its form is filled in by the product, then one part is spoilt as people spoil it. No spoilt
form completes; the form that the product proposed does, and its prompts are exact.
"""

import re
from dataclasses import dataclass
from typing import Any

import pytest

from annotation import actions
from annotation.models import Sample, Submission
from annotation.rendering import PARTS, first_parts
from annotation.standardizing import keep_standardization
from annotation.workflow import SampleState
from benchmark.framing import identifier_places, nonthinking_prompt, split_prompt, thinking_prompt
from benchmark.metrics import IDENTIFIERS
from benchmark.taxonomy import Language, secondary_task
from core.refusals import RuleBroken
from leading.invariants import answers_score_one, prompts_are_computed
from tests.annotation.scenes import approved_sample
from tests.factories import make_annotator

pytestmark = [pytest.mark.once, pytest.mark.django_db]
MARK = re.compile("|".join(map(re.escape, IDENTIFIERS)))

CODES = ("T1.1", "T2.1", "T3.1", "T4.1", "T5.1", "T6.1", "T7.1", "T8.2", "T9.1", "T10.2")
OPTIONS = {
    Language.ENGLISH: ["A. The first.", "B. The second.", "C. The third.", "D. The fourth."],
    Language.CHINESE: ["A. 第一种", "B. 第二种", "C. 第三种", "D. 第四种"],
}


@dataclass(frozen=True)
class Attempt:
    """What is done to the form: `add` to a part, or `put` in its place; `answer` puts the answer into the example."""

    name: str
    part: str
    add: str = ""
    put: Any = None
    takes_answer: bool = False


ATTEMPTS = {
    Language.ENGLISH: (
        Attempt("repeats the requirement", "task_description", add=" Output the answer line by line."),
        Attempt("asks for reasoning", "task_description", add=" Think step by step."),
        Attempt("hides the requirement", "task_description", add=" Out\u200bput only the answer."),
        Attempt("writes it full-width", "task_description", add=" Ｏｕｔｐｕｔ the answer."),
        Attempt("puts the identifier in", "task_description", add=" Write [Answer] first."),
        Attempt("puts the other identifier in", "elements", add=" after [答案]"),
        Attempt("imitates the identifier", "elements", add=" after 【answer】"),
        Attempt("adds an example of his own", "supplementary", add="\n\nOutput example:\n[Answer]\nX1"),
        Attempt("types a Chinese comma", "task_description", add=" Look carefully，please."),
        Attempt("types Chinese", "task_description", put="请找出符合条件的内容。"),
        Attempt("leaves the phrase empty", "elements", put="  "),
        Attempt("breaks the phrase", "elements", add="\nand more"),
        Attempt("says it twice", "elements", add=" line by line"),
        Attempt("leaves the example out", "example", put=[]),
        Attempt("gives the answer away", "example", takes_answer=True),
        Attempt("gives another form", "example", put=["No. 12 § 4"]),
        Attempt("puts the identifier into the example", "example", put=["[Answer]"]),
    ),
    Language.CHINESE: (
        Attempt("repeats the requirement", "task_description", add="逐行输出答案。"),
        Attempt("asks for reasoning", "task_description", add="请一步一步思考。"),
        Attempt("hides the requirement", "task_description", add="只输\u200b出答案。"),
        Attempt("puts the identifier in", "task_description", add="先写[答案]。"),
        Attempt("imitates the identifier", "elements", add="【答案】"),
        Attempt("puts the other identifier in", "supplementary", add="\n[Answer]"),
        Attempt("adds an example of his own", "supplementary", add="\n\n输出示例：\n[答案]\n甲"),
        Attempt("types an English comma", "task_description", add="请仔细,认真。"),
        Attempt("ends with an English mark", "task_description", add="是哪些?"),
        Attempt("types English", "task_description", put="Find what fits."),
        Attempt("leaves the phrase empty", "elements", put=""),
        Attempt("ends the phrase with a mark", "elements", add="编号."),
        Attempt("leaves the example out", "example", put=[]),
        Attempt("gives the answer away", "example", takes_answer=True),
        Attempt("gives another form", "example", put=["№12 § 4"]),
    ),
}


def approved(code: str, language: Language) -> Sample:
    sample, _annotator, _expert = approved_sample(task_code=code, language=language)
    drafted = secondary_task(code).example_in(language)
    answer = list(drafted.answer)
    if code == "T4.1":
        answer = SUMMARIES[language]
    options = OPTIONS[language] if sample.task.multiple_choice else []
    Submission.objects.filter(sample=sample).update(
        question=drafted.question, elements=drafted.elements, options=options, answer=answer
    )
    return sample


SUMMARIES = {
    Language.ENGLISH: [
        "A storm broke the mole and the ferry sank.",
        "In June the mole was broken by a storm.",
        "The storm of June cost the harbour its mole.",
    ],
    Language.CHINESE: ["六月的风暴冲毁了防波堤。", "防波堤毁于六月的风暴。", "六月风暴中，港口失去了防波堤。"],
}


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("code", CODES)
def test_a_new_annotator_gets_no_wrong_prompt_through(code: str, language: Language) -> None:
    sample = approved(code, language)
    annotator = sample.annotator
    assert annotator is not None
    given = {name: getattr(first_parts(sample), name) for name in PARTS}
    answer = Submission.objects.get(sample=sample).answer
    for attempt in ATTEMPTS[language]:
        if attempt.name == "gives another form" and code == "T4.1":
            continue  # every text is of the form of a summary
        spoilt = dict(given)
        spoilt[attempt.part] = answer if attempt.takes_answer else attempt.put
        if spoilt[attempt.part] is None:
            spoilt[attempt.part] = given[attempt.part] + attempt.add
        if attempt.takes_answer and code == "T4.1":
            spoilt["example"] = answer[:1]
        with pytest.raises(RuleBroken) as refused:
            keep_standardization(sample=sample, version=0, by=annotator, complete=True, **spoilt)
        assert refused.value.rule == "standardization_has_errors", attempt.name
        assert attempt.part in refused.value.details["errors"], attempt.name

    done = keep_standardization(sample=sample, version=0, by=annotator, complete=True, **given)
    assert sample.state == SampleState.AWAITING_PREDICTIONS
    for thinking, prompt in ((False, done.question_nonthinking), (True, done.question_thinking)):
        assert prompt == (thinking_prompt if thinking else nonthinking_prompt)(done.parts)
        assert split_prompt(language, prompt, thinking) == done.parts
        assert [match.start() for match in MARK.finditer(prompt)] == identifier_places(done.parts, thinking)
    assert [*prompts_are_computed(), *answers_score_one()] == []


def test_the_invariants_notice_a_touched_prompt_and_an_answer_that_loses_points() -> None:
    sample = approved("T1.1", Language.ENGLISH)
    annotator = sample.annotator or make_annotator()
    given = {name: getattr(first_parts(sample), name) for name in PARTS}
    draft = actions.save_standardization(sample=sample, version=0, by=annotator, **given)
    done = actions.complete_standardization(sample=sample, version=draft.version, by=annotator)
    rows = type(done).objects.filter(pk=done.pk)
    rows.update(question_thinking=done.question_thinking.replace("“[Answer]”", '"[Answer]"'))
    assert [one.invariant for one in prompts_are_computed()] == [6]
    parts = done.parts
    rows.update(supplementary="[Answer]")
    parts = rows.get().parts
    rows.update(question_nonthinking=nonthinking_prompt(parts), question_thinking=thinking_prompt(parts))
    assert {one.words for one in prompts_are_computed()} == {
        "holds a prompt whose fixed text or identifier is not where it belongs"
    }
    rows.update(answer=["P1 [Answer]", "P2"])
    assert [one.invariant for one in answers_score_one()] == [7]
