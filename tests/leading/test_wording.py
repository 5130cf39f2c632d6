"""Every action that the code writes into the trail has words, in both languages."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.utils import translation

from core.models import Stateful
from leading.story import REVIEW_WORDS
from leading.wording import OF_A_KIND, WORDS, words_of

ROOT = Path(__file__).resolve().parents[2]
OURS = ("core", "documents", "generation", "annotation", "review", "release", "leading")
RECORDS = {"record", "line"}
MOVES = [
    (model._meta.model_name or "", move)
    for model in apps.get_models()
    if issubclass(model, Stateful)
    for move in model.lifecycle.moves
]
CHINESE = re.compile(r"[A-Za-z]{2,}")


def recorded() -> Iterator[tuple[str, str]]:
    """Where, and the name that is recorded there. Of one that is put together (`make_version_by_...`) nothing."""
    for app in OURS:
        for path in sorted((ROOT / app).rglob("*.py")):
            for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in RECORDS:
                    names = ast.walk(call.args[0]) if call.args else iter(())
                    yield from ((str(path), name) for name in map(name_in, names) if name)


def name_in(part: ast.AST) -> str:
    value = part.value if isinstance(part, ast.Constant) else None
    return value if isinstance(value, str) and value.isidentifier() and not value.endswith("_") else ""


def test_every_action_that_is_recorded_has_words() -> None:
    known = {*WORDS, *(verb for _kind, verb in OF_A_KIND)}
    found = {name: where for where, name in recorded()}
    assert {"assign_reviewer", "send_predictions_again", "take_seat", "activate_person"} <= set(found)
    assert {name: where for name, where in found.items() if name not in known} == {}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_move_of_every_record_has_words_in_both_languages(language: str) -> None:
    with translation.override(language):
        assert [move for move in MOVES if not words_of(*move)] == []
        said = [str(words) for words in [*WORDS.values(), *OF_A_KIND.values(), *REVIEW_WORDS.values()]]
    if language != "en":
        assert [words for words in said if CHINESE.search(words.replace("Task", "").replace("API", ""))] == []


def test_a_word_that_two_kinds_share_says_what_was_done_to_each() -> None:
    assert words_of("answerreview", "submit") != words_of("sample", "submit")
    assert words_of("release", "retry") != words_of("run", "retry")
    assert words_of("call", "cancel") != words_of("run", "cancel")


def test_the_story_has_words_for_everything_that_happens_to_a_review() -> None:
    moves = {(kind, move) for kind, move in MOVES if kind in {"answerreview", "reviewcase"}}
    assert moves <= set(REVIEW_WORDS)
    assert {("answerreview", "assign_reviewer"), ("reviewcase", "send_predictions_again")} <= set(REVIEW_WORDS)
