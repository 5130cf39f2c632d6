"""Batches at work: each text read, measured, stored, and reported, whatever becomes of the others.

A batch is worked on by whoever holds its lease, and may be stopped at any moment, also by `kill -9`. Texts, a few at a
time, and their lines of the report commit together, and only while the lease is held and nobody cancelled: so what has
a line is done, what has none is taken up again, and nothing is lost or stored twice.
"""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import islice
from pathlib import PurePosixPath

from django.core.files.storage import default_storage
from django.db import DataError, IntegrityError, transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from benchmark.lengths import Lengths
from core import history
from core.models import BenchmarkSettings, User
from core.refusals import Conflict, Refused, RuleBroken
from documents import extracting, intake, wording
from documents.archives import TAR, ZIP
from documents.formats.progressing import listening
from documents.intake import Remark
from documents.jsonl import Piece
from documents.leasing import BEAT_SECONDS, UNFINISHED, Held, Lost, beating, hold, unfinished
from documents.models import BatchFile, BatchLine, DocumentVersion, ImportBatch
from documents.normalising import normalise
from documents.pooling import Measured, Measuring
from documents.storing import Facts, New, refuse_duplicate_text, store_documents, store_new
from documents.unpacking import pieces_of
from documents.workflow import Origin, Outcome

logger = logging.getLogger(__name__)

# Characters that are read ahead of the one that is being stored.
AHEAD = 8_000_000
# What is stored by one transaction: so many texts or characters, or what came within so many seconds.
SLICE = 8
SLICE_CHARS = 3_000_000
SLICE_SECONDS = 1.0
# How much of its unpacked size a packed text takes, roughly: for the progress bar only.
PACKED = 0.35
# A refused paste is kept so long for its writer.
PASTE_KEPT = timedelta(days=30)
FORGOTTEN_AT_ONCE = 100


# One text ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """A text that was read and may be measured: normalised, not empty, not too large."""

    text: str
    facts: Facts
    origin: Origin
    counts: dict[str, int] = field(default_factory=dict)
    encoding: str = "utf-8"
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class Report:
    """What became of one text. `status`: accepted, flagged (taken, look twice) or refused."""

    path: str
    status: str
    reason: str = ""
    rule: str = ""
    position: int | None = None
    version: DocumentVersion | None = None
    normalisation: tuple[str, ...] = ()
    duplicate_of: int | None = None


def read_piece(piece: Piece, facts: Facts, encoding: str) -> Text:
    """Raises the reason why a piece cannot be taken, before anything is spent on measuring it."""
    if piece.refusal is not None:
        raise piece.refusal
    if piece.text is not None:
        read = text_of_string(piece.text, facts.over(**piece.facts), origin=Origin.IMPORT, path=piece.path)
        intake.refuse_unfit(read.text)
    else:
        read = text_of_file(piece.data or b"", piece.path, facts, encoding)
    refuse_duplicate_text(read.text)
    return read


def text_of_file(data: bytes, file_name: str, facts: Facts, encoding: str) -> Text:
    """The one place where the bytes of a file become a text."""
    read = extracting.read_document(data, file_name=file_name, encoding=encoding)
    name = PurePosixPath(file_name.replace("\\", "/")).stem
    facts = facts.over(title=facts.title or read.title or name, format=facts.format or read.format)
    return Text(read.text, facts, Origin.IMPORT, read.counts, read.encoding, read.remarks)


def text_of_string(text: str, facts: Facts, *, origin: Origin, path: str = "") -> Text:
    normalised = normalise(text)
    title = facts.title or PurePosixPath(path.replace("\\", "/")).name or beginning_of(normalised.text)
    return Text(normalised.text, facts.over(title=title), origin, normalised.counts)


def beginning_of(text: str) -> str:
    return next((line.strip()[:80] for line in text.splitlines() if line.strip()), "")


def store_text(read: Text, by: User | None) -> DocumentVersion:
    return store_new(new_of(read), by)


def new_of(read: Text, measured: Measured | None = None) -> New:
    return New(
        read.text,
        read.facts,
        read.origin,
        counts=read.counts,
        encoding=read.encoding,
        measured=measured,
        remarks=read.remarks,
    )


def why_flagged(version: DocumentVersion, lengths: Lengths) -> list[str]:
    """Why a person should look twice at what was taken, in words."""
    words = [wording.remark_in_words(remark) for remark in version.remarks]
    if not version.bucket:
        distance = wording.distance_in_words(version.tokens, lengths)
        words.append(_("no bucket: %(distance)s") % {"distance": distance})
    return words


