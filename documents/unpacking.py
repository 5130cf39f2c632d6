"""What an uploader hands over, taken apart into texts: files, folders, archives (zip, tar, tar.gz), JSONL, JSON.

Nothing is written to disk and nothing is trusted: names are only shown, sizes are checked before and counted while
reading, and whatever is wrong with one part is said for that part (a Piece with a refusal) while the others go on.

A line of JSONL is an object with `text` and any of the other FIELDS, in UTF-8. There is no field for an id: a document
is known by its text (SHA-256), and gets a number of ours; a field that is not known is refused rather than dropped.

A .json file holds documents, and is taken like JSONL, when it is one object with a text in `text` and no field that is
not known, or a list of objects that all have a text in `text`. Any other .json file is itself the document.
"""

import gzip
import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Self

import orjson
from django.utils.translation import gettext as _

from core.refusals import Refused, RuleBroken
from core.text import clean_text, is_clean
from documents.decoding import BOMS, decode, refuse_other_kinds
from documents.formats.asking import read_apart
from documents.formats.boxes import opened
from documents.formats.faults import Fault
from documents.formats.kinds import kind_of
from documents.intake import MAX_BYTES, MAX_FILE, MIB, too_large

MAX_MEMBERS = 5_000
MAX_UNPACKED = 1024 * MIB
# A line of JSONL may write each character as \uXXXX.
MAX_LINE = 6 * MAX_BYTES
# A longer line is looked over before it is parsed: outside its texts it has no need of more than this.
LONG_LINE = MIB
MAX_BONES = 10_000
# A header of a tar file is read into memory whole.
MAX_TAR_HEADER = MIB
MAX_NAME = 1_000

ZIP = frozenset({".zip"})
TAR = frozenset({".tar", ".tgz", ".gz"})
JSONL = frozenset({".jsonl", ".ndjson"})
JSON = frozenset({".json"})
GZIP = b"\x1f\x8b"
LITTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})

FIELDS: dict[str, type] = {
    "text": str,
    "title": str,
    "language": str,
    "domain": str,
    "format": str,
    "multi": bool,
    "source_url": str,
    "licence": str,
}

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


@dataclass(frozen=True)
class Piece:
    """One text to be: the bytes of a file, or a text with the facts that came with it, or the reason why not."""

    path: str
    data: bytes | None = None
    text: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    refusal: Refused | None = None


def pieces_of_path(path: Path) -> Iterator[Piece]:
    """A file, or every file of a folder in the order of their names. Links that lead elsewhere are not followed."""
    if path.is_dir():
        found = False
        for part in sorted(path.rglob("*")):
            if part.is_file() and not part.is_symlink() and part.name not in LITTER:
                found = True
                yield from pieces_of_path(part)
        if not found:
            yield Piece(shown(str(path)), refusal=RuleBroken(_("The folder holds no file."), rule="empty"))
        return
    try:
        if path.stat().st_size > MAX_UNPACKED:
            raise too_large(path.stat().st_size)
        data = path.read_bytes()
    except OSError as error:
        words = _("The file cannot be read: %(reason)s.") % {"reason": error.strerror or type(error).__name__}
        yield Piece(str(path), refusal=RuleBroken(words, rule="unreadable"))
    except Refused as refusal:
        yield Piece(str(path), refusal=refusal)
    else:
        yield from pieces_of(str(path), data)


def pieces_of(name: str, data: bytes) -> Iterator[Piece]:
    """The texts in one file, by the end of its name."""
    kind = PurePosixPath(name).suffix.lower()
    name = shown(name)
    try:
        if kind in ZIP:
            yield from _of_members(name, _zip_members(data))
        elif kind in TAR:
            yield from _of_members(name, _tar_members(data))
        else:
            yield from _of_file(name, kind, data)
    except Refused as refusal:
        yield Piece(name, refusal=refusal)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, NotImplementedError, ValueError):
        yield Piece(name, refusal=_damaged())


def _of_file(name: str, kind: str, data: bytes) -> Iterator[Piece]:
    if kind in JSONL:
        yield from _of_lines(name, data)
    elif kind in JSON:
        yield from _of_json(name, data)
    else:
        yield Piece(name, data=data)


def shown(name: str) -> str:
    """A name as it is shown and stored: one line, no control characters, whole characters, not endless. An ordinary
    name stays as it is."""
    return name if name.isprintable() and len(name) <= MAX_NAME else " ".join(clean_text(name).split())[:MAX_NAME]


# Archives ---------------------------------------------------------------------------------------------------------


