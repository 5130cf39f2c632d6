"""What waits for a person and why, oldest first, returned work on top; and what they did today and this week."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Candidate, Sample, StepVerdict, Submission
from annotation.workflow import AuditOutcome, CandidateState, SampleState
from benchmark.taxonomy import Language, secondary_task
from core.models import User
from core.templatetags.ui import task_here
from core.workflow import Role
from documents.models import Document, DocumentVersion
from documents.workflow import VersionState
from generation.models import Run, RunCall
from generation.workflow import CallState, RunState
from leading import queries
from release.models import Release
from release.workflow import ReleaseState
from review.models import Adjudication, AnswerReview
from review.queries import audited_offered_to, cases_offered_to, cases_to_adjudicate
from review.workflow import ReviewState

SHOWN = 12


@dataclass(frozen=True)
class Look:
    """How one kind of waiting work is shown: its state as colour, glyph and word, and the verb on its button."""

    tone: str
    icon: str
    state: str | Promise
    verb: str | Promise


RETURNED = Look("warn", "undo", _("returned"), _("Revise"))
STANDARDIZE = Look("now", "edit", _("standardize"), _("Standardize"))
CLAIMED = Look("now", "clock", _("claimed"), _("Continue"))
FREE = Look("idle", "ring", _("free"), _("Open"))
BEGUN = Look("now", "half", _("begun"), _("Review"))
OFFERED = Look("idle", "ring", _("new"), _("Begin"))
SUBMITTED = Look("idle", "ring", _("submitted"), _("Audit"))
DISPUTED = Look("warn", "bang", _("disputed"), _("Decide"))
TO_SCORE = Look("idle", "ring", _("drawn"), _("Score"))
TO_CLEAR = Look("idle", "ring", _("to clear"), _("Clear it"))
FAILED = Look("fail", "cross", _("failed"), _("Look"))
WITHOUT_DRAFT = Look("warn", "bang", _("no draft"), _("Look"))
TO_REVISE = Look("warn", "undo", _("document to revise"), _("Revise it"))
BLOCKED = Look("warn", "lock", _("blocked"), _("Look"))


@dataclass(frozen=True)
class Item:
    label: str
    url: str
    look: Look
    why: str | Promise
    task: str
    document: str
    since: datetime


@dataclass(frozen=True)
class Group:
    """One part of the list. `count` counts all, `items` holds the first of them."""

    title: str | Promise
    count: int
    items: list[Item] = field(default_factory=list)
    more_url: str = ""


def document_words(document: Document, version: DocumentVersion) -> str:
    language = gettext("English") if document.language == Language.ENGLISH else gettext("Chinese")
    return f"{language} {version.bucket}".strip()


def _item(sample: Sample, look: Look, page: str, why: str | Promise, *, pk: int | None = None) -> Item:
    """`page` is the name of the page that takes the sample, or the record `pk` that it is about."""
    document = document_words(sample.document, sample.document_version)
    url = reverse(page, args=[sample.pk if pk is None else pk])
    return Item(sample.label, url, look, why, task_here(sample.task), document, sample.state_since)


class _Why:
    """Why each of these samples is on the list: two questions for all of them."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        ids = [sample.pk for sample in samples]
        ended = Q(state__in=[CandidateState.PASSED, CandidateState.DISCARDED])
        counted = Candidate.objects.filter(sample__in=ids).order_by().values("sample")
        rows = counted.annotate(every=Count("pk"), left=Count("pk", filter=~ended))
        self.candidates = {row["sample"]: (row["left"], row["every"]) for row in rows}
        sent = Submission.objects.filter(sample__in=ids).select_related("audited_by").order_by("sample", "number")
        self.last: dict[int, Submission] = {
            one.sample_id: one for one in sent.defer("question", "elements", "options", "answer")
        }

    def returned(self, sample: Sample) -> str:
        last = self.last.get(sample.pk)
        if last is None or last.round != sample.round:
            # Nothing was submitted since the expert's decision.
            return sample.reconstruction_reason or gettext("The expert sent it back with feedback.")
        if last.outcome == AuditOutcome.WITHDRAWN:
            return gettext("You took the submission back.")
        if last.outcome == AuditOutcome.APPROVED:
            return gettext("You sent it back from standardization.")
        by = last.audited_by.name if last.audited_by else "–"
        return gettext("%(person)s returned it: “%(feedback)s”") % {"person": by, "feedback": last.feedback}

    def claimed(self, sample: Sample) -> str:
        left, every = self.candidates.get(sample.pk, (0, 0))
        if not every:
            return gettext("You hold the claim.")
        if not left:
            return gettext("Every candidate is judged: select one.")
        return gettext("You hold the claim; %(left)s of %(all)s candidates left.") % {"left": left, "all": every}

    def free(self, sample: Sample) -> str:
        _left, every = self.candidates.get(sample.pk, (0, 0))
        return ngettext("%(n)s candidate; nobody works on it.", "%(n)s candidates; nobody works on it.", every) % {
            "n": every
        }

    def submitted(self, sample: Sample) -> str:
        last = self.last.get(sample.pk)
        words = gettext("Submitted by %(name)s.") % {"name": sample.annotator.name if sample.annotator else "–"}
        if last is not None and last.number > 1:
            words = f"{words} {gettext('Submission %(n)s of this sample.') % {'n': last.number}}"
        return words


