"""PDF files, object by object, as small as they can be."""

import io
import zlib
from collections.abc import Mapping, Sequence

from pypdf import PdfReader, PdfWriter

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def assembled(objects: Sequence[bytes], *, root: int = 1) -> bytes:
    """A file of `objects`, numbered from 1, with a right table of their places."""
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    table = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    out.write(b"trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, root, table))
    return out.getvalue()


def stream(content: bytes, *, more: bytes = b"") -> bytes:
    packed = zlib.compress(content)
    return b"<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream" % (len(packed), more, packed)


def shown(lines: Sequence[str], *, size: int = 12) -> bytes:
    """The drawing of lines of ASCII."""
    drawn = b"".join(
        b"(%s) Tj 0 -14 Td\n"
        % line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)").encode("latin-1", "replace")
        for line in lines
    )
    return b"BT /F1 %d Tf 72 760 Td\n%sET" % (size, drawn)


def of_pages(
    pages: Sequence[Sequence[str]], *, font: bytes = FONT, catalog: bytes = b"", more: Sequence[bytes] = ()
) -> bytes:
    """One page for each list of lines. Objects 1, 2, 3 are catalogue, page tree, font; `more` begins at 4."""
    first = 4 + len(more)
    kids = b" ".join(b"%d 0 R" % (first + 2 * place) for place in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog,
        b"<< /Type /Pages /Count %d /Kids [%s] /MediaBox [0 0 612 792] >>" % (len(pages), kids),
        font,
        *more,
    ]
    for place, lines in enumerate(pages):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>"
            % (first + 2 * place + 1)
        )
        objects.append(stream(shown(lines)))
    return assembled(objects)


def of_pictures(count: int) -> bytes:
    """Scanned pages: an image on each, no text."""
    image = stream(
        b"\x00\xff" * 50,
        more=b"/Type /XObject /Subtype /Image /Width 10 /Height 10 /ColorSpace /DeviceGray /BitsPerComponent 8",
    )
    kids = b" ".join(b"%d 0 R" % (4 + 2 * place) for place in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] /MediaBox [0 0 612 792] >>" % (count, kids),
        image,
    ]
    for place in range(count):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /Resources << /XObject << /I 3 0 R >> >> /Contents %d 0 R >>"
            % (5 + 2 * place)
        )
        objects.append(stream(b"q 500 0 0 700 50 50 cm /I Do Q"))
    return assembled(objects)


def with_tree_loop() -> bytes:
    """A page tree whose node is its own child."""
    return assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 9 /Kids [2 0 R 3 0 R] >>",
            b"<< /Type /Pages /Kids [2 0 R] >>",
        ]
    )


def with_object_stream_loop() -> bytes:
    """The catalogue lies in an object stream whose length lies in the same object stream."""
    inner = b"1 0 3 40 << /Type /Catalog /Pages 3 0 R >>          << /Type /Pages /Kids [3 0 R] /Count 1 >>"
    body = b"%PDF-1.7\n"
    place = len(body)
    body += (
        b"2 0 obj\n<< /Type /ObjStm /N 2 /First 9 /Length 5 0 R /Extends 2 0 R >>\nstream\n%s\nendstream\nendobj\n"
        % inner
    )
    table = len(body)
    rows = b"".join(
        bytes([kind]) + where.to_bytes(2, "big") + bytes([index])
        for kind, where, index in ((0, 0, 255), (2, 2, 0), (1, place, 0), (2, 2, 1), (1, table, 0), (2, 2, 2))
    )
    body += (
        b"4 0 obj\n<< /Type /XRef /Size 6 /W [1 2 1] /Root 1 0 R /Prev %d /Length %d >>\n"
        b"stream\n%s\nendstream\nendobj\n" % (table, len(rows), rows)
    )
    return body + b"startxref\n%d\n%%%%EOF\n" % table


def with_map(lines: Sequence[str], letters: Mapping[int, str]) -> bytes:
    """Text in a font that says which code is which letter."""
    rows = b"".join(b"<%02X> <%04X>\n" % (code, ord(letter)) for code, letter in letters.items())
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n"
        b"1 begincodespacerange <00> <FF> endcodespacerange\n%d beginbfchar\n" % len(letters)
    )
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+Odd /ToUnicode 4 0 R >>"
    return of_pages([lines], font=font, more=[stream(cmap + rows + b"endbfchar\nendcmap end end")])


def with_private_font(lines: Sequence[str]) -> bytes:
    """Text whose font maps every letter to the private area, as fonts cut down by some programs do."""
    return with_map(lines, {code: chr(0xE000 + code) for code in range(32, 127)})


def locked(data: bytes, *, user: str, owner: str = "owner") -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt(user_password=user, owner_password=owner, algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
