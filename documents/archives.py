"""Archives (zip, tar, tar.gz) taken apart: nothing is written to disk, and nothing in them is trusted."""

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Self

from django.utils.translation import gettext as _

from core.refusals import Refused, RuleBroken
from core.text import is_clean
from documents.extracting import MAX_FILE
from documents.formats.boxes import opened
from documents.formats.faults import Fault
from documents.formats.kinds import kind_of
from documents.intake import MIB, too_large

MAX_MEMBERS = 5_000
MAX_UNPACKED = 1024 * MIB
# A header of a tar file is read into memory whole.
MAX_TAR_HEADER = MIB

ZIP = frozenset({".zip"})
TAR = frozenset({".tar", ".tgz", ".gz"})
GZIP = b"\x1f\x8b"
LITTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
# What a damaged archive raises, wherever it is opened.
DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, NotImplementedError, ValueError)


def members_of(kind: str, data: bytes) -> Iterator[tuple[str, bytes | Refused]]:
    """Name and content of each file in it, or why it cannot be had. Raises Refused for the archive as a whole, and what
    DAMAGED names."""
    unpacked = 0
    for name, content in _zip_members(data) if kind in ZIP else _tar_members(data):
        unpacked += 0 if isinstance(content, Refused) else len(content)
        if unpacked > MAX_UNPACKED:
            raise _too_much()
        yield name, content


def _zip_members(data: bytes) -> Iterator[tuple[str, bytes | Refused]]:
    kind = kind_of(data)
    if kind in ("DOCX", "EPUB"):
        words = _("This is a %(kind)s file, not an archive of texts. Give it the name .%(ending)s.")
        raise RuleBroken(words % {"kind": kind, "ending": kind.lower()}, rule="type_mismatch", position=0)
    try:
        # Folders and litter are entries too.
        archive = opened(data, entries=4 * MAX_MEMBERS, unpacked=MAX_UNPACKED)
    except Fault as found:
        raise {"crowded": _crowded, "bomb": _too_much}.get(found.rule, damaged)() from None
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


def damaged() -> Refused:
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
