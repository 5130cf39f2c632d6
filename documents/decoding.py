"""From bytes to text, never by guessing: BOM, strict UTF-8, strict GB18030, else the uploader names the encoding.

Many files in Big5, Shift-JIS, EUC or Windows-1252 are valid GB18030 by accident. So GB18030 is taken only when at least
95 % of what is not ASCII are common Chinese characters or punctuation, and when a longer text also holds the words that
no Chinese text does without. Everything else is refused with the reason and the position.
"""

import codecs
import re
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.refusals import Invalid, RuleBroken
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

COMMON_SHARE = 0.95
# Every Chinese text of some length, modern or classical, is full of these.
EVERYDAY = frozenset(
    "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成"
    "事只作当想看文无手十用主行方又如前所本见经头面公同三已老从动两长曰者其此与则乃何二条款法第定規规应或及"
)
EVERYDAY_SHARE = 0.15
LONG_ENOUGH = 200
# One broken byte pair in an English text is a Chinese character by accident.
TOO_FEW = 4

# A text in UTF-16 or UTF-32 is full of zero bytes; one that holds a stray NUL is not.
ZERO_SHARE = 0.05
STRAY = 4

# What a page says of its own encoding, in the first kilobytes as browsers look for it.
_DECLARED = re.compile(
    rb"""<meta[^>]{0,300}?charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})|<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})""",
    re.IGNORECASE,
)
DECLARED_WITHIN = 4096
# As browsers read these names.
MEANT = {"iso8859-1": "cp1252", "ascii": "cp1252"}


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
    return _found(data)


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
        return _found(data)
    try:
        text = data.decode(declared)
    except UnicodeDecodeError as error:
        raise _contradicted(declared, error.start) from None
    chinese = _as_chinese(data)
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


def _as_chinese(data: bytes) -> bool:
    try:
        return reads_as_chinese(data.decode("gb18030"))
    except UnicodeDecodeError:
        return False


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


def _found(data: bytes) -> Decoded:
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
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        text = ""
    if text and reads_as_chinese(text):
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


def reads_as_chinese(text: str) -> bool:
    """Whether a text decoded from GB18030 is the Chinese it seems to be."""
    others = [letter for letter in text if letter > "\x7f"]
    if len(others) < TOO_FEW or sum(map(is_common, others)) < COMMON_SHARE * len(others):
        return False
    if len(others) < LONG_ENOUGH:
        return True
    return sum(letter in EVERYDAY for letter in others) >= EVERYDAY_SHARE * len(others)


def is_common(letter: str) -> bool:
    """A character of GB2312's two levels, or punctuation; kana, Greek and Cyrillic rows do not count."""
    try:
        code = letter.encode("gb2312")
    except UnicodeEncodeError:
        return "\u2010" <= letter <= "\u203b" or "\u3000" <= letter <= "\u301f" or "\uff01" <= letter <= "\uff5e"
    return len(code) == 2 and (code[0] >= 0xB0 or code[0] in (0xA1, 0xA2, 0xA3))
