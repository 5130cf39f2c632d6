"""Names of tasks and languages in the page's language."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
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


@register.filter
def percent(share: float | None) -> str:
    """`12 %`; a dash where there is nothing to divide by."""
    return "–" if share is None else f"{share * 100:.0f} %"


@register.simple_tag
def meter(share: float | None) -> SafeString | str:
    """A share as a bar. It says nothing that the number beside it does not."""
    if share is None:
        return ""
    return format_html(
        '<svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        '<rect width="{}" height="4"></rect></svg>',
        f"{share * 100:.1f}",
    )
