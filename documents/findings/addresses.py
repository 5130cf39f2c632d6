"""Addresses: of e-mail, of computers, of houses."""

import ipaddress
import re
from collections.abc import Iterator

from documents.findings.kinds import Finding, Kind
from documents.findings.sight import Sight, places_of

_DOMAIN = re.compile(rb"(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![0-9A-Za-z_])")
_LOCAL = re.compile(rb"(?<![\w.+-])[\w.+-]{1,64}@\Z")

_FOUR = re.compile(rb"0\.0{1,3}\.0{1,3}\.0")
_IPV4 = re.compile(rb"(?<![0-9A-Za-z.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9A-Za-z]|\.[0-9])")
# Versions and sections are written like addresses: what stands before says so, or a heading follows.
_VERSION = re.compile(
    r"(?:(?<![A-Za-z])(?i:v|ver|version|release|section|sec|chapter|clause|appendix|table|figure|rfc|python)"
    r"|§|版本|版|第)[.:： ]*$"
)
_HEADING = re.compile(r"[ \t.:、　]+[A-Za-z\u4e00-\u9fff]")
_COLONS = re.compile(rb":[0-9a-f]{0,4}:")
_IPV6 = re.compile(rb"(?<![0-9A-Za-z:.])[0-9A-Fa-f:]{4,39}(?![0-9A-Za-z:])")


def emails_in(sight: Sight) -> Iterator[Finding]:
    data, last = sight.ascii, 0
    for at in places_of(data, b"@"):
        domain = _DOMAIN.match(data, at + 1)
        local = _LOCAL.search(data, max(last, at - 65), at + 1) if domain else None
        if domain and local:
            last = domain.end()
            yield Finding(Kind.EMAIL, local.start(), last)


def computers_in(sight: Sight) -> Iterator[Finding]:
    last = 0
    for four in _FOUR.finditer(sight.shape):
        match = _IPV4.search(sight.ascii, max(last, four.start() - 2), four.end() + 4)
        if match and holds_ipv4(match[0].decode()) and not _counts(sight.text, *match.span()):
            last = match.end()
            yield Finding(Kind.IP, *match.span())
    last = 0
    for colons in _COLONS.finditer(sight.lower):
        if colons.start() < last:
            continue
        match = _IPV6.search(sight.ascii, max(last, colons.start() - 40), colons.end() + 40)
        if match and match.start() <= colons.start():
            last = match.end()
            if holds_ipv6(match[0].decode()):
                yield Finding(Kind.IP, *match.span())


def holds_ipv4(written: str) -> bool:
    try:
        ipaddress.IPv4Address(written)
    except ValueError:
        return False
    return written.split(".")[0] not in {"0", "255"}


def holds_ipv6(written: str) -> bool:
    """Of `a::b`, `[::2]` and `12::30` every one can be read as an address: it needs three groups, or two of which one
    is longer and holds a letter."""
    try:
        ipaddress.IPv6Address(written)
    except ValueError:
        return False
    groups = [group for group in written.split(":") if group]
    return len(groups) > 2 or (
        len(groups) == 2 and any(len(group) > 2 and not group.isdecimal() and not group.isalpha() for group in groups)
    )


def _counts(text: str, start: int, end: int) -> bool:
    """Whether the four numbers count sections or versions."""
    if _VERSION.search(text[max(0, start - 12) : start]):
        return True
    begins_line = not text[text.rfind("\n", max(0, start - 4), start) + 1 : start].strip(" #*\t") if start else True
    begins_line = begins_line and (start < 4 or "\n" in text[start - 4 : start] or start == 0)
    small = all(int(part) < 60 for part in text[start:end].split("."))
    return begins_line and small and _HEADING.match(text, end) is not None
