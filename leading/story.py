"""Everything that happened to a sample, from its document to its release, in words, as far as this person may know it.

Each stage is asked in a fixed number of queries. What reviewers may not know (invariant 5) is decided by
`review.queries` and `annotation.access`, never here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import groupby, zip_longest
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import Q, QuerySet, TextChoices
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.access import sees_trail
from annotation.models import Candidate, Sample
from annotation.story import WORDS as SAMPLE_WORDS
from annotation.story import reason_of
from annotation.workflow import CandidateState, ClaimEnd, Job, Part, ReconstructionStep, SampleState, Step
from core.models import Event, User
from documents.models import DocumentVersion
from documents.wording import normalisation_in_words
from documents.workflow import Flag, Origin, VersionState
from generation.models import Run, RunCall
from generation.workflow import Purpose, RunState, trouble_words
from release.models import DifficultyLabel, ReleaseItem
from release.templatetags.release_parts import listed
from review.models import AnswerReview, ReviewCase
from review.queries import DECIDED, reviews_visible_to
from review.workflow import SeatEnd

Words = str | Promise


class Stage(TextChoices):
    DOCUMENT = "document", _("Document")
    DRAFTING = "drafting", _("Drafting")
    VERIFICATION = "verification", _("Verification")
    AUDIT = "audit", _("Expert audit")
    STANDARDIZATION = "standardization", _("Standardization")
    REVIEW = "review", _("Answer review")
    DIFFICULTY = "difficulty", _("Difficulty")
    RELEASE = "release", _("Release")


@dataclass(frozen=True)
class CallLine:
    """One model's part in a run. Money is a lead's to see: None where it is not told or not known."""

    model: str
    simulated: bool
    state: Words
    tone: str
    trouble: str
    tokens_in: int | None
    tokens_out: int | None
    usd: Decimal | None


@dataclass(frozen=True)
class Line:
    """One event: when, who, in which stage, what, more of it, to which state, and why. `by` None is the system."""

    at: datetime
    order: int
    stage: Stage
    by: User | None
    what: Words
    more: tuple[Words, ...] = ()
    state: Words = ""
    reason: str = ""
    run: int | None = None
    usd: Decimal | None = None
    unpriced: int = 0
    calls: tuple[CallLine, ...] = ()


@dataclass(frozen=True)
class Day:
    day: date
    lines: tuple[Line, ...]


def story_of(sample: Sample, person: User) -> list[Line]:
    """Oldest first."""
    trail = sees_trail(person, sample)
    lines = [
        *_of_the_document(sample, person),
        *_of_the_sample(sample, trail),
        *(_of_runs(sample, person) if trail else ()),
        *_of_reviews(sample, person),
        *_of_releases(sample),
    ]
    return sorted(lines, key=lambda line: (line.at, line.order))


def days_of(lines: Iterable[Line]) -> list[Day]:
    """By the days of the reader's zone."""
    return [Day(day, tuple(part)) for day, part in groupby(lines, key=lambda line: timezone.localtime(line.at).date())]


def _events(wanted: Q) -> QuerySet[Event]:
    return Event.objects.filter(wanted).select_related("by").order_by("pk")


def _about(kind: str, ids: Iterable[int]) -> Q:
    return Q(subject_type=kind, subject_id__in=list(ids))


# The document ----------------------------------------------------------------------------------------------------

VERSION_WORDS: dict[str, Words] = {
    "approve": _("cleared the document"),
    "reject": _("refused the document"),
    "import_from_release": _("took it over from a release of another system"),
    "cut": _("cut the document into several"),
    "rebucket": _("sorted the document into another bucket"),
    "correct_document": _("corrected what is known of the document"),
}
MADE = "make_version_by_"


def _of_the_document(sample: Sample, person: User) -> Iterator[Line]:
    versions = {one.pk: one for one in DocumentVersion.objects.filter(document=sample.document_id)}
    wanted = _about("documentversion", versions) | _about("document", [sample.document_id])
    for event in _events(wanted & Q(action__startswith="documents.")):
        verb = event.action.partition(".")[2]
        version = versions.get(event.subject_id) if event.subject_type == "documentversion" else None
        if verb.startswith(MADE):
            what: Words = gettext("made version %(number)s: %(how)s") % {
                "number": version.number if version else "–",
                "how": Origin(verb.removeprefix(MADE)).label,
            }
            more = tuple(_measure(event, version))
        else:
            what, more = VERSION_WORDS.get(verb, _("worked on the document")), tuple(_decision(event, version))
        state = VersionState(event.to_state).label if event.to_state else ""
        yield Line(event.at, event.pk, Stage.DOCUMENT, event.by, what, more, state, event.reason)


