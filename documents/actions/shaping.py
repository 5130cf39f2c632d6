"""Making a new text of a document: revised, trimmed."""

from django.utils.translation import gettext as _

from benchmark.lengths import Lengths
from core.models import BenchmarkSettings, User
from core.refusals import Invalid, RuleBroken
from documents import queries
from documents.actions.permissions import can_revise_document, can_trim_document, refuse_unless
from documents.actions.storing import checked_note, latest_of, store_next_version
from documents.cutting import fitting, landing, target_of
from documents.models import Document, DocumentVersion
from documents.normalising import normalise
from documents.stops import is_seam, kept
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
    *,
    document: Document,
    by: User | None,
    tokens: int | None = None,
    bucket: str = "",
    start: int = 0,
    end: int | None = None,
    based_on: int | None = None,
    reason: str = "",
) -> DocumentVersion:
    """Keep one run of the text, from `start` (in code points). It ends behind the last paragraph that fits into
    `tokens`, or into the target of `bucket`, or exactly at `end`. `based_on` is the version's number that was seen."""
    refuse_unless(can_trim_document(by, document))
    latest = latest_of(document, based_on)
    whole = queries.text_of(latest)
    if end is None and tokens is None and not bucket and start:
        end = len(whole)
    if end is None:
        limit = _limit(latest, tokens, bucket)
        refuse_places(whole, start=start)
        span = landing(whole, lengths_now(), bucket, start=start) if bucket else fitting(whole, limit, start=start)
        if span is None:
            raise RuleBroken(
                _("Not one whole paragraph fits into %(n)s tokens.") % {"n": limit}, rule="no_paragraph_fits"
            )
    else:
        refuse_places(whole, start=start, end=end)
        span = start, end
    text = kept(whole, *span)
    if not text.strip():
        raise Invalid({"end": _("Nothing would be left of the text.")})
    return store_next_version(latest, text, by, Origin.TRIM, checked_note(reason), {}, start=span[0], end=span[1])


def lengths_now() -> Lengths:
    return BenchmarkSettings.load().lengths


def _limit(latest: DocumentVersion, tokens: int | None, bucket: str) -> int:
    field = "tokens"
    if bucket:
        field, tokens = "bucket", target_of(lengths_now(), known_bucket(bucket))
    if tokens is None or tokens < 1:
        raise Invalid({"tokens": _("Say to how many tokens, or into which bucket.")})
    if tokens >= latest.tokens:
        raise Invalid({field: _("The text has only %(n)s tokens: there is nothing to trim.") % {"n": latest.tokens}})
    return tokens


def known_bucket(bucket: str) -> str:
    names = lengths_now().names()
    if bucket not in names:
        raise Invalid({"bucket": _("There is no such bucket. There are: %s.") % ", ".join(names)})
    return bucket


def refuse_places(text: str, **places: int) -> None:
    """Places that ascend inside the text and tear no character apart."""
    before = -1
    for name, place in places.items():
        if not 0 <= place <= len(text) or place <= before:
            raise Invalid({name: _("A place from 0 to %(n)s, behind the one before, is expected.") % {"n": len(text)}})
        if not is_seam(text, place):
            raise Invalid({name: _("Place %(n)s is inside a character with its accents.") % {"n": place}})
        before = place


# What a text was made from, in the history


def made_of(version: DocumentVersion) -> dict[str, int]:
    return {"document": version.document_id, "number": version.number, "version": version.pk}


def named(version: DocumentVersion, *span: int) -> str:
    """D-12 v1, or with its span in code points D-12 v1 [0:5000]: the same in every language."""
    place = f" [{span[0]}:{span[1]}]" if span else ""
    return f"D-{version.document_id} v{version.number}{place}"
