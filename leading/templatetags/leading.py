"""Names of tasks and languages in the page's language."""

from django import template
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from benchmark.taxonomy import Language, SecondaryTask

register = template.Library()


@register.simple_tag
def task_name(task: SecondaryTask) -> str:
    if (get_language() or "").startswith("zh"):
        return task.name_zh
    return task.name.removeprefix(f"{task.code} ")


@register.simple_tag
def language_name(language: str) -> str:
    return _("English") if language == Language.ENGLISH else _("Chinese")
