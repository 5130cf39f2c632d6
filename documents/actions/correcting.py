"""Correcting what is recorded about a document, and sorting into other buckets."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from core import history
from core.models import BenchmarkSettings, User
from core.refusals import Conflict, Invalid
from documents.actions.permissions import (
    can_correct_document,
    can_correct_documents,
    can_import_document,
    refuse_unless,
)
from documents.actions.storing import Facts, checked_facts
from documents.models import Document, DocumentVersion

CORRECTABLE = ("title", "language", "domain", "format", "multi", "licence", "source_url")


def correct_document(*, document: Document, version: int, by: User | None, **facts: Any) -> Document:
    """Correct what is recorded: any of title, language, domain, format, multi, licence, source_url.

    `version` is the document's own (`Document.version`), as the form showed it.
    """
    refuse_unless(can_correct_document(by, document))
    unknown = set(facts) - set(CORRECTABLE)
    if unknown:
        raise Invalid({name: _("This cannot be corrected.") for name in sorted(unknown)})
    before = {name: getattr(document, name) for name in CORRECTABLE}
    after = checked_facts(Facts(**{**before, **facts})).__dict__
    if not after["language"]:
        raise Invalid({"language": _("The language is English or Chinese.")})
    changed = {name: [before[name], after[name]] for name in CORRECTABLE if before[name] != after[name]}
    if not changed:
        return document
    with transaction.atomic():
        fresh = {name: value for name, (_before, value) in changed.items()}
        if not Document.objects.filter(pk=document.pk, version=version).update(**fresh, version=version + 1):
            raise Conflict(_("Somebody corrected this document meanwhile. Reload to see how."), rule="stale_version")
        history.record("correct_document", document, by=by, changed=changed)
    document.refresh_from_db()
    return document


BULK = ("domain", "format", "licence", "source_url")


def correct_documents(
    *, documents: Sequence[Document], versions: Mapping[int, int], by: User | None, **facts: str
) -> int:
    """Correct the same facts of many documents, all or none: any of domain, format, licence, source_url.

    `versions` maps a document's number to its own version (`Document.version`), as the form showed it. Each changed
    document gets its line in the audit trail. Returns how many were changed.
    """
    refuse_unless(can_correct_documents(by))
    if not documents:
        raise Invalid({"documents": _("Choose documents first.")})
    unknown = set(facts) - set(BULK)
    if unknown:
        raise Invalid({name: _("This cannot be corrected for many at once.") for name in sorted(unknown)})
    if not facts:
        raise Invalid({"documents": _("Tick what is to be corrected.")})
    with transaction.atomic():
        return sum(_correct_one(document, versions.get(document.pk, 0), by, facts) for document in documents)


def _correct_one(document: Document, version: int, by: User | None, facts: Mapping[str, str]) -> bool:
    before = document.version
    try:
        return correct_document(document=document, version=version, by=by, **facts).version != before
    except Conflict:
        words = _("Somebody corrected “%(title)s” (document %(number)s) meanwhile. Nothing was changed; reload to see.")
        raise Conflict(words % {"title": document.title, "number": document.pk}, rule="stale_version") from None


def correct_language(*, document: Document, language: str, by: User | None) -> Document:
    return correct_document(document=document, version=document.version, language=language, by=by)


def rebucket_documents(*, by: User | None, keep: Collection[int] = ()) -> int:
    """Sort versions into the buckets that hold now, after a lead changed targets or tolerance.

    Versions in `keep`, those that samples were made for, stay where they are. Returns how many versions moved.
    """
    refuse_unless(can_import_document(by))
    lengths = BenchmarkSettings.load().lengths
    moved = 0
    with transaction.atomic():
        versions = DocumentVersion.objects.exclude(pk__in=keep).only("id", "tokens", "bucket", "document_id")
        for version in versions.order_by("id").iterator():
            bucket = lengths.bucket_of(version.tokens) or ""
            if bucket != version.bucket:
                history.record("rebucket", version, by=by, changed={"bucket": [version.bucket, bucket]})
                DocumentVersion.objects.filter(pk=version.pk).update(bucket=bucket)
                moved += 1
    return moved
