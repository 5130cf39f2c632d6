"""What automated checks find in a text: hints for the person who clears it. They decide nothing.

Plain functions over the text alone, without the database, so that a process of its own may run them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from documents.findings.addresses import computers_in, emails_in
from documents.findings.hidden import hidden_in
from documents.findings.kinds import PERSONAL, Finding, Kind
from documents.findings.lines import copyright_in, licences_in
from documents.findings.numbers import holds_card_number, holds_identity_number, numbers_in
from documents.findings.sight import Sight
from documents.findings.streets import streets_in

__all__ = [
    "PERSONAL",
    "RULES",
    "Finding",
    "Kind",
    "findings_in",
    "holds_card_number",
    "holds_identity_number",
    "in_order",
    "personal_data_in",
]

# Rises when the rules change, so that what was found by older rules is looked for again (documents.looking).
RULES = 2

_LOOKS: tuple[tuple[frozenset[Kind], Callable[[Sight], Iterator[Finding]]], ...] = (
    (frozenset({Kind.EMAIL}), emails_in),
    (frozenset({Kind.IDENTITY, Kind.CARD, Kind.PHONE}), numbers_in),
    (frozenset({Kind.IP}), computers_in),
    (frozenset({Kind.STREET}), streets_in),
    (frozenset({Kind.COPYRIGHT}), copyright_in),
    (frozenset({Kind.LICENCE}), licences_in),
    (frozenset({Kind.INVISIBLE}), hidden_in),
)
_RANK = {
    kind: rank
    for rank, kind in enumerate(
        (Kind.EMAIL, Kind.IDENTITY, Kind.CARD, Kind.PHONE, Kind.IP, Kind.STREET, Kind.COPYRIGHT, Kind.LICENCE)
    )
}
# One number is one thing; a line about rights may well hold an address, which is a finding of its own.
_APART = (
    frozenset({Kind.EMAIL, Kind.IDENTITY, Kind.CARD, Kind.PHONE, Kind.IP, Kind.STREET}),
    frozenset({Kind.COPYRIGHT, Kind.LICENCE}),
    frozenset({Kind.INVISIBLE}),
)


def findings_in(text: str, kinds: Iterable[Kind] | None = None) -> list[Finding]:
    """All findings, in the order of the text. Names are looked for by `documents.naming`, which knows the list.

    Where two readings of one number overlap the longer one that begins first stays; a line about rights keeps the
    addresses in it beside itself.
    """
    wanted = frozenset(kinds) if kinds is not None else frozenset(Kind)
    sight = Sight(text)
    found = [finding for of, look in _LOOKS if of & wanted for finding in look(sight)]
    apart = [one for group in _APART for one in _apart([finding for finding in found if finding.kind in group])]
    return in_order(finding for finding in apart if finding.kind in wanted)


def in_order(found: Iterable[Finding]) -> list[Finding]:
    return sorted(found, key=lambda finding: (finding.start, finding.end))


def _apart(found: list[Finding]) -> Iterator[Finding]:
    """Without those that begin inside another; of several that begin together the kind listed first stays."""
    end = -1
    for finding in sorted(found, key=lambda one: (one.start, _RANK.get(one.kind, 0))):
        if finding.start >= end:
            end = finding.end
            yield finding


def personal_data_in(text: str) -> dict[str, int]:
    """How often each kind of personal data occurs."""
    return dict(Counter(finding.kind.value for finding in findings_in(text, PERSONAL)))
