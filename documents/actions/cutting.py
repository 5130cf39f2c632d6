"""Cutting a long text into parts, each a document of its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.utils.translation import gettext as _

from benchmark.taxonomy import Language
from core import history
from core.models import User
from core.refusals import Invalid, Refused, RuleBroken
from documents import queries
from documents.actions.permissions import can_cut_document, refuse_unless
from documents.actions.shaping import known_bucket, lengths_now, made_of, named, refuse_places
from documents.actions.storing import Facts, checked_note, latest_of
from documents.cutting import MOST_PARTS, Part, parts_at, parts_by_bucket, parts_by_number
from documents.intake import refuse_unfit
from documents.models import Document, DocumentVersion
from documents.pooling import Measured, measure
from documents.stops import kept
from documents.storing import MAX_TITLE, New, newer_version, store_new
from documents.workflow import Origin


def propose_parts(
    text: str, *, bucket: str = "", number: int | None = None, cuts: Sequence[int] = (), kind: str = ""
) -> list[Part]:
    """Parts for one bucket, or so many parts, or between the places named. Nothing is stored."""
    if bucket:
        return parts_by_bucket(text, lengths_now(), known_bucket(bucket), kind)
    if number is not None:
        if not 2 <= number <= MOST_PARTS:
            raise Invalid({"parts": _("From 2 to %(limit)s parts.") % {"limit": MOST_PARTS}})
        return parts_by_number(text, lengths_now(), number, kind)
    if not cuts or len(cuts) >= MOST_PARTS:
        raise Invalid({"bucket": _("Say into which bucket, how many parts, or where to cut.")})
    refuse_places(text, **{f"cuts.{at}": place for at, place in enumerate(cuts)})
    return parts_at(text, lengths_now(), cuts)


def cut_document(
    *,
    document: Document,
    by: User | None,
    spans: Sequence[tuple[int, int]],
    based_on: int | None = None,
    reason: str = "",
) -> list[DocumentVersion]:
    """Each span (start, end) of the text becomes a document of its own, which waits for compliance; all or none.

    The document itself stays. Raises RuleBroken with `parts`, one for each part that was refused and why.
    """
    refuse_unless(can_cut_document(by, document))
    latest = latest_of(document, based_on)
    text = queries.text_of(latest)
    _refuse_spans(text, spans)
    reason = checked_note(reason)
    refused: dict[int, Refused] = {}
    parts = list(_measured(text, spans, refused))
    made: list[DocumentVersion] = []
    with transaction.atomic():
        _refuse_if_newer(latest)
        for part in parts:
            try:
                made.append(_store_part(latest, part, len(spans), by, reason))
            except Refused as refusal:
                refused[part.number] = _said_of_part(refusal, made)
        if refused:
            raise _parts_refused(refused)
        history.record("cut", latest, by=by, reason=reason, into=[version.document_id for version in made])
    return made


@dataclass(frozen=True)
class _Measured:
    """A part that may be stored. It is measured before the transaction, which would keep every other writer of SQLite
    waiting for as long as its tokens are counted."""

    number: int
    span: tuple[int, int]
    text: str
    measured: Measured


def _measured(text: str, spans: Sequence[tuple[int, int]], refused: dict[int, Refused]) -> Iterator[_Measured]:
    for number, span in enumerate(spans, 1):
        part = kept(text, *span)
        try:
            refuse_unfit(part)
        except Refused as refusal:
            refused[number] = refusal
        else:
            yield _Measured(number, span, part, measure(part))


def _refuse_if_newer(latest: DocumentVersion) -> None:
    """Inside a transaction: what was measured before it is still the newest text, and stays it until the end."""
    now = Document.objects.select_for_update().values_list("latest", flat=True).get(pk=latest.document_id)
    if now != latest.pk:
        raise newer_version()


def _refuse_spans(text: str, spans: Sequence[tuple[int, int]]) -> None:
    if not 1 <= len(spans) <= MOST_PARTS:
        raise Invalid({"parts": _("Choose at least one part, at most %(limit)s.") % {"limit": MOST_PARTS}})
    behind = 0
    for number, (start, end) in enumerate(spans, 1):
        if start < behind:
            raise Invalid({"parts": _("Part %(n)s begins before the one before it ends.") % {"n": number}})
        try:
            refuse_places(text, start=start, end=end)
        except Invalid as error:
            raise Invalid({"parts": f"{number}: {error}"}) from error
        behind = end


def _store_part(latest: DocumentVersion, part: _Measured, count: int, by: User | None, reason: str) -> DocumentVersion:
    document = latest.document
    facts = Facts(**{name: getattr(document, name) for name in Facts.__dataclass_fields__})
    source = named(latest, *part.span)
    return store_new(
        New(
            part.text,
            replace(facts, title=part_title(document, part.number, count)),
            Origin.CUT,
            reason=f"{source}: {reason}" if reason else source,
            measured=part.measured,
            data={
                "made_from": [made_of(latest)],
                "start": part.span[0],
                "end": part.span[1],
                "part": part.number,
                "parts": count,
            },
        ),
        by,
    )


def part_title(document: Document, number: int, count: int) -> str:
    """In the document's language, whoever cuts it."""
    words = f" (part {number} of {count})"
    if document.language == Language.CHINESE:
        words = f"（第 {number} 部分，共 {count} 部分）"
    return document.title[: MAX_TITLE - len(words)] + words


def _said_of_part(refusal: Refused, made: Sequence[DocumentVersion]) -> Refused:
    """A part that repeats an earlier one of the same cut: the earlier one is named, for its document will not stay."""
    for number, version in enumerate(made, 1):
        if refusal.rule == "duplicate" and refusal.details.get("document") == version.document_id:
            return RuleBroken(_("The same text as part %(n)s.") % {"n": number}, rule="duplicate")
    return refusal


def _parts_refused(refused: dict[int, Refused]) -> RuleBroken:
    said = [
        {"part": number, "rule": refusal.rule, "detail": str(refusal), **refusal.details}
        for number, refusal in refused.items()
    ]
    rules = {refusal.rule for refusal in refused.values()}
    words = " ".join(_("Part %(n)s: %(why)s") % {"n": one["part"], "why": one["detail"]} for one in said)
    return RuleBroken(
        _("Nothing was made.") + " " + words, rule=rules.pop() if len(rules) == 1 else "parts_refused", parts=said
    )
