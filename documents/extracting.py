"""A file becomes a text: by the end of its name, held against its content. Its parser runs in a process of its own."""

from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from django.utils.translation import gettext as _

from core.refusals import RuleBroken
from documents.declaring import decode_page
from documents.decoding import decode
from documents.formats.answers import Answer
from documents.formats.asking import read_apart
from documents.formats.kinds import kind_of
from documents.formats.wording import refusal
from documents.intake import MAX_BYTES, Remark, refuse_unfit
from documents.normalising import normalise

# UTF-32 needs four bytes for what UTF-8 writes in one; a file beyond that is too large in every encoding.
MAX_FILE = 4 * MAX_BYTES

NOT_YET_READ = {
    ".mhtml": "MHTML",
    ".mht": "MHTML",
    ".doc": "DOC",
    ".rtf": "RTF",
    ".odt": "ODT",
    ".pages": "Pages",
    ".mobi": "MOBI",
    ".azw3": "AZW3",
    ".xlsx": "XLSX",
    ".xls": "XLS",
    ".pptx": "PPTX",
    ".ppt": "PPT",
    ".rar": "RAR",
    ".7z": "7z",
}
# Endings whose files a parser reads, and the parser (documents.formats).
PARSED = {
    **dict.fromkeys((".html", ".htm", ".xhtml", ".xht"), "html"),
    **dict.fromkeys((".docx", ".docm", ".dotx", ".dotm"), "docx"),
    ".pdf": "pdf",
    ".epub": "epub",
    ".json": "json",
}
# What their content must be; pages and JSON are texts.
BINARY = {"pdf": "PDF", "docx": "DOCX", "epub": "EPUB"}
CODE = frozenset(
    f".{ending}"
    for ending in (
        *("c", "cc", "cpp", "cs", "css", "go", "h", "hpp", "java", "js", "jsx", "kt", "lua", "m"),
        *("php", "pl", "py", "r", "rb", "rs", "scala", "sh", "sql", "swift", "ts", "tsx"),
    )
)
FORMAT_OF = {
    ".json": "JSON",
    ".csv": "table",
    ".tsv": "table",
    ".epub": "book",
    **dict.fromkeys((".html", ".htm", ".xhtml", ".xht"), "web page"),
    **dict.fromkeys(CODE, "code"),
}


@dataclass(frozen=True)
class Read:
    """One file as a normalised text. `title` and `format` are what the file itself says, or empty; `encoding` is empty
    where the file has none (PDF, DOCX, EPUB); `counts` is what the normalisation did."""

    text: str
    encoding: str
    counts: dict[str, int]
    title: str = ""
    format: str = ""
    remarks: tuple[Remark, ...] = ()


def read_file(data: bytes, *, file_name: str, encoding: str = "") -> tuple[str, str, dict[str, int]]:
    """Text, encoding and counted normalisation of one file; see `read_document`."""
    read = read_document(data, file_name=file_name, encoding=encoding)
    return read.text, read.encoding, read.counts


def read_document(data: bytes, *, file_name: str, encoding: str = "") -> Read:
    """One file as text: by the end of its name, held against its content. The name is only ever looked at.

    `encoding` is the uploader's word for texts, pages and JSON. Raises RuleBroken with a rule of: unsupported_format,
    type_mismatch, empty, too_large, encoding (`position` in bytes), encrypted, damaged, no_text_layer, xml_doctype,
    too_deep, json, archive_too_large, limit_time, limit_memory; Invalid for an encoding that is not known.
    """
    refuse_format(file_name)
    if len(data) > MAX_FILE:
        raise file_too_large(len(data))
    parser = PARSED.get(ending_of(file_name), "")
    if parser in BINARY:
        read = _read_binary(data, parser)
    elif parser == "html":
        read = _read_page(data, encoding)
    else:
        read = _read_text(data, encoding, parser)
    refuse_unfit(read.text)
    return replace(read, format=format_of(file_name))


def _read_text(data: bytes, encoding: str, parser: str) -> Read:
    """Plain text, Markdown, CSV, source code: as it stands. JSON too, once it is known to be that."""
    decoded = decode(data, encoding=encoding)
    normalised = normalise(decoded.text, had_bom=decoded.had_bom)
    if parser and normalised.text.strip():
        read_apart(parser, normalised.text.encode())
    return Read(normalised.text, decoded.encoding, normalised.counts)


def _read_page(data: bytes, encoding: str) -> Read:
    decoded = decode_page(data, encoding=encoding)
    source = normalise(decoded.text, had_bom=decoded.had_bom)
    # The line ends of the source are none of the text.
    counts = {rule: count for rule, count in source.counts.items() if rule in ("bom", "controls")}
    read = _answered(read_apart("html", source.text.encode()), counts)
    return replace(read, encoding=decoded.encoding)


def _read_binary(data: bytes, parser: str) -> Read:
    refuse_other_content(data, parser)
    return _answered(read_apart(parser, data), {})


def _answered(answer: Answer, counts: dict[str, int]) -> Read:
    normalised = normalise(answer.text)
    counts = {**counts, "forms": answer.forms} if answer.forms else counts
    together = {rule: counts.get(rule, 0) + normalised.counts.get(rule, 0) for rule in {**counts, **normalised.counts}}
    remarks = tuple(
        Remark(
            remark["rule"],
            remark["count"],
            remark.get("position"),
            {"page": remark["page"]} if "page" in remark else {},
        )
        for remark in answer.remarks
    )
    return Read(normalised.text, "", together, title=normalise(answer.title).text, remarks=remarks)


def refuse_other_content(data: bytes, parser: str) -> None:
    """Refuse a file that is not what the end of its name says."""
    kind = kind_of(data)
    if not data:
        raise RuleBroken(_("The file is empty."), rule="empty")
    if kind == "encrypted" and parser == "docx":
        raise refusal(parser, "encrypted", {})
    # A PDF may begin with other bytes: readers look for its mark in the first 1,024.
    is_it = kind == BINARY[parser] or (parser == "pdf" and b"%PDF-" in data[:1024])
    # An archive without a readable directory may be a damaged one of any kind: the parser says how.
    if is_it or (kind == "broken" and parser != "pdf"):
        return
    found = {"": _("text, or nothing known"), "broken": "ZIP", "encrypted": "OLE"}.get(kind, kind)
    raise RuleBroken(
        _("The name says %(named)s, the content is something else: %(found)s. Name the file by what it is.")
        % {"named": BINARY[parser], "found": found},
        rule="type_mismatch",
        position=0,
    )


def refuse_format(file_name: str) -> None:
    kind = NOT_YET_READ.get(ending_of(file_name))
    if kind:
        raise RuleBroken(
            _("%(kind)s files are not yet read: convert it to text and import that.") % {"kind": kind},
            rule="unsupported_format",
        )


def format_of(file_name: str) -> str:
    return FORMAT_OF.get(ending_of(file_name), "")


def ending_of(file_name: str) -> str:
    return PurePosixPath(file_name.replace("\\", "/").strip()).suffix.lower()


def file_too_large(size: int) -> RuleBroken:
    return RuleBroken(
        _("Too large: a file of %(size)s bytes; at most %(limit)s (64 MiB) are read. Cut it into several.")
        % {"size": size, "limit": MAX_FILE},
        rule="too_large",
    )