def _own_item(sample: Sample, why: _Why) -> Item:
    if sample.state == SampleState.RETURNED:
        return _item(sample, RETURNED, "annotation:sample_verify", why.returned(sample))
    if sample.state == SampleState.IN_STANDARDIZATION:
        words = _("Approved; the two prompts are to be made.")
        return _item(sample, STANDARDIZE, "annotation:sample_standardize", words)
    return _item(sample, CLAIMED, "annotation:sample_verify", why.claimed(sample))


def _own_group(title: str | Promise, rows: list[Sample]) -> Group:
    why = _Why(rows[:SHOWN])
    return Group(title, len(rows), [_own_item(sample, why) for sample in rows[:SHOWN]])


def _own(person: User) -> list[Group]:
    """An annotator's own work is one part of the list, what came back first."""
    rows = sorted(queries.own_samples(person), key=lambda sample: sample.state != SampleState.RETURNED)
    return [_own_group(_("Yours to finish"), rows)]


def _returned(person: User) -> list[Group]:
    """An expert's own, too, come back before what experts do for others."""
    rows = [sample for sample in queries.own_samples(person) if sample.state == SampleState.RETURNED]
    return [_own_group(_("Returned to you"), rows)]


def _unfinished(person: User) -> list[Group]:
    rows = [sample for sample in queries.own_samples(person) if sample.state != SampleState.RETURNED]
    return [_own_group(_("Yours to finish"), rows)]


def _free(person: User) -> list[Group]:
    rows = queries.free_samples(person)
    shown = list(rows[:SHOWN])
    why = _Why(shown)
    items = [_item(sample, FREE, "annotation:sample_verify", why.free(sample)) for sample in shown]
    return [
        Group(_("Free to claim"), rows.count(), items, reverse("annotation:sample_list") + "?state=in_verification")
    ]


def _begun_reviews(person: User) -> list[Group]:
    rows, why = queries.begun_reviews(person), _("Your review is a draft.")
    items = [_item(review.case.sample, BEGUN, "review:case_review", why, pk=review.case_id) for review in rows[:SHOWN]]
    return [Group(_("Your begun reviews"), rows.count(), items, reverse("review:review_list"))]


def _offered_reviews(person: User) -> list[Group]:
    rows = cases_offered_to(person)
    items = [
        _item(
            case.sample,
            OFFERED,
            "review:case_review",
            gettext("Round %(n)s: the answer was revised; you judge it alone.") % {"n": case.round}
            if case.round > 1
            else gettext("Predictions are in; you judge the answer alone."),
            pk=case.pk,
        )
        for case in rows[:SHOWN]
    ]
    return [Group(_("Answers to review"), rows.count(), items, reverse("review:review_list"))]