def _measure(event: Event, version: DocumentVersion | None) -> Iterator[Words]:
    if tokens := event.data.get("tokens"):
        yield ngettext("%(n)s token", "%(n)s tokens", tokens) % {"n": intcomma(tokens)}
    yield event.data.get("bucket") or gettext("no bucket")
    yield from normalisation_in_words(version.normalisation) if version else ()


def _decision(event: Event, version: DocumentVersion | None) -> Iterator[Words]:
    if version is not None:
        yield gettext("version %(number)s") % {"number": version.number}
    for flag in event.data.get("flags") or ():
        yield Flag(flag).label if flag in Flag.values else flag


# The sample and its candidates -------------------------------------------------------------------------------------

STAGES: dict[str, Stage] = {
    **dict.fromkeys(
        ("create", "draft", "receive_drafts", "receive_late_drafts", "fail_drafting", "adopt_document"), Stage.DRAFTING
    ),
    **dict.fromkeys(("approve", "reject", "withdraw_submission"), Stage.AUDIT),
    **dict.fromkeys(("save_standardization", "standardize", "reopen"), Stage.STANDARDIZATION),
    **dict.fromkeys(("open_review", "accept", "dispute", "reconstruct", "await_document"), Stage.REVIEW),
    **dict.fromkeys(("ask_for_label", "label"), Stage.DIFFICULTY),
    "import_from_release": Stage.RELEASE,
}
CLAIMS = frozenset({"claim", "end_claim"})
# Saving while typing comes often; the story tells the last of a row.
OFTEN = frozenset({"save_standardization"})


def _of_the_sample(sample: Sample, trail: bool) -> Iterator[Line]:
    """Without `trail` only the sample's own moves, without reasons."""
    positions = dict(sample.candidates.values_list("pk", "position"))
    wanted = _about("sample", [sample.pk])
    if trail:
        wanted |= _about("candidate", positions)
    events = list(_events(wanted & (Q(action__startswith="annotation.") | Q(action__startswith="release."))))
    people = _people_in(events)
    told = [event for event, after in zip_longest(events, events[1:]) if not _is_repeated(event, after)]
    judging = False
    for event in told:
        # The end of a claim says nothing of the work that it was for; its beginning does.
        judging = event.data.get("job") == Job.JUDGES if _verb(event) == "claim" else judging
        if trail or (event.to_state and event.action.startswith("annotation.")):
            yield _sample_line(event, Stage.AUDIT if judging else Stage.VERIFICATION, positions, people, trail)


def _verb(event: Event) -> str:
    return event.action.partition(".")[2]


def _is_repeated(event: Event, after: Event | None) -> bool:
    return after is not None and _verb(event) in OFTEN and (event.action, event.by_id) == (after.action, after.by_id)


def _people_in(events: Iterable[Event]) -> Mapping[int, User]:
    return User.objects.in_bulk({event.data["holder"] for event in events if "holder" in event.data})


def _sample_line(
    event: Event, stage: Stage, positions: Mapping[int, int], people: Mapping[int, User], trail: bool
) -> Line:
    verb = _verb(event)
    of_candidate = event.subject_type == "candidate"
    states = CandidateState if of_candidate else SampleState
    more = tuple(_more(event, positions, people)) if trail else ()
    return Line(
        event.at,
        event.pk,
        STAGES.get(verb, stage if verb in CLAIMS else Stage.VERIFICATION),
        event.by,
        SAMPLE_WORDS.get(verb, _("did something")),
        more,
        states(event.to_state).label if event.to_state else "",
        reason_of(event) if trail else "",
    )