def report_taken(path: str, version: DocumentVersion, lengths: Lengths) -> Report:
    words = why_flagged(version, lengths)
    return Report(
        path,
        Outcome.FLAGGED if words else Outcome.ACCEPTED,
        reason="; ".join(words),
        version=version,
        normalisation=tuple(wording.normalisation_in_words(version.normalisation)),
    )


def report_refused(path: str, refusal: Refused) -> Report:
    return Report(
        path,
        Outcome.REFUSED,
        reason=str(refusal.message),
        rule=refusal.rule,
        position=refusal.details.get("position"),
        duplicate_of=refusal.details.get("document"),
    )


def fault_in(error: Exception) -> RuleBroken:
    return RuleBroken(_("A fault of the program: %(kind)s.") % {"kind": type(error).__name__}, rule="fault")


# Many texts, read and measured ahead of the one that is stored ----------------------------------------------------


@dataclass(frozen=True)
class Numbered:
    """A piece and its place: `number` counts the texts of one file, from 1. The command knows no files."""

    piece: Piece
    number: int = 0
    file: BatchFile | None = None


@dataclass(frozen=True)
class Ready:
    """A text whose turn to be stored has come, or the reason why there is none. `sent`: about its bytes as sent."""

    path: str
    number: int
    file: BatchFile | None
    sent: int
    read: Text | None = None
    measured: Measured | None = None
    refusal: Refused | None = None


@dataclass(frozen=True)
class _Ahead:
    ready: Ready
    future: "Future[Measured] | None" = None

    @property
    def size(self) -> int:
        return len(self.ready.read.text) if self.ready.read else 0


def ready_texts(
    items: Iterable[Numbered],
    read: Callable[[Numbered], Text],
    measuring: Measuring,
    *,
    meanwhile: Callable[[], object] = lambda: None,
) -> Iterator[Ready]:
    """In the order given. What is read ahead is bounded, so that memory does not grow with the batch."""
    ahead: deque[_Ahead] = deque()
    size = 0
    for item in items:
        one = _begin(item, read, measuring)
        del item  # the bytes have become a text
        ahead.append(one)
        size += one.size
        while len(ahead) >= measuring.places or size > AHEAD:
            size -= ahead[0].size
            yield _finished(ahead.popleft(), measuring, meanwhile)
    while ahead:
        yield _finished(ahead.popleft(), measuring, meanwhile)


def _begin(item: Numbered, read: Callable[[Numbered], Text], measuring: Measuring) -> _Ahead:
    ready = Ready(item.piece.path, item.number, item.file, _sent_bytes(item.piece))
    try:
        text = read(item)
    except Refused as refusal:
        return _Ahead(replace(ready, refusal=refusal))
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError) as error:
        logger.exception("a file could not be read")
        return _Ahead(replace(ready, refusal=fault_in(error)))
    return _Ahead(replace(ready, read=text), measuring.submit(text.text))


def _sent_bytes(piece: Piece) -> int:
    if piece.data is not None:
        return len(piece.data)
    return len((piece.text or "").encode("utf-8", "surrogatepass"))


def _finished(one: _Ahead, measuring: Measuring, meanwhile: Callable[[], object]) -> Ready:
    if one.ready.read is None or one.future is None:
        return one.ready
    measured = measuring.result(one.future, one.ready.read.text, meanwhile=meanwhile, every=BEAT_SECONDS)
    return replace(one.ready, measured=measured)


def slices_of(texts: Iterable[Ready]) -> Iterator[list[Ready]]:
    """In the order given, so many together as one transaction stores."""
    together: list[Ready] = []
    begun = time.monotonic()
    for one in texts:
        together.append(one)
        chars = sum(len(ready.read.text) for ready in together if ready.read)
        if len(together) >= SLICE or chars >= SLICE_CHARS or time.monotonic() - begun >= SLICE_SECONDS:
            yield together
            together = []
            begun = time.monotonic()
    if together:
        yield together


def store_slice(together: Sequence[Ready], by: User | None) -> list[Report]:
    """Store each text, or say why not. What the database refuses of one text undoes them all: then each is stored by
    itself, and the fault is that text's alone. A database that is away is nobody's fault, and raised."""
    try:
        with transaction.atomic():
            return _stored(together, by)
    except (DataError, IntegrityError) as error:
        if len(together) == 1:
            return [_not_stored(together[0], error)]
    return [report for one in together for report in store_slice([one], by)]


def _stored(together: Sequence[Ready], by: User | None) -> list[Report]:
    stored = iter(store_documents([new_of(one.read, one.measured) for one in together if one.read], by))
    lengths = BenchmarkSettings.load().lengths
    reports = []
    for one in together:
        outcome = next(stored) if one.read else one.refusal or fault_in(RuntimeError())
        if isinstance(outcome, Refused):
            reports.append(report_refused(one.path, outcome))
        else:
            reports.append(report_taken(one.path, outcome, lengths))
    return reports


