"""Events in words, for the list of what a person did last."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.story import WORDS as SAMPLE_WORDS
from core.models import Event
from documents.workflow import Origin

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
    "remove_provider_limit": _("removed a provider's limits"),
    "watch_names": _("changed the names to watch for"),
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
    "replace_audited": _("drew another sample for the quality audit"),
    "score_audited": _("scored a sample's quality"),
    "ask_for_label": _("asked for a difficulty"),
    "make_release": _("made a release"),
    "freeze": _("froze a release"),
    "withdraw": _("withdrew a release"),
    "import_release": _("imported a release"),
    "import_from_release": _("took it over from a release of another system"),
    "push_release": _("pushed a release to a dataset repository"),
    "add_person": _("added a person"),
    "change_role": _("changed a role"),
    "change_work": _("changed what a person works on"),
    "activate_person": _("let a person in again"),
    "deactivate_person": _("deactivated a person"),
    "reset_password": _("gave a person a new password"),
    "invite": _("invited somebody"),
    "revoke_invitation": _("revoked an invitation"),
    "accept_invitation": _("came by an invitation"),
    "make_reset_link": _("made a link to a new password"),
    "use_reset_link": _("chose a new password by a link"),
    "remove_authenticator": _("removed a person’s authenticator"),
    "change_settings": _("changed the benchmark's figures"),
    "set_cell_target": _("set a cell's target"),
    "set_cell_targets": _("set targets of cells"),
    "save_guidelines": _("changed the wording of the guidelines"),
    "issue_token": _("issued an API token"),
    "revoke_token": _("revoked an API token"),
}
# What the same word says of another kind of record. The moves of models and workers are here as well: a lead who reads
# the trail meets them.
OF_A_KIND: dict[tuple[str, str], str | Promise] = {
    ("documentversion", "approve"): _("cleared a document"),
    ("documentversion", "reject"): _("refused a document"),
    ("documentversion", "cut"): _("cut a document into several"),
    **{("documentversion", f"make_version_by_{origin}"): _("made a version of a document") for origin in Origin.values},
    ("importbatch", "send_batch"): _("brought a batch of texts in"),
    ("importbatch", "start"): _("began to read a batch of texts"),
    ("importbatch", "resume_batch"): _("went on reading a batch of texts"),
    ("importbatch", "finish"): _("read a batch of texts to its end"),
    ("importbatch", "cancel"): _("cancelled a batch of texts"),
    ("run", "start"): _("began a run"),
    ("run", "finish"): _("ended a run"),
    ("call", "send"): _("sent a call"),
    ("call", "succeed"): _("received an answer"),
    ("call", "succeed_partly"): _("received an answer that is good in part"),
    ("call", "fail"): _("received no answer: the call failed"),
    ("call", "wait_for_retry"): _("put a failed call back to be sent again"),
    ("call", "lose"): _("lost a call: whether it was billed is unknown"),
    ("call", "cancel"): _("cancelled a call"),
    ("call", "settle"): _("settled what an unknown call cost"),
    ("call", "late_reply"): _("received an answer that came too late"),
    ("languagemodel", "send_trial"): _("sent a test call"),
    ("reviewcase", "ask_for_predictions"): _("asked for the predictions of a case"),
    ("reviewcase", "send_predictions_again"): _("asked again for the predictions of a case"),
    ("reviewcase", "open"): _("opened a case for review"),
    ("reviewcase", "accept"): _("accepted a case: neither review found an issue"),
    ("reviewcase", "dispute"): _("passed a case to adjudication"),
    ("answerreview", "submit"): _("submitted a review"),
    ("answerreview", "release"): _("gave a seat in a review back"),
    ("answerreview", "take_again"): _("took a seat in a review again"),
    ("answerreview", "assign_reviewer"): _("gave a seat in a review to somebody"),
    ("release", "retry"): _("had a failed release made again"),
    ("release", "fail"): _("could not make a release"),
}
# What stands in front of an id on the pages.
PREFIXES = {"sample": "S", "document": "D"}
# Those without zeros in front.
SHORT_PREFIXES = {"run": "R", "call": "C", "draftingbatch": "DB", "importbatch": "B"}


@dataclass(frozen=True)
class Line:
    at: datetime
    subject: str
    what: str | Promise


def words_of(kind: str, verb: str) -> str | Promise:
    """What was done to a record of this kind; empty where the action has no words."""
    return OF_A_KIND.get((kind, verb)) or WORDS.get(verb, "")


def line(event: Event) -> Line:
    """One event as a line; an action without words of its own is shown as something done."""
    kind = event.subject_type
    words = words_of(kind, event.action.partition(".")[2]) or _("did something")
    return Line(event.at, subject_words(kind, event.subject_id), words)


def subject_words(kind: str, pk: int) -> str:
    if kind in SHORT_PREFIXES:
        return f"{SHORT_PREFIXES[kind]}-{pk}"
    return f"{PREFIXES[kind]}-{pk:04d}" if kind in PREFIXES else ""
