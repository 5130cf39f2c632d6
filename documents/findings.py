"""What automated checks find in a text: hints for the person who clears it. They decide nothing."""

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Kind(TextChoices):
    EMAIL = "email", _("e-mail address")
    PHONE = "phone", _("telephone number")
    IDENTITY = "identity", _("identity card number")
    CARD = "card", _("bank card number")
    ADDRESS = "ip", _("IP address")
    COPYRIGHT = "copyright", _("copyright line")
    LICENCE = "licence", _("licence text")


PERSONAL = frozenset({Kind.EMAIL, Kind.PHONE, Kind.IDENTITY, Kind.CARD})


@dataclass(frozen=True)
class Finding:
    """`start` and `end` are code points in the text, half-open."""

    kind: Kind
    start: int
    end: int


def holds_identity_number(digits: str) -> bool:
    """A Chinese identity card number: a date of birth that exists and the check digit of GB 11643."""
    try:
        date(int(digits[6:10]), int(digits[10:12]), int(digits[12:14]))
    except ValueError:
        return False
    weighed = sum(int(digit) * (1 << (17 - place)) for place, digit in enumerate(digits[:17]))
    return "10X98765432"[weighed % 11] == digits[17].upper()


def holds_card_number(written: str) -> bool:
    """Luhn's check, on 13 to 19 digits that are not one digit repeated."""
    digits = [int(digit) for digit in written if digit.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 2:
        return False
    doubled = [digit if place % 2 == 0 else (2 * digit - 9 * (digit > 4)) for place, digit in enumerate(digits[::-1])]
    return sum(doubled) % 10 == 0


def holds_address(written: str) -> bool:
    try:
        return not ipaddress.IPv4Address(written).is_unspecified
    except ValueError:
        return False


def always(written: str) -> bool:
    return True


# Every pattern begins with something rare and has bounded parts, so that a text of a million letters takes
# milliseconds.
PATTERNS: tuple[tuple[Kind, re.Pattern[str], Callable[[str], bool]], ...] = (
    (
        Kind.EMAIL,
        re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b", re.ASCII),
        always,
    ),
    (
        Kind.IDENTITY,
        re.compile(r"(?<![0-9A-Za-z])[1-9][0-9]{5}(?:19|20)[0-9]{9}[0-9Xx](?![0-9A-Za-z])"),
        holds_identity_number,
    ),
    (
        Kind.CARD,
        re.compile(r"(?<![0-9A-Za-z.-])[2-6][0-9]{3}(?:[ -]?[0-9]{2,6}){2,5}(?![0-9A-Za-z])"),
        holds_card_number,
    ),
    (
        Kind.PHONE,
        re.compile(
            r"(?<![0-9A-Za-z.+-])(?:(?:\+86[ -]?|0086[ -]?)?1[3-9][0-9]-?[0-9]{4}-?[0-9]{4}"
            r"|\+[1-9][0-9]{0,2}[ -]?(?:\([0-9]{1,4}\)[ -]?)?[0-9]{2,4}(?:[ -][0-9]{2,4}){1,3}"
            r"|\(?0[1-9][0-9]{1,2}\)?[ -][1-9][0-9]{6,7}|\([2-9][0-9]{2}\) ?[2-9][0-9]{2}-[0-9]{4})(?![0-9A-Za-z])"
        ),
        always,
    ),
    (
        Kind.ADDRESS,
        re.compile(r"(?<![0-9A-Za-z.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9A-Za-z]|\.[0-9])"),
        holds_address,
    ),
    (
        Kind.COPYRIGHT,
        re.compile(
            r"(?:©|\([Cc]\) ?(?:19|20)[0-9]{2}|(?i:copyright)(?: ?\([Cc]\)| ?©|:| (?:19|20)[0-9]{2})"
            r"|(?i:all rights reserved)|版权所有|著作权归|保留所有权利|未经许可)[^\n]{0,160}"
        ),
        always,
    ),
    (
        Kind.LICENCE,
        re.compile(
            r"(?<![A-Za-z])(?=[LlCcGgAaMmBbPpIi])(?i:licen[sc]ed under|creative commons|CC0-1\.0|CC[ -]BY(?:-[A-Z]{2})*"
            r"|GNU (?:lesser |affero )?general public|apache licen[sc]e|MIT licen[sc]e|BSD licen[sc]e"
            r"|project gutenberg licen[sc]e|in the public domain)[^\n]{0,120}"
            r"|知识共享|公有领域|许可协议[^\n]{0,80}"
        ),
        always,
    ),
)


def findings_in(text: str, kinds: Iterable[Kind] | None = None) -> list[Finding]:
    """All findings, in the order of the text; where two overlap, the one listed first above stays."""
    wanted = set(kinds) if kinds is not None else set(Kind)
    found: list[Finding] = []
    for kind, pattern, holds in PATTERNS:
        if kind in wanted:
            found += [Finding(kind, *match.span()) for match in pattern.finditer(text) if holds(match[0])]
    order = list(Kind)
    found.sort(key=lambda finding: (finding.start, order.index(finding.kind)))
    apart: list[Finding] = []
    for finding in found:
        if not apart or finding.start >= apart[-1].end:
            apart.append(finding)
    return apart


def personal_data_in(text: str) -> dict[str, int]:
    """How often each kind of personal data occurs."""
    return dict(Counter(finding.kind.value for finding in findings_in(text, PERSONAL)))
