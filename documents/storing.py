"""Texts on their way into the database: checked, measured, stored with their line in the audit trail."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext as _

from benchmark.lengths import Lengths
from benchmark.taxonomy import Language
from core.models import BenchmarkSettings, User
from core.refusals import Conflict, Invalid, Refused, RuleBroken
from core.text import clean_text
from documents import intake, queries
from documents.intake import Prepared, Remark
from documents.models import Document, DocumentVersion
from documents.pooling import Measured
from documents.workflow import Origin
from documents.writing import Next, write_versions

# Characters. What is longer is cut, and said.
MAX_TITLE = 300


@dataclass(frozen=True)
class Facts:
    """What is recorded about a document beside its text. An empty language is found from the script."""

    title: str = ""
    language: str = ""
    domain: str = ""
    format: str = ""
    multi: bool = False
    licence: str = ""
    source_url: str = ""

    def over(self, **others: Any) -> "Facts":
        """These facts, with `others` where they say something: a line of JSONL wins over the batch it came in."""
        return Facts(**{**self.__dict__, **{name: value for name, value in others.items() if value != ""}})


@dataclass(frozen=True)
class New:
    """A text that is to be a document. `measured`: what was computed of it beforehand; it must have passed
    `intake.refuse_unfit` then. `remarks`: what reading its file brought up. `data`: for the line of the audit trail."""

    text: str
    facts: Facts
    origin: Origin
    counts: dict[str, int] | None = None
    encoding: str = "utf-8"
    reason: str = ""
    measured: Measured | None = None
    remarks: Sequence[Remark] = ()
    data: dict[str, Any] = field(default_factory=dict)


def store_document(
    text: str,
    facts: Facts,
    by: User | None,
    *,
    origin: Origin,
    counts: dict[str, int] | None = None,
    reason: str = "",
    **data: Any,
) -> DocumentVersion:
    """A new document with its first version; see `store_new`."""
    return store_new(New(text, facts, origin, counts=counts, reason=reason, data=data), by)


def store_new(new: New, by: User | None) -> DocumentVersion:
    """One document, or the reason why not as the exception it is."""
    try:
        (stored,) = store_documents([new], by)
    except IntegrityError:
        # Somebody stored the same text between the look and the write.
        refuse_duplicate(new.measured.sha256 if new.measured else hashlib.sha256(new.text.encode()).hexdigest())
        raise
    if isinstance(stored, Refused):
        raise stored
    return stored


def store_documents(news: Sequence[New], by: User | None) -> list[DocumentVersion | Refused]:
    """For each text its first version, or why there is none: all that is wrong with one is found before anything is
    written. The number of statements hardly grows with the number of texts. Raises IntegrityError, with nothing
    written, when somebody stores one of the texts at the same moment."""
    lengths = BenchmarkSettings.load().lengths
    looked = [_looked_at(new, lengths) for new in news]
    known = queries.first_with({one.measure.sha256 for one in looked if isinstance(one, Prepared)})
    # Of texts that are the same the first one.
    taken: dict[str, tuple[New, Prepared]] = {}
    for new, one in zip(news, looked, strict=True):
        if isinstance(one, Prepared) and one.measure.sha256 not in known:
            taken.setdefault(one.measure.sha256, (new, one))
    with transaction.atomic():
        versions = dict(zip(taken, _write_first_versions(list(taken.values()), by), strict=True))
    stored: list[DocumentVersion | Refused] = []
    for one in looked:
        if isinstance(one, Refused):
            stored.append(one)
        elif version := versions.pop(one.measure.sha256, None):
            known[version.sha256] = version.document
            stored.append(version)
        else:
            stored.append(duplicate_of(known[one.measure.sha256]))
    return stored


def _looked_at(new: New, lengths: Lengths) -> Prepared | Refused:
    try:
        if new.measured is None:
            intake.refuse_unfit(new.text)
        too_long = len(one_line(new.facts.title)) - MAX_TITLE
        facts = checked_facts(new.facts)
        prepared = intake.prepare(
            new.text,
            lengths=lengths,
            language=facts.language,
            normalisation={**(new.counts or {}), **({"title": too_long} if too_long > 0 else {})},
            encoding=new.encoding,
            measured=new.measured,
        )
    except Refused as refusal:
        return refusal
    return replace(prepared, remarks=(*new.remarks, *prepared.remarks))


def _write_first_versions(taken: Sequence[tuple[New, Prepared]], by: User | None) -> list[DocumentVersion]:
    if not taken:
        return []
    documents = Document.objects.bulk_create(
        Document(**{**checked_facts(new.facts).__dict__, "language": prepared.language.value}, imported_by=by)
        for new, prepared in taken
    )
    versions = write_versions(
        [
            Next(document, 1, prepared, new.origin, new.reason, prepared.encoding, new.data)
            for document, (new, prepared) in zip(documents, taken, strict=True)
        ],
        by,
    )
    its_version = DocumentVersion.objects.filter(document=OuterRef("pk")).values("pk")
    Document.objects.filter(pk__in=[document.pk for document in documents]).update(latest=Subquery(its_version))
    for document, version in zip(documents, versions, strict=True):
        document.latest = version
    return versions


def checked_facts(facts: Facts, *, need_title: bool = True) -> Facts:
    cleaned = {name: one_line(value) for name, value in facts.__dict__.items() if isinstance(value, str)}
    cleaned["title"] = cleaned["title"][:MAX_TITLE]
    cleaned["language"] = known_language(cleaned["language"])
    errors: dict[str, Any] = {}
    if need_title and not cleaned["title"]:
        errors["title"] = _("Give it a title.")
    for name, limit in {"domain": 60, "format": 60, "licence": 300, "source_url": 2000}.items():
        if len(cleaned[name]) > limit:
            errors[name] = _("At most %(limit)s characters.") % {"limit": limit}
    if errors:
        raise Invalid(errors)
    return Facts(multi=bool(facts.multi), **cleaned)


def one_line(value: str) -> str:
    return " ".join(clean_text(value).split())


LANGUAGE_NAMES = {
    **{language.value.lower(): language.value for language in Language},
    "en": Language.ENGLISH.value,
    "zh": Language.CHINESE.value,
    "zh-hans": Language.CHINESE.value,
    "": "",
}


def known_language(name: str) -> str:
    try:
        return LANGUAGE_NAMES[name.lower()]
    except KeyError:
        raise Invalid({"language": _("The language is English or Chinese.")}) from None


def refuse_duplicate_text(text: str) -> None:
    """Before anything is spent on measuring it."""
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    if queries.is_known(sha256):
        refuse_duplicate(sha256)


def refuse_duplicate(sha256: str, *, except_for: Document | None = None) -> None:
    first = queries.first_with([sha256]).get(sha256)
    if first is not None and first != except_for:
        raise duplicate_of(first)


def duplicate_of(first: Document) -> RuleBroken:
    return RuleBroken(
        _("The same text is there already: “%(title)s” (document %(number)s).")
        % {"title": first.title, "number": first.pk},
        rule="duplicate",
        document=first.pk,
    )


def store_version(
    document: Document,
    prepared: Prepared,
    by: User | None,
    *,
    origin: Origin,
    reason: str = "",
    **data: Any,
) -> DocumentVersion:
    """The next version of the document, its text beside it, and the line in the audit trail."""
    latest = document.latest
    number = latest.number + 1 if latest else 1
    (version,) = write_versions([Next(document, number, prepared, origin, reason, prepared.encoding, data)], by)
    moved = Document.objects.filter(pk=document.pk, latest=latest).update(latest=version)
    if not moved:
        raise newer_version()
    document.latest = version
    return version


def newer_version() -> Conflict:
    return Conflict(_("The document has a newer text by now. Open the document to see it."), rule="stale_version")
