"""What an uploader hands over, taken apart into texts: files, folders, archives (zip, tar, tar.gz), JSONL.

Nothing is written to disk and nothing is trusted: names are only shown, sizes are counted while reading, and whatever
is wrong with one part is said for that part (a Piece with a refusal) while the others go on.
"""

import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import orjson
from django.utils.translation import gettext as _

from core.refusals import Refused, RuleBroken
from documents.intake import MAX_FILE, MIB, too_large

MAX_MEMBERS = 5_000
MAX_UNPACKED = 1024 * MIB
# A line of JSONL may write each character as \uXXXX.
MAX_LINE = 6 * MAX_FILE

ZIP = frozenset({".zip"})
TAR = frozenset({".tar", ".tgz", ".gz"})
JSONL = frozenset({".jsonl", ".ndjson"})
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
        for part in sorted(path.rglob("*")):
            if part.is_file() and not part.is_symlink() and part.name not in LITTER:
                yield from pieces_of_path(part)
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
    try:
        if kind in ZIP:
            yield from _of_members(name, _zip_members(data))
        elif kind in TAR:
            yield from _of_members(name, _tar_members(data))
        elif kind in JSONL:
            yield from _of_lines(name, data)
        else:
            yield Piece(name, data=data)
    except Refused as refusal:
        yield Piece(name, refusal=refusal)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, NotImplementedError):
        words = _("The archive is damaged, or of a kind that is not read: import its files one by one.")
        yield Piece(name, refusal=RuleBroken(words, rule="archive"))


# Archives ---------------------------------------------------------------------------------------------------------


def _of_members(name: str, members: Iterable[tuple[str, bytes | Refused]]) -> Iterator[Piece]:
    unpacked = 0
    for inner, content in members:
        path = f"{name}/{inner}"
        if isinstance(content, Refused):
            yield Piece(path, refusal=content)
            continue
        unpacked += len(content)
        if unpacked > MAX_UNPACKED:
            words = _("The archive unpacks to more than %(limit)s MiB. What came before was taken.")
            raise RuleBroken(words % {"limit": MAX_UNPACKED // MIB}, rule="archive_too_large")
        if PurePosixPath(inner).suffix.lower() in ZIP | TAR:
            yield Piece(path, refusal=RuleBroken(_("An archive inside an archive is not read."), rule="archive"))
        elif PurePosixPath(inner).suffix.lower() in JSONL:
            yield from _of_lines(path, content)
        else:
            yield Piece(path, data=content)


def _zip_members(data: bytes) -> Iterator[tuple[str, bytes | Refused]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir() and not _is_litter(info.filename)]
        _refuse_crowd(len(infos))
        for info in infos:
            fault = _fault_of_name(info.filename)
            if info.flag_bits & 1:
                fault = RuleBroken(_("This part of the archive is encrypted."), rule="encrypted")
            if fault is None and (info.external_attr >> 16) & 0o170000 == 0o120000:
                fault = _no_file()
            if fault is not None:
                yield info.filename, fault
                continue
            with archive.open(info) as member:
                yield info.filename, _bounded(member.read(MAX_FILE + 1))


def _tar_members(data: bytes) -> Iterator[tuple[str, bytes | Refused]]:
    # Read as a stream: the size that counts is what has been unpacked so far, not what a header says.
    with tarfile.open(fileobj=io.BytesIO(data), mode="r|*") as archive:
        for number, info in enumerate(archive, 1):
            _refuse_crowd(number)
            if info.isdir() or _is_litter(info.name):
                continue
            fault = _fault_of_name(info.name) if info.isreg() else _no_file()
            if fault is not None:
                yield info.name, fault
                continue
            if info.size > MAX_UNPACKED:
                raise too_large(info.size)
            member = archive.extractfile(info)
            assert member is not None
            yield info.name, _bounded(member.read(MAX_FILE + 1))


def _bounded(content: bytes) -> bytes | Refused:
    return too_large(len(content)) if len(content) > MAX_FILE else content


def _refuse_crowd(count: int) -> None:
    if count > MAX_MEMBERS:
        words = _("The archive holds more than %(limit)s files. Cut it into several.")
        raise RuleBroken(words % {"limit": MAX_MEMBERS}, rule="archive_too_large")


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
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if not any(line.strip() for line in lines):
        yield Piece(name, refusal=RuleBroken(_("The file holds no line."), rule="empty"))
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _of_line(f"{name}:{number}", number, line)


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
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        words = _("not valid JSON at character %(position)s.") % {"position": error.pos}
        raise RuleBroken(words, rule="jsonl", position=error.pos) from None
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
