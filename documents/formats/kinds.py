"""What a file is by its content, whatever its name says."""

from documents.formats.boxes import names_in

# Longer marks first.
MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"SQLite format 3\x00", "SQLite"),
    (b"\x89PNG\r\n", "PNG"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "OLE"),
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP"),
    (b"PK\x05\x06", "ZIP"),
    (b"PK\x07\x08", "ZIP"),
    (b"\x7fELF", "ELF"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "RAR"),
    (b"{\\rtf", "RTF"),
    (b"MZ\x90\x00", "EXE"),
    (b"\xca\xfe\xba\xbe", "class"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"\xfd7zXZ\x00", "XZ"),
    (b"BZh91AY&SY", "BZIP2"),
    (b"\x1f\x8b\x08", "GZIP"),
    (b"ITSF\x03\x00", "CHM"),
)
# By an entry that only this kind has.
BOXES: tuple[tuple[str, str], ...] = (
    ("META-INF/container.xml", "EPUB"),
    ("xl/workbook.xml", "XLSX"),
    ("ppt/presentation.xml", "PPTX"),
    ("META-INF/MANIFEST.MF", "JAR"),
    ("content.xml", "ODT"),
    ("AndroidManifest.xml", "APK"),
)
MAX_ENTRIES = 10_000
# Word writes the name of an encrypted document's stream in UTF-16.
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
EXE_STUB = b"This program cannot be run in DOS mode"


def kind_of(data: bytes) -> str:
    """PDF, DOCX, EPUB, ZIP, ... `encrypted` (a document in Microsoft's envelope), `broken` (a zip file whose directory
    cannot be read, or is too large to be), or nothing: a text, or something that nobody knows."""
    if data[:2] == b"MZ" and EXE_STUB in data[:1024]:
        return "EXE"
    if data[:4] == b"RIFF" and data[8:12] in (b"WAVE", b"AVI ", b"WEBP"):
        return "RIFF"
    found = next((kind for mark, kind in MAGIC if data.startswith(mark)), "")
    if found == "ZIP":
        return _box(data)
    if found == "OLE":
        return "encrypted" if ENCRYPTED in data else "DOC"
    return found


def _box(data: bytes) -> str:
    names = names_in(data, MAX_ENTRIES)
    if not names:
        return "broken"
    if "[Content_Types].xml" in names and any(name.startswith("word/document") for name in names):
        return "DOCX"
    return next((kind for name, kind in BOXES if name in names), "ZIP")
