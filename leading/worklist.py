"""What waits for a person and why, oldest first, returned work on top."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Sample
from annotation.workflow import AuditOutcome, SampleState
from benchmark.taxonomy import Language
from core.models import User
from core.templatetags.ui import task_here
from core.workflow import Role
from documents.models import Document, DocumentVersion
from leading import queries
from review.queries import cases_offered_to, cases_to_adjudicate

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
TO_CLEAR = Look("idle", "ring", _("to clear"), _("Clear it"))


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


def _own_item(sample: Sample) -> Item:
    if sample.state == SampleState.RETURNED:
        why = sample.reconstruction_reason or _("The expert sent it back with feedback.")
        if getattr(sample, "last_outcome", "") == AuditOutcome.WITHDRAWN:
            why = _("You took the submission back.")
        return _item(sample, RETURNED, "annotation:sample_verify", why)
    if sample.state == SampleState.IN_STANDARDIZATION:
        why = _("Approved; the two prompts are to be made.")
        return _item(sample, STANDARDIZE, "annotation:sample_standardize", why)
    return _item(sample, CLAIMED, "annotation:sample_verify", _("You hold the claim."))


def _own(person: User) -> Group:
    rows = sorted(queries.own_samples(person), key=lambda sample: sample.state != SampleState.RETURNED)
    return Group(_("Yours to finish"), len(rows), [_own_item(sample) for sample in rows[:SHOWN]])


def _free(person: User) -> Group:
    rows, why = queries.free_samples(person), _("Candidates are in; nobody works on it.")
    items = [_item(sample, FREE, "annotation:sample_verify", why) for sample in rows[:SHOWN]]
    return Group(_("Free to claim"), rows.count(), items, reverse("annotation:sample_list") + "?state=in_verification")


def _begun_reviews(person: User) -> Group:
    rows, why = queries.begun_reviews(person), _("Your review is a draft.")
    items = [_item(review.case.sample, BEGUN, "review:case_review", why, pk=review.case_id) for review in rows[:SHOWN]]
    return Group(_("Your begun reviews"), rows.count(), items, reverse("review:review_list"))


def _offered_reviews(person: User) -> Group:
    rows, why = cases_offered_to(person), _("Predictions are in; you judge the answer alone.")
    items = [_item(case.sample, OFFERED, "review:case_review", why, pk=case.pk) for case in rows[:SHOWN]]
    return Group(_("Answers to review"), rows.count(), items, reverse("review:review_list"))


def _audits(person: User) -> Group:
    rows = queries.audits_for(person)
    items = [
        _item(
            sample,
            SUBMITTED,
            "annotation:sample_audit",
            gettext("Submitted by %(name)s.") % {"name": sample.annotator.name if sample.annotator else "–"},
        )
        for sample in rows[:SHOWN]
    ]
    return Group(_("To audit"), rows.count(), items)


def _disputes(person: User) -> Group:
    rows, why = cases_to_adjudicate(person), _("The reviews are in and at least one found an issue.")
    items = [_item(case.sample, DISPUTED, "review:case_adjudicate", why, pk=case.pk) for case in rows[:SHOWN]]
    return Group(_("To adjudicate"), rows.count(), items, reverse("review:review_list"))


def _documents(person: User) -> Group:
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
    return Group(_("Documents to clear"), rows.count(), items, reverse("documents:document_list") + "?state=pending")


PARTS: dict[str, tuple[Callable[[User], Group], ...]] = {
    Role.ANNOTATOR: (_own, _begun_reviews, _offered_reviews, _free, _documents),
    Role.EXPERT: (_disputes, _audits, _own, _begun_reviews, _offered_reviews, _free, _documents),
    Role.LEAD: (_documents,),
}


def groups_for(person: User) -> list[Group]:
    return [group for part in PARTS[person.role] if (group := part(person)).count]


def next_url(groups: list[Group]) -> str:
    """Where the first thing on the list is done."""
    return next((item.url for group in groups for item in group.items), "")
