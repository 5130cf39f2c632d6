"""The findings of one version as a list: by kind, people first, a part at a time, each with the line it stands in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from documents import queries
from documents.findings import Kind
from documents.looking import MOST_KEPT, Place, places_in
from documents.models import DocumentVersion

AT_ONCE = 200
# So many are marked in the text, however few of them this part of the list holds.
MOST_MARKED = 20_000
AROUND = 60
LONGEST_HIT = 300
# In an excerpt a hidden character would do its work on the page: it is written out.
_HIDDEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
POSITIONS = 5


@dataclass(frozen=True)
class Shown:
    """A finding with the line it stands in. `heads`: its kind, when it is the first of it in this part of the list."""

    number: int
    start: str
    end: str
    before: str
    hit: str
    after: str
    percent: str
    heads: Kind | None


@dataclass(frozen=True)
class Listing:
    """A part of the findings of one version: of one `kind`, or of all; from `first` on, counted from 0. Twenty
    thousand places pass here for the two hundred that are shown, so they stay as plain as they are kept."""

    version: DocumentVersion
    places: Sequence[Place]
    kind: str
    first: int

    @cached_property
    def by_kind(self) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = {kind.value: [] for kind in Kind}
        for place in self.places:
            found[place[0]].append(place)
        return found

    @cached_property
    def counts(self) -> list[tuple[Kind, int]]:
        return [(Kind(kind), len(places)) for kind, places in self.by_kind.items() if places]

    @cached_property
    def listed(self) -> list[Place]:
        chosen = [places for kind, places in self.by_kind.items() if self.kind in ("", kind)]
        return [place for places in chosen for place in places]

    @cached_property
    def shown(self) -> list[Shown]:
        part = self.listed[self.first : self.first + AT_ONCE]
        return _shown(queries.text_of(self.version), part, self.first) if part else []

    @property
    def is_part(self) -> bool:
        return len(self.listed) > AT_ONCE

    @cached_property
    def spans(self) -> str:
        """The places of all that is listed, `12-20 31-40`, where this part of the list does not hold them all. Not of
        invisible characters: the reader marks those by itself, and a text may hold hundreds of thousands."""
        if not self.is_part:
            return ""
        places = ((start, end) for kind, start, end in self.listed if kind != Kind.INVISIBLE)
        return " ".join(f"{start}-{end}" for start, end in islice(places, MOST_MARKED))

    @property
    def total(self) -> int:
        return len(self.places)

    @property
    def is_cut(self) -> bool:
        return self.total >= MOST_KEPT

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
        hidden = self.by_kind[Kind.INVISIBLE.value]
        places = ", ".join(f"{start:,}" for _kind, start, _end in hidden[:POSITIONS])
        return sum(end - start for _kind, start, end in hidden), places + (", …" if len(hidden) > POSITIONS else "")


def listing_of(request: HttpRequest, version: DocumentVersion) -> Listing:
    kind, first = request.GET.get("kind", ""), request.GET.get("from", "")
    return Listing(
        version=version,
        places=places_in(version),
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


def _shown(text: str, places: Sequence[Place], first: int) -> list[Shown]:
    shown = []
    last = ""
    for number, (kind, start, end) in enumerate(places, first + 1):
        begin = max(text.rfind("\n", max(0, start - AROUND), start) + 1, start - AROUND, 0)
        line_end = text.find("\n", end, end + AROUND)
        stop = line_end if line_end >= 0 else min(len(text), end + AROUND)
        hit = text[start : min(end, start + LONGEST_HIT)]
        shown.append(
            Shown(
                number=number,
                start=str(start),
                end=str(end),
                before=_visible(text[begin:start].lstrip()),
                hit=_visible(hit) + ("…" if end - start > LONGEST_HIT else ""),
                after=_visible(text[end:stop].rstrip()),
                percent=f"{100 * start // len(text)}%",
                heads=Kind(kind) if kind != last else None,
            )
        )
        last = kind
    return shown


def _visible(part: str) -> str:
    return _HIDDEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", part)
