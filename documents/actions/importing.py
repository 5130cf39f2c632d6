"""Bringing texts in: one at once, or many as a batch, each by itself."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import uuid4

from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from core import history
from core.jobs import hurry
from core.models import User
from core.refusals import Invalid
from documents import batches
from documents.actions.permissions import can_cancel_batch, can_import_document, refuse_unless
from documents.batches import UNFINISHED, Numbered, Report, Text
from documents.decoding import known_encoding
from documents.intake import MIB
from documents.models import BatchFile, DocumentVersion, ImportBatch
from documents.pooling import Measuring
from documents.storing import Facts, checked_facts
from documents.tasks import take_in
from documents.unpacking import Piece
from documents.workflow import Origin


def import_document(
    *,
    data: bytes,
    file_name: str,
    by: User | None,
    language: str = "",
    title: str = "",
    domain: str = "",
    format: str = "",
    multi: bool = False,
    licence: str = "",
    source_url: str = "",
    encoding: str = "",
) -> DocumentVersion:
    """One file becomes one document, waiting for compliance.

    Raises RuleBroken `empty`, `too_large`, `encoding`, `type_mismatch`, `unsupported_format` or `duplicate`.
    """
    refuse_unless(can_import_document(by))
    facts = Facts(title, language, domain, format, multi, licence, source_url)
    return batches.store_text(batches.text_of_file(data, file_name, facts, encoding), by)


def paste_document(
    *,
    text: str,
    title: str,
    by: User | None,
    language: str = "",
    domain: str = "",
    format: str = "",
    multi: bool = False,
    licence: str = "",
    source_url: str = "",
) -> DocumentVersion:
    """A typed or pasted text, or one sent as JSON, becomes one document, waiting for compliance."""
    refuse_unless(can_import_document(by))
    facts = Facts(title, language, domain, format, multi, licence, source_url)
    return batches.store_text(batches.text_of_string(text, facts, origin=Origin.PASTE), by)


def import_pieces(
    *, pieces: Iterable[Piece], by: User | None, facts: Facts | None = None, encoding: str = ""
) -> Iterator[Report]:
    """Every piece by itself, in this process: what is refused is reported with its reason and place, and the others
    go in. The same work as a batch's (documents.batches), without its rows."""
    refuse_unless(can_import_document(by))
    recorded = facts or Facts()

    def read(item: Numbered) -> Text:
        return batches.read_piece(item.piece, recorded, encoding)

    with Measuring() as measuring:
        for together in batches.slices_of(batches.ready_texts(map(Numbered, pieces), read, measuring)):
            yield from batches.store_slice(together, by)


# Batches ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """One file as it came in. A pasted text has no name."""

    name: str
    content: File

    @property
    def size(self) -> int:
        return int(self.content.size)


def start_batch(
    *, files: Sequence[Sent], by: User, pasted: str = "", facts: Facts | None = None, encoding: str = ""
) -> ImportBatch:
    """Keep what was sent and wake the worker. The same once more while it is unfinished is the same batch."""
    refuse_unless(can_import_document(by))
    recorded = checked_facts(facts or Facts(), need_title=False)
    encoding = known_encoding(encoding)
    sent = list(files)
    if pasted.strip():
        sent.append(Sent("", ContentFile(pasted.encode("utf-8", "surrogatepass"))))
    _refuse_unfit(sent)
    digest = _digest(sent, recorded, encoding)
    return _running(by, digest) or _keep(sent, recorded, encoding, by, digest)


def _refuse_unfit(sent: Sequence[Sent]) -> None:
    if not sent:
        raise Invalid({"uploads": _("Choose files, or paste a text below.")})
    most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
    if len(sent) > most + 1:
        raise Invalid({"uploads": too_many(len(sent))})
    if sum(file.size for file in sent) > settings.LBP_MAX_UPLOAD:
        raise Invalid({"uploads": _too_much()})


def too_many(count: int) -> str:
    return _(
        "%(n)s files at once are too many: at most %(limit)s. Put them into one zip or tar.gz, "
        "or use the command import_documents."
    ) % {"n": count, "limit": settings.DATA_UPLOAD_MAX_NUMBER_FILES}


def _too_much() -> str:
    return _(
        "Together the files are too large: at most %(limit)s MiB in one upload. Send them in parts, "
        "or use the command import_documents, which has no such limit."
    ) % {"limit": settings.LBP_MAX_UPLOAD // MIB}


def _digest(sent: Sequence[Sent], facts: Facts, encoding: str) -> str:
    """What makes two uploads the same: names, contents, facts, encoding."""
    whole = hashlib.sha256(json.dumps([facts.__dict__, encoding], sort_keys=True).encode())
    for file in sent:
        content = hashlib.sha256()
        file.content.seek(0)
        for chunk in file.content.chunks():
            content.update(chunk)
        whole.update(repr((file.name, file.size, content.hexdigest())).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def _running(by: User, digest: str) -> ImportBatch | None:
    return ImportBatch.objects.filter(made_by=by, digest=digest, state__in=UNFINISHED).first()


def _keep(sent: Sequence[Sent], facts: Facts, encoding: str, by: User, digest: str) -> ImportBatch:
    """Files first, rows after: a row never names a file that is not there."""
    names: list[str] = []
    try:
        names += map(_store, sent)
        with transaction.atomic():
            return _record(sent, names, facts, encoding, by, digest)
    except IntegrityError:
        _take_away(names)
        batch = _running(by, digest)  # somebody sent the same in this moment
        if batch is None:
            raise
        return batch
    except BaseException:
        _take_away(names)
        raise


def _store(file: Sent) -> str:
    """Under a name of our own: the sender's is only ever shown."""
    file.content.seek(0)
    field = BatchFile._meta.get_field("content")
    return default_storage.save(field.generate_filename(BatchFile(), uuid4().hex), file.content)


def _take_away(names: Iterable[str]) -> None:
    for name in names:
        default_storage.delete(name)


def _record(
    sent: Sequence[Sent], names: Sequence[str], facts: Facts, encoding: str, by: User, digest: str
) -> ImportBatch:
    batch = ImportBatch.objects.create(
        made_by=by,
        digest=digest,
        facts=dict(facts.__dict__),
        encoding=encoding,
        language=get_language() or "",
        bytes_total=sum(file.size for file in sent),
    )
    BatchFile.objects.bulk_create(
        BatchFile(batch=batch, number=number, name=file.name, size=file.size, content=name)
        for number, (file, name) in enumerate(zip(sent, names, strict=True), 1)
    )
    history.record("send_batch", batch, by=by, files=len(sent), bytes=batch.bytes_total)
    hurry(take_in, batch.pk)
    return batch


def cancel_batch(*, batch: ImportBatch, by: User) -> ImportBatch:
    """Take nothing more of it. What was taken stays. Raises Conflict when it has ended."""
    refuse_unless(can_cancel_batch(by, batch))
    with transaction.atomic():
        history.advance(batch, "cancel", by=by)
        batch.finished_at, batch.leased_until, batch.reading = timezone.now(), None, {}
        batch.save(update_fields=["finished_at", "leased_until", "reading"])
    batches.forget_files(batch)
    return batch
