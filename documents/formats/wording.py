"""The faults of the child in people's words: what is wrong, where, and what to do."""

from typing import Any

from django.utils.translation import gettext_lazy

from core.refusals import RuleBroken

NAMES: dict[str, str] = {
    "html": "HTML",
    "pdf": "PDF",
    "docx": "DOCX",
    "epub": "EPUB",
    "json": "JSON",
    "rows": "JSON",
}
# rule of the child -> (rule that programs see, words)
WORDS: dict[str, tuple[str, object]] = {
    "damaged": (
        "damaged",
        gettext_lazy(
            "The %(kind)s file is damaged, or not built as it should be. Open it in the program it comes from, save it "
            "anew, and import that."
        ),
    ),
    "damaged_part": (
        "damaged",
        gettext_lazy(
            "The %(kind)s file is damaged in its part %(part)s. Open it in the program it comes from, save it anew, "
            "and import that."
        ),
    ),
    "encrypted": (
        "encrypted",
        gettext_lazy("The %(kind)s file is encrypted. Save it without a password or copy protection, and import that."),
    ),
    "no_text_layer": (
        "no_text_layer",
        gettext_lazy(
            "The PDF holds pictures of pages and no text (%(pages)s pages). Run text recognition (OCR) on it first, "
            "and check the result."
        ),
    ),
    "xml_doctype": (
        "xml_doctype",
        gettext_lazy(
            "The part %(part)s of the %(kind)s file declares a document type of its own (DOCTYPE), through which other "
            "files could be read. Such a file is not opened: save it anew in a word processor."
        ),
    ),
    "too_deep": (
        "too_deep",
        gettext_lazy("The %(kind)s file is nested deeper than any real one. Simplify it, or import its text."),
    ),
    "bomb": (
        "archive_too_large",
        gettext_lazy(
            "The %(kind)s file would unpack to %(size)s bytes, out of all proportion: it was not unpacked. Save it "
            "anew without its pictures, or import its text."
        ),
    ),
    "crowded": (
        "archive_too_large",
        gettext_lazy("The %(kind)s file holds more than %(limit)s parts: it was not unpacked. Cut it into several."),
    ),
    "crowded_pages": (
        "too_large",
        gettext_lazy("The PDF has %(pages)s pages; at most %(limit)s are read. Cut it into several."),
    ),
    "too_large": (
        "too_large",
        gettext_lazy("Too large: the text of the %(kind)s file is beyond 16 MiB. Cut it into several."),
    ),
    "limit_time": (
        "limit_time",
        gettext_lazy(
            "Reading the %(kind)s file was stopped after %(seconds)s seconds. Cut it into several, or import its text."
        ),
    ),
    "limit_time_page": (
        "limit_time",
        gettext_lazy(
            "Reading the PDF was stopped after %(seconds)s seconds, at page %(page)s of %(pages)s. Cut it into several "
            "before that page, or import its text."
        ),
    ),
    "limit_memory": (
        "limit_memory",
        gettext_lazy(
            "Reading the %(kind)s file takes more than %(mib)s MiB of memory. Cut it into several, or import its text."
        ),
    ),
    "unavailable": (
        "unavailable",
        gettext_lazy("%(kind)s files cannot be read here: a library is missing. Tell those who run this server."),
    ),
    "encoding_of_part": (
        "encoding",
        gettext_lazy(
            "The part %(part)s of the %(kind)s file is in no encoding that it declares. Save the file anew, or import "
            "its text."
        ),
    ),
    "json": (
        "json",
        gettext_lazy("This is not JSON: it breaks in line %(line)s, at column %(column)s. Mend it there."),
    ),
    "json_constant": (
        "json",
        gettext_lazy("This is not JSON: it holds %(name)s, which JSON does not know. Write null or a text instead."),
    ),
}
FIGURES = ("part", "size", "limit", "page", "pages", "line", "column", "name", "seconds", "mib")


def refusal(kind: str, rule: str, details: dict[str, Any]) -> RuleBroken:
    """`details` are the child's figures; what it does not say stays unsaid."""
    variant = {"damaged": "part", "limit_time": "page"}.get(rule)
    if variant in details:
        rule = f"{rule}_{variant}"
    known, words = WORDS.get(rule, WORDS["damaged"])
    figures = dict.fromkeys(FIGURES, "?") | {name: str(value)[:100] for name, value in details.items()}
    position = details.get("position")
    more = {"position": position} if isinstance(position, int) else {}
    return RuleBroken(str(words) % {**figures, "kind": NAMES[kind]}, rule=known, **more)
