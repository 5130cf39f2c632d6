"""What happened that a person should hear of. Nothing is written for it: it is read from the trail, whose lines about
one's own work are asked for by name, and how far somebody has read is one number.

Blindness (invariant 5): of a review only its own reviewer hears, and of a case only what is decided; who decided it is
told to leads alone. What another reviewer does has no line here.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.models import Challenge, Claim, Participation, Sample
from annotation.story import reason_of
from annotation.workflow import AT_THE_DESK, ClaimEnd, Job, SampleState
from core.models import Event, User
from documents.models import ImportBatch
from generation.models import LanguageModel, Run, RunCall
from generation.workflow import CallState, Purpose
from leading.models import NoticeMark
from leading.wording import subject_words, words_of
from release.models import Release
from review.models import AnswerReview, ReviewCase
from review.queries import DECIDED
from review.workflow import SeatEnd

SHOWN = 100
MOST_COUNTED = 99

# Said to the person whom it is about, where the trail speaks of them.
SAID_TO_YOU: dict[tuple[str, str], str | Promise] = {
    ("sample", "claim"): _("handed the sample to you"),
    ("sample", "end_claim"): _("ended your claim"),
    ("answerreview", "assign_reviewer"): _("gave you a seat in a review"),
    ("answerreview", "release"): _("freed your seat in a review"),
    ("user", "change_role"): _("changed your role"),
    ("user", "change_work"): _("changed what you work on"),
    ("user", "remove_authenticator"): _("removed your authenticator"),
    ("run", "finish"): _("the models have answered your candidate"),
}
TO_A_LEAD: dict[tuple[str, str], str | Promise] = {
    ("run", "finish"): _("ended a run in which calls failed"),
}
# Whose name may stand beside what they did, for everybody who hears of it.
NAMED = frozenset({"sample", "user", "importbatch"})


@dataclass(frozen=True)
class Notice:
    """One line: what happened to what, where one looks at it, and whether it is new. `by` None is the system."""

    number: int
    at: datetime
    by: User | None
    what: str | Promise
    subject: str
    url: str
    reason: str
    is_new: bool


def _events(kind: str, subjects: Any, *actions: str, **more: Any) -> QuerySet[Event]:
    """Lines about these records. By kind and record, which is what the trail is indexed by."""
    return Event.objects.filter(subject_type=kind, subject_id__in=subjects, action__in=actions, **more)


def _sources(person: User) -> list[QuerySet[Event]]:
    lines = [_events("user", [person.pk], "core.change_role", "core.change_work", "core.remove_authenticator")]
    batches = ImportBatch.objects.filter(made_by=person)
    lines.append(_events("importbatch", batches.values("pk"), "documents.finish"))
    if person.does_stage_work:
        lines += _of_own_work(person)
    return lines + _for_a_lead() if person.is_lead else lines


def _of_own_work(person: User) -> list[QuerySet[Event]]:
    verified = Sample.objects.filter(annotator=person).values("pk")
    held = Claim.objects.filter(holder=person)
    taken = held.filter(ended_how=ClaimEnd.TAKEN_OVER).values("sample")
    judged = Participation.objects.filter(person=person, job=Job.JUDGES).values("sample")
    own = AnswerReview.objects.filter(reviewer=person)
    decided = own.filter(case__state__in=DECIDED).values("case")
    asked = Run.objects.filter(created_by=person, purpose=Purpose.CHALLENGE).values("pk")
    decisions = ("reject", "approve", "reconstruct", "await_document", "adopt_document", "accept")
    return [
        _events("sample", verified, *(f"annotation.{move}" for move in decisions)),
        _events("sample", held.values("sample"), "annotation.claim", data__holder=person.pk),
        _events("sample", taken, "annotation.end_claim", data__how=ClaimEnd.TAKEN_OVER.value),
        # what they sent back, or decided upon, comes again
        _events("sample", judged, "annotation.submit"),
        _events("answerreview", own.values("pk"), "review.assign_reviewer"),
        _events("answerreview", own.values("pk"), "review.release", data__how=SeatEnd.FREED.value),
        _events("reviewcase", decided, "review.accept", "review.adjudicate"),
        _events("run", asked, "generation.finish"),
    ]


def _for_a_lead() -> list[QuerySet[Event]]:
    """What stopped and does not go on by itself, and what was waited for. Solved, it is told no longer."""
    lacking = RunCall.objects.filter(call__state__in=[CallState.FAILED, CallState.UNKNOWN], call__repaired_by=None)
    in_state = {
        "annotation.fail_drafting": SampleState.PLANNED,
        "annotation.exhaust": SampleState.EXHAUSTED,
        "annotation.await_document": SampleState.AWAITING_DOCUMENT,
    }
    return [
        *(_events("sample", Sample.objects.filter(state=state).values("pk"), move) for move, state in in_state.items()),
        _events("run", lacking.values("run"), "generation.finish"),
        Event.objects.filter(subject_type="languagemodel", action="generation.pause_model", by=None),
        Event.objects.filter(subject_type="release", action__in=["release.freeze", "release.fail"]),
        Event.objects.filter(subject_type="user", action="core.accept_invitation"),
    ]


def _numbers(person: User, *, after: int = 0) -> QuerySet[Event, Any]:
    """The lines this person hears of, without their own deeds, in one statement."""
    parts = [part.exclude(by=person).filter(pk__gt=after).order_by().values_list("id") for part in _sources(person)]
    return parts[0].union(*parts[1:])


def seen_up_to(person: User) -> int:
    return NoticeMark.objects.filter(person=person).values_list("seen_up_to", flat=True).first() or 0


def count_for(person: User) -> int:
    """How many are new."""
    return _numbers(person, after=seen_up_to(person)).count()


def notices_for(person: User, *, limit: int = SHOWN) -> list[Notice]:
    """The newest first. In a fixed number of queries."""
    seen = seen_up_to(person)
    numbers = [row[0] for row in _numbers(person).order_by("-id")[:limit]]
    events = list(Event.objects.filter(pk__in=numbers).select_related("by").order_by("-pk"))
    return list(_told(events, person, seen))


@transaction.atomic
def mark_seen(*, up_to: int, by: User) -> int:
    """Everything up to this line of the trail is read; a mark never goes back. It has no line in the trail itself: it
    changes nobody's work. Returns where the mark stands."""
    last = Event.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    try:
        with transaction.atomic():
            NoticeMark.objects.get_or_create(person=by)
    except IntegrityError:
        pass  # another window was faster
    now = timezone.now()
    rows = NoticeMark.objects.filter(person=by, seen_up_to__lt=min(up_to, last))
    rows.update(seen_up_to=min(up_to, last), seen_at=now)
    return seen_up_to(by)