def _more(event: Event, positions: Mapping[int, int], people: Mapping[int, User]) -> Iterator[Words]:
    data = event.data
    number = positions.get(event.subject_id if event.subject_type == "candidate" else data.get("candidate", 0))
    if number is not None:
        yield gettext("candidate %(n)s") % {"n": number}
    if (holder := people.get(data.get("holder", 0))) and holder != event.by:
        yield gettext("for %(person)s") % {"person": holder.name}
    for name, tell in DETAILS.items():
        if (value := data.get(name)) not in (None, "", []):
            yield tell(value)


def _labelled(choices: type[TextChoices]) -> Callable[[Any], Words]:
    return lambda value: choices(value).label if value in choices.values else str(value)


DETAILS: dict[str, Callable[[Any], Words]] = {
    "how": _labelled(ClaimEnd),
    "step": lambda value: _labelled(ReconstructionStep if value in ReconstructionStep.values else Step)(value),
    "part": _labelled(Part),
    "submission": lambda value: gettext("submission %(n)s") % {"n": value},
    "remarks": lambda value: ngettext("%(n)s remark", "%(n)s remarks", value) % {"n": value},
    "dealt": lambda value: gettext("dealt with") if value else gettext("open"),
    "version": lambda value: gettext("version %(number)s") % {"number": value},
    "round": lambda value: gettext("round %(n)s") % {"n": value},
    "candidates": lambda value: ngettext("%(n)s candidate", "%(n)s candidates", value) % {"n": value},
    "difficulty": listed,
}


# What models did ---------------------------------------------------------------------------------------------------

RUN_STAGES: dict[str, Stage] = {
    Purpose.DRAFTING: Stage.DRAFTING,
    Purpose.CHALLENGE: Stage.VERIFICATION,
    Purpose.PREDICTION: Stage.REVIEW,
    Purpose.DIFFICULTY: Stage.DIFFICULTY,
}
RUN_WORDS: dict[str, Words] = {
    Purpose.DRAFTING: _("the models drafted questions"),
    Purpose.CHALLENGE: _("the models answered a candidate"),
    Purpose.PREDICTION: _("the models answered the standardized prompt"),
    Purpose.DIFFICULTY: _("the models of all tiers answered"),
}
# What the annotator's models did belongs to the trail; predictions and difficulty are a lead's.
OF_THE_TRAIL = frozenset({Purpose.DRAFTING, Purpose.CHALLENGE})


def _of_runs(sample: Sample, person: User) -> Iterator[Line]:
    about: dict[int, tuple[Words, ...]] = {sample.drafting_run_id: ()} if sample.drafting_run_id else {}
    challenged = Candidate.objects.filter(sample=sample, challenges__isnull=False)
    for position, version, asked in challenged.values_list(
        "position", "challenges__candidate_version", "challenges__run"
    ).order_by("challenges__pk"):
        words = (
            gettext("candidate %(n)s") % {"n": position},
            gettext("version %(number)s") % {"number": version},
        )
        about[asked] = words
    if person.is_lead:
        cases = ReviewCase.objects.filter(sample=sample).exclude(prediction_run=None)
        labels = DifficultyLabel.objects.filter(sample=sample).exclude(run=None)
        about |= dict.fromkeys(
            [*cases.values_list("prediction_run", flat=True), *labels.values_list("run", flat=True)], ()
        )
    calls = _calls_by_run(about, with_costs=person.is_lead)
    runs = Run.objects.filter(pk__in=about).select_related("created_by")
    for run in runs.defer("prompt", "prompt_thinking", "reference").order_by("pk"):
        yield _run_line(run, about[run.pk], calls.get(run.pk, ()), person)


def _calls_by_run(runs: Iterable[int], *, with_costs: bool) -> dict[int, tuple[CallLine, ...]]:
    rows = (
        RunCall.objects.filter(run__in=list(runs))
        .select_related("call", "call__model")
        .defer("elements", "call__raw", "call__reasoning", "call__prompt")
        .order_by("run_id", "call__model__position", "call__model_id", "call__number", "pk")
    )
    return {
        run: tuple(_call_line(row, with_costs) for row in part) for run, part in groupby(rows, lambda row: row.run_id)
    }


def _call_line(row: RunCall, with_costs: bool) -> CallLine:
    call = row.call
    trouble = trouble_words(call.error_class) if call.error_class else ""
    costs = (call.tokens_in, call.tokens_out, call.cost_usd) if with_costs else (None, None, None)
    return CallLine(call.model.name, call.model.is_simulated, call.get_state_display(), call.tone, trouble, *costs)


