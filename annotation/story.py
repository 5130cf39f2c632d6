"""A sample's history in words: its own events and those of its candidates, oldest first."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.claims import ACCOUNT_CLOSED
from annotation.models import Sample
from annotation.workflow import Part, SampleState
from core.models import Event, User

WORDS: dict[str, str | Promise] = {
    "create": _("paired the document with the task"),
    "draft": _("asked the models to draft"),
    "receive_drafts": _("received the drafts"),
    "receive_late_drafts": _("received drafts that came late"),
    "fail_drafting": _("got no valid draft"),
    "claim": _("claimed the sample"),
    "end_claim": _("ended the claim"),
    "select": _("selected a candidate"),
    "submit": _("submitted it to expert audit"),
    "exhaust": _("ended it as exhausted: no candidate is left"),
    "approve": _("approved the question"),
    "reject": _("returned it with feedback"),
    "withdraw_submission": _("took the submission back"),
    "answer_remark": _("answered a remark"),
    "save_standardization": _("saved the standardization"),
    "standardize": _("completed the standardization"),
    "reopen": _("sent it back to the desk"),
    "open_review": _("opened the answer review"),
    "accept": _("accepted the sample"),
    "dispute": _("passed it to adjudication"),
    "reconstruct": _("ordered reconstruction"),
    "await_document": _("ordered a revised document"),
    "adopt_document": _("adopted the revised document"),
    "import_from_release": _("took it over from a release of another system"),
    "read": _("read the candidate"),
    "pass_task_a": _("passed Task A"),
    "pass_task_b": _("passed Task B"),
    "pass_task_c": _("passed Task C"),
    "reopen_task_a": _("opened Task A again"),
    "reopen_task_b": _("opened Task B again"),
    "reopen_task_c": _("opened Task C again"),
    "edit": _("edited the candidate"),
    "take_back_task_a": _("took back the verdict of Task A"),
    "take_back_task_b": _("took back the verdict of Task B"),
    "take_back_task_c": _("took back the verdict of Task C"),
    "take_back_discard_at_read": _("took back the discard"),
    "take_back_discard_at_task_a": _("took back the discard"),
    "take_back_discard_at_task_b": _("took back the discard"),
    "take_back_discard_at_task_c": _("took back the discard"),
    "bring_back": _("brought the exhausted sample back to the desk"),
    "bring_back_returned": _("brought the exhausted sample back to the desk"),
    "challenge": _("asked the models to answer"),
    "overrule": _("overruled a score"),
    "discard": _("discarded the candidate"),
    "ask_for_label": _("asked for a difficulty"),
    "label": _("settled the difficulty"),
}

SAVED = "annotation.save_standardization"


@dataclass(frozen=True)
class Line:
    """One event: when, who, what, to which candidate, to which state, and why."""

    at: datetime
    by: User | None
    what: str | Promise
    candidate: int | None
    state: str | Promise
    reason: str
    times: int = 1


def story_of(sample: Sample, *, trail: bool) -> list[Line]:
    """Without `trail` only the sample's own moves, without reasons."""
    positions: dict[int, int] = dict(sample.candidates.values_list("pk", "position"))
    of_sample = Q(subject_type="sample", subject_id=sample.pk)
    of_candidates = Q(subject_type="candidate", subject_id__in=positions)
    events = Event.objects.filter(action__startswith="annotation.").select_related("by").order_by("pk")
    chosen = events.filter(of_sample | of_candidates if trail else of_sample)
    return [replace(_line(run[-1], positions, trail), times=len(run)) for run in _runs(chosen)]


def _runs(events: Iterable[Event]) -> Iterator[list[Event]]:
    """A draft saves itself at every pause of the typing: saves by one person in a row are one line."""
    run: list[Event] = []
    for event in events:
        if run and not (event.action == run[-1].action == SAVED and event.by_id == run[-1].by_id):
            yield run
            run = []
        run.append(event)
    if run:
        yield run


def _line(event: Event, positions: dict[int, int], trail: bool) -> Line:
    name = event.action.removeprefix("annotation.")
    of_candidate = event.subject_type == "candidate"
    state: Any = SampleState(event.to_state).label if event.to_state and not of_candidate else ""
    return Line(
        at=event.at,
        by=event.by,
        what=WORDS.get(name, name),
        candidate=positions.get(event.subject_id) if of_candidate else None,
        state=state,
        reason=reason_of(event) if trail else "",
    )


# How `auditing` writes the remarks of a decision into the trail: each on a line, with its part.
_OF_A_PART = re.compile(rf"^({'|'.join(Part.values)})( \d+)?: ", re.MULTILINE)


def _named(found: re.Match[str]) -> str:
    return gettext("%(part)s: ") % {"part": f"{Part(found[1]).label}{found[2] or ''}"}


def reason_of(event: Event) -> str:
    """As somebody typed it; what the system itself said is told in the reader's language, the parts of remarks too."""
    name = event.action.partition(".")[2]
    if event.reason and (event.by is None or name == "exhaust" or event.reason == ACCOUNT_CLOSED):
        return gettext(event.reason)
    if name == "reject":
        return _OF_A_PART.sub(_named, event.reason)
    return event.reason
