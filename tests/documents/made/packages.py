"""DOCX and EPUB packages, part by part."""

import io
import zipfile
from collections.abc import Mapping

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
OPEN = f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document {W}><w:body>'


def zipped(parts: Mapping[str, bytes | str], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def paragraph(text: str, properties: str = "") -> str:
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def docx(body: str, **parts: bytes | str) -> bytes:
    """`parts` by names with `__` for `/` and `_` for `.`: word__footnotes_xml."""
    named = {name.replace("__", "/").replace("_", "."): content for name, content in parts.items()}
    document = f"{OPEN}{body}</w:body></w:document>"
    return zipped({"[Content_Types].xml": TYPES, "word/document.xml": document, **named})


def docx_of(document: str) -> bytes:
    return zipped({"[Content_Types].xml": TYPES, "word/document.xml": document})


def epub(chapters: Mapping[str, bytes | str], *, title: str = "A book", folder: str = "OEBPS/", **parts: str) -> bytes:
    """Chapters in the order of the spine, by their href; `parts` as in `docx`."""
    named = {name.replace("__", "/").replace("_", "."): content for name, content in parts.items()}
    items = "".join(
        f'<item id="c{place}" href="{href}" media-type="application/xhtml+xml"/>' for place, href in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{place}"/>' for place in range(len(chapters)))
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        f'<rootfiles><rootfile full-path="{folder}content.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>"
    )
    files = {f"{folder}{href}": content for href, content in chapters.items() if not href.startswith("missing")}
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            f"{folder}content.opf": package,
            **files,
            **named,
        }
    )


def chapter(text: str, head: str = "") -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>{head}<html xmlns="http://www.w3.org/1999/xhtml"><body>{text}</body></html>'
