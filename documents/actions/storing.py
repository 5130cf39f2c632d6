"""What actions on a stored document share: its latest text, and the next one."""

from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from core.models import BenchmarkSettings, User
from core.refusals import Invalid, RuleBroken
from core.text import clean_text
from documents import intake
from documents.models import Document, DocumentVersion
from documents.storing import (
    LANGUAGE_NAMES,
    Facts,
    checked_facts,
    known_language,
    newer_version,
    one_line,
    refuse_duplicate,
    store_document,
    store_version,
)
from documents.workflow import Origin

__all__ = [
    "LANGUAGE_NAMES",
    "MAX_NOTE",
    "Facts",
    "checked_facts",
    "checked_note",
    "known_language",
    "latest_of",
    "newer_version",
    "one_line",
    "refuse_duplicate",
    "store_document",
    "store_next_version",
    "store_version",
]

MAX_NOTE = 10_000


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
