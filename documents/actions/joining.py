"""Joining several documents into a new one."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from core.models import User
from core.refusals import Invalid
from documents import queries
from documents.actions.permissions import can_join_documents, refuse_unless
from documents.actions.shaping import made_of, named
from documents.actions.storing import Facts, checked_note, latest_of, one_line, store_document
from documents.cutting import joined
from documents.models import Document, DocumentVersion
from documents.workflow import Origin


def join_documents(
    *,
    documents: Sequence[Document],
    title: str,
    by: User | None,
    headings: Sequence[str] = (),
    reason: str = "",
) -> DocumentVersion:
    """Several documents in one, each under a visible heading: its title, or the one of `headings` in its place.

    The parts stay as they are. The new document waits for compliance, whatever its parts were cleared for.
    """
    refuse_unless(can_join_documents(by))
    refuse_unjoinable(documents)
    headings = [one_line(words) for words in headings] or [document.title for document in documents]
    if len(headings) != len(documents) or not all(headings):
        raise Invalid({"headings": _("Each part needs a heading.")})
    latest = [latest_of(document) for document in documents]
    texts = [queries.text_of(version) for version in latest]
    sources = " + ".join(named(version) for version in latest)
    reason = checked_note(reason)
    return store_document(
        joined(list(zip(headings, texts, strict=True))),
        joined_facts(documents, title),
        by,
        origin=Origin.JOIN,
        reason=f"{sources}: {reason}" if reason else sources,
        made_from=[made_of(version) for version in latest],
        parts=[version.pk for version in latest],
    )


def refuse_unjoinable(documents: Sequence[Document]) -> None:
    if len({document.pk for document in documents}) < 2 or len(documents) != len({d.pk for d in documents}):
        raise Invalid({"documents": _("Choose at least two documents, each once.")})
    if len({document.language for document in documents}) > 1:
        raise Invalid({"documents": _("Only documents in one language can be joined.")})


def joined_facts(documents: Sequence[Document], title: str) -> Facts:
    """What the parts share; of the licences, each once."""
    return Facts(
        title=title,
        language=documents[0].language,
        domain=_shared([document.domain for document in documents]),
        format=_shared([document.format for document in documents]),
        multi=True,
        licence=_each_once([document.licence for document in documents])[:300],
        source_url=_shared([document.source_url for document in documents]),
    )


def _shared(values: Sequence[str]) -> str:
    return values[0] if len(set(values)) == 1 else ""


def _each_once(values: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(value for value in values if value))
