"""What waits for a person and why, oldest first, returned work on top."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Sample
from annotation.workflow import SampleState
from benchmark.taxonomy import Language
from core.models import User
from core.workflow import Role
from documents.models import Document, DocumentVersion
from leading import queries

SHOWN = 12


@dataclass(frozen=True)
class Item:
    label: str
    url: str
    tone: str
    icon: str
    state: str
    why: str
    task: str
    document: str
    since: datetime
    verb: str
    post: bool = False


@dataclass(frozen=True)
class Group:
    """One part of the list. `count` counts all, `items` holds the first of them."""

    title: str
    count: int
    items: list[Item] = field(default_factory=list)
    more_url: str = ""


def document_words(document: Document, version: DocumentVersion) -> str:
    language = _("English") if document.language == Language.ENGLISH else _("Chinese")
    return f"{language} {version.bucket}".strip()


def task_words(sample: Sample, language: str) -> str:
    return f"{sample.task_code} {sample.task.name_zh}" if language.startswith("zh") else sample.task.name


def _item(
    sample: Sample, tongue: str, *, url: str, tone: str, icon: str, state: str, why: str, verb: str, post: bool = False
) -> Item:
    return Item(
        sample.label,
        url,
        tone,
        icon,
        state,
        why,
        task_words(sample, tongue),
        document_words(sample.document, sample.document_version),
        sample.state_since,
        verb,
        post,
    )


def _own(person: User, tongue: str) -> Group:
    rows = sorted(
        queries.own_samples(person), key=lambda sample: (sample.state != SampleState.RETURNED, sample.state_since)
    )
    items = []
    for sample in rows[:SHOWN]:
        desk = reverse("annotation:sample_verify", args=[sample.pk])
        if sample.state == SampleState.RETURNED:
            why = sample.reconstruction_reason or _("The expert sent it back with feedback.")
            items.append(
                _item(
                    sample, tongue, url=desk, tone="warn", icon="undo", state=_("returned"), why=why, verb=_("Revise")
                )
            )
        elif sample.state == SampleState.IN_STANDARDIZATION:
            url = reverse("annotation:sample_standardize", args=[sample.pk])
            why = _("Approved; the two prompts are to be made.")
            items.append(
                _item(
                    sample,
                    tongue,
                    url=url,
                    tone="now",
                    icon="edit",
                    state=_("standardize"),
                    why=why,
                    verb=_("Standardize"),
                )
            )
        else:
            why = _("You hold the claim.")
            items.append(
                _item(
                    sample, tongue, url=desk, tone="now", icon="clock", state=_("claimed"), why=why, verb=_("Continue")
                )
            )
    return Group(_("Yours to finish"), len(rows), items)


def _free(person: User, tongue: str) -> Group:
    rows = queries.free_samples(person)
    items = [
        _item(
            sample,
            tongue,
            url=reverse("annotation:sample_verify", args=[sample.pk]),
            tone="idle",
            icon="ring",
            state=_("free"),
            why=_("Candidates are in; nobody works on it."),
            verb=_("Open"),
        )
        for sample in rows[:SHOWN]
    ]
    return Group(_("Free to claim"), rows.count(), items, reverse("annotation:sample_list") + "?state=in_verification")


def _reviews(person: User, tongue: str) -> Group:
    rows = queries.begun_reviews(person)
    items = [
        _item(
            review.case.sample,
            tongue,
            url=reverse("review:case_review", args=[review.case_id]),
            tone="now",
            icon="half",
            state=_("begun"),
            why=_("Your review is a draft."),
            verb=_("Review"),
        )
        for review in rows[:SHOWN]
    ]
    return Group(_("Your begun reviews"), rows.count(), items, reverse("review:review_list"))


def _audits(person: User, tongue: str) -> Group:
    rows = queries.audits_for(person)
    items = [
        _item(
            sample,
            tongue,
            url=reverse("annotation:sample_audit", args=[sample.pk]),
            tone="idle",
            icon="ring",
            state=_("submitted"),
            why=_("Submitted by %(name)s.") % {"name": sample.annotator.name if sample.annotator else "–"},
            verb=_("Audit"),
        )
        for sample in rows[:SHOWN]
    ]
    return Group(_("To audit"), rows.count(), items)


def _disputes(person: User, tongue: str) -> Group:
    rows = queries.disputes_for(person)
    items = [
        _item(
            case.sample,
            tongue,
            url=reverse("review:case_adjudicate", args=[case.pk]),
            tone="warn",
            icon="bang",
            state=_("disputed"),
            why=_("The reviews are in and at least one found an issue."),
            verb=_("Decide"),
        )
        for case in rows[:SHOWN]
    ]
    return Group(_("To adjudicate"), rows.count(), items)


def _documents(person: User, tongue: str) -> Group:
    rows = queries.documents_to_clear()
    items = [
        Item(
            f"D-{version.document_id:04d}",
            reverse("documents:document_detail", args=[version.document_id]),
            "idle",
            "ring",
            _("to clear"),
            version.document.title,
            "",
            document_words(version.document, version),
            version.made_at,
            _("Clear"),
        )
        for version in rows[:SHOWN]
    ]
    return Group(_("Documents to clear"), rows.count(), items, reverse("documents:document_list") + "?state=pending")


PARTS: dict[str, tuple[Callable[[User, str], Group], ...]] = {
    Role.ANNOTATOR: (_own, _reviews, _free, _documents),
    Role.EXPERT: (_disputes, _audits, _own, _reviews, _free, _documents),
    Role.LEAD: (_documents,),
}


def groups_for(person: User, tongue: str) -> list[Group]:
    return [group for part in PARTS[person.role] if (group := part(person, tongue)).count]


def next_url(groups: list[Group]) -> str:
    items: Iterator[Item] = (item for group in groups for item in group.items)
    first = next(islice(items, 1), None)
    return first.url if first else ""