# In words ------------------------------------------------------------------------------------------------------------


def _told(events: list[Event], person: User, seen: int) -> Iterator[Notice]:
    places = _Places(events, person)
    for event in events:
        kind, verb = event.subject_type, event.action.partition(".")[2]
        own = {**SAID_TO_YOU, **(TO_A_LEAD if person.is_lead else {})}
        what = own.get((kind, verb)) or words_of(kind, verb)
        named = kind in NAMED or person.is_lead
        subject, url = places.of(event)
        reason = reason_of(event) if kind == "sample" else ""
        yield Notice(event.pk, event.at, event.by if named else None, what, subject, url, reason, event.pk > seen)


class _Places:
    """What each line is about and where that is looked at: each kind of record is asked for once."""

    def __init__(self, events: list[Event], person: User) -> None:
        self.person = person
        ids: dict[str, set[int]] = defaultdict(set)
        for event in events:
            ids[event.subject_type].add(event.subject_id)
        cases = ids["reviewcase"] | {event.data["case"] for event in events if event.subject_type == "answerreview"}
        self.cases: dict[int, int] = dict(ReviewCase.objects.filter(pk__in=cases).values_list("pk", "sample"))
        asked = Challenge.objects.filter(run__in=ids["run"])
        self.challenged: dict[int, int] = dict(asked.values_list("run", "candidate__sample"))
        self.states: dict[int, str] = dict(Sample.objects.filter(pk__in=ids["sample"]).values_list("pk", "state"))
        self.names: dict[str, dict[int, str]] = {
            "user": dict(User.objects.filter(pk__in=ids["user"]).values_list("pk", "username")),
            "release": dict(Release.objects.filter(pk__in=ids["release"]).values_list("pk", "version")),
            "languagemodel": dict(LanguageModel.objects.filter(pk__in=ids["languagemodel"]).values_list("pk", "name")),
        }

    def of(self, event: Event) -> tuple[str, str]:
        """What to call the record, and its page; both empty where it is gone."""
        kind, pk = event.subject_type, event.subject_id
        name = self.names.get(kind, {}).get(pk, "") or subject_words(kind, pk)
        if kind == "sample":
            return name, self._of_sample(event)
        if kind in {"reviewcase", "answerreview"}:
            return self._of_case(pk if kind == "reviewcase" else event.data["case"])
        if kind == "run":
            return self._of_run(pk)
        if kind == "user" and pk == self.person.pk:
            return name, reverse("core:preferences")
        page = {
            "importbatch": "documents:batch_detail",
            "release": "release:release_detail",
            "languagemodel": "generation:model_edit",
            "user": "leading:person_detail",
        }[kind]
        return name, reverse(page, args=[name if kind == "release" else pk])

    def _of_sample(self, event: Event) -> str:
        pk = event.subject_id
        if event.action == "annotation.submit":
            return reverse("annotation:sample_audit", args=[pk])
        state = "" if self.person.is_lead else self.states.get(pk, "")
        if state in AT_THE_DESK:
            return reverse("annotation:sample_verify", args=[pk])
        if state == SampleState.IN_STANDARDIZATION:
            return reverse("annotation:sample_standardize", args=[pk])
        return reverse("annotation:sample_detail", args=[pk])

    def _of_case(self, case: int) -> tuple[str, str]:
        return subject_words("sample", self.cases[case]), reverse("review:case_review", args=[case])

    def _of_run(self, pk: int) -> tuple[str, str]:
        if self.person.is_lead:
            return subject_words("run", pk), reverse("generation:run_detail", args=[pk])
        sample = self.challenged[pk]
        return subject_words("sample", sample), reverse("annotation:sample_verify", args=[sample])
