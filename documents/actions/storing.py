"""Texts on their way into the database: checked, measured, stored with their line in the audit trail."""

from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from benchmark.taxonomy import Language
from core import history
from core.models import BenchmarkSettings, User
from core.refusals import Conflict, Invalid, RuleBroken
from core.text import clean_text
from documents import intake, queries
from documents.findings import findings_in
from documents.intake import Prepared
from documents.looking import keep_findings
from documents.models import Document, DocumentText, DocumentVersion
from documents.tokenizing import TOKENIZER_NAME
from documents.workflow import Origin

MAX_NOTE = 10_000


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


def store_document(
    text: str,
    facts: Facts,
    by: User | None,
    *,
    origin: Origin,
    counts: dict[str, int] | None = None,
    encoding: str = "utf-8",
    reason: str = "",
    **data: Any,
) -> DocumentVersion:
    intake.refuse_unfit(text)
    facts = checked_facts(facts)
    prepared = intake.prepare(
        text,
        lengths=BenchmarkSettings.load().lengths,
        language=facts.language,
        normalisation=counts,
        encoding=encoding,
    )
    refuse_duplicate(prepared.measure.sha256)
    try:
        with transaction.atomic():
            document = Document.objects.create(
                **{**facts.__dict__, "language": prepared.language.value}, imported_by=by
            )
            version = store_version(document, prepared, by, origin=origin, reason=reason, encoding=encoding, **data)
    except IntegrityError:
        # Somebody stored the same text between the look and the write.
        refuse_duplicate(prepared.measure.sha256)
        raise
    return version


def checked_facts(facts: Facts) -> Facts:
    cleaned = {name: one_line(value) for name, value in facts.__dict__.items() if isinstance(value, str)}
    cleaned["title"] = cleaned["title"][:300]
    cleaned["language"] = known_language(cleaned["language"])
    errors: dict[str, Any] = {}
    if not cleaned["title"]:
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


def refuse_duplicate(sha256: str, *, except_for: Document | None = None) -> None:
    first = queries.versions_with([sha256]).get(sha256)
    if first is None or first.document == except_for:
        return
    raise RuleBroken(
        _("The same text is there already: “%(title)s” (document %(number)s).")
        % {"title": first.document.title, "number": first.document_id},
        rule="duplicate",
        document=first.document_id,
    )


def store_version(
    document: Document,
    prepared: Prepared,
    by: User | None,
    *,
    origin: Origin,
    reason: str = "",
    encoding: str = "utf-8",
    **data: Any,
) -> DocumentVersion:
    """The next version of the document, its text beside it, and the line in the audit trail."""
    latest = document.latest
    version = DocumentVersion.objects.create(
        document=document,
        number=latest.number + 1 if latest else 1,
        origin=origin,
        **prepared.measure.__dict__,
        tokenizer=TOKENIZER_NAME,
        normalisation=prepared.normalisation,
        remarks=[remark.as_json() for remark in prepared.remarks],
        made_by=by,
        made_reason=reason,
    )
    DocumentText.objects.create(version=version, text=prepared.text, gzipped=prepared.gzipped)
    keep_findings(version, findings_in(prepared.text), text=prepared.text)
    moved = Document.objects.filter(pk=document.pk, latest=latest).update(latest=version)
    if not moved:
        raise newer_version()
    document.latest = version
    history.record(
        f"make_version_by_{origin}",
        version,
        by=by,
        reason=reason,
        document=document.pk,
        sha256=version.sha256,
        tokens=version.tokens,
        bucket=version.bucket,
        encoding=encoding,
        **data,
    )
    return version


def newer_version() -> Conflict:
    return Conflict(_("The document has a newer text by now. Reload to see it."), rule="stale_version")


def checked_note(note: str) -> str:
    note = clean_text(note).strip()
    if len(note) > MAX_NOTE:
        raise Invalid({"note": _("At most %(limit)s characters.") % {"limit": MAX_NOTE}})
    return note


def latest_of(document: Document, based_on: int | None = None) -> DocumentVersion:
    latest = DocumentVersion.objects.select_related("document").filter(document=document).order_by("-number").first()
    if latest is None:
        raise RuleBroken(_("This document has no text."), rule="no_text")
    if based_on is not None and based_on != latest.number:
        raise newer_version()
    return latest


def store_next_version(
    latest: DocumentVersion,
    text: str,
    by: User | None,
    origin: Origin,
    reason: str,
    counts: dict[str, int],
    **data: Any,
) -> DocumentVersion:
    document = latest.document
    prepared = intake.prepare(
        text, lengths=BenchmarkSettings.load().lengths, language=document.language, normalisation=counts
    )
    if prepared.measure.sha256 == latest.sha256:
        raise RuleBroken(_("The text is the same as before."), rule="unchanged")
    refuse_duplicate(prepared.measure.sha256, except_for=document)
    document.latest = latest
    try:
        with transaction.atomic():
            return store_version(document, prepared, by, origin=origin, reason=reason, made_from=latest.pk, **data)
    except IntegrityError:
        raise newer_version() from None
