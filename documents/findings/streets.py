"""Where people live: a house number and a street, in English and in Chinese."""

import re
from collections.abc import Iterator

from documents.findings.kinds import Finding, Kind
from documents.findings.sight import Sight, places_of

# A digit, perhaps a letter, a space, a capital or a digit. Over `Sight.shape`.
_BEGINNING = re.compile(rb"0[Aa]? [A0]")
_ENGLISH = re.compile(
    r"(?<![\w.,/:$#-])[0-9]{1,5}(?:-[0-9]{1,5})?[A-Za-z]? (?!(?:The|A|An|Of|This|That) )"
    r"(?:(?:[NSEW]|North|South|East|West)\.? )?"
    r"(?:(?:[A-Z][\w'’-]{0,30}\.?|[0-9]{1,3}(?:st|nd|rd|th)) ){1,4}?"
    r"(?:(?:Street|Avenue|Road|Lane|Boulevard|Drive|Terrace|Crescent|Highway|Parkway|Square|Place|Way)(?![\w’'])"
    r"|(?:St|Ave|Av|Rd|Ln|Blvd|Dr|Hwy|Pkwy|Sq|Pl)(?:\.|\b)(?= ?(?:[,;\n)]|$|N\.?[EW]|S\.?[EW]|Apt|Suite|Ste|Unit|#)))"
    r"(?: (?:[NS][EW]|[NS]\.[EW]\.)(?!\w))?(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Floor|#)\.? ?[0-9A-Za-z-]{1,6})?"
)
_YEAR = re.compile(r"(?:1[0-9]|20)[0-9]{2}")
_WHEN = re.compile(r"(?<![A-Za-z])(?i:in|since|of|by|until|from|during|after|before|year|and|the|,) ?$")
_BOX = re.compile(r"(?<![A-Za-z])(?i:P\.? ?O\.? ?Box|Post Office Box) [0-9]{1,6}(?![0-9])")

# Chinese is read from the number backwards, over reversed text: a pattern that has to end somewhere is slow.
_NUMERALS = frozenset("0123456789０１２３４５６７８９一二三四五六七八九十百零〇")
_HOUSE = re.compile(r"(?:(?:[0-9]{1,4}[-—－之])?[0-9０-９]{1,5}[甲乙丙]?|[一二三四五六七八九十百零〇]{1,6})")
_STRONG = re.compile(
    r"(?:路|街|大道|胡同|巷|弄|公路)(?:[东西南北中一二三四]{1,2}[段路街]|[东西南北中])?(?:[0-9]{1,4}弄)?$"
)
_WEAK = re.compile(r"(?:道|里|村|园|区|小区|苑|庄|条|坊|屯|镇|乡|栋|幢|座|楼|单元|院|组|[0-9]弄)$")
_REGION = re.compile(r"[省市区县旗镇乡州路街]|小区|花园|公寓")
_RUN = re.compile(r"[\u4e00-\u9fff0-9A-Za-z]{1,40}")
_LAST = frozenset("路街道巷弄同东西南北中一二三四段里村园区苑庄条坊屯镇乡栋幢座楼元院组")
# An address begins behind what leads up to it.
_LEADS = "在于住到至自从往是为址即赴抵"
_INSIDE = re.compile(r"(?:大?院)?(?:[0-9]{1,4}[A-Z]?(?:号楼|号院|号|栋|幢|座|楼|单元|室|层|门)){0,4}")
_OTHERS = re.compile(r"线|令|文件?|公告|决定|字|机|台|选手|批|修正|议案|指示|通知")


def streets_in(sight: Sight) -> Iterator[Finding]:
    yield from _english(sight)
    yield from _chinese(sight)


def _english(sight: Sight) -> Iterator[Finding]:
    text, last = sight.text, 0
    for beginning in _BEGINNING.finditer(sight.shape):
        at = beginning.start()
        if at < last:
            continue
        match = _ENGLISH.match(text, _number_at(sight.shape, max(last, at - 11), at), at + 160)
        if match and not _is_year(text, match):
            last = match.end()
            yield Finding(Kind.STREET, *match.span())
    for at in places_of(sight.lower, b"box "):
        box = _BOX.search(text, max(0, at - 12), at + 12)
        if box:
            yield Finding(Kind.STREET, *box.span())


def _number_at(shape: bytes, first: int, at: int) -> int:
    """Where the number begins whose last digit stands at `at`: 12 or 12-14."""
    while at > first and shape[at - 1] in b"0-":
        at -= 1
    return at


def _is_year(text: str, match: re.Match[str]) -> bool:
    """“In 1929 Wall Street fell” is no address."""
    number = match[0].split(" ", 1)[0]
    return _YEAR.fullmatch(number) is not None and bool(_WHEN.search(text[max(0, match.start() - 8) : match.start()]))


def _chinese(sight: Sight) -> Iterator[Finding]:
    text, last = sight.text, 0
    for at in sight.signs("号室"):
        if at < last or not at or text[at - 1] not in _NUMERALS:
            continue
        start = _chinese_start(text, max(last, at - 48), at)
        if start is not None and not _OTHERS.match(text, at + 1):
            inside = _INSIDE.match(text, at + 1)
            last = inside.end() if inside else at + 1
            yield Finding(Kind.STREET, start, last)


def _chinese_start(text: str, begin: int, at: int) -> int | None:
    """Where the address begins whose house number ends at `at`; None where no street stands before the number."""
    back = text[begin:at][::-1]
    number = _HOUSE.match(back)
    run = _RUN.match(back, number.end()) if number else None
    if number is None or run is None or run[0][0] not in _LAST:
        return None
    street = run[0][::-1]
    street = street[max(street.rfind(sign) for sign in _LEADS) + 1 :]
    strong = _STRONG.search(street) is not None
    if not strong and not (_WEAK.search(street) and _REGION.search(street[:-1])):
        return None
    # “街二十七号” alone may be a date or a rank; with a town or a district before it, it is a house.
    if strong and not number[0][0].isascii() and not _REGION.search(street[:-1]):
        return None
    return at - number.end() - len(street)
