"""What a parser remarked on a file, in people's words."""

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext


def parser_remark_in_words(remark: dict[str, Any]) -> str:
    """`remark` as it is stored with a version; empty for a rule that is none of the parsers'."""
    rule, count = remark["rule"], remark.get("count") or 0
    if rule in COUNTED:
        return COUNTED[rule](count) % {"count": count, "page": remark.get("page") or "?"}
    if rule == "suspicious_text":
        return _("the text may be gibberish: many of its characters stand for no letter; compare it with the file")
    if rule == "restricted":
        return _("the PDF's owner restricts what may be done with it: see to the licence")
    if rule == "macros":
        return _("holds macros, which were not looked at")
    return ""


COUNTED: dict[str, Callable[[int], str]] = {
    "damaged_pages": lambda n: ngettext(
        "%(count)s page could not be read (page %(page)s): its text is missing",
        "%(count)s pages could not be read (the first is page %(page)s): their text is missing",
        n,
    ),
    "pages_without_text": lambda n: ngettext(
        "%(count)s page shows only a picture (page %(page)s): what it says is missing",
        "%(count)s pages show only a picture (the first is page %(page)s): what they say is missing",
        n,
    ),
    "tracked_changes": lambda n: ngettext(
        "%(count)s tracked change: insertions were taken, deletions left out",
        "%(count)s tracked changes: insertions were taken, deletions left out",
        n,
    ),
    "comments_left_out": lambda n: ngettext("%(count)s comment left out", "%(count)s comments left out", n),
    "footnotes": lambda n: ngettext(
        "%(count)s footnote, put behind the text", "%(count)s footnotes, put behind the text", n
    ),
    "endnotes": lambda n: ngettext(
        "%(count)s endnote, put behind the text", "%(count)s endnotes, put behind the text", n
    ),
    "hidden_text": lambda n: ngettext(
        "%(count)s passage of hidden text left out", "%(count)s passages of hidden text left out", n
    ),
    "embedded_objects": lambda n: ngettext(
        "%(count)s embedded object left out", "%(count)s embedded objects left out", n
    ),
    "missing_chapters": lambda n: ngettext(
        "%(count)s chapter of the book is missing in the file",
        "%(count)s chapters of the book are missing in the file",
        n,
    ),
}
