"""What the expert said beside the part it is about, and times in words: `{% load auditing_parts %}`."""

from typing import Any

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import timing
from annotation.exchange import remarks_to_mend
from annotation.models import AuditRemark, Sample
from annotation.workflow import AT_THE_DESK, Part
from core.models import User

register = template.Library()

# Said of the whole: shown whichever candidate is open.
OF_THE_WHOLE = frozenset({Part.DOCUMENT, Part.GENERAL})


@register.inclusion_tag("annotation/desk/remarks.html", takes_context=True)
def remarks_at(context: template.Context, *parts: str) -> dict[str, Any]:
    """The remarks on these parts that the desk is to mend. Beside a candidate only when they are about it."""
    sample, opened, desk = context["sample"], context.get("open"), context.get("desk")
    remarks = [one for one in _remarks_of(sample) if one.part in parts]
    here = opened.candidate.pk if opened else None
    shown = [one for one in remarks if one.part in OF_THE_WHOLE or one.submission.candidate_id == here]
    return {"remarks": shown, "may_answer": bool(desk and desk.holds)}


@register.simple_tag
def open_remarks(sample: Sample) -> list[AuditRemark]:
    """Those of the last return that nobody has marked as dealt with."""
    return [one for one in _remarks_of(sample) if one.dealt_at is None]


def _remarks_of(sample: Sample) -> list[AuditRemark]:
    """Asked once for a page, however many parts it has."""
    kept: list[AuditRemark] | None = getattr(sample, "_remarks_to_mend", None)
    if kept is None:
        kept = remarks_to_mend(sample) if sample.state in AT_THE_DESK else []
        sample._remarks_to_mend = kept  # type: ignore[attr-defined]  # kept on the row that the page holds
    return kept


@register.filter
def duration(seconds: float) -> str:
    """Short: 40 s, 12 min, 1 h 5 min."""
    if seconds < 60:
        return ngettext("%(n)d s", "%(n)d s", int(seconds)) % {"n": int(seconds)}
    minutes = round(seconds / 60)
    if minutes < 60:
        return _("%(minutes)s min") % {"minutes": minutes}
    return _("%(hours)s h %(minutes)s min") % {"hours": minutes // 60, "minutes": minutes % 60}


@register.inclusion_tag("annotation/clock.html", takes_context=True)
def clock(context: template.Context, sample: Sample, step: str = "") -> dict[str, Any]:
    """The person's own active time on the sample, which the page's script counts. `step` empty: the pane says it."""
    person = context["request"].user
    counts = isinstance(person, User) and timing.can_tell_time(person, sample)
    return {"sample": sample, "step": step, "counts": counts, "total": timing.total_of(person, sample) if counts else 0}
