"""Money and tokens as leads read them: `{% load generation_parts %}`. What is unknown is never shown as zero."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from urllib.parse import urlencode

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core.models import Event
from generation import advising, roster, story
from generation.forms import LABELS, BudgetForm
from generation.models import LanguageModel
from generation.workflow import trouble_words

register = template.Library()

SMALLEST = Decimal("0.0001")


@register.filter
def dollars(usd: Decimal | None) -> str:
    """`$ 12.34`; small sums with four decimals, so that they do not look like nothing; `unknown` for None."""
    if usd is None:
        return _("unknown")
    usd = Decimal(usd)
    if usd and abs(usd) < SMALLEST:
        return f"< $ {SMALLEST}"
    places = 2 if usd == 0 or abs(usd) >= 1 else 4
    # number_format cuts off what is too long; money is rounded.
    rounded = usd.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return f"$ {number_format(rounded, places, force_grouping=True)}"


@register.simple_tag
def money(usd: Decimal | None, unknown: int = 0) -> SafeString | str:
    """A sum with the number of its parts that nobody knows; without a known part it is unknown."""
    if not unknown:
        return dollars(usd)
    more = ngettext("%(n)s of unknown cost", "%(n)s of unknown cost", unknown) % {"n": intcomma(unknown)}
    if not usd:
        return format_html('<span class="mut" title="{}">{}</span>', more, _("unknown"))
    return format_html('{} <span class="mut">+ {}</span>', dollars(usd), more)


@register.filter
def price(usd: Decimal) -> str:
    """A price per million tokens without zeros at its end."""
    return f"{Decimal(usd).normalize():f}"


@register.simple_tag
def query(**parts: Any) -> str:
    """A query of the parts that say something, such as `?state=failed&model=Gull`."""
    return "?" + urlencode({name: value for name, value in parts.items() if value not in (None, "")})


@register.simple_tag(takes_context=True)
def query_with(context: template.Context, **parts: Any) -> str:
    """The query of this page with some parts set anew; the page number goes."""
    request: HttpRequest = context["request"]
    kept = request.GET.copy()
    kept.pop("page", None)
    for name, value in parts.items():
        kept[name] = str(value)
    return f"?{kept.urlencode()}"


@register.simple_tag
def advice(error_class: str, model: LanguageModel) -> str:
    return advising.advice(error_class, model.key_variable)


@register.filter
def purposes(model: LanguageModel) -> list[str]:
    return roster.purposes_of(model)


@register.filter
def trouble(error_class: str) -> str:
    return trouble_words(error_class)


@register.filter
def signed(value: Decimal) -> str:
    """`+12.3`, `-4.0`."""
    return f"{value:+,.1f}"


@register.filter
def told(event: Event) -> str:
    """What happened, in words."""
    return story.event_in_words(event)


@register.filter
def state_told(event: Event) -> str:
    return story.state_in_words(event)


@register.filter
def field_name(name: str) -> str:
    """What the form calls a field of a model, or of a budget."""
    if name in LABELS:
        return str(LABELS[name])
    if name in BudgetForm.base_fields:
        return str(BudgetForm.base_fields[name].label)
    known = {field.name: str(getattr(field, "verbose_name", field.name)) for field in LanguageModel._meta.get_fields()}
    return known.get(name, name)


@register.filter
def is_chinese(language: str) -> bool:
    return language.startswith("zh")
