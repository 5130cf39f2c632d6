"""Listed values of the exported file, as a reader of the page says them."""

from django import template
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_noop as _

from benchmark.difficulty import Difficulty
from benchmark.taxonomy import PRIMARY_TASKS, SECONDARY_TASKS, ContextRequirement, Language, PrimaryTask, SecondaryTask

register = template.Library()

WORDS = {
    Difficulty.EASY.value: _("Easy"),
    Difficulty.MODERATE.value: _("Moderate"),
    Difficulty.HARD.value: _("Hard"),
    Difficulty.EXTREME.value: _("Extreme"),
    Language.ENGLISH.value: _("English"),
    Language.CHINESE.value: _("Chinese"),
    ContextRequirement.FULL.value: _("Full"),
    ContextRequirement.PARTIAL.value: _("Partial"),
}
TASKS: dict[str, PrimaryTask | SecondaryTask] = {task.name: task for task in SECONDARY_TASKS}
TASKS |= {task.name: task for task in PRIMARY_TASKS}


@register.filter
def listed(value: str) -> str:
    """A task, difficulty, language or requirement in the language of the page; what is none of these stays."""
    if value in TASKS:
        chinese = (get_language() or "").startswith("zh")
        return TASKS[value].name_in(Language.CHINESE if chinese else Language.ENGLISH)
    return gettext(WORDS[value]) if value in WORDS else value


@register.filter
def all_listed(values: list[str]) -> str:
    return ", ".join(listed(value) for value in values)
