"""Texts on their way into the database: checked, measured, stored with their line in the audit trail."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from benchmark.taxonomy import Language
from core import history
from core.models import BenchmarkSettings, User
from core.refusals import Conflict, Invalid, RuleBroken
from core.text import clean_text
from documents import intake, queries
from documents.intake import Prepared, Remark
from documents.looking import keep_findings
from documents.models import Document, DocumentText, DocumentVersion
from documents.passages import SHARE, SHARED, Mark
from documents.pooling import Measured
from documents.tokenizing import TOKENIZER_NAME
from documents.workflow import Origin

# Texts that are made of stored ones (joined, trimmed, cut out) share passages with them by intent.
FROM_OUTSIDE = frozenset({Origin.IMPORT, Origin.PASTE, Origin.REVISION})
# So many near-duplicates are named.
NAMED = 3
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


def store_document(
    text: str,
    facts: Facts,
    by: User | None,
    *,
    origin: Origin,
    counts: dict[str, int] | None = None,
    encoding: str = "utf-8",
    reason: str = "",
    measured: Measured | None = None,
    remarks: Sequence[Remark] = (),
    **data: Any,
) -> DocumentVersion:
    """A new document with its first version. `measured`: what was computed of the text beforehand, which must have
    passed `intake.refuse_unfit`. `remarks`: what reading its file brought up."""
    if measured is None:
        intake.refuse_unfit(text)
    too_long = len(one_line(facts.title)) - MAX_TITLE
    facts = checked_facts(facts)
    prepared = intake.prepare(
        text,
        lengths=BenchmarkSettings.load().lengths,
        language=facts.language,
        normalisation={**(counts or {}), **({"title": too_long} if too_long > 0 else {})},
        encoding=encoding,
        measured=measured,
    )
    prepared = replace(prepared, remarks=(*remarks, *prepared.remarks))
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
    refuse_duplicate(hashlib.sha256(text.encode()).hexdigest())


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
    remarks = list(prepared.remarks)
    if origin in FROM_OUTSIDE:
        remarks += near_duplicate_remark(prepared.marks, document)
    version = DocumentVersion.objects.create(
        document=document,
        number=latest.number + 1 if latest else 1,
        origin=origin,
        **prepared.measure.__dict__,
        tokenizer=TOKENIZER_NAME,
        normalisation=prepared.normalisation,
        remarks=[remark.as_json() for remark in remarks],
        made_by=by,
        made_reason=reason,
    )
    # By number: a version that knew its text would hold it in memory for as long as a report names it.
    DocumentText.objects.create(version_id=version.pk, text=prepared.text, gzipped=prepared.gzipped)
    queries.keep_marks(version, [(mark.value, mark.position) for mark in prepared.marks])
    keep_findings(version, prepared.findings, text=prepared.text)
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


def near_duplicate_remark(marks: Sequence[Mark], document: Document) -> list[Remark]:
    """Why a person should look twice: other documents that share a long passage, the nearest first."""
    sharing = queries.documents_sharing([mark.value for mark in marks])
    sharing.pop(document.pk, None)  # its own earlier texts
    near = []
    for other, (count, size) in sorted(sharing.items(), key=lambda item: item[1], reverse=True):
        share = count / min(len(marks), size)
        if count >= SHARED or share >= SHARE:
            near.append({"document": other, "percent": round(100 * share)})
    if not near:
        return []
    return [Remark("near_duplicate", len(near), more={"documents": near[:NAMED]})]


def newer_version() -> Conflict:
    return Conflict(_("The document has a newer text by now. Reload to see it."), rule="stale_version")
