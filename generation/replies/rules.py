"""What a draft must keep to beside its form: the task's answer rule, lettered options, the document's language."""

import re

from benchmark.taxonomy import Language, SecondaryTask, check_answer
from generation.replies.faults import FaultClass
from generation.replies.parts import FaultyError
from generation.replies.shapes import DraftText

LABELLED = re.compile(r"^([A-Z])[.．、:：)）]\s*\S", re.DOTALL)


def check_rules(draft: DraftText, language: Language, task: SecondaryTask) -> None:
    problems = check_answer(task, draft.answer)
    if problems:
        raise FaultyError(FaultClass.RULE_BROKEN, f"the answer breaks the task's rule: {problems[0].message}")
    if not task.multiple_choice:
        return
    labels = [found.group(1) for option in draft.options if (found := LABELLED.match(option))]
    if len(labels) < 4:
        raise FaultyError(FaultClass.RULE_BROKEN, "fewer than four lettered options")
    if len(set(labels)) != len(labels):
        raise FaultyError(FaultClass.RULE_BROKEN, "two options have the same letter")
    if not set(draft.answer[0].strip().upper()) <= set(labels):
        raise FaultyError(FaultClass.RULE_BROKEN, "the answer is not the letter of an option")


_QUOTED = re.compile('“[^”]*”|‘[^’]*’|「[^」]*」|『[^』]*』|《[^》]*》|`[^`]*`|"[^"]*"', re.DOTALL)
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_WORD = re.compile(r"[A-Za-zÀ-ɏͰ-ϿЀ-ӿ]+")
_OTHER = re.compile(r"[\u3040-\u30ff\uac00-\ud7af\u0400-\u04ff\u0600-\u06ff\u0e00-\u0e7f]")


def check_language(draft: DraftText, language: Language) -> None:
    """Question and rationale, without what they quote, are in the document's language."""
    for name, text in (("question", draft.question), ("rationale", draft.rationale)):
        own = _QUOTED.sub(" ", text)
        han, words, other = (len(pattern.findall(own)) for pattern in (_HAN, _WORD, _OTHER))
        total = han + words
        if other > total:
            raise FaultyError(FaultClass.WRONG_LANGUAGE, f"the {name} is not in {language.value}")
        if total < 4:
            continue
        is_chinese = han * 2 > total
        if is_chinese != (language == Language.CHINESE):
            raise FaultyError(FaultClass.WRONG_LANGUAGE, f"the {name} is not in {language.value}")
