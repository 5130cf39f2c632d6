"""Small parts of the annotation pages: `{% load annotation_parts %}`."""

from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.checking import PARTS, Undo, step_of
from annotation.checking import undo_of as undo_for
from annotation.claims import in_words
from annotation.desk import Against, OpenCandidate, against, verdict_words
from annotation.glancing import ChallengeCount, EvidenceCount, Row
from annotation.models import Candidate, Claim, Sample, StepVerdict
from annotation.prompting import FIELD_NAMES
from annotation.queries import ModelAnswer
from annotation.workflow import SampleState, Step
from benchmark.taxonomy import Language, TaskExample
from documents.reading import LANG

register = template.Library()

TONES: dict[str, str] = {
    SampleState.PLANNED: "idle",
    SampleState.DRAFTING: "now",
    SampleState.IN_VERIFICATION: "now",
    SampleState.IN_AUDIT: "now",
    SampleState.RETURNED: "warn",
    SampleState.IN_STANDARDIZATION: "now",
    SampleState.AWAITING_PREDICTIONS: "now",
    SampleState.IN_REVIEW: "now",
    SampleState.IN_ADJUDICATION: "warn",
    SampleState.AWAITING_DOCUMENT: "warn",
    SampleState.ACCEPTED: "pass",
    SampleState.EXHAUSTED: "idle",
}
SHORT = timedelta(minutes=15)


@register.filter
def tone(sample: Sample) -> str:
    """The state as a colour of the look."""
    return "fail" if sample.is_blocked else TONES.get(sample.state, "idle")


@register.filter
def task_name(sample: Sample, language: Language) -> str:
    """The task as the reader knows it; the names begin with the code."""
    return sample.task.name_in(language)


@register.filter
def definition(sample: Sample, language: Language) -> str:
    return sample.task.definition_in(language)


@register.filter
def requirement(sample: Sample, language: Language) -> str:
    return sample.task.context_requirement_in(language)


@register.filter
def answer_rule(sample: Sample, language: Language) -> str:
    return sample.task.answer_rule_in(language)


@register.filter
def example(sample: Sample, language: Language) -> TaskExample:
    return sample.task.example_in(language)


@register.filter
def lang_of(sample: Sample) -> str:
    """The language of the document and its questions, for `lang`."""
    return LANG.get(sample.document.language, "en")


@register.filter
def seconds_left(claim: Claim) -> int:
    return max(0, int((claim.lapses_at - timezone.now()).total_seconds()))


@register.filter
def at_time(moment: datetime) -> str:
    return in_words(moment)


@register.filter
def time_left(claim: Claim) -> str:
    minutes = max(0, int((claim.lapses_at - timezone.now()).total_seconds() // 60))
    if minutes < 60:
        return _("%(minutes)s min") % {"minutes": minutes}
    return _("%(hours)s h %(minutes)s min") % {"hours": minutes // 60, "minutes": minutes % 60}


@register.filter
def is_short(claim: Claim) -> bool:
    return claim.lapses_at - timezone.now() < SHORT


@register.simple_tag
def part_name(name: str) -> str | Promise:
    """A part of the standardized question, or the answer, as the pages call it."""
    return FIELD_NAMES.get(name, name)


@register.filter
def words_of(verdict: StepVerdict) -> str | Promise:
    return verdict_words(verdict)


@register.filter
def against_reference(answer: ModelAnswer, candidate: Candidate) -> Against:
    return against(candidate.answer, answer.result.elements)


@register.filter
def candidate_part_name(name: str) -> str | Promise:
    """A part of a candidate as the desk calls it."""
    return PARTS.get(name, name)


@register.filter
def step_around(opened: OpenCandidate) -> str:
    return step_of(opened.candidate)


@register.simple_tag
def undo_of(candidate: Candidate) -> Undo | None:
    return undo_for(candidate)


# A candidate at a glance ---------------------------------------------------------------------------------------


@register.filter
def step_letter(step: Step) -> str:
    """The letter by which people call the three tasks."""
    return {Step.TASK_A: "A", Step.TASK_B: "B", Step.TASK_C: "C"}.get(step, "")


@register.filter
def challenge_words(count: ChallengeCount) -> str:
    figures = {"wrong": count.wrong, "all": count.total, "in": count.total - count.waiting, "failed": count.failed}
    if count.stale:
        return _("stale")
    if count.waiting:
        return _("%(in)s of %(all)s in") % figures
    if count.failed and not count.wrong:
        return _("%(failed)s of %(all)s failed") % figures
    if not count.wrong:
        return _("all right")
    return _("%(wrong)s of %(all)s wrong") % figures


@register.filter
def challenge_tone(count: ChallengeCount) -> str:
    if count.stale:
        return "warn"
    return "now" if count.waiting else "pass" if count.wrong else "warn"


@register.filter
def evidence_words(count: EvidenceCount) -> str:
    if not count.searched:
        return _("quotes not searched in this version yet")
    if count.missing:
        return _("%(n)s of %(all)s quotes not in the document") % {"n": count.missing, "all": count.quotes}
    if count.close:
        return _("%(n)s of %(all)s quotes a close match") % {"n": count.close, "all": count.quotes}
    return ngettext("%(n)s quote found", "%(n)s quotes found", count.quotes) % {"n": count.quotes}


@register.filter
def twin_words(row: Row) -> str:
    return _("same question as %(names)s") % {"names": ", ".join(twin.name for twin in row.twins)}
