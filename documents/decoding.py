"""From bytes to text, never by guessing: BOM, strict UTF-8, strict GB18030 that reads as Chinese, else the uploader
names the encoding. Everything else is refused with the reason and the position.
"""

import codecs
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.refusals import Invalid, RuleBroken
from documents.chinese import as_chinese
from documents.formats.kinds import kind_of

# Longer marks first: UTF-32's little-endian mark begins with UTF-16's.
BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    ("\ufeff".encode("gb18030"), "gb18030"),
)

# What an uploader can name. Python knows more "encodings" (idna, unicode_escape, zip ...): they are none of texts.
ENCODINGS: dict[str, object] = {
    "utf-8": "UTF-8",
    "gb18030": gettext_lazy("GB18030, GBK, GB2312 (simplified Chinese)"),
    "big5hkscs": gettext_lazy("Big5 (traditional Chinese)"),
    "utf-16-le": gettext_lazy("UTF-16, little-endian"),
    "utf-16-be": gettext_lazy("UTF-16, big-endian"),
    "utf-32-le": gettext_lazy("UTF-32, little-endian"),
    "utf-32-be": gettext_lazy("UTF-32, big-endian"),
    "cp1252": gettext_lazy("Windows-1252 (western European)"),
    "iso8859-1": gettext_lazy("ISO 8859-1 (western European)"),
    "iso8859-15": gettext_lazy("ISO 8859-15 (western European)"),
    "cp1251": gettext_lazy("Windows-1251 (Cyrillic)"),
    "koi8-r": gettext_lazy("KOI8-R (Cyrillic)"),
    "cp932": gettext_lazy("Shift-JIS (Japanese)"),
    "euc_jp": gettext_lazy("EUC-JP (Japanese)"),
    "iso2022_jp": gettext_lazy("ISO 2022-JP (Japanese)"),
    "cp949": gettext_lazy("EUC-KR, Windows-949 (Korean)"),
}
SAME_AS = {
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "utf-16": "utf-16-le",
    "utf-32": "utf-32-le",
    "utf-8-sig": "utf-8",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}


# A text in UTF-16 or UTF-32 is full of zero bytes; one that holds a stray NUL is not.
ZERO_SHARE = 0.05
STRAY = 4


@dataclass(frozen=True)
class Decoded:
    text: str
    encoding: str
    had_bom: bool = False


def decode(data: bytes, *, encoding: str = "") -> Decoded:
    """The text of `data`. `encoding` is the uploader's word and is held to strictly.

    Raises RuleBroken `type_mismatch` (not a text at all) or `encoding`, with `position` in bytes where there is one;
    Invalid when `encoding` is not one of ENCODINGS.
    """
    named = known_encoding(encoding)
    refuse_other_kinds(data)
    for mark, marked in BOMS:
        if data.startswith(mark):
            # UTF-8's mark leaves no doubt; UTF-16's two bytes may be two letters of the encoding that was named.
            if named and named[:6] != marked[:6] and marked != "utf-8":
                break
            return Decoded(_strictly(data, marked, skip=len(mark)), marked, had_bom=True)
    if named:
        return Decoded(_strictly(data, named), named)
    return decode_unnamed(data)


def known_encoding(name: str) -> str:
    """The name in ENCODINGS that `name` means; empty stays empty."""
    if not name.strip():
        return ""
    try:
        plain = codecs.lookup(name.strip()).name
    except (LookupError, ValueError):
        plain = ""
    plain = SAME_AS.get(plain, plain)
    if plain not in ENCODINGS:
        raise Invalid({"encoding": _("This encoding is not known here. Known are: %s.") % ", ".join(ENCODINGS)})
    return plain


def refuse_other_kinds(data: bytes) -> None:
    kind = kind_of(data)
    if kind:
        raise RuleBroken(
            _("This is not a text: it begins as %(kind)s files do. Name it by what it is, or choose another file.")
            % {"kind": {"encrypted": "OLE", "broken": "ZIP"}.get(kind, kind)},
            rule="type_mismatch",
            position=0,
        )


def decode_unnamed(data: bytes) -> Decoded:
    """Where neither the uploader nor a mark says which encoding it is."""
    if data.count(0) > max(STRAY, ZERO_SHARE * len(data)):
        raise RuleBroken(
            _(
                "The file is full of zero bytes (the first at byte %(position)s): it may be UTF-16 without a mark, "
                "or no text. Name its encoding."
            )
            % {"position": data.index(0)},
            rule="encoding",
            position=data.index(0),
        )
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        broken = error.start
    if text := as_chinese(data):
        return Decoded(text, "gb18030")
    raise RuleBroken(
        _("Neither UTF-8 (it breaks at byte %(position)s) nor clearly GB18030. Name the file's encoding.")
        % {"position": broken},
        rule="encoding",
        position=broken,
    )


def _strictly(data: bytes, encoding: str, *, skip: int = 0) -> str:
    try:
        return data[skip:].decode(encoding)
    except UnicodeDecodeError as error:
        position = error.start + skip
        raise RuleBroken(
            _("The file is not valid %(encoding)s: it breaks at byte %(position)s.")
            % {"encoding": encoding.upper(), "position": position},
            rule="encoding",
            position=position,
        ) from None