def _not_stored(one: Ready, error: Exception) -> Report:
    """A text that somebody else stored at the same moment is a duplicate; anything else is a fault."""
    try:
        if one.read:
            refuse_duplicate_text(one.read.text)
    except Refused as refusal:
        return report_refused(one.path, refusal)
    logger.error("a text could not be stored", exc_info=error)
    return report_refused(one.path, fault_in(error))


# A batch ------------------------------------------------------------------------------------------------------------


def work_off() -> int:
    """Take in every batch that waits, in this process. Returns how many."""
    waiting = unfinished()
    for pk in waiting:
        take_in(pk)
    return len(waiting)


def take_in(batch_id: int) -> None:
    """Bring one batch to its end, from wherever it stands. Does nothing when it has ended or somebody else holds it."""
    held = hold(batch_id)
    if held is None:
        return
    with translation.override(language_of(held.batch)), beating(held):
        try:
            _work(held)
        except Lost:
            logger.info("batch %s was cancelled, or taken up by somebody else", batch_id)
        except BaseException:
            held.give_back()
            raise


def language_of(batch: ImportBatch) -> str:
    """The one a person has chosen, else the one in which the page stood: the browser's, which no worker knows."""
    chosen = batch.made_by.language if batch.made_by else ""
    return chosen or batch.language or translation.get_language() or "en"


def _work(held: Held) -> None:
    batch = held.batch
    files = list(batch.files.filter(is_done=False))
    # One title for many would name them all the same: it is a single file's.
    facts = facts_of(batch) if batch.files.count() == 1 else replace(facts_of(batch), title="")

    def read(item: Numbered) -> Text:
        with listening(lambda pages, total: held.renew(reading=_reading(item, pages, total))):
            return _read_item(item, facts, batch.encoding)

    done = _Done(held.batch)
    with Measuring() as measuring:
        for together in slices_of(ready_texts(_items(batch, files), read, measuring, meanwhile=held.renew)):
            _take(held, together, batch.made_by, done)
    _finish(held)


class _Done:
    """How far a batch has come, a worker before this one included."""

    def __init__(self, batch: ImportBatch) -> None:
        self._before = sum(batch.files.filter(is_done=True).values_list("size", flat=True))
        self._within = 0
        self._resumed = max(0, batch.bytes_done - self._before)
        self._at: BatchFile | None = None

    def add(self, together: Iterable[Ready]) -> list[int]:
        """Returns the numbers of the files that these texts have left behind."""
        left = []
        for one in together:
            file = one.file
            assert file is not None
            if self._at is None:
                self._go_on(one)
            elif self._at.pk != file.pk:
                left.append(self._at.pk)
                self._before, self._within = self._before + self._at.size, 0
            self._at = file
            self._within = min(file.size, self._within + _share(one.sent, file))
        return left

    def _go_on(self, first: Ready) -> None:
        """What was done before belongs to the same file, or to files before it."""
        if first.number > 1:
            self._within = self._resumed
        else:
            self._before += self._resumed

    @property
    def bytes(self) -> int:
        return self._before + self._within


def _items(batch: ImportBatch, files: Iterable[BatchFile]) -> Iterator[Numbered]:
    """The texts that have no line yet. Taking a file apart gives the same texts under the same numbers each time."""
    lines = BatchLine.objects.filter(batch=batch, file__is_done=False).order_by()
    there = set(lines.values_list("file", "number"))
    for file in files:
        for number, piece in enumerate(_pieces(file), 1):
            if (file.pk, number) not in there:
                yield Numbered(piece, number, file)


def _pieces(file: BatchFile) -> Iterator[Piece]:
    try:
        with file.content.open("rb") as content:
            data = content.read()
    except (OSError, ValueError):
        words = _("The file cannot be read: %(reason)s.") % {"reason": _("it is no longer in the store")}
        yield Piece(file.name, refusal=RuleBroken(words, rule="unreadable"))
        return
    if is_paste(file):
        yield Piece("", text=data.decode("utf-8", "surrogatepass"))
    else:
        yield from pieces_of(file.name, data)


def is_paste(file: BatchFile) -> bool:
    """A pasted text lies in the store like a file, and is the only one that nobody gave a name."""
    return not file.name


def facts_of(batch: ImportBatch) -> Facts:
    return Facts(**batch.facts)


