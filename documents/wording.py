"""What is known of a text, said to people: remarks, what its normalisation did, how far it is from a bucket."""

from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmark.lengths import Lengths
from documents.findings import Kind
from documents.formats.remarking import parser_remark_in_words


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
