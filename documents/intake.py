"""One text on its way in: decoded, normalised, measured, and looked at. Nothing here touches the database."""

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmark.lengths import Lengths
from benchmark.taxonomy import Language
from core.refusals import RuleBroken
from documents.declaring import decode_page
from documents.decoding import decode
from documents.findings import PERSONAL, Finding, Kind
from documents.formats.answers import Answer
from documents.formats.asking import read_apart
from documents.formats.kinds import kind_of
from documents.formats.remarking import parser_remark_in_words
from documents.formats.wording import refusal
from documents.languages import Group
from documents.normalising import normalise
from documents.passages import Mark
from documents.pooling import Measured, measure

MIB = 1024 * 1024
MAX_BYTES = 16 * MIB
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
class Remark:
    """Why a person should look twice. `count` and `position` (code points) where they say something."""

    rule: str
    count: int = 0
    position: int | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {"rule": self.rule, "count": self.count, "position": self.position, **self.more}


@dataclass(frozen=True)
class Measure:
    sha256: str
    chars: int
    bytes: int
    tokens: int
    bucket: str


@dataclass(frozen=True)
class Prepared:
    """A text ready to be stored."""

    text: str
    gzipped: bytes
    measure: Measure
    normalisation: dict[str, int]
    remarks: tuple[Remark, ...]
    language: Language
    encoding: str = "utf-8"
    findings: tuple[Finding, ...] = ()
    marks: tuple[Mark, ...] = ()


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


def too_large(size: int) -> RuleBroken:
    return RuleBroken(
        _("Too large: %(size)s bytes of text; at most %(limit)s (16 MiB) are taken.")
        % {"size": size, "limit": MAX_BYTES},
        rule="too_large",
    )


def refuse_unfit(text: str) -> None:
    """Refuse the empty, the too large, and lone surrogates (half a character)."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise RuleBroken(
            _("Character %(position)s is half of a surrogate pair, which no text may hold.")
            % {"position": error.start},
            rule="encoding",
            position=error.start,
        ) from None
    if not text or text.isspace():
        raise RuleBroken(_("The text is empty, or only white space."), rule="empty")
    if size > MAX_BYTES:
        raise too_large(size)


def prepare(
    text: str,
    *,
    lengths: Lengths,
    language: str = "",
    normalisation: dict[str, int] | None = None,
    encoding: str = "utf-8",
    measured: Measured | None = None,
) -> Prepared:
    """A normalised text with all that is known of it. Refuses what `refuse_unfit` refuses, unless it was measured."""
    if measured is None:
        refuse_unfit(text)
        measured = measure(text)
    chosen, remarks = _language(measured, language)
    return Prepared(
        text=text,
        gzipped=measured.gzipped,
        measure=Measure(
            sha256=measured.sha256,
            chars=measured.chars,
            bytes=measured.bytes,
            tokens=measured.tokens,
            bucket=lengths.bucket_of(measured.tokens) or "",
        ),
        normalisation=normalisation or {},
        remarks=(*remarks_on(measured), *remarks),
        language=chosen,
        encoding=encoding,
        findings=measured.findings,
        marks=measured.marks,
    )


def _language(measured: Measured, named: str) -> tuple[Language, list[Remark]]:
    found = measured.characters.language
    chosen = Language(named) if named else found.language
    if not found.sure:
        return chosen, [Remark("language_unsure")]
    if chosen != found.language:
        return chosen, [Remark("language_differs", more={"found": found.language.value})]
    return chosen, []


def remarks_on(measured: Measured) -> list[Remark]:
    characters = measured.characters
    remarks = [
        Remark(rule, characters.counts[group], characters.first[group])
        for rule, group in (("bidi", Group.BIDI), ("invisible", Group.INVISIBLE))
        if characters.counts[group]
    ]
    personal = Counter(finding.kind.value for finding in measured.findings if finding.kind in PERSONAL)
    if personal:
        remarks.append(Remark("personal_data", personal.total(), more={"kinds": dict(personal)}))
    return remarks


# In words ---------------------------------------------------------------------------------------------------------


def remark_in_words(remark: dict[str, Any]) -> str:
    count, position = remark.get("count") or 0, remark.get("position")
    if remark["rule"] == "bidi":
        return ngettext(
            "%(count)s character that turns the direction of writing, at %(position)s",
            "%(count)s characters that turn the direction of writing, the first at %(position)s",
            count,
        ) % {"count": count, "position": position}
    if remark["rule"] == "invisible":
        return ngettext(
            "%(count)s invisible character, at %(position)s",
            "%(count)s invisible characters, the first at %(position)s",
            count,
        ) % {"count": count, "position": position}
    if remark["rule"] == "personal_data":
        kinds = ", ".join(f"{Kind(kind).label} {number}" for kind, number in remark.get("kinds", {}).items())
        return _("may hold personal data: %(kinds)s") % {"kinds": kinds}
    if remark["rule"] == "language_differs":
        return _("the script does not look like the language that was named")
    if remark["rule"] == "language_unsure":
        return _("the language is not clear from the script")
    if remark["rule"] == "near_duplicate":
        parts = [f"D-{near['document']} ({near['percent']} %)" for near in remark.get("documents", [])]
        return _("shares long passages with %(documents)s") % {"documents": ", ".join(parts)}
    return parser_remark_in_words(remark) or str(remark["rule"])


def normalisation_in_words(counts: dict[str, int]) -> list[str]:
    words = []
    if counts.get("bom"):
        words.append(_("byte-order mark removed"))
    if number := counts.get("line_ends"):
        words.append(ngettext("%(n)s line end made LF", "%(n)s line ends made LF", number) % {"n": number})
    if number := counts.get("form_feeds"):
        words.append(
            ngettext("%(n)s form feed made a newline", "%(n)s form feeds made newlines", number) % {"n": number}
        )
    if number := counts.get("forms"):
        words.append(
            ngettext(
                "%(n)s shape of the font (ligature, radical) read as its letter",
                "%(n)s shapes of the font (ligatures, radicals) read as their letters",
                number,
            )
            % {"n": number}
        )
    if number := counts.get("controls"):
        words.append(
            ngettext("%(n)s control character removed", "%(n)s control characters removed", number) % {"n": number}
        )
    if number := counts.get("title"):
        words.append(_("title cut after 300 characters (%(n)s left out)") % {"n": number})
    return words


def distance_in_words(tokens: int, lengths: Lengths) -> str:
    """How far a text without a bucket is from the nearest two."""
    parts: list[str] = []
    for distance in lengths.nearest(tokens):
        count = abs(distance.tokens)
        if distance.tokens > 0:
            words = ngettext("%(n)s token short of %(bucket)s", "%(n)s tokens short of %(bucket)s", count)
        else:
            words = ngettext("%(n)s token over %(bucket)s", "%(n)s tokens over %(bucket)s", count)
        parts.append(words % {"n": intcomma(count), "bucket": distance.bucket})
    return ", ".join(parts)
