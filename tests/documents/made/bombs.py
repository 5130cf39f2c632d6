"""Archives that are small, and are not."""

import gzip
import io
import struct
import tarfile
import zipfile
import zlib


def zip_of_zeros(entries: int, size: int, *, name: str = "{}.txt") -> bytes:
    """`entries` files of `size` zero bytes each. Deflated once and repeated, so that making it is quick."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = b"0" * (1 << 20)
    packed, crc, left = [], 0, size
    while left:
        piece = block[: min(left, len(block))]
        packed.append(packer.compress(piece))
        crc = zlib.crc32(piece, crc)
        left -= len(piece)
    content = b"".join(packed) + packer.flush()
    return _archive([(name.format(number).encode(), content) for number in range(entries)], crc, size)


def overlapping(entries: int, size: int) -> bytes:
    """Every entry of the directory shows to the same packed bytes."""
    one = zip_of_zeros(1, size)
    end = one.rindex(b"PK\x05\x06")
    start = struct.unpack_from("<I", one, end + 16)[0]
    directory = one[start:end] * entries
    tail = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, entries, entries, len(directory), start, 0)
    return one[:start] + directory + tail


def crowd(entries: int) -> bytes:
    """As many empty files."""
    return _archive([(b"%d.txt" % number, b"\x03\x00") for number in range(entries)], 0, 0)


def nested(levels: int) -> bytes:
    data = zip_of_zeros(1, 1 << 20)
    for _level in range(levels):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(10):
                archive.writestr(f"{number}.zip", data)
        data = buffer.getvalue()
    return data


def tar_with_endless_header(size: int) -> bytes:
    """An extended header of zeros, which a reader would take into memory whole."""
    buffer = io.BytesIO()
    info = tarfile.TarInfo("header")
    info.type, info.size = tarfile.XHDTYPE, size
    with gzip.GzipFile(fileobj=buffer, mode="wb") as packed:
        packed.write(info.tobuf(tarfile.GNU_FORMAT))
        for _block in range(size >> 20):
            packed.write(b"\x00" * (1 << 20))
    return buffer.getvalue()


def tar_of_sizes(sizes: list[int]) -> bytes:
    """Headers of files that long; what should follow is missing."""
    return gzip.compress(b"".join(_header(f"{number}.txt", size) for number, size in enumerate(sizes)))


def _header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


def _archive(files: list[tuple[bytes, bytes]], crc: int, size: int) -> bytes:
    out, directory = io.BytesIO(), io.BytesIO()
    for name, content in files:
        fields = (20, 0, 8, 0, 33, crc, len(content), size, len(name), 0)
        directory.write(struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", 20, *fields, 0, 0, 0, 0, out.tell()) + name)
        out.write(struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", *fields) + name + content)
    start = out.tell()
    count = min(len(files), 0xFFFF)
    out.write(directory.getvalue())
    out.write(struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, out.tell() - start, start, 0))
    return out.getvalue()
