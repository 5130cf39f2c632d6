"""Samples that are ready to be released, with everything that a real one has."""

import itertools
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.models import Sample
from annotation.workflow import SampleState
from benchmark.difficulty import Tier
from benchmark.framing import Parts, nonthinking_prompt, thinking_prompt
from benchmark.taxonomy import Language
from documents.models import DocumentVersion
from documents.tokenizing import count_tokens
from generation.models import LanguageModel, Run
from generation.workflow import Purpose
from release import actions, building
from release.exporting import write_files
from release.models import DifficultyLabel, Release
from tests.factories import (
    make_annotator,
    make_answers,
    make_call,
    make_case,
    make_lead,
    make_model,
    make_review,
    make_run,
    make_standardized_sample,
    make_version,
)

_number = itertools.count(1)
ANSWER = ["Marigold", "Heron", "Tern"]
WORDS = {
    Language.ENGLISH: "Log {n}. The Marigold paid a late fee of twelve crowns, the Heron nine, the Tern four.",
    Language.CHINESE: "日志{n}。金盏号缴纳滞纳金十二克朗，苍鹭号九克朗，燕鸥号四克朗。",
}
MORE = {Language.ENGLISH: " Rain fell again.", Language.CHINESE: "又下雨了。"}


@cache
def _padding(language: Language, tokens: int, n: int) -> str:
    text = WORDS[language].format(n=n)
    while count_tokens(text) < tokens:
        text += MORE[language]
    return text


def make_text(language: Language = Language.ENGLISH, tokens: int = 64) -> str:
    return _padding(language, tokens, next(_number))


def measured_version(text: str = "", *, language: Language = Language.ENGLISH, **more: Any) -> DocumentVersion:
    """An approved version whose token count is the real one."""
    text = text or make_text(language)
    return make_version(text, language=language, tokens=count_tokens(text), **more)


def panel_of_fifteen() -> list[LanguageModel]:
    tiers = [tier for tier in Tier for _place in range(5)]
    return [make_model(tier=tier.value, drafting=tier is Tier.HIGH) for tier in tiers]


def difficulty_run(sample: Sample, right: Sequence[bool | None], models: Sequence[LanguageModel] = ()) -> Run:
    """Fifteen answers, five a tier from high to low; None where no answer came."""
    made = sample.standardizations.latest("number")
    run = make_run(
        sample.document_version,
        purpose=Purpose.DIFFICULTY,
        task_code=sample.task_code,
        prompt=made.question_nonthinking,
        prompt_thinking=made.question_thinking,
        reference=made.answer,
    )
    answer(run, right, models)
    return run


def answer(run: Run, right: Sequence[bool | None], models: Sequence[LanguageModel] = ()) -> None:
    models = models or panel_of_fifteen()
    given = [(model, one) for model, one in zip(models, right, strict=True) if one is not None]
    make_answers(run, [model for model, _one in given], [(ANSWER if one else ["Gull"], one) for _model, one in given])
    for model, one in zip(models, right, strict=True):
        if one is None:
            lost_call(run, model)


def lost_call(run: Run, model: LanguageModel) -> None:
    make_call(run, model, state="failed")


def rights(high: int, mid: int, low: int) -> list[bool | None]:
    """So many right answers in each tier of five."""
    return [place < count for count in (high, mid, low) for place in range(5)]


def label(sample: Sample, difficulty: str = "Easy") -> DifficultyLabel:
    return DifficultyLabel.objects.create(
        sample=sample,
        standardization=sample.standardizations.latest("number"),
        run=difficulty_run(sample, rights(5, 5, 5)),
        difficulty=difficulty,
        right={"high": 5, "mid": 5, "low": 5},
        labelled_at=timezone.now(),
    )


def make_ready_sample(
    *,
    language: Language = Language.ENGLISH,
    task_code: str = "T1.2",
    difficulty: str = "Easy",
    answer: Sequence[str] = (),
    **more: Any,
) -> Sample:
    """An accepted, labelled sample with its reviews; nothing speaks against its release."""
    version = more.pop("version", None) or measured_version(language=language)
    sample = make_standardized_sample(
        state=SampleState.IN_REVIEW, language=language, task_code=task_code, version=version, **more
    )
    if answer:
        sample.standardizations.update(answer=list(answer))
    case = make_case(sample, state="accepted")
    for seat in (1, 2):
        make_review(case, make_annotator(), seat=seat, submitted=True)
    sample.state = SampleState.ACCEPTED
    sample.save()
    label(sample, difficulty)
    return sample


def restandardize(sample: Sample, **parts: Any) -> None:
    """Write other parts into the sample's standardization, prompts included."""
    made = sample.standardizations.latest("number")
    for name, value in parts.items():
        setattr(made, name, value)
    whole = Parts(Language(made.language), made.task_description, made.elements, made.supplementary, made.example)
    made.question_nonthinking, made.question_thinking = nonthinking_prompt(whole), thinking_prompt(whole)
    made.save()


def released(version: str = "1.0") -> Release:
    release = actions.make_release(version=version, by=make_lead(), allow_incomplete=True)
    return building.build(release)


def written(folder: Path, version: str = "1.0") -> Release:
    release = released(version)
    write_files(release, folder)
    return release
