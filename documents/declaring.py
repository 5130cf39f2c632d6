"""The encoding that a web page declares, held against what the page is."""

import codecs
import re

from django.utils.translation import gettext as _

from core.refusals import RuleBroken
from documents.chinese import TOO_FEW, as_chinese
from documents.decoding import BOMS, ENCODINGS, SAME_AS, Decoded, decode, decode_unnamed, refuse_other_kinds

# What a page says of its own encoding, in the first kilobytes as browsers look for it.
_DECLARED = re.compile(
    rb"""<meta[^>]{0,300}?charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})|<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})""",
    re.IGNORECASE,
)
DECLARED_WITHIN = 4096
# As browsers read these names.
MEANT = {"iso8859-1": "cp1252", "ascii": "cp1252"}


def decode_page(data: bytes, *, encoding: str = "") -> Decoded:
    """The text of a web page. What the uploader names counts; else its mark, else UTF-8 if it is that strictly,
    whatever it declares (no other text is UTF-8 by accident); else what it declares, if that fits strictly and the page
    does not read as Chinese in GB18030 instead; else as any other text.

    Raises what `decode` raises.
    """
    if encoding.strip() or any(data.startswith(mark) for mark, _marked in BOMS):
        return decode(data, encoding=encoding)
    refuse_other_kinds(data)
    declared = declared_encoding(data)
    if not declared or declared == "utf-8" or _is_utf_8(data):
        return decode_unnamed(data)
    try:
        text = data.decode(declared)
    except UnicodeDecodeError as error:
        raise _contradicted(declared, error.start) from None
    chinese = bool(as_chinese(data))
    if declared == "gb18030" and (chinese or sum(letter > "\x7f" for letter in text) < TOO_FEW):
        return Decoded(text, declared)
    if declared == "gb18030" or chinese:
        raise _contradicted(declared, next(place for place, byte in enumerate(data) if byte > 0x7F))
    return Decoded(text, declared)


def declared_encoding(data: bytes) -> str:
    """The name in ENCODINGS that a page declares; empty where it declares none, or one that is not known here."""
    found = _DECLARED.search(data[:DECLARED_WITHIN])
    if found is None:
        return ""
    try:
        plain = codecs.lookup((found[1] or found[2]).decode()).name
    except LookupError:
        return ""
    plain = MEANT.get(plain, SAME_AS.get(plain, plain))
    # A declaration that can be read byte by byte is not in UTF-16, whatever it says.
    return plain if plain in ENCODINGS and not plain.startswith(("utf-16", "utf-32")) else ""


def _is_utf_8(data: bytes) -> bool:
    if b"\x1b" in data:
        # ISO 2022 hides in ASCII.
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _contradicted(declared: str, position: int) -> RuleBroken:
    return RuleBroken(
        _(
            "The page says that it is in %(encoding)s, but it is not (see byte %(position)s). Name its encoding, or "
            "save it as UTF-8."
        )
        % {"encoding": declared.upper(), "position": position},
        rule="encoding",
        position=position,
    )