def _read_item(item: Numbered, facts: Facts, encoding: str) -> Text:
    file = item.file
    assert file is not None
    if is_paste(file):
        read = text_of_string(item.piece.text or "", facts, origin=Origin.PASTE)
        intake.refuse_unfit(read.text)
        return read
    # The texts of an archive have names of their own.
    return read_piece(item.piece, facts if item.piece.path == file.name else replace(facts, title=""), encoding)


def _take(held: Held, together: Sequence[Ready], by: User | None, done: _Done) -> None:
    """Some texts, their lines of the report, and the batch's counts: together or not at all."""
    left = done.add(together)
    with held.storing():
        reports = store_slice(together, by)
        BatchLine.objects.bulk_create(
            _line(held.batch, one, report) for one, report in zip(together, reports, strict=True)
        )
        if left:
            BatchFile.objects.filter(pk__in=left).update(is_done=True)
        counts = Counter(report.status for report in reports)
        sums = {status: F(status) + count for status, count in counts.items()}
        held.renew(**sums, bytes_done=done.bytes, reading={})


def _reading(item: Numbered, done: int, total: int) -> dict[str, object]:
    return {"name": item.piece.path, "done": done, "total": total}


def _line(batch: ImportBatch, ready: Ready, report: Report) -> BatchLine:
    return BatchLine(
        batch=batch,
        file=ready.file,
        number=ready.number,
        path=report.path,
        status=report.status,
        rule=report.rule,
        reason=report.reason,
        position=report.position,
        version=report.version,
        duplicate_of=report.duplicate_of,
    )


def _share(sent: int, file: BatchFile) -> int:
    """About how much of the file a text of this size is."""
    kind = PurePosixPath(file.name).suffix.lower()
    return round(sent * PACKED) if kind in ZIP | (TAR - {".tar"}) else sent


def _finish(held: Held) -> None:
    batch = held.batch
    with held.storing():
        held.renew(bytes_done=F("bytes_total"), finished_at=timezone.now(), reading={})
        batch.refresh_from_db(fields=["accepted", "flagged", "refused"])
        try:
            history.advance(
                batch, "finish", by=None, accepted=batch.accepted, flagged=batch.flagged, refused=batch.refused
            )
        except Conflict as conflict:
            raise Lost from conflict
        ImportBatch.objects.filter(pk=batch.pk).update(leased_until=None)
        batch.files.update(is_done=True)
    forget_files(batch)


# What is left in the store --------------------------------------------------------------------------------------------


def refused_paste(batch: ImportBatch) -> BatchFile | None:
    """The typed text of a batch that was not taken: it goes back to whoever wrote it."""
    pastes = batch.files.filter(name="").exclude(content="")
    return pastes.exclude(lines__status__in=[Outcome.ACCEPTED, Outcome.FLAGGED]).first()


def text_of_paste(file: BatchFile) -> str:
    try:
        with file.content.open("rb") as content:
            return content.read().decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


@dataclass(frozen=True)
class Untaken:
    """What a batch that was cancelled left: whole files, and those of which only the first texts were taken."""

    files: int
    parts: int


def untaken(batch: ImportBatch) -> Untaken:
    """How many texts an archive still held nobody knows without taking it apart: so files are counted."""
    left = batch.files.filter(is_done=False).annotate(taken=Exists(BatchLine.objects.filter(file=OuterRef("pk"))))
    names = list(left.values_list("name", "taken"))
    parts = sum(1 for name, taken in names if taken and _holds_many(name))
    return Untaken(sum(1 for _name, taken in names if not taken), parts)


def _holds_many(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in ZIP | TAR | {".jsonl"}


def forget_files(batch: ImportBatch) -> None:
    """Take the sent files out of the store when the batch has ended. A typed text that was not taken stays a while."""
    kept = refused_paste(batch)
    _forget([file for file in batch.files.exclude(content="") if kept is None or file.pk != kept.pk])


def _forget(files: Iterable[BatchFile]) -> None:
    """Out of the store first: a row that names a file which is gone is found again by `sweep`."""
    for some in _parts(files, FORGOTTEN_AT_ONCE):
        for file in some:
            default_storage.delete(str(file.content.name))
        BatchFile.objects.filter(pk__in=[file.pk for file in some]).update(content="")


def _parts(files: Iterable[BatchFile], count: int) -> Iterator[list[BatchFile]]:
    rest = iter(files)
    while some := list(islice(rest, count)):
        yield some


def sweep() -> None:
    """What a process that was killed behind the end of a batch left in the store, and pastes nobody came back for."""
    ended = BatchFile.objects.exclude(content="").exclude(batch__state__in=UNFINISHED).select_related("batch")
    _forget(ended.exclude(name="").order_by("pk")[:500])
    _forget(ended.filter(name="", batch__finished_at__lt=timezone.now() - PASTE_KEPT).order_by("pk")[:500])