def _run_line(run: Run, about: tuple[Words, ...], calls: tuple[CallLine, ...], person: User) -> Line:
    failed = [call for call in calls if call.tone == "fail"]
    answered = [call for call in calls if call.tone in {"pass", "warn"} and not call.trouble]
    more: list[Words] = [*about]
    more.append(gettext("%(n)s of %(all)s calls answered") % {"n": len(answered), "all": len(calls)})
    if failed:
        more.append(ngettext("%(n)s failed", "%(n)s failed", len(failed)) % {"n": len(failed)})
    known = [call.usd for call in calls if call.usd is not None]
    return Line(
        run.finished_at or run.created_at,
        0,
        RUN_STAGES[run.purpose],
        None,
        RUN_WORDS[run.purpose],
        tuple(more),
        RunState(run.state).label,
        run=run.pk if person.is_lead else None,
        usd=sum(known, Decimal(0)) if person.is_lead and known else None,
        unpriced=sum(call.usd is None for call in answered) if person.is_lead else 0,
        calls=calls,
    )


# Answer review -----------------------------------------------------------------------------------------------------

REVIEW_WORDS: dict[tuple[str, str], Words] = {
    ("answerreview", "take_seat"): _("took a seat in the review"),
    ("answerreview", "submit"): _("submitted their review"),
    ("answerreview", "take_again"): _("took a seat in the review again"),
    ("answerreview", "release"): _("the seat went back"),
    ("answerreview", "assign_reviewer"): _("gave a seat in the review"),
    ("reviewcase", "send_predictions_again"): _("asked again for predictions"),
    ("reviewcase", "make_case"): _("made a review case"),
    ("reviewcase", "ask_for_predictions"): _("asked for predictions"),
    ("reviewcase", "open"): _("opened the review: the predictions are in"),
    ("reviewcase", "dispute"): _("both reviews are in: at least one found an issue"),
    ("reviewcase", "accept"): _("both reviews are in: neither found an issue"),
    ("reviewcase", "take_case"): _("took the case to decide"),
    ("reviewcase", "adjudicate"): _("decided the case"),
    ("reviewcase", "look_at_reviews"): _("looked at undecided reviews"),
}


def _of_reviews(sample: Sample, person: User) -> Iterator[Line]:
    """Of reviews what this person may read: their own; of cases what they decide, once both reviews are in."""
    visible = reviews_visible_to(person).filter(case__sample=sample)
    reviews: dict[int, AnswerReview] = {one.pk: one for one in visible}
    cases = ReviewCase.objects.filter(sample=sample)
    if not person.is_lead:
        judges = sample.participations.filter(person=person, job=Job.JUDGES).exists()
        cases = cases.filter(state__in=DECIDED) if judges else cases.none()
    wanted = _about("answerreview", reviews) | _about("reviewcase", cases.values_list("pk", flat=True))
    for event in _events(wanted & Q(action__startswith="review.")):
        what = REVIEW_WORDS.get((event.subject_type, _verb(event)), _("did something"))
        reason = gettext(event.reason) if event.by is None and event.reason else event.reason
        told: dict[str, type[TextChoices]] = {"step": ReconstructionStep, "how": SeatEnd}
        more = tuple(_labelled(told[name])(event.data[name]) for name in told if event.data.get(name))
        yield Line(event.at, event.pk, Stage.REVIEW, event.by, what, more, "", reason)


# Release -----------------------------------------------------------------------------------------------------------


def _of_releases(sample: Sample) -> Iterator[Line]:
    items = ReleaseItem.objects.filter(sample=sample).defer("fields", "provenance")
    releases = {item.release_id: item.release for item in items.select_related("release")}
    words: dict[str, Words] = {
        "freeze": _("froze it into a release"),
        "withdraw": _("withdrew the release that holds it"),
    }
    for event in _events(_about("release", releases) & Q(action__startswith="release.")):
        if (what := words.get(_verb(event))) is not None:
            more = (releases[event.subject_id].version,)
            yield Line(event.at, event.pk, Stage.RELEASE, event.by, what, more, "", event.reason)
