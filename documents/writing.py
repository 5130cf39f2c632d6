"""Versions become rows: the text beside its measure, its marks, its findings, and the line in the audit trail."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core import history
from core.models import User
from documents import queries
from documents.intake import Prepared, Remark
from documents.looking import keep_all
from documents.models import Document, DocumentText, DocumentVersion
from documents.passages import SHARE, SHARED
from documents.tokenizing import TOKENIZER_NAME
from documents.workflow import Origin

# Texts that are made of stored ones (joined, trimmed, cut out) share passages with them by intent.
FROM_OUTSIDE = frozenset({Origin.IMPORT, Origin.PASTE, Origin.REVISION})
# So many near-duplicates are named.
NAMED = 3

# By document: (marks shared, marks it has).
Sharing = dict[int, tuple[int, int]]


@dataclass(frozen=True)
class Next:
    """A text that is to be version `number` of its document. `data`: for the line in the audit trail."""

    document: Document
    number: int
    prepared: Prepared
    origin: Origin
    reason: str
    encoding: str
    data: dict[str, Any]


def write_versions(nexts: Sequence[Next], by: User | None) -> list[DocumentVersion]:
    """Each text a version, in the caller's transaction. The caller makes it the latest of its document."""
    remarks = [
        [*one.prepared.remarks, *near_duplicate_remark(sharing, len(one.prepared.marks))]
        for one, sharing in zip(nexts, _sharing(nexts), strict=True)
    ]
    versions = DocumentVersion.objects.bulk_create(
        DocumentVersion(
            document=one.document,
            number=one.number,
            origin=one.origin,
            **one.prepared.measure.__dict__,
            tokenizer=TOKENIZER_NAME,
            normalisation=one.prepared.normalisation,
            remarks=[remark.as_json() for remark in found],
            made_by=by,
            made_reason=one.reason,
        )
        for one, found in zip(nexts, remarks, strict=True)
    )
    for one, version in zip(nexts, versions, strict=True):
        # By number: a version that knew its text would hold it in memory for as long as a report names it.
        DocumentText.objects.create(version_id=version.pk, text=one.prepared.text, gzipped=one.prepared.gzipped)
        queries.keep_marks(version, one.prepared.marks)
    keep_all((version, one.prepared.findings, one.prepared.text) for one, version in zip(nexts, versions, strict=True))
    history.record_all(_line(one, version, by) for one, version in zip(nexts, versions, strict=True))
    return versions


def _line(one: Next, version: DocumentVersion, by: User | None) -> history.Event:
    return history.line(
        f"make_version_by_{one.origin}",
        version,
        by=by,
        reason=one.reason,
        document=version.document_id,
        sha256=version.sha256,
        tokens=version.tokens,
        bucket=version.bucket,
        encoding=one.encoding,
        **one.data,
    )


def _sharing(nexts: Sequence[Next]) -> Iterator[Sharing]:
    """For each text the other documents that share a long passage, stored ones and those before it in this list."""
    marks = [{mark.value for mark in one.prepared.marks} for one in nexts]
    for number, one in enumerate(nexts):
        if one.origin not in FROM_OUTSIDE or not marks[number]:
            yield {}
            continue
        sharing = queries.documents_sharing(list(marks[number]))
        for before in range(number):
            if common := len(marks[before] & marks[number]):
                sharing[nexts[before].document.pk] = (common, len(marks[before]))
        sharing.pop(one.document.pk, None)  # its own earlier texts
        yield sharing


def near_duplicate_remark(sharing: Sharing, marks: int) -> list[Remark]:
    """Why a person should look twice, the nearest documents first. `marks`: how many the text itself has."""
    near = []
    for other, (count, size) in sorted(sharing.items(), key=lambda item: item[1], reverse=True):
        share = count / min(marks, size)
        if count >= SHARED or share >= SHARE:
            near.append({"document": other, "percent": round(100 * share)})
    if not near:
        return []
    return [Remark("near_duplicate", len(near), more={"documents": near[:NAMED]})]
