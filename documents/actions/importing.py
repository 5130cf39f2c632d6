"""Bringing texts in: a file, a paste, or the pieces of a batch, each by itself."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from django.utils.translation import gettext as _

from core.models import BenchmarkSettings, User
from core.refusals import Refused
from documents import intake
from documents.actions.permissions import can_import_document, refuse_unless
from documents.actions.storing import Facts, store_document
from documents.models import DocumentVersion
from documents.normalising import normalise
from documents.unpacking import Piece
from documents.workflow import Origin


@dataclass(frozen=True)
class Report:
    """What became of one file of a batch. `status`: accepted, flagged (taken, look twice) or refused."""

    path: str
    status: str
    reason: str = ""
    rule: str = ""
    position: int | None = None
    version: DocumentVersion | None = None
    normalisation: tuple[str, ...] = ()
    duplicate_of: int | None = None


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
    return _import_file(data, file_name, facts, encoding, by)


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
    return _import_text(text, facts, by, origin=Origin.PASTE)


def import_pieces(
    *, pieces: Iterable[Piece], by: User | None, facts: Facts | None = None, encoding: str = ""
) -> Iterator[Report]:
    """Every piece by itself: what is refused is reported with its reason and place, and the others go in."""
    refuse_unless(can_import_document(by))
    for piece in pieces:
        yield _take_in(piece, facts or Facts(), encoding, by)


def _take_in(piece: Piece, facts: Facts, encoding: str, by: User | None) -> Report:
    try:
        if piece.refusal is not None:
            raise piece.refusal
        if piece.text is not None:
            version = _import_text(piece.text, facts.over(**piece.facts), by, origin=Origin.IMPORT, path=piece.path)
        else:
            version = _import_file(piece.data or b"", piece.path, facts, encoding, by)
    except Refused as refusal:
        return Report(
            piece.path,
            "refused",
            reason=str(refusal.message),
            rule=refusal.rule,
            position=refusal.details.get("position"),
            duplicate_of=refusal.details.get("document"),
        )
    words = [intake.remark_in_words(remark) for remark in version.remarks]
    if not version.bucket:
        distance = intake.distance_in_words(version.tokens, BenchmarkSettings.load().lengths)
        words.append(_("no bucket: %(distance)s") % {"distance": distance})
    return Report(
        piece.path,
        "flagged" if words else "accepted",
        reason="; ".join(words),
        version=version,
        normalisation=tuple(intake.normalisation_in_words(version.normalisation)),
    )


def _import_file(data: bytes, file_name: str, facts: Facts, encoding: str, by: User | None) -> DocumentVersion:
    text, found, counts = intake.read_file(data, file_name=file_name, encoding=encoding)
    name = PurePosixPath(file_name.replace("\\", "/")).stem
    facts = facts.over(title=facts.title or name, format=facts.format or intake.format_of(file_name))
    return store_document(text, facts, by, origin=Origin.IMPORT, counts=counts, encoding=found)


def _import_text(text: str, facts: Facts, by: User | None, *, origin: Origin, path: str = "") -> DocumentVersion:
    normalised = normalise(text)
    title = facts.title or PurePosixPath(path.replace("\\", "/")).name or _beginning(normalised.text)
    return store_document(normalised.text, facts.over(title=title), by, origin=origin, counts=normalised.counts)


def _beginning(text: str) -> str:
    return next((line.strip()[:80] for line in text.splitlines() if line.strip()), "")
