"""Zip files looked at before anything in them is unpacked: how many entries, how large, how well packed."""

import io
import struct
import zipfile
import zlib

from documents.formats.faults import Fault

MIB = 1024 * 1024
END = b"PK\x05\x06"
# Name and extra fields of an entry in the directory, generously.
ENTRY = 512
# Deflate packs a thousand zeros into one byte; prose is packed three to ten times, markup up to a hundred.
RATIO = 200
RATIO_FROM = 64 * MIB
BAD = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, struct.error, ValueError, KeyError)


def opened(data: bytes, *, entries: int, unpacked: int) -> zipfile.ZipFile:
    """The archive, with at most `entries` entries and `unpacked` bytes in all by its own directory.

    Raises Fault `crowded`, `bomb` or `damaged`. A directory may lie about a size: zipfile then stops at that size.
    """
    _refuse_crowd(data, entries)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except BAD:
        raise Fault("damaged") from None
    infos = archive.infolist()
    if len(infos) > entries:
        raise Fault("crowded", limit=entries)
    total = sum(info.file_size for info in infos)
    # Entries that share their packed bytes: the trick of bombs that are not nested.
    if total > unpacked or sum(info.compress_size for info in infos) > len(data):
        raise Fault("bomb", size=total, limit=unpacked)
    if total > RATIO_FROM and total > RATIO * len(data):
        raise Fault("bomb", size=total, limit=unpacked)
    return archive


def _refuse_crowd(data: bytes, entries: int) -> None:
    """By the record at the end, before the directory itself is read into memory."""
    place = data.rfind(END, max(0, len(data) - 65_557))
    if place < 0 or len(data) < place + 22:
        return
    count, size = struct.unpack_from("<HI", data, place + 10)
    if size == 0xFFFFFFFF or size > entries * ENTRY or (count > entries and count != 0xFFFF):
        raise Fault("crowded", limit=entries)


def member(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    """The unpacked bytes of one entry. Raises KeyError when there is none, Fault otherwise."""
    info = archive.getinfo(name)
    if info.flag_bits & 1:
        raise Fault("encrypted")
    if info.file_size > limit:
        raise Fault("bomb", size=info.file_size, limit=limit)
    try:
        with archive.open(info) as source:
            return source.read(limit + 1)
    except BAD:
        raise Fault("damaged", part=name[:100]) from None


def names_in(data: bytes, entries: int) -> set[str]:
    """The names of the entries, or nothing where it is no readable zip file."""
    try:
        with opened(data, entries=entries, unpacked=1 << 40) as archive:
            return set(archive.namelist())
    except Fault:
        return set()