def _of_members(name: str, members: Iterable[tuple[str, bytes | Refused]]) -> Iterator[Piece]:
    unpacked, found = 0, False
    for inner, content in members:
        found = True
        path = f"{name}/{shown(inner)}"
        if isinstance(content, Refused):
            yield Piece(path, refusal=content)
            continue
        unpacked += len(content)
        if unpacked > MAX_UNPACKED:
            raise _too_much()
        kind = PurePosixPath(inner).suffix.lower()
        if kind in ZIP | TAR:
            yield Piece(path, refusal=RuleBroken(_("An archive inside an archive is not read."), rule="archive"))
            continue
        try:
            yield from _of_file(path, kind, content)
        except Refused as refusal:
            yield Piece(path, refusal=refusal)
    if not found:
        yield Piece(name, refusal=RuleBroken(_("The archive holds no file."), rule="empty"))


def _zip_members(data: bytes) -> Iterator[tuple[str, bytes | Refused]]:
    kind = kind_of(data)
    if kind in ("DOCX", "EPUB"):
        words = _("This is a %(kind)s file, not an archive of texts. Give it the name .%(ending)s.")
        raise RuleBroken(words % {"kind": kind, "ending": kind.lower()}, rule="type_mismatch", position=0)
    try:
        # Folders and litter are entries too.
        archive = opened(data, entries=4 * MAX_MEMBERS, unpacked=MAX_UNPACKED)
    except Fault as found:
        raise {"crowded": _crowded, "bomb": _too_much}.get(found.rule, _damaged)() from None
    with archive:
        infos = [info for info in archive.infolist() if not info.is_dir() and not _is_litter(info.filename)]
        _refuse_crowd(len(infos))
        for info in infos:
            name = _name_of(info)
            fault = _fault_of_entry(info, name)
            if fault is not None:
                yield name, fault
                continue
            try:
                with archive.open(info) as member:
                    yield name, _bounded(member.read(MAX_FILE + 1))
            except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
                yield name, RuleBroken(_("This part of the archive is damaged."), rule="archive")


def _fault_of_entry(info: zipfile.ZipInfo, name: str) -> Refused | None:
    if info.flag_bits & 1:
        return RuleBroken(_("This part of the archive is encrypted."), rule="encrypted")
    if (info.external_attr >> 16) & 0o170000 == 0o120000:
        return _no_file()
    if info.file_size > MAX_FILE:
        return too_large(info.file_size)
    return _fault_of_name(name)


def _name_of(info: zipfile.ZipInfo) -> str:
    """Zip files made in China name their entries in GBK and say nothing of it; zipfile then takes them for cp437."""
    if info.flag_bits & 0x800 or info.filename.isascii():
        return info.filename
    try:
        written = info.filename.encode("cp437")
    except UnicodeEncodeError:
        return info.filename
    for encoding in ("utf-8", "gb18030"):
        try:
            return written.decode(encoding)
        except UnicodeDecodeError:
            continue
    return info.filename


class _Header(tarfile.TarInfo):
    """A header that does not swallow memory: long names and attributes are small in every honest archive. And one that
    does not keep quiet: tarfile takes a broken header behind the first for the end of the archive."""

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile_)
        except (tarfile.TruncatedHeaderError, tarfile.InvalidHeaderError) as error:  # type: ignore[attr-defined]
            raise tarfile.ReadError("broken header") from error

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        described = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
        if self.type in (*described, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK) and self.size > MAX_TAR_HEADER:
            raise tarfile.ReadError("header too large")
        return super()._proc_member(archive)  # type: ignore[misc]


def _tar_members(data: bytes) -> Iterator[tuple[str, bytes | Refused]]:
    # Read as a stream: nothing is unpacked but what comes next. gzip itself says when its end is missing or its sum is
    # wrong, and goes on to a second part; tarfile's own reading of it does neither.
    with (
        gzip.open(io.BytesIO(data)) if data.startswith(GZIP) else io.BytesIO(data) as stream,
        tarfile.open(fileobj=stream, mode="r|*", tarinfo=_Header) as archive,
    ):
        for number, info in enumerate(archive, 1):
            _refuse_crowd(number)
            # What is passed over has to be unpacked too.
            if info.offset_data + info.size > MAX_UNPACKED:
                raise _too_much()
            name = _whole_name(info.name)
            if info.isdir() or _is_litter(name):
                continue
            fault = _fault_of_name(name) if info.isreg() else _no_file()
            if fault is not None:
                yield name, fault
                continue
            member = archive.extractfile(info)
            assert member is not None
            yield name, _bounded(member.read(MAX_FILE + 1))


def _whole_name(name: str) -> str:
    """Bytes that are no UTF-8 come as halves of surrogate pairs; they may be GBK."""
    try:
        return name.encode("utf-8", "surrogateescape").decode("gb18030") if not is_clean(name) else name
    except UnicodeError:
        return name


def _bounded(content: bytes) -> bytes | Refused:
    return too_large(len(content)) if len(content) > MAX_FILE else content


def _refuse_crowd(count: int) -> None:
    if count > MAX_MEMBERS:
        raise _crowded()


def _crowded() -> Refused:
    words = _("The archive holds more than %(limit)s files. Cut it into several.")
    return RuleBroken(words % {"limit": MAX_MEMBERS}, rule="archive_too_large")


