"""Making a new text of a document: revised, trimmed, joined."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from core.models import BenchmarkSettings, User
from core.refusals import Invalid, RuleBroken
from documents import queries
from documents.actions.permissions import can_join_documents, can_revise_document, can_trim_document, refuse_unless
from documents.actions.storing import Facts, checked_note, latest_of, store_document, store_next_version
from documents.cutting import joined, trimmed
from documents.models import Document, DocumentVersion
from documents.normalising import normalise
from documents.workflow import Origin


def revise_document(
    *, document: Document, text: str, reason: str, by: User | None, based_on: int | None = None
) -> DocumentVersion:
    """A new text, which waits for compliance. `based_on` is the number of the version that was edited."""
    refuse_unless(can_revise_document(by, document))
    latest = latest_of(document, based_on)
    reason = checked_note(reason)
    if not reason:
        raise Invalid({"reason": _("Say why the text changes.")})
    normalised = normalise(text)
    return store_next_version(latest, normalised.text, by, Origin.REVISION, reason, normalised.counts)


def trim_document(
    *, document: Document, by: User | None, tokens: int | None = None, bucket: str = "", reason: str = ""
) -> DocumentVersion:
    """Cut the text behind the last paragraph that fits: into `tokens`, or into the target of `bucket`."""
    refuse_unless(can_trim_document(by, document))
    latest = latest_of(document)
    limit = _limit(latest, tokens, bucket)
    text = trimmed(queries.text_of(latest), limit)
    if text is None:
        raise RuleBroken(_("Not one whole paragraph fits into %(n)s tokens.") % {"n": limit}, rule="no_paragraph_fits")
    return store_next_version(latest, text, by, Origin.TRIM, checked_note(reason), {}, at_most=limit)


def _limit(latest: DocumentVersion, tokens: int | None, bucket: str) -> int:
    lengths = BenchmarkSettings.load().lengths
    field = "tokens"
    if bucket:
        field = "bucket"
        if bucket not in lengths.names():
            raise Invalid({"bucket": _("There is no such bucket. There are: %s.") % ", ".join(lengths.names())})
        tokens = lengths.unit * int(bucket.removesuffix("k"))
    if tokens is None or tokens < 1:
        raise Invalid({"tokens": _("Say to how many tokens, or into which bucket.")})
    if tokens >= latest.tokens:
        raise Invalid({field: _("The text has only %(n)s tokens: there is nothing to trim.") % {"n": latest.tokens}})
    return tokens


def join_documents(*, documents: Sequence[Document], title: str, by: User | None, reason: str = "") -> DocumentVersion:
    """Several documents in one, each under a visible heading with its title. The parts stay as they are."""
    refuse_unless(can_join_documents(by))
    if len({document.pk for document in documents}) < 2 or len(documents) != len({d.pk for d in documents}):
        raise Invalid({"documents": _("Choose at least two documents, each once.")})
    if len({document.language for document in documents}) > 1:
        raise Invalid({"documents": _("Only documents in one language can be joined.")})
    latest = [latest_of(document) for document in documents]
    text = joined([(version.document.title, queries.text_of(version)) for version in latest])
    facts = Facts(
        title=title,
        language=documents[0].language,
        domain=_shared([document.domain for document in documents]),
        format=_shared([document.format for document in documents]),
        multi=True,
        licence=_each_once([document.licence for document in documents])[:300],
        source_url=_shared([document.source_url for document in documents]),
    )
    parts = [version.pk for version in latest]
    return store_document(text, facts, by, origin=Origin.JOIN, reason=checked_note(reason), parts=parts)


def _shared(values: Sequence[str]) -> str:
    return values[0] if len(set(values)) == 1 else ""


def _each_once(values: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(value for value in values if value))
