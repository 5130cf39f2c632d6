"""Events in words, for the list of what a person did last."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.story import WORDS as SAMPLE_WORDS
from core.models import Event

WORDS: dict[str, str | Promise] = {
    **SAMPLE_WORDS,
    "import": _("imported the document"),
    "import_document": _("imported the document"),
    "correct_document": _("corrected what is known of the document"),
    "rebucket": _("sorted documents into buckets anew"),
    "start_run": _("started a run of models"),
    "cancel": _("cancelled a run"),
    "resume": _("continued a run"),
    "retry": _("tried failed calls again"),
    "resend": _("sent a call again"),
    "edit_model": _("edited a model"),
    "add_model": _("added a model"),
    "pause_model": _("paused a model"),
    "resume_model": _("resumed a model"),
    "give_up_queue": _("gave up what waited for a model"),
    "try_model": _("tried a model"),
    "set_provider_limit": _("set a provider's limits"),
    "set_budget": _("set the budget of all calls"),
    "set_run_budget": _("set a run's budget"),
    "draft_samples": _("sent samples to drafting"),
    "cancel_drafting": _("stopped a drafting batch"),
    "take_seat": _("took a seat in a review"),
    "take_case": _("took a case to decide"),
    "make_case": _("made a review case"),
    "adjudicate": _("decided a disputed case"),
    "look_at_reviews": _("looked at undecided reviews"),
    "look_at_scores": _("looked at unfinished scores"),
    "draw_audit": _("drew a quality audit"),
    "score_audited": _("scored a sample's quality"),
    "ask_for_label": _("asked for a difficulty"),
    "make_release": _("made a release"),
    "freeze": _("froze a release"),
    "withdraw": _("withdrew a release"),
    "import_release": _("imported a release"),
    "push_release": _("pushed a release to a dataset repository"),
    "add_person": _("added a person"),
    "change_role": _("changed a role"),
    "change_work": _("changed what a person works on"),
    "activate_person": _("let a person in again"),
    "deactivate_person": _("deactivated a person"),
    "reset_password": _("gave a person a new password"),
    "change_settings": _("changed the benchmark's figures"),
    "set_cell_target": _("set a cell's target"),
    "issue_token": _("issued an API token"),
    "revoke_token": _("revoked an API token"),
}
# What stands in front of an id on the pages.
PREFIXES = {"sample": "S", "document": "D"}
# Those without zeros in front.
SHORT_PREFIXES = {"run": "R", "call": "C", "draftingbatch": "DB"}


@dataclass(frozen=True)
class Line:
    at: datetime
    subject: str
    what: str | Promise


def line(event: Event) -> Line:
    """One event as a line; an action without words of its own is shown as something done."""
    verb = event.action.partition(".")[2]
    prefix = PREFIXES.get(event.subject_type)
    subject = f"{prefix}-{event.subject_id:04d}" if prefix else ""
    if event.subject_type in SHORT_PREFIXES:
        subject = f"{SHORT_PREFIXES[event.subject_type]}-{event.subject_id}"
    if event.subject_type == "documentversion":
        words = {
            "approve": _("cleared a document"),
            "reject": _("refused a document"),
            "import_from_release": _("took it over from a release of another system"),
        }
        return Line(event.at, subject, words.get(verb, _("worked on a document")))
    if event.subject_type == "importbatch":
        words = {"send_batch": _("brought a batch of texts in"), "cancel": _("cancelled a batch of texts")}
        return Line(event.at, f"B-{event.subject_id}", words.get(verb, _("worked on a batch of texts")))
    return Line(event.at, subject, WORDS.get(verb, _("did something")))