def _too_much() -> Refused:
    words = _(
        "The archive unpacks to more than %(limit)s MiB, or out of all proportion to its size. Cut it into several."
    )
    return RuleBroken(words % {"limit": MAX_UNPACKED // MIB}, rule="archive_too_large")


def _damaged() -> Refused:
    words = _("The archive is damaged, or of a kind that is not read: import its files one by one.")
    return RuleBroken(words, rule="archive")


def _is_litter(name: str) -> bool:
    path = PurePosixPath(name)
    return path.name in LITTER or "__MACOSX" in path.parts


def _fault_of_name(name: str) -> Refused | None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts and path.parts[0].endswith(":")):
        return RuleBroken(_("The name of this part leads outside the archive."), rule="archive_name")
    return None


def _no_file() -> Refused:
    return RuleBroken(_("This part of the archive is a link or a device, not a file."), rule="archive_link")


# JSONL ------------------------------------------------------------------------------------------------------------


def _of_lines(name: str, data: bytes) -> Iterator[Piece]:
    """One text per line. A bad line is named and never stops the others; blank lines are passed over."""
    refuse_other_kinds(data)
    for mark, marked in BOMS:
        if data.startswith(mark) and marked != "utf-8":
            words = _("JSONL is read in UTF-8 only; this is %(encoding)s. Save it as UTF-8.")
            raise RuleBroken(words % {"encoding": marked.upper()}, rule="encoding", position=0)
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if not any(line.strip() for line in lines):
        yield Piece(name, refusal=RuleBroken(_("The file holds no line."), rule="empty"))
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _of_line(f"{name}:{number}", number, line)


def _of_json(name: str, data: bytes) -> Iterator[Piece]:
    """The documents in it, entry by entry; where it holds none, the file as it is."""
    rows = _rows_of(data)
    if not rows:
        yield Piece(name, data=data)
    for number, row in enumerate(rows, 1):
        yield _of_line(f"{name}:{number}", number, row)


def _rows_of(data: bytes) -> list[bytes]:
    if len(data) > MAX_FILE or data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        return []
    try:
        text = decode(data).text
    except Refused:
        # Whoever reads the file as one document says why, or is told the encoding.
        return []
    if '"text"' not in text:
        return []
    lines = read_apart("rows", text.encode()).text
    return lines.encode().split(b"\n") if lines else []


def _of_line(path: str, number: int, line: bytes) -> Piece:
    try:
        row = _read_line(line)
    except Refused as refusal:
        words = _("Line %(number)s: %(reason)s") % {"number": number, "reason": refusal.message}
        return Piece(path, refusal=RuleBroken(words, rule=refusal.rule, line=number, **refusal.details))
    return Piece(path, text=row.pop("text"), facts=row)


def _read_line(line: bytes) -> dict[str, Any]:
    if len(line) > MAX_LINE:
        raise too_large(len(line))
    if len(line) > LONG_LINE and len(_STRING.sub(b"", line)) > MAX_BONES:
        raise RuleBroken(_("its fields must be texts, or true or false: it holds more than that."), rule="jsonl")
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise _no_json(line, error) from None
    if not isinstance(row, dict):
        raise RuleBroken(_("a JSON object is expected."), rule="jsonl")
    if "text" not in row:
        raise RuleBroken(_("the field “text” is missing."), rule="jsonl")
    unknown = sorted(set(row) - set(FIELDS))
    if unknown:
        words = _("unknown field “%(field)s”. Known are: %(known)s.")
        raise RuleBroken(words % {"field": unknown[0][:60], "known": ", ".join(FIELDS)}, rule="jsonl")
    for field_name, value in row.items():
        if type(value) is not FIELDS[field_name]:
            words = (
                _("the field “%(field)s” must be a text.")
                if FIELDS[field_name] is str
                else _("the field “%(field)s” must be true or false.")
            )
            raise RuleBroken(words % {"field": field_name}, rule="jsonl")
    return row


def _no_json(line: bytes, error: orjson.JSONDecodeError) -> RuleBroken:
    """What is wrong with a line, as far as it can be told, and where."""
    try:
        line.decode()
    except UnicodeDecodeError as broken:
        words = _("not UTF-8 at byte %(position)s of the line. Save the file as UTF-8.") % {"position": broken.start}
        return RuleBroken(words, rule="jsonl", position=broken.start)
    place = {"position": error.pos}
    if "surrogate" in error.msg:
        words = _("half of a surrogate pair at character %(position)s, which no text may hold.") % place
        return RuleBroken(words, rule="jsonl", position=error.pos)
    if "depth" in error.msg or "recursion" in error.msg:
        words = _("nested too deeply at character %(position)s.") % place
        return RuleBroken(words, rule="jsonl", position=error.pos)
    return RuleBroken(_("not valid JSON at character %(position)s.") % place, rule="jsonl", position=error.pos)
