"""The findings of one version as a list: by kind, people first, a part at a time, each with the line it stands in."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from documents import queries
from documents.findings import Finding, Kind
from documents.looking import MOST_KEPT, found_in
from documents.models import DocumentVersion

AT_ONCE = 400
AROUND = 60
LONGEST_HIT = 300
# In an excerpt a hidden character would do its work on the page: it is written out.
_HIDDEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
POSITIONS = 5


@dataclass(frozen=True)
class Shown:
    """A finding with the line it stands in. `heads`: it is the first of its kind in this part of the list."""

    number: int
    finding: Finding
    before: str
    hit: str
    after: str
    percent: int
    heads: bool


@dataclass(frozen=True)
class Listing:
    """A part of the findings of one version: of one `kind`, or of all; from `first` on, counted from 0."""

    version: DocumentVersion
    found: Sequence[Finding]
    kind: str
    first: int

    @cached_property
    def counts(self) -> list[tuple[Kind, int]]:
        counts = Counter(finding.kind for finding in self.found)
        return [(kind, counts[kind]) for kind in Kind if counts[kind]]

    @cached_property
    def listed(self) -> list[Finding]:
        rank = {kind: rank for rank, kind in enumerate(Kind)}
        chosen = [finding for finding in self.found if self.kind in ("", finding.kind)]
        return sorted(chosen, key=lambda finding: rank[finding.kind])

    @cached_property
    def shown(self) -> list[Shown]:
        part = self.listed[self.first : self.first + AT_ONCE]
        return _shown(queries.text_of(self.version), part, self.first) if part else []

    @property
    def total(self) -> int:
        return len(self.found)

    @property
    def is_cut(self) -> bool:
        return len(self.found) >= MOST_KEPT

    @property
    def more(self) -> int:
        return max(0, len(self.listed) - self.first - AT_ONCE)

    @property
    def next_part(self) -> str:
        return self._query(self.first + AT_ONCE)

    @property
    def part_before(self) -> str:
        return self._query(max(0, self.first - AT_ONCE))

    def _query(self, first: int) -> str:
        return "?" + urlencode({"version": self.version.number, "kind": self.kind, "from": first})

    @cached_property
    def hidden(self) -> tuple[int, str]:
        """How many invisible characters there are, and where the first ones stand."""
        hidden = [finding for finding in self.found if finding.kind == Kind.INVISIBLE]
        places = ", ".join(f"{one.start:,}" for one in hidden[:POSITIONS])
        return sum(one.end - one.start for one in hidden), places + (", …" if len(hidden) > POSITIONS else "")


def listing_of(request: HttpRequest, version: DocumentVersion) -> Listing:
    kind, first = request.GET.get("kind", ""), request.GET.get("from", "")
    return Listing(
        version=version,
        found=found_in(version),
        kind=kind if kind in Kind.values else "",
        first=int(first) if first.isascii() and first.isdecimal() and len(first) < 9 else 0,
    )


@require_safe
def version_findings(request: HttpRequest, pk: int) -> HttpResponse:
    """A part of the list, for the page that shows it: all of it anew (a kind was chosen), or what follows."""
    version = get_object_or_404(DocumentVersion.objects.select_related("document"), pk=pk)
    listing = listing_of(request, version)
    part = "#part" if listing.first else ""
    return render(request, f"documents/findings.html{part}", {"listing": listing, "document": version.document})


def _shown(text: str, found: Sequence[Finding], first: int) -> list[Shown]:
    shown = []
    kind = None
    for number, finding in enumerate(found, first + 1):
        start = max(text.rfind("\n", max(0, finding.start - AROUND), finding.start) + 1, finding.start - AROUND, 0)
        line_end = text.find("\n", finding.end, finding.end + AROUND)
        end = line_end if line_end >= 0 else min(len(text), finding.end + AROUND)
        hit = text[finding.start : min(finding.end, finding.start + LONGEST_HIT)]
        shown.append(
            Shown(
                number=number,
                finding=finding,
                before=_visible(text[start : finding.start].lstrip()),
                hit=_visible(hit) + ("…" if finding.end - finding.start > LONGEST_HIT else ""),
                after=_visible(text[finding.end : end].rstrip()),
                percent=100 * finding.start // len(text),
                heads=finding.kind != kind,
            )
        )
        kind = finding.kind
    return shown


def _visible(part: str) -> str:
    return _HIDDEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", part)
