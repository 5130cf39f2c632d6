"""Identity cards, bank cards and telephones: what is written as seven digits or more close together."""

import re
from collections.abc import Iterator
from datetime import date

from documents.findings.kinds import Finding, Kind
from documents.findings.sight import Sight

# A digit, then digits with at most two signs between them, at least seven digits in all. Over `Sight.shape`.
_CLUSTER = re.compile(rb"0(?:[ .()/-]{0,2}0){6,}")
# What may stand before a cluster and belong to its number: "+", "(", "（0", a country's code.
_BEFORE, _AFTER = 12, 12
# Every one of these numbers has three digits in a row somewhere, but for those with the country's "+".
_ROW = b"000"

_NO_DIGIT_AFTER = r"(?![0-9A-Za-z])(?!\.[0-9])"
_IDENTITY = re.compile(
    r"(?<![0-9A-Za-z])(?:[1-8][0-9]{5}([ -]?)(?:18|19|20)[0-9]{6}\1[0-9]{3}[0-9Xx]"
    r"|(?<![0-9][.-])[1-8][0-9]{14}(?!-[0-9]))" + _NO_DIGIT_AFTER
)
_CARD = re.compile(
    r"(?<![0-9A-Za-z])(?<![0-9][.-])(?:[2-69][0-9]{12,18}"
    r"|[2-69][0-9]{3}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{1,7}(?:\1[0-9]{1,3})?"
    r"|3[0-9]{3}([ -])[0-9]{6}\2[0-9]{4,5}|6[0-9]{5} [0-9]{10,13})(?!-[0-9])" + _NO_DIGIT_AFTER
)
_GAP = "[ -]?"
_PHONE = re.compile(
    r"(?<![0-9A-Za-z+-])(?<![0-9]\.)(?:"
    # A Chinese mobile telephone, with or without the country.
    rf"(?:\(?(?:\+|00)86\)?{_GAP})?1[3-9][0-9]([ -]?)[0-9]{{4}}\1[0-9]{{4}}"
    # +49 30 1234 5678, +1 (212) 555-0123, +8613812345678
    rf"|\+[1-9][0-9]{{0,2}}{_GAP}(?:\([0-9]{{1,4}}\){_GAP})?[0-9]{{2,4}}(?:[ -][0-9]{{2,4}}){{1,3}}"
    r"|\+[1-9][0-9]{8,14}"
    # A Chinese area code, set apart, and seven or eight digits, with an extension.
    r"|(?:[(（]0(?:10|2[0-9]|[3-9][0-9]{2})[)）] ?|0(?:10|2[0-9]|[3-9][0-9]{2})[ –—－-])"
    r"[1-9][0-9]{2,3}[ -]?[0-9]{4}(?:(?: ?转 ?| ?ext\.? ?|-)[0-9]{1,5})?"
    r"|0[1-9][0-9]{2,3} [0-9]{3} [0-9]{3,4}"
    # 400-810-8888, 1-800-555-0199, (212) 555-0123, 212-555-0123
    r"|[48]00-[0-9]{3}-?[0-9]{4}|[48]00-[0-9]{4}-[0-9]{3}|(?:1[ -])?\([2-9][0-9]{2}\) ?[2-9][0-9]{2}-[0-9]{4}"
    r"|(?:1([-.]))?[2-9][0-9]{2}([-.])[2-9][0-9]{2}\3[0-9]{4})" + _NO_DIGIT_AFTER
)
# Other numbers are telephones only where the text says so just before them.
_TOLD = re.compile(
    r"(?:电话|手机|座机|热线|传真|联系方式|电话号码|手机号码|(?<![A-Za-z])(?i:tel|telephone|phone|fax|mobile|call))"
    r"(?:号|号码|\.|:|：| no\.?)?[:：]? {0,2}[(（]?$"
)
_PLAIN = re.compile(r"[0-9]{7,12}|[0-9]{3,4}[ -][0-9]{4}|0[0-9]{2,3}[)）]?[0-9]{7,8}")

PROVINCES = frozenset(
    [*range(11, 16), *range(21, 24), *range(31, 38), *range(41, 47), *range(50, 55), *range(61, 66), 71, 81, 82, 83]
)


def numbers_in(sight: Sight) -> Iterator[Finding]:
    text, last = sight.text, 0
    for cluster in _CLUSTER.finditer(sight.shape):
        start, end = max(last, cluster.start() - _BEFORE), cluster.end() + _AFTER
        last = cluster.end()
        if _ROW not in cluster[0] and "+" not in text[start : cluster.start()]:
            continue
        # What begins behind it belongs to the next cluster, and may be cut here.
        taken = [match for match in _matches(text, start, end) if match.start < cluster.end()]
        yield from taken
        if not taken and (told := _told(text, cluster.start())):
            yield told


def _matches(text: str, start: int, end: int) -> Iterator[Finding]:
    """Every number of one cluster. An identity card is looked for first, then a bank card, then a telephone."""
    size = len(text)
    for kind, pattern, holds in (
        (Kind.IDENTITY, _IDENTITY, holds_identity_number),
        (Kind.CARD, _CARD, holds_card_number),
        (Kind.PHONE, _PHONE, None),
    ):
        for match in pattern.finditer(text, start, min(end, size)):
            if holds is None or holds(match[0]):
                yield Finding(kind, *match.span())


def _told(text: str, at: int) -> Finding | None:
    plain = _PLAIN.match(text, at)
    if plain is None or text[plain.end() : plain.end() + 1].isdigit():
        return None
    return Finding(Kind.PHONE, *plain.span()) if _TOLD.search(text[max(0, at - 14) : at]) else None


def holds_identity_number(written: str) -> bool:
    """A Chinese identity card: a province, a date of birth that exists, and of 18 the check digit of GB 11643."""
    digits = written.replace(" ", "").replace("-", "")
    if int(digits[:2]) not in PROVINCES:
        return False
    born = digits[6:14] if len(digits) == 18 else f"19{digits[6:12]}"
    try:
        date(int(born[:4]), int(born[4:6]), int(born[6:]))
    except ValueError:
        return False
    if len(digits) == 15:
        return True
    weighed = sum(int(digit) * (1 << (17 - place)) for place, digit in enumerate(digits[:17]))
    return "10X98765432"[weighed % 11] == digits[17].upper()


def holds_card_number(written: str) -> bool:
    """Luhn's check, on as many digits as the issuer that the first ones name gives its cards."""
    digits = [int(digit) for digit in written if digit.isdigit()]
    if len(digits) not in _lengths_of("".join(map(str, digits[:4]))) or len(set(digits)) < 2:
        return False
    doubled = [digit if place % 2 == 0 else (2 * digit - 9 * (digit > 4)) for place, digit in enumerate(digits[::-1])]
    return sum(doubled) % 10 == 0


def _lengths_of(first: str) -> range | tuple[int, ...]:
    """How many digits cards have that begin so (ISO/IEC 7812; 9558 is an older Chinese bank's)."""
    if first[0] == "4":
        return (13, 16, 19)
    if first[:2] in {"51", "52", "53", "54", "55"} or "2221" <= first <= "2720":
        return (16,)
    if first[:2] in {"34", "37"}:
        return (15,)
    if first[:2] in {"30", "35", "36", "38", "39"}:
        return range(14, 20)
    if first[:2] in {"50", "56", "57", "58"} or first[0] == "6":
        return range(13, 20)
    return range(16, 20) if first == "9558" else ()