def _audits(person: User) -> list[Group]:
    rows = queries.audits_for(person)
    shown = list(rows[:SHOWN])
    why = _Why(shown)
    items = [_item(sample, SUBMITTED, "annotation:sample_audit", why.submitted(sample)) for sample in shown]
    return [Group(_("To audit"), rows.count(), items, reverse("annotation:sample_list") + "?state=in_audit")]


def _disputes(person: User) -> list[Group]:
    rows, why = cases_to_adjudicate(person), _("The reviews are in and at least one found an issue.")
    items = [_item(case.sample, DISPUTED, "review:case_adjudicate", why, pk=case.pk) for case in rows[:SHOWN]]
    return [Group(_("To adjudicate"), rows.count(), items, reverse("review:review_list"))]


def _scores(person: User) -> list[Group]:
    rows, why = audited_offered_to(person), _("Drawn for the quality audit; you score it alone.")
    items = [_item(one.sample, TO_SCORE, "review:quality_score", why, pk=one.pk) for one in rows[:SHOWN]]
    return [Group(_("Quality to score"), rows.count(), items, reverse("review:quality"))]


# What only leads are asked for ---------------------------------------------------------------------------------------


def _failed_runs(person: User) -> list[Group]:
    """Runs that ended with calls that nobody has sent again: what they were for does not go on."""
    lacking = Q(run_calls__call__state=CallState.FAILED, run_calls__call__repaired_by=None)
    unknown = Q(run_calls__call__state=CallState.UNKNOWN)
    # From the few calls that failed to their runs, never through all runs.
    broken = RunCall.objects.filter(
        Q(call__state=CallState.FAILED, call__repaired_by=None) | Q(call__state=CallState.UNKNOWN)
    )
    rows = Run.objects.filter(pk__in=broken.values("run"), state=RunState.FINISHED).order_by("finished_at", "pk")
    shown = rows[:SHOWN].values_list("pk", flat=True)
    told = Run.objects.filter(pk__in=list(shown)).select_related("document_version__document")
    told = told.defer("prompt", "prompt_thinking", "reference").order_by("finished_at", "pk")
    counted = told.annotate(
        every=Count("run_calls"), failed=Count("run_calls", filter=lacking), unknown=Count("run_calls", filter=unknown)
    )
    items = [
        Item(
            f"R-{run.pk}",
            reverse("generation:run_detail", args=[run.pk]),
            FAILED,
            _run_words(run),
            task_here(secondary_task(run.task_code)),
            document_words(run.document_version.document, run.document_version),
            run.finished_at or run.created_at,
        )
        for run in counted
    ]
    return [Group(_("Runs with failed calls"), rows.count(), items, reverse("generation:run_list"))]


def _run_words(run: Any) -> str:
    words = [run.get_purpose_display()]
    if run.failed:
        words.append(gettext("%(n)s of %(all)s calls failed") % {"n": run.failed, "all": run.every})
    if run.unknown:
        words.append(gettext("%(n)s of %(all)s calls ended nobody knows how") % {"n": run.unknown, "all": run.every})
    return " · ".join(words)


def _failed_releases(person: User) -> list[Group]:
    rows = Release.objects.filter(state=ReleaseState.FAILED).defer("manifest").order_by("state_since", "pk")
    items = [
        Item(
            one.version,
            reverse("release:release_detail", args=[one.version]),
            FAILED,
            one.error,
            "",
            "",
            one.state_since,
        )
        for one in rows[:SHOWN]
    ]
    return [Group(_("Releases that could not be made"), rows.count(), items, reverse("release:release_list"))]


def _stopped(
    title: str | Promise, rows: QuerySet[Sample], look: Look, page: str, why: str | Promise, more: str
) -> Group:
    """Samples that wait for a lead, oldest first."""
    waiting = rows.select_related("document", "document_version").order_by("state_since", "pk")
    by_document = page.startswith("documents:")
    items = [
        _item(sample, look, page, why, pk=sample.document_id if by_document else sample.pk)
        for sample in waiting[:SHOWN]
    ]
    return Group(title, rows.count(), items, reverse("annotation:sample_list") + more)


