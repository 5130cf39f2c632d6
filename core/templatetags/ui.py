"""The parts every page is built of: `{% load ui %}`. All of them escape what they are given."""

import secrets
from datetime import datetime
from typing import Any

from django import template
from django.forms import BoundField, CheckboxInput, CheckboxSelectMultiple, Form, HiddenInput, RadioSelect
from django.templatetags.static import static
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmark.taxonomy import Language, SecondaryTask
from core.middleware import STATE_OF_LEVEL
from core.models import User

register = template.Library()

ICON_OF_STATE = {"pass": "check", "fail": "cross", "warn": "bang", "now": "half", "idle": "ring"}


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """An icon of static/icons.svg: silent beside a word, named by `label` when it stands alone."""
    address = f"{static('icons.svg')}#{name}"
    if label:
        return format_html('<svg class="i" role="img" aria-label="{}"><use href="{}"></use></svg>', label, address)
    return format_html('<svg class="i" aria-hidden="true"><use href="{}"></use></svg>', address)


@register.simple_tag
def pill(state: str, text: object, icon: str = "") -> SafeString:
    """A state as glyph and word. `state` is pass, fail, warn, now or idle."""
    glyph = _icon(icon or ICON_OF_STATE.get(state, "ring"))
    return format_html('<span class="pill" data-state="{}">{}{}</span>', state, glyph, text)


_icon = icon


@register.simple_tag
def state_icon(state: str) -> SafeString:
    return _icon("info" if state == "idle" else ICON_OF_STATE[state])


@register.filter
def state_of(level_tag: str) -> str:
    """A Django message's level as a state of the look."""
    return STATE_OF_LEVEL.get(level_tag, "idle")


@register.inclusion_tag("components/field.html")
def field(bound: BoundField, label: str = "", hint: str = "", rows: int = 0) -> dict[str, Any]:
    """Label, widget, and below it the hint or, in its place, the error; tied together for screen readers."""
    widget = bound.field.widget
    label = label or str(bound.label)
    # allauth repeats the label as placeholder: noise, and gone when it is needed.
    if str(bound.form.__class__.__module__).startswith("allauth."):
        widget.attrs.pop("placeholder", None)
    several = isinstance(widget, RadioSelect | CheckboxSelectMultiple)
    single_check = isinstance(widget, CheckboxInput)
    hint = hint or str(bound.help_text)
    attributes: dict[str, Any] = {"aria-describedby": f"{bound.auto_id}_note"} if hint or bound.errors else {}
    if not several and not single_check:
        attributes["class"] = f"{widget.attrs.get('class', '')} input".strip()
    if bound.errors:
        attributes["aria-invalid"] = "true"
    if rows:
        attributes["rows"] = rows
    return {
        "bound": bound,
        "label": label,
        "hint": hint,
        "control": bound.as_widget(attrs=attributes),
        "several": several,
        "single_check": single_check,
        "hidden": isinstance(widget, HiddenInput),
    }


@register.inclusion_tag("components/form_errors.html")
def form_errors(form: Form) -> dict[str, Any]:
    """What is wrong with the form as a whole, and a line that counts the fields to mend and leads to the first."""
    faulty = [form[name] for name in form.errors if name in form.fields]
    return {"errors": form.non_field_errors(), "faulty": [bound for bound in faulty if not bound.is_hidden]}


@register.simple_tag
def once() -> SafeString:
    """A value of its own for each form: sent twice it has one effect (core.middleware.OnceMiddleware)."""
    return format_html('<input type="hidden" name="_once" value="{}">', secrets.token_urlsafe(12))


@register.simple_tag
def simulated(model: Any) -> SafeString | str:
    if not getattr(model, "is_simulated", False):
        return ""
    return format_html('<span class="tag tag--sim">{}</span>', _("simulated"))


@register.simple_tag
def since(moment: datetime | None) -> SafeString | str:
    """How long ago, short; the full time in the reader's zone as a tip."""
    if moment is None:
        return ""
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(timespec="seconds"),
        date_format(local, "Y-m-d H:i"),
        ago(moment),
    )


def ago(moment: datetime) -> str:
    seconds = int((timezone.now() - moment).total_seconds())
    if seconds < 60:
        return _("just now")
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 60:
        return ngettext("%(n)d min", "%(n)d min", minutes) % {"n": minutes}
    if hours < 24:
        return ngettext("%(n)d h", "%(n)d h", hours) % {"n": hours}
    if days < 60:
        return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}
    return date_format(timezone.localtime(moment), "Y-m-d")


@register.simple_tag
def person(user: User | None) -> SafeString | str:
    """A person's name; the system when there is none."""
    if user is None:
        return _("the system")
    return format_html('<span class="person" title="{}">{}</span>', user.get_role_display(), user.name)


@register.filter
def task_here(task: SecondaryTask) -> str:
    """A task by its name in the language of the page; the names begin with the code."""
    chinese = (translation.get_language() or "").startswith("zh")
    return task.name_in(Language.CHINESE if chinese else Language.ENGLISH)


@register.simple_tag
def html_lang() -> str:
    """The language of the page as HTML wants it: en, zh-Hans."""
    return translation.to_locale(translation.get_language() or "en").replace("_", "-")


@register.simple_tag(takes_context=True)
def page_link(context: template.Context, number: int) -> str:
    """The query of this list with another page number; filters stay."""
    query = context["request"].GET.copy()
    query["page"] = str(number)
    return f"?{query.urlencode()}"