def _stopped_samples(person: User) -> list[Group]:
    live = queries.live_samples()
    blocked = live.exclude(document_version__state=VersionState.APPROVED)
    undrafted = live.filter(state=SampleState.PLANNED).exclude(drafting_run=None)
    return [
        _stopped(
            _("Documents to revise"),
            live.filter(state=SampleState.AWAITING_DOCUMENT),
            TO_REVISE,
            "documents:document_detail",
            _("An expert ordered a new version of the document."),
            "?state=awaiting_document",
        ),
        _stopped(
            _("Blocked samples"),
            blocked.exclude(state__in=[SampleState.PLANNED, SampleState.AWAITING_DOCUMENT]),
            BLOCKED,
            "documents:document_detail",
            _("The document's approval was withdrawn."),
            "",
        ),
        _stopped(
            _("Without a draft"),
            undrafted,
            WITHOUT_DRAFT,
            "annotation:sample_detail",
            _("No model gave a valid draft."),
            "?state=planned",
        ),
    ]


def _documents(person: User) -> list[Group]:
    rows = queries.documents_to_clear()
    items = [
        Item(
            f"D-{version.document_id:04d}",
            reverse("documents:document_detail", args=[version.document_id]),
            TO_CLEAR,
            version.document.title,
            "",
            document_words(version.document, version),
            version.made_at,
        )
        for version in rows[:SHOWN]
    ]
    return [Group(_("Documents to clear"), rows.count(), items, reverse("documents:document_list") + "?state=pending")]


PARTS: dict[str, tuple[Callable[[User], list[Group]], ...]] = {
    Role.ANNOTATOR: (_own, _begun_reviews, _offered_reviews, _free, _documents),
    Role.EXPERT: (
        *(_returned, _disputes, _audits, _scores, _unfinished, _begun_reviews, _offered_reviews),
        *(_free, _documents),
    ),
    Role.LEAD: (_failed_releases, _failed_runs, _stopped_samples, _documents),
}


def groups_for(person: User) -> list[Group]:
    return [group for part in PARTS[person.role] for group in part(person) if group.count]


def next_url(groups: list[Group]) -> str:
    """Where the first thing on the list is done."""
    return next((item.url for group in groups for item in group.items), "")


def came_back(groups: list[Group]) -> int:
    """How many of those shown were returned."""
    return sum(item.look is RETURNED for group in groups for item in group.items)


# Own figures ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """One count of a person's own work: today, since Monday, and in the week before."""

    label: str | Promise
    today: int
    week: int
    last_week: int


def figures_of(person: User) -> list[Figure]:
    """What they and the leads see. Days and weeks are those of the person's zone."""
    judged = StepVerdict.objects.filter(by=person, voided_at=None)
    counts = [
        _figure(_("Candidates judged"), judged, "at", "candidate"),
        _figure(_("Submitted"), Submission.objects.filter(submitted_by=person, withdrawn_at=None), "submitted_at"),
        _figure(
            _("Approved at the first audit"),
            Submission.objects.filter(submitted_by=person, outcome=AuditOutcome.APPROVED, number=1),
            "audited_at",
        ),
        _figure(
            _("Reviewed"),
            AnswerReview.objects.filter(reviewer=person, state=ReviewState.SUBMITTED),
            "submitted_at",
        ),
    ]
    if person.is_expert:
        counts.append(_figure(_("Audited"), Submission.objects.filter(audited_by=person), "audited_at"))
        counts.append(_figure(_("Decided"), Adjudication.objects.filter(decided_by=person), "decided_at"))
    return counts


def _figure(label: str | Promise, rows: QuerySet[Any], when: str, what: str = "pk") -> Figure:
    day = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    monday = day - timedelta(days=day.weekday())
    before = monday - timedelta(days=7)

    def since(start: datetime, end: datetime | None = None) -> Count:
        within = Q(**{f"{when}__gte": start}) & (Q(**{f"{when}__lt": end}) if end else Q())
        return Count(what, filter=within, distinct=True)

    found = rows.order_by().aggregate(today=since(day), week=since(monday), last_week=since(before, monday))
    return Figure(label, found["today"], found["week"], found["last_week"])
